"""What a changed source leaves in the outbox, and what is marked with it (SPEC J-17, SV-5)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from services.compactor.adapters.kv_memory import MemoryKv
from services.compactor.adapters.sql.documents import SqlDocuments
from services.compactor.adapters.sql.insights import SqlInsights
from services.compactor.app.document_copies import KvRules
from services.compactor.app.documents import Documents
from services.compactor.app.reflection import InsightQuery
from services.compactor.app.refreshing import Refreshing, derive_again
from services.compactor.domain.documents import Kind as DocumentKind
from services.compactor.domain.documents import attractor_key, summary_key, wiki_key
from services.compactor.domain.insights import Change, Draft, GoalState, Insight, Kind
from services.kit.errors import DependencyDown
from services.kit.sql import SqlDatabase, fetch
from tests.contract.document_parts import AGENT, ATTRACTOR, SUMMARY, TENANT, draft

NOW = datetime(2031, 5, 4, 12, tzinfo=UTC)
UNTIL = datetime(2031, 5, 4, 3, tzinfo=UTC)
DAY = "2031-05-03"
HOUR = timedelta(hours=1)


async def outbox(database: SqlDatabase) -> list[tuple[str, str, dict[str, Any]]]:
    """Type, key and payload of each row, in order of writing."""
    rows = await database.read(lambda: fetch("SELECT type, key, payload FROM outbox ORDER BY id"))
    return [(row["type"], row["key"], json.loads(row["payload"])) for row in rows]


# Documents


@pytest.fixture
def documents(compactor_sql: SqlDatabase) -> SqlDocuments:
    return SqlDocuments(compactor_sql)


async def test_a_mark_and_its_job_are_one_change(documents: SqlDocuments, compactor_sql: SqlDatabase) -> None:
    """J-17: each mark has a key of its own; what is not there is not marked and asks for nothing."""
    assert await documents.mark_stale(SUMMARY, derive_again) is None
    assert await outbox(compactor_sql) == []
    head = await documents.head(SUMMARY)
    await documents.put(SUMMARY, draft(), head, NOW)
    first = await documents.mark_stale(SUMMARY, derive_again)
    second = await documents.mark_stale(SUMMARY, derive_again)
    assert first is not None
    assert second is not None
    assert [(type_, key) for type_, key, _ in await outbox(compactor_sql)] == [
        ("refresh_summary", f"refresh_summary/{AGENT}/c1/stale/{first.revision}"),
        ("refresh_summary", f"refresh_summary/{AGENT}/c1/stale/{second.revision}"),
    ]


async def test_an_erasure_has_its_jobs_where_there_was_something(
    documents: SqlDocuments, compactor_sql: SqlDatabase
) -> None:
    await documents.erase(SUMMARY, derive_again)
    assert await outbox(compactor_sql) == []
    await documents.put(SUMMARY, draft(), await documents.head(SUMMARY), NOW)
    await documents.erase(SUMMARY, derive_again)
    await documents.erase(SUMMARY, derive_again)
    assert [type_ for type_, _, _ in await outbox(compactor_sql)] == ["refresh_summary"]


async def test_what_came_from_a_summary_is_found_whichever_version_it_was(documents: SqlDocuments) -> None:
    """SV-7: and nothing that came from one whose name begins alike."""
    wiki, other = wiki_key(TENANT, AGENT, "b1"), wiki_key(TENANT, AGENT, "b2")
    for key, sources in (
        (ATTRACTOR, ("c1", "c9")),
        (wiki, ("c1@3", "c9@1")),
        (other, ("c10@1", "c1x@1", "c@1")),
    ):
        await documents.put(key, draft(source_ids=sources), await documents.head(key), NOW)
    theirs = attractor_key("other", AGENT)
    await documents.put(theirs, draft(source_ids=("c1",)), await documents.head(theirs), NOW)
    assert await documents.of_summary(TENANT, AGENT, "c1") == [ATTRACTOR, wiki]
    assert await documents.of_summary(TENANT, AGENT, "c10") == [other]
    assert await documents.of_summary(TENANT, "bea", "c1") == []


async def test_what_is_made_of_something_stale_is_stale_from_its_beginning(documents: SqlDocuments) -> None:
    await documents.put(SUMMARY, draft(), await documents.head(SUMMARY), NOW)
    assert await documents.stale(TENANT, AGENT, DocumentKind.SUMMARY) == set()
    await documents.mark_stale(SUMMARY)
    assert await documents.stale(TENANT, AGENT, DocumentKind.SUMMARY) == {"c1"}
    assert await documents.stale(TENANT, AGENT, DocumentKind.WIKI) == set()
    await documents.put(ATTRACTOR, replace(draft(), stale=True), await documents.head(ATTRACTOR), NOW)
    assert (await documents.head(ATTRACTOR)).stale
    await documents.put(ATTRACTOR, draft(2), await documents.head(ATTRACTOR), NOW + HOUR)
    assert not (await documents.head(ATTRACTOR)).stale


# Insights


@pytest.fixture
def insights(compactor_sql: SqlDatabase) -> SqlInsights:
    return SqlInsights(compactor_sql)


def found(slug: str, sources: Sequence[str], kind: Kind = Kind.LEARNING, **fields: Any) -> Draft:
    values: dict[str, Any] = {
        "kind": kind,
        "contact_id": "ann",
        "slug": slug,
        "topic": slug,
        "text": f"On {slug}",
        "day": DAY,
        "asked": UNTIL,
        "state": GoalState.OPEN if kind is Kind.GOAL else GoalState.NONE,
        "provenance": (("c", f"of-{slug}"),),
        "source_ids": tuple(sources),
    } | fields
    return Draft(**values)


async def stale(insights: SqlInsights) -> set[str]:
    return {row.slug for row in await insights.stale(TENANT, AGENT, DAY)}


async def test_what_came_from_a_source_is_marked_and_its_day_asked_for(
    insights: SqlInsights, compactor_sql: SqlDatabase
) -> None:
    """J-17: by memory, message or summary; one job a day; nobody else's rows."""
    drafts = [found("soil", ["m1"]), found("bees", ["m2", "summary/c"]), found("kiln", ["m3"])]
    await insights.put(TENANT, AGENT, drafts, NOW)
    await insights.put("other", AGENT, [found("soil", ["m1"])], NOW)
    assert await insights.mark_stale(TENANT, AGENT, ["m1", "summary/c", "unknown"]) == 2
    assert await stale(insights) == {"soil", "bees"}
    assert await insights.stale("other", AGENT, DAY) == []
    ((type_, key, payload),) = await outbox(compactor_sql)
    assert type_ == "reflect_agent"
    assert key.startswith(f"reflect_agent/{AGENT}/again/{DAY}/")
    assert payload == {"day": UNTIL.isoformat(), "again": True}
    assert await insights.mark_stale(TENANT, AGENT, ["c/of-kiln"], again=False) == 1
    assert await stale(insights) == {"soil", "bees", "kiln"}
    assert len(await outbox(compactor_sql)) == 1
    assert await insights.mark_stale(TENANT, AGENT, ["unknown"]) == 0
    assert await insights.mark_stale(TENANT, AGENT, []) == 0


