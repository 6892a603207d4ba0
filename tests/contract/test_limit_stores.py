"""What every store of buckets and open streams does (SPEC G-5)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from itertools import count

import pytest
import redis.asyncio as aioredis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis.crc import key_slot

from services.gateway.adapters.redis_limits import RedisLimits
from services.gateway.domain.buckets import Rate
from services.kit.redis import RedisOptions
from tests.contract.limit_parts import NAME, Model, Timed, TurnedMemory, TurnedRedis, at_once
from tests.redis_server import LocalRedis, own_redis, shared_redis

PATIENT = 10.0  # seconds; a test machine may be busy
SLOW = Rate(per_minute=1, capacity=5)
"""While a test runs, it brings nothing."""
NUMBERS = count()


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalRedis]:
    server = own_redis(cluster=True)
    yield server
    server.close()


@pytest.fixture(params=["memory", "redis", "cluster"])
async def timed(request: pytest.FixtureRequest, pytestconfig: pytest.Config) -> AsyncIterator[Timed]:
    if request.param == "memory":
        yield TurnedMemory()
        return
    in_cluster = request.param == "cluster"
    url = request.getfixturevalue("cluster").url if in_cluster else shared_redis(pytestconfig).url
    prefix = f"palimpsest-test-{next(NUMBERS)}:"
    options = RedisOptions(url=url, cluster=in_cluster, prefix=prefix, timeout_seconds=PATIENT)
    replicas = [RedisLimits.open(options) for _ in range(2)]
    async with aioredis.from_url(url) as client:
        yield TurnedRedis(replicas=[*replicas], client=client, prefix=prefix)
        for replica in replicas:
            await replica.close()
        async for key in client.scan_iter(match=f"{prefix}*"):
            await client.delete(key)


async def test_a_bucket_begins_full_and_then_tells_how_long_to_wait(timed: Timed) -> None:
    """G-5: a token of 1 a minute comes after a minute."""
    one, other = timed.replicas
    levels = [await store.take("bank", NAME, SLOW) for store in (one, other, one, other, one)]
    assert [level.left for level in levels] == [4, 3, 2, 1, 0]
    assert not any(level.wait for level in levels)
    refused = await other.take("bank", NAME, SLOW)
    assert refused.left == 0
    assert 55 < refused.wait <= 60


async def test_a_refused_call_takes_nothing_and_time_brings_what_it_should(timed: Timed) -> None:
    """G-5: no sooner, and never more than fits."""
    rate, store = Rate(per_minute=6, capacity=2), timed.replicas[0]
    assert await at_once([store], "bank", rate, 5) == 2
    await timed.pass_time("bank", 8)
    assert (await store.take("bank", NAME, rate)).wait > 0
    await timed.pass_time("bank", 2)
    assert (await store.take("bank", NAME, rate)).wait == 0
    await timed.pass_time("bank", 86_400)
    assert await at_once([store], "bank", rate, 5) == 2


async def test_a_charge_may_go_into_debt_that_time_pays(timed: Timed) -> None:
    """G-5: tokens of a model are known afterwards."""
    rate, store = Rate(per_minute=60, capacity=60), timed.replicas[0]
    await store.charge("bank", NAME, rate, 100)
    level = await store.look("bank", NAME, rate)
    assert level.left in (-40, -39)  # the clock went on meanwhile
    assert 39 < level.wait <= 41
    await timed.pass_time("bank", 30)
    assert (await store.look("bank", NAME, rate)).wait > 0
    await timed.pass_time("bank", 11)
    assert (await store.look("bank", NAME, rate)).wait == 0
    assert (await store.take("bank", NAME, rate)).wait == 0


async def test_looking_changes_nothing(timed: Timed) -> None:
    store = timed.replicas[0]
    for _ in range(10):
        assert (await store.look("bank", NAME, SLOW)).left == 5
    assert await at_once([store], "bank", SLOW, 10) == 5


async def test_tenants_and_buckets_have_their_own(timed: Timed) -> None:
    """X-4: also tenants whose names look like parts of keys."""
    store = timed.replicas[0]
    tenants = ["bank", "shop", "a:b", "a", "b}:x", "{bank}", "*"]
    for tenant in tenants:
        assert await at_once([store], tenant, SLOW, 7) == 5, tenant
    assert (await store.take("bank", "another", SLOW)).left == 4


async def test_a_clock_that_jumps_gives_no_more_than_a_full_bucket(timed: Timed) -> None:
    """G-5: back, it brings nothing and goes on from there; forth, the bucket is full."""
    rate, store = Rate(per_minute=1, capacity=3), timed.replicas[0]
    assert await at_once([store], "bank", rate, 5) == 3
    await timed.pass_time("bank", -3600)
    assert (await store.take("bank", NAME, rate)).wait > 0
    await timed.pass_time("bank", 61)
    assert await at_once([store], "bank", rate, 5) == 1
    await timed.pass_time("bank", 3600)
    assert await at_once([store], "bank", rate, 5) == 3


async def test_a_rate_that_changes_holds_from_then_on(timed: Timed) -> None:
    """G-12: raised, it fills faster; lowered, what does not fit is gone."""
    store = timed.replicas[0]
    assert await at_once([store], "bank", SLOW, 9) == 5
    faster = Rate(per_minute=600, capacity=50)
    assert (await store.take("bank", NAME, faster)).wait <= 0.1
    await timed.pass_time("bank", 60)
    assert (await store.take("bank", NAME, faster)).left == 49
    assert (await store.look("bank", NAME, SLOW)).left == 5


async def test_of_64_that_contend_no_more_get_through_than_may(timed: Timed) -> None:
    """G-5: over replicas."""
    for number in range(3):
        rate = Rate(per_minute=1, capacity=20)
        assert await at_once(timed.replicas, f"busy-{number}", rate, 64) == 20


ACTIONS = st.one_of(
    st.just(("take", 0)),
    st.tuples(st.just("charge"), st.integers(0, 40)),
    st.tuples(st.just("pass"), st.integers(1, 120)),
    st.tuples(st.just("back"), st.integers(1, 4000)),
)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(per_minute=st.integers(1, 20), capacity=st.integers(1, 12), actions=st.lists(ACTIONS, max_size=25))
async def test_it_does_what_a_bucket_does(
    timed: Timed, per_minute: int, capacity: int, actions: list[tuple[str, int]]
) -> None:
    """G-5: against a model in exact numbers; only the server's own clock goes on, by less than a token."""
    rate = Rate(per_minute=per_minute, capacity=capacity)
    model, tenant = Model(rate), f"tenant-{next(NUMBERS)}"
    for number, (action, amount) in enumerate(actions):
        store = timed.replicas[number % 2]
        if action == "take":
            wait = (await store.take(tenant, NAME, rate)).wait
            expected = model.take()
            assert (wait == 0) == (expected == 0)
            assert expected - 1 <= wait <= expected + 1e-5
        elif action == "charge":
            await store.charge(tenant, NAME, rate, amount)
            model.charge(amount)
        elif action == "pass":
            await timed.pass_time(tenant, amount)
            model.pass_time(amount)
        else:  # what time brought until then stays
            await store.charge(tenant, NAME, rate, 0)
            await timed.pass_time(tenant, -amount)
            await store.charge(tenant, NAME, rate, 0)


