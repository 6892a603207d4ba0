"""The ledger in SQLite: one transaction per step, committed and synced before it is answered (J-1)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from datetime import datetime, timedelta
from importlib.resources import files
from pathlib import Path

from services.compactor.adapters import sqlite_steps as steps
from services.compactor.adapters.sqlite_rows import JOB_COLUMNS, JOBS, count, job_of, of_jobs
from services.compactor.app.ports import Changes, Counts, Cursor, Query, Reach
from services.compactor.domain.ledger import Job, JobState, NewJob, Settlement
from services.kit.errors import JobStateConflict, NotFound
from services.kit.sqlite import Database
from services.kit.times import to_micros

MIGRATIONS = "services.compactor"
LAST_PLACE = 2**63 - 1


async def open_database(path: Path) -> Database:
    """The ledger's file; raises StartupError."""
    return await Database.open(path, files(MIGRATIONS) / "migrations" / "sqlite", synchronous="FULL")


class SqliteLedger:
    """A Ledger over one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def enqueue(
        self, tenant: str, jobs: Sequence[NewJob], max_attempts: int, now: datetime
    ) -> list[str]:
        """See Ledger."""
        return await self._database.write(
            lambda c: steps.enqueue(c, tenant, jobs, max_attempts, to_micros(now))
        )

    async def claim(self, owner: str, limit: int, lease: timedelta, now: datetime) -> list[Job]:
        """See Ledger."""
        return await self._database.write(
            lambda c: steps.claim(c, owner, limit, to_micros(now + lease), to_micros(now))
        )

    async def heartbeat(self, jobs: Sequence[Job], lease: timedelta, now: datetime) -> set[str]:
        """See Ledger."""
        claims = steps.claims_of(jobs)
        return await self._database.write(lambda c: steps.heartbeat(c, claims, to_micros(now + lease)))

    async def settle(self, settlements: Sequence[Settlement], now: datetime) -> set[str]:
        """See Ledger."""
        return await self._database.write(lambda c: steps.settle(c, settlements, to_micros(now)))

    async def release(self, jobs: Sequence[Job], now: datetime) -> set[str]:
        """See Ledger."""
        claims = steps.claims_of(jobs)
        return await self._database.write(lambda c: steps.release(c, claims, to_micros(now)))

    async def free_leases(self, owner: str, now: datetime) -> int:
        """See Ledger."""
        return await self._database.write(lambda c: steps.free_leases(c, owner, to_micros(now)))

    async def cancel(self, reach: Reach, job_id: str, now: datetime) -> Job:
        """See Ledger."""

        def work(connection: sqlite3.Connection) -> Job:
            row = _find(connection, reach, job_id)
            if row["state"] == JobState.CANCELLED:
                return job_of(row)
            if not steps.cancel(connection, row["seq"], to_micros(now)):
                raise JobStateConflict(f"a job that is {row['state']} cannot be cancelled")
            return steps.read(connection, [row["seq"]])[0]

        return await self._database.write(work)

    async def retry(self, reach: Reach, job_id: str, now: datetime) -> Job:
        """See Ledger."""

        def work(connection: sqlite3.Connection) -> Job:
            row = _find(connection, reach, job_id)
            if not steps.retry(connection, row["seq"], to_micros(now)):
                raise JobStateConflict(f"a job that is {row['state']} cannot be retried")
            return steps.read(connection, [row["seq"]])[0]

        return await self._database.write(work)

    async def get(self, reach: Reach, job_id: str) -> Job:
        """See Ledger."""
        return await self._database.read(lambda c: job_of(_find(c, reach, job_id)))

    async def lookup(self, reach: Reach, keys: Sequence[str]) -> list[Job]:
        """See Ledger."""

        def work(connection: sqlite3.Connection) -> list[Job]:
            rows = connection.execute(
                f"SELECT {JOB_COLUMNS} FROM {JOBS} WHERE j.tenant = ?"
                " AND j.key IN (SELECT value FROM json_each(?))",
                (reach.tenant, json.dumps(list(keys))),
            )
            return [job for job in map(job_of, rows) if reach.holds(job)]

        return await self._database.read(work)

    async def page(self, query: Query, before: str | None, limit: int) -> list[Job]:
        """See Ledger."""
        where = of_jobs(query)
        bound = "" if before is None else " AND j.id < :before"

        def work(connection: sqlite3.Connection) -> list[Job]:
            rows = connection.execute(
                f"SELECT {JOB_COLUMNS} FROM {JOBS} WHERE {where.sql}{bound} ORDER BY j.id DESC LIMIT :limit",
                {**where.parameters, "before": before, "limit": limit},
            )
            return [job_of(row) for row in rows]

        return await self._database.read(work)

    async def counts(self, query: Query) -> Counts:
        """See Ledger."""
        return await self._database.read(lambda c: count(c, query))

    async def changes(self, query: Query, since: Cursor, limit: int) -> Changes:
        """See Ledger."""
        where = of_jobs(query)

        def work(connection: sqlite3.Connection) -> Changes:
            rows = connection.execute(
                f"SELECT {JOB_COLUMNS} FROM {JOBS} WHERE {where.sql}"
                " AND (j.revision, j.seq) > (:revision, :place) ORDER BY j.revision, j.seq LIMIT :limit",
                {
                    **where.parameters,
                    "revision": since.revision,
                    "place": since.place,
                    "limit": limit + 1,
                },
            ).fetchall()
            complete, rows = len(rows) <= limit, rows[:limit]
            return Changes(
                jobs=[job_of(row) for row in rows],
                cursor=_now(connection) if complete else Cursor(rows[-1]["revision"], rows[-1]["seq"]),
                complete=complete,
                counts=count(connection, query),
            )

        return await self._database.read(work)

    async def delete_finished(self, finished_before: datetime, dead_before: datetime, limit: int) -> int:
        """See Ledger."""
        return await self._database.write(
            lambda c: steps.delete_finished(c, to_micros(finished_before), to_micros(dead_before), limit)
        )


def _find(connection: sqlite3.Connection, reach: Reach, job_id: str) -> sqlite3.Row:
    row: sqlite3.Row | None = connection.execute(
        f"SELECT {JOB_COLUMNS} FROM {JOBS} WHERE j.tenant = ? AND j.id = ?", (reach.tenant, job_id)
    ).fetchone()
    if row is None or not (reach.agents is None or row["agent_id"] in reach.agents):
        raise NotFound("job", job_id)
    return row


def _now(connection: sqlite3.Connection) -> Cursor:
    return Cursor(connection.execute("SELECT revision FROM clock").fetchone()["revision"], LAST_PLACE)
