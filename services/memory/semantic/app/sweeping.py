"""Moving out of the index of live memories what has ended by itself (SPEC S-8, J-15).

A planned end, or expiring, comes without an event. So rows are looked up by their ends, from where the last
sweep stopped, and those that the registry still names among live memories are indexed again, which puts them
where they belong now. Recall never shows them anyway: it reads the rows.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

import structlog

from services.kit.errors import PalimpsestError
from services.kit.times import Clock
from services.memory.semantic.app.item_ports import Registered
from services.memory.semantic.app.ports import MemoryStore
from services.memory.semantic.app.upkeep_ports import Ended, UpkeepStore
from services.memory.semantic.domain.vectors import Bucket, ContentClass

PAGE = 500
OVERLAP = timedelta(hours=1)
"""Ends are looked for again within this: an index job may have been under way, a clock behind."""
FIRST = datetime(1970, 1, 1, tzinfo=UTC)


class Sweeper:
    """Enqueues index jobs for memories that ended by themselves; `wake` tells the relay of them."""

    def __init__(
        self,
        *,
        store: MemoryStore,
        upkeep: UpkeepStore,
        items: Registered,
        wake: Callable[[], None],
        clock: Clock,
    ) -> None:
        self._store = store
        self._upkeep = upkeep
        self._items = items
        self._wake = wake
        self._clock = clock
        self._log = structlog.get_logger("sweeping")

    async def run(self, every: float) -> None:
        """Now and every so many seconds, until cancelled."""
        while True:
            try:
                await self.sweep()
            except PalimpsestError as error:
                self._log.warning("sweep_failed", reason=error.reason)
            await asyncio.sleep(every)

    async def sweep(self) -> int:
        """How many memories are to be moved."""
        until = self._clock()
        last = await self._upkeep.swept()
        since = FIRST if last is None else min(last, until) - OVERLAP
        count = 0
        after: Ended | None = None
        while page := await self._upkeep.ended(since, until, after, PAGE):
            after = page[-1]
            count += await self._move(page)
        await self._upkeep.set_swept(until)
        if count:
            self._log.info("ended_memories", jobs=count)
            self._wake()
        return count

    async def _move(self, ended: Sequence[Ended]) -> int:
        by_agent: dict[tuple[str, str], dict[str, Ended]] = defaultdict(dict)
        for one in ended:
            by_agent[one.tenant, one.agent_id][one.memory_id] = one
        count = 0
        for (tenant, agent_id), found in by_agent.items():
            bucket = Bucket(tenant=tenant, agent=agent_id, content=ContentClass.MEMORY)
            known = await self._items.known_memories(bucket, list(found))
            # By the end's moment: a second sweep finds the job that the first one asked for.
            for memory_id in sorted(known):
                suffix = f":ended:{found[memory_id].at.timestamp():.6f}"
                await self._store.enqueue_memories(tenant, agent_id, [memory_id], suffix)
            count += len(known)
        return count
