"""Filling the vectors of a next model: what holds it up, and what does not (SPEC S-17, S-15)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest

from services.kit.errors import DataFlowRefused, DependencyDown, InvalidRequest
from services.memory.semantic.adapters.sql.models import SqlLeases, SqlModels
from services.memory.semantic.adapters.vectors_memory import MemoryVectorIndex
from services.memory.semantic.app.filling import Filler, FillSettings, Replica
from services.memory.semantic.app.generation_ports import FILL
from services.memory.semantic.app.generations import Generation, Generations
from services.memory.semantic.app.indexing import Indexer, MemoryItem, MessageItem
from services.memory.semantic.app.strangers import Strangers
from services.memory.semantic.domain.vectors import Bucket, VectorModel, pack
from tests.unit.semantic_parts import AGENT, TENANT, Hashing, Parts, Sql

NEXT = VectorModel(revision="next", dimension=3)
COUNT = 20
SETTINGS = FillSettings(step=4, poll_seconds=0.01, lease_seconds=0.05)


@dataclass
class Constant(Hashing):
    """The next model; every text is alike to it."""

    error: Exception | None = None

    async def documents(self, texts: Sequence[str]) -> list[bytes]:
        if self.error is not None:
            raise self.error
        self.calls.append(list(texts))
        if self.refused and any(self.refused in text for text in texts):
            raise InvalidRequest("refused")
        return [pack([1.0, 0.0, 0.0])] * len(texts)


class Change:
    """Some indexed items, and a second model."""

    def __init__(self) -> None:
        self.parts = Parts()
        self.texts = Constant()
        self.sql = Sql()
        self.vectors = MemoryVectorIndex(NEXT)
        self.generations = Generations(
            Generation(vectors=self.parts.vectors, texts=self.parts.texts),
            Generation(vectors=self.vectors, texts=self.texts),
        )
        self.indexer = Indexer(
            store=self.parts.store,
            items=self.parts.items,
            generations=self.generations,
            conversations=self.parts.episodes,
            observe_lag=self.parts.lags.append,
            clock=self.clock,
        )
        self.models = SqlModels(self.sql)

    def clock(self) -> datetime:
        return self.parts.now

    def replica(self) -> Replica:
        return Replica(
            name="a",
            generations=self.generations,
            models=self.models,
            leases=SqlLeases(self.sql),
            settings=SETTINGS,
            clock=self.clock,
        )

    async def begin(self) -> Filler:
        """A filler of a replica that is registered."""
        parts = self.parts
        parts.episodes.add("c", *(f"a heron{n}" for n in range(COUNT)))
        await parts.index_messages("c", *range(1, COUNT + 1))
        await parts.items.set_whole(True)
        parts.lags.clear()
        await self.models.active(parts.vectors.model, parts.now)
        replica = self.replica()
        await replica.register()
        return Filler(
            generations=self.generations,
            models=self.models,
            items=parts.items,
            indexer=self.indexer,
            strangers=Strangers(
                store=parts.store, items=parts.items, generations=self.generations, clock=self.clock
            ),
            replica=replica,
            settings=SETTINGS,
            clock=self.clock,
        )


@pytest.fixture
def change() -> Change:
    return Change()


async def test_everything_is_filled_in_small_steps_and_then_switched_to(change: Change) -> None:
    filler = await change.begin()
    await asyncio.wait_for(filler.run(), 10)
    assert change.generations.active.model == NEXT
    assert change.generations.following is None
    assert change.generations.former is None, "once nobody searches there any more"
    assert await change.vectors.count() == COUNT
    assert max(map(len, change.texts.calls)) == SETTINGS.step
    assert change.parts.lags == [], "nothing was late"
    assert (await change.models.active(NEXT, change.parts.now)).model == NEXT


class Slow(MemoryVectorIndex):
    """Each look at what it holds takes a good part of the time for which a lease lasts."""

    def __init__(self, change: Change) -> None:
        super().__init__(NEXT)
        self._parts = change.parts

    async def similarities(
        self, bucket: Bucket, vector: bytes, item_ids: Sequence[str]
    ) -> Mapping[str, float]:
        self._parts.now += timedelta(seconds=SETTINGS.lease_seconds * 0.4)
        return await super().similarities(bucket, vector, item_ids)


async def test_a_comparison_that_takes_longer_than_a_lease_ends_in_the_switch(change: Change) -> None:
    """S-17: it goes through everything, however much that is."""
    change.vectors = Slow(change)
    change.generations = Generations(
        change.generations.active, Generation(vectors=change.vectors, texts=change.texts)
    )
    filler = await change.begin()
    began = change.parts.now
    await asyncio.wait_for(filler.run(), 10)
    assert change.parts.now - began > timedelta(seconds=SETTINGS.lease_seconds), "or nothing was shown"
    assert change.generations.active.model == NEXT


async def test_a_replica_without_the_active_model_writes_nothing_and_ends_no_filling(change: Change) -> None:
    """S-17: another replica gave up the models that this one serves, and fills another one."""
    parts, other = change.parts, VectorModel(revision="other", dimension=3)
    filler = await change.begin()
    replica = change.replica()
    await replica.register()
    assert await replica.current()
    await change.models.abandon(other, parts.now)
    await replica.register()
    assert not await replica.current()
    before = await parts.vectors.count()
    parts.episodes.add("d", "a coot")
    with pytest.raises(DependencyDown):
        await change.indexer.index(TENANT, AGENT, [MessageItem(conversation_id="d", sequence=1)])
    assert (await parts.vectors.count(), await change.vectors.count()) == (before, 0)
    parts.now += timedelta(seconds=1)  # its registration is over
    after = VectorModel(revision="after", dimension=3)
    leases, until = SqlLeases(change.sql), parts.now + timedelta(seconds=9)
    await change.models.register("b", [other, after], parts.now, until)
    assert await leases.take(FILL, "b", parts.now, until)
    assert await change.models.resume("b", after, parts.now) == ""
    await replica.register()
    assert await change.models.advance("b", after, "x", parts.now), "the filling goes on"
    await change.models.abandon(parts.vectors.model, parts.now)
    await replica.register()
    assert await replica.current(), "positive control: its model is the active one again"
    assert await change.indexer.index(TENANT, AGENT, [MessageItem(conversation_id="d", sequence=1)])
    assert await parts.vectors.count() == before + 1
    del filler


async def test_a_model_that_is_down_holds_up_the_filling(change: Change) -> None:
    filler = await change.begin()
    change.texts.error = DependencyDown()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(filler.run(), 0.2)
    assert change.generations.active.model == change.parts.vectors.model
    change.texts.error = None
    await asyncio.wait_for(filler.run(), 10)
    assert await change.vectors.count() == COUNT


async def test_a_text_that_the_next_model_alone_refuses_is_left_out_and_served_until_then(
    change: Change,
) -> None:
    filler = await change.begin()
    change.texts.refused = "heron7"
    change.parts.episodes.add("d", "another heron7")
    assert await change.indexer.index(TENANT, AGENT, [_item("d", 1)]) == [""]
    await asyncio.wait_for(filler.run(), 10)
    assert await change.vectors.count() == COUNT - 1
    assert await change.parts.vectors.count() == COUNT + 1


async def test_texts_that_must_not_leave_for_the_next_model_stay_and_are_indexed_by_the_present_one(
    change: Change,
) -> None:
    """S-15: nor do they hold up the switch for others."""
    filler = await change.begin()
    change.texts.error = DataFlowRefused()
    change.parts.episodes.add("d", "another heron")
    assert await change.indexer.index(TENANT, AGENT, [_item("d", 1)]) == [""]
    await asyncio.wait_for(filler.run(), 10)
    assert await change.vectors.count() == 0
    assert change.generations.active.model == NEXT


async def test_what_is_not_whole_is_not_switched_from(change: Change) -> None:
    """SV-2: what the present index lacks would be missing in the next one."""
    filler = await change.begin()
    await change.parts.items.set_whole(False)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(filler.run(), 0.2)
    await change.parts.items.set_whole(True)
    await asyncio.wait_for(filler.run(), 10)
    assert change.generations.active.model == NEXT


async def test_writes_go_to_the_former_vectors_until_every_replica_has_followed(change: Change) -> None:
    filler = await change.begin()
    run = asyncio.ensure_future(filler.run())
    async with asyncio.timeout(10):
        while change.generations.former is None:  # noqa: ASYNC110 - nobody tells of it
            await asyncio.sleep(0)
    change.parts.episodes.add("d", "another heron")
    assert await change.indexer.index(TENANT, AGENT, [_item("d", 1)]) == [""]
    await run
    change.parts.episodes.add("e", "a last heron")
    assert await change.indexer.index(TENANT, AGENT, [_item("e", 1)]) == [""]
    assert await change.vectors.count() == COUNT + 2
    assert await change.parts.vectors.count() == COUNT + 1


async def test_a_former_model_that_is_gone_holds_up_no_write(change: Change) -> None:
    """The embedder may have been started without it."""
    filler = await change.begin()
    run = asyncio.ensure_future(filler.run())
    async with asyncio.timeout(10):
        while change.generations.former is None:  # noqa: ASYNC110 - nobody tells of it
            await asyncio.sleep(0)
    change.parts.texts.down = True
    await change.parts.vectors.close()
    change.parts.episodes.add("d", "another heron")
    memory = await change.parts.remember("bird", "a heron")
    assert await change.indexer.index(TENANT, AGENT, [_item("d", 1)]) == [""]
    assert await change.indexer.index(TENANT, AGENT, [MemoryItem(memory_id=memory.id)]) == [""]
    run.cancel()
    assert await change.vectors.count() == COUNT + 2


async def test_a_replica_follows_what_another_one_did(change: Change) -> None:
    await change.begin()
    replica = change.replica()
    await change.models.abandon(NEXT, change.parts.now)
    await replica.register()
    assert change.generations.active.model == NEXT
    assert change.generations.former is not None


def _item(conversation_id: str, sequence: int) -> MessageItem:
    return MessageItem(conversation_id=conversation_id, sequence=sequence)
