"""Words and the registry of what is indexed: the suite of the ItemIndex port (SPEC S-3, S-12, S-16, S-18)."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from services.kit.postgres import Postgres
from services.kit.sql import SqlDatabase
from services.kit.sqlite import Database, SqliteScripts
from services.memory.semantic.adapters.memory_items import MemoryItemIndex
from services.memory.semantic.adapters.sql.items import SqlRegistry
from services.memory.semantic.adapters.sqlite_index import SqliteItemIndex
from services.memory.semantic.app.item_ports import ItemIndex, MemoryDocument, MessageDocument
from services.memory.semantic.app.items import SplitItems
from services.memory.semantic.domain.analysis import analyse, analyse_query
from services.memory.semantic.domain.documents import DocumentScope, DocumentType
from services.memory.semantic.domain.items import (
    IndexedMessage,
    MessageScope,
    Progress,
    SourceMessage,
    conversation_of,
    message_item_id,
)
from services.memory.semantic.domain.memory import Kind
from services.memory.semantic.domain.vectors import Bucket, ContentClass
from tests.meilisearch_server import meilisearch
from tests.postgres_server import SharedServer

NOW = datetime(2031, 5, 4, 12, 0, tzinfo=UTC)
TENANT, AGENT = "acme", "ada"
USER, ASSISTANT = 2, 3
ANYWHERE = MessageScope()
MIGRATIONS = files("services.memory.semantic") / "migrations"


def of(tenant: str, agent: str, content: ContentClass = ContentClass.MEMORY) -> Bucket:
    return Bucket(tenant=tenant, agent=agent, content=content)


BUCKET, OTHER = of(TENANT, AGENT), of("other", AGENT)
PAST = BUCKET.of(ContentClass.PAST)


@pytest.fixture(params=["memory", "sqlite", "meilisearch-sqlite", "meilisearch-postgres"])
async def index(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ItemIndex]:
    if request.param == "memory":
        yield MemoryItemIndex()
        return
    async with AsyncExitStack() as stack:
        if request.param.endswith("postgres"):
            server: SharedServer = request.getfixturevalue("postgres_server")
            url = await stack.enter_async_context(server.database(MIGRATIONS / "postgres"))
            postgres = await Postgres.open(url, MIGRATIONS / "postgres", pool_size=3)
            stack.push_async_callback(postgres.close)
            database: SqlDatabase = postgres
        else:
            file = await Database.open(tmp_path / "index.db", MIGRATIONS / "index", synchronous="NORMAL")
            stack.push_async_callback(file.close)
            database = SqliteScripts(file)
        if request.param == "sqlite":
            yield SqliteItemIndex(database)
            return
        place = await stack.enter_async_context(meilisearch())
        words = await place.open()
        stack.push_async_callback(words.close)
        yield SplitItems(registry=SqlRegistry(database), words=words)


def message(text: str, conversation: str = "c", sequence: int = 1, **fields: Any) -> MessageDocument:
    chosen = {
        "contact_id": "",
        "message_id": f"m{sequence}",
        "role": USER,
        "author": "",
        "session": "",
        "time": NOW,
        "created": NOW,
        "text": text,
        "tool_text": "",
    } | fields
    source = SourceMessage(conversation_id=conversation, sequence=sequence, **chosen)
    return MessageDocument(message=source, terms=" ".join(analyse(text)))


def memory(memory_id: str, text: str, contact_id: str = "", **fields: Any) -> MemoryDocument:
    return MemoryDocument(
        memory_id=memory_id, contact_id=contact_id, terms=" ".join(analyse(text)), begins=NOW, **fields
    )


async def messages(
    index: ItemIndex, query: str, tenant: str = TENANT, agent: str = AGENT, limit: int = 50, **scope: Any
) -> list[tuple[str, int]]:
    hits = await index.search_messages(tenant, agent, analyse_query(query), MessageScope(**scope), limit)
    return [conversation_of(item_id) for item_id, _ in hits]


async def memories(
    index: ItemIndex, query: str, contacts: tuple[str, ...] = ("",), tenant: str = TENANT, agent: str = AGENT
) -> list[str]:
    hits = await index.search_memories(tenant, agent, analyse_query(query), contacts, 50)
    return [item_id for item_id, _ in hits]


async def put(
    index: ItemIndex, *documents: MessageDocument, tenant: str = TENANT, agent: str = AGENT
) -> None:
    await index.put_messages(tenant, agent, documents)


async def reached(index: ItemIndex, conversation: str = "c", tenant: str = TENANT) -> tuple[int, int]:
    known = (await index.progress(tenant, AGENT, [conversation])).get(conversation)
    return (known.count, known.sequence) if known else (0, 0)


# Words


async def test_any_one_word_is_enough_and_more_words_rank_higher(index: ItemIndex) -> None:
    """S-18."""
    await put(
        index,
        message("the heron stands by the river", sequence=1),
        message("a heron", sequence=2),
        message("nothing of it", sequence=3),
    )
    terms = analyse_query("heron river zeppelin")
    hits = await index.search_messages(TENANT, AGENT, terms, ANYWHERE, 10)
    assert [conversation_of(item_id)[1] for item_id, _ in hits] == [1, 2]
    assert hits[0][1] > hits[1][1], "higher is better"


async def test_equal_scores_are_ordered_by_id_and_the_limit_holds(index: ItemIndex) -> None:
    """S-9."""
    await put(index, *(message("the same heron", sequence=n) for n in (3, 1, 2)))
    assert await messages(index, "heron") == [("c", 1), ("c", 2), ("c", 3)]
    assert await messages(index, "heron", limit=2) == [("c", 1), ("c", 2)]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Das Café in Zürich", "cafe zurich"),
        ("the CAFE", "café"),
        ("she was running", "runs"),
        ("我住在东京都", "东京"),
        ("猫が好きです", "猫"),
        ("서울에서 만나요", "서울"),
        ("ฉันชอบกาแฟ", "กาแฟ"),
        ("call parse_http_url first", "http"),
        ("call parse_http_url first", "parseHttpUrl"),
        ("getUserById fails", "user"),
        ("see services/kit/sqlite.py", "sqlite"),
        ("write to ann@example.org", "ann@example.org"),
        ("Python 3.11 is out", "3.11"),
        ("that was great 🎉", "🎉"),
        ("Привет, Москва", "москва"),
        ("שָׁלוֹם", "שלום"),
        ("2,500 metres", "2500"),
    ],
)
async def test_whatever_the_analyser_makes_is_found_again(index: ItemIndex, text: str, query: str) -> None:
    """S-18, through the engine's own tokenizer."""
    await put(index, message(text, sequence=1), message("something else entirely", sequence=2))
    assert await messages(index, query) == [("c", 1)]


