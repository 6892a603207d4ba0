"""The suite of the DocumentStore port, over both engines (SPEC K-2, K-3)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from services.compactor.adapters.sql.documents import SqlDocuments
from services.compactor.app.document_ports import Unreadable
from services.compactor.domain.documents import (
    MAX_FROZEN,
    SCHEMAS,
    Document,
    DocumentKey,
    Head,
    Kind,
    Snapshot,
    attractor_key,
    summary_key,
)
from services.kit.errors import InvalidField, LimitExceeded, NotFound, VersionConflict
from services.kit.sql import SqlDatabase, execute
from tests.contract.document_parts import (
    AGENT,
    ATTRACTOR,
    NOW,
    SUMMARY,
    TENANT,
    TICK,
    draft,
    odd_keys,
)

WRITERS = 64
SECOND = timedelta(seconds=1)


class Store:
    """The store as two replicas have it."""

    def __init__(self, pair: tuple[SqlDatabase, SqlDatabase]) -> None:
        self.database = pair[0]
        self.documents = SqlDocuments(pair[0])
        self.others = SqlDocuments(pair[1])

    async def write(self, key: DocumentKey = ATTRACTOR, count: int = 1, **fields: Any) -> list[Document]:
        """The next versions, each with its number as text, a second apart."""
        made = []
        for _ in range(count):
            head = await self.documents.head(key)
            number = head.version + 1
            made.append(await self.documents.put(key, draft(number, **fields), head, NOW + number * SECOND))
        return made

    async def spoil(self, version: int, body: str, key: DocumentKey = ATTRACTOR) -> None:
        """Writes over a row what is no document."""
        text = (
            "UPDATE document_versions SET body = ? WHERE tenant = ? AND agent_id = ? AND kind = ?"
            " AND subject = ? AND version = ?"
        )
        names = (key.tenant, key.agent_id, key.kind.value, key.subject)
        await self.database.write(lambda: execute(text, body, *names, version))


@pytest.fixture
def store(compactor_sql_pair: tuple[SqlDatabase, SqlDatabase]) -> Store:
    return Store(compactor_sql_pair)


def numbers(documents: Sequence[Document]) -> list[int]:
    return [document.version for document in documents]


async def test_a_document_comes_back_whole(store: Store) -> None:
    """K-3, SV-7."""
    body = {"b": [1, 2.5, None, True, {"ü": "🦉\n"}], "a": 2**53, "c": {}}
    wanted = draft(body=body, engine="lexrank-1", source_ids=("c2", "c1"))
    made = await store.documents.put(ATTRACTOR, wanted, Head(), NOW)
    assert made == Document(
        key=ATTRACTOR,
        version=1,
        created=NOW,
        schema=SCHEMAS[Kind.ATTRACTOR],
        engine="lexrank-1",
        source_ids=("c2", "c1"),
        body=body,
    )
    head = Head(version=1, revision=1, present=True)
    assert await store.others.current(ATTRACTOR) == Snapshot(head=head, document=made)
    assert await store.others.version(ATTRACTOR, 1) == made
    assert await store.others.at(ATTRACTOR, NOW) == made
    assert await store.others.head(ATTRACTOR) == head


async def test_where_there_is_nothing_nothing_is_found(store: Store) -> None:
    """X-1; and nothing of other tenants, agents, kinds, conversations."""
    await store.write(SUMMARY)
    for key in (
        ATTRACTOR,
        summary_key("other", AGENT, "c1"),
        summary_key(TENANT, "bea", "c1"),
        summary_key(TENANT, AGENT, "c2"),
    ):
        assert await store.documents.current(key) is None
        assert await store.documents.version(key, 1) is None
        assert await store.documents.at(key, NOW + SECOND) is None
        assert await store.documents.versions(key, None, 9) == []
        assert await store.documents.recent(key, 9) == (Head(), [])
        assert await store.documents.head(key) == Head()
        assert await store.documents.mark_stale(key) is None
        for call in (store.documents.freeze(key, 1), store.documents.unfreeze(key, 1)):
            with pytest.raises(NotFound):
                await call
        assert await store.documents.erase(key) == (Head(), [])
    assert await store.documents.current(SUMMARY) is not None
    assert await store.documents.version(SUMMARY, 2) is None
    assert await store.documents.at(SUMMARY, NOW + SECOND + TICK) is None


async def test_every_version_is_kept_and_listed_newest_first(store: Store) -> None:
    """K-3."""
    made = await store.write(count=15)
    assert numbers(made) == list(range(1, 16))
    assert [await store.documents.version(ATTRACTOR, one.version) for one in made] == made
    assert [await store.documents.at(ATTRACTOR, one.created) for one in made] == made
    first = await store.documents.versions(ATTRACTOR, None, 10)
    then = await store.documents.versions(ATTRACTOR, first[-1].version, 10)
    assert [one.version for one in (*first, *then)] == list(range(15, 0, -1))
    assert first[0].size == len(b'{"number":15,"themes":[{"label":"theme 15","weight":0.5}]}')
    assert (first[0].created, first[0].engine) == (made[-1].created, made[-1].engine)
    head, recent = await store.documents.recent(ATTRACTOR, 10)
    assert (head.version, numbers(recent)) == (15, list(range(15, 5, -1)))


async def test_times_rise_with_versions_whatever_the_clock_does(store: Store) -> None:
    """A time names a version."""
    made = [
        await store.documents.put(SUMMARY, draft(), await store.documents.head(SUMMARY), now)
        for now in (NOW, NOW, NOW - SECOND, NOW + SECOND)
    ]
    assert [one.created for one in made] == [NOW, NOW + TICK, NOW + 2 * TICK, NOW + SECOND]


async def test_a_writer_that_saw_another_version_conflicts(store: Store) -> None:
    """K-2."""
    seen = await store.documents.head(ATTRACTOR)
    await store.write(count=2)
    for based_on in (seen, Head(version=1, revision=1, present=True), Head(version=3, present=True)):
        with pytest.raises(VersionConflict) as caught:
            await store.documents.put(ATTRACTOR, draft(9), based_on, NOW)
        assert caught.value.metadata == {"current_version": "2"}
    head, recent = await store.documents.recent(ATTRACTOR, 9)
    assert (head.version, head.revision, numbers(recent)) == (2, 2, [2, 1])
    assert await store.documents.of_sources(TENANT, AGENT, ["s9"]) == [], "a conflict leaves nothing"
    assert await store.documents.of_sources(TENANT, AGENT, ["s2"]) == [ATTRACTOR]


async def test_contending_writers_lose_nothing(store: Store) -> None:
    """K-2: one wins each version, all others conflict, and the versions are dense."""
    conflicts = 0
    ready = asyncio.Barrier(WRITERS)

    async def writer(number: int) -> Document:
        nonlocal conflicts
        documents = (store.documents, store.others)[number % 2]
        head = await documents.head(ATTRACTOR)
        await ready.wait()
        while True:
            try:
                return await documents.put(ATTRACTOR, draft(number), head, NOW)
            except VersionConflict:
                conflicts += 1
                head = await documents.head(ATTRACTOR)

    made = await asyncio.gather(*(writer(number) for number in range(WRITERS)))
    assert sorted(numbers(made)) == list(range(1, WRITERS + 1))
    assert conflicts >= WRITERS - 1, "all saw the same version first"
    listed = await store.documents.versions(ATTRACTOR, None, 2 * WRITERS)
    assert [one.version for one in listed] == list(range(WRITERS, 0, -1))
    for one in made:
        assert await store.documents.version(ATTRACTOR, one.version) == one, "each has what its writer wrote"


async def test_of_writers_that_saw_the_same_version_one_wins(store: Store) -> None:
    """K-2."""
    head = await store.documents.head(ATTRACTOR)
    calls = [
        (store.documents, store.others)[number % 2].put(ATTRACTOR, draft(number), head, NOW)
        for number in range(WRITERS)
    ]
    answers = await asyncio.gather(*calls, return_exceptions=True)
    assert sorted(type(answer).__name__ for answer in answers) == [
        "Document",
        *["VersionConflict"] * (WRITERS - 1),
    ]


async def test_what_is_not_kept_is_refused(store: Store) -> None:
    """X-1; the domain's own test has all of it."""
    for bad in (draft(body={"a": "\x00"}), draft(engine=""), draft(source_ids=("",))):
        with pytest.raises(InvalidField):
            await store.documents.put(ATTRACTOR, bad, Head(), NOW)
    assert await store.documents.head(ATTRACTOR) == Head()


