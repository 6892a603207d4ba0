"""Two gateways over one PostgreSQL answer a conversation one turn at a time (SPEC G-4)."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from services.gateway.adapters.sql import migrations
from services.gateway.adapters.sql.turn_leases import SqlTurnLeases
from services.gateway.domain.turns import Event, Finished
from services.kit.errors import TurnRunning
from services.kit.postgres import Postgres
from services.kit.times import now
from tests.postgres_server import SharedServer, shared_server
from tests.unit.chat_parts import Bench, FakeModel, FakeStore, ask, says

TURNS = 12
SECONDS = 30.0


@pytest.fixture(scope="session")
def postgres_server(pytestconfig: pytest.Config) -> SharedServer:
    return shared_server(pytestconfig)


async def events_of(chatting: Any, **fields: Any) -> list[Event]:
    return [event async for event in chatting.chat(ask(**fields), retry=False)]


async def test_replicas_take_turns(postgres_server: SharedServer) -> None:
    async with postgres_server.database(migrations("postgres")) as url:
        pools = [await Postgres.open(url, migrations("postgres"), pool_size=4) for _ in range(2)]

        async def think() -> None:
            await asyncio.sleep(0.01)

        model, store = FakeModel(otherwise=says("fine", then=think)), FakeStore()
        benches = [Bench(model=model, store=store, leases=SqlTurnLeases(pool)) for pool in pools]
        replicas = [bench.chatting() for bench in benches]
        try:
            async with asyncio.timeout(SECONDS):
                told = await asyncio.gather(
                    *(events_of(replicas[n % 2], request_id=f"r{n}", wait=SECONDS) for n in range(TURNS))
                )
                assert all(isinstance(events[-1], Finished) for events in told)
                assert model.most_running == 1, "never two at once"
                await _one_is_refused(replicas, model)
                await _a_dead_process_is_followed(replicas, pools)
        finally:
            for pool in pools:
                await pool.close()


async def _one_is_refused(replicas: list[Any], model: FakeModel) -> None:
    """Without waiting, the second replica says that a turn runs."""
    go_on = asyncio.Event()
    model.steps = [says("A bird.", then=go_on.wait)]
    first = replicas[0].chat(ask("first"), retry=False)
    await anext(first)
    with pytest.raises(TurnRunning) as caught:
        await events_of(replicas[1], request_id="second")
    assert caught.value.retry_after
    go_on.set()
    assert isinstance([event async for event in first][-1], Finished)


async def _a_dead_process_is_followed(replicas: list[Any], pools: list[Postgres]) -> None:
    """Its lease ends by itself: a turn that waits longer than that goes on."""
    place = ask().place
    assert await SqlTurnLeases(pools[0]).acquire(place, "dead", now(), now() + timedelta(seconds=0.5))
    with pytest.raises(TurnRunning):
        await events_of(replicas[1], request_id="impatient")
    told = await events_of(replicas[1], request_id="patient", wait=SECONDS)
    assert isinstance(told[-1], Finished)