async def test_a_goal_outlives_a_memory_that_held_for_a_while(insights: SqlInsights) -> None:
    """J-11: whether it was reached is said by another."""
    await insights.put(TENANT, AGENT, [found("run", ["m1"], Kind.GOAL), found("soil", ["m1"])], NOW)
    await insights.mark_stale(TENANT, AGENT, ["m1"], goals=False)
    assert await stale(insights) == {"soil"}
    await insights.mark_stale(TENANT, AGENT, ["m1"])
    assert await stale(insights) == {"soil", "run"}


async def test_what_a_caller_changed_is_left_unless_a_source_was_erased(insights: SqlInsights) -> None:
    """J-11, D-2."""
    (row,) = await insights.put(TENANT, AGENT, [found("soil", ["m1"])], NOW)
    await insights.update(TENANT, AGENT, row.id, Change(text="Mine."), NOW)
    assert await insights.mark_stale(TENANT, AGENT, ["m1"]) == 0
    assert await stale(insights) == set()
    assert await insights.mark_stale(TENANT, AGENT, ["m1"], erased=True) == 1
    [seen] = await insights.stale(TENANT, AGENT, DAY)
    [left] = await insights.settle(TENANT, [(seen, None)], NOW + HOUR)
    assert (left.text, left.stale, left.provenance, left.source_ids) == ("Mine.", 0, (), ())


async def settled(insights: SqlInsights, draft: Draft | None) -> list[Insight]:
    [seen] = await insights.stale(TENANT, AGENT, DAY)
    return await insights.settle(TENANT, [(seen, draft)], NOW + HOUR)


async def test_a_stale_row_comes_from_nothing_but_what_is_found_now(insights: SqlInsights) -> None:
    (row,) = await insights.put(TENANT, AGENT, [found("soil", ["m1", "m2"])], NOW)
    await insights.mark_stale(TENANT, AGENT, ["m1"])
    [again] = await settled(insights, found("soil", ["m2"], text="On clay"))
    assert (again.id, again.text, again.source_ids, again.stale) == (row.id, "On clay", ("m2",), 0)
    assert again.revision == row.revision + 1
    assert await insights.mark_stale(TENANT, AGENT, ["m1"]) == 0, "it came from m1 no more"
    assert await insights.mark_stale(TENANT, AGENT, ["m2"]) == 1


