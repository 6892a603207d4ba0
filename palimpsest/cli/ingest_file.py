"""A transcript file on its way to the suite: the validating pass, and the chunks of the second."""

from __future__ import annotations

import hashlib
import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from palimpsest.client.ingest import CHUNK_MESSAGES
from palimpsest.client.transcripts import first_problem, to_new_message
from palimpsest.errors import PalimpsestError
from palimpsest.models import IngestChunk
from palimpsest.transcripts import TranscriptError, TranscriptFormat, TranscriptMessage, scan_transcript

MAX_ID = 128
CHUNK_PARTS = 400
"""With text parts of 32 KiB, under the 16 MiB that a call may hold (SPEC X-2)."""

_FOREIGN = re.compile(r"[^A-Za-z0-9._:-]+")
_PLACE = re.compile(r"messages\[(\d+)\]")
_DIGEST_CHARACTERS = 8


class BadLine(Exception):
    """A line that cannot be stored; the text is FILE:LINE: reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file and how it is read; `base` names its conversation, or begins the names of several.

    With `branch` it may part from what is stored.
    """

    path: Path
    file_format: TranscriptFormat
    text_bytes: int
    base: str
    branch: bool = False

    def scan(self, on_bad: Callable[[BadLine], None]) -> Iterator[TranscriptMessage]:
        """The messages; each that cannot be stored goes to `on_bad` instead."""
        with self.path.open("rb") as stream:
            for item in scan_transcript(stream, file_format=self.file_format):
                if isinstance(item, TranscriptError):
                    on_bad(self.bad_line(item.line, item.reason))
                elif problem := first_problem(item, text_bytes=self.text_bytes):
                    on_bad(self.bad_line(item.line, problem))
                else:
                    yield item

    def bad_line(self, line: int, reason: str) -> BadLine:
        """The complaint about a line."""
        return BadLine(f"{self.path}:{line}: {reason}")

    def conversation_id(self, message: TranscriptMessage) -> str:
        """The id of the message's conversation, the same on every reading."""
        if message.conversation is None:
            return self.base
        return safe_id(f"{self.base}:{message.conversation}")


@dataclass(slots=True, kw_only=True)
class Survey:
    """What the validating pass found: how many messages each conversation has, and how many are bad."""

    counts: dict[str, int] = field(default_factory=dict)
    bad_count: int = 0

    @property
    def message_count(self) -> int:
        """All messages that can be stored."""
        return sum(self.counts.values())


def safe_id(text: str) -> str:
    """`text` as an id of 1 to 128 of [A-Za-z0-9._:-]; where that changes it, with a digest to stay unique."""
    if text and len(text) <= MAX_ID and not _FOREIGN.search(text):
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()[:_DIGEST_CHARACTERS]
    stem = _FOREIGN.sub("-", text).strip("-")[: MAX_ID - _DIGEST_CHARACTERS - 1]
    return f"{stem}-{digest}" if stem else digest


def survey(source: Source, on_bad: Callable[[BadLine], None]) -> Survey:
    """Reads the whole file without storing anything."""
    found = Survey()

    def count_bad(bad: BadLine) -> None:
        found.bad_count += 1
        on_bad(bad)

    for message in source.scan(count_bad):
        name = source.conversation_id(message)
        found.counts[name] = found.counts.get(name, 0) + 1
    return found


class ChunkedFile:
    """The chunks of a file, and the lines of those that are not acknowledged yet."""

    def __init__(self, source: Source, on_bad: Callable[[BadLine], None]) -> None:
        self._source = source
        self._on_bad = on_bad
        self._lines: deque[list[int]] = deque()

    def chunks(self) -> Iterator[IngestChunk]:
        """Neighbouring messages of one conversation together."""
        held: list[TranscriptMessage] = []
        name = ""
        parts = 0
        for message in self._source.scan(self._on_bad):
            here = self._source.conversation_id(message)
            full = len(held) >= CHUNK_MESSAGES or parts + len(message.parts) > CHUNK_PARTS
            if held and (full or here != name):
                yield self._chunk(name, held)
                held, parts = [], 0
            held.append(message)
            name, parts = here, parts + len(message.parts)
        if held:
            yield self._chunk(name, held)

    def _chunk(self, name: str, held: list[TranscriptMessage]) -> IngestChunk:
        self._lines.append([message.line for message in held])
        messages = [to_new_message(message) for message in held]
        return IngestChunk(conversation_id=name, messages=messages, branch=self._source.branch)

    def acknowledged(self) -> None:
        """The oldest chunk is stored."""
        self._lines.popleft()

    def locate(self, error: PalimpsestError) -> BadLine | None:
        """The line that the service refused: the first unanswered chunk's, by the path of the field."""
        for problem in error.fields:
            place = _PLACE.search(problem.field)
            if place and self._lines and int(place[1]) < len(self._lines[0]):
                return self._source.bad_line(self._lines[0][int(place[1])], problem.description)
        return None
