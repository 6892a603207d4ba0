"""Decay, and merging of memories that say the same (SPEC S-14, J-10): what the Compactor's jobs ask for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations

from services.kit.times import Clock
from services.memory.semantic.app.generations import Generations
from services.memory.semantic.app.judging import Judge, statement_of
from services.memory.semantic.app.upkeep_ports import ActiveAgent, Member, UpkeepStore
from services.memory.semantic.domain.judging_types import CONTRADICTS_FROM, REPLACES_FROM
from services.memory.semantic.domain.memory import Memory
from services.memory.semantic.domain.merging import covers
from services.memory.semantic.domain.vectors import Bucket, ContentClass

COMPARED = 30
"""J-10: of the newest live memories of an agent, how many are compared."""
COSINE = 0.85
"""J-10: how similar two are at the least."""
MOST_PAIRS = 100
"""Of more pairs, the most similar: the others are for another day."""
JUDGED_AT_ONCE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two similar memories of one scope and kind, the newer one first.

    `covers`: the newer one says all that the older one says; `covered`: the older one all that the newer one
    says. `barred`: a judge finds that one replaces or contradicts the other.
    """

    memory_id: str
    other_id: str
    cosine: float
    covers: bool
    covered: bool
    barred: bool


class Upkeep:
    """Use cases over the store; `wake` tells the relay that jobs were committed."""

    def __init__(
        self,
        *,
        store: UpkeepStore,
        generations: Generations,
        judge: Judge,
        wake: Callable[[], None],
        clock: Clock,
    ) -> None:
        self._store = store
        self._generations = generations
        self._judge = judge
        self._wake = wake
        self._clock = clock

    async def agents(self, tenant: str | None, after: ActiveAgent | None, limit: int) -> list[ActiveAgent]:
        """A page of a tenant's agents, or of every tenant's."""
        return await self._store.agents(tenant, after, limit)

    async def recent(
        self, tenant: str, agent_id: str, since: datetime, limit: int, *, until: datetime | None = None
    ) -> list[Memory]:
        """Live memories that were written since then, until a moment or now, newest first."""
        return await self._store.recent(tenant, agent_id, since, limit, self._clock(), until=until)

    async def decay(self, tenant: str, agent_id: str, day: datetime | None, *, dry: bool) -> int:
        """How many memories lost confidence (S-14); again on the same day, none."""
        return await self._store.decay(tenant, agent_id, day or self._clock(), dry=dry)

    async def undo_decay(self, tenant: str, agent_id: str, day: datetime) -> int:
        """How many got back what they lost on that day."""
        return await self._store.undo_decay(tenant, agent_id, day, self._clock())

    async def similar(
        self, tenant: str, agent_id: str, limit: int, cosine: float
    ) -> tuple[list[Memory], list[Pair]]:
        """The newest memories that may be merged, and which of them are similar, the most similar first."""
        found = await self._store.candidates(tenant, agent_id, limit, self._clock())
        near = await self._near(tenant, agent_id, found, cosine)
        near.sort(key=lambda one: -one[2])
        places = asyncio.Semaphore(JUDGED_AT_ONCE)

        async def pair(newer: Memory, older: Memory, cosine: float) -> Pair:
            async with places:
                return await self._pair(tenant, agent_id, newer, older, cosine)

        return found, list(await asyncio.gather(*(pair(*one) for one in near[:MOST_PAIRS])))

    async def _near(
        self, tenant: str, agent_id: str, found: Sequence[Memory], cosine: float
    ) -> list[tuple[Memory, Memory, float]]:
        """By the vectors of the index, within a scope and kind: those that are not indexed yet are left."""
        comparable = [
            pair
            for pair in combinations(found, 2)
            if (pair[0].contact_id, pair[0].kind) == (pair[1].contact_id, pair[1].kind)
        ]
        if not comparable:
            return []
        generation = self._generations.active
        bucket = Bucket(tenant=tenant, agent=agent_id, content=ContentClass.MEMORY)
        firsts = list({first.id: first for first, _ in comparable}.values())
        vectors = await generation.documents([memory.value for memory in firsts])
        ids = [memory.id for memory in found]
        rows = await asyncio.gather(
            *(generation.vectors.similarities(bucket, vector, ids) for vector in vectors)
        )
        cosines = {memory.id: row for memory, row in zip(firsts, rows, strict=True)}
        return [
            (newer, older, cosines[newer.id][older.id])
            for newer, older in comparable
            if cosines[newer.id].get(older.id, -1.0) >= cosine
        ]

    async def _pair(self, tenant: str, agent_id: str, newer: Memory, older: Memory, cosine: float) -> Pair:
        one, other = statement_of(newer), statement_of(older)
        both = await asyncio.gather(
            asyncio.to_thread(covers, one, other), asyncio.to_thread(covers, other, one)
        )
        return Pair(
            memory_id=newer.id,
            other_id=older.id,
            cosine=cosine,
            covers=both[0],
            covered=both[1],
            barred=any(both) and await self._barred(tenant, agent_id, older, newer),
        )

    async def _barred(self, tenant: str, agent_id: str, older: Memory, newer: Memory) -> bool:
        """What a supersession was taken back for, or is for verification to find, is nothing to merge."""
        old, new = sorted((older, newer), key=lambda memory: (memory.valid_from, memory.created, memory.id))
        judged = await self._judge.judge(tenant, agent_id, statement_of(old), statement_of(new))
        found = judged.verdict
        return found.replaces >= REPLACES_FROM or found.contradicts >= CONTRADICTS_FROM

    async def merge(self, tenant: str, agent_id: str, memory_id: str, members: Sequence[Member]) -> Memory:
        """One memory in the place of several. Raises StateConflict."""
        merged = await self._store.merge(tenant, agent_id, memory_id, members, self._clock())
        self._wake()
        return merged

    async def undo_merge(self, tenant: str, agent_id: str, memory_id: str) -> list[Memory]:
        """The members as they were. Raises StateConflict."""
        restored = await self._store.undo_merge(tenant, agent_id, memory_id, self._clock())
        self._wake()
        return restored