async def test_every_term_is_one_token_of_the_engine(index: ItemIndex) -> None:
    """S-18: searching a term never finds what only holds a part of it."""
    text = "日本 🙂 a_b.c-d x86-64 ἄλφα naïve 12:30 ann@example.org ~/a/b.txt ﬁne Ⅳ ½ हिन्दी العربية"
    for n, term in enumerate(analyse(text), start=1):
        source = message("x", sequence=n).message
        await index.put_messages(TENANT, AGENT, [MessageDocument(message=source, terms=term)])
    terms = analyse(text)
    assert len(terms) > 20
    for n, term in enumerate(terms, start=1):
        hits = await index.search_messages(TENANT, AGENT, [term], ANYWHERE, 100)
        expected = {("c", m) for m, other in enumerate(terms, start=1) if other == term}
        assert {conversation_of(item_id) for item_id, _ in hits} == expected, (n, term)


@pytest.mark.parametrize(
    "term",
    [
        '"', '""', "'", "*", "AND", "OR", "NOT", "NEAR", "NEAR(a b)", "bucket : x", "terms:heron", "-heron",
        "^heron", "heron*", "{a b}:c", "(", ")", "+", ";--", "\\", 'x" OR "heron', ":match", "%",
    ],
)  # fmt: skip
async def test_no_term_is_syntax(index: ItemIndex, term: str) -> None:
    """Terms are the analyser's, but the engine must not depend on that: a term is a phrase, and no more."""
    await put(index, message("a heron", sequence=1))
    hits = await index.search_messages(TENANT, AGENT, [term, "zeppelin"], ANYWHERE, 10)
    assert not hits or term in {"-heron", "^heron", "heron*"}, "an engine may strip signs from a term"
    assert len(await index.search_messages(TENANT, AGENT, [term, "heron"], ANYWHERE, 10)) == 1


