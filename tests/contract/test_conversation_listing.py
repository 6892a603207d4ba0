"""Conversations that changed since a moment, where an agent has very many (SPEC E-13)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from services.kit.sql import Row, Script, SqlDatabase, execute, fetch
from services.kit.sqlite import SqliteScripts
from services.memory.episodic.adapters.sql import sql_stores
from services.memory.episodic.adapters.sql.conversations import HOUR, MOST_SORTED, listing
from services.memory.episodic.app.ports import Stores
from services.memory.episodic.domain.coverage import CoverRules
from services.memory.episodic.domain.model import Agent, Conversation, ConversationFilter

RULES = CoverRules(uncovered_messages=25, uncovered_tokens=None, fold_tokens=960)
MOMENT = 5 * HOUR + HOUR // 2
SINCE = ConversationFilter(changed_since=MOMENT)


@pytest.fixture
async def stores(episodic_sql: SqlDatabase) -> Stores:
    made = await sql_stores(episodic_sql, rules=RULES, max_bytes=2000)
    await made.agents.create("t", Agent(id="a", display_name="", system_prompt="", create_time=1))
    return made


def in_order(number: int) -> str:
    return f"c{number:04}"


@pytest.mark.parametrize("changed", [MOST_SORTED, MOST_SORTED + 1])
async def test_pages_are_the_same_however_many_changed(
    stores: Stores, episodic_sql: SqlDatabase, changed: int
) -> None:
    """Each once and in the order of creation, whatever the order in which they changed."""

    def fill() -> Script[None]:
        for number in range(changed + 10):
            time = MOMENT + (number * 7919) % 1000 * (HOUR // 100)
            if number % 100 == 7 and number < 1000:  # in that hour, but before
                time = MOMENT - 1
            yield from execute(
                "INSERT INTO conversations"
                " (tenant, agent_id, id, contact_id, title, create_time, update_time)"
                " VALUES ('t', 'a', ?, '', '', 1, ?)",
                in_order(number),
                time,
            )

    await episodic_sql.write(fill)
    expected = [in_order(n) for n in range(changed + 10) if not (n % 100 == 7 and n < 1000)]
    assert len(expected) == changed
    for newest_first in (False, True):
        found: list[str] = []
        after = None
        while True:
            page = await stores.conversations.list(
                "t", "a", SINCE, newest_first=newest_first, limit=300, after=after
            )
            found += [one.id for one in page.items]
            if (after := page.last) is None:
                break
        assert found == (expected[::-1] if newest_first else expected)


@pytest.mark.parametrize("newest_first", [False, True])
@pytest.mark.parametrize("after", [None, 4])
async def test_sqlite_finds_what_changed_by_its_index(
    stores: Stores, episodic_sql: SqlDatabase, newest_first: bool, after: int | None
) -> None:
    """It would look at every conversation of the agent otherwise."""
    await stores.conversations.create(
        "t", Conversation(id="c", agent_id="a", contact_id="", title="", create_time=1, update_time=1)
    )
    if not isinstance(episodic_sql, SqliteScripts):
        pytest.skip("PostgreSQL decides by what the table holds")
    listed = await episodic_sql.read(lambda: _plans(newest_first, after))
    assert len(listed) == 2, "how many changed, and which"
    assert all("INDEX conversations_by_change" in plan[0] for plan in listed), listed


def _plans(newest_first: bool, after: int | None) -> Script[list[list[str]]]:
    """Of all statements over conversations, which find nothing."""
    script, plans = listing("t", "a", SINCE, newest_first, 9, after), list[list[str]]()
    statement = next(script)
    while True:
        rows: Sequence[Row] = []
        if "FROM conversations" in statement.text:
            plan = yield from fetch(f"EXPLAIN QUERY PLAN {statement.text}", *statement.arguments)
            plans.append([row["detail"] for row in plan])
        else:
            rows = yield from fetch(statement.text, *statement.arguments)
        try:
            statement = script.send(rows)
        except StopIteration:
            return plans
