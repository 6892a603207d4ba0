"""Finds ids that one file uses for different messages."""

from __future__ import annotations

import hashlib

from palimpsest.transcripts.model import MessageError, TranscriptMessage

_DIGEST_BYTES = 16


class SeenIds:
    """Remembers the latest `window` to 2 × `window` ids, as digests, so that memory stays constant.

    Two generations instead of a queue: when the newer is full, it replaces the older.
    """

    def __init__(self, window: int) -> None:
        self._window = window
        self._newer: dict[bytes, tuple[bytes, int]] = {}
        self._older: dict[bytes, tuple[bytes, int]] = {}

    def check(self, message: TranscriptMessage) -> None:
        """Raises MessageError if the conversation used the message's id for other content (E-2)."""
        if message.id is None:
            return
        key = _digest(message.conversation, message.id)
        content = _digest(message.role, message.author, message.parts)
        first = self._newer.get(key) or self._older.get(key)
        if first is None:
            self._remember(key, (content, message.line))
        elif first[0] != content:
            raise MessageError(f"the id of line {first[1]} again, with other content")

    def _remember(self, key: bytes, entry: tuple[bytes, int]) -> None:
        if len(self._newer) >= self._window:
            self._newer, self._older = {}, self._newer
        self._newer[key] = entry


def _digest(*values: object) -> bytes:
    return hashlib.blake2b(repr(values).encode("utf-8"), digest_size=_DIGEST_BYTES).digest()
