"""Reflections, goals, learnings and runs of consolidation: the suites of their stores (SPEC J-10, J-11)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from services.compactor.adapters.sql.consolidations import KEPT, SqlConsolidations
from services.compactor.adapters.sql.documents import SqlDocuments
from services.compactor.adapters.sql.insights import SqlInsights, SqlSummaries
from services.compactor.app.reflection import InsightQuery
from services.compactor.domain.consolidation import Merge, Outcome, Run
from services.compactor.domain.documents import Draft as DocumentDraft
from services.compactor.domain.documents import Head, attractor_key, summary_key
from services.compactor.domain.insights import Change, Draft, GoalState, Kind
from services.kit.errors import InvalidField, VersionConflict
from services.kit.sql import SqlDatabase, fetch

NOW = datetime(2031, 5, 4, 3, tzinfo=UTC)
HOUR = timedelta(hours=1)
TENANT, AGENT = "acme", "ada"
RACERS = 16
Pair = tuple[SqlDatabase, SqlDatabase]


@pytest.fixture
def insights(compactor_sql: SqlDatabase) -> SqlInsights:
    return SqlInsights(compactor_sql)


@pytest.fixture
def runs(compactor_sql: SqlDatabase) -> SqlConsolidations:
    return SqlConsolidations(compactor_sql)


def draft(slug: str = "marathon", **fields: Any) -> Draft:
    values: dict[str, Any] = {
        "kind": Kind.GOAL,
        "contact_id": "ann",
        "slug": slug,
        "topic": slug,
        "text": f"Wants: {slug}",
        "day": "2031-05-03",
        "state": GoalState.OPEN,
        "provenance": (("c", "m1"),),
        "source_ids": ("memory-1",),
    } | fields
    return Draft(**values)


def query(kind: Kind = Kind.GOAL, **fields: Any) -> InsightQuery:
    return InsightQuery(kind=kind, **fields)


# Insights


async def test_what_was_found_is_a_row(insights: SqlInsights) -> None:
    """J-11."""
    (row,) = await insights.put(TENANT, AGENT, [draft()], NOW)
    assert (row.kind, row.contact_id, row.state, row.text) == (
        Kind.GOAL,
        "ann",
        GoalState.OPEN,
        "Wants: marathon",
    )
    assert (row.provenance, row.source_ids) == ((("c", "m1"),), ("memory-1",))
    assert (row.memory_id, row.kept, row.revision, row.created) == ("", False, 1, NOW)
    assert await insights.get(TENANT, AGENT, row.id) == row
    assert await insights.get(TENANT, "bea", row.id) is None
    assert await insights.get("other", AGENT, row.id) is None


async def test_the_same_again_is_one_row(insights: SqlInsights) -> None:
    (first,) = await insights.put(TENANT, AGENT, [draft()], NOW)
    assert await insights.put(TENANT, AGENT, [draft()], NOW + HOUR) == [first]
    more = draft(provenance=(("c", "m2"),), state=GoalState.ACHIEVED)
    (now,) = await insights.put(TENANT, AGENT, [more], NOW + HOUR)
    assert (now.id, now.state, now.revision, now.updated) == (first.id, GoalState.ACHIEVED, 2, NOW + HOUR)
    assert now.provenance == (("c", "m1"), ("c", "m2"))
    assert await insights.page(TENANT, AGENT, query()) == [now]


async def test_another_contact_or_kind_has_rows_of_its_own(insights: SqlInsights) -> None:
    rows = await insights.put(
        TENANT,
        AGENT,
        [draft(), draft(contact_id="bob"), draft(kind=Kind.LEARNING, state=GoalState.NONE)],
        NOW,
    )
    assert len({row.id for row in rows}) == 3
    assert {row.contact_id for row in await insights.page(TENANT, AGENT, query())} == {"ann", "bob"}
    (bobs,) = await insights.page(TENANT, AGENT, query(contact_id="bob"))
    assert bobs.contact_id == "bob"
    assert len(await insights.page(TENANT, AGENT, query(Kind.LEARNING))) == 1


async def test_pages_are_newest_first_and_by_state(insights: SqlInsights) -> None:
    for number in range(5):
        state = GoalState.DROPPED if number % 2 else GoalState.OPEN
        await insights.put(TENANT, AGENT, [draft(f"g{number}", state=state)], NOW)
    everything = await insights.page(TENANT, AGENT, query())
    assert sorted(row.slug for row in everything) == ["g0", "g1", "g2", "g3", "g4"]
    assert [row.id for row in everything] == sorted((row.id for row in everything), reverse=True)
    assert await insights.page(TENANT, AGENT, query(limit=2, before=everything[1].id)) == everything[2:4]
    open_ones = await insights.page(TENANT, AGENT, query(states=frozenset({GoalState.OPEN})))
    assert open_ones == [row for row in everything if row.state is GoalState.OPEN]
    assert len(open_ones) == 3


async def test_a_change_sticks(insights: SqlInsights) -> None:
    """J-11: a user's update is not overwritten."""
    (row,) = await insights.put(TENANT, AGENT, [draft()], NOW)
    change = Change(state=GoalState.DROPPED, text="Run", expected_revision=1)
    changed = await insights.update(TENANT, AGENT, row.id, change, NOW + HOUR)
    assert changed is not None
    assert (changed.state, changed.text, changed.kept, changed.revision) == (
        GoalState.DROPPED,
        "Run",
        True,
        2,
    )
    (later,) = await insights.put(TENANT, AGENT, [draft(provenance=(("c", "m9"),))], NOW + HOUR)
    assert (later.state, later.text, later.revision) == (GoalState.DROPPED, "Run", 3)
    with pytest.raises(VersionConflict):
        await insights.update(TENANT, AGENT, row.id, change, NOW + HOUR)
    with pytest.raises(InvalidField):
        await insights.update(TENANT, AGENT, row.id, Change(text=""), NOW + HOUR)
    assert await insights.update(TENANT, "bea", row.id, Change(text="x"), NOW) is None


