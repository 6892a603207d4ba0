"""The outbox: derived work is written with the change that it follows from, then relayed (SPEC SV-5).

A row is claimed, handed to the ledger's idempotent Enqueue, and deleted; a process that dies in between only
repeats the hand-over. Rows are claimed by what is unclaimed, never by "id above a cursor": commits are not in
the order of ids.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import structlog
from palimpsest.compactor.v1 import compactor_pb2, compactor_pb2_grpc

from services.kit.context import act_as
from services.kit.errors import DeadlineExceeded, DependencyDown, Overloaded, PalimpsestError
from services.kit.identity import Principal, Role
from services.kit.sql import Row, Script, SqlDatabase, execute, execute_many, fetch, first
from services.kit.sqlite import Database, SqliteScripts

BATCH = 500
CLAIM_SECONDS = 30
IDLE_POLL_SECONDS = 2.0
FIRST_RETRY_SECONDS = 0.2
MAX_RETRY_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJob:
    """Derived work to be done; `key` is its idempotency key, `payload` small JSON."""

    type: str
    agent_id: str
    subject: str
    key: str
    payload: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxRow:
    """A claimed row."""

    id: int
    tenant: str
    job: NewJob


COLUMNS = "id, tenant, agent_id, type, subject, key, payload"
_COMPACT = json.JSONEncoder(separators=(",", ":"))  # json.dumps would make one for each call
INSERT = "INSERT INTO outbox (tenant, agent_id, type, subject, key, payload) VALUES (?, ?, ?, ?, ?, ?)"


def put_jobs(tenant: str, jobs: Sequence[NewJob]) -> Script[None]:
    """Adds rows; a part of the script that makes the change that they follow from."""
    yield from execute_many(INSERT, [_values(tenant, job) for job in jobs])


def put(connection: sqlite3.Connection, tenant: str, jobs: Sequence[NewJob]) -> None:
    """Adds rows; to be called inside the transaction of the change that they follow from."""
    connection.executemany(INSERT, [_values(tenant, job) for job in jobs])


class Outbox(Protocol):
    """The rows that wait."""

    async def claim(self, limit: int) -> list[OutboxRow]:
        """Takes up to `limit` rows that nobody holds, for CLAIM_SECONDS; in the order of their ids."""

    async def settle(self, rows: Sequence[OutboxRow]) -> None:
        """Deletes rows that were handed over."""

    async def release(self, rows: Sequence[OutboxRow]) -> None:
        """Gives rows back."""


class SqlOutbox:
    """The `outbox` table of a service's database, of all tenants: a relay is no tenant's call.

    Several relays may share one. Leases are by the clocks of their machines: clocks that are apart by more
    than CLAIM_SECONDS repeat hand-overs, which the ledger takes once.
    """

    def __init__(
        self, database: SqlDatabase, *, inherits: bool = False, clock: Callable[[], float] = time.time
    ) -> None:
        """With `inherits`, this is the only owner: its claims are nobody else's affair and are not written.

        Those that are found in the table are then of one that died.
        """
        self._database = database
        self._clock = clock
        self._leases: dict[int, float] | None = {} if inherits else None  # of an only owner: ends by row id

    async def claim(self, limit: int) -> list[OutboxRow]:
        """Takes up to `limit` rows that nobody holds."""
        now = self._clock()
        if self._leases is not None:
            return await self._claim_alone(self._leases, int(now), limit)
        if not await self._database.read(_any_row):
            return []
        return await self._database.write(lambda: _claim(int(now), limit))

    async def settle(self, rows: Sequence[OutboxRow]) -> None:
        """Deletes rows."""
        await self._database.write(lambda: _settle(_ids_by_tenant(rows)))
        self._forget(rows)

    async def release(self, rows: Sequence[OutboxRow]) -> None:
        """Gives rows back."""
        if self._leases is None:
            await self._database.write(lambda: _hold(_ids_by_tenant(rows), until=0))
        self._forget(rows)

    async def _claim_alone(self, leases: dict[int, float], now: int, limit: int) -> list[OutboxRow]:
        for id_ in [id_ for id_, until in leases.items() if until < now]:
            del leases[id_]
        found = await self._database.read(lambda: _first(limit + len(leases)))
        rows = [row for row in found if row.id not in leases][:limit]
        leases.update((row.id, now + CLAIM_SECONDS) for row in rows)
        return rows

    def _forget(self, rows: Sequence[OutboxRow]) -> None:
        if self._leases is not None:
            for row in rows:
                self._leases.pop(row.id, None)


class SqliteOutbox(SqlOutbox):
    """The `outbox` table of a SQLite file, which has one owner."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        super().__init__(SqliteScripts(database), inherits=True, clock=clock)


