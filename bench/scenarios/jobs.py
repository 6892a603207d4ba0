"""P-13: empty jobs through the ledger, over conditional updates alone, on SQLite and on PostgreSQL.

A worker of two slots does jobs that need no work: they are enqueued in batches as a relay would, claimed,
and settled, up to 64 at a time. The yardstick is what a queue can't do without: two conditional updates of
each job's row, to "running" and, under the fence, to an end, in the ledger's own table, by as many callers as
the ledger has jobs in flight; nobody enqueues, chooses, counts or tells there. The store commits what waits
together where it can. The details have a harder yardstick: the same updates for 64 jobs in a transaction.
Each commit is synced, here and there.

Afterwards every job must be found to have succeeded in its first attempt, and to have been done once.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from bench.load import interleaved, medians, rate, rounded
from bench.postgres import postgres
from bench.result import Result
from services.compactor.adapters.sql import migrations
from services.compactor.adapters.sql.ledger import SqlLedger
from services.compactor.app.calls import Calls, Rules
from services.compactor.app.ports import Done, Ledger, Outcome, Query, Reach
from services.compactor.app.wake import LocalWake
from services.compactor.app.worker import Worker, WorkerRules
from services.compactor.domain.ledger import Backoff, Job, JobState, NewJob
from services.kit.postgres import Postgres
from services.kit.sql import SqlDatabase, execute_many, fetch
from services.kit.sqlite import Database, SqliteScripts
from services.kit.times import now, to_micros

ID = "P-13"
BUDGET = 0.3
SLOTS = 2
BATCH = 64
RELAYED = 500  # jobs in an Enqueue
ROUNDS = 5
SECONDS = 2.0
WARM_UP_SECONDS = 0.5
TENANT = "bench"
ATTEMPTS = 5
LEASE = timedelta(seconds=60)
FILL = (
    "INSERT INTO jobs (id, tenant, group_id, key, state, revision, max_attempts, created, updated, subject,"
    " payload) VALUES (?, ?, 0, ?, 'succeeded', 0, 5, 0, 0, 's', ?)"
)
START = (
    "UPDATE jobs SET state = 'running', attempt = attempt + 1, fence = ?, owner = 'w', due = ?,"
    " finished = NULL, updated = ?, revision = ?"
    " WHERE tenant = ? AND id = ? AND state = 'succeeded' AND fence = ?"
)
END = (
    "UPDATE jobs SET state = 'succeeded', due = NULL, finished = ?, updated = ?, revision = ?"
    " WHERE tenant = ? AND id = ? AND state = 'running' AND fence = ?"
)


def run() -> Result:
    """The smaller of the two stores' ratios, jobs a second over jobs a second."""
    with tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as scratch, postgres() as url:
        found = asyncio.run(_measure(Path(scratch), url))
    ratios = {store: one.over("updates") for store, one in found.items()}
    value = min(ratios.values())
    return Result(
        id=ID,
        unit="ratio",
        value=value,
        budget=BUDGET,
        ok=value >= BUDGET,
        correct=all(all(one.checks.values()) for one in found.values()),
        yardstick=(
            f"two conditional updates of each job's row in the ledger's table, each its own call,"
            f" {SLOTS * BATCH} callers; same store, same durability"
        ),
        load=(
            f"jobs enqueued {RELAYED} at a time, claimed and settled by a worker of {SLOTS} slots, up to"
            f" {BATCH} at a time, while the next are enqueued; {ROUNDS} interleaved rounds of {SECONDS:g} s,"
            " medians"
        ),
        details={
            store: {
                "ratio": round(one.over("updates"), 4),
                f"ratio_to_{BATCH}_in_a_transaction": round(one.over("updates_together"), 4),
                "per_second": {name: round(value, 1) for name, value in medians(one.rates).items()},
                "rounds": rounded(one.rates),
                "jobs_checked": one.jobs,
                "checks": one.checks,
            }
            for store, one in found.items()
        },
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Of one store."""

    rates: dict[str, list[float]]
    jobs: int
    checks: dict[str, bool]

    def over(self, yardstick: str) -> float:
        """The median of ours over that of a yardstick."""
        typical = medians(self.rates)
        return typical["ledger"] / typical[yardstick]


async def _measure(scratch: Path, url: str) -> dict[str, Found]:
    file = await Database.open(scratch / "ledger.db", migrations("sqlite"))
    server = await Postgres.open(url, migrations("postgres"))
    try:
        stores: dict[str, SqlDatabase] = {"sqlite": SqliteScripts(file), "postgres": server}
        return {name: await compare(SqlLedger(store), store) for name, store in stores.items()}
    finally:
        await server.close()
        await file.close()


async def compare(ledger: Ledger, database: SqlDatabase) -> Found:
    """Rates of both on one store, and whether the ledger's jobs are as they should be."""
    ours = Empty(ledger)
    single = Updates(database=database, tenant="singly", callers=SLOTS * BATCH, batch=1)
    together = Updates(database=database, tenant="together", callers=SLOTS, batch=BATCH)
    for one in (single, together):
        await one.prepare()
    rates = await interleaved(
        {"updates": single.measure, "updates_together": together.measure, "ledger": ours.measure},
        rounds=ROUNDS,
        seconds=SECONDS,
        warm_up=WARM_UP_SECONDS,
    )
    checks = await ours.checks()
    checks["updates_found_their_rows"] = await single.check() and await together.check()
    return Found(rates=rates, jobs=ours.enqueued, checks=checks)


@dataclass(slots=True)
class Empty:
    """Jobs without work; as a handler, it counts how often it is given each."""

    ledger: Ledger
    enqueued: int = 0
    done: Counter[str] = field(default_factory=Counter)

    async def run(self, tenant: str, agent_id: str, jobs: Sequence[Job]) -> Sequence[Outcome]:
        """See Handler."""
        del tenant, agent_id
        self.done.update(job.key for job in jobs)
        return [Done() for _ in jobs]

    async def measure(self, seconds: float) -> float:
        """Jobs a second, from the first Enqueue to the last verdict."""
        worker = self._worker()

        async def slot(number: int) -> int:
            if number == SLOTS:
                return await self._enqueue()
            return await worker.run_once()

        before, loop = len(self.done), asyncio.get_running_loop()
        began = loop.time()
        await rate(slot, SLOTS + 1, seconds)
        while any([await worker.run_once() for _ in range(SLOTS)]):
            pass
        return (len(self.done) - before) / (loop.time() - began)

    async def _enqueue(self) -> int:
        """Keeps a few calls' worth of jobs waiting."""
        if self.enqueued - len(self.done) > 2 * RELAYED:
            await asyncio.sleep(0)
            return 0
        keys = range(self.enqueued, self.enqueued + RELAYED)
        jobs = [NewJob(type="empty", agent_id="a", subject="s", key=f"empty/{number}") for number in keys]
        await self.ledger.enqueue(TENANT, jobs, ATTEMPTS, now())
        self.enqueued += RELAYED
        return 0

    def _worker(self) -> Worker:
        backoff = Backoff(base=timedelta(seconds=1), cap=timedelta(seconds=60), random=lambda: 0.5)
        rules = Rules(backoff=backoff, patience=1, call_seconds=60)
        return Worker(
            self.ledger,
            Calls({"empty": self}, rules, now),
            LocalWake(),
            WorkerRules(
                owner="bench",
                slots=SLOTS,
                batch_size=BATCH,
                lease=LEASE,
                heartbeat_seconds=20,
                poll_seconds=0.5,
            ),
            now,
        )

    async def checks(self) -> dict[str, bool]:
        """Whether each job was done once, and says so."""
        query = Query(reach=Reach(tenant=TENANT))
        counts = await self.ledger.counts(query)
        attempts: Counter[int] = Counter()
        before: str | None = None
        while page := await self.ledger.page(query, before, 1_000):
            attempts.update(job.attempt for job in page if job.state is JobState.SUCCEEDED)
            before = page[-1].id
        return {
            "each_done_once": len(self.done) == self.enqueued and set(self.done.values()) == {1},
            "all_succeeded": counts[JobState.SUCCEEDED] == self.enqueued == sum(counts.values()),
            "in_their_first_attempt": attempts == Counter({1: self.enqueued}),
        }


@dataclass(slots=True, kw_only=True)
class Updates:
    """Rows of jobs that no ledger knows of; each caller claims and ends its own under their fences."""

    database: SqlDatabase
    tenant: str
    callers: int
    batch: int
    fences: Counter[int] = field(default_factory=Counter)  # by caller

    async def prepare(self) -> None:
        """Makes the rows."""
        rows = [(id_, self.tenant, id_, b"{}") for caller in range(self.callers) for id_ in self._ids(caller)]
        await self.database.write(lambda: execute_many(FILL, rows))

    async def measure(self, seconds: float) -> float:
        """Jobs a second."""
        return await rate(self._take_and_end, self.callers, seconds)

    async def _take_and_end(self, caller: int) -> int:
        ids, tenant, fence = self._ids(caller), self.tenant, self.fences[caller]
        taken, time = fence + 1, to_micros(now())
        start = [(taken, time, time, taken, tenant, id_, fence) for id_ in ids]
        await self.database.write(lambda: execute_many(START, start))
        end = [(time, time, taken, tenant, id_, taken) for id_ in ids]
        await self.database.write(lambda: execute_many(END, end))
        self.fences[caller] = taken
        return len(ids)

    def _ids(self, caller: int) -> list[str]:
        return [f"{caller:010}{place:016}" for place in range(self.batch)]  # as long as the ledger's

    async def check(self) -> bool:
        """Whether every update found its row."""
        text = "SELECT id, state, fence FROM jobs WHERE tenant = ?"
        rows = await self.database.read(lambda: fetch(text, self.tenant))
        found = {row["id"]: (row["state"], row["fence"]) for row in rows}
        return all(
            found[id_] == (JobState.SUCCEEDED, self.fences[caller])
            for caller in range(self.callers)
            for id_ in self._ids(caller)
        )
