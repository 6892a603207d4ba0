"""What a tenant may spend on models (SPEC G-5, E-11)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest

from services.gateway.adapters.memory_spend import MemorySpend
from services.gateway.app.limits import FRESH_SECONDS
from services.gateway.app.model_budget import SpendTally, TenantModelBudget
from services.gateway.app.usage import HeldLimit, TenantUsage
from services.gateway.domain.budgets import Budgets, ModelSpend, Price, Prices
from services.kit.context import act_as
from services.kit.errors import DependencyDown, NotAllowed, RateLimited
from services.kit.identity import Principal, Role
from services.kit.models.types import Tier, Usage
from tests.unit.limit_unit_parts import BANK, Bench

START = datetime(2031, 5, 4, 22, 0, tzinfo=UTC)
PRICES = Prices(of={"standard": Price(input=Decimal(2), output=Decimal(10))})


MODELS = {Tier.STANDARD: "m", Tier.FAST: "x" * 200}


def usage(given: int, written: int = 0, *, calls: int = 1, estimated: int = 0) -> Usage:
    return Usage(calls=calls, estimated_calls=estimated, input_tokens=given, output_tokens=written)


class Spending(MemorySpend):
    """A store that may be away, or take what it is told and not say so."""

    def __init__(self) -> None:
        super().__init__()
        self.down = False
        self.mute = False

    async def report(self, tenant: str, reporter_id: str, totals: Sequence[ModelSpend]) -> None:
        if self.down:
            raise DependencyDown
        await super().report(tenant, reporter_id, totals)
        if self.mute:
            raise DependencyDown

    async def micros(self, tenant: str, day: date) -> int:
        if self.down:
            raise DependencyDown
        return await super().micros(tenant, day)


class Purse(Bench):
    """A budget and what is kept of it."""

    def __init__(
        self, deployment: Budgets, spend: Spending | None = None, *, prices: Prices = PRICES
    ) -> None:
        super().__init__(deployment)
        self.spend = spend or Spending()
        self.tally = SpendTally(self.spend)
        self.began = self.time.now
        self.budget = TenantModelBudget(
            self.limits,
            self.store,
            self.tally,
            self.spend,
            models=MODELS,
            prices=prices,
            clock=self.clock,
            limited=self.refused.append,
        )
        self.usage = TenantUsage(self.limits, self.store, self.spend, self.budget, self.clock)

    def clock(self) -> datetime:
        return START + timedelta(seconds=self.time.now - self.began)


@pytest.fixture(autouse=True)
def _as_the_bank() -> Iterator[None]:
    with act_as(BANK):
        yield


async def test_a_call_begins_while_tokens_are_left_and_time_pays_what_it_took() -> None:
    """G-5: checked before, charged after."""
    purse = Purse(Budgets(tokens_per_minute=600))
    await purse.budget.check()
    await purse.budget.charge(Tier.FAST, usage(1000, 199))
    with pytest.raises(RateLimited) as caught:
        await purse.budget.check()
    assert caught.value.metadata == {"limit": "tokens_per_minute"}
    assert caught.value.retry_after == 60.0, "a debt of 599, and 1 to begin with, at 10 a second"
    assert purse.refused == ["tokens_per_minute"]
    purse.time.now += 59.9
    with pytest.raises(RateLimited):
        await purse.budget.check()
    purse.time.now += 0.1
    await purse.budget.check()


async def test_a_days_spend_ends_at_midnight_in_utc() -> None:
    """G-5: by the prices of the tier."""
    purse = Purse(Budgets(spend_per_day_micros=3000))
    await purse.budget.charge(Tier.STANDARD, usage(1000, 99))
    await purse.budget.check()
    await purse.budget.charge(Tier.FAST, usage(10**6))
    await purse.budget.check()
    await purse.budget.charge(Tier.STANDARD, usage(5))
    with pytest.raises(RateLimited) as caught:
        await purse.budget.check()
    assert caught.value.metadata == {"limit": "spend_per_day_micros"}
    assert caught.value.retry_after == 7200.0
    purse.time.now += 7199
    with pytest.raises(RateLimited):
        await purse.budget.check()
    purse.time.now += 1
    await purse.budget.check()
    assert await purse.budget.spent_today("bank") == 0


async def test_another_process_knows_what_was_spent() -> None:
    """G-5: also after a restart, when every bucket is full."""
    purse = Purse(Budgets(spend_per_day_micros=1000))
    await purse.budget.charge(Tier.STANDARD, usage(500))
    other = Purse(Budgets(spend_per_day_micros=1000), purse.spend)
    with pytest.raises(RateLimited):
        await other.budget.check()
    with act_as(Principal(tenant="shop", role=Role.READER)):
        await other.budget.check()


@pytest.mark.parametrize("fault", ["down", "mute"])
async def test_what_could_not_be_kept_counts_here_and_is_kept_once_later(fault: str) -> None:
    """G-5: nothing twice, though it is not known what became of the first try."""
    purse = Purse(Budgets(spend_per_day_micros=1000))
    setattr(purse.spend, fault, True)
    for _ in range(3):
        await purse.budget.charge(Tier.STANDARD, usage(200))
    setattr(purse.spend, fault, False)
    assert await purse.budget.spent_today("bank") >= 1200
    with pytest.raises(RateLimited):
        await purse.budget.check()
    await purse.tally.flush("bank")
    assert await purse.spend.micros("bank", START.date()) == 1200
    assert await purse.budget.spent_today("bank") == 1200


async def test_what_is_not_kept_is_tried_again_in_the_background_and_at_the_end() -> None:
    purse = Purse(Budgets())
    purse.spend.down = True
    await purse.budget.charge(Tier.STANDARD, usage(200))
    running = asyncio.create_task(purse.tally.run())
    await asyncio.sleep(0)
    purse.spend.down = False
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert await purse.spend.micros("bank", START.date()) == 400


async def test_a_clock_that_goes_back_over_midnight_loses_nothing() -> None:
    """G-5: nor does a day that ended long ago stay in memory."""
    purse = Purse(Budgets())
    for hours in (0, 3, -3, 3, 100):
        purse.time.now += 3600 * hours
        await purse.budget.charge(Tier.STANDARD, usage(50))
    rows = await purse.usage.spend(BANK, 30)
    assert [(row.day.day, row.calls) for row in rows] == [(9, 1), (5, 2), (4, 2)]
    assert purse.tally.unkept("bank", START.date()) == 0


async def test_while_it_is_not_known_what_was_spent_nothing_may_be() -> None:
    """G-5: a limited spend fails closed; without a limit nobody asks."""
    purse = Purse(Budgets(spend_per_day_micros=1000))
    purse.spend.down = True
    with pytest.raises(DependencyDown):
        await purse.budget.check()
    free = Purse(Budgets(), purse.spend)
    await free.budget.check()


async def test_a_caller_that_leaves_is_charged_all_the_same() -> None:
    """G-5."""
    purse = Purse(Budgets(tokens_per_minute=600))
    task = asyncio.create_task(purse.budget.charge(Tier.STANDARD, usage(700)))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    for _ in range(20):
        await asyncio.sleep(0)
    assert await purse.spend.micros("bank", START.date()) == 1400
    with pytest.raises(RateLimited):
        await purse.budget.check()


async def test_a_budget_of_0_allows_nothing_and_says_nothing_of_when() -> None:
    for budgets in (Budgets(tokens_per_minute=0), Budgets(spend_per_day_micros=0)):
        purse = Purse(budgets)
        with pytest.raises(RateLimited) as caught:
            await purse.budget.check()
        assert caught.value.retry_after is None


async def test_tokens_that_cannot_be_charged_do_not_fail_the_call() -> None:
    purse = Purse(Budgets(tokens_per_minute=600))
    purse.store.down = True
    await purse.budget.charge(Tier.STANDARD, usage(700))
    assert await purse.spend.micros("bank", START.date()) == 1400


async def test_usage_is_told_by_day_tier_and_model() -> None:
    """E-11: by the name in the settings, which is one line of a bounded length."""
    purse = Purse(Budgets())
    await purse.budget.charge(Tier.STANDARD, usage(5, 1, calls=2, estimated=1))
    await purse.budget.charge(Tier.STANDARD, usage(10, 1))
    await purse.budget.charge(Tier.STANDARD, usage(0, calls=0))
    await purse.budget.charge(Tier.FAST, usage(1))
    await purse.budget.charge(Tier.DEEP, usage(1))
    purse.time.now += 7200
    await purse.budget.charge(Tier.STANDARD, usage(1))
    rows = await purse.usage.spend(BANK, 2)
    assert [(row.day.day, row.tier, row.model[:8], row.calls) for row in rows] == [
        (5, "standard", "m", 1),
        (4, "deep", "unnamed", 1),
        (4, "fast", "xxxxxxxx", 1),
        (4, "standard", "m", 3),
    ]
    assert rows[3] == ModelSpend(
        day=START.date(),
        tier="standard",
        model="m",
        calls=3,
        estimated_calls=1,
        input_tokens=15,
        output_tokens=2,
        micros=50,
    )
    assert len(rows[2].model) == 128
    assert [row.day.day for row in await purse.usage.spend(BANK, 1)] == [5]


async def test_a_price_is_found_by_the_name_in_the_settings() -> None:
    """G-5: a price of tier and model goes before the tier's, and another model's is nobody's."""
    dear = Price(input=Decimal(7), output=Decimal(7))
    for priced, micros in (("standard/m", 700), ("standard/other", 200)):
        purse = Purse(Budgets(), prices=Prices(of={**PRICES.of, priced: dear}))
        await purse.budget.charge(Tier.STANDARD, usage(100))
        assert await purse.budget.spent_today("bank") == micros


