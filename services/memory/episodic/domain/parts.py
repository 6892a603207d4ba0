"""The parts of a message, and their canonical text.

The canonical text is JSON with sorted keys and no spaces: equal parts have equal text, so it is what is
stored, compared and hashed (SPEC E-2).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, TypeAlias

# json.dumps would make an encoder for each call.
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
_DECODER = json.JSONDecoder()  # json.loads would look at its arguments for each call

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Words."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call of a tool, made by the model."""

    call_id: str
    name: str
    arguments: Mapping[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a tool returned."""

    call_id: str
    content: str
    is_error: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A reference to a file."""

    uri: str
    media_type: str = ""
    caption: str = ""


class InterruptionCause(IntEnum):
    """Why a message broke off; numbers as in the proto, and as stored."""

    UNKNOWN = 0
    READER_LEFT = 1
    DEADLINE = 2
    FAILED = 3
    LIMIT_EXCEEDED = 4
    STOPPED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Interruption:
    """That the message broke off here (G-4)."""

    cause: InterruptionCause = InterruptionCause.UNKNOWN


Part: TypeAlias = Text | ToolCall | ToolResult | Attachment | Interruption


def canonical_json(value: object) -> str:
    """JSON with sorted keys and no spaces. Raises ValueError for NaN and infinities."""
    return _CANONICAL.encode(value)


def encode(parts: Iterable[Part]) -> str:
    """The canonical text of parts. Raises ValueError for NaN and infinities in arguments."""
    return canonical_json([_plain(part) for part in parts])


def decode(content: str) -> tuple[Part, ...]:
    """The inverse of `encode`."""
    return tuple(_FROM_PLAIN[kind](value) for kind, value in _DECODER.decode(content))


def plain_text(author: str, parts: Iterable[Part]) -> str:
    """What a message says in words, for counting: its author, texts, tool traffic and captions."""
    pieces = [author] if author else []
    pieces.extend(text for text in map(words, parts) if text)
    return "\n".join(pieces)


def words(part: Part) -> str:
    """What one part says in words."""
    match part:
        case Text(text=text):
            return text
        case ToolCall(name=name, arguments=arguments):
            return f"{name} {canonical_json(arguments)}"
        case ToolResult(content=content):
            return content
        case Attachment(caption=caption):
            return caption
        case Interruption():
            return ""


def _plain(part: Part) -> list[object]:
    match part:
        case Text(text=text):
            return ["text", text]
        case ToolCall():
            return ["call", [part.call_id, part.name, part.arguments]]
        case ToolResult():
            return ["result", [part.call_id, part.content, part.is_error]]
        case Attachment():
            return ["file", [part.uri, part.media_type, part.caption]]
        case Interruption():
            return ["cut", int(part.cause)]


def _call(value: Any) -> Part:
    return ToolCall(call_id=value[0], name=value[1], arguments=value[2])


def _result(value: Any) -> Part:
    return ToolResult(call_id=value[0], content=value[1], is_error=value[2])


def _file(value: Any) -> Part:
    return Attachment(uri=value[0], media_type=value[1], caption=value[2])


_FROM_PLAIN: Mapping[str, Callable[[Any], Part]] = {
    "text": lambda value: Text(text=value),
    "call": _call,
    "result": _result,
    "file": _file,
    "cut": lambda value: Interruption(cause=InterruptionCause(value)),
}