async def test_operators_in_a_query_are_words(index: ItemIndex) -> None:
    await put(index, message("a heron", sequence=1), message("a stork", sequence=2))
    for query in ('heron NOT stork"', '"heron" AND (stork)', "heron NEAR stork*", "terms:heron^stork"):
        assert set(await messages(index, query)) == {("c", 1), ("c", 2)}, query
    for query in ("", "\0", "?!… ()", "the of and", '"', "*"):
        assert await messages(index, query) == [], query
        assert await memories(index, query) == [], query


# Buckets

PLACES = [
    (tenant, agent, contact, conversation)
    for tenant in ("acme", "acm")
    for agent in ("ada", "eada")
    for contact in ("", "ann", "bob")
    for conversation in ("c", "d")
]


async def fill(index: ItemIndex) -> None:
    for tenant, agent, contact, conversation in PLACES:
        at = message("the heron", f"{conversation}-{contact}", contact_id=contact)
        await put(index, at, tenant=tenant, agent=agent)
        await index.put_memories(
            of(tenant, agent), [memory(f"{tenant}/{agent}/{contact}/{conversation}", "the heron", contact)]
        )


@pytest.mark.parametrize("contacts", [("",), ("ann", ""), ("bob",), ("ann", "bob"), ("nobody",)])
@pytest.mark.parametrize("tenant", ["acme", "acm"])
@pytest.mark.parametrize("agent", ["ada", "eada"])
async def test_memories_of_no_other_bucket_are_found(
    index: ItemIndex, tenant: str, agent: str, contacts: tuple[str, ...]
) -> None:
    """S-3, S-5, X-1: "acm" + "eada" and "acme" + "ada" are written alike, and are different buckets."""
    await fill(index)
    expected = {
        f"{tenant}/{agent}/{contact}/{c}" for contact in contacts for c in "cd" if contact != "nobody"
    }
    assert set(await memories(index, "heron", contacts, tenant, agent)) == expected


async def test_messages_of_no_other_place_are_found(index: ItemIndex) -> None:
    """S-12."""
    await fill(index)
    everything = {(f"{c}-{contact}", 1) for contact in ("", "ann", "bob") for c in "cd"}
    assert set(await messages(index, "heron")) == everything
    assert set(await messages(index, "heron", contact_ids=("ann",))) == {("c-ann", 1), ("d-ann", 1)}
    assert set(await messages(index, "heron", contact_ids=("",))) == {("c-", 1), ("d-", 1)}
    assert await messages(index, "heron", conversation_id="c-bob") == [("c-bob", 1)]
    assert await messages(index, "heron", conversation_id="c-bob", contact_ids=("bob", "ann")) == [
        ("c-bob", 1)
    ]
    assert await messages(index, "heron", conversation_id="c-bob", contact_ids=("ann",)) == []
    assert await messages(index, "heron", tenant="nobody") == []


