"""What attractors need from the outside (SPEC J-12)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from services.compactor.domain.attractor import Point


class Points(Protocol):
    """What is known of each summary of an agent, so that only those that changed are read and embedded.

    A copy of what summaries say: losing it loses nothing. All raise DependencyDown.
    """

    async def changed(self, tenant: str, agent_id: str, model: str, limit: int) -> list[str]:
        """Conversations whose summary has no point of its version and this model; the newest first."""

    async def put(self, tenant: str, agent_id: str, model: str, points: Sequence[Point]) -> None:
        """Stores points. A vector may be empty: the summary says nothing."""

    async def prune(self, tenant: str, agent_id: str) -> None:
        """Deletes the points of conversations that have no summary any more (D-2)."""

    async def newest(self, tenant: str, agent_id: str, model: str, limit: int) -> tuple[list[Point], int]:
        """The newest points of this model that have a vector, and how many there are."""


class Embedder(Protocol):
    """Vectors of texts. Both raise DependencyDown, Overloaded."""

    async def model(self) -> str:
        """The revision of the model that answers now."""

    async def embed(self, texts: Sequence[str], model: str) -> list[bytes]:
        """A unit vector for each, float32, little endian; of a long text that of its parts together.

        Empty for a text that has none: one bad text costs one text (J-3).
        """


class Later(Protocol):
    """Asks for another update, not before a moment; again under the same key is no other one."""

    async def __call__(self, tenant: str, agent_id: str, key: str, not_before: datetime) -> str:
        """The id of the job. Raises DependencyDown."""
