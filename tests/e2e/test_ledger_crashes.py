"""Workers killed at each step of a job's life, over SQLite and PostgreSQL (SPEC J-1, J-2)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from services.compactor.adapters.sql import migrations
from services.compactor.adapters.sql.ledger import SqlLedger
from services.compactor.app.ports import Query, Reach
from services.compactor.domain.ledger import Job, JobState, NewJob
from services.kit.times import now
from tests.e2e.crashing_worker import STEPS, TENANT, open_database
from tests.postgres_server import shared_server

JOBS = 20
PATIENCE = 60
ROOT = Path(__file__).parents[2]
ALL = Query(reach=Reach(tenant=TENANT))


class Place:
    """A database that worker processes share, and what they did."""

    def __init__(self, database: str, folder: Path) -> None:
        self.database = database
        self.effects = folder / "effects"
        self.effects.touch()
        self._started: list[subprocess.Popen[bytes]] = []

    def worker(self, owner: str, step: str = "") -> subprocess.Popen[bytes]:
        told = {"database": self.database, "owner": owner, "effects": str(self.effects), "step": step}
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.e2e.crashing_worker", json.dumps(told)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        self._started.append(process)
        return process

    def end(self) -> None:
        for process in self._started:
            if process.poll() is None:
                process.kill()
            process.wait()

    def done(self) -> Counter[str]:
        """How often each job was done."""
        return Counter(self.effects.read_text().split())

    async def enqueue(self, count: int) -> None:
        async with self.ledger() as ledger:
            jobs = [
                NewJob(type="empty", agent_id=f"a{n % 3}", subject="s", key=f"k{n:03}") for n in range(count)
            ]
            await ledger.enqueue(TENANT, jobs, 5, now())

    async def jobs(self) -> list[Job]:
        async with self.ledger() as ledger:
            return await ledger.page(ALL, None, 1_000)

    @asynccontextmanager
    async def ledger(self) -> AsyncIterator[SqlLedger]:
        async with AsyncExitStack() as stack:
            yield SqlLedger(await open_database(self.database, stack))


@pytest.fixture(params=["sqlite", "postgres"])
async def place(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Place]:
    async with AsyncExitStack() as stack:
        database = str(tmp_path / "compactor.db")
        if request.param == "postgres":
            server = shared_server(request.config)
            database = await stack.enter_async_context(server.database(migrations("postgres")))
        place = Place(database, tmp_path)
        stack.callback(place.end)
        yield place


@pytest.mark.parametrize("back", ["under its name", "under another name"])
@pytest.mark.parametrize("step", STEPS)
async def test_a_worker_that_dies_anywhere_leaves_nothing_undone(place: Place, step: str, back: str) -> None:
    """J-1: its successor frees its leases. J-2: or they run out, whoever comes, and whether it returns."""
    await place.enqueue(JOBS)
    assert place.worker("one", step).wait(PATIENCE) == -signal.SIGKILL
    died = await place.jobs()
    held = [job for job in died if job.state is JobState.RUNNING]
    assert (
        bool(held) == (step in ("after claim", "in the handler", "after the effect"))
        or step == "after settle"
    )
    assert place.worker("one" if back == "under its name" else "two").wait(PATIENCE) == 0
    jobs = await place.jobs()
    assert Counter(job.state for job in jobs) == {JobState.SUCCEEDED: JOBS}
    assert set(place.done()) == {job.key for job in jobs}
    again = {job.id for job in held}
    assert all(job.attempt == (2 if job.id in again else 1) for job in jobs)
    assert all(times == 1 or key in {job.key for job in held} for key, times in place.done().items())


async def test_two_compactors_at_once_of_which_one_dies(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    """J-1, J-2: over PostgreSQL."""
    async with shared_server(pytestconfig).database(migrations("postgres")) as database:
        place = Place(database, tmp_path)
        try:
            await place.enqueue(300)
            dying, living = place.worker("one", "after the effect"), place.worker("two")
            assert dying.wait(PATIENCE) == -signal.SIGKILL
            assert living.wait(PATIENCE) == 0
        finally:
            place.end()
        jobs = await place.jobs()
        assert Counter(job.state for job in jobs) == {JobState.SUCCEEDED: 300}
        done = place.done()
        assert set(done) == {job.key for job in jobs}
        assert sum(done.values()) <= 300 + 2 * 8, "at most what the dead one held was done twice"


async def test_the_ledger_itself_outlives_a_kill_while_it_is_written(tmp_path: Path) -> None:
    """J-1: what was acknowledged is there; the control: keys that were never enqueued are not."""
    place = Place(str(tmp_path / "compactor.db"), tmp_path)
    await place.enqueue(5)
    assert place.worker("one", "before claim").wait(PATIENCE) == -signal.SIGKILL
    async with place.ledger() as ledger:
        found = await ledger.lookup(ALL.reach, [f"k{n:03}" for n in range(10)])
        assert {job.key for job in found} == {f"k{n:03}" for n in range(5)}
        assert len(await ledger.claim("w", 64, timedelta(seconds=60), now())) in (1, 2)
