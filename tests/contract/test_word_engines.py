"""What the word engines have in common, and what each must never do (SPEC S-3, S-9, S-18, X-1)."""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

import pytest

from services.kit.errors import DependencyDown, StartupError
from services.kit.sql import Script, SqlDatabase, Statement
from services.kit.sqlite import Database, SqliteScripts
from services.memory.semantic.adapters import words_meili_schema as schema
from services.memory.semantic.adapters.sql.items import SqlRegistry
from services.memory.semantic.adapters.sqlite_index import SqliteItemIndex
from services.memory.semantic.app.item_ports import ItemIndex, MemoryDocument, MessageDocument
from services.memory.semantic.app.items import SplitItems
from services.memory.semantic.domain.analysis import analyse, analyse_query
from services.memory.semantic.domain.items import MessageScope, SourceMessage, conversation_of
from services.memory.semantic.domain.memory import Kind
from services.memory.semantic.domain.vectors import Bucket, ContentClass
from tests.fake_meilisearch import FakeMeilisearch
from tests.meilisearch_server import MeiliPlace, meilisearch

NOW = datetime(2031, 5, 4, 12, 0, tzinfo=UTC)
TENANT, AGENT = "acme", "ada"
MEMORIES = Bucket(tenant=TENANT, agent=AGENT, content=ContentClass.MEMORY)
INDEX = files("services.memory.semantic") / "migrations" / "index"
T = TypeVar("T")
OPERATORS = (
    '"heron', 'heron"', '-heron', '- heron', '"-heron"', "heron -stork", '-"heron stork"', "heron*",
    "^heron", "terms:heron", "heron AND stork", "NOT heron", "heron OR", 'x" OR "heron', "(heron",
    "NEAR(a b)", "_geoRadius(1,2,3)",
    "heron\\", "heron' = 1", "{}", "[heron]", "heron;stork", "\x00heron", "<em>", "%",
)  # fmt: skip


@dataclass
class Recorder:
    """A SqlDatabase that notes each statement that is run."""

    database: SqlDatabase
    statements: list[Statement] = field(default_factory=list)

    async def write(self, script: Callable[[], Script[T]]) -> T:
        return await self.database.write(lambda: self._noted(script()))

    async def read(self, script: Callable[[], Script[T]]) -> T:
        return await self.database.read(lambda: self._noted(script()))

    def _noted(self, script: Script[T]) -> Script[T]:
        try:
            statement = next(script)
            while True:
                self.statements.append(statement)
                statement = script.send((yield statement))
        except StopIteration as end:
            result: T = end.value
            return result


@dataclass
class Engine:
    """An index, and what its parts ask of their stores."""

    index: ItemIndex
    recorder: Recorder
    fake: FakeMeilisearch | None = None


@pytest.fixture(params=["fts", "meilisearch"])
async def engine(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Engine]:
    async with AsyncExitStack() as stack:
        file = await Database.open(tmp_path / "index.db", INDEX, synchronous="NORMAL")
        stack.push_async_callback(file.close)
        recorder = Recorder(SqliteScripts(file))
        if request.param == "fts":
            yield Engine(index=SqliteItemIndex(recorder), recorder=recorder)
            return
        place = await stack.enter_async_context(meilisearch())
        words = await place.open()
        stack.push_async_callback(words.close)
        index = SplitItems(registry=SqlRegistry(recorder), words=words)
        yield Engine(index=index, recorder=recorder, fake=place.fake)


@pytest.fixture
async def place() -> AsyncIterator[MeiliPlace]:
    """The fake: what these tests look at, or do to it, no real server shows or suffers."""
    async with meilisearch(fake=True) as place:
        yield place


def fake_of(place: MeiliPlace) -> FakeMeilisearch:
    assert place.fake is not None
    return place.fake


def message(text: str, sequence: int = 1, conversation: str = "c", **fields: Any) -> MessageDocument:
    chosen = {"contact_id": "", "role": 2, "author": "", "session": "", "time": NOW, "created": NOW} | fields
    source = SourceMessage(
        conversation_id=conversation,
        sequence=sequence,
        message_id=f"m{sequence}",
        text=text,
        tool_text="",
        **chosen,
    )
    return MessageDocument(message=source, terms=" ".join(analyse(text)))