async def test_limits_are_told_with_what_is_left() -> None:
    """G-5."""
    purse = Purse(Budgets(requests_per_minute=60, spend_per_day_micros=100, concurrent_streams=2))
    purse.settings.budgets["bank"] = Budgets(tokens_per_minute=600, concurrent_streams=0)
    await purse.budget.charge(Tier.STANDARD, usage(700))
    assert await purse.usage.limits(BANK) == [
        HeldLimit(name="requests_per_minute", most=60, left=60, wait=0.0, own=False),
        HeldLimit(name="tokens_per_minute", most=600, left=-100, wait=10.1, own=True),
        HeldLimit(name="spend_per_day_micros", most=100, left=-1300, wait=7200.0, own=False),
        HeldLimit(name="concurrent_streams", most=0, left=0, wait=None, own=True),
    ]
    purse.settings.budgets["bank"] = Budgets(requests_per_minute=6)
    purse.time.now += FRESH_SECONDS
    requests = (await purse.usage.limits(BANK))[0]
    assert (requests.most, requests.own) == (6, True)
    limited = Principal(tenant="bank", role=Role.ADMIN, agents=frozenset({"ada"}))
    for refused in (purse.usage.limits(limited), purse.usage.spend(limited, 1)):
        with pytest.raises(NotAllowed):
            await refused
