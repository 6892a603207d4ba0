"""Copies of documents in this process, for the embedded profile (SPEC K-1)."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

from services.compactor.app.document_ports import MAX_VALUE_BYTES, revision_of

ENTRY_BYTES = 200  # what Python keeps beside key and value


class MemoryKv:
    """A Kv that forgets what was used longest ago, so that it holds at most `max_bytes`.

    Belongs to one event loop. `clock` gives seconds that never go back.
    """

    def __init__(self, max_bytes: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._max_bytes = max_bytes
        self._clock = clock
        self._values: OrderedDict[str, tuple[bytes, float]] = OrderedDict()
        self._bytes = 0

    @property
    def size_bytes(self) -> int:
        """How much it holds."""
        return self._bytes

    async def get(self, key: str) -> bytes | None:
        """A value."""
        value = self._live(key)
        if value is not None:
            self._values.move_to_end(key)
        return value

    async def set(self, key: str, value: bytes, *, seconds: float) -> bool:
        """Keeps a value unless a newer one is there."""
        revision = revision_of(value)
        if revision is None or len(value) > MAX_VALUE_BYTES:
            raise ValueError("not a value of the key-value store")
        there = revision_of(self._live(key) or b"")
        if there is not None and there > revision:
            return False
        self._forget(key)
        if _size(key, value) > self._max_bytes:
            # Without this, a slow reader could put back an older value, which is smaller.
            value = b"%d:" % revision
        if _size(key, value) > self._max_bytes:
            return False
        self._values[key] = (value, self._clock() + seconds)
        self._bytes += _size(key, value)
        while self._bytes > self._max_bytes:
            self._forget(next(iter(self._values)))
        return True

    async def delete(self, key: str) -> None:
        """Forgets a value."""
        self._forget(key)

    def _live(self, key: str) -> bytes | None:
        found = self._values.get(key)
        if found is None:
            return None
        value, end = found
        if end <= self._clock():
            self._forget(key)
            return None
        return value

    def _forget(self, key: str) -> None:
        found = self._values.pop(key, None)
        if found is not None:
            self._bytes -= _size(key, found[0])


def _size(key: str, value: bytes) -> int:
    return len(key) + len(value) + ENTRY_BYTES
