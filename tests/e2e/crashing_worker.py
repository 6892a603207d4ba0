"""A worker process that kills itself at one step of a job's life; without a step, it works until all is done.

Arguments: a JSON object with "database" (a PostgreSQL URL, or a SQLite file), "owner", "effects" (a file that
gets a line for each time a job was done) and "step": one of STEPS, or "".
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import datetime, timedelta
from pathlib import Path

from services.compactor.adapters.sql import migrations
from services.compactor.adapters.sql.ledger import SqlLedger
from services.compactor.app.calls import Calls, Rules
from services.compactor.app.ports import Done, Outcome, Query, Reach
from services.compactor.app.wake import LocalWake
from services.compactor.app.worker import Worker, WorkerRules
from services.compactor.domain.ledger import ACTIVE, Backoff, Job, Settlement
from services.kit.postgres import Postgres
from services.kit.sql import SqlDatabase
from services.kit.sqlite import Database, SqliteScripts
from services.kit.times import now

STEPS = ("before claim", "after claim", "in the handler", "after the effect", "after settle")
TENANT = "acme"
LEASE = timedelta(seconds=1)
SECOND = timedelta(seconds=1)


class Dying(SqlLedger):
    """A ledger whose process dies before or after a step of it; as a handler, it dies in between."""

    def __init__(self, database: SqlDatabase, step: str, effects: Path) -> None:
        super().__init__(database)
        self._step = step
        self._effects = effects

    def die_at(self, step: str) -> None:
        if step == self._step:
            os.kill(os.getpid(), signal.SIGKILL)

    async def claim(
        self, owner: str, limit: int, lease: timedelta, now: datetime, *, but: frozenset[str] = frozenset()
    ) -> list[Job]:
        self.die_at("before claim")
        jobs = await super().claim(owner, limit, lease, now, but=but)
        if jobs:
            self.die_at("after claim")
        return jobs

    async def settle(self, settlements: Sequence[Settlement], now: datetime) -> set[str]:
        counted = await super().settle(settlements, now)
        self.die_at("after settle")
        return counted

    async def run(self, tenant: str, agent_id: str, jobs: Sequence[Job]) -> Sequence[Outcome]:
        """See Handler."""
        self.die_at("in the handler")
        with self._effects.open("a") as file:
            file.writelines(f"{job.key}\n" for job in jobs)
        self.die_at("after the effect")
        return [Done() for _ in jobs]


async def open_database(where: str, stack: AsyncExitStack) -> SqlDatabase:
    if where.startswith("postgresql:"):
        server = await Postgres.open(where, migrations("postgres"), pool_size=4)
        stack.push_async_callback(server.close)
        return server
    file = await Database.open(Path(where), migrations("sqlite"))
    stack.push_async_callback(file.close)
    return SqliteScripts(file)


async def main(database: str, owner: str, effects: str, step: str) -> None:
    async with AsyncExitStack() as stack:
        ledger = Dying(await open_database(database, stack), step, Path(effects))
        backoff = Backoff(base=SECOND, cap=SECOND, random=lambda: 0.1)
        rules = WorkerRules(
            owner=owner, slots=2, batch_size=8, lease=LEASE, heartbeat_seconds=0.3, poll_seconds=0.05
        )
        calls = Calls({"empty": ledger}, Rules(backoff=backoff, patience=9, call_seconds=60), now)
        worker = Worker(ledger, calls, LocalWake(), rules, now)
        await worker.start()
        query = Query(reach=Reach(tenant=TENANT))
        while True:
            counts = await ledger.counts(query)
            if not any(counts[state] for state in ACTIVE):
                break
            await asyncio.sleep(0.05)
        await worker.stop(5)


if __name__ == "__main__":
    asyncio.run(main(**json.loads(sys.argv[1])))