async def test_a_message_is_no_memory_and_a_memory_no_message(index: ItemIndex) -> None:
    """S-3: the content class is part of the bucket."""
    await put(index, message("heron"))
    assert (await memories(index, "heron"), len(await messages(index, "heron"))) == ([], 1)
    await index.put_memories(BUCKET, [memory("m", "stork")])
    assert (await memories(index, "stork"), await messages(index, "stork")) == (["m"], [])
    assert await index.features(TENANT, AGENT, ["m"]) == {}


async def test_bucket_tokens_are_not_words(index: ItemIndex, tmp_path: Path) -> None:
    """What keeps buckets apart is not itself found by a query."""
    await put(index, message("heron", contact_id="ann"))
    for word in (TENANT, AGENT, "c", "ann", "message", "bucket", "place"):
        assert await index.search_messages(TENANT, AGENT, [word], ANYWHERE, 5) == []


# Filters


async def test_messages_are_filtered_by_role_author_and_time(index: ItemIndex) -> None:
    """S-12: from `start`, before `end`."""
    hour = timedelta(hours=1)
    await put(
        index,
        message("heron", sequence=1, author="Ann", time=NOW),
        message("heron", sequence=2, author="Bob", time=NOW + hour),
        message("heron", sequence=3, author="Ann", role=ASSISTANT, time=NOW + 2 * hour),
    )

    async def found(**scope: Any) -> list[int]:
        return [sequence for _, sequence in await messages(index, "heron", **scope)]

    assert await found() == [1, 2, 3]
    assert await found(roles=frozenset({ASSISTANT})) == [3]
    assert await found(roles=frozenset({USER, ASSISTANT})) == [1, 2, 3]
    assert await found(authors=frozenset({"Ann"})) == [1, 3]
    assert await found(authors=frozenset({"ann", "Ann' OR '1'='1"})) == []
    assert await found(start=NOW + hour) == [2, 3]
    assert await found(end=NOW + hour) == [1]
    assert await found(start=NOW + hour, end=NOW + 2 * hour) == [2]
    assert await found(authors=frozenset({"Ann"}), roles=frozenset({USER}), end=NOW + hour) == [1]


async def test_filters_do_not_take_places_from_what_passes(index: ItemIndex) -> None:
    """The limit counts what is left."""
    await put(index, *(message("heron heron", sequence=n, author="Bob") for n in range(1, 30)))
    await put(index, message("heron and many other words besides", sequence=30, author="Ann"))
    assert await messages(index, "heron", limit=1, authors=frozenset({"Ann"})) == [("c", 30)]


# Replacing and removing


async def test_an_item_put_again_is_replaced(index: ItemIndex) -> None:
    await put(index, message("heron", contact_id="ann", author="Ann"))
    await put(index, message("stork", contact_id="bob", author="Bob"))
    assert await messages(index, "heron") == []
    assert await messages(index, "stork", contact_ids=("bob",)) == [("c", 1)]
    assert await messages(index, "stork", contact_ids=("ann",)) == []
    known = await index.features(TENANT, AGENT, [message_item_id("c", 1)])
    assert {m.author for m in known.values()} == {"Bob"}
    assert await reached(index) == (1, 1)


async def test_an_item_twice_in_one_batch_counts_once(index: ItemIndex) -> None:
    await put(index, message("heron"), message("heron"))
    assert await messages(index, "heron") == [("c", 1)]
    assert await reached(index) == (1, 1)


async def test_removed_memories_are_gone_and_others_stay(index: ItemIndex) -> None:
    await index.put_memories(BUCKET, [memory("a", "heron"), memory("b", "heron"), memory("b", "heron")])
    await index.put_memories(OTHER, [memory("a", "heron")])
    await index.remove_memories(BUCKET, ["a", "unknown"])
    assert await memories(index, "heron") == ["b"]
    assert await memories(index, "heron", tenant="other") == ["a"]
    await index.remove_memories(BUCKET, ["a"])
    await index.put_memories(BUCKET, [memory("a", "stork")])
    assert (await memories(index, "stork"), await memories(index, "heron")) == (["a"], ["b"])