async def found(index: ItemIndex, query: str, limit: int = 50) -> list[int]:
    hits = await index.search_messages(TENANT, AGENT, analyse_query(query), MessageScope(), limit)
    return [conversation_of(item_id)[1] for item_id, _ in hits]


async def put(index: ItemIndex, *texts: str) -> None:
    documents = [message(text, sequence) for sequence, text in enumerate(texts, start=1)]
    await index.put_messages(TENANT, AGENT, documents)


# What is found, and in which order


async def test_one_rare_word_outranks_several_common_ones(engine: Engine) -> None:
    """S-18: one matching rare word is enough."""
    await put(engine.index, *["the garden party by the lake"] * 30, "an axolotl", *["some more garden"] * 30)
    ranked = await found(engine.index, "garden axolotl", limit=10)
    assert (ranked[0], len(ranked)) == (31, 10)


async def test_items_with_more_of_the_words_rank_higher(engine: Engine) -> None:
    """S-18: what several words give adds up."""
    await put(engine.index, "heron", "heron river", "heron river bridge", "stone", *["filler"] * 20)
    assert await found(engine.index, "heron river bridge") == [3, 2, 1]


async def test_words_that_most_items_hold_find_them_all_the_same(engine: Engine) -> None:
    """S-18: no word is too common to match."""
    await put(engine.index, *["heron"] * 12)
    assert sorted(await found(engine.index, "heron")) == list(range(1, 13))


async def test_items_with_two_common_words_are_found_among_many_with_one(engine: Engine) -> None:
    """S-9: the candidates hold the best, however many items hold a word."""
    texts = ["heron and so much besides"] * 150 + ["river and so much besides"] * 160
    texts += ["an egret, a river, a long story about some heron and his breakfast of frogs and fish"]
    await put(engine.index, *texts, *["filler"] * 400)
    assert await found(engine.index, "heron river", limit=1) == [311]


async def test_a_word_said_often_ranks_higher_and_a_long_text_lower(engine: Engine) -> None:
    """BM25's two other parts."""
    filler = "and a word that stands about to make this text longer than the others are by far"
    await put(engine.index, "heron here today", "heron heron heron", f"heron {filler}", *["filler"] * 20)
    assert await found(engine.index, "heron") == [2, 1, 3]


async def test_no_word_needs_a_neighbour(engine: Engine) -> None:
    """S-18: neither words side by side nor words run together count as another word."""
    await put(engine.index, "sun flower", "sunflower", "flower sun")
    assert await found(engine.index, "sunflower") == [2]
    assert sorted(await found(engine.index, "sun flower")) == [1, 3]


async def test_a_word_is_not_found_by_its_beginning_or_by_a_mistake(engine: Engine) -> None:
    """S-18: the analyser alone says which words are alike."""
    await put(engine.index, "waterproof jacket")
    for query in ("water", "waterproo", "waterprof", "jackett"):
        assert await found(engine.index, query) == [], query
    assert await found(engine.index, "waterproof") == [1]


async def test_letters_of_all_scripts_stay_apart(engine: Engine) -> None:
    """S-18: an engine's own folding would take some of these for one word."""
    words = ["straße", "strasse", "Ωμέγα", "ωμεγα", "ёлка", "елка", "東京", "京都", "œuvre", "ไทย", "한국"]
    await put(engine.index, *words)
    for sequence, word in enumerate(words, start=1):
        assert sequence in await found(engine.index, word), word
    assert await found(engine.index, "東京") == [7]
    assert await found(engine.index, "한국") == [11]


async def test_words_longer_than_an_engine_takes_are_found(engine: Engine) -> None:
    """S-18: a long word in another script is longer still as it is written for the engine."""
    long, other = "ж" * 95, "ж" * 94 + "з"
    await put(engine.index, long, other)
    assert await found(engine.index, long) == [1]
    assert await found(engine.index, other) == [2]


async def test_a_query_of_many_words_still_finds_by_a_rare_one(engine: Engine) -> None:
    """A pasted paragraph is a query too."""
    common = " ".join(f"word{n}" for n in range(60))
    await put(engine.index, *[common] * 5, "an axolotl")
    assert 6 in await found(engine.index, f"{common} axolotl")


