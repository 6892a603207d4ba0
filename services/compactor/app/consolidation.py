"""Consolidation (SPEC J-10, S-14): decay, then merging of memories that say the same; and taking it back.

A run's row holds the groups, with the ids of the memories to be written, before the first of them is merged.
So a run that is cut short goes on where it stopped, and whatever it did can be taken back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final, Protocol

from services.compactor.domain.consolidation import (
    COMPARED,
    COSINE,
    MOST_MERGES,
    Candidate,
    Merge,
    Outcome,
    Run,
    Similar,
    plan,
)
from services.kit.errors import NotFound, StateConflict
from services.kit.ids import new_id
from services.kit.times import Clock

DRY = "a dry run changed nothing that could be taken back"
UNFINISHED = "the run is still under way"
UNDER_WAY: Final = timedelta(hours=1)
"""So long after its beginning, a run that has not ended was given up, and may be taken back."""


class MemoryUpkeep(Protocol):
    """What Semantic does. All may raise DependencyDown and Overloaded."""

    async def decay(self, tenant: str, agent_id: str, day: datetime, *, dry: bool) -> int:
        """How many memories lose confidence on that day; again, none."""

    async def undo_decay(self, tenant: str, agent_id: str, day: datetime) -> int:
        """How many got it back."""

    async def similar(
        self, tenant: str, agent_id: str, limit: int, cosine: float
    ) -> tuple[Sequence[Candidate], Sequence[Similar]]:
        """The newest memories, newest first, and which are similar."""

    async def merge(self, tenant: str, agent_id: str, merge: Merge) -> None:
        """Puts one in the place of the members; again changes nothing. Raises StateConflict."""

    async def undo_merge(self, tenant: str, agent_id: str, memory_id: str) -> None:
        """Takes a merge back; again is no error. Raises StateConflict."""


class Runs(Protocol):
    """The rows of runs. All may raise DependencyDown."""

    async def start(self, tenant: str, run: Run) -> Run:
        """The run of this id, which is new or was begun before."""

    async def settle(self, tenant: str, run: Run) -> Run:
        """Keeps what a run will do, unless another attempt settled that before; the run as it is then."""

    async def save(self, tenant: str, run: Run) -> None:
        """Keeps what became of it; of a run that is finished, nothing but what finishes or undoes it."""

    async def get(self, tenant: str, agent_id: str, run_id: str) -> Run | None:
        """None for an unknown one."""

    async def page(self, tenant: str, agent_id: str, before: str | None, limit: int) -> list[Run]:
        """Newest (greatest id) first; only ids less than `before`."""


class Consolidation:
    """The use cases."""

    def __init__(self, memories: MemoryUpkeep, runs: Runs, clock: Clock) -> None:
        self._memories = memories
        self._runs = runs
        self._clock = clock

    async def run(self, tenant: str, agent_id: str, *, dry: bool, run_id: str = "") -> Run:
        """Consolidates one agent's memories; the same `run_id` again goes on with it, or finds it done.

        A dry run tells what would be done. Raises DependencyDown, Overloaded.
        """
        begun = Run(id=run_id or new_id(), agent_id=agent_id, dry=dry, created=self._clock())
        run = await self._runs.start(tenant, begun)
        if run.finished is not None:
            return run
        if not run.planned:
            run = await self._plan(tenant, run)
        if not run.dry:
            for merge in run.merges:
                if merge.outcome is Outcome.PLANNED:
                    run = run.with_outcome(merge, await self._merge(tenant, agent_id, merge))
                    await self._runs.save(tenant, run)
        run = replace(run, finished=self._clock())
        await self._runs.save(tenant, run)
        return run

    async def _plan(self, tenant: str, run: Run) -> Run:
        decayed = await self._memories.decay(tenant, run.agent_id, run.created, dry=run.dry)
        candidates, pairs = await self._memories.similar(tenant, run.agent_id, COMPARED, COSINE)
        ids = [new_id() for _ in range(MOST_MERGES)]
        planned = replace(
            run,
            planned=True,
            compared=len(candidates),
            decayed=decayed,
            merges=plan(candidates, pairs, ids),
        )
        # A worker that was taken over may still be at it: both go on with the ids of whoever came first.
        return await self._runs.settle(tenant, planned)

    async def _merge(self, tenant: str, agent_id: str, merge: Merge) -> Outcome:
        try:
            await self._memories.merge(tenant, agent_id, merge)
        except StateConflict:
            return Outcome.SKIPPED
        return Outcome.MERGED

    async def undo(self, tenant: str, agent_id: str, run_id: str) -> Run:
        """Takes a run back, as far as nothing else came since. Raises NotFound, StateConflict."""
        run = await self.get(tenant, agent_id, run_id)
        if run.dry:
            raise StateConflict(DRY)
        done = {Outcome.MERGED, Outcome.KEPT}
        if run.finished is None:
            if self._clock() - run.created < UNDER_WAY:
                raise StateConflict(UNFINISHED)
            done.add(Outcome.PLANNED)  # merged perhaps, and not written down any more
            run = replace(run, finished=self._clock())
        for merge in run.merges:
            if merge.outcome in done:
                run = run.with_outcome(merge, await self._undo_merge(tenant, agent_id, merge))
        restored = await self._memories.undo_decay(tenant, agent_id, run.created)
        run = replace(run, undone=run.undone or self._clock(), restored=run.restored + restored)
        await self._runs.save(tenant, run)
        return run

    async def _undo_merge(self, tenant: str, agent_id: str, merge: Merge) -> Outcome:
        try:
            await self._memories.undo_merge(tenant, agent_id, merge.memory_id)
        except StateConflict:
            return Outcome.KEPT
        return Outcome.UNDONE

    async def get(self, tenant: str, agent_id: str, run_id: str) -> Run:
        """Raises NotFound."""
        run = await self._runs.get(tenant, agent_id, run_id)
        if run is None:
            raise NotFound("consolidation run", run_id)
        return run

    async def page(self, tenant: str, agent_id: str, before: str | None, limit: int) -> list[Run]:
        """Newest first."""
        return await self._runs.page(tenant, agent_id, before, limit)
