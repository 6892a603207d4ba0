"""What a transcript file yields: messages, their parts, and errors that name a line."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal

Role = Literal["system", "user", "assistant", "tool"]


MAX_DEPTH = 64

UNNAMED_CALL = "call"
"""Stands for the id of a tool call where a file gives none: the same on every reading (E-2)."""


class TranscriptFormat(StrEnum):
    """How a file is read; `AUTO` decides from the keys of what it finds."""

    AUTO = "auto"
    JSONL = "jsonl"
    OPENAI = "openai"
    SHAREGPT = "sharegpt"


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptLimits:
    """Bounds on what is held in memory at once."""

    line_bytes: int = 1024 * 1024
    """One line of a file of lines, without its line ending."""
    document_bytes: int = 32 * 1024 * 1024
    """A file that is one JSON document; such a file is held whole."""
    depth: int = MAX_DEPTH
    """Levels of arrays and objects inside one message."""
    id_window: int = 50_000
    """At least this many of the latest message ids are compared for duplicates."""

    def __post_init__(self) -> None:
        if min(self.line_bytes, self.document_bytes, self.depth, self.id_window) < 1:
            raise ValueError("limits must be positive")


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPart:
    """Text as it stands in the file; never blank."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallPart:
    """A call that the assistant made; `arguments` is the text of a JSON object."""

    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResultPart:
    """What a tool gave back; `content` may be empty."""

    call_id: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachmentPart:
    """A picture, a recording or a file.

    `data` is set when the file carries the bytes inline; `uri` is then `sha256:` and their hash (SV-8).
    """

    uri: str
    data: bytes | None
    media_type: str | None
    name: str | None
    caption: str | None


Part = TextPart | ToolCallPart | ToolResultPart | AttachmentPart


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptMessage:
    """One message of a file.

    `conversation` is the key of its conversation within the file, None where the file itself is the
    conversation; `line` counts from 1; `time` is in UTC; `parts` holds at least one part.
    """

    conversation: str | None
    line: int
    id: str | None
    role: Role
    author: str | None
    session: str | None
    time: datetime | None
    parts: tuple[Part, ...]


class TranscriptError(Exception):
    """The file cannot be read at this place.

    `line` and `column` (characters) count from 1, `byte_offset` from 0 at the start of the file.
    `reason` quotes nothing from the file, so that it may be logged (X-3).
    """

    def __init__(
        self, *, line: int, reason: str, column: int | None = None, byte_offset: int | None = None
    ) -> None:
        self.line = line
        self.column = column
        self.reason = reason
        self.byte_offset = byte_offset
        place = f"line {line}" if column is None else f"line {line}, column {column}"
        super().__init__(f"{place}: {reason}")


class MessageError(Exception):
    """A message is malformed; the reader adds the line. The argument is the reason."""
