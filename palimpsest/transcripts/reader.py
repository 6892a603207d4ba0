"""Streams the messages of a transcript file, whatever its format."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, BinaryIO, Protocol

from palimpsest.transcripts.duplicates import SeenIds
from palimpsest.transcripts.model import (
    MessageError,
    TranscriptError,
    TranscriptFormat,
    TranscriptLimits,
    TranscriptMessage,
)
from palimpsest.transcripts.openai import openai_message
from palimpsest.transcripts.sharegpt import sharegpt_message
from palimpsest.transcripts.source import (
    LineCounter,
    LineSource,
    RawLine,
    array_starts,
    check_strings,
    decode,
    first_position,
    member_start,
    parse_json,
)

_DEFAULT_LIMITS = TranscriptLimits()
_OPEN_END = (b"{", b"[", b",", b":")
_TELLING_KEY = re.compile(rb'"(role|content|from|value|messages|conversations)"\s*:')
_CONTAINER_KEYS = (b"messages", b"conversations")


class _Convert(Protocol):
    def __call__(self, value: Any, *, conversation: str | None, line: int) -> TranscriptMessage: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Item:
    """A message before conversion, and where it stands; `place` precedes the reason of its error."""

    value: Any
    convert: _Convert
    conversation: str | None
    line: int
    place: str = ""


def read_transcript(
    stream: BinaryIO,
    *,
    file_format: TranscriptFormat = TranscriptFormat.AUTO,
    limits: TranscriptLimits = _DEFAULT_LIMITS,
) -> Iterator[TranscriptMessage]:
    """The messages of `stream` in order; raises the first TranscriptError.

    Messages before the error have been yielded by then: read the file once to validate it, then again.
    """
    for item in scan_transcript(stream, file_format=file_format, limits=limits):
        if isinstance(item, TranscriptError):
            raise item
        yield item


def scan_transcript(
    stream: BinaryIO,
    *,
    file_format: TranscriptFormat = TranscriptFormat.AUTO,
    limits: TranscriptLimits = _DEFAULT_LIMITS,
) -> Iterator[TranscriptMessage | TranscriptError]:
    """The messages of `stream` in order, and in their places an error for each that is malformed.

    A file of lines is read line by line in bounded memory; a file that is one JSON document is held
    whole, up to its own limit. Raises nothing but what reading `stream` raises.
    """
    seen = SeenIds(limits.id_window)
    empty = True
    for item in _items(stream, file_format, limits):
        empty = False
        yield item if isinstance(item, TranscriptError) else _finish(item, limits, seen)
    if empty:
        yield TranscriptError(line=1, reason="no messages")


def _finish(item: _Item, limits: TranscriptLimits, seen: SeenIds) -> TranscriptMessage | TranscriptError:
    try:
        check_strings(item.value, limits.depth)
        message = item.convert(item.value, conversation=item.conversation, line=item.line)
        seen.check(message)
    except MessageError as error:
        return TranscriptError(line=item.line, reason=f"{item.place}{error}")
    return message


def _items(
    stream: BinaryIO, file_format: TranscriptFormat, limits: TranscriptLimits
) -> Iterator[_Item | TranscriptError]:
    source = LineSource(stream, limits)
    head = next(source.lines(), None)
    if head is None:
        return
    if _begins_document(head):
        yield from _guarded(_document_items(source, head, file_format, limits))
        return
    for raw in chain([head], source.lines()):
        yield from _guarded(_line_items(raw, file_format, limits))


def _guarded(items: Iterator[_Item | TranscriptError]) -> Iterator[_Item | TranscriptError]:
    """`items`, whose error becomes the last of them."""
    try:
        yield from items
    except TranscriptError as error:
        yield error


def _begins_document(head: RawLine) -> bool:
    """Whether the first line opens a document of several lines, or a list.

    A line that breaks off after a bracket, comma or colon is the beginning of an indented document,
    unless its first telling key is a message's: then it is a truncated line of a file of lines.
    """
    data = head.data.strip()
    if data.startswith(b"["):
        return True
    if not data.startswith(b"{") or head.overlong or not data.endswith(_OPEN_END):
        return False
    key = _TELLING_KEY.search(data)
    return key is None or key[1] in _CONTAINER_KEYS


def _line_items(raw: RawLine, file_format: TranscriptFormat, limits: TranscriptLimits) -> Iterator[_Item]:
    if raw.overlong:
        raise TranscriptError(line=raw.number, reason=f"the line is over {limits.line_bytes} bytes")
    value = parse_json(decode(raw), raw.number, limits)
    container = _container(value, file_format, line=raw.number)
    if container is None:
        yield _Item(value=value, convert=openai_message, conversation=None, line=raw.number)
        return
    name = _conversation_name(value, line=raw.number)
    for index, message in enumerate(value[container.key], 1):
        yield _Item(
            value=message,
            convert=container.convert,
            conversation=name,
            line=raw.number,
            place=f"message {index}: ",
        )


def _document_items(
    source: LineSource, head: RawLine, file_format: TranscriptFormat, limits: TranscriptLimits
) -> Iterator[_Item | TranscriptError]:
    raw = source.rest_of_document(head)
    text = decode(raw)
    value = parse_json(text, raw.number, limits)
    start = first_position(text)
    counter = LineCounter(text, raw.number)
    if not isinstance(value, list):
        yield from _conversation_items(value, start, text, counter, file_format)
        return
    for position, element in zip(array_starts(text, start), value, strict=True):
        line = counter.line_at(position)
        if _is_conversation(element):
            yield from _guarded(_conversation_items(element, position, text, counter, file_format))
        else:
            yield _Item(
                value=element, convert=_bare_converter(element, file_format), conversation=None, line=line
            )


def _conversation_items(
    value: Any, start: int, text: str, counter: LineCounter, file_format: TranscriptFormat
) -> Iterator[_Item]:
    line = counter.line_at(start)
    container = _container(value, file_format, line=line)
    if container is None:
        yield _Item(value=value, convert=openai_message, conversation=None, line=line)
        return
    name = _conversation_name(value, line=line)
    positions = array_starts(text, member_start(text, start, container.key))
    for index, (position, message) in enumerate(zip(positions, value[container.key], strict=True), 1):
        yield _Item(
            value=message,
            convert=container.convert,
            conversation=name,
            line=counter.line_at(position),
            place=f"message {index}: ",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Container:
    """The member of a conversation that holds its messages, and how each is converted."""

    key: str
    convert: _Convert


_OPENAI = _Container(key="messages", convert=openai_message)
_SHAREGPT = _Container(key="conversations", convert=sharegpt_message)


def _is_conversation(value: Any) -> bool:
    return isinstance(value, dict) and any(
        isinstance(value.get(container.key), list) for container in (_OPENAI, _SHAREGPT)
    )


def _container(value: Any, file_format: TranscriptFormat, *, line: int) -> _Container | None:
    """Where `value` keeps its messages; None when it is a message itself."""
    if not isinstance(value, dict):
        raise TranscriptError(line=line, reason="not a JSON object")
    if file_format is TranscriptFormat.JSONL:
        return None
    if file_format is TranscriptFormat.AUTO:
        found = [container for container in (_OPENAI, _SHAREGPT) if container.key in value]
        if not found or "role" in value:
            return None
        container = found[0]
    else:
        container = _OPENAI if file_format is TranscriptFormat.OPENAI else _SHAREGPT
    if not isinstance(value.get(container.key), list):
        raise TranscriptError(line=line, reason=f"{container.key} must be a list of messages")
    if not value[container.key]:
        raise TranscriptError(line=line, reason=f"{container.key} holds no messages")
    return container


def _bare_converter(value: Any, file_format: TranscriptFormat) -> _Convert:
    """How an element of a bare list is converted."""
    if file_format is TranscriptFormat.AUTO:
        return sharegpt_message if isinstance(value, dict) and "from" in value else openai_message
    return sharegpt_message if file_format is TranscriptFormat.SHAREGPT else openai_message


def _conversation_name(value: dict[str, Any], *, line: int) -> str:
    """The conversation's own id, else one from the line on which it begins."""
    name = value.get("id")
    if name is None or name == "":
        return f"line-{line}"
    if isinstance(name, bool) or not isinstance(name, str | int):
        raise TranscriptError(line=line, reason="a conversation's id must be a string or a number")
    try:
        check_strings(str(name), 1)
    except MessageError as error:
        raise TranscriptError(line=line, reason=f"a conversation's id: {error}") from None
    return str(name)
