"""Limits while the store that all replicas share is away (SPEC G-5)."""

from __future__ import annotations

import asyncio

import pytest
from structlog.testing import capture_logs

from services.gateway.adapters.limits_without import LimitsWithout, Without
from services.gateway.domain.buckets import Rate
from services.kit.errors import DependencyDown
from tests.unit.limit_unit_parts import CountedLimits, Time

RATE = Rate(per_minute=1, capacity=3)
SECONDS = 10.0


@pytest.fixture
def shared() -> CountedLimits:
    return CountedLimits(Time())


async def taken(store: LimitsWithout, calls: int) -> int:
    return sum([not (await store.take("bank", "requests", RATE)).wait for _ in range(calls)])


@pytest.mark.parametrize(("without", "through"), [(Without.LOCAL, 3), (Without.OPEN, 9)])
async def test_one_call_finds_out_and_the_others_do_not_ask(
    shared: CountedLimits, without: Without, through: int
) -> None:
    """G-5: so that only one call waits for what does not answer."""
    store = LimitsWithout(shared, without, chance=lambda: 1.0)
    shared.down = True
    assert await taken(store, 9) == through
    assert shared.calls == 1
    assert await store.hold("bank", "a", 1, 30)
    assert await store.hold("bank", "b", 1, 30) is (without is Without.OPEN)
    await store.charge("bank", "tokens", RATE, 5)
    assert bool((await store.look("bank", "tokens", RATE)).wait) is (without is Without.LOCAL)
    await store.renew("bank", ["a"], 30)
    await store.release("bank", "a")
    assert shared.calls == 1
    await store.close()


async def test_closed_nothing_that_is_limited_is_allowed(shared: CountedLimits) -> None:
    store = LimitsWithout(shared, Without.CLOSED)
    assert await taken(store, 1) == 1
    shared.down = True
    for asked in (store.take("bank", "requests", RATE), store.hold("bank", "a", 1, 30), store.held("bank")):
        with pytest.raises(DependencyDown) as caught:
            await asked
        assert caught.value.retry_after
    await store.release("bank", "a")
    await store.close()


async def test_it_is_found_again_by_itself() -> None:
    """G-5: and what it knew holds."""
    shared = CountedLimits(Time())
    store = LimitsWithout(shared, Without.LOCAL, chance=lambda: 0.0)
    assert await taken(store, 3) == 3
    shared.down = True
    with capture_logs() as logs:
        assert await taken(store, 9) == 3, "each process for itself"
        shared.down = False
        async with asyncio.timeout(SECONDS):
            await store.found()
    assert [log["event"] for log in logs] == ["limits_store_away", "limits_store_back"]
    assert await taken(store, 9) == 0
    await store.close()


async def test_streams_that_were_open_before_count_here_too(shared: CountedLimits) -> None:
    store = LimitsWithout(shared, Without.LOCAL)
    assert await store.hold("bank", "a", 1, 30)
    shared.down = True
    assert not await store.hold("bank", "b", 1, 30)
    await store.release("bank", "a")
    assert await store.hold("bank", "b", 1, 30)
    await store.close()
