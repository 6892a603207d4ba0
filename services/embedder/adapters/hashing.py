"""A model for tests: words hashed into a vector. Texts that share words are alike; nothing else is."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

import numpy as np

from services.embedder.domain.model import ModelDescription, Prepared

WORD = re.compile(r"\w+|[^\w\s]")
SPECIAL_TOKENS = 2


class HashingBackend:
    """Feature hashing (Weinberger et al. 2009, https://arxiv.org/abs/0902.2206) of words."""

    def __init__(self, dimension: int = 64, max_tokens: int = 256) -> None:
        self.description = ModelDescription(
            name="hashing", dimension=dimension, max_tokens=max_tokens, revision=f"hashing-{dimension}"
        )

    async def prepare(self, texts: Sequence[str]) -> list[Prepared]:
        """Words and signs are tokens."""
        return [_prepare(text) for text in texts]

    async def embed(self, texts: Sequence[Prepared]) -> list[bytes]:
        """Signed counts of hashed words."""
        return [self._vector(text.text) for text in texts]

    async def close(self) -> None:
        """Nothing to free."""

    def _vector(self, text: str) -> bytes:
        vector = np.zeros(self.description.dimension, dtype="<f4")
        for word in WORD.findall(text.lower()) or [""]:
            digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
            number = int.from_bytes(digest, "big")
            vector[number % len(vector)] += 1.0 if number >> 63 else -1.0
        norm = float(np.linalg.norm(vector))
        if norm == 0:
            vector[0], norm = 1.0, 1.0
        return (vector / np.float32(norm)).astype("<f4").tobytes()


def _prepare(text: str) -> Prepared:
    spans = tuple(match.span() for match in WORD.finditer(text))
    return Prepared(text=text, token_count=len(spans) + SPECIAL_TOKENS, spans=spans)
