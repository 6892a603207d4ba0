"""Writing, reading and forgetting memories (SPEC S-1, S-6, S-10)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from services.kit.errors import InvalidField, NotFound
from services.kit.times import Clock
from services.memory.semantic.app.ports import MemoryHistory, MemoryQuery, MemoryStore, Remembered
from services.memory.semantic.domain.memory import Memory, NewMemory, Scope, by_relevance, check_new

UPDATABLE = frozenset({"pinned"})


class Memories:
    """Use cases over the canonical rows; `wake` tells the relay that jobs were committed."""

    def __init__(self, *, store: MemoryStore, wake: Callable[[], None], clock: Clock) -> None:
        self._store = store
        self._wake = wake
        self._clock = clock

    async def remember(self, tenant: str, new: NewMemory) -> Remembered:
        """Writes a version; the same value again changes nothing."""
        now = self._clock()
        check_new(new, now)
        result = await self._store.remember(tenant, new, now)
        self._wake()
        return result

    async def get(self, tenant: str, agent_id: str, memory_id: str) -> Memory:
        """Any version, by id. Raises NotFound."""
        found = await self._store.get(tenant, agent_id, [memory_id])
        if memory_id not in found:
            raise NotFound("memory", memory_id)
        return found[memory_id]

    async def by_key(self, tenant: str, scope: Scope, key: str, *, as_of: datetime | None = None) -> Memory:
        """The live memory of a key, or the one that was valid then; counts the access. Raises NotFound."""
        memory = await self._store.live_of_key(tenant, scope, key, self._clock(), as_of=as_of)
        if memory is None:
            raise NotFound("memory", key)
        await self._store.count_access(tenant, scope.agent_id, [memory.id], self._clock())
        return memory

    async def page(self, tenant: str, query: MemoryQuery) -> list[tuple[int, Memory]]:
        """A page, oldest first."""
        return await self._store.page(tenant, query, self._clock())

    async def history(self, tenant: str, agent_id: str, memory_id: str) -> MemoryHistory:
        """Oldest first. Raises NotFound."""
        history = await self._store.history(tenant, agent_id, memory_id)
        if not history.memories:
            raise NotFound("memory", memory_id)
        return history

    async def update(
        self,
        tenant: str,
        agent_id: str,
        memory_id: str,
        *,
        pinned: bool,
        paths: Sequence[str],
        expected_edits: int | None = None,
    ) -> Memory:
        """Changes what `paths` name. Raises InvalidField for others, NotFound, VersionConflict."""
        if not memory_id:
            raise InvalidField("memory.id", "is required")
        for path in paths:
            if path not in UPDATABLE:
                raise InvalidField("update_mask", f"{path!r} cannot be changed; only pinned can")
        if not paths:
            raise InvalidField("update_mask", "names no field")
        memory = await self._store.set_pinned(
            tenant, agent_id, memory_id, pinned, self._clock(), edits=expected_edits
        )
        if memory is None:
            raise NotFound("memory", memory_id)
        return memory

    async def forget(self, tenant: str, agent_id: str, memory_id: str) -> int:
        """Deletes all versions; how many. Raises NotFound.

        No channel returns them from now on, for hits are read from the canonical rows; jobs clean the
        indexes.
        """
        gone = await self._store.forget(tenant, agent_id, memory_id)
        if not gone:
            raise NotFound("memory", memory_id)
        self._wake()
        return len(gone)

    async def standing(self, tenant: str, scope: Scope, limit: int) -> list[Memory]:
        """Pinned ones, then by relevance, as it was when memories changed last (G-1)."""
        now = self._clock()
        return await self._store.standing_choice(
            tenant, scope, limit, now, lambda memories: by_relevance(memories, now)
        )

    async def count_access(self, tenant: str, agent_id: str, memory_ids: Sequence[str]) -> None:
        """Counts memories that were placed in a prompt."""
        await self._store.count_access(tenant, agent_id, memory_ids, self._clock())
