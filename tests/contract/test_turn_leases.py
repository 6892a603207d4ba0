"""Leases of turns: one holder at a time, over replicas (SPEC G-4)."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from services.gateway.adapters.memory_turn_leases import MemoryTurnLeases
from services.gateway.adapters.sql.turn_leases import SqlTurnLeases
from services.gateway.app.chat_ports import TurnLeases
from services.gateway.domain.turns import Place
from tests.contract.conftest import Pair

PLACE = Place(tenant="bank", agent_id="ada", conversation_id="c")
NOW = datetime(2031, 5, 4, 12, 0, tzinfo=UTC)
LATER, LATE = NOW + timedelta(seconds=15), NOW + timedelta(seconds=16)


@pytest.fixture
def leases(gateway_sql_pair: Pair | None) -> tuple[TurnLeases, TurnLeases]:
    """As two replicas have them."""
    if gateway_sql_pair is None:
        memory = MemoryTurnLeases()
        return memory, memory
    return SqlTurnLeases(gateway_sql_pair[0]), SqlTurnLeases(gateway_sql_pair[1])


async def test_a_lease_has_one_holder(leases: tuple[TurnLeases, TurnLeases]) -> None:
    one, other = leases
    assert await one.acquire(PLACE, "a", NOW, LATER)
    assert not await other.acquire(PLACE, "b", NOW, LATER)
    assert await one.acquire(PLACE, "a", NOW, LATER), "its own holder may ask again"
    elsewhere = Place(tenant="bank", agent_id="ada", conversation_id="d")
    stranger = Place(tenant="shop", agent_id="ada", conversation_id="c")
    assert await other.acquire(elsewhere, "b", NOW, LATER)
    assert await other.acquire(stranger, "b", NOW, LATER)


async def test_it_is_free_when_it_is_released_by_its_holder(leases: tuple[TurnLeases, TurnLeases]) -> None:
    one, other = leases
    assert await one.acquire(PLACE, "a", NOW, LATER)
    await other.release(PLACE, "b")
    assert not await other.acquire(PLACE, "b", NOW, LATER)
    await one.release(PLACE, "a")
    assert await other.acquire(PLACE, "b", NOW, LATER)
    await one.release(PLACE, "a")
    assert not await one.acquire(PLACE, "a", NOW, LATER)


async def test_it_ends_by_itself_unless_it_is_renewed(leases: tuple[TurnLeases, TurnLeases]) -> None:
    one, other = leases
    assert await one.acquire(PLACE, "a", NOW, LATER)
    assert await one.renew(PLACE, "a", LATE + timedelta(seconds=1))
    assert not await other.acquire(PLACE, "b", LATE, LATE + timedelta(seconds=15))
    assert await one.renew(PLACE, "a", LATER)
    assert await other.acquire(PLACE, "b", LATER, LATE), "at its end it is free"
    assert not await one.renew(PLACE, "a", LATE), "somebody else has it"
    assert not await other.renew(Place(tenant="x", agent_id="ada", conversation_id="c"), "b", LATE)


async def test_of_many_that_ask_at_once_one_gets_it(leases: tuple[TurnLeases, TurnLeases]) -> None:
    for number in range(5):
        place = Place(tenant="bank", agent_id="ada", conversation_id=f"busy-{number}")
        got = await asyncio.gather(
            *(leases[n % 2].acquire(place, f"holder-{n}", NOW, LATER) for n in range(16))
        )
        assert got.count(True) == 1