async def test_an_item_without_words_is_known_all_the_same(index: ItemIndex) -> None:
    """An empty message counts as indexed."""
    await put(index, message(""))
    assert await reached(index) == (1, 1)
    assert len(await index.features(TENANT, AGENT, [message_item_id("c", 1)])) == 1


async def test_terms_of_messages_are_given_in_order(index: ItemIndex) -> None:
    """S-9: what a second look at hits reads; of another agent, and of what is unknown, it gets nothing."""
    await put(index, message("geese over marshland, geese", sequence=1), message("a heron", sequence=2))
    await put(index, message("stork", sequence=1), agent="bob")
    ids = [message_item_id("c", n) for n in (1, 2, 9)]
    held = await index.message_terms(TENANT, AGENT, ids, 50)
    assert list(dict.fromkeys(held[ids[0]])) == analyse("geese over marshland")
    assert list(held[ids[1]]) == analyse("a heron")
    assert held.keys() == set(ids[:2])
    assert await index.message_terms(TENANT, "bob", ids, 50) == {ids[0]: ("stork",)}
    assert await index.message_terms("other", AGENT, ids, 50) == {}
    assert await index.message_terms(TENANT, AGENT, [], 50) == {}


async def test_of_a_long_message_the_first_terms_are_given_whole(index: ItemIndex) -> None:
    words = [f"{name}{'x' * (n % 40)}" for n, name in enumerate(["ibis", "crane"] * 400)]
    await put(index, message(" ".join(words)))
    item_id = message_item_id("c", 1)
    held = (await index.message_terms(TENANT, AGENT, [item_id], 30))[item_id]
    everything = (await index.message_terms(TENANT, AGENT, [item_id], 5000))[item_id]
    assert 0 < len(held) <= 30
    assert held == everything[: len(held)]


async def test_terms_of_many_messages_at_once(index: ItemIndex) -> None:
    await put(index, *(message(f"heron {n}", sequence=n) for n in range(1, 121)))
    ids = [message_item_id("c", n) for n in range(1, 121)]
    held = await index.message_terms(TENANT, AGENT, ids, 10)
    assert [held[id_] for id_ in ids] == [("heron", str(n)) for n in range(1, 121)]


# The registry


async def test_features_are_what_was_put(index: ItemIndex) -> None:
    moment = NOW + timedelta(microseconds=1)
    await put(
        index, message("x", sequence=7, contact_id="ann", author="Ann", session="s", role=3, time=moment)
    )
    item_id = message_item_id("c", 7)
    expected = IndexedMessage(
        conversation_id="c",
        sequence=7,
        message_id="m7",
        contact_id="ann",
        role=3,
        author="Ann",
        session="s",
        time=moment,
    )
    assert await index.features(TENANT, AGENT, [item_id, "c/000000000008", "nonsense"]) == {item_id: expected}
    assert await index.features("other", AGENT, [item_id]) == {}


async def test_features_of_many_items_at_once(index: ItemIndex) -> None:
    await put(index, *(message("x", sequence=n) for n in range(1, 1201)))
    ids = [message_item_id("c", n) for n in range(1, 1201)]
    assert len(await index.features(TENANT, AGENT, ids)) == 1200


async def test_progress_stops_at_a_gap_and_goes_on_when_it_is_filled(index: ItemIndex) -> None:
    """S-16."""
    for sequence, expected in ((3, (1, 0)), (1, (2, 1)), (5, (3, 1)), (2, (4, 3)), (4, (5, 5))):
        await put(index, message("x", sequence=sequence))
        assert await reached(index) == expected
    await put(index, message("again", sequence=2))
    assert await reached(index) == (5, 5)
    assert await reached(index, tenant="other") == (0, 0)


