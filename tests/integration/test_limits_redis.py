"""Limits of replicas that share a server which goes away and comes back (SPEC G-5)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import grpc
import pytest
import redis.asyncio as aioredis
from palimpsest.settings.v1 import settings_pb2
from structlog.testing import capture_logs

from services.gateway.adapters.limits_without import LimitsWithout, Without
from services.gateway.adapters.redis_limits import RedisLimits
from services.gateway.domain.buckets import Rate
from services.kit.errors import DependencyDown, StartupError
from services.kit.redis import RedisOptions
from tests.integration.embedded_suite import running
from tests.redis_server import LocalRedis, own_redis

RATE = Rate(per_minute=1, capacity=10)
PATIENT = 10.0  # seconds; a test machine may be busy


@pytest.fixture(scope="module")
def server() -> Iterator[LocalRedis]:
    made = own_redis()
    yield made
    made.close()


@pytest.fixture
async def stack(server: LocalRedis) -> AsyncIterator[AsyncExitStack]:
    async with aioredis.from_url(server.url) as client:
        await client.flushall()
    async with AsyncExitStack() as made:
        yield made


def replica(
    server: LocalRedis, stack: AsyncExitStack, without: Without = Without.LOCAL, *, seconds: float = 1.0
) -> LimitsWithout:
    """As a gateway has it."""
    shared = RedisLimits.open(RedisOptions(url=server.url, timeout_seconds=seconds))
    store = LimitsWithout(shared, without, chance=lambda: 0.0)
    stack.push_async_callback(shared.close)
    stack.push_async_callback(store.close)
    return store


async def taken(stores: list[LimitsWithout], calls: int, tenant: str = "bank") -> int:
    levels = await asyncio.gather(
        *(stores[n % len(stores)].take(tenant, "requests", RATE) for n in range(calls))
    )
    return sum(not level.wait for level in levels)


async def found(*stores: LimitsWithout) -> None:
    async with asyncio.timeout(PATIENT):
        for store in stores:
            await store.found()


async def test_a_server_that_lost_everything_has_full_buckets(
    server: LocalRedis, stack: AsyncExitStack
) -> None:
    """G-5: and knows streams again when they are renewed."""
    stores = [replica(server, stack, seconds=PATIENT) for _ in range(2)]
    assert await taken(stores, 20) == 10
    assert await stores[0].hold("bank", "a", 1, 30)
    async with aioredis.from_url(server.url) as client:
        await client.flushall()
        await client.script_flush()
    assert await taken(stores, 20) == 10
    await stores[0].renew("bank", ["a"], 30)
    assert not await stores[1].hold("bank", "b", 1, 30)


async def test_a_server_that_stops_in_mid_flight_fails_no_call_and_is_found_again(
    server: LocalRedis, stack: AsyncExitStack
) -> None:
    """G-5: each replica counts for itself meanwhile."""
    stores = [replica(server, stack) for _ in range(2)]
    flight = asyncio.gather(*(taken(stores, 64, f"tenant-{n}") for n in range(8)))
    await asyncio.sleep(0)
    server.stop()
    counts = await flight
    assert all(10 <= count <= 30 for count in counts), counts
    away = await taken(stores, 64)
    assert 10 <= away <= 20
    server.start()
    with capture_logs() as logs:
        await taken(stores, 2)
        await found(*stores)
    assert {log["event"] for log in logs} <= {"limits_store_away", "limits_store_back"}
    assert await taken(stores, 64) == 10


async def test_a_server_that_hangs_is_waited_for_once(server: LocalRedis, stack: AsyncExitStack) -> None:
    """G-5: it takes connections and answers none."""
    store = replica(server, stack, Without.OPEN, seconds=0.5)
    assert await taken([store], 1) == 1
    server.pause()
    try:
        async with asyncio.timeout(PATIENT):
            for _ in range(50):
                assert not (await store.take("bank", "requests", RATE)).wait
    finally:
        server.resume()
    await found(store)
    assert sum([not (await store.take("bank", "requests", RATE)).wait for _ in range(20)]) <= 9


async def test_closed_while_it_is_away(server: LocalRedis, stack: AsyncExitStack) -> None:
    """G-5: where that was chosen."""
    store = replica(server, stack, Without.CLOSED)
    assert await taken([store], 1) == 1
    server.stop()
    with pytest.raises(DependencyDown) as caught:
        await store.take("bank", "requests", RATE)
    assert caught.value.retry_after
    server.start()
    await found(store)
    assert await taken([store], 1) == 1


async def test_a_key_that_is_something_else_is_no_answer(server: LocalRedis, stack: AsyncExitStack) -> None:
    """X-1: nothing of the server's error is told."""
    store = replica(server, stack, Without.CLOSED)
    async with aioredis.from_url(server.url) as client:
        await client.set("palimpsest:limits:{bank}:requests", "text")
    with pytest.raises(DependencyDown) as caught:
        await store.take("bank", "requests", RATE)
    assert "WRONGTYPE" not in str(caught.value)
    await found(store)


async def test_a_cluster_that_is_away_fails_no_call_either() -> None:
    """G-5: its client has errors of its own."""
    cluster = own_redis(cluster=True)
    shared = RedisLimits.open(RedisOptions(url=cluster.url, cluster=True, timeout_seconds=PATIENT))
    store = LimitsWithout(shared, Without.LOCAL, chance=lambda: 0.0)
    try:
        assert await taken([store], 20) == 10
        cluster.stop()
        assert await taken([store], 20) == 10
        unknown = RedisLimits.open(RedisOptions(url=cluster.url, cluster=True, timeout_seconds=PATIENT))
        with pytest.raises(DependencyDown):
            await unknown.ping()
        await unknown.close()
    finally:
        await store.close()
        await shared.close()
        cluster.close()


async def test_gateways_that_share_it_share_a_tenants_budget(
    server: LocalRedis, stack: AsyncExitStack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """G-5: and go on by themselves without it."""
    deployment = {"REDIS_URL": server.url, "LIMIT_REQUESTS_PER_MINUTE": "1", "LIMIT_REQUEST_BURST": "4"}
    for name, value in {**deployment, "LIMIT_REDIS_SECONDS": str(PATIENT)}.items():
        monkeypatch.setenv(f"PALIMPSEST_GATEWAY_{name}", value)
    suites = [await stack.enter_async_context(running(tmp_path / name)) for name in ("one", "other")]
    stubs = [await suite.stub() for suite in suites]  # each with an operator of the tenant "default"

    async def through(calls: int) -> int:
        results = await asyncio.gather(
            *(stubs[n % 2].GetSettings(settings_pb2.GetSettingsRequest()) for n in range(calls)),
            return_exceptions=True,
        )
        refused = [one for one in results if isinstance(one, grpc.aio.AioRpcError)]
        assert {one.code() for one in refused} <= {grpc.StatusCode.RESOURCE_EXHAUSTED}
        return calls - len(refused)

    assert await through(20) == 4
    server.stop()
    try:
        assert await through(20) == 8
    finally:
        server.start()


def test_a_url_that_cannot_be_is_told_without_its_password() -> None:
    for options in (RedisOptions(url="gopher://:secret@host"), RedisOptions(url="redis://h", prefix="a{b")):
        with pytest.raises(StartupError) as caught:
            RedisLimits.open(options)
        assert "secret" not in str(caught.value)
