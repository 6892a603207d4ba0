"""Working memory as a prompt shows it (SPEC G-1)."""

from __future__ import annotations

from services.kit.times import Clock, to_micros
from services.memory.episodic.app.working_ports import WorkingMemory, WorkingStore
from services.memory.episodic.domain.checkpoints import seen
from services.memory.episodic.domain.model import ConversationKey
from services.memory.episodic.domain.working import WorkingLimits


class Working:
    """Gathers notes, task, stale turn and loaded entries."""

    def __init__(self, store: WorkingStore, clock: Clock, limits: WorkingLimits) -> None:
        self._store = store
        self._clock = clock
        self._limits = limits

    async def read(self, key: ConversationKey) -> WorkingMemory:
        """As of one moment; the open turn only if it is stale and hasn't expired. Raises NotFound."""
        stored = await self._store.read(key)
        turn = seen(stored.checkpoint, to_micros(self._clock()), self._limits)
        return WorkingMemory(
            notes=stored.notes,
            task=stored.task,
            turn=turn if turn is not None and turn.stale else None,
            loaded=stored.loaded,
        )