async def test_progress_is_the_same_in_whatever_order_messages_come(index: ItemIndex) -> None:
    """S-16."""
    order = list(range(1, 61))
    random.Random(7).shuffle(order)
    for start in range(0, 60, 7):
        batch = [message("x", sequence=n) for n in order[start : start + 7]]
        await put(index, *batch)
        seen = set(order[: start + 7])
        assert await reached(index) == (len(seen), next(n for n in range(61) if n + 1 not in seen))


async def test_progress_of_several_conversations(index: ItemIndex) -> None:
    await put(index, message("x", "c", 1), message("x", "d", 2))
    assert await index.progress(TENANT, AGENT, ["d", "unknown", "c"]) == {
        "c": Progress(conversation_id="c", count=1, sequence=1),
        "d": Progress(conversation_id="d", count=1, sequence=0),
    }


async def test_missing_sequences_are_named(index: ItemIndex) -> None:
    await put(index, *(message("x", sequence=n) for n in (1, 2, 5, 9)))
    missing = index.missing
    assert await missing(TENANT, AGENT, "c", 2, limit=10) == []
    assert await missing(TENANT, AGENT, "c", 10, limit=10) == [3, 4, 6, 7, 8, 10]
    assert await missing(TENANT, AGENT, "c", 10, limit=2) == [3, 4]
    assert await missing(TENANT, AGENT, "unknown", 3, limit=10) == [1, 2, 3]
    assert await missing("other", AGENT, "c", 2, limit=10) == [1, 2]


async def test_authors_are_those_of_the_conversation_or_of_the_agent(index: ItemIndex) -> None:
    await put(
        index,
        message("x", "c", 1, author="Bob"),
        message("x", "c", 2, author="Ann"),
        message("x", "c", 3),
        message("x", "d", 1, author="Cy"),
    )
    assert await index.authors(TENANT, AGENT, "c") == ["Ann", "Bob"]
    assert await index.authors(TENANT, AGENT, "") == ["Ann", "Bob", "Cy"]
    assert await index.authors("other", AGENT, "") == []
    await put(index, *(message("x", "e", n, author=f"a{n}") for n in range(1, 101)))
    assert len(await index.authors(TENANT, AGENT, "e")) == 64


async def test_items_can_be_listed_for_reconciling(index: ItemIndex) -> None:
    """SV-2."""
    await put(index, *(message("x", sequence=n) for n in (10, 2, 1)))
    await index.put_memories(of("other", "bea"), [memory("m", "x")])
    assert set(await index.buckets()) == {(TENANT, AGENT, "message"), ("other", "bea", "memory")}
    first = await index.item_ids(TENANT, AGENT, "message", "", 2)
    rest = await index.item_ids(TENANT, AGENT, "message", first[-1], 2)
    assert [conversation_of(item_id)[1] for item_id in first + rest] == [1, 2, 10]
    assert await index.item_ids(TENANT, AGENT, "memory", "", 2) == []


async def test_memories_that_are_indexed_are_told_from_others(index: ItemIndex) -> None:
    """SV-2."""
    many = [f"m{n}" for n in range(1100)]
    await index.put_memories(BUCKET, [memory(memory_id, "x") for memory_id in many])
    await put(index, message("x"))
    assert await index.known_memories(BUCKET, [*many, "unknown", message_item_id("c", 1)]) == set(many)
    assert await index.known_memories(OTHER, many) == set()


async def test_a_new_index_is_not_whole_until_it_is_said_to_be(index: ItemIndex) -> None:
    """SV-2."""
    assert not await index.whole()
    await index.set_whole(True)
    assert await index.whole()
    await index.set_whole(False)
    assert not await index.whole()


@pytest.mark.parametrize("conversation", ["c", "a/b", "", "c/000000000001", "/"])
async def test_item_ids_name_their_conversation_and_sequence(conversation: str) -> None:
    assert conversation_of(message_item_id(conversation, 42)) == (conversation, 42)