async def test_a_version_is_pinned_and_let_go(store: Store) -> None:
    """K-3."""
    await store.write(count=3)
    head = await store.documents.freeze(ATTRACTOR, 2)
    assert (head.version, head.revision, head.pinned, head.frozen) == (3, 4, 2, (2,))
    head = await store.documents.freeze(ATTRACTOR, 1)
    assert (head.pinned, head.frozen) == (1, (1, 2))
    assert await store.others.head(ATTRACTOR) == head
    await store.write()
    head = await store.documents.head(ATTRACTOR)
    assert (head.version, head.pinned, head.frozen) == (4, 1, (1, 2)), "a write pins nothing else"
    assert (await store.documents.unfreeze(ATTRACTOR, 2)).pinned == 1
    head = await store.documents.unfreeze(ATTRACTOR, 1)
    assert (head.pinned, head.frozen) == (0, ())
    for call in (store.documents.unfreeze(ATTRACTOR, 1), store.documents.freeze(ATTRACTOR, 5)):
        with pytest.raises(NotFound):
            await call
    assert await store.documents.head(ATTRACTOR) == head


async def test_not_too_many_versions_are_frozen(store: Store) -> None:
    await store.write(count=MAX_FROZEN + 1)
    for version in range(1, MAX_FROZEN + 1):
        await store.documents.freeze(ATTRACTOR, version)
    with pytest.raises(LimitExceeded):
        await store.documents.freeze(ATTRACTOR, MAX_FROZEN + 1)
    assert (await store.documents.freeze(ATTRACTOR, 1)).pinned == 1


