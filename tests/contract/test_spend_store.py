"""What every store of what models cost does (SPEC G-5, E-11)."""

from __future__ import annotations

import asyncio
from datetime import date, timedelta

import pytest

from services.gateway.adapters.memory_spend import MemorySpend
from services.gateway.adapters.sql.spend import SqlSpend
from services.gateway.app.budget_ports import SpendStore
from services.gateway.domain.budgets import SPEND_KEPT, ModelSpend
from tests.contract.conftest import Pair

DAY = date(2031, 5, 4)
NEXT = DAY + timedelta(days=1)


@pytest.fixture
def stores(gateway_sql_pair: Pair | None) -> list[SpendStore]:
    """As two replicas have them."""
    if gateway_sql_pair is None:
        memory = MemorySpend()
        return [memory, memory]
    return [SqlSpend(sql) for sql in gateway_sql_pair]


def spent(
    calls: int, micros: int, *, day: date = DAY, tier: str = "standard", model: str = "m"
) -> ModelSpend:
    return ModelSpend(
        day=day,
        tier=tier,
        model=model,
        calls=calls,
        estimated_calls=calls // 2,
        input_tokens=100 * calls,
        output_tokens=10 * calls,
        micros=micros,
    )


async def test_processes_add_up_and_a_report_that_comes_twice_is_no_change(stores: list[SpendStore]) -> None:
    """G-5: totals of a process, the greatest one."""
    one, other = stores
    assert await one.micros("bank", DAY) == 0
    await one.report("bank", "p1", [spent(2, 70), spent(1, 5, model="other")])
    await one.report("bank", "p1", [spent(2, 70), spent(1, 5, model="other")])
    await other.report("bank", "p2", [spent(3, 100)])
    await other.report("bank", "p1", [spent(1, 30)])
    await other.report("bank", "p1", [])
    assert await other.micros("bank", DAY) == 175
    assert await one.rows("bank", DAY, 10) == [
        ModelSpend(
            day=DAY,
            tier="standard",
            model="m",
            calls=5,
            estimated_calls=2,
            input_tokens=500,
            output_tokens=50,
            micros=170,
        ),
        spent(1, 5, model="other"),
    ]


async def test_days_and_tenants_have_their_own(stores: list[SpendStore]) -> None:
    """G-5, X-4."""
    one, other = stores
    await one.report("bank", "p1", [spent(1, 1), spent(1, 10, day=NEXT), spent(1, 100, tier="deep")])
    await one.report("shop", "p1", [spent(1, 1000)])
    assert [await other.micros("bank", day) for day in (DAY, NEXT, NEXT + timedelta(days=1))] == [101, 10, 0]
    assert await other.micros("shop", DAY) == 1000
    found = await other.rows("bank", DAY, 10)
    assert [(row.day, row.tier) for row in found] == [(NEXT, "standard"), (DAY, "deep"), (DAY, "standard")]
    assert await other.rows("bank", NEXT, 10) == found[:1]
    assert await other.rows("bank", DAY, 2) == found[:2]


async def test_figures_may_be_large(stores: list[SpendStore]) -> None:
    one = ModelSpend(
        day=DAY, tier="deep", model="m", calls=1, input_tokens=2**60, output_tokens=1, micros=2**60
    )
    await stores[0].report("bank", "p1", [one])
    assert await stores[1].rows("bank", DAY, 10) == [one]
    assert await stores[1].micros("bank", DAY) == 2**60


async def test_replicas_that_report_at_once_lose_nothing(stores: list[SpendStore]) -> None:
    """G-5."""
    await asyncio.gather(
        *(stores[n % 2].report("bank", f"p{n % 4}", [spent(n, 7 * n)]) for n in range(1, 33))
    )
    assert await stores[0].micros("bank", DAY) == 7 * (29 + 30 + 31 + 32)


async def test_what_is_over_a_year_old_is_forgotten_by_the_sql_stores(stores: list[SpendStore]) -> None:
    if isinstance(stores[0], MemorySpend):
        pytest.skip("is for tests")
    await stores[0].report("bank", "p1", [spent(1, 1)])
    await stores[0].report("bank", "p1", [spent(1, 2, day=DAY + SPEND_KEPT)])
    assert await stores[0].micros("bank", DAY) == 1
    await stores[0].report("bank", "p1", [spent(1, 2, day=DAY + SPEND_KEPT + timedelta(days=1))])
    assert await stores[0].micros("bank", DAY) == 0
