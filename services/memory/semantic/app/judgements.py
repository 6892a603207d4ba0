"""What was found of memories, and what people make of it (SPEC S-7, S-8)."""

from __future__ import annotations

from collections.abc import Callable

from services.kit.times import Clock
from services.memory.semantic.app.ports import ContradictionQuery, JudgementStore
from services.memory.semantic.domain.memory import Contradiction, Memory


class Judgements:
    """Use cases over the store; `wake` tells the relay that jobs were committed."""

    def __init__(self, *, store: JudgementStore, wake: Callable[[], None], clock: Clock) -> None:
        self._store = store
        self._wake = wake
        self._clock = clock

    async def undo_supersession(self, tenant: str, agent_id: str, memory_id: str) -> Memory:
        """Takes back the newest supersession of a memory. Raises NotFound, StateConflict."""
        memory = await self._store.undo_supersession(tenant, agent_id, memory_id, self._clock())
        self._wake()
        return memory

    async def contradictions(self, tenant: str, query: ContradictionQuery) -> list[Contradiction]:
        """Unresolved ones, in order of being found."""
        return await self._store.contradictions(tenant, query, self._clock())

    async def resolve(self, tenant: str, agent_id: str, contradiction_id: str, kept_id: str) -> Contradiction:
        """Lets one memory replace the other, or both stand ("").

        Raises NotFound, InvalidField, StateConflict.
        """
        resolved = await self._store.resolve_contradiction(
            tenant, agent_id, contradiction_id, kept_id, self._clock()
        )
        self._wake()
        return resolved
