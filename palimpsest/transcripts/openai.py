"""From one message in the OpenAI style, with our own keys beside it, to a TranscriptMessage."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from palimpsest.transcripts.model import (
    UNNAMED_CALL,
    AttachmentPart,
    MessageError,
    Part,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    TranscriptMessage,
)
from palimpsest.transcripts.source import embedded_json

_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
_TEXT_TYPES = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}
_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.,][0-9]{1,9})?)?"
    r"([Zz]|[+-][0-9]{2}:?[0-9]{2})?"
)
_DATA_URL = re.compile(r"data:([^;,]*)((?:;[^;,]*)*?)(;base64)?,", re.IGNORECASE)


def openai_message(value: Any, *, conversation: str | None, line: int) -> TranscriptMessage:
    """The message that `value` describes; raises MessageError."""
    if not isinstance(value, dict):
        raise MessageError("not a JSON object")
    role = _role(value)
    return TranscriptMessage(
        conversation=conversation,
        line=line,
        id=optional_text(value, "id"),
        role=role,
        author=optional_text(value, "author") or _name(value, role),
        session=optional_text(value, "session"),
        time=parse_time(value.get("time")),
        parts=_parts(value, role),
    )


def optional_text(value: dict[str, Any], key: str) -> str | None:
    """The string under `key`; None where it is absent, null or empty."""
    text = value.get(key)
    if text is None or text == "":
        return None
    if not isinstance(text, str):
        raise MessageError(f"{key} must be a string")
    return text


def parse_time(value: Any) -> datetime | None:
    """An ISO 8601 date and time in UTC; one without an offset is taken as UTC."""
    if value is None:
        return None
    if not isinstance(value, str) or not _TIME.fullmatch(value):
        raise MessageError("bad time: expected ISO 8601, such as 2026-03-02T08:15:00Z")
    try:
        time = datetime.fromisoformat(value.upper())
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        raise MessageError("bad time: no such date or time") from None


def text_part(text: str) -> TextPart:
    """A part of text, which must say something."""
    if not text.strip():
        raise MessageError("empty content")
    return TextPart(text=text)


def _role(value: dict[str, Any]) -> Role:
    if value.get("role") is None:
        raise MessageError("missing role")
    role = value["role"]
    if not isinstance(role, str) or role not in _ROLES:
        raise MessageError("unknown role: expected user, assistant, system or tool")
    return _ROLES[role]


def _name(value: dict[str, Any], role: Role) -> str | None:
    """The participant's name; of a tool's message, `name` is the tool's and not a person's."""
    return None if role == "tool" else optional_text(value, "name")


def _parts(value: dict[str, Any], role: Role) -> tuple[Part, ...]:
    calls = tuple(_tool_calls(value))
    if calls and role != "assistant":
        raise MessageError("tool calls belong to assistant messages")
    if role == "tool":
        return tuple(_tool_parts(value))
    if value.get("tool_call_id") is not None:
        raise MessageError("tool_call_id belongs to tool messages")
    content = _content(value)
    if calls and (content is None or content in ("", [])):
        return calls
    return (*_content_parts(content), *calls)


def _content(value: dict[str, Any]) -> Any:
    content = value.get("content")
    return value.get("refusal") if content is None else content


def _content_parts(content: Any) -> Iterator[Part]:
    if content is None:
        raise MessageError("missing content")
    if isinstance(content, str):
        yield text_part(content)
    elif isinstance(content, list):
        if not content:
            raise MessageError("empty content")
        for item in content:
            yield _content_part(item)
    else:
        raise MessageError("content must be a string or a list of parts")


def _tool_parts(value: dict[str, Any]) -> Iterator[Part]:
    """One result of all the text, which may be empty, and the attachments after it."""
    call_id = optional_text(value, "tool_call_id") or UNNAMED_CALL
    content = value.get("content")
    if isinstance(content, str):
        yield ToolResultPart(call_id=call_id, content=content)
        return
    parts = list(_content_parts(content))
    texts = [part.text for part in parts if isinstance(part, TextPart)]
    yield ToolResultPart(call_id=call_id, content="\n".join(texts))
    yield from (part for part in parts if not isinstance(part, TextPart))


def _content_part(item: Any) -> Part:
    if not isinstance(item, dict) or not isinstance(item.get("type"), str):
        raise MessageError("a content part must be an object with a type")
    kind = item["type"]
    if kind in _TEXT_TYPES:
        return text_part(_required(item, _TEXT_TYPES[kind], kind))
    if kind in ("image_url", "input_image"):
        return _image(item, kind)
    if kind == "input_audio":
        audio = _object(item, kind)
        form = optional_text(audio, "format")
        data = _base64(_required(audio, "data", kind))
        return _attachment(item, data=data, media_type=f"audio/{form}" if form else None)
    if kind in ("file", "input_file"):
        return _file(item if kind == "input_file" else _object(item, kind), caption_from=item)
    raise MessageError("unknown type of content part")


def _image(item: dict[str, Any], kind: str) -> AttachmentPart:
    image = item.get("image_url")
    url = _required(image, "url", kind) if isinstance(image, dict) else _required(item, "image_url", kind)
    return _from_url(item, url)


def _file(file: dict[str, Any], *, caption_from: dict[str, Any]) -> AttachmentPart:
    name = optional_text(file, "filename")
    data = optional_text(file, "file_data")
    if data is not None:
        url = data if data[:5].lower() == "data:" else f"data:;base64,{data}"
        return _from_url(caption_from, url, name=name)
    return _from_url(caption_from, _required(file, "file_id", "file"), name=name)


def _from_url(item: dict[str, Any], url: str, *, name: str | None = None) -> AttachmentPart:
    if url[:5].lower() != "data:":
        media_type = optional_text(item, "media_type")
        return _attachment(item, uri=url, media_type=media_type, name=name)
    head = _DATA_URL.match(url)
    if head is None or not head[3]:
        raise MessageError("a data URL must be in base64")
    return _attachment(item, data=_base64(url[head.end() :]), media_type=head[1] or None, name=name)


def _attachment(
    item: dict[str, Any],
    *,
    uri: str = "",
    data: bytes | None = None,
    media_type: str | None = None,
    name: str | None = None,
) -> AttachmentPart:
    return AttachmentPart(
        uri=uri if data is None else f"sha256:{hashlib.sha256(data).hexdigest()}",
        data=data,
        media_type=media_type,
        name=name,
        caption=optional_text(item, "caption"),
    )


def _base64(text: str) -> bytes:
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise MessageError("an attachment's data must be base64") from None
    if not data:
        raise MessageError("an attachment's data is empty")
    return data


def _object(item: dict[str, Any], key: str) -> dict[str, Any]:
    value = item.get(key)
    if not isinstance(value, dict):
        raise MessageError(f"{key} must be an object")
    return value


def _required(item: dict[str, Any], key: str, owner: str) -> str:
    value = item.get(key)
    if not isinstance(value, str) or not value:
        raise MessageError("empty content" if value == "" else f"{owner} must have a string {key}")
    return value


def _tool_calls(value: dict[str, Any]) -> Iterator[ToolCallPart]:
    calls = value.get("tool_calls")
    if calls is not None and not isinstance(calls, list):
        raise MessageError("tool_calls must be a list")
    for call in calls or ():
        if not isinstance(call, dict):
            raise MessageError("a tool call must be an object")
        yield _tool_call(_required(call, "id", "a tool call"), _object(call, "function"))
    if value.get("function_call") is not None:
        yield _tool_call(UNNAMED_CALL, _object(value, "function_call"))


def _tool_call(call_id: str, function: dict[str, Any]) -> ToolCallPart:
    return ToolCallPart(
        call_id=call_id,
        name=_required(function, "name", "a tool call"),
        arguments=_arguments(function.get("arguments")),
    )


def _arguments(value: Any) -> str:
    """The text of a JSON object. Models write text; some files hold the object itself."""
    if value is None or value == "":
        return "{}"
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, str) and isinstance(embedded_json(value), dict):
        return value
    raise MessageError("a tool call's arguments must be a JSON object")
