"""What callers do with jobs: enqueue, read, watch, retry, cancel."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from services.compactor.app.ports import Counts, Cursor, Ledger, Query, Reach
from services.compactor.app.wake import Wake
from services.compactor.domain.ledger import ACTIVE, Job, NewJob
from services.kit import paging
from services.kit.errors import FieldProblem, InvalidRequest, NotAllowed
from services.kit.times import Clock

WATCH_BATCH = 100
"""Most jobs in one update."""
WATCH_LEAST_SECONDS = 0.02
"""The ledger is not asked more often, whatever interval a watcher wishes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPage:
    """A page of a listing; `next_token` is "" on the last."""

    jobs: Sequence[Job]
    next_token: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """Jobs that changed, and how many there are in each state."""

    jobs: Sequence[Job]
    counts: Counts


class Jobs:
    """The use cases of the ledger."""

    def __init__(self, ledger: Ledger, wake: Wake, clock: Clock, *, max_attempts: int) -> None:
        self._ledger = ledger
        self._wake = wake
        self._clock = clock
        self._max_attempts = max_attempts

    async def enqueue(self, reach: Reach, jobs: Sequence[NewJob]) -> list[str]:
        """Ids in the order of `jobs`, after they are safe on disk. Raises InvalidRequest, NotAllowed."""
        if reach.agents is not None and not {job.agent_id for job in jobs} <= reach.agents:
            raise NotAllowed("the credential does not reach this agent")
        problems = [
            FieldProblem(field=f"jobs[{place}].payload", description="must be JSON")
            for place, job in enumerate(jobs)
            if not _is_json(job.payload)
        ]
        if problems:
            raise InvalidRequest(f"{problems[0].field}: {problems[0].description}", fields=problems)
        ids = await self._ledger.enqueue(reach.tenant, jobs, self._max_attempts, self._clock())
        self._wake.set()
        return ids

    async def lookup(self, reach: Reach, keys: Sequence[str]) -> list[Job]:
        """The jobs of known keys."""
        return await self._ledger.lookup(reach, keys)

    async def get(self, reach: Reach, job_id: str) -> Job:
        """Raises NotFound."""
        return await self._ledger.get(reach, job_id)

    async def page(self, query: Query, size: int, token: str) -> JobPage:
        """Newest first. Raises InvalidPageToken."""
        listing = _listing(query)
        position = paging.decode(listing, token)
        size = paging.page_size(size)
        found = await self._ledger.page(query, None if position is None else str(position[0]), size + 1)
        more = len(found) > size
        return JobPage(
            jobs=found[:size], next_token=paging.encode(listing, (found[size - 1].id,)) if more else ""
        )

    async def counts(self, query: Query) -> Counts:
        """How many jobs are in each state; `query.states` is ignored."""
        return await self._ledger.counts(query)

    async def retry(self, reach: Reach, job_id: str) -> Job:
        """Raises NotFound, JobStateConflict."""
        job = await self._ledger.retry(reach, job_id, self._clock())
        self._wake.set()
        return job

    async def cancel(self, reach: Reach, job_id: str) -> Job:
        """Raises NotFound, JobStateConflict."""
        return await self._ledger.cancel(reach, job_id, self._clock())

    async def watch(self, query: Query, *, interval: float, until_idle: bool) -> AsyncIterator[Update]:
        """First the present state, then changes, read from the ledger as fast as they are taken.

        Nothing is queued for a slow caller: it gets each job once, as it is by then. `interval` (seconds)
        passes between updates, unless more than WATCH_BATCH jobs have changed: then the next follows at
        once. `query.states` chooses the jobs that are sent; counts, and what "idle" means, cover all.
        """
        cursor, told = Cursor(), None
        while True:
            changes = await self._ledger.changes(query, cursor, WATCH_BATCH)
            cursor = changes.cursor
            if changes.jobs or changes.counts != told:
                told = changes.counts
                yield Update(jobs=changes.jobs, counts=changes.counts)
            if changes.complete:
                if until_idle and not any(changes.counts[state] for state in ACTIVE):
                    return
                await asyncio.sleep(max(interval, WATCH_LEAST_SECONDS))


def _is_json(payload: bytes) -> bool:
    try:
        json.loads(payload)
    except (ValueError, RecursionError):
        return False
    return True


def _listing(query: Query) -> str:
    """Names a listing by its caller's reach and its filters, so that its tokens fit no other."""
    agents = query.reach.agents
    filters = [
        query.reach.tenant,
        None if agents is None else sorted(agents),
        sorted(query.states),
        sorted(query.types),
    ]
    return "ListJobs:" + hashlib.sha256(json.dumps(filters).encode("utf-8")).hexdigest()
