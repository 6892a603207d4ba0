"""Calls within a tenant's budgets of requests and streams (SPEC G-5)."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import pytest

from services.gateway.app.admitting import LEASE_SECONDS, TenantAdmission
from services.gateway.app.limits import FRESH_SECONDS
from services.gateway.domain.budgets import NO_BUDGETS, Budgets
from services.kit.errors import DependencyDown, RateLimited
from services.kit.identity import Principal, Role
from tests.unit.limit_unit_parts import BANK, Bench

SHOP = Principal(tenant="shop", role=Role.OPERATOR)
SERVICE = Principal(tenant="bank", role=Role.SERVICE, subject="semantic")


class Door(Bench):
    """An admission, and ways through it."""

    def __init__(self, deployment: Budgets = NO_BUDGETS) -> None:
        super().__init__(deployment)
        self.admission = TenantAdmission(self.limits, self.store, self.refused.append)

    async def call(self, by: Principal = BANK, *, streaming: bool = False) -> None:
        """A call that takes no time."""
        async with self.admission.enter(by, streaming=streaming):
            pass

    async def stream(self, stack: AsyncExitStack, by: Principal = BANK) -> None:
        """A stream that is open until the stack is left."""
        await stack.enter_async_context(self.admission.enter(by, streaming=True))


async def test_a_call_over_the_budget_is_refused_and_told_when_to_come_back() -> None:
    """G-5: exactly; one that comes then gets through."""
    door = Door(Budgets(requests_per_minute=6, request_burst=2))
    for _ in range(2):
        await door.call()
    with pytest.raises(RateLimited) as caught:
        await door.call()
    assert caught.value.metadata == {"limit": "requests_per_minute"}
    assert caught.value.retry_after == 10.0
    assert door.refused == ["requests_per_minute"]
    await door.call(SHOP)
    door.time.now += 9.999
    with pytest.raises(RateLimited):
        await door.call()
    door.time.now += 0.001
    await door.call()


async def test_without_limits_nothing_is_asked_of_the_store() -> None:
    """G-5: and settings only once in a while."""
    door = Door()
    for _ in range(100):
        await door.call()
        await door.call(streaming=True)
    assert door.store.calls == 0
    assert door.settings.asked == 1


async def test_other_services_are_not_limited() -> None:
    """G-5."""
    door = Door(Budgets(requests_per_minute=1, concurrent_streams=0))
    for _ in range(3):
        await door.call(SERVICE)
        await door.call(SERVICE, streaming=True)
    await door.call()
    with pytest.raises(RateLimited):
        await door.call()


async def test_settings_that_change_hold_after_seconds() -> None:
    """G-12."""
    door = Door()
    await door.call()
    door.settings.budgets["bank"] = Budgets(requests_per_minute=1)
    for _ in range(5):
        await door.call()
    door.time.now += FRESH_SECONDS
    await door.call()
    with pytest.raises(RateLimited):
        await door.call()


async def test_a_change_that_is_made_here_holds_at_once() -> None:
    """G-12: also one that is made while the settings before it are read."""
    door = Door()
    door.settings.gate = asyncio.Event()
    first = asyncio.create_task(door.limits.of("bank"))
    while not door.settings.asked:  # noqa: ASYNC110 - it takes a few rounds of the loop
        await asyncio.sleep(0)
    door.settings.budgets["bank"] = Budgets(requests_per_minute=1)
    door.limits.changed("bank")
    door.settings.gate.set()
    assert (await first).requests_per_minute is None
    await door.call()
    with pytest.raises(RateLimited):
        await door.call()
    door.settings.budgets["bank"] = NO_BUDGETS
    door.limits.changed("bank")
    await door.call()


async def test_while_settings_cannot_be_read_they_are_as_they_were() -> None:
    """G-5: of tenants that are not known, the deployment's."""
    door = Door(Budgets(requests_per_minute=2))
    door.settings.budgets["bank"] = Budgets(requests_per_minute=1)
    await door.call()
    door.settings.down = True
    door.time.now += FRESH_SECONDS
    with pytest.raises(RateLimited):
        await door.call()
    for _ in range(2):
        await door.call(SHOP)
    with pytest.raises(RateLimited):
        await door.call(SHOP)