async def test_of_many_changes_that_expect_the_same_revision_one_counts(compactor_sql_pair: Pair) -> None:
    stores = [SqlInsights(database) for database in compactor_sql_pair]
    (row,) = await stores[0].put(TENANT, AGENT, [draft()], NOW)
    outcomes = await asyncio.gather(
        *(
            stores[n % 2].update(TENANT, AGENT, row.id, Change(text=f"t{n}", expected_revision=1), NOW)
            for n in range(RACERS)
        ),
        return_exceptions=True,
    )
    assert sum(isinstance(one, VersionConflict) for one in outcomes) == RACERS - 1


async def test_many_who_find_the_same_write_one_row(compactor_sql_pair: Pair) -> None:
    stores = [SqlInsights(database) for database in compactor_sql_pair]
    found = [draft(slug) for slug in ("a", "b", "c")]
    await asyncio.gather(
        *(stores[n % 2].put(TENANT, AGENT, found if n % 3 else found[::-1], NOW) for n in range(RACERS))
    )
    assert len(await stores[0].page(TENANT, AGENT, query())) == 3


async def test_the_memory_that_tells_of_it_is_named(insights: SqlInsights) -> None:
    (row,) = await insights.put(TENANT, AGENT, [draft(kind=Kind.REFLECTION, state=GoalState.NONE)], NOW)
    await insights.set_memory(TENANT, AGENT, row.id, "memory-9")
    assert await insights.get(TENANT, AGENT, row.id) == replace(row, memory_id="memory-9")


async def test_sources_are_kept_by_what_may_be_erased(compactor_sql: SqlDatabase) -> None:
    """SV-7, D-2."""
    (row,) = await SqlInsights(compactor_sql).put(TENANT, AGENT, [draft()], NOW)
    rows = await compactor_sql.read(
        lambda: fetch("SELECT source_id, insight_id FROM insight_sources ORDER BY source_id")
    )
    assert [(one["source_id"], one["insight_id"]) for one in rows] == [("c/m1", row.id), ("memory-1", row.id)]


async def test_summaries_that_changed_since_are_found(compactor_sql: SqlDatabase) -> None:
    documents, summaries = SqlDocuments(compactor_sql), SqlSummaries(compactor_sql)
    body = DocumentDraft(body={"a": 1}, engine="x")
    await documents.put(summary_key(TENANT, AGENT, "old"), body, Head(), NOW - HOUR)
    await documents.put(summary_key(TENANT, AGENT, "new"), body, Head(), NOW)
    await documents.put(attractor_key(TENANT, AGENT), body, Head(), NOW)
    await documents.put(summary_key(TENANT, "bea", "hers"), body, Head(), NOW)
    assert await summaries.changed(TENANT, AGENT, NOW) == ["new"]