class Relay:
    """Hands the rows of one outbox to the ledger, at once when woken, else every few seconds."""

    def __init__(self, outbox: Outbox, compactor: compactor_pb2_grpc.CompactorServiceAsyncStub) -> None:
        self._outbox = outbox
        self._compactor = compactor
        self._awake = asyncio.Event()
        self._log = structlog.get_logger("relay")

    def wake(self) -> None:
        """Says that rows were committed."""
        self._awake.set()

    async def run(self) -> None:
        """Relays until cancelled; failures are retried with growing pauses.

        Rows that the ledger refuses are tried again after CLAIM_SECONDS.
        """
        pause = FIRST_RETRY_SECONDS
        while True:
            try:
                if await self.relay_once():
                    pause = FIRST_RETRY_SECONDS
                    continue
                await self._sleep()
            except PalimpsestError as error:
                self._log.warning("relay_failed", reason=error.reason)
                await asyncio.sleep(pause)
                pause = min(pause * 2, MAX_RETRY_SECONDS)

    async def relay_once(self) -> bool:
        """Hands over one batch; False when there was none.

        Rows that it refuses keep no other from it: of a tenant's rows they are found by halving, and stay
        claimed for CLAIM_SECONDS, so that what lies behind them has its turn. Raises what Enqueue raised when
        the ledger does not answer; then all that was not handed over is given back.
        """
        self._awake.clear()
        rows = await self._outbox.claim(BATCH)
        by_tenant: dict[str, list[OutboxRow]] = defaultdict(list)
        for row in rows:
            by_tenant[row.tenant].append(row)
        handed: list[OutboxRow] = []
        tried: set[int] = set()
        try:
            for tenant, theirs in by_tenant.items():
                await self._hand_over(tenant, theirs, handed, tried)
        finally:
            if handed:
                await self._outbox.settle(handed)
            left = [row for row in rows if row.id not in tried]
            if left:
                await self._outbox.release(left)
        return bool(tried)

    async def _hand_over(
        self, tenant: str, rows: Sequence[OutboxRow], handed: list[OutboxRow], tried: set[int]
    ) -> None:
        """All rows that the ledger takes; `tried` has their ids, and those of rows that it refuses."""
        try:
            await self._enqueue(tenant, rows)
        except (DependencyDown, DeadlineExceeded, Overloaded):
            raise
        except PalimpsestError as error:
            if len(rows) > 1:
                middle = len(rows) // 2
                for half in (rows[:middle], rows[middle:]):
                    await self._hand_over(tenant, half, handed, tried)
                return
            self._log.error("relay_refused", reason=error.reason, type=rows[0].job.type)
        else:
            handed += rows
        tried.update(row.id for row in rows)

    async def _enqueue(self, tenant: str, rows: Sequence[OutboxRow]) -> None:
        jobs = [
            compactor_pb2.NewJob(
                type=row.job.type,
                agent_id=row.job.agent_id,
                subject=row.job.subject,
                payload=json.dumps(row.job.payload, separators=(",", ":")).encode("utf-8"),
                idempotency_key=row.job.key,
            )
            for row in rows
        ]
        with act_as(Principal(tenant=tenant, role=Role.SERVICE, subject="relay")):
            await self._compactor.Enqueue(compactor_pb2.EnqueueRequest(jobs=jobs))

    async def _sleep(self) -> None:
        try:
            async with asyncio.timeout(IDLE_POLL_SECONDS):
                await self._awake.wait()
        except TimeoutError:
            return


def _any_row() -> Script[bool]:
    return (yield from first("SELECT 1 AS one FROM outbox LIMIT 1")) is not None


def _first(limit: int) -> Script[list[OutboxRow]]:
    found = yield from fetch(f"SELECT {COLUMNS} FROM outbox ORDER BY id LIMIT ?", limit)
    return [_row(row) for row in found]


def _claim(now: int, limit: int) -> Script[list[OutboxRow]]:
    found = yield from fetch(
        f"SELECT {COLUMNS} FROM outbox WHERE claimed_until < ? ORDER BY id LIMIT ? FOR UPDATE SKIP LOCKED",
        now,
        limit,
    )
    rows = [_row(row) for row in found]
    yield from _hold(_ids_by_tenant(rows), until=now + CLAIM_SECONDS)
    return rows


def _hold(ids: Mapping[str, list[int]], *, until: int) -> Script[None]:
    for tenant, theirs in ids.items():
        yield from execute(
            "UPDATE outbox SET claimed_until = ? WHERE tenant = ? AND id IN ??", until, tenant, theirs
        )


def _settle(ids: Mapping[str, list[int]]) -> Script[None]:
    for tenant, theirs in ids.items():
        yield from execute("DELETE FROM outbox WHERE tenant = ? AND id IN ??", tenant, theirs)


def _ids_by_tenant(rows: Sequence[OutboxRow]) -> Mapping[str, list[int]]:
    """Sorted, so that two relays never wait for each other in a circle."""
    found: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        found[row.tenant].append(row.id)
    return {tenant: sorted(ids) for tenant, ids in sorted(found.items())}


def _values(tenant: str, job: NewJob) -> tuple[str, ...]:
    payload = _COMPACT.encode(job.payload)
    return tenant, job.agent_id, job.type, job.subject, job.key, payload


def _row(row: Row) -> OutboxRow:
    job = NewJob(
        type=row["type"],
        agent_id=row["agent_id"],
        subject=row["subject"],
        key=row["key"],
        payload=json.loads(row["payload"]),
    )
    return OutboxRow(id=row["id"], tenant=row["tenant"], job=job)
