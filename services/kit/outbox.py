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
from services.kit.errors import PalimpsestError
from services.kit.identity import Principal, Role
from services.kit.sqlite import Database

BATCH = 500
CLAIM_SECONDS = 30.0
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


def put(connection: sqlite3.Connection, tenant: str, jobs: Sequence[NewJob]) -> None:
    """Adds rows; to be called inside the transaction of the change that they follow from."""
    connection.executemany(
        "INSERT INTO outbox (tenant, agent_id, type, subject, key, payload) VALUES (?, ?, ?, ?, ?, ?)",
        [
            (tenant, j.agent_id, j.type, j.subject, j.key, json.dumps(j.payload, separators=(",", ":")))
            for j in jobs
        ],
    )


class Outbox(Protocol):
    """The rows that wait."""

    async def claim(self, limit: int) -> list[OutboxRow]:
        """Takes up to `limit` rows that nobody holds, for CLAIM_SECONDS."""

    async def settle(self, ids: Sequence[int]) -> None:
        """Deletes rows that were handed over."""

    async def release(self, ids: Sequence[int]) -> None:
        """Gives rows back."""


class SqliteOutbox:
    """The `outbox` table of a service's database."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock
        # A SQLite file has one owner: claims found at the start are those of a process that died.
        self._inherited = True

    async def claim(self, limit: int) -> list[OutboxRow]:
        """Takes up to `limit` rows that nobody holds."""
        now = self._clock()
        inherited, self._inherited = self._inherited, False

        def work(connection: sqlite3.Connection) -> list[OutboxRow]:
            if inherited:
                connection.execute("UPDATE outbox SET claimed_until = 0")
            rows = connection.execute(
                "UPDATE outbox SET claimed_until = ?"
                " WHERE id IN (SELECT id FROM outbox WHERE claimed_until < ? ORDER BY id LIMIT ?)"
                " RETURNING id, tenant, agent_id, type, subject, key, payload",
                (now + CLAIM_SECONDS, now, limit),
            ).fetchall()
            return sorted((_row(row) for row in rows), key=lambda row: row.id)

        if not await self._database.read(_any_row):
            return []
        return await self._database.write(work)

    async def settle(self, ids: Sequence[int]) -> None:
        """Deletes rows."""
        await self._database.write(
            lambda c: c.executemany("DELETE FROM outbox WHERE id = ?", [(id_,) for id_ in ids]) and None
        )

    async def release(self, ids: Sequence[int]) -> None:
        """Gives rows back."""
        await self._database.write(
            lambda c: (
                c.executemany("UPDATE outbox SET claimed_until = 0 WHERE id = ?", [(i,) for i in ids])
                and None
            )
        )


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
        """Relays until cancelled; failures are retried with growing pauses."""
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
        """Hands over one batch; False when there was none. Raises what Enqueue raised, rows given back."""
        self._awake.clear()
        rows = await self._outbox.claim(BATCH)
        by_tenant: dict[str, list[OutboxRow]] = defaultdict(list)
        for row in rows:
            by_tenant[row.tenant].append(row)
        handed: list[int] = []
        try:
            for tenant, theirs in by_tenant.items():
                await self._enqueue(tenant, theirs)
                handed.extend(row.id for row in theirs)
        finally:
            left = [row.id for row in rows if row.id not in set(handed)]
            if handed:
                await self._outbox.settle(handed)
            if left:
                await self._outbox.release(left)
        return bool(rows)

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


def _any_row(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM outbox LIMIT 1").fetchone() is not None


def _row(row: sqlite3.Row) -> OutboxRow:
    job = NewJob(
        type=row["type"],
        agent_id=row["agent_id"],
        subject=row["subject"],
        key=row["key"],
        payload=json.loads(row["payload"]),
    )
    return OutboxRow(id=row["id"], tenant=row["tenant"], job=job)