async def test_a_stale_document_is_fresh_again_once_it_is_derived_from_what_is_new(store: Store) -> None:
    """J-17."""
    await store.write()
    assert (await store.documents.mark_stale(ATTRACTOR) or Head()).stale
    seen = await store.documents.head(ATTRACTOR)
    assert seen.stale
    await store.documents.put(ATTRACTOR, draft(2), seen, NOW)
    assert not (await store.documents.head(ATTRACTOR)).stale


async def test_what_changed_while_a_document_was_derived_keeps_it_stale(store: Store) -> None:
    """J-17: the writer may not have seen it."""
    await store.write()
    seen = await store.documents.head(ATTRACTOR)
    await store.documents.mark_stale(ATTRACTOR)
    made = await store.documents.put(ATTRACTOR, draft(2), seen, NOW)
    head = await store.documents.head(ATTRACTOR)
    assert (made.version, head.version, head.stale) == (2, 2, True)
    await store.write()
    assert not (await store.documents.head(ATTRACTOR)).stale


async def test_documents_are_found_by_every_source_that_any_version_had(store: Store) -> None:
    """SV-7, J-17: a summary merges the one before it."""
    await store.documents.put(SUMMARY, draft(source_ids=("m1", "m2")), Head(), NOW)
    head = await store.documents.head(SUMMARY)
    await store.documents.put(SUMMARY, draft(source_ids=("m3", "m3")), head, NOW)
    await store.documents.put(ATTRACTOR, draft(source_ids=("m3",)), Head(), NOW)
    of = store.documents.of_sources
    assert await of(TENANT, AGENT, ["m1"]) == [SUMMARY]
    assert await of(TENANT, AGENT, ["m3", "m2"]) == [ATTRACTOR, SUMMARY]
    assert await of(TENANT, AGENT, ["m4"]) == []
    assert await of(TENANT, AGENT, []) == []
    assert await of(TENANT, "bea", ["m1"]) == []
    assert await of("other", AGENT, ["m1"]) == []