async def test_a_stale_row_that_nothing_tells_of_goes(insights: SqlInsights) -> None:
    (row,) = await insights.put(TENANT, AGENT, [found("soil", ["m1"])], NOW)
    await insights.mark_stale(TENANT, AGENT, ["m1"])
    assert await settled(insights, None) == []
    assert await insights.get(TENANT, AGENT, row.id) is None
    assert await insights.mark_stale(TENANT, AGENT, ["m1"]) == 0


@pytest.mark.parametrize("draft", [None, found("soil", ["m2"])])
async def test_a_row_that_was_marked_again_meanwhile_stays_stale(
    insights: SqlInsights, draft: Draft | None
) -> None:
    """What was read before the second change may not know of it."""
    await insights.put(TENANT, AGENT, [found("soil", ["m1", "m2"])], NOW)
    await insights.mark_stale(TENANT, AGENT, ["m1"])
    [seen] = await insights.stale(TENANT, AGENT, DAY)
    await insights.mark_stale(TENANT, AGENT, ["m2"])
    await insights.settle(TENANT, [(seen, draft)], NOW + HOUR)
    assert await stale(insights) == {"soil"}


async def test_an_ordinary_reflection_takes_no_mark_away(insights: SqlInsights) -> None:
    """It looks at another day, or did not know."""
    await insights.put(TENANT, AGENT, [found("soil", ["m1"])], NOW)
    await insights.mark_stale(TENANT, AGENT, ["m1"])
    await insights.put(TENANT, AGENT, [found("soil", ["m9"])], NOW + HOUR)
    assert await stale(insights) == {"soil"}
    [row] = await insights.page(TENANT, AGENT, InsightQuery(kind=Kind.LEARNING))
    assert row.until == UNTIL


# Dying in between


class Dying:
    """A database that fails at its n-th write from now on, before or after that is committed."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database
        self.left = -1
        self.committed = False

    async def read(self, script: Any) -> Any:
        return await self._database.read(script)

    async def write(self, script: Any) -> Any:
        self.left -= 1
        if self.left == 0 and not self.committed:
            raise DependencyDown
        made = await self._database.write(script)
        if self.left == 0:
            raise DependencyDown
        return made


class NoMerges:
    async def undo_merge(self, tenant: str, agent_id: str, memory_id: str) -> None:
        raise AssertionError(memory_id)


@pytest.mark.parametrize("committed", [False, True])
async def test_wherever_the_job_dies_what_is_stale_has_a_job_and_the_next_attempt_ends_the_same(
    compactor_sql: SqlDatabase, committed: bool
) -> None:
    """J-2, J-17: a mark without a job would stay for good."""
    died = 0
    for place in range(1, 9):
        name = f"c{place}"
        dying = Dying(compactor_sql)
        store, rows = SqlDocuments(cast("SqlDatabase", dying)), SqlInsights(cast("SqlDatabase", dying))
        keys = [summary_key(TENANT, AGENT, name), wiki_key(TENANT, AGENT, name)]
        await store.put(keys[0], draft(source_ids=(f"{name}/m1",)), await store.head(keys[0]), NOW)
        await store.put(keys[1], draft(source_ids=(f"{name}@1",)), await store.head(keys[1]), NOW)
        await rows.put(
            TENANT, AGENT, [found(name, [f"{name}/m1"]), found(f"of-{name}", [f"summary/{name}"])], NOW
        )
        documents = Documents(store, MemoryKv(2**20), lambda: NOW, KvRules())
        refreshing = Refreshing(documents, rows, NoMerges(), lambda: None)
        dying.left, dying.committed = place, committed
        try:
            await refreshing.messages(TENANT, AGENT, name, ["m1"], erased=False)
        except DependencyDown:
            died += 1
        dying.left = -1
        asked = {key for _, key, _ in await outbox(compactor_sql)}
        for key in keys:
            head = await store.head(key)
            assert not head.stale or any(key_.endswith(f"{name}/stale/{head.revision}") for key_ in asked)
        await refreshing.messages(TENANT, AGENT, name, ["m1"], erased=False)
        assert [(await store.head(key)).stale for key in keys] == [True, True]
        assert {name, f"of-{name}"} <= await stale(rows)
        asked = {key for _, key, _ in await outbox(compactor_sql)}
        for key in keys:
            revision = (await store.head(key)).revision
            assert any(key_.endswith(f"{name}/stale/{revision}") for key_ in asked)
    assert 3 <= died < 8, "it died at every write that there is, and went through where there is none"