async def test_past_and_live_memories_compare_in_one_ranking(engine: Engine) -> None:
    """S-8, S-18: rarity and length are those of both, so that being past costs no place."""

    def memory(memory_id: str, text: str) -> MemoryDocument:
        terms = " ".join(analyse(text))
        return MemoryDocument(memory_id=memory_id, contact_id="", terms=terms, begins=NOW)

    live = [memory(f"live{n}", "a heron by the river") for n in range(40)]
    await engine.index.put_memories(MEMORIES, [*live, memory("short", "a heron")])
    past = [memory("both", "a heron, an axolotl"), memory("rare", "an axolotl by the river and more")]
    await engine.index.put_memories(MEMORIES.of(ContentClass.PAST), past)
    hits = await engine.index.search_memories(TENANT, AGENT, ["heron", "axolotl"], [""], 3, valid_at=NOW)
    assert [item_id for item_id, _ in hits] == ["both", "rare", "short"]
    assert len(await engine.index.search_memories(TENANT, AGENT, ["heron"], [""], 99, valid_at=NOW)) == 42
    assert len(await engine.index.search_memories(TENANT, AGENT, ["axolotl"], [""], 99)) == 0


# Nothing is syntax


@pytest.mark.parametrize("query", OPERATORS)
async def test_operators_of_an_engine_are_not_obeyed(engine: Engine, query: str) -> None:
    """S-18: whatever is typed finds what its words find, and nothing is excluded by it."""
    await put(engine.index, "a heron", "a stork", "a crane")
    words = {"heron": 1, "stork": 2}
    expected = {sequence for word, sequence in words.items() if word in analyse_query(query)}
    assert set(await found(engine.index, query)) == expected


@pytest.mark.parametrize("term", OPERATORS)
async def test_terms_that_are_syntax_find_no_more_than_words(engine: Engine, term: str) -> None:
    """Terms are the analyser's, but no engine depends on it."""
    await put(engine.index, "a heron", "a crane")
    hits = await engine.index.search_messages(TENANT, AGENT, [term], MessageScope(), 10)
    assert {conversation_of(item_id)[1] for item_id, _ in hits} <= {1}
    hits = await engine.index.search_messages(TENANT, AGENT, [term, "crane"], MessageScope(), 10)
    assert 2 in {conversation_of(item_id)[1] for item_id, _ in hits}, "and take nothing away"


@pytest.mark.parametrize("name", ['Ann" OR tenant = "x', "Ann'", "ANN", "ann", "\\", "Ann]", "", "1", "1.0"])
async def test_names_in_filters_are_compared_whole(engine: Engine, name: str) -> None:
    """S-12: quotes end nothing, case counts, and "1" is not "1.0"."""
    await engine.index.put_messages(
        TENANT, AGENT, [message("heron", 1, author="Ann"), message("heron", 2, author=name or "Bob")]
    )
    scope = MessageScope(authors=frozenset({name}))
    hits = await engine.index.search_messages(TENANT, AGENT, ["heron"], scope, 10)
    assert [conversation_of(item_id)[1] for item_id, _ in hits] == ([2] if name else [])


@pytest.mark.parametrize("other", [("Acme", "ada"), ("acme", "Ada"), ("acme ", "ada"), ("acm", "eada")])
async def test_tenants_and_agents_that_look_alike_are_apart(engine: Engine, other: tuple[str, str]) -> None:
    """S-3, X-1: also where an engine compares without regard to case."""
    await put(engine.index, "a heron")
    await engine.index.put_messages(*other, [message("a stork")])
    assert (await found(engine.index, "heron"), await found(engine.index, "stork")) == ([1], [])
    assert len(await engine.index.search_messages(*other, ["stork"], MessageScope(), 5)) == 1


# No request without tenant and agent


