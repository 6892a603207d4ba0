"""What is summarised and what is to be: the SummaryIndex over both engines (SPEC J-5, J-7)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import pytest

from services.compactor.adapters.sql.ledger import SqlLedger
from services.compactor.adapters.sql.summaries import SqlSummaryIndex
from services.compactor.domain.ledger import NewJob, succeeded
from services.kit.outbox import OutboxRow, SqlOutbox
from services.kit.sql import Script, SqlDatabase

T0 = datetime(2026, 1, 1, tzinfo=UTC)
LEASE = timedelta(seconds=60)
ROOT = "schedule/summarize/2026-01-01T00:00:00Z"
LEAST = 4
T = TypeVar("T")


class World:
    """A ledger with indexed conversations, and what the index asked for."""

    def __init__(self, database: SqlDatabase) -> None:
        self.index = SqlSummaryIndex(database)
        self._ledger = SqlLedger(database)
        self._outbox = SqlOutbox(database)

    async def indexed(self, conversation: str, count: int, agent: str = "a", tenant: str = "acme") -> None:
        """Messages up to that one are stored and indexed."""
        job = NewJob(
            type="index_message",
            agent_id=agent,
            subject="s",
            key=f"{agent}/{conversation}/{count}",
            payload=b'{"conversation_id":"%s","sequence":%d}' % (conversation.encode(), count),
        )
        await self._ledger.enqueue(tenant, [job], 5, T0)
        claimed = await self._ledger.claim("w", 64, LEASE, T0)
        await self._ledger.settle([succeeded(one) for one in claimed], T0)

    async def asked(self) -> list[OutboxRow]:
        """What was put into the outbox since the last look."""
        rows = await self._outbox.claim(1000)
        await self._outbox.settle(rows)
        return rows

    async def conversations(self) -> list[str]:
        """Those for which a summary was asked since the last look."""
        return sorted(
            str(row.job.payload["conversation_id"])
            for row in await self.asked()
            if row.job.type == "summarize_conversation"
        )


@pytest.fixture
def world(compactor_sql: SqlDatabase) -> World:
    return World(compactor_sql)


async def test_what_has_new_messages_and_enough_of_them_is_chosen(world: World) -> None:
    """J-5: each is its own job, of its own agent."""
    await world.indexed("enough", 4)
    await world.indexed("short", 3)
    await world.indexed("other", 9, agent="b")
    await world.indexed("foreign", 9, tenant="globex")
    batch = await world.index.choose("acme", LEAST, 20, ROOT, 0)
    assert (batch.chosen, batch.left) == (2, 0)
    rows = await world.asked()
    assert [(row.tenant, row.job.type, row.job.agent_id, row.job.payload) for row in rows] == [
        ("acme", "summarize_conversation", "a", {"conversation_id": "enough", "to_sequence": 4}),
        ("acme", "summarize_conversation", "b", {"conversation_id": "other", "to_sequence": 9}),
    ]


async def test_what_was_asked_for_or_summarised_is_not_chosen_until_more_is_said(world: World) -> None:
    await world.indexed("asked", 4)
    await world.indexed("done", 6)
    await world.index.record("acme", "a", "done", 6, [])
    await world.index.choose("acme", LEAST, 20, ROOT, 0)
    assert await world.conversations() == ["asked"]
    await world.index.choose("acme", LEAST, 20, ROOT, 0)
    assert await world.conversations() == []
    await world.indexed("asked", 5)
    await world.indexed("done", 7)
    await world.index.choose("acme", LEAST, 20, ROOT, 0)
    assert await world.conversations() == ["asked", "done"]


async def test_while_some_are_left_the_next_batch_is_asked_for(world: World) -> None:
    """J-5: at once, and it knows how many are left; the batches choose each conversation once."""
    for number in range(7):
        await world.indexed(f"c{number}", 4)
    chosen: list[str] = []
    for place, left in ((0, 4), (1, 1), (2, 0)):
        batch = await world.index.choose("acme", LEAST, 3, ROOT, place)
        rows = await world.asked()
        chosen += [str(row.job.payload["conversation_id"]) for row in rows[: batch.chosen]]
        following = [row.job for row in rows if row.job.type == "summarize_batch"]
        assert batch.left == left
        assert [(job.key, job.payload["left"]) for job in following] == (
            [(f"{ROOT}/{place + 1}", left)] if left else []
        )
    assert sorted(chosen) == [f"c{number}" for number in range(7)]


async def test_selectors_at_once_ask_for_each_conversation_once(
    compactor_sql_pair: tuple[SqlDatabase, SqlDatabase],
) -> None:
    worlds = [World(database) for database in compactor_sql_pair]
    for number in range(6):
        await worlds[0].indexed(f"c{number}", 4)
    batches = await asyncio.gather(
        *(world.index.choose("acme", LEAST, 4, f"{ROOT}/{n}", 0) for n, world in enumerate(worlds))
    )
    assert sum(batch.chosen for batch in batches) == 6
    assert await worlds[0].conversations() == [f"c{number}" for number in range(6)]


async def test_the_schedule_asks_for_a_batch_of_each_tenant(world: World) -> None:
    await world.indexed("c", 4)
    await world.indexed("c", 4, tenant="globex")
    await world.indexed("c", 4, tenant="system")
    assert await world.index.spread(ROOT) == 2
    rows = await world.asked()
    assert [(row.tenant, row.job.type, row.job.key) for row in rows] == [
        ("acme", "summarize_batch", f"{ROOT}/acme/0"),
        ("globex", "summarize_batch", f"{ROOT}/globex/0"),
    ]


class Counted:
    """A database that counts its transactions of writing."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database
        self.writes = 0

    async def write(self, script: Callable[[], Script[T]]) -> T:
        self.writes += 1
        return await self._database.write(script)

    async def read(self, script: Callable[[], Script[T]]) -> T:
        return await self._database.read(script)


async def test_many_tenants_are_asked_for_in_one_transaction(
    world: World, compactor_sql: SqlDatabase
) -> None:
    """J-5: however many there are, the selector is quick; done twice, it asks once."""
    for number in range(5):
        await world.indexed("c", 4, tenant=f"tenant{number}")
    counted = Counted(compactor_sql)
    assert await SqlSummaryIndex(counted).spread(ROOT) == 5
    assert counted.writes == 1
    assert len(await world.asked()) == 5


async def test_concepts_are_counted_over_the_agents_other_summaries(world: World) -> None:
    """J-7: tf-idf needs how many have each."""
    await world.index.record("acme", "a", "c1", 4, ["river barge", "grain quay"])
    await world.index.record("acme", "a", "c2", 4, ["river barge"])
    await world.index.record("acme", "b", "c3", 4, ["river barge"])
    corpus = await world.index.corpus("acme", "a", "c3", ["river barge", "grain quay", "oven"])
    assert corpus.summaries == 2
    assert corpus.having == {"river barge": 2, "grain quay": 1}
    assert (await world.index.corpus("acme", "a", "c2", ["river barge"])).having == {"river barge": 1}

    await world.index.record("acme", "a", "c1", 6, ["oven"])
    again = await world.index.corpus("acme", "a", "c3", ["river barge", "oven"])
    assert (again.summaries, again.having) == (2, {"river barge": 1, "oven": 1})
    await world.index.forget("acme", "a", "c1")
    left = await world.index.corpus("acme", "a", "c3", ["oven"])
    assert (left.summaries, left.having) == (1, {})
