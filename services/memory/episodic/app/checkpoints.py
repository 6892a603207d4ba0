"""Use cases on the record of an open turn (SPEC W-3)."""

from __future__ import annotations

from services.kit.errors import NotFound
from services.kit.times import Clock, to_micros
from services.memory.episodic.app.working_ports import CheckpointStore, Saved
from services.memory.episodic.domain.checkpoints import OpenTurn, Round, checked, seen
from services.memory.episodic.domain.model import ConversationKey
from services.memory.episodic.domain.working import WorkingLimits


class Checkpoints:
    """Saves what an open turn has done."""

    def __init__(self, store: CheckpointStore, clock: Clock, limits: WorkingLimits) -> None:
        self._store = store
        self._clock = clock
        self._limits = limits

    async def save(self, key: ConversationKey, round_: Round) -> Saved:
        """Adds a round to its turn's record. Raises InvalidField, NotFound."""
        return await self._store.save(key, checked(round_, self._limits), now=self._now())

    async def get(self, key: ConversationKey) -> OpenTurn:
        """Raises NotFound, also where there is none that hasn't expired."""
        turn = seen(await self._store.get(key), self._now(), self._limits)
        if turn is None:
            raise NotFound("checkpoint", key.id)
        return turn

    async def delete(self, key: ConversationKey, turn_id: str) -> bool:
        """Whether there was one, of this turn; of any turn for "". Raises NotFound."""
        return await self._store.delete(key, turn_id)

    async def delete_expired(self, limit: int) -> int:
        """Deletes up to `limit` expired records of all tenants; returns how many it found."""
        return await self._store.delete_expired(self._now(), limit)

    def _now(self) -> int:
        return to_micros(self._clock())
