"""What is indexed of derived documents: the suite of Semantic's DocumentStore port (SPEC S-13, SV-5)."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from services.kit.sql import SqlDatabase, fetch
from services.memory.semantic.adapters.sql.documents import SqlIndexedDocuments
from services.memory.semantic.adapters.sql.reindexes import SqlCanonical
from services.memory.semantic.app.document_ports import DocumentStore
from services.memory.semantic.domain.documents import (
    SHARED,
    DocumentSource,
    DocumentType,
    IndexedDocument,
    SourceDocument,
    indexed,
)

TENANT, AGENT = "acme", "ada"
THEMES = DocumentSource(type=DocumentType.THEME)
Pair = tuple[SqlDatabase, SqlDatabase]


@pytest.fixture
def store(semantic_sql_pair: Pair) -> DocumentStore:
    return SqlIndexedDocuments(semantic_sql_pair[0])


def talk(subject: str) -> DocumentSource:
    return DocumentSource(type=DocumentType.SUMMARY, subject=subject)


def document(
    source: DocumentSource, text: str = "Tides. High.", contact_id: str = "", version: int = 1, id_: str = ""
) -> IndexedDocument:
    made = SourceDocument(
        source=source,
        id=id_ or source.subject,
        version=version,
        title="Tides",
        text=text,
        conversation_ids=(),
    )
    return indexed(made, contact_id)


LONG = "The tide comes in at noon; 潮は正午に満ちる。\n" * 60


async def test_a_document_is_read_by_its_parts(store: DocumentStore) -> None:
    made = document(talk("c"), LONG, "ann", version=3)
    assert len(made.chunks) > 2
    await store.write(TENANT, AGENT, [made], [])
    found = await store.chunks(TENANT, AGENT, [*made.item_ids(), "summary/c#99999"])
    assert sorted(found) == made.item_ids()
    for chunk in made.chunks:
        one = found[made.item_ids()[chunk.number]]
        assert (one.chunk, one.chunk_count) == (chunk, len(made.chunks))
        assert one.document == replace(made, chunks=())
    assert await store.chunks(TENANT, "bea", made.item_ids()) == {}
    assert await store.chunks("other", AGENT, made.item_ids()) == {}
    assert await store.chunks(TENANT, AGENT, []) == {}


async def test_a_document_is_settled_as_what_it_was_written_as(store: DocumentStore) -> None:
    made = document(talk("c"))
    await store.write(TENANT, AGENT, [made], [])
    (known,) = await store.known(TENANT, AGENT, [talk("c"), talk("d")])
    assert (known.key, known.source, known.version, known.settled) == ("summary/c", talk("c"), 1, False)
    assert (known.digest, known.chunk_count) == (made.digest, 1)
    await store.settle(TENANT, AGENT, [document(talk("c"), "something else")])
    assert not (await store.known(TENANT, AGENT, [talk("c")]))[0].settled
    await store.settle(TENANT, AGENT, [replace(made, version=2)])
    (known,) = await store.known(TENANT, AGENT, [talk("c")])
    assert (known.settled, known.version) == (True, 2)
    await store.write(TENANT, AGENT, [made], [])
    assert not (await store.known(TENANT, AGENT, [talk("c")]))[0].settled


async def test_a_shorter_version_leaves_no_part_behind_and_what_is_gone_none_at_all(
    store: DocumentStore,
) -> None:
    long, other = document(talk("c"), LONG), document(talk("d"))
    await store.write(TENANT, AGENT, [long, other], [])
    short = document(talk("c"), "Tides. Low.", version=2)
    await store.write(TENANT, AGENT, [short], [])
    found = await store.chunks(TENANT, AGENT, long.item_ids())
    assert [one.chunk.text for one in found.values()] == ["Tides. Low."]
    await store.write(TENANT, AGENT, [], ["summary/c", "summary/nobody"])
    assert await store.chunks(TENANT, AGENT, long.item_ids()) == {}
    assert [one.key for one in await store.known(TENANT, AGENT, [talk("c"), talk("d")])] == ["summary/d"]
    assert len(await store.chunks(TENANT, AGENT, other.item_ids())) == 1


async def test_what_is_written_at_once_is_known_at_once(store: DocumentStore) -> None:
    basins = [document(THEMES, id_=f"b{n}") for n in range(3)]
    await store.write(TENANT, AGENT, [*basins, document(talk("c"))], [])
    assert [one.key for one in await store.known(TENANT, AGENT, [THEMES])] == [
        "theme/b0",
        "theme/b1",
        "theme/b2",
    ]
    both = await store.known(TENANT, AGENT, [THEMES, talk("c")])
    assert [one.key for one in both] == ["summary/c", "theme/b0", "theme/b1", "theme/b2"]
    assert await store.known(TENANT, AGENT, []) == []


async def test_contacts_are_those_of_summaries_that_have_one(store: DocumentStore) -> None:
    page = DocumentSource(type=DocumentType.PAGE, subject="p")
    await store.write(
        TENANT,
        AGENT,
        [
            document(talk("a"), contact_id="ann"),
            document(talk("n")),
            document(talk("s"), contact_id=SHARED),
            document(page, contact_id="bob"),
        ],
        [],
    )
    ids = ["a", "n", "s", "p", *(f"x{n}" for n in range(1200))]
    assert await store.contacts(TENANT, AGENT, ids) == {"a": "ann", "n": ""}


async def test_pages_go_through_everything_in_order(semantic_sql_pair: Pair, store: DocumentStore) -> None:
    for tenant, agent, subject in (("b", "x", "1"), ("a", "y", "1"), ("a", "x", "2"), ("a", "x", "1")):
        await store.write(tenant, agent, [document(talk(subject))], [])
    seen: list[tuple[str, str, str]] = []
    after = ("", "", "")
    while page := await store.page(after, 3):
        after = (page[-1].tenant, page[-1].agent_id, page[-1].key)
        seen += [(one.tenant, one.agent_id, one.key) for one in page]
    assert seen == [
        ("a", "x", "summary/1"),
        ("a", "x", "summary/2"),
        ("a", "y", "summary/1"),
        ("b", "x", "summary/1"),
    ]
    assert len(await store.page(("", "", ""), 9, tenant="a")) == 3
    assert len(await store.page(("", "", ""), 9, tenant="a", agent_id="x")) == 2
    canonical = SqlCanonical(semantic_sql_pair[1])
    assert await canonical.documents("a", "x", "", 1) == [("summary/1", talk("1"))]
    assert await canonical.documents("a", "x", "summary/1", 9) == [("summary/2", talk("2"))]
    assert await canonical.agents("a") == ["x", "y"]


async def test_sources_are_asked_for_once_a_call(semantic_sql_pair: Pair, store: DocumentStore) -> None:
    await store.enqueue(TENANT, AGENT, [THEMES, talk("c"), talk("c")], ":s")
    rows = await semantic_sql_pair[0].read(lambda: fetch("SELECT type, key, payload FROM outbox ORDER BY id"))
    assert [(row["type"], row["key"], row["payload"]) for row in rows] == [
        ("index_document", "index_document/ada/summary/c/:s", '{"type":"summary","subject":"c"}'),
        ("index_document", "index_document/ada/theme//:s", '{"type":"theme","subject":""}'),
    ]


async def test_two_replicas_that_write_at_once_leave_one_of_the_two(semantic_sql_pair: Pair) -> None:
    stores = [SqlIndexedDocuments(sql) for sql in semantic_sql_pair]
    versions = [document(talk("c"), LONG[: 40 * n], version=n) for n in range(1, 13)]
    others = [document(talk("d"), version=n) for n in range(1, 13)]
    await asyncio.gather(
        *(
            stores[n % 2].write(TENANT, AGENT, [one, other] if n % 3 else [other, one], [])
            for n, (one, other) in enumerate(zip(versions, others, strict=True))
        )
    )
    (known,) = await stores[0].known(TENANT, AGENT, [talk("c")])
    winner = versions[known.version - 1]
    assert known.digest == winner.digest
    every = {id_ for one in versions for id_ in one.item_ids()}
    found = await stores[1].chunks(TENANT, AGENT, sorted(every))
    assert {id_: one.chunk for id_, one in found.items()} == dict(
        zip(winner.item_ids(), winner.chunks, strict=True)
    )