async def test_kinds_narrow_a_search_before_it_is_cut(index: ItemIndex) -> None:
    """S-9."""
    facts = [memory(f"f{n}", "a heron") for n in range(5)]
    event = memory("e", "heron", "ann", kind=Kind.EVENT)
    await index.put_memories(BUCKET, [*facts, event])
    where = (TENANT, AGENT, ["heron"], ["ann", ""])
    assert len(await index.search_memories(*where, 3)) == 3
    assert [i for i, _ in await index.search_memories(*where, 3, frozenset({Kind.EVENT}))] == ["e"]
    assert await index.search_memories(*where, 3, frozenset({Kind.TASK})) == []
    assert await index.search_memories(TENANT, AGENT, ["heron"], [""], 3, frozenset({Kind.EVENT})) == []


async def test_past_memories_are_found_as_of_a_moment_alone(index: ItemIndex) -> None:
    """S-8: from their beginning on, until their end; and live ones with them, in one ranking."""
    hour, tick = timedelta(hours=1), timedelta(microseconds=1)
    await index.put_memories(PAST, [memory("old", "a heron", ends=NOW + hour)])
    later = MemoryDocument(memory_id="new", contact_id="", terms="heron", begins=NOW + hour)
    await index.put_memories(BUCKET, [later, memory("other", "heron heron river")])

    async def at(moment: datetime | None, kinds: frozenset[Kind] = frozenset()) -> set[str]:
        hits = await index.search_memories(TENANT, AGENT, ["heron"], [""], 9, kinds, valid_at=moment)
        assert hits == sorted(hits, key=lambda hit: (-hit[1], hit[0]))
        return {item_id for item_id, _ in hits}

    assert await at(None) == {"new", "other"}
    assert await at(NOW - tick) == set()
    assert await at(NOW) == await at(NOW + hour - tick) == {"old", "other"}
    assert await at(NOW + hour) == await at(NOW + 10_000 * hour) == {"new", "other"}
    assert await at(NOW, frozenset({Kind.FACT})) == {"old", "other"}
    assert await at(NOW, frozenset({Kind.TASK})) == set()
    where = (TENANT, AGENT, ["heron"], ["bob"], 9)
    assert await index.search_memories(*where, valid_at=NOW) == []
    assert await index.search_memories("other", AGENT, ["heron"], [""], 9, valid_at=NOW) == []


async def test_what_leaves_one_class_stays_in_the_other(index: ItemIndex) -> None:
    """S-8: and one that is in both for a while is found once, and counts as known in each."""
    for bucket in (BUCKET, PAST):
        await index.put_memories(bucket, [memory("m", "a heron"), memory("n", "a heron")])
    hits = await index.search_memories(TENANT, AGENT, ["heron"], [""], 9, valid_at=NOW)
    assert sorted(item_id for item_id, _ in hits) == ["m", "n"]
    await index.remove_memories(BUCKET, ["m"])
    assert await memories(index, "heron") == ["n"]
    assert await index.known_memories(BUCKET, ["m", "n"]) == {"n"}
    assert await index.known_memories(PAST, ["m", "n"]) == {"m", "n"}
    assert await index.item_ids(TENANT, AGENT, "past", "", 9) == ["m", "n"]
    assert set(await index.buckets()) == {(TENANT, AGENT, "memory"), (TENANT, AGENT, "past")}
    await index.remove_memories(PAST, ["m", "n"])
    hits = await index.search_memories(TENANT, AGENT, ["heron"], [""], 9, valid_at=NOW)
    assert [item_id for item_id, _ in hits] == ["n"]


async def test_an_end_is_replaced_with_its_memory(index: ItemIndex) -> None:
    """S-8."""
    later = NOW + timedelta(days=1)
    where = (TENANT, AGENT, ["heron"], [""], 9)
    await index.put_memories(BUCKET, [memory("m", "a heron", ends=later)])
    assert await index.search_memories(*where, valid_at=later) == []
    await index.put_memories(BUCKET, [memory("m", "a heron")])
    assert [item_id for item_id, _ in await index.search_memories(*where, valid_at=later)] == ["m"]


