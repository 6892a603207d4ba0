"""Memories in the order of an index, where a bucket may have very many (SPEC S-10, SV-2)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from services.kit.sql import Row, Script, SqlDatabase, fetch
from services.kit.sqlite import SqliteScripts
from services.memory.semantic.adapters.sql.memories_listing import STANDING_CANDIDATES, page, standing
from services.memory.semantic.app.ports import MemoryQuery
from services.memory.semantic.domain.memory import FactType, Kind
from tests.contract.memory_parts import AGENT, AGENT_WIDE, ANN, BOB, DAY, NOW, TENANT, Canonical

FACTS = frozenset({Kind.FACT})
MINUTE = timedelta(minutes=1)


@pytest.fixture
def canonical(semantic_sql_pair: tuple[SqlDatabase, SqlDatabase]) -> Canonical:
    return Canonical(semantic_sql_pair)


async def test_pages_go_through_all_buckets_in_order_of_writing(canonical: Canonical) -> None:
    """S-5: a person's memories and the agent's own, each once, and nobody else's."""
    for number in range(12):
        await canonical.remember(f"k{number}", f"v{number}", (ANN, AGENT_WIDE, BOB)[number % 3])
    listed: list[str] = []
    after = 0
    while found := await canonical.store.page(TENANT, MemoryQuery(scope=ANN, after=after, limit=3), NOW):
        assert len(found) <= 3
        listed += [memory.value for _, memory in found]
        after = found[-1][0]
    assert listed == [f"v{number}" for number in range(12) if number % 3 != 2]


async def test_pages_of_a_prefix_go_on_after_a_number_too(canonical: Canonical) -> None:
    for number in range(6):
        await canonical.remember(f"{'ab'[number % 2]}.{number}", f"v{number}", (ANN, AGENT_WIDE)[number // 3])
    first = await canonical.store.page(TENANT, MemoryQuery(scope=ANN, key_prefix="a.", limit=2), NOW)
    rest = MemoryQuery(scope=ANN, key_prefix="a.", after=first[-1][0], limit=2)
    values = [
        [memory.value for _, memory in found]
        for found in (first, await canonical.store.page(TENANT, rest, NOW))
    ]
    assert values == [["v0", "v2"], ["v4"]]


async def test_what_stands_is_pinned_or_the_latest_of_all_buckets_together(canonical: Canonical) -> None:
    """S-10."""
    await canonical.remember("old.pinned", "pinned", AGENT_WIDE, NOW - DAY, pinned=True)
    await canonical.remember("old", "old", ANN, NOW - DAY)
    used = (await canonical.remember("used", "used", AGENT_WIDE, NOW - DAY)).memory
    for number in range(STANDING_CANDIDATES - 2):
        await canonical.remember(
            f"k{number}", str(number), (ANN, AGENT_WIDE)[number % 2], NOW + MINUTE * number
        )
    later = NOW + DAY
    await canonical.store.count_access(TENANT, AGENT, [used.id], later)
    values = [memory.value for memory in await canonical.store.standing(TENANT, ANN, later)]
    latest = [str(number) for number in reversed(range(STANDING_CANDIDATES - 2))]
    assert values == ["pinned", "used", *latest]


async def test_lasting_agrees_with_the_domain(canonical: Canonical) -> None:
    """SV-2: what belongs in which class of an index; what is forgotten is not named."""
    ended = (await canonical.remember("a", "Oslo")).memory
    await canonical.remember("a", "Bergen")
    planned = (await canonical.remember("b", "soon", valid_to=NOW + DAY)).memory
    task = (await canonical.remember("c", "call", fact_type=FactType.TASK)).memory
    gone = (await canonical.remember("d", "gone")).memory
    await canonical.store.forget(TENANT, AGENT, gone.id)
    ids = [ended.id, planned.id, task.id, gone.id]
    for moment, expected in (
        (NOW, [False, True, True]),
        (NOW + 2 * DAY, [False, False, True]),
        (NOW + 9 * DAY, [False] * 3),
    ):
        found = await canonical.store.lasting(TENANT, AGENT, ids, moment)
        rows = await canonical.store.get(TENANT, AGENT, ids)
        assert [found.get(id_) for id_ in ids] == [*expected, None]
        assert found == {id_: memory.lasts(moment) for id_, memory in rows.items()}


@pytest.mark.parametrize(
    "listing",
    [
        lambda: standing(TENANT, ANN, NOW, FACTS, None),
        lambda: page(TENANT, MemoryQuery(scope=ANN), NOW),
    ],
    ids=["standing", "page"],
)
async def test_sqlite_reads_a_large_bucket_in_order(
    canonical: Canonical, listing: Callable[[], Script[object]]
) -> None:
    """It would sort all of it otherwise: for seconds, where it holds 200,000."""
    if not isinstance(canonical.database, SqliteScripts):
        pytest.skip("PostgreSQL decides by what the table holds")
    plan = await canonical.database.read(lambda: _plan_of(listing))
    assert any("INDEX memories_" in step for step in plan), plan
    assert not any("TEMP B-TREE" in step for step in plan), plan


def _plan_of(listing: Callable[[], Script[object]]) -> Script[list[str]]:
    """Of all its statements, which find nothing."""
    script, steps = listing(), list[str]()
    rows: list[Row] = []
    statement = next(script)
    while True:
        steps += [
            row["detail"]
            for row in (yield from fetch(f"EXPLAIN QUERY PLAN {statement.text}", *statement.arguments))
        ]
        try:
            statement = script.send(rows)
        except StopIteration:
            return steps
