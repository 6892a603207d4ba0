"""The ledger over a SQL database: a transaction per step, committed before it is answered (SPEC J-1)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from services.compactor.adapters.sql import claims, verdicts
from services.compactor.adapters.sql.enqueueing import enqueue
from services.compactor.adapters.sql.rows import JOB_COLUMNS, JOBS, count, find, job_of, of_jobs
from services.compactor.app.ports import Changes, Counts, Cursor, Query, Reach
from services.compactor.domain.ledger import Event, Job, NewJob, Settlement
from services.kit.errors import NotFound
from services.kit.sql import Script, SqlDatabase, Value, fetch, first
from services.kit.times import to_micros

MAX_SKIPPED_TENANTS: Final = 64
"""Tenants that one claim finds without a job to take before it leaves the rest to the next."""
LAST_PLACE: Final = 2**63 - 1


class SqlLedger:
    """A Ledger over one database."""

    def __init__(self, database: SqlDatabase, *, tenant_slots: int = claims.NO_LIMIT) -> None:
        """`tenant_slots`: most claims of a tenant at once, of all workers together (J-4); 0 for any."""
        self._database = database
        self._tenant_slots = tenant_slots

    async def enqueue(
        self, tenant: str, jobs: Sequence[NewJob], max_attempts: int, now: datetime
    ) -> list[str]:
        """See Ledger."""
        return await self._database.write(lambda: enqueue(tenant, jobs, max_attempts, to_micros(now)))

    async def claim(
        self, owner: str, limit: int, lease: timedelta, now: datetime, *, but: frozenset[str] = frozenset()
    ) -> list[Job]:
        """See Ledger."""
        wish = claims.Wish(
            owner=owner,
            limit=limit,
            lease_end=to_micros(now + lease),
            now=to_micros(now),
            slots=self._tenant_slots,
            but=sorted(but),
        )
        for _ in range(MAX_SKIPPED_TENANTS):
            jobs = await self._database.write(lambda: claims.claim(wish))
            if jobs is None or jobs:
                return jobs or []
        return []

    async def heartbeat(self, jobs: Sequence[Job], lease: timedelta, now: datetime) -> set[str]:
        """See Ledger."""
        return await self._database.write(lambda: claims.heartbeat(jobs, to_micros(now + lease)))

    async def settle(self, settlements: Sequence[Settlement], now: datetime) -> set[str]:
        """See Ledger."""
        return await self._database.write(lambda: verdicts.settle(settlements, to_micros(now)))

    async def release(self, jobs: Sequence[Job], now: datetime) -> set[str]:
        """See Ledger."""
        return await self._database.write(lambda: claims.release(jobs, to_micros(now)))

    async def free_leases(self, owner: str, now: datetime) -> int:
        """See Ledger."""
        return await self._database.write(lambda: claims.free_leases(owner, to_micros(now)))

    async def cancel(self, reach: Reach, job_id: str, now: datetime) -> Job:
        """See Ledger."""
        return await self._database.write(
            lambda: verdicts.change(reach, job_id, Event.CANCEL, to_micros(now))
        )

    async def retry(self, reach: Reach, job_id: str, now: datetime) -> Job:
        """See Ledger."""
        return await self._database.write(lambda: verdicts.change(reach, job_id, Event.RETRY, to_micros(now)))

    async def get(self, reach: Reach, job_id: str) -> Job:
        """See Ledger."""
        row = await self._database.read(lambda: find(reach.tenant, job_id))
        if row is None or not reach.holds(job := job_of(row)):
            raise NotFound("job", job_id)
        return job

    async def lookup(self, reach: Reach, keys: Sequence[str]) -> list[Job]:
        """See Ledger."""
        text = f"SELECT {JOB_COLUMNS} FROM {JOBS} WHERE j.tenant = ? AND j.key IN ??"
        rows = await self._database.read(lambda: fetch(text, reach.tenant, list(keys)))
        return [job for job in map(job_of, rows) if reach.holds(job)]

    async def page(self, query: Query, before: str | None, limit: int) -> list[Job]:
        """See Ledger."""
        where = of_jobs(query)
        bound, arguments = ("", []) if before is None else (" AND j.id < ?", [before])
        text = f"SELECT {JOB_COLUMNS} FROM {JOBS} WHERE {where.sql}{bound} ORDER BY j.id DESC LIMIT ?"
        rows = await self._database.read(lambda: fetch(text, *where.arguments, *arguments, limit))
        return [job_of(row) for row in rows]

    async def counts(self, query: Query) -> Counts:
        """See Ledger."""
        return await self._database.read(lambda: count(query))

    async def changes(self, query: Query, since: Cursor, limit: int) -> Changes:
        """See Ledger. Complete, because what a snapshot does not show yet has a greater revision than the
        tenant's in it (see steps)."""
        return await self._database.read(lambda: _changes(query, since, limit))

    async def delete_finished(self, finished_before: datetime, dead_before: datetime, limit: int) -> int:
        """See Ledger."""
        return await self._database.write(
            lambda: verdicts.delete_finished(to_micros(finished_before), to_micros(dead_before), limit)
        )


def _changes(query: Query, since: Cursor, limit: int) -> Script[Changes]:
    where = of_jobs(query)
    arguments: list[Value] = [*where.arguments, since.revision, since.place, limit + 1]
    rows = yield from fetch(
        f"SELECT {JOB_COLUMNS} FROM {JOBS} WHERE {where.sql} AND (j.revision, j.seq) > (?, ?)"
        " ORDER BY j.revision, j.seq LIMIT ?",
        *arguments,
    )
    complete, rows = len(rows) <= limit, rows[:limit]
    if complete:
        tenant = yield from first("SELECT revision FROM tenants WHERE tenant = ?", query.reach.tenant)
        cursor = since if tenant is None else Cursor(tenant["revision"], LAST_PLACE)
    else:
        cursor = Cursor(rows[-1]["revision"], rows[-1]["seq"])
    counts = yield from count(query)
    return Changes(jobs=[job_of(row) for row in rows], cursor=cursor, complete=complete, counts=counts)
