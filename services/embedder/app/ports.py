"""What the use cases need of a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from services.embedder.domain.model import ModelDescription, Prepared
from services.embedder.domain.spans import SpannedText, SpanScore


class EmbeddingBackend(Protocol):
    """A model. One suite of tests holds for all: tests/contract/test_embedding_backends.py."""

    @property
    def description(self) -> ModelDescription:
        """Which model it is."""

    async def prepare(self, texts: Sequence[str]) -> list[Prepared]:
        """Tokenises, without cutting anything."""

    async def embed(self, texts: Sequence[Prepared]) -> list[bytes]:
        """A vector for each text, float32 little endian, of length 1.

        Each text must be within the model's limit. Raises DependencyDown when the model does not answer.
        """

    async def close(self) -> None:
        """Frees what it holds."""


class SpanScorer(Protocol):
    """Says which stretches of a text state a fact."""

    async def score(self, texts: Sequence[SpannedText]) -> list[list[SpanScore]]:
        """The scores of each text's stretches, in their order. Raises DependencyDown."""
