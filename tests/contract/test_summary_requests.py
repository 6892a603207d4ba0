"""When Episodic asks for a rolling summary, on SQLite and PostgreSQL (SPEC E-8, J-6)."""

from __future__ import annotations

import json

import pytest

from services.kit.sql import SqlDatabase, fetch
from services.memory.episodic.app.ports import Stores
from tests.contract.history_parts import KEY, jobs, prepared, say, say_many

REFRESH, COVER = "refresh_summary", "cover_messages"


@pytest.fixture
async def stores(episodic_sql: SqlDatabase) -> Stores:
    return await prepared(episodic_sql)


async def reaches(database: SqlDatabase) -> list[int]:
    """Up to which message each job is to bring the summary."""
    rows = await database.read(
        lambda: fetch("SELECT payload FROM outbox WHERE tenant = ? AND type = ? ORDER BY id", "t", REFRESH)
    )
    return [json.loads(row["payload"])["to_sequence"] for row in rows]


async def test_whatever_asks_for_an_overlay_asks_for_the_summary(
    stores: Stores, episodic_sql: SqlDatabase
) -> None:
    """E-8: the 26th uncovered message does, and a window with an uncovered stretch."""
    await say_many(stores, 25)
    assert await jobs(episodic_sql, REFRESH) == []
    await say_many(stores, 1, start=26)
    assert len(await jobs(episodic_sql, COVER)) == len(await jobs(episodic_sql, REFRESH)) == 1
    await say_many(stores, 24, start=27)
    assert len(await jobs(episodic_sql, REFRESH)) == 1, "not with each message"
    await say_many(stores, 1, start=51)
    assert await reaches(episodic_sql) == [26, 51]
    assert len(set(await jobs(episodic_sql, REFRESH))) == 2


async def test_an_uncovered_stretch_of_a_window_asks_for_the_summary_too(
    stores: Stores, episodic_sql: SqlDatabase
) -> None:
    """E-7."""
    await say_many(stores, 12)
    await stores.history.request_cover(KEY)
    await stores.history.request_cover(KEY)
    assert len(await jobs(episodic_sql, COVER)) == 1
    assert await reaches(episodic_sql) == [12]


async def test_another_branch_asks_for_a_summary_of_it(stores: Stores, episodic_sql: SqlDatabase) -> None:
    """E-3: the one that there is speaks of the branch that was left."""
    await say(stores, "a1 a2 a3")
    assert await reaches(episodic_sql) == []
    await say(stores, "b2", after="a1", branch=True)
    assert await reaches(episodic_sql) == [4]
    await stores.history.switch(KEY, "a3", 10)
    await stores.history.switch(KEY, "b2", 11)
    await stores.history.switch(KEY, "b2", 12)
    assert await reaches(episodic_sql) == [4, 3, 4]
    assert len(set(await jobs(episodic_sql, REFRESH))) == 3