async def use_everything(index: ItemIndex) -> None:
    scopes = [
        MessageScope(),
        MessageScope(contact_ids=("ann", "")),
        MessageScope(conversation_id="c", roles=frozenset({2}), authors=frozenset({"Ann"})),
        MessageScope(start=NOW, end=NOW),
    ]
    await index.put_messages(TENANT, AGENT, [message("a heron", author="Ann"), message("a stork", 2)])
    memories = [
        MemoryDocument(memory_id=f"m{n}", contact_id="ann", terms="heron", begins=NOW) for n in range(3)
    ]
    await index.put_memories(MEMORIES, memories)
    await index.put_memories(MEMORIES.of(ContentClass.PAST), memories[:1])
    for scope in scopes:
        await index.search_messages(TENANT, AGENT, ["heron", "stork"], scope, 5)
    await index.search_memories(TENANT, AGENT, ["heron"], ["ann", ""], 5, frozenset({Kind.FACT}))
    await index.search_memories(TENANT, AGENT, ["heron"], ["ann", ""], 5, valid_at=NOW)
    await index.message_terms(TENANT, AGENT, ["c/000000000001"], 5)
    await index.features(TENANT, AGENT, ["c/000000000001"])
    await index.authors(TENANT, AGENT, "c", ["ann"])
    await index.progress(TENANT, AGENT, ["c"])
    await index.missing(TENANT, AGENT, "c", 5, limit=5)
    await index.item_ids(TENANT, AGENT, "memory", "", 5)
    await index.known_memories(MEMORIES, ["m1"])
    await index.remove_memories(MEMORIES, ["m1"])


async def test_no_statement_leaves_without_tenant_and_agent(engine: Engine) -> None:
    """X-1: every row that is read, changed or made is of a tenant and an agent."""
    await use_everything(engine.index)
    statements = [s for s in engine.recorder.statements if "index_facts" not in s.text]
    assert len(statements) > 15
    for statement in statements:
        runs = statement.arguments if statement.many else [statement.arguments]
        if re.match(r"(INSERT OR REPLACE INTO|DELETE FROM) keywords", statement.text):
            continue  # by numbers that the statement before read from the bucket
        bound = re.search(r"WHERE \+?(i\.)?tenant = \? AND \+?(i\.)?agent_id = \?", statement.text)
        made = re.match(r"INSERT INTO \w+ \(tenant, agent_id, .*ON CONFLICT \(tenant, ", statement.text)
        assert bound or made, statement.text
        before = statement.text[: bound.start()].count("?") if bound else 0
        for arguments in runs:
            assert list(arguments)[before : before + 2] == [TENANT, AGENT], statement.text


async def test_no_request_leaves_without_tenant_and_agent(place: MeiliPlace) -> None:
    """X-1: each search has both filters, and what is written or removed bears both."""
    async with AsyncExitStack() as stack:
        words = await place.open()
        stack.push_async_callback(words.close)
        await use_everything(await _beside(words, stack))
    fake = fake_of(place)
    both = f'tenant = "{schema.token(TENANT)}" AND agent = "{schema.token(AGENT)}"'
    queries = [q for r in fake.requests if r.path == "/multi-search" for q in r.body["queries"]]
    assert len(queries) > 10
    for query in queries:
        assert query["filter"] == both or query["filter"].startswith(both + " AND ")
        assert re.search(r"\bOR\b|\bNOT\b", query["filter"]) is None, "nothing widens a filter"
        assert re.fullmatch(r'("[a-z0-9]+"( "[a-z0-9]+")*)?', query["q"]), "only phrases, only plain letters"
    fetched = [r.body for r in fake.requests if r.path.endswith("/documents/fetch")]
    assert [request["filter"] for request in fetched] == [both]
    written = [d for r in fake.requests if r.path.partition("?")[0].endswith("/documents") for d in r.body]
    assert len(written) == 6
    for document in written:
        assert (document["tenant"], document["agent"]) == (schema.token(TENANT), schema.token(AGENT))
    removed = [id_ for r in fake.requests if r.path.endswith("/delete-batch") for id_ in r.body]
    assert removed == [schema.document_id(MEMORIES, "m1")]


@pytest.mark.parametrize(("tenant", "agent"), [("", "ada"), ("acme", "")])
async def test_no_search_is_made_without_tenant_or_agent(engine: Engine, tenant: str, agent: str) -> None:
    """S-3: a bucket without one of them cannot be written down."""
    with pytest.raises(ValueError, match="tenant"):
        await engine.index.search_messages(tenant, agent, ["heron"], MessageScope(), 5)
    with pytest.raises(ValueError, match="tenant"):
        await engine.index.put_messages(tenant, agent, [message("heron")])


# The server's indexes