# Runs


def begun(id_: str = "r1", **fields: Any) -> Run:
    values: dict[str, Any] = {"id": id_, "agent_id": AGENT, "dry": False, "created": NOW} | fields
    return Run(**values)


MERGE = Merge(
    memory_id="new",
    members=(("a", 1), ("b", 3)),
    contact_id="ann",
    key="k",
    cosine=0.9,
    outcome=Outcome.MERGED,
)


async def test_a_run_is_begun_once_and_kept_whole(runs: SqlConsolidations) -> None:
    """J-10."""
    assert await runs.start(TENANT, begun()) == begun()
    done = begun(
        finished=NOW + HOUR,
        undone=NOW + 2 * HOUR,
        planned=True,
        compared=30,
        decayed=4,
        restored=2,
        merges=(MERGE, replace(MERGE, memory_id="n2", outcome=Outcome.KEPT)),
    )
    await runs.save(TENANT, done)
    assert await runs.get(TENANT, AGENT, "r1") == done
    assert await runs.start(TENANT, begun(created=NOW + HOUR)) == done, "a job that runs again finds it"
    assert await runs.get(TENANT, "bea", "r1") is None
    assert await runs.get("other", AGENT, "r1") is None


async def test_the_first_plan_of_a_run_stays_and_an_end_is_not_taken_back(runs: SqlConsolidations) -> None:
    """J-2: a worker that was taken over goes on with the other one's plan, and undoes none of its word."""
    run = await runs.start(TENANT, begun())
    first = replace(run, planned=True, merges=(MERGE,))
    assert await runs.settle(TENANT, first) == first
    late = replace(run, planned=True, merges=(replace(MERGE, memory_id="n2"),))
    assert await runs.settle(TENANT, late) == first
    done = replace(first, finished=NOW + HOUR)
    await runs.save(TENANT, done)
    await runs.save(TENANT, replace(first, merges=()))
    assert await runs.get(TENANT, AGENT, "r1") == done
    undone = replace(done, undone=NOW + 2 * HOUR)
    await runs.save(TENANT, undone)
    assert await runs.get(TENANT, AGENT, "r1") == undone


async def test_runs_are_listed_newest_first(runs: SqlConsolidations) -> None:
    for number in range(4):
        await runs.start(TENANT, begun(f"r{number}"))
    assert [run.id for run in await runs.page(TENANT, AGENT, None, 2)] == ["r3", "r2"]
    assert [run.id for run in await runs.page(TENANT, AGENT, "r2", 9)] == ["r1", "r0"]


async def test_old_runs_that_changed_nothing_go(runs: SqlConsolidations) -> None:
    """J-15; what can be taken back stays."""
    done: dict[str, Any] = {"finished": NOW, "planned": True}
    kept = {
        "merged": begun("merged", merges=(MERGE,), **done),
        "decayed": begun("decayed", decayed=1, **done),
    }
    gone = [begun("empty", **done), begun("dry", dry=True, merges=(MERGE,), **done)]
    for run in [*kept.values(), *gone]:
        await runs.start(TENANT, run)
    await runs.start(TENANT, begun("last", created=NOW + KEPT))
    assert len(await runs.page(TENANT, AGENT, None, 9)) == 5, "they are not old enough"
    await runs.start(TENANT, begun("next", created=NOW + KEPT + HOUR))
    left = {run.id for run in await runs.page(TENANT, AGENT, None, 9)}
    assert left == {*kept, "last", "next"}


async def test_summaries_that_changed_are_given_newest_first(compactor_sql: SqlDatabase) -> None:
    """J-11: of more than are read, the newest are."""
    documents, summaries = SqlDocuments(compactor_sql), SqlSummaries(compactor_sql)
    body = DocumentDraft(body={"a": 1}, engine="x")
    for place, name in enumerate(["b", "c", "a"]):
        await documents.put(summary_key(TENANT, AGENT, name), body, Head(), NOW + place * HOUR)
    assert await summaries.changed(TENANT, AGENT, NOW) == ["a", "c", "b"]