async def test_streams_are_counted_until_they_are_released(timed: Timed) -> None:
    """G-5."""
    one, other = timed.replicas
    assert await one.hold("bank", "a", 2, 30)
    assert await other.hold("bank", "b", 2, 30)
    assert not await one.hold("bank", "c", 2, 30)
    assert await one.hold("shop", "c", 2, 30)
    assert [await other.held(tenant) for tenant in ("bank", "shop", "none")] == [2, 1, 0]
    await other.release("bank", "a")
    await other.release("bank", "never-held")
    await other.release("none", "never-held")
    assert await one.hold("bank", "c", 2, 30)
    assert not await one.hold("bank", "d", 2, 30)


async def test_streams_of_a_dead_process_end_and_renewed_ones_go_on(timed: Timed) -> None:
    """G-5."""
    one, other = timed.replicas
    assert await one.hold("bank", "dead", 2, 30)
    assert await other.hold("bank", "alive", 2, 30)
    await timed.pass_time("bank", 20)
    await other.renew("bank", ["alive"], 30)
    assert not await one.hold("bank", "new", 2, 30)
    await timed.pass_time("bank", 15)
    assert await one.held("bank") == 1
    assert await one.hold("bank", "new", 2, 30)
    assert not await one.hold("bank", "newer", 2, 30)


async def test_a_renewal_counts_streams_that_were_forgotten(timed: Timed) -> None:
    """G-5: after the store lost everything; then more may be open than are allowed, and no new one is."""
    one, other = timed.replicas
    await one.renew("bank", ["a", "b", "c"], 30)
    assert await other.held("bank") == 3
    assert not await other.hold("bank", "d", 2, 30)


async def test_of_64_streams_that_open_at_once_no_more_do_than_may(timed: Timed) -> None:
    """G-5: over replicas."""
    stores = timed.replicas
    got = await asyncio.gather(*(stores[n % 2].hold("bank", f"s{n}", 7, 30) for n in range(64)))
    assert got.count(True) == 7
    assert await stores[0].held("bank") == 7


async def test_keys_expire_and_those_of_a_tenant_are_on_one_machine(timed: Timed) -> None:
    """G-5: of Redis alone."""
    if not isinstance(timed, TurnedRedis):
        pytest.skip("has no keys")
    store = timed.replicas[0]
    await store.take("bank", NAME, SLOW)
    await store.charge("bank", "tokens", Rate(per_minute=10, capacity=10), 110)
    await store.hold("bank", "a", 2, 30)
    await store.renew("bank", ["a", "b"], 30)
    keys = [key async for key in timed.client.scan_iter(match=f"{timed.prefix}*")]
    assert len(keys) == 3
    assert len({key_slot(key) for key in keys}) == 1
    lives = {key: await timed.client.pttl(timed.key("bank", key)) for key in (NAME, "tokens", "streams")}
    assert 55_000 < lives[NAME] <= 61_000
    assert 650_000 < lives["tokens"] <= 661_000, "until the debt is paid and the bucket full"
    assert 25_000 < lives["streams"] <= 31_000


async def test_ends_that_no_clock_gave_are_not_waited_for(timed: Timed) -> None:
    """G-5: the server's clock went back by a day while processes died. Of Redis alone."""
    if not isinstance(timed, TurnedRedis):
        pytest.skip("its clock does not go back")
    one, other = timed.replicas
    assert await one.hold("bank", "dead", 1, 30)
    await timed.pass_time("bank", -86_400)
    assert await other.hold("bank", "new", 1, 30)
