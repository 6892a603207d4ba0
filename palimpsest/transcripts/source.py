"""From bytes to JSON values: bounded lines, whole documents, UTF-8, and exact places of errors."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, NoReturn

from palimpsest.transcripts.model import MAX_DEPTH, MessageError, TranscriptError, TranscriptLimits

_BOM = b"\xef\xbb\xbf"
_BLANK = b" \t\r\n"
_LINE_ENDING_BYTES = 2
_READ_BYTES = 64 * 1024
_SPACE = re.compile(r"[ \t\n\r]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class RawLine:
    """A line that is not blank: `data` without its ending; `overlong` if `data` is only its beginning."""

    number: int
    offset: int
    data: bytes
    overlong: bool


class LineSource:
    """Lines of a binary stream, never holding more than the limit of one."""

    def __init__(self, stream: BinaryIO, limits: TranscriptLimits) -> None:
        self._stream = stream
        self._limits = limits
        self._number = 0
        self._offset = 0
        self._unfinished = False

    def lines(self) -> Iterator[RawLine]:
        """Lines that are not blank; may be called again to go on where the last call stopped."""
        while True:
            self._finish_line()
            self._number += 1
            start = self._offset
            raw = self._read(self._limits.line_bytes + _LINE_ENDING_BYTES + (len(_BOM) if start == 0 else 0))
            if not raw:
                return
            self._unfinished = not raw.endswith(b"\n")
            if start == 0 and raw.startswith(_BOM):
                raw, start = raw[len(_BOM) :], len(_BOM)
            data = raw.removesuffix(b"\n").removesuffix(b"\r") if not self._unfinished else raw
            overlong = len(data) > self._limits.line_bytes
            if overlong or data.strip(_BLANK):
                yield RawLine(number=self._number, offset=start, data=data, overlong=overlong)

    def rest_of_document(self, head: RawLine) -> RawLine:
        """Everything from `head` to the end of the stream, as one value; raises over the limit."""
        pieces = [head.data] if self._unfinished else [head.data, b"\n"]
        size = sum(map(len, pieces))
        while size <= self._limits.document_bytes:
            piece = self._stream.read(_READ_BYTES)
            if not piece:
                return RawLine(number=head.number, offset=head.offset, data=b"".join(pieces), overlong=False)
            pieces.append(piece)
            size += len(piece)
        raise TranscriptError(
            line=head.number,
            reason=f"the JSON document is over {self._limits.document_bytes} bytes; write it as JSON lines",
        )

    def _finish_line(self) -> None:
        while self._unfinished:
            piece = self._read(_READ_BYTES)
            self._unfinished = bool(piece) and not piece.endswith(b"\n")

    def _read(self, size: int) -> bytes:
        raw = self._stream.readline(size)
        self._offset += len(raw)
        return raw


def decode(raw: RawLine) -> str:
    """UTF-8 text without NUL, or a TranscriptError at the offending byte."""
    nul = raw.data.find(0)
    try:
        text = raw.data.decode("utf-8")
    except UnicodeDecodeError as error:
        if nul < 0 or error.start < nul:
            raise _byte_error(raw, error.start, "invalid UTF-8") from None
    else:
        if nul < 0:
            return text
    raise _byte_error(raw, nul, "NUL character")


def _byte_error(raw: RawLine, start: int, what: str) -> TranscriptError:
    before = raw.data[:start]
    line_start = before.rfind(b"\n") + 1
    return TranscriptError(
        line=raw.number + before.count(b"\n"),
        column=len(before[line_start:].decode("utf-8", errors="replace")) + 1,
        reason=f"{what} at byte {raw.offset + start} of the file",
        byte_offset=raw.offset + start,
    )


def parse_json(text: str, line: int, limits: TranscriptLimits) -> Any:
    """The one JSON value of `text`, which starts at `line`; anything else is a TranscriptError."""
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise TranscriptError(
            line=line + error.lineno - 1, column=error.colno, reason=_json_reason(error)
        ) from None
    except RecursionError:
        raise TranscriptError(line=line, reason=depth_reason(limits.depth)) from None
    except ValueError:
        # Not a syntax error: a constant that JSON lacks, or a number that no double holds.
        raise TranscriptError(line=line, reason="invalid JSON: number out of range") from None


def _json_reason(error: json.JSONDecodeError) -> str:
    if error.msg.startswith("Unterminated string") or error.pos >= len(error.doc.rstrip()):
        return "truncated JSON"
    return f"invalid JSON: {error.msg[0].lower()}{error.msg[1:]}"


def _reject_constant(_name: str) -> NoReturn:
    raise ValueError


def _integer(digits: str) -> int:
    _number(digits)
    return int(digits)


def _number(digits: str) -> float:
    """Stores keep numbers as doubles (google.protobuf.Struct), and JSON has no infinity."""
    number = float(digits)
    if math.isinf(number):
        raise ValueError
    return number


_DECODER = json.JSONDecoder(parse_constant=_reject_constant, parse_int=_integer, parse_float=_number)


def embedded_json(text: str) -> Any:
    """The JSON value that a string of a message holds; raises MessageError."""
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError):
        raise MessageError("invalid JSON inside a string") from None
    check_strings(value, MAX_DEPTH)
    return value


def depth_reason(depth: int) -> str:
    """The reason given for JSON that nests too deeply, whoever notices it."""
    return f"nested deeper than {depth} levels"


def check_strings(value: Any, depth: int) -> None:
    """Raises MessageError for strings that no store takes, and for nesting beyond `depth`.

    JSON escapes can spell what UTF-8 cannot: lone surrogates; and NUL, which PostgreSQL refuses.
    """
    stack = [(value, 1)]
    while stack:
        item, level = stack.pop()
        if isinstance(item, str):
            _check_string(item)
        elif isinstance(item, dict | list):
            if level > depth:
                raise MessageError(depth_reason(depth))
            if isinstance(item, dict):
                stack.extend((key, level + 1) for key in item)
                item = list(item.values())
            stack.extend((child, level + 1) for child in item)


def _check_string(text: str) -> None:
    if "\0" in text:
        raise MessageError("NUL character (\\u0000)")
    if text.isascii():
        return
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise MessageError("lone surrogate (\\ud800 to \\udfff without its other half)") from None


class LineCounter:
    """Lines of positions that only grow, in text whose first line is `first`."""

    def __init__(self, text: str, first: int) -> None:
        self._text = text
        self._line = first
        self._position = 0

    def line_at(self, position: int) -> int:
        self._line += self._text.count("\n", self._position, position)
        self._position = position
        return self._line


def array_starts(text: str, position: int) -> Iterator[int]:
    """Positions of the elements of the array at `position`, in text known to be valid JSON."""
    position = _skip_space(text, position + 1)
    while text[position] != "]":
        yield position
        _, position = _DECODER.raw_decode(text, position)
        position = _skip_separator(text, position)


def member_start(text: str, position: int, name: str) -> int:
    """Position of the last member `name` (the one JSON readers keep) of the object at `position`."""
    found = -1
    position = _skip_space(text, position + 1)
    while text[position] != "}":
        key, position = _DECODER.raw_decode(text, position)
        position = _skip_separator(text, position)
        if key == name:
            found = position
        _, position = _DECODER.raw_decode(text, position)
        position = _skip_separator(text, position)
    return found


def first_position(text: str) -> int:
    """Where the value of `text` begins."""
    return _skip_space(text, 0)


def _skip_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _skip_separator(text: str, position: int) -> int:
    """Past white space and at most one comma or colon."""
    position = _skip_space(text, position)
    return _skip_space(text, position + 1) if text[position] in ",:" else position
