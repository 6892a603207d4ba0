"""Wake-ups between processes over a real Redis: they may be lost, they are never in the way (SPEC J-1)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from services.compactor.adapters.sql import migrations
from services.compactor.adapters.sql.ledger import SqlLedger
from services.compactor.adapters.wake_redis import KEPT_ENTRIES, RedisWake, redis_client
from services.compactor.app.calls import Calls, Rules
from services.compactor.app.jobs import Jobs
from services.compactor.app.ports import Done, Outcome, Query, Reach
from services.compactor.app.worker import Worker, WorkerRules
from services.compactor.domain.ledger import Backoff, Job, JobState, NewJob
from services.kit.sqlite import Database, SqliteScripts
from services.kit.times import now
from tests.redis_server import LocalRedis, own_redis, shared_redis

FAR = 3600.0
SECOND = timedelta(seconds=1)
PATIENCE = 20
ACME = Reach(tenant="acme")
Make = Callable[[], Awaitable[RedisWake]]


@asynccontextmanager
async def wakes(url: str, prefix: str, *, cluster: bool = False) -> AsyncIterator[Make]:
    """Makes wakes as if each were in a process of its own."""
    async with AsyncExitStack() as stack:

        async def make() -> RedisWake:
            client = await stack.enter_async_context(redis_client(url, cluster=cluster))
            wake = RedisWake(client, prefix)
            task = asyncio.create_task(wake.run())
            stack.push_async_callback(ended, task)
            return wake

        yield make


async def ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def told(teller: RedisWake, listener: RedisWake) -> None:
    """Tells until the listener hears it: what was said before it listened is lost, which is allowed."""
    async with asyncio.timeout(PATIENCE):
        heard = asyncio.create_task(listener.wait(FAR))
        while not heard.done():
            teller.set()
            await asyncio.wait([heard], timeout=0.05)


@pytest.fixture
def server() -> AsyncIterator[LocalRedis]:
    local = own_redis()
    yield local
    local.close()


async def test_another_process_is_woken(pytestconfig: pytest.Config) -> None:
    shared = shared_redis(pytestconfig)
    async with shared.prefix() as prefix, wakes(shared.url, prefix) as make:
        one, two = await make(), await make()
        await told(one, two)
        two.clear()
        await told(two, one)


async def test_who_tells_is_woken_once_by_itself(pytestconfig: pytest.Config) -> None:
    """An entry of its own is no news; one of another's is (the control)."""
    shared = shared_redis(pytestconfig)
    async with shared.prefix() as prefix, wakes(shared.url, prefix) as make:
        one, two = await make(), await make()
        await told(one, two)
        await one.wait(FAR)
        await asyncio.sleep(0.2)
        one.clear()
        one.set()
        one.clear()
        await two.wait(FAR)
        heard = asyncio.create_task(one.wait(FAR))
        await asyncio.wait([heard], timeout=0.3)
        assert not heard.done()
        two.set()
        await asyncio.wait_for(heard, PATIENCE)


async def test_two_suites_on_one_server_do_not_wake_each_other(pytestconfig: pytest.Config) -> None:
    shared = shared_redis(pytestconfig)
    async with (
        shared.prefix() as prefix,
        wakes(shared.url, prefix) as make,
        wakes(shared.url, f"{prefix}other:") as make_other,
    ):
        one, two, other = await make(), await make(), await make_other()
        await told(one, two)
        heard = asyncio.create_task(other.wait(FAR))
        await told(one, two)
        await asyncio.wait([heard], timeout=0.3)
        assert not heard.done()
        await told(await make_other(), other)
        await asyncio.wait_for(heard, PATIENCE)


async def test_the_stream_stays_short(pytestconfig: pytest.Config) -> None:
    shared = shared_redis(pytestconfig)
    async with shared.prefix() as prefix, wakes(shared.url, prefix) as make:
        one, two = await make(), await make()
        for _ in range(300):
            one.set()
            await asyncio.sleep(0.002)
        await told(one, two)
        async with redis_client(shared.url, cluster=False) as client:
            assert 0 < await client.xlen(f"{prefix}wake") < KEPT_ENTRIES + 200


async def test_a_cluster_that_is_away_ends_nothing() -> None:
    """Its client has an error of its own for that."""
    local = own_redis(cluster=True)
    local.close()
    async with redis_client(local.url, cluster=True) as client:
        running = asyncio.create_task(RedisWake(client, "p:").run())
        with capture_logs() as logs:
            async with asyncio.timeout(PATIENCE):
                while not logs and not running.done():  # noqa: ASYNC110 - it tells nobody
                    await asyncio.sleep(0.02)
        assert not running.done()
        assert {log["event"] for log in logs} == {"redis_failed"}
        await ended(running)


