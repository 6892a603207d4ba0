"""Vectors that were made before (SPEC M-6)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

from services.embedder.domain.chunking import Span
from services.kit.ids import keyed_hash

ENTRY_OVERHEAD_BYTES = 320  # a dict entry, the key with its span, and the object around the bytes, roughly


class VectorCache:
    """Least recently used first out, bounded by bytes; keys are keyed hashes of content, never content.

    An entry is a part of a text, known by the whole text and the part's characters: forgetting a text drops
    every part of it.
    """

    def __init__(self, *, secret: bytes, revision: str, max_bytes: int) -> None:
        self._secret = secret
        self._revision = revision
        self._max_bytes = max_bytes
        self._bytes = 0
        self._vectors: OrderedDict[tuple[str, Span], bytes] = OrderedDict()

    def __len__(self) -> int:
        return len(self._vectors)

    def content_key(self, text: str) -> str:
        """The keyed hash by which a text is known here, under this model revision."""
        return keyed_hash(self._secret, self._revision, text)

    def get(self, content_key: str, span: Span) -> bytes | None:
        """The vector of characters `span` of a text, if known."""
        key = (content_key, span)
        vector = self._vectors.get(key)
        if vector is not None:
            self._vectors.move_to_end(key)
        return vector

    def put(self, content_key: str, span: Span, vector: bytes) -> None:
        """Keeps a vector, dropping the least recently used ones beyond the bound."""
        key = (content_key, span)
        if key not in self._vectors:
            self._bytes += len(vector) + ENTRY_OVERHEAD_BYTES
        self._vectors[key] = vector
        self._vectors.move_to_end(key)
        while self._bytes > self._max_bytes and self._vectors:
            _, dropped = self._vectors.popitem(last=False)
            self._bytes -= len(dropped) + ENTRY_OVERHEAD_BYTES

    def forget(self, texts: Iterable[str]) -> int:
        """Drops the vectors of erased texts and of all their parts; returns how many were held."""
        erased = {self.content_key(text) for text in texts}
        doomed = [key for key in self._vectors if key[0] in erased]
        for key in doomed:
            self._bytes -= len(self._vectors.pop(key)) + ENTRY_OVERHEAD_BYTES
        return len(doomed)
