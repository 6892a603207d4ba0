"""Messages of transcript files as messages to be stored, and what the service would refuse about them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from palimpsest import models
from palimpsest.client import outgoing
from palimpsest.transcripts import (
    AttachmentPart,
    Part,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    TranscriptMessage,
)

TEXT_BYTES = 32 * 1024
"""The service's default limit of a text part (SPEC X-2)."""

MAX_PARTS = 64
MAX_NAME = 128
MAX_CALL = 256
MAX_URI = 2048
MAX_CAPTION = 4096
_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")


def to_new_message(message: TranscriptMessage) -> models.NewMessage:
    """The message to be stored; bytes that a file carries inline stay behind, named by their hash."""
    return models.NewMessage(
        message.role,
        [_part(part) for part in message.parts],
        author=message.author or "",
        session=message.session or "",
        time=message.time,
        id=message.id or "",
    )


def _part(part: Part) -> models.Part:
    match part:
        case TextPart():
            return models.TextPart(part.text)
        case ToolCallPart():
            return models.ToolCall(call_id=part.call_id, name=part.name, arguments=json.loads(part.arguments))
        case ToolResultPart():
            return models.ToolResult(call_id=part.call_id, content=part.content)
        case AttachmentPart():
            return models.Attachment(
                uri=part.uri, media_type=part.media_type or "", caption=part.caption or part.name or ""
            )


def first_problem(message: TranscriptMessage, *, text_bytes: int = TEXT_BYTES) -> str | None:
    """Why the service would refuse the message, without quoting it; None if it would not."""
    return next(_problems(message, text_bytes), None)


def _problems(message: TranscriptMessage, text_bytes: int) -> Iterator[str]:
    if message.id is not None and not _ID.fullmatch(message.id):
        yield "id must be 1 to 128 of A-Z a-z 0-9 . _ : -"
    for name, value in (("author", message.author), ("session", message.session)):
        if len(value or "") > MAX_NAME:
            yield f"{name} is over {MAX_NAME} characters"
    if len(message.parts) > MAX_PARTS:
        yield f"over {MAX_PARTS} parts"
    for part in message.parts:
        yield from _part_problems(part, text_bytes)


def _part_problems(part: Part, text_bytes: int) -> Iterator[str]:
    match part:
        case TextPart():
            if len(part.text.encode()) > text_bytes:
                yield f"a text is over {text_bytes} bytes"
        case ToolResultPart():
            if len(part.content.encode()) > text_bytes:
                yield f"a tool's result is over {text_bytes} bytes"
            if not 1 <= len(part.call_id) <= MAX_CALL:
                yield f"tool_call_id must be 1 to {MAX_CALL} characters"
        case ToolCallPart():
            if not (1 <= len(part.call_id) <= MAX_CALL and 1 <= len(part.name) <= MAX_CALL):
                yield f"a tool call's id and name must be 1 to {MAX_CALL} characters"
            try:
                outgoing.part(_part(part))
            except (ValueError, OverflowError, TypeError):
                yield "a tool call's arguments cannot be stored"
        case AttachmentPart():
            if not 1 <= len(part.uri) <= MAX_URI:
                yield f"an attachment's address must be 1 to {MAX_URI} characters"
            if len(part.media_type or "") > MAX_NAME:
                yield f"an attachment's media type is over {MAX_NAME} characters"
            if len(part.caption or part.name or "") > MAX_CAPTION:
                yield f"an attachment's caption is over {MAX_CAPTION} characters"
