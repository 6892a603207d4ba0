"""An attractor follows its summaries, over real stores (SPEC J-12, K-2, K-3)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from services.compactor.adapters.own_outbox import OwnLedger
from services.compactor.adapters.sql.ledger import SqlLedger
from services.compactor.app.attractors import UPDATE_ATTRACTOR, UpdateRules, follow_up, within_bytes
from services.compactor.app.basins import compared
from services.compactor.app.documents import Choice
from services.compactor.app.ports import Failed, Query, Reach
from services.compactor.app.wake import LocalWake
from services.compactor.bootstrap import make_worker
from services.compactor.config import CompactorSettings
from services.compactor.domain.attractor import MAX_IDS_BYTES, ChangeKind
from services.compactor.domain.attractor_document import ENGINE
from services.compactor.domain.documents import Draft, attractor_key, summary_key
from services.kit.errors import DependencyDown, NotFound
from services.kit.outbox import Relay
from tests.integration.attractor_world import AttractorWorld
from tests.integration.document_world import AGENT, TENANT, world
from tests.unit.attractor_parts import point, theme

KEY = attractor_key(TENANT, AGENT)
DUE = b'{"due":true}'
SUMMARY = b'{"conversation_id":"c0"}'


@pytest.fixture
async def made(tmp_path: Path) -> AsyncIterator[AttractorWorld]:
    async with world(tmp_path) as documents:
        yield AttractorWorld(documents)


def basins(document: Any) -> dict[str, str]:
    return {basin["label"]: basin["id"] for basin in document.body["basins"]}


async def test_without_summaries_there_is_nothing_and_the_job_says_so(made: AttractorWorld) -> None:
    assert await made.said(DUE) == "no_summaries"
    assert not (await made.documents.head(KEY)).present


async def test_all_jobs_of_a_call_are_one_update(made: AttractorWorld) -> None:
    await made.tell("garden", "database", "garden", "database")
    assert await made.said(SUMMARY, SUMMARY, DUE) == "attractor/1"
    document = await made.newest()
    assert document.engine == ENGINE
    assert document.source_ids == ("c0", "c1", "c2", "c3")
    assert basins(document) == {"garden": "b1", "database": "b2"}
    assert [visit["time"][:10] for visit in document.body["trajectory"]] == [
        f"2026-01-0{day}" for day in range(1, 5)
    ]


async def test_done_twice_it_writes_once(made: AttractorWorld) -> None:
    await made.tell("garden", "garden")
    assert await made.said(DUE) == "attractor/1"
    assert await made.said(DUE) == "unchanged/1"
    assert len(made.embedder.embedded) == 2


async def test_a_summary_that_changed_is_embedded_alone(made: AttractorWorld) -> None:
    await made.tell("garden", "garden", "database", "database")
    await made.said(DUE)
    made.embedder.embedded.clear()
    await made.summarise("c1", "database", day=9)
    assert await made.said(DUE) == "attractor/2"
    assert made.embedder.embedded == ["About database. database"]
    assert basins(await made.newest()) == {"database": "b2", "garden": "b1"}
    assert (await made.newest()).source_ids == ("c0", "c2", "c3", "c1")


async def test_a_stale_attractor_is_derived_again(made: AttractorWorld) -> None:
    """SPEC J-17."""
    await made.tell("garden", "garden")
    await made.said(DUE)
    assert await made.documents.mark(await made.documents.of_sources(TENANT, AGENT, ["c1"])) == [KEY]
    assert await made.said(DUE) == "attractor/2"
    assert not (await made.documents.head(KEY)).stale


async def test_an_erased_conversation_leaves(made: AttractorWorld) -> None:
    """SPEC D-2."""
    await made.tell("garden", "garden", "database", "database")
    await made.said(DUE)
    for conversation in ("c2", "c3"):
        await made.documents.erase(summary_key(TENANT, AGENT, conversation))
    assert await made.said(DUE) == "attractor/2"
    document = await made.newest()
    assert document.source_ids == ("c0", "c1")
    assert basins(document) == {"garden": "b1"}
    assert document.body["changes"] == [{"kind": "died", "basin": "b2"}]
    for conversation in ("c0", "c1"):
        await made.documents.erase(summary_key(TENANT, AGENT, conversation))
    assert await made.said(DUE) == "attractor/3"
    assert ((await made.newest()).body["basins"], (await made.newest()).source_ids) == ([], ())


async def test_another_model_embeds_all_again_and_keeps_the_ids(made: AttractorWorld) -> None:
    await made.tell("garden", "database", "garden", "database")
    await made.said(DUE)
    before = basins(await made.newest())
    made.embedder.revision = "model-2"
    assert await made.said(DUE) == "attractor/2"
    assert len(made.embedder.embedded) == 8
    assert basins(await made.newest()) == before
    assert (await made.newest()).body["drift"] is None


async def test_an_embedder_that_is_away_lets_the_job_wait(made: AttractorWorld) -> None:
    await made.tell("garden", "garden")
    made.embedder.down = True
    with pytest.raises(DependencyDown):
        await made.run(DUE)
    made.embedder.down = False
    assert await made.said(DUE) == "attractor/1"


async def test_where_no_text_may_leave_a_job_is_tried_once(made: AttractorWorld) -> None:
    """S-15: the policy says the same at every attempt."""
    await made.tell("garden", "garden")
    made.embedder.refused = True
    (outcome,) = await made.run(DUE)
    assert isinstance(outcome, Failed)
    assert outcome.hopeless
    made.embedder.refused = False
    assert await made.said(DUE) == "attractor/1"


async def test_a_summary_that_says_nothing_or_cannot_be_read_is_left_out(made: AttractorWorld) -> None:
    await made.tell("garden", "garden", "database")
    await made.summarise("empty", "", title="", concepts=[])
    await made.world.spoil(1, summary_key(TENANT, AGENT, "c2"))
    assert await made.said(DUE) == "attractor/1"
    assert (await made.newest()).source_ids == ("c0", "c1")
    assert await made.points.changed(TENANT, AGENT, "model-1", 9) == []


async def test_an_unreadable_version_costs_nothing_but_itself(made: AttractorWorld) -> None:
    """SPEC K-2: unreadable is not absent."""
    await made.tell("garden", "database", "garden", "database")
    await made.said(DUE)
    await made.basins.name(TENANT, AGENT, "b2", "Mine")
    await made.summarise("d", "garden", day=30)
    assert await made.said(DUE) == "attractor/3"
    await made.world.spoil(3)
    assert await made.said(DUE) == "attractor/4"
    document = await made.newest()
    assert [(one["id"], one["name"]) for one in document.body["basins"]] == [("b1", ""), ("b2", "Mine")]


async def test_what_is_no_attractor_is_replaced(made: AttractorWorld) -> None:
    await made.world.write(KEY)
    await made.tell("garden", "garden")
    assert await made.said(DUE) == "attractor/2"
    assert basins(await made.newest()) == {"garden": "b1"}


# When it is updated


async def test_a_new_summary_asks_for_an_update_in_its_own_transaction(made: AttractorWorld) -> None:
    await made.tell("garden", "database")
    rows = await made.relayed()
    assert [row.job.key for row in rows] == [
        "update_attractor/ada/c0/1",
        "update_attractor/ada/c1/1",
    ]
    assert {row.job.type for row in rows} == {"update_attractor"}
    assert follow_up(AGENT, "c0", 2)[0].key != rows[0].job.key


async def test_changes_soon_after_an_update_are_taken_together_later(made: AttractorWorld) -> None:
    await made.tell("garden", "garden")
    assert await made.said(SUMMARY) == "attractor/1"  # nothing before it: at once
    made.now = (await made.newest()).created + timedelta(seconds=5)
    await made.summarise("d0", "database", day=20)
    first = await made.said(SUMMARY)
    await made.summarise("d1", "database", day=21)
    assert first.startswith("postponed/")
    assert await made.said(SUMMARY) == first
    (waiting,) = await made.queued()
    assert first == f"postponed/{waiting.id}"
    assert waiting.due is not None
    assert timedelta() < waiting.due - made.now <= UpdateRules().coalesce
    assert await made.said(waiting.payload) == "attractor/2"
    assert (await made.newest()).source_ids == ("c0", "c1", "d0", "d1")


async def test_an_update_long_after_the_last_is_made_at_once(made: AttractorWorld) -> None:
    await made.tell("garden", "garden")
    await made.said(SUMMARY)
    made.now = (await made.newest()).created + UpdateRules().coalesce
    await made.summarise("d", "garden", day=30)
    assert await made.said(SUMMARY) == "attractor/2"


async def test_an_update_that_was_done_early_stands_for_no_later_change(made: AttractorWorld) -> None:
    """J-12: of two workers whose clocks differ, one does what is not due yet by the clock of the other."""
    await made.tell("garden", "garden")
    await made.said(SUMMARY)
    made.now = (await made.newest()).created + timedelta(seconds=5)
    await made.summarise("d0", "database", day=20)
    early = await made.said(SUMMARY)
    (waiting,) = await made.queued()
    assert await made.said(waiting.payload) == "attractor/2"
    await made.summarise("d1", "database", day=21)
    made.now = (await made.newest()).created
    assert (await made.said(SUMMARY)).startswith("postponed/")
    assert await made.said(SUMMARY) != early
    assert len(await made.queued()) == 2


def test_a_large_attractor_is_written_less_often() -> None:
    rules = UpdateRules(coalesce=timedelta(seconds=15), bytes_per_second=1000)
    assert rules.span(9_000) == timedelta(seconds=15)
    assert rules.span(500_000) == timedelta(seconds=500)


async def test_what_is_left_of_many_summaries_follows_at_once(made: AttractorWorld) -> None:
    made.handler = made.worker(UpdateRules(embed_limit=3))
    await made.tell("garden", "garden", "garden", "database", "database")
    await made.relayed()
    assert await made.said(DUE) == "attractor/1 postponed/rest"
    assert len((await made.newest()).source_ids) == 3
    (row,) = await made.relayed()
    assert row.job.key == "update_attractor/ada/after/1"
    assert await made.said(DUE) == "attractor/2"
    assert len((await made.newest()).source_ids) == 5
    assert await made.relayed() == []


async def test_updates_and_names_at_the_same_time_lose_nothing(made: AttractorWorld) -> None:
    await made.tell("garden", "database", "garden", "database")
    await made.said(DUE)
    await made.summarise("d", "garden", day=40)
    first, _, _, second = await asyncio.gather(
        made.run(DUE),
        made.basins.name(TENANT, AGENT, "b1", "One"),
        made.basins.name(TENANT, AGENT, "b2", "Two"),
        made.run(DUE),
    )
    assert not [one for one in (*first, *second) if isinstance(one, Failed)]
    document = await made.newest()
    assert {one["id"]: one["name"] for one in document.body["basins"]} == {"b1": "One", "b2": "Two"}
    assert "d" in document.source_ids


# What people do with it


async def test_a_name_is_a_new_version_and_stays(made: AttractorWorld) -> None:
    await made.tell("garden", "database", "garden", "database")
    await made.said(DUE)
    named = await made.basins.name(TENANT, AGENT, "b2", "  The\n database ")
    assert (named.version, named.basin.name) == (2, "The database")
    assert (await made.basins.name(TENANT, AGENT, "b2", "The database")).version == 2
    await made.summarise("d", "garden", day=40)
    await made.said(DUE)
    listed = await made.basins.list_all(TENANT, AGENT)
    assert {one.id: one.name for one in listed.basins} == {"b1": "", "b2": "The database"}
    assert listed.conversations == 5
    assert listed.drift is not None
    with pytest.raises(NotFound):
        await made.basins.name(TENANT, AGENT, "b9", "x")
    with pytest.raises(NotFound):
        await made.basins.name(TENANT, "bea", "b1", "x")


async def test_a_frozen_version_stays_what_is_listed(made: AttractorWorld) -> None:
    await made.tell("garden", "garden")
    await made.said(DUE)
    await made.documents.freeze(KEY, 1)
    await made.tell("database", "database", prefix="d", first_day=30)
    await made.said(DUE)
    pinned = await made.basins.list_all(TENANT, AGENT)
    newest = await made.basins.list_all(TENANT, AGENT, Choice(newest=True))
    assert ([one.id for one in pinned.basins], pinned.served.document.version) == (["b1"], 1)
    assert ([one.id for one in newest.basins], newest.served.document.version) == (["b2", "b1"], 2)


async def test_any_two_versions_are_compared(made: AttractorWorld) -> None:
    await made.tell("garden", "garden", "database", "database")
    await made.said(DUE)
    await made.tell("running", "running", prefix="d", first_day=10)
    await made.said(DUE)
    for conversation in ("c0", "c1"):
        await made.documents.erase(summary_key(TENANT, AGENT, conversation))
    await made.said(DUE)
    found = compared(await made.documents.compare(KEY, 1, 3))
    assert [(one.kind, one.basin) for one in found] == [(ChangeKind.DIED, "b1"), (ChangeKind.BORN, "b3")]
    back = compared(await made.documents.compare(KEY, 3, 1))
    assert [(one.kind, one.basin) for one in back] == [(ChangeKind.DIED, "b3"), (ChangeKind.BORN, "b1")]


async def test_versions_that_are_no_attractors_have_no_basins(made: AttractorWorld) -> None:
    head = await made.documents.head(KEY)
    await made.documents.put(KEY, Draft(body={"basins": [{}]}, engine="other"), head)
    assert (await made.basins.list_all(TENANT, AGENT)).basins == ()
    assert compared(await made.documents.compare(KEY, 1, 1)) == ()
    with pytest.raises(NotFound):
        await made.basins.name(TENANT, AGENT, "b1", "x")


def test_only_so_many_ids_are_taken_as_a_document_holds() -> None:
    long = [point(f"{place:04}" + "ä" * 120, theme(0), 9999 - place) for place in range(3000)]
    kept = within_bytes(long)
    assert kept == long[: len(kept)]
    assert 0 < len(kept) == MAX_IDS_BYTES // (4 + 240 + 3)
    assert within_bytes(long[:5]) == long[:5]


async def test_a_summary_leads_to_an_attractor_by_outbox_ledger_and_worker(
    made: AttractorWorld, tmp_path: Path
) -> None:
    """SPEC SV-5: nobody calls anybody; the rows do."""
    own: Any = OwnLedger(made.jobs)
    relay = Relay(made.outbox, own)
    wake = LocalWake()
    ledger = SqlLedger(made.world.database, tenant_slots=8)
    settings = CompactorSettings(data_dir=tmp_path, poll_seconds=0.01)
    worker = make_worker(settings, ledger, {UPDATE_ATTRACTOR: made.handler}, wake, lambda: made.now)
    await made.tell("garden", "garden", "database", "database")
    while await relay.relay_once():
        pass
    assert len(await made.queued()) == 4
    await worker.start()
    try:
        async with asyncio.timeout(30):
            while await made.queued() or not (await made.documents.head(KEY)).present:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
    finally:
        await worker.stop(5)
    assert basins(await made.newest()) == {"garden": "b1", "database": "b2"}
    query = Query(reach=Reach(tenant=TENANT), types=frozenset({UPDATE_ATTRACTOR}))
    done = (await made.jobs.page(query, 10, "")).jobs
    assert {job.result_ids for job in done} == {("attractor/1",)}


async def test_an_attractor_of_a_stale_summary_stays_stale_until_its_next_version(
    made: AttractorWorld,
) -> None:
    """J-17: what is written meanwhile says so, and nothing is written twice."""
    await made.tell("garden", "garden", "database", "database")
    await made.said(DUE)
    key = attractor_key(TENANT, AGENT)
    await made.documents.mark([summary_key(TENANT, AGENT, "c0"), key])
    assert await made.said(DUE) == "unchanged/1"
    assert (await made.documents.head(key)).stale
    await made.summarise("c1", "database", day=9)
    assert await made.said(DUE) == "attractor/2"
    assert (await made.documents.head(key)).stale
    await made.summarise("c0", "database", day=10)
    assert await made.said(DUE) == "attractor/3"
    assert not (await made.documents.head(key)).stale


async def test_a_summary_without_a_vector_costs_no_other_its_place(made: AttractorWorld) -> None:
    """J-3: it is in no basin, and is not asked for again and again."""
    made.embedder.without = "spoilt"
    await made.tell("garden", "spoilt garden", "garden")
    assert await made.said(DUE) == "attractor/1"
    assert (await made.newest()).source_ids == ("c0", "c2")
    assert await made.said(DUE) == "unchanged/1"