async def test_an_erased_document_is_gone_and_its_numbers_go_on(store: Store) -> None:
    """D-2, K-2: a copy of what was can never be newer than what comes."""
    await store.write(count=3)
    await store.documents.freeze(ATTRACTOR, 2)
    head, infos = await store.documents.erase(ATTRACTOR)
    assert (head, sorted(one.version for one in infos)) == (Head(version=3, revision=5), [1, 2, 3])
    assert await store.documents.current(ATTRACTOR) is None
    assert await store.documents.version(ATTRACTOR, 2) is None
    assert await store.documents.versions(ATTRACTOR, None, 9) == []
    assert await store.documents.of_sources(TENANT, AGENT, ["s1", "s2", "s3"]) == []
    assert await store.documents.page(TENANT, None, None, None, 9) == []
    assert await store.documents.mark_stale(ATTRACTOR) is None
    with pytest.raises(VersionConflict) as caught:
        await store.documents.put(ATTRACTOR, draft(), Head(version=3, revision=3, present=True), NOW)
    assert caught.value.metadata == {"current_version": "0"}
    made = await store.documents.put(ATTRACTOR, draft(), Head(), NOW)
    head = await store.documents.head(ATTRACTOR)
    assert (made.version, head) == (4, Head(version=4, revision=6, present=True))


async def test_documents_are_listed_in_pages(store: Store) -> None:
    keys = [
        attractor_key(TENANT, "b"),
        *(summary_key(TENANT, agent, c) for agent in ("a", "B", "b") for c in ("c1", "C2", "ä")),
    ]
    for key in (*keys, summary_key("other", "a", "c1")):
        await store.write(key)
    wanted = sorted(keys, key=lambda key: (key.agent_id, key.kind.value, key.subject))
    found: list[DocumentKey] = []
    after = None
    while page := await store.documents.page(TENANT, None, None, after, 3):
        found += page
        after = (page[-1].agent_id, page[-1].kind.value, page[-1].subject)
    assert found == wanted
    of_b = [key for key in wanted if key.agent_id == "b"]
    assert await store.documents.page(TENANT, frozenset({"b", "x"}), None, None, 99) == of_b
    assert await store.documents.page(TENANT, frozenset({"b"}), Kind.SUMMARY, None, 99) == of_b[1:]
    assert await store.documents.page(TENANT, frozenset(), None, None, 99) == []


@pytest.mark.parametrize("body", ["", "{", "[]", "null", '"text"', "7", "[" * 100_000])
async def test_a_row_that_holds_no_document_is_not_taken_for_none(store: Store, body: str) -> None:
    """K-2."""
    made = await store.write(count=3)
    await store.spoil(3, body)
    for call in (
        store.documents.current(ATTRACTOR),
        store.documents.version(ATTRACTOR, 3),
        store.documents.at(ATTRACTOR, made[2].created),
    ):
        with pytest.raises(Unreadable):
            await call
    head, recent = await store.documents.recent(ATTRACTOR, 9)
    assert (head.version, recent) == (3, [made[1], made[0]])
    with pytest.raises(VersionConflict):
        await store.documents.put(ATTRACTOR, draft(), Head(), NOW)
    assert (await store.write())[0].version == 4, "a writer goes on after it"


async def test_ids_of_any_form_name_documents_of_their_own(store: Store) -> None:
    """K-1."""
    keys = odd_keys()[::7]
    for number, key in enumerate(keys):
        await store.documents.put(key, draft(number), Head(), NOW)
    for number, key in enumerate(keys):
        snapshot = await store.documents.current(key)
        assert snapshot is not None
        assert (snapshot.document.key, snapshot.document.body["number"]) == (key, number)
