"""Documents in SQL and in a key-value store: reading, pinning, writing, erasing (SPEC §9, J-17, D-2)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from services.compactor.adapters.sql.documents import SqlDocuments
from services.compactor.app import document_records as records
from services.compactor.app.document_copies import KvRules
from services.compactor.app.document_ports import Unreadable
from services.compactor.app.documents import Choice, Documents, Place
from services.compactor.domain.documents import (
    HISTORY_SNAPSHOTS,
    DocumentKey,
    Head,
    Kind,
    attractor_key,
    summary_key,
)
from services.kit.errors import DependencyDown, InvalidField, NotFound, VersionConflict
from services.kit.outbox import NewJob
from services.kit.sql import fetch
from tests.integration.document_world import (
    AGENT,
    ATTRACTOR,
    KV_ADAPTERS,
    NOW,
    SUMMARY,
    TENANT,
    Gate,
    World,
    any_world,
    draft,
    full,
    places,
)

NEWEST = Choice(newest=True)
STATE = records.current_name(ATTRACTOR)
KEYS = [ATTRACTOR, SUMMARY]
WRITERS = 64


@pytest.fixture(params=KV_ADAPTERS)
async def made(
    request: pytest.FixtureRequest, pytestconfig: pytest.Config, tmp_path: Path
) -> AsyncIterator[World]:
    async with any_world(request, pytestconfig, tmp_path) as documents:
        yield documents


# Reading


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.kind)
async def test_a_document_is_read_from_the_cache_and_from_its_row_without(
    made: World, key: DocumentKey
) -> None:
    """K-2."""
    with pytest.raises(NotFound):
        await made.documents.get(key)
    written = await made.write(key)
    served = await made.documents.get(key)
    assert (served.document, served.place) == (written, Place.CACHE)
    await made.flush()
    assert await places(made.documents, key) == [(1, Place.STORE)]
    assert await places(made.documents, key) == [(1, Place.CACHE)], "it was put back"
    assert (await made.documents.get(key)) == served


async def test_the_cache_serves_while_sql_is_away(made: World) -> None:
    """K-2: reading what is there needs no row."""

    class Away(SqlDocuments):
        async def current(self, key: DocumentKey) -> None:
            raise DependencyDown

    await made.write()
    documents = Documents(Away(made.database), made.kv, lambda: NOW, KvRules())
    assert await places(documents, ATTRACTOR) == [(1, Place.CACHE)]
    await made.flush()
    with pytest.raises(DependencyDown):
        await documents.get(ATTRACTOR)


async def test_earlier_versions_are_read_from_history_within_its_cap(made: World) -> None:
    """K-1, K-3: history beyond the cap stays in SQL."""
    await made.write(count=HISTORY_SNAPSHOTS + 2)
    newest = HISTORY_SNAPSHOTS + 2
    choices = [Choice(version=version) for version in (newest, newest - 1, 3, 2, 1)]
    assert await places(made.documents, ATTRACTOR, *choices) == [
        (newest, Place.CACHE),
        (newest - 1, Place.CACHE),
        (3, Place.CACHE),
        (2, Place.STORE),
        (1, Place.STORE),
    ]
    await made.flush()
    assert await places(made.documents, ATTRACTOR, *choices[1:]) == [
        (version, Place.STORE) for version in (newest - 1, 3, 2, 1)
    ]
    with pytest.raises(NotFound):
        await made.documents.get(ATTRACTOR, Choice(version=newest + 1))


async def test_earlier_summaries_are_read_by_their_time(made: World) -> None:
    """K-1."""
    await made.write(SUMMARY, 3)
    _, infos = await made.documents.versions(SUMMARY, None, 9)
    choices = [Choice(created=info.created) for info in infos]
    assert await places(made.documents, SUMMARY, *choices) == [
        (version, Place.CACHE) for version in (3, 2, 1)
    ]
    await made.flush()
    assert await places(made.documents, SUMMARY, *choices) == [
        (version, Place.STORE) for version in (3, 2, 1)
    ]
    assert await places(made.documents, SUMMARY, *choices) == [
        (version, Place.CACHE) for version in (3, 2, 1)
    ]
    assert await places(made.documents, SUMMARY, Choice(version=1)) == [(1, Place.STORE)]
    with pytest.raises(NotFound):
        await made.documents.get(SUMMARY, Choice(created=NOW.replace(year=2000)))


async def test_versions_are_listed_and_compared(made: World) -> None:
    """K-3."""
    await made.write(count=3)
    head, infos = await made.documents.versions(ATTRACTOR, None, 2)
    assert (head.version, [info.version for info in infos]) == (3, [3, 2])
    compared = await made.documents.compare(ATTRACTOR, 1, 0)
    assert (compared.before.document.version, compared.after.document.version) == (1, 3)
    assert [(one.name, one.before, one.after) for one in compared.changes] == [("number", 1, 3)]
    with pytest.raises(NotFound):
        await made.documents.compare(ATTRACTOR, 4, 0)
    with pytest.raises(NotFound):
        await made.documents.versions(SUMMARY, None, 2)


# Pinning


async def test_a_pinned_version_is_read_until_it_is_let_go(made: World) -> None:
    """K-3."""
    await made.write(count=20)
    head = await made.documents.freeze(ATTRACTOR, 2)
    assert (head.pinned, head.frozen) == (2, (2,))
    assert await places(made.documents, ATTRACTOR, Choice(), NEWEST, Choice(version=2)) == [
        (2, Place.CACHE),
        (20, Place.CACHE),
        (2, Place.CACHE),
    ]
    await made.write()
    assert await places(made.documents, ATTRACTOR, Choice(), NEWEST) == [(2, Place.CACHE), (21, Place.CACHE)]
    await made.flush()
    assert await places(made.documents, ATTRACTOR, Choice(), Choice()) == [
        (2, Place.STORE),
        (2, Place.CACHE),
    ]
    head = await made.documents.unfreeze(ATTRACTOR, 2)
    assert (head.pinned, head.frozen) == (0, ())
    assert await places(made.documents, ATTRACTOR, Choice(), Choice(version=2)) == [
        (21, Place.CACHE),
        (2, Place.STORE),
    ]


async def test_what_cannot_be_pinned_leaves_everything_as_it_was(made: World) -> None:
    """X-1; nor does it send readers to the row."""
    await made.write(count=2)
    for call in (
        made.documents.freeze(ATTRACTOR, 3),
        made.documents.unfreeze(ATTRACTOR, 1),
        made.documents.freeze(attractor_key(TENANT, "bea"), 1),
        made.documents.unfreeze(attractor_key(TENANT, "bea"), 1),
    ):
        with pytest.raises(NotFound):
            await call
    assert await places(made.documents, ATTRACTOR) == [(2, Place.CACHE)]


# Writing


async def test_contending_writers_lose_nothing_and_the_cache_ends_right(made: World) -> None:
    """K-2: one wins each version, all others conflict, versions are dense."""
    processes = [made.process() for _ in range(4)]
    conflicts = 0
    ready = asyncio.Barrier(WRITERS)

    async def writer(number: int) -> int:
        nonlocal conflicts
        documents = processes[number % 4]
        head = await documents.head(ATTRACTOR)
        await ready.wait()
        while True:
            try:
                return (await documents.put(ATTRACTOR, draft(number), head)).version
            except VersionConflict:
                conflicts += 1
                head = await documents.head(ATTRACTOR)

    async def reader() -> None:
        for _ in range(WRITERS):
            if (await made.documents.head(ATTRACTOR)).present:
                await made.process().get(ATTRACTOR)

    versions, *_ = await asyncio.gather(
        asyncio.gather(*(writer(number) for number in range(WRITERS))), reader(), reader()
    )
    assert sorted(versions) == list(range(1, WRITERS + 1))
    assert conflicts >= WRITERS - 1, "all saw the same version first"
    assert await made.seen() == await made.truth()
    assert await places(made.documents, ATTRACTOR) == [(WRITERS, Place.CACHE)]


async def test_a_conflict_names_the_current_version_and_leaves_the_cache(made: World) -> None:
    """K-2, X-1."""
    await made.write(count=2)
    with pytest.raises(VersionConflict) as caught:
        await made.documents.put(ATTRACTOR, draft(9), Head())
    assert caught.value.metadata == {"current_version": "2"}
    assert await places(made.documents, ATTRACTOR) == [(2, Place.CACHE)]


async def test_a_writer_takes_nothing_unreadable_for_nothing(made: World) -> None:
    """K-2."""
    await made.write(count=2)
    await made.kv.inner.set(STATE, b"9:garbage", seconds=60)
    current = await made.documents.current(ATTRACTOR)
    assert current is not None
    assert current.document.version == 2
    await made.spoil(2)
    with pytest.raises(Unreadable):
        await made.documents.current(ATTRACTOR)
    assert (await made.documents.head(ATTRACTOR)).current == 2
    with pytest.raises(VersionConflict):
        await made.documents.put(ATTRACTOR, draft(), Head())


async def test_jobs_are_written_with_the_document_or_not_at_all(made: World) -> None:
    """SV-5."""
    job = NewJob(type="update_attractor", agent_id=AGENT, subject="", key="k1")
    await made.documents.put(SUMMARY, draft(), Head(), [job])
    with pytest.raises(VersionConflict):
        await made.documents.put(SUMMARY, draft(), Head(), [replace(job, key="k2")])

    rows = await made.database.read(lambda: fetch("SELECT key FROM outbox"))
    assert [row["key"] for row in rows] == ["k1"]


async def test_all_documents_of_a_kind_are_read_for_a_writer(made: World) -> None:
    """J-12: an attractor is derived from all summaries of its agent; unreadable ones are left out."""
    keys = [summary_key(TENANT, AGENT, f"c{number:03}") for number in range(203)]
    for key in keys:
        await made.documents.put(key, draft(), Head())
    await made.write(summary_key(TENANT, "bea", "c1"))
    await made.write(ATTRACTOR)
    await made.spoil(1, keys[100])
    found = [snapshot.document.key async for snapshot in made.documents.each(TENANT, AGENT, Kind.SUMMARY)]
    assert found == [*keys[:100], *keys[101:]]


# Rebuilding, marking, erasing


async def test_a_rebuild_fills_the_store_and_nothing_needs_a_row_afterwards(made: World) -> None:
    """SV-2, K-2: in pages, of the agents named, of one tenant."""
    await full(made)
    others = [attractor_key(TENANT, "bea"), attractor_key("other", AGENT)]
    for key in others:
        await made.write(key)
    before = await made.values()
    await made.flush()
    after, pages = None, []
    while True:
        page = await made.documents.rebuild(TENANT, None, after, 1)
        pages.append(page)
        if page.last is None:
            break
        after = page.last
    assert [page.documents for page in pages] == [1, 1, 1, 0]
    gone = {records.current_name(others[1]), records.history_name(others[1])}
    assert set(await made.values()) == set(before) - gone
    assert sum(page.values for page in pages) == len(before) - len(gone)
    choices = (Choice(), NEWEST, *(Choice(version=version) for version in (1, 2, 3)))
    assert {place for _, place in await places(made.documents, ATTRACTOR, *choices)} == {Place.CACHE}
    await made.flush()
    assert (await made.documents.rebuild(TENANT, frozenset({"bea"}), None, 9)).documents == 1
    assert await places(made.documents, others[0]) == [(1, Place.CACHE)]
    assert await places(made.documents, SUMMARY) == [(2, Place.STORE)], "another agent's"


async def test_a_rebuild_leaves_what_is_newer(made: World) -> None:
    """K-2: a mark of a writer under way stays."""
    await made.write()
    made.kv.step = gate = Gate("after set")
    writer = asyncio.create_task(
        made.documents.put(ATTRACTOR, draft(2), await made.documents.head(ATTRACTOR))
    )
    await gate.reached.wait()
    await made.process().rebuild(TENANT, None, None, 9)
    assert (await made.values())[STATE] == records.mark(2)
    gate.open()
    await writer
    assert await made.seen() == await made.truth()


async def test_what_came_from_a_changed_source_is_stale_until_it_is_derived_again(made: World) -> None:
    """J-17."""
    await made.write()
    await made.write(SUMMARY, 2)
    assert await made.documents.mark(await made.documents.of_sources(TENANT, AGENT, ["s9"])) == []
    assert await made.documents.mark(await made.documents.of_sources(TENANT, AGENT, ["s2"])) == [SUMMARY]
    assert await made.documents.mark(await made.documents.of_sources(TENANT, AGENT, ["s1"])) == [
        ATTRACTOR,
        SUMMARY,
    ]
    for key in KEYS:
        served = await made.documents.get(key)
        assert (served.head.stale, served.place) == (True, Place.CACHE)
    await made.write(SUMMARY)
    assert not (await made.documents.get(SUMMARY)).head.stale


async def test_an_erased_document_leaves_nothing_in_the_key_value_store(made: World) -> None:
    """D-2: neither by a reader that read it before."""
    await full(made)
    _, infos = await made.documents.versions(SUMMARY, None, 9)
    readers = []
    for key in KEYS:
        await made.flush()
        made.store.step = gate = Gate("current")
        readers.append((asyncio.create_task(made.documents.get(key)), gate))
        await gate.reached.wait()
    for key in KEYS:
        await made.process().erase(key)
    for reader, gate in readers:
        gate.open()
        await reader
    assert all(value.endswith(b":") for value in (await made.values()).values())
    for key in KEYS:
        for choice in (Choice(), Choice(version=1), Choice(created=infos[1].created)):
            with pytest.raises(NotFound):
                await made.documents.get(key, choice)
    await made.documents.erase(SUMMARY)
    written = await made.write(SUMMARY)
    assert written.version == 3
    assert await places(made.documents, SUMMARY) == [(3, Place.CACHE)]


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.kind)
async def test_what_is_written_during_an_erasure_leaves_nothing_either(made: World, key: DocumentKey) -> None:
    """D-2: two versions come between the first pass over the copies and the transaction."""
    await made.write(key, 2)
    made.kv.step = gate = Gate("after set")
    erasure = asyncio.create_task(made.documents.erase(key))
    await gate.reached.wait()
    await made.write(key, 2)
    gate.open()
    await erasure
    assert all(value.endswith(b":") for value in (await made.values()).values())
    with pytest.raises(NotFound):
        await made.process().get(key)


async def test_what_names_no_document_is_refused(made: World) -> None:
    """X-1."""
    for key in (summary_key(TENANT, AGENT, ""), summary_key(TENANT, AGENT, "\x00")):
        with pytest.raises(InvalidField):
            await made.documents.get(key)
        with pytest.raises(InvalidField):
            await made.documents.put(key, draft(), Head())


async def test_whatever_may_put_jobs_into_the_outbox_wakes_its_relay(made: World) -> None:
    """SV-5: so that they are not handed over by the next poll only."""
    woken: list[str] = []
    documents = Documents(
        SqlDocuments(made.database), made.kv, lambda: NOW, KvRules(), wake=lambda: woken.append("x")
    )
    await documents.put(ATTRACTOR, draft(), await documents.head(ATTRACTOR))
    assert len(woken) == 1
    await documents.mark([ATTRACTOR])
    assert len(woken) == 2
    await documents.mark([SUMMARY])
    assert len(woken) == 2, "there is none to be marked"
    await documents.erase(ATTRACTOR)
    assert len(woken) == 3