async def test_in_a_cluster_too() -> None:
    local = own_redis(cluster=True)
    try:
        async with wakes(local.url, "p:", cluster=True) as make:
            await told(await make(), await make())
    finally:
        local.close()


@pytest.mark.parametrize("trouble", ["flushed", "killed and started", "hung"])
async def test_wake_ups_come_again_after_trouble(server: LocalRedis, trouble: str) -> None:
    async with wakes(server.url, "p:") as make, redis_client(server.url, cluster=False) as client:
        one, two = await make(), await make()
        await told(one, two)
        if trouble == "flushed":
            await client.flushall()
        elif trouble == "killed and started":
            server.stop()
            one.set()
            await asyncio.sleep(0.3)
            server.start()
        else:
            server.pause()
            one.set()
            await asyncio.sleep(0.3)
            server.resume()
        for _ in range(2):
            two.clear()
            await told(one, two)


async def test_without_a_server_nobody_waits_and_the_own_workers_are_woken(tmp_path: Path) -> None:
    async with wakes(f"unix://{tmp_path}/nothing", "p:") as make:
        wake = await make()
        heard = asyncio.create_task(wake.wait(FAR))
        await asyncio.sleep(0.05)
        wake.set()
        await asyncio.wait_for(heard, PATIENCE)


class Flow:
    """One ledger, a process that enqueues and one that works."""

    def __init__(self, ledger: SqlLedger, enqueuer: RedisWake, worker: RedisWake, poll: float) -> None:
        self.done: list[str] = []
        self.ledger = ledger
        self.jobs = Jobs(ledger, enqueuer, now, max_attempts=5)
        backoff = Backoff(base=SECOND, cap=SECOND, random=lambda: 0.0)
        self.worker = Worker(
            ledger,
            Calls({"empty": self}, Rules(backoff=backoff, patience=9, call_seconds=60), now),
            worker,
            WorkerRules(
                owner="w",
                slots=1,
                batch_size=64,
                lease=60 * SECOND,
                heartbeat_seconds=20,
                poll_seconds=poll,
            ),
            now,
        )

    async def run(self, tenant: str, agent_id: str, jobs: list[Job]) -> list[Outcome]:
        self.done += [job.key for job in jobs]
        return [Done() for _ in jobs]

    async def enqueue(self, key: str) -> None:
        await self.jobs.enqueue(ACME, [NewJob(type="empty", agent_id="a", subject="s", key=key)])

    async def until(self, count: int) -> None:
        async with asyncio.timeout(PATIENCE):
            while len(self.done) < count:  # noqa: ASYNC110 - the handler has no event for this
                await asyncio.sleep(0.01)


@asynccontextmanager
async def flowing(url: str, folder: Path, poll: float) -> AsyncIterator[Flow]:
    database = await Database.open(folder / "compactor.db", migrations("sqlite"))
    async with wakes(url, "p:") as make:
        flow = Flow(SqlLedger(SqliteScripts(database)), await make(), await make(), poll)
        await flow.worker.start()
        try:
            yield flow
        finally:
            await flow.worker.stop(5)
            await database.close()


async def test_an_enqueue_wakes_a_worker_that_hardly_polls(server: LocalRedis, tmp_path: Path) -> None:
    """It polls every hour, so only the wake-up can have told it."""
    async with flowing(server.url, tmp_path, FAR) as flow:
        async with asyncio.timeout(PATIENCE):
            number = 0
            while len(flow.done) < 3:
                await flow.enqueue(f"k{number}")
                number += 1
                await asyncio.sleep(0.1)


async def test_jobs_flow_through_every_trouble_and_none_is_lost(server: LocalRedis, tmp_path: Path) -> None:
    """Redis flushed, killed, hung and back while jobs flow: enqueues go on, all are done once."""
    async with flowing(server.url, tmp_path, 0.1) as flow:
        for number in range(120):
            async with asyncio.timeout(5):
                await flow.enqueue(f"k{number:03}")
            if number == 20:
                async with redis_client(server.url, cluster=False) as client:
                    await client.flushall()
            if number == 40:
                server.stop()
            if number == 70:
                server.start()
            if number == 90:
                server.pause()
            if number == 110:
                server.resume()
            await asyncio.sleep(0.005)
        await flow.until(120)
        assert sorted(flow.done) == [f"k{number:03}" for number in range(120)]
        counts = await flow.ledger.counts(Query(reach=ACME))
        assert counts[JobState.SUCCEEDED] == sum(counts.values()) == 120
