"""Limits and well-formedness of what is stored (SPEC X-2). Every error names the field as a path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from services.kit.errors import InvalidField, LimitExceeded
from services.kit.tokens import estimate_tokens
from services.memory.episodic.domain.append import Draft
from services.memory.episodic.domain.model import NewMessage
from services.memory.episodic.domain.parts import (
    Attachment,
    Json,
    Part,
    Text,
    ToolCall,
    ToolResult,
    canonical_json,
    encode,
    plain_text,
)

NUL = "\x00"
NUL_FOUND = "holds a NUL character"
WIDEST_UTF8 = 4  # bytes of a character


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Most bytes (UTF-8) of a text or tool result, of a call's arguments as JSON, and of one append."""

    text_bytes: int
    argument_bytes: int
    append_bytes: int


def utf8_length(text: str) -> int:
    """How many bytes a text takes. Raises UnicodeEncodeError for lone surrogates."""
    return len(text) if text.isascii() else len(text.encode("utf-8"))


def check_text(field: str, text: str) -> None:
    """Refuses what no store of ours keeps: NUL characters and lone surrogates."""
    if NUL in text:
        raise InvalidField(field, NUL_FOUND)
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise InvalidField(field, "holds a lone surrogate") from error


def check_size(field: str, text: str, limit: int) -> None:
    """Refuses a text over `limit` bytes."""
    if len(text) * WIDEST_UTF8 > limit and utf8_length(text) > limit:
        raise InvalidField(field, f"over {limit} bytes")


def draft_messages(messages: Sequence[NewMessage], now: int, limits: Limits) -> tuple[Draft, ...]:
    """Checks messages and gives them their canonical content and token count.

    Raises InvalidField, or LimitExceeded when they are too many bytes together.
    """
    drafts = tuple(_draft(f"messages[{i}]", message, now, limits) for i, message in enumerate(messages))
    total = sum(utf8_length(draft.content) for draft in drafts)
    if total > limits.append_bytes:
        raise LimitExceeded(
            "the messages of a call are too large together",
            metadata={"limit": str(limits.append_bytes), "actual": str(total)},
        )
    return drafts


def _draft(path: str, message: NewMessage, now: int, limits: Limits) -> Draft:
    check_text(f"{path}.author", message.author)
    check_text(f"{path}.session", message.session)
    for index, part in enumerate(message.parts):
        _check_part(f"{path}.parts[{index}]", part, limits)
    return Draft(
        id=message.id,
        role=message.role,
        author=message.author,
        session=message.session,
        time=now if message.time is None else message.time,
        token_count=estimate_tokens(plain_text(message.author, message.parts)),
        content=encode(message.parts),
    )


def _check_part(path: str, part: Part, limits: Limits) -> None:
    match part:
        case Text():
            check_text(f"{path}.text", part.text)
            check_size(f"{path}.text", part.text, limits.text_bytes)
        case ToolResult():
            check_text(f"{path}.tool_result.call_id", part.call_id)
            check_text(f"{path}.tool_result.content", part.content)
            check_size(f"{path}.tool_result.content", part.content, limits.text_bytes)
        case ToolCall():
            check_text(f"{path}.tool_call.call_id", part.call_id)
            check_text(f"{path}.tool_call.name", part.name)
            check_arguments(f"{path}.tool_call.arguments", part.arguments, limits.argument_bytes)
        case Attachment():
            check_text(f"{path}.attachment.uri", part.uri)
            check_text(f"{path}.attachment.media_type", part.media_type)
            check_text(f"{path}.attachment.caption", part.caption)


def check_arguments(path: str, arguments: Mapping[str, Json], limit: int) -> None:
    """Refuses a tool call's arguments that no store keeps, or of over `limit` bytes as JSON."""
    for text in _strings(arguments):
        check_text(path, text)
    try:
        encoded = canonical_json(arguments)
    except ValueError as error:
        raise InvalidField(path, "holds a number that is not finite") from error
    check_size(path, encoded, limit)


def _strings(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield key
            yield from _strings(inner)
    elif isinstance(value, Sequence):
        for inner in value:
            yield from _strings(inner)