async def test_authors_are_those_of_the_place_that_is_searched(index: ItemIndex) -> None:
    """S-5, S-12."""
    await put(index, message("hi", "c1", 1, contact_id="ann", author="Ann"))
    await put(index, message("hi", "c1", 2, contact_id="ann", author="Rose"), message("hi", "c1", 3))
    await put(index, message("hi", "c2", 1, contact_id="bob", author="Bob"))
    assert await index.authors(TENANT, AGENT, "c1") == ["Ann", "Rose"]
    assert await index.authors(TENANT, AGENT, "", ["bob"]) == ["Bob"]
    assert await index.authors(TENANT, AGENT, "c1", ["bob"]) == []
    assert await index.authors(TENANT, AGENT, "") == ["Ann", "Bob", "Rose"]
    assert await index.authors("other", AGENT, "") == []


async def test_known_memories_are_those_of_the_bucket(index: ItemIndex) -> None:
    """SV-2."""
    await index.put_memories(BUCKET, [memory("a", "x"), memory("b", "y")])
    await index.remove_memories(BUCKET, ["b"])
    assert await index.known_memories(BUCKET, ["a", "b", "c"]) == {"a"}
    assert await index.known_memories(OTHER, ["a"]) == set()


async def test_parts_of_documents_are_found_by_words_within_contacts_and_types(index: ItemIndex) -> None:
    """S-13: a class of its own: neither memories nor messages are found with them, nor the reverse."""
    bucket = of(TENANT, AGENT, ContentClass.DOCUMENT)
    await index.put_memories(
        bucket,
        [
            memory("summary/c#00000", "harbour tides", "ann", kind=DocumentType.SUMMARY),
            memory("summary/d#00000", "harbour lamps", "", kind=DocumentType.SUMMARY),
            memory("page/b#00000", "harbour harbour", "*", kind=DocumentType.PAGE),
            memory("branch/b#00000", "diaries", "", kind=DocumentType.BRANCH),
        ],
    )
    await index.put_memories(BUCKET, [memory("m1", "harbour", "")])
    await index.put_messages(TENANT, AGENT, [message("harbour")])
    await index.put_memories(
        bucket.of(ContentClass.DOCUMENT), [memory("summary/d#00001", "tides", "", kind=DocumentType.SUMMARY)]
    )

    async def parts(query: str, contacts: tuple[str, ...] | None, *types: DocumentType) -> list[str]:
        scope = DocumentScope(contact_ids=contacts, types=frozenset(types))
        hits = await index.search_documents(TENANT, AGENT, analyse_query(query), scope, 10)
        return sorted(item_id for item_id, _ in hits)

    assert await parts("harbour", None) == ["page/b#00000", "summary/c#00000", "summary/d#00000"]
    assert await parts("harbour", ()) == ["summary/d#00000"]
    assert await parts("harbour", ("ann",)) == ["summary/c#00000", "summary/d#00000"]
    assert await parts("harbour", ("bob",)) == ["summary/d#00000"]
    assert await parts("harbour", None, DocumentType.PAGE) == ["page/b#00000"]
    assert await parts("harbour diaries", (), DocumentType.BRANCH) == ["branch/b#00000"]
    assert await parts("tides", ("ann",)) == ["summary/c#00000", "summary/d#00001"]
    assert await memories(index, "harbour") == ["m1"]
    assert await messages(index, "harbour") == [("c", 1)]
    await index.remove_memories(bucket, ["summary/c#00000", "summary/d#00001"])
    assert await parts("tides", None) == []
    assert await index.known_memories(bucket, ["summary/c#00000", "page/b#00000"]) == {"page/b#00000"}
    other = await index.search_documents("other", AGENT, ["harbour"], DocumentScope(contact_ids=None), 10)
    assert other == []
