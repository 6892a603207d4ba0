"""A framework's messages as parts: what people, prompts and recall read of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from palimpsest.models import Attachment, Part, TextPart, ToolCall, ToolResult

MAX_TEXT_BYTES = 32 * 1024
"""Of one text part or tool result (X-2)."""
MAX_TEXT_PARTS = 16
MAX_PARTS = 64
MAX_URI = 2048
MAX_NAME = 256
CUT = " […]"

Json = Mapping[str, Any]


def storable(text: str) -> str:
    """The text without what no store keeps: NUL characters and lone surrogates."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def texts(text: str) -> list[Part]:
    """A text as parts of at most 32 KiB; beyond sixteen of them it is cut."""
    pieces = list(_pieces(storable(text)))
    if len(pieces) > MAX_TEXT_PARTS:
        pieces = pieces[:MAX_TEXT_PARTS]
        pieces[-1] = cut(pieces[-1] + CUT + CUT)
    return [TextPart(piece) for piece in pieces]


def _pieces(text: str) -> Iterator[str]:
    while text:
        piece = text.encode("utf-8")[:MAX_TEXT_BYTES].decode("utf-8", "ignore")
        yield piece
        text = text[len(piece) :]


def cut(text: str) -> str:
    """The text, or as much of it as fits one part."""
    text = storable(text)
    raw = text.encode("utf-8")
    if len(raw) <= MAX_TEXT_BYTES:
        return text
    return raw[: MAX_TEXT_BYTES - len(CUT.encode())].decode("utf-8", "ignore") + CUT


def call(call_id: object, name: object, arguments: object) -> ToolCall:
    """A call of a tool; arguments that are no object, or too large, are left out."""
    return ToolCall(call_id=_name(call_id), name=_name(name), arguments=_arguments(arguments))


def result(call_id: object, content: str, *, is_error: bool = False) -> ToolResult:
    """What a tool returned."""
    return ToolResult(call_id=_name(call_id), content=cut(content), is_error=is_error)


def _name(value: object) -> str:
    return storable(str(value or "unnamed"))[:MAX_NAME]


def _arguments(value: object) -> Json:
    try:
        text = value if isinstance(value, str) else json.dumps(value, allow_nan=False)
        parsed = json.loads(storable(text))
        plain = json.dumps(parsed, ensure_ascii=False)
        if isinstance(parsed, dict) and "\\u0000" not in plain and len(plain.encode()) < MAX_TEXT_BYTES:
            return parsed
    except (TypeError, ValueError, RecursionError):
        pass  # not JSON: nothing of it can be shown; the exact original says what it was
    return {}


def blocks(content: object) -> list[Part]:
    """The parts of a content that is a text, or a list of texts and of objects with a `type`."""
    if isinstance(content, str):
        return texts(content)
    if not isinstance(content, Sequence):
        return []
    return [part for block in content for part in _block(block)]


def _block(block: object) -> list[Part]:
    if isinstance(block, str):
        return texts(block)
    if not isinstance(block, Mapping):
        return []
    for key in ("text", "refusal", "transcript"):
        if isinstance(said := block.get(key), str):
            return texts(said)
    address = block.get("image_url") or block.get("file_url") or block.get("url") or ""
    if isinstance(address, Mapping):
        address = address.get("url", "")
    if isinstance(address, str) and address[:4] == "http" and len(address) <= MAX_URI:
        return [Attachment(uri=storable(address))]
    return texts(f"({block.get('type', 'content')})")


def text_of(parts: Iterable[Part]) -> str:
    """The texts among parts, a line break between two."""
    return "\n".join(part.text for part in parts if isinstance(part, TextPart))


def filled(parts: Sequence[Part], kind: str) -> list[Part]:
    """At most 64 parts, and at least one: where there is nothing to read, the kind of message in brackets."""
    shown = [part for part in parts if not isinstance(part, TextPart) or part.text]
    return shown[:MAX_PARTS] or texts(f"({kind})")