async def test_callers_that_come_together_read_settings_once() -> None:
    door = Door(Budgets(requests_per_minute=1000))
    await asyncio.gather(*(door.call() for _ in range(50)))
    assert door.settings.asked == 1


async def test_so_many_streams_may_be_open_and_no_more() -> None:
    """G-5: other calls go on."""
    door = Door(Budgets(concurrent_streams=2))
    async with AsyncExitStack() as stack:
        await door.stream(stack)
        await door.stream(stack)
        with pytest.raises(RateLimited) as caught:
            await door.call(streaming=True)
        assert caught.value.metadata == {"limit": "concurrent_streams"}
        assert caught.value.retry_after
        await door.call()
        await door.stream(stack, SHOP)
    await door.call(streaming=True)
    assert await door.store.held("bank") == 0


async def test_a_budget_of_0_streams_says_nothing_of_when_to_come_back() -> None:
    door = Door(Budgets(concurrent_streams=0))
    with pytest.raises(RateLimited) as caught:
        await door.call(streaming=True)
    assert caught.value.retry_after is None


async def test_a_stream_that_is_cut_off_counts_no_more() -> None:
    """G-5: by its caller, in the middle or while it is let go."""
    door = Door(Budgets(concurrent_streams=1))

    async def endless(opened: asyncio.Event) -> None:
        async with door.admission.enter(BANK, streaming=True):
            opened.set()
            await asyncio.Event().wait()

    for _ in range(3):
        opened = asyncio.Event()
        task = asyncio.create_task(endless(opened))
        await opened.wait()
        assert await door.store.held("bank") == 1
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert await door.store.held("bank") == 0


async def test_open_streams_are_kept_counted_and_a_dead_ones_place_is_free() -> None:
    """G-5."""
    door = Door(Budgets(concurrent_streams=2))
    async with AsyncExitStack() as stack:
        await door.stream(stack)
        assert await door.store.hold("bank", "of a process that dies", 2, LEASE_SECONDS)
        door.time.now += 0.7 * LEASE_SECONDS
        await door.admission.renew()
        door.time.now += 0.7 * LEASE_SECONDS
        await door.stream(stack)
        with pytest.raises(RateLimited):
            await door.call(streaming=True)


async def test_a_stream_that_ends_while_it_is_renewed_counts_no_more() -> None:
    door = Door(Budgets(concurrent_streams=5))
    async with AsyncExitStack() as stack, AsyncExitStack() as ending:
        await door.stream(stack)
        await door.stream(ending)
        door.store.meanwhile = ending.aclose
        await door.admission.renew()
        door.store.meanwhile = None
        assert await door.store.held("bank") == 1


async def test_streams_from_before_there_was_a_limit_count_under_it() -> None:
    """G-12: once they are renewed."""
    door = Door()
    async with AsyncExitStack() as stack:
        await door.stream(stack)
        door.settings.budgets["bank"] = Budgets(concurrent_streams=1)
        door.time.now += FRESH_SECONDS
        await door.admission.renew()
        with pytest.raises(RateLimited):
            await door.call(streaming=True)
    await door.call(streaming=True)


async def test_a_store_that_is_away_spoils_no_stream_that_is_open() -> None:
    """X-1: it ends well, and its place is free when its time is over."""
    door = Door(Budgets(concurrent_streams=1))
    async with AsyncExitStack() as stack:
        await door.stream(stack)
        door.store.down = True
        await door.admission.renew()
    with pytest.raises(DependencyDown):
        await door.call(streaming=True)
    door.store.down = False
    door.time.now += LEASE_SECONDS
    await door.call(streaming=True)