async def _beside(words: Any, stack: AsyncExitStack) -> SplitItems:
    """An index with a registry in a folder of its own."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    file = await Database.open(folder / "index.db", INDEX, synchronous="NORMAL")
    stack.push_async_callback(file.close)
    return SplitItems(registry=SqlRegistry(SqliteScripts(file)), words=words)


async def test_settings_are_applied_once_and_put_right_again(place: MeiliPlace) -> None:
    """S-18: settings are code, and what drifted is set back at the next start."""
    fake = fake_of(place)

    def changes() -> int:
        return sum(request.method == "PATCH" for request in fake.requests)

    await (await place.open()).close()
    assert changes() == len(ContentClass)
    await (await place.open()).close()
    assert changes() == len(ContentClass), "nothing to do at a second start"
    index = fake.indexes[schema.index_uid(place.prefix, "1", ContentClass.MESSAGE)]
    index.settings["typoTolerance"] = index.settings["typoTolerance"] | {"enabled": True}
    index.settings["stopWords"] = ["heron"]
    await (await place.open()).close()
    assert changes() == len(ContentClass) + 1
    assert index.settings["stopWords"] == []
    assert index.settings["typoTolerance"]["enabled"] is False
    assert schema.drifted(index.settings) == {}


async def test_every_setting_is_one_that_the_server_keeps(place: MeiliPlace) -> None:
    """Settings that a server changes would be applied again at each start."""
    words = await place.open()
    await words.close()
    for index in fake_of(place).indexes.values():
        assert schema.drifted(index.settings) == {}


async def test_an_index_made_anew_has_another_identity(place: MeiliPlace) -> None:
    """SV-2: so that a start sees that the words are gone."""
    first = await place.open()
    await first.close()
    again = await place.open()
    await again.close()
    assert first.identity == again.identity
    await place.drop()
    lost = await place.open()
    await lost.close()
    assert lost.identity != first.identity


async def test_two_replicas_start_at_once(place: MeiliPlace) -> None:
    """O-5."""
    one, other = await asyncio.gather(place.open(), place.open())
    assert one.identity == other.identity
    await one.close()
    await other.close()


async def test_an_index_of_somebody_else_is_left_alone(place: MeiliPlace) -> None:
    fake = fake_of(place)
    fake._made_index(schema.index_uid(place.prefix, "1", ContentClass.MEMORY)).primary_key = "isbn"
    with pytest.raises(StartupError, match="not one of"):
        await place.open()


async def test_a_wrong_key_ends_the_start(place: MeiliPlace) -> None:
    with pytest.raises(StartupError, match="refuses"):
        await replace(place, api_key="wrong").open()


async def test_a_write_returns_when_a_search_finds_it(place: MeiliPlace) -> None:
    """S-16: tasks are waited for; the fake applies nothing before it was looked at twice."""
    words = await place.open()
    async with AsyncExitStack() as stack:
        stack.push_async_callback(words.close)
        index = await _beside(words, stack)
        await put(index, "a heron")
        assert await found(index, "heron") == [1]
        looks = [r for r in fake_of(place).requests if r.path.startswith("/tasks/")]
        assert len(looks) >= 3


async def test_large_writes_are_split(place: MeiliPlace) -> None:
    words = await place.open()
    async with AsyncExitStack() as stack:
        stack.push_async_callback(words.close)
        index = await _beside(words, stack)
        await put(index, *["a heron"] * 2500)
        sizes = [len(r.body) for r in fake_of(place).requests if "/documents" in r.path]
        assert (sum(sizes), max(sizes)) == (2500, 1000)
        assert len(await found(index, "heron", limit=1000)) == 1000


async def test_a_task_that_fails_fails_the_write(place: MeiliPlace) -> None:
    """S-16: what is not found is not registered."""
    words = await place.open()
    async with AsyncExitStack() as stack:
        stack.push_async_callback(words.close)
        index = await _beside(words, stack)
        fake_of(place).answers += [None, (200, b'{"status": "failed", "error": {"code": "internal"}}')]
        with pytest.raises(DependencyDown):
            await put(index, "a heron")
        assert await index.missing(TENANT, AGENT, "c", 1, limit=5) == [1]


def test_tokens_of_different_texts_differ() -> None:
    """X-1: parts cannot be cut differently into the same whole."""
    assert schema.token("a", "bc") != schema.token("ab", "c") != schema.token("abc")
    ids: Sequence[str] = [schema.token(text) for text in ("", "a", "A", "ä", "a ")]
    assert len(set(ids)) == 5
    assert all(re.fullmatch("[a-z0-9]{33}", id_) for id_ in ids)
