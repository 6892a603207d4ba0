"""Frames between a process and its child: a call id, a small JSON head, and raw bytes.

Layout: length of all that follows the header (u32), length of the head (u32), call id (u64), big endian; then
the head in UTF-8; then the body. Call id 0 is the child's greeting.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

HEADER = struct.Struct(">IIQ")
MAX_FRAME_BYTES = 64 * 1024 * 1024

Head = Mapping[str, Any]


class BadFrame(Exception):
    """The bytes are not a frame."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One message in either direction."""

    id: int
    head: Head
    body: bytes = b""


def encode(frame: Frame) -> bytes:
    """The frame as bytes. Raises BadFrame when it is over MAX_FRAME_BYTES."""
    head = json.dumps(frame.head, separators=(",", ":")).encode("utf-8")
    length = len(head) + len(frame.body)
    if length > MAX_FRAME_BYTES:
        raise BadFrame(f"a frame of {length} bytes is over the limit of {MAX_FRAME_BYTES}")
    return b"".join((HEADER.pack(length, len(head), frame.id), head, frame.body))


def parse_header(header: bytes) -> tuple[int, int, int]:
    """Length of the payload, length of its head, call id. Raises BadFrame."""
    length, head_length, call_id = HEADER.unpack(header)
    if head_length > length or length > MAX_FRAME_BYTES:
        raise BadFrame("the lengths in a frame's header make no sense")
    return length, head_length, call_id


def parse_payload(payload: bytes, head_length: int, call_id: int) -> Frame:
    """The frame that a header announced. Raises BadFrame."""
    try:
        head = json.loads(payload[:head_length])
    except ValueError as error:
        raise BadFrame("a frame's head is not JSON") from error
    if not isinstance(head, dict):
        raise BadFrame("a frame's head is not an object")
    return Frame(id=call_id, head=head, body=payload[head_length:])


class Decoder:
    """Cuts a stream of bytes into frames."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Takes more bytes; yields the frames that are whole by now. Raises BadFrame."""
        self._buffer += data
        while len(self._buffer) >= HEADER.size:
            length, head_length, call_id = parse_header(bytes(self._buffer[: HEADER.size]))
            end = HEADER.size + length
            if len(self._buffer) < end:
                return
            payload = bytes(self._buffer[HEADER.size : end])
            del self._buffer[:end]
            yield parse_payload(payload, head_length, call_id)
