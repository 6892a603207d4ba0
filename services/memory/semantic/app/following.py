"""Indexing that the remote memory follows (SPEC S-15)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from services.memory.semantic.app.indexing import Item, MemoryItem


class Indexing(Protocol):
    """What indexes items."""

    async def index(self, tenant: str, agent_id: str, batch: Sequence[Item]) -> list[str]:
        """An error for each item, "" where it went well. Raises DependencyDown when nothing could be done."""


class Follows(Protocol):
    """What is told of memories that changed."""

    async def follow(self, tenant: str, agent_id: str, memory_ids: Sequence[str]) -> None:
        """Returns once it will not forget them."""


class FollowedIndexing:
    """Indexing, and another that hears of each memory.

    A memory's index job comes with each change of it, and is done only after this returned: so no change is
    lost on its way to the remote memory.
    """

    def __init__(self, indexing: Indexing, follows: Follows) -> None:
        self._indexing = indexing
        self._follows = follows

    async def index(self, tenant: str, agent_id: str, batch: Sequence[Item]) -> list[str]:
        """As Indexing; the other hears of it first, whatever becomes of the indexes."""
        changed = [item.memory_id for item in batch if isinstance(item, MemoryItem)]
        if changed:
            await self._follows.follow(tenant, agent_id, changed)
        return await self._indexing.index(tenant, agent_id, batch)
