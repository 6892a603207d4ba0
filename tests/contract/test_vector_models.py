"""Which model is active, and how another becomes it: the suite of the Models and Leases ports (SPEC S-17)."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from services.kit.sql import SqlDatabase
from services.memory.semantic.adapters.sql.models import SqlLeases, SqlModels
from services.memory.semantic.app.generation_ports import FILL, SWEPT, Leases, Models
from services.memory.semantic.domain.vectors import VectorModel

NOW = datetime(2031, 5, 4, 12, 0, tzinfo=UTC)
BEAT = timedelta(seconds=30)
OLD = VectorModel(revision="old", dimension=64)
NEW = VectorModel(revision="new", dimension=96)
OTHER = VectorModel(revision="other", dimension=8)


class Replicas:
    """The ports as two replicas see them, the old model active."""

    def __init__(self, pair: tuple[SqlDatabase, SqlDatabase]) -> None:
        self.models: list[Models] = [SqlModels(sql) for sql in pair]
        self.leases: list[Leases] = [SqlLeases(sql) for sql in pair]
        self.one, self.two = self.models
        self.now = NOW

    async def register(self, replica: str, *models: VectorModel) -> VectorModel:
        return (await self.two.register(replica, models, self.now, self.now + BEAT)).model

    async def take(self, replica: str) -> bool:
        return await self.leases[0].take(FILL, replica, self.now, self.now + BEAT)

    async def resume(self, replica: str = "a") -> str | None:
        return await self.one.resume(replica, NEW, self.now)

    async def advance(self, position: str, replica: str = "a") -> bool:
        return await self.two.advance(replica, NEW, position, self.now)

    async def switch(self, replica: str = "a") -> bool:
        return await self.one.switch(replica, NEW, self.now)

    async def active(self) -> VectorModel:
        return (await self.two.active(OTHER, self.now)).model


@pytest.fixture
async def replicas(semantic_sql_pair: tuple[SqlDatabase, SqlDatabase]) -> Replicas:
    made = Replicas(semantic_sql_pair)
    assert (await made.one.active(OLD, NOW)).model == OLD
    return made


async def test_the_first_model_stays_active(replicas: Replicas) -> None:
    found = await replicas.two.active(NEW, NOW + BEAT)
    assert (found.model, found.since) == (OLD, NOW)


async def test_of_two_that_start_at_once_both_find_the_same_model(
    semantic_sql_pair: tuple[SqlDatabase, SqlDatabase],
) -> None:
    one, two = (SqlModels(sql) for sql in semantic_sql_pair)
    found = await asyncio.gather(one.active(OLD, NOW), two.active(NEW, NOW))
    assert found[0] == found[1]


async def test_a_filled_model_becomes_active_for_every_replica(replicas: Replicas) -> None:
    assert await replicas.register("a", OLD, NEW) == OLD
    assert await replicas.resume() is None, "without the lease"
    assert await replicas.take("a")
    assert not await replicas.advance("half"), "nothing was begun"
    assert await replicas.resume() == ""
    assert await replicas.advance("half")
    assert await replicas.resume() == "half"
    assert not await replicas.switch()
    assert await replicas.advance(SWEPT)
    assert await replicas.switch()
    assert await replicas.active() == NEW
    assert await replicas.register("b", OLD, NEW) == NEW
    assert not await replicas.switch()


async def test_nothing_is_filled_while_a_replica_writes_the_old_vectors_alone(replicas: Replicas) -> None:
    await replicas.register("a", OLD, NEW)
    await replicas.register("b", OLD)
    assert await replicas.take("a")
    assert await replicas.resume() is None
    replicas.now += BEAT  # it is not heard of again
    await replicas.register("a", OLD, NEW)
    assert await replicas.take("a")
    assert await replicas.resume() == ""


async def test_a_replica_that_comes_without_the_next_model_ends_the_filling(replicas: Replicas) -> None:
    """What it writes would be missing, however short it lives."""
    await replicas.register("a", OLD, NEW)
    await replicas.take("a")
    assert await replicas.resume() == ""
    assert await replicas.advance(SWEPT)
    await replicas.register("b", OLD)
    assert not await replicas.advance(SWEPT)
    assert not await replicas.switch()
    replicas.now += BEAT
    await replicas.register("a", OLD, NEW)
    await replicas.take("a")
    assert not await replicas.switch()
    assert await replicas.resume() == "", "from the beginning"


async def test_a_filling_outlasts_its_filler(replicas: Replicas) -> None:
    await replicas.register("a", OLD, NEW)
    await replicas.take("a")
    await replicas.resume()
    assert await replicas.advance("half")
    replicas.now += BEAT
    await replicas.register("b", OLD, NEW)
    assert await replicas.take("b")
    assert not await replicas.advance("late")
    assert await replicas.resume() is None
    assert await replicas.resume("b") == "half"
    assert await replicas.advance(SWEPT, "b")
    assert not await replicas.switch("a")
    assert await replicas.switch("b")


async def test_it_is_known_whether_anybody_still_writes_another_model(replicas: Replicas) -> None:
    """Before the vectors of other models are removed."""
    await replicas.register("a", OLD)
    assert await replicas.one.only(OLD, replicas.now)
    await replicas.register("b", OLD, NEW)
    assert not await replicas.one.only(OLD, replicas.now)
    assert not await replicas.one.only(NEW, replicas.now)
    replicas.now += BEAT
    await replicas.register("b", NEW)
    assert await replicas.one.only(NEW, replicas.now)


async def test_a_model_that_is_given_up_is_replaced_at_once(replicas: Replicas) -> None:
    await replicas.register("a", OLD, NEW)
    await replicas.take("a")
    await replicas.resume()
    assert await replicas.advance("half")
    await replicas.two.abandon(OTHER, NOW)
    assert await replicas.active() == OTHER
    assert await replicas.resume() == ""


async def test_one_owner_at_a_time_has_a_lease(replicas: Replicas) -> None:
    one, two = replicas.leases
    assert await one.take("work", "a", NOW, NOW + BEAT)
    assert not await two.take("work", "b", NOW, NOW + BEAT)
    assert await two.take("other work", "b", NOW, NOW + BEAT)
    assert await one.take("work", "a", NOW, NOW + 2 * BEAT)
    assert not await two.take("work", "b", NOW + BEAT, NOW + 3 * BEAT)
    assert await two.take("work", "b", NOW + 2 * BEAT, NOW + 3 * BEAT)
    await one.give("work", "a")
    assert not await one.take("work", "a", NOW + 2 * BEAT, NOW + 3 * BEAT)
    await two.give("work", "b")
    assert await one.take("work", "a", NOW + 2 * BEAT, NOW + 3 * BEAT)


async def test_of_many_who_want_a_lease_one_has_it(replicas: Replicas) -> None:
    taken = await asyncio.gather(
        *(replicas.leases[n % 2].take("work", f"r{n}", NOW, NOW + BEAT) for n in range(32))
    )
    assert sum(taken) == 1


async def test_a_store_with_one_owner_forgets_who_owned_it(
    semantic_sql_pair: tuple[SqlDatabase, SqlDatabase], replicas: Replicas
) -> None:
    await replicas.register("a", OLD)
    await replicas.take("a")
    await SqlModels(semantic_sql_pair[0]).forget_replicas()
    await replicas.register("b", OLD, NEW)
    assert await replicas.take("b")
    assert await replicas.resume("b") == ""
