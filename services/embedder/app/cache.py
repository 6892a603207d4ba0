"""Vectors that were made before (SPEC M-6)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

from services.kit.ids import keyed_hash

ENTRY_OVERHEAD_BYTES = 200  # a dict entry, the key and the object around the bytes, roughly


class VectorCache:
    """Least recently used first out, bounded by bytes; keys are keyed hashes of content, never content."""

    def __init__(self, *, secret: bytes, revision: str, max_bytes: int) -> None:
        self._secret = secret
        self._revision = revision
        self._max_bytes = max_bytes
        self._bytes = 0
        self._vectors: OrderedDict[str, bytes] = OrderedDict()

    def __len__(self) -> int:
        return len(self._vectors)

    def get(self, text: str) -> bytes | None:
        """The vector of a text, if known."""
        key = self._key(text)
        vector = self._vectors.get(key)
        if vector is not None:
            self._vectors.move_to_end(key)
        return vector

    def put(self, text: str, vector: bytes) -> None:
        """Keeps a vector, dropping the least recently used ones beyond the bound."""
        key = self._key(text)
        if key not in self._vectors:
            self._bytes += len(vector) + ENTRY_OVERHEAD_BYTES
        self._vectors[key] = vector
        self._vectors.move_to_end(key)
        while self._bytes > self._max_bytes and self._vectors:
            _, dropped = self._vectors.popitem(last=False)
            self._bytes -= len(dropped) + ENTRY_OVERHEAD_BYTES

    def forget(self, texts: Iterable[str]) -> int:
        """Drops the vectors of texts that are erased; returns how many were held."""
        count = 0
        for text in texts:
            dropped = self._vectors.pop(self._key(text), None)
            if dropped is not None:
                self._bytes -= len(dropped) + ENTRY_OVERHEAD_BYTES
                count += 1
        return count

    def _key(self, text: str) -> str:
        return keyed_hash(self._secret, self._revision, text)
