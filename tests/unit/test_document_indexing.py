"""Derived documents in every index, and out of every one again (SPEC S-13, S-5, S-11, SV-2, J-3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from services.kit.errors import DependencyDown
from services.memory.semantic.adapters.memory_items import MemoryItemIndex
from services.memory.semantic.adapters.sql.documents import SqlIndexedDocuments
from services.memory.semantic.adapters.vectors_memory import MemoryVectorIndex
from services.memory.semantic.app.document_indexing import DocumentIndexer, documents_bucket
from services.memory.semantic.app.document_search import DocumentHit, DocumentSearch
from services.memory.semantic.app.document_upkeep import DocumentUpkeep
from services.memory.semantic.app.generations import Generation, Generations
from services.memory.semantic.app.indexing import UNUSABLE, ChunkItem, Indexer
from services.memory.semantic.app.recall import RecallSettings
from services.memory.semantic.app.strangers import Strangers
from services.memory.semantic.app.vector_writing import MOST_TEXTS, VectorWriter
from services.memory.semantic.domain.documents import (
    SHARED,
    DocumentScope,
    DocumentSource,
    DocumentType,
    SourceDocument,
    item_id,
)
from services.memory.semantic.domain.fusion import Default, Reference, Strategy
from services.memory.semantic.domain.vectors import VectorModel
from tests.unit.semantic_parts import AGENT, DIMENSION, TENANT, Hashing, Parts, Sql

BUCKET = documents_bucket(TENANT, AGENT)
THEMES = DocumentSource(type=DocumentType.THEME)
EVERYTHING = DocumentScope(contact_ids=None)


def talk(conversation_id: str) -> DocumentSource:
    return DocumentSource(type=DocumentType.SUMMARY, subject=conversation_id)


class Compactor:
    """What was derived. `meanwhile` is what another call reads and writes while one is under way."""

    def __init__(self) -> None:
        self.documents: dict[DocumentSource, list[SourceDocument]] = {}
        self.reads = 0
        self.down = False
        self.later: list[SourceDocument] = []

    def put(
        self, source: DocumentSource, text: str, *, id_: str = "", of: Sequence[str] = ()
    ) -> SourceDocument:
        former = self.documents.get(source, [])
        made = SourceDocument(
            source=source,
            id=id_ or source.subject,
            version=1 + max((one.version for one in former), default=0),
            title=text.split(".")[0],
            text=text,
            conversation_ids=tuple(of) or (source.subject,),
        )
        self.documents[source] = [one for one in former if one.id != made.id] + [made]
        return made

    async def read(self, agent_id: str, sources: Sequence[DocumentSource]) -> list[SourceDocument]:
        if self.down:
            raise DependencyDown
        self.reads += 1
        found = [one for source in sources for one in self.documents.get(source, [])]
        if self.later and self.reads > 1:
            newer = self.later.pop()
            self.documents[newer.source] = [newer]
        return found


class World:
    """Indexing and searching over adapters in memory."""

    def __init__(self) -> None:
        self.parts = Parts()
        self.sql = Sql()
        self.store = SqlIndexedDocuments(self.sql)
        self.compactor = Compactor()
        self.contacts: dict[str, str] = {}
        self.asked: list[str] = []
        self.texts = Hashing()
        self.vectors = MemoryVectorIndex(VectorModel(revision="r", dimension=DIMENSION))
        self.items = MemoryItemIndex()
        self.generations = Generations(Generation(vectors=self.vectors, texts=self.texts))
        self.upkeep = DocumentUpkeep(self.store, self.items)
        self.indexer = Indexer(
            store=self.parts.store,
            items=self.items,
            generations=self.generations,
            conversations=self.parts.episodes,
            observe_lag=lambda _: None,
            clock=lambda: self.parts.now,
            documents=DocumentIndexer(
                store=self.store,
                texts=self.compactor,
                contacts=self,
                items=self.items,
                writer=VectorWriter(self.generations),
            ),
        )

    async def of(self, agent_id: str, conversation_ids: Sequence[str]) -> dict[str, str]:
        """The contacts of conversations."""
        self.asked += conversation_ids
        return {one: self.contacts[one] for one in conversation_ids if one in self.contacts}

    async def index(self, *sources: DocumentSource, again: bool = False) -> list[str]:
        return await self.indexer.index(TENANT, AGENT, sources, again=again)

    async def found(self, query: str, scope: DocumentScope = EVERYTHING) -> list[str]:
        hits, failures = await self.search(query, scope)
        assert not failures
        return [one.found.document.key for one in hits]

    async def search(
        self,
        query: str,
        scope: DocumentScope = EVERYTHING,
        *,
        limit: int = 10,
        strategy: Strategy | None = None,
    ) -> tuple[list[DocumentHit], dict[str, str]]:
        search = DocumentSearch(
            store=self.store,
            items=self.items,
            generations=self.generations,
            settings=RecallSettings(channel_seconds=0.5),
        )
        return await search.search(
            TENANT, AGENT, query, scope=scope, limit=limit, strategy=strategy or Default()
        )

    async def held(self) -> set[str]:
        """Parts that are in the vectors; the registry has the same."""
        ids = set((await self.vectors.ids(BUCKET, limit=1000)).item_ids)
        assert set(await self.items.item_ids(TENANT, AGENT, "document", "", 1000)) == ids
        return ids


@pytest.fixture
def world() -> World:
    return World()


LONG = "Tides. " + "The harbour master wrote of tides and winds in his book. " * 60


async def test_a_document_is_found_until_it_is_gone(world: World) -> None:
    world.contacts = {"c": "", "d": ""}
    world.compactor.put(talk("c"), "Greenhouse. Drip hoses for tomatoes.")
    world.compactor.put(talk("d"), "Harbour. Ferries to Turku.")
    assert await world.index(talk("c"), talk("d")) == ["", ""]
    assert (await world.found("tomatoes"))[0] == "summary/c"
    assert (await world.found("ferries"))[0] == "summary/d"
    del world.compactor.documents[talk("c")]
    assert await world.index(talk("c")) == [""]
    assert await world.found("tomatoes hoses") == ["summary/d"], "the nearest of what is left"
    assert await world.held() == {item_id("summary/d", 0)}
    assert await world.index(talk("c"), talk("nobody")) == ["", ""], "again, and of what never was"


async def test_a_newer_version_takes_the_place_of_the_older(world: World) -> None:
    world.contacts = {"c": ""}
    world.compactor.put(talk("c"), LONG)
    await world.index(talk("c"))
    assert len(await world.held()) > 3
    world.compactor.put(talk("c"), "Winds. Nothing but storms.")
    await world.index(talk("c"))
    assert await world.held() == {item_id("summary/c", 0)}
    hits, _ = await world.search("harbour master tides")
    assert [(one.found.document.version, one.found.chunk.text) for one in hits] == [
        (2, "Winds. Nothing but storms.")
    ]


async def test_done_twice_it_embeds_once(world: World) -> None:
    world.contacts = {"c": ""}
    world.compactor.put(talk("c"), LONG)
    await world.index(talk("c"))
    calls = len(world.texts.calls)
    await world.index(talk("c"))
    assert len(world.texts.calls) == calls
    await world.index(talk("c"), again=True)
    assert len(world.texts.calls) == calls + 1, "unless all is to be made again"
    world.compactor.documents[talk("c")] = [replace(world.compactor.documents[talk("c")][0], version=9)]
    await world.index(talk("c"))
    assert len(world.texts.calls) == calls + 1
    (known,) = await world.store.known(TENANT, AGENT, [talk("c")])
    assert (known.version, known.settled) == (9, True)


async def test_what_changes_while_it_is_indexed_is_indexed_as_it_became(world: World) -> None:
    """Another call may have written the newer version before this one wrote the older."""
    world.contacts = {"c": ""}
    first = world.compactor.put(talk("c"), "Harbour. Ferries to Turku.")
    world.compactor.later = [replace(first, version=2, text="Winds. Storms.", title="Winds")]
    world.compactor.reads = 1
    await world.index(talk("c"))
    hits, _ = await world.search("storms")
    assert [(one.found.document.version, one.found.document.title) for one in hits] == [(2, "Winds")]
    vector = await world.vectors.similarities(
        BUCKET, await world.texts.query("Winds. Storms."), ["summary/c#00000"]
    )
    assert vector["summary/c#00000"] == pytest.approx(1.0)


async def test_what_a_crash_left_half_done_is_done_again(world: World) -> None:
    """The rows are there, the vectors are of the version before: the same job writes them."""
    world.contacts = {"c": ""}
    world.compactor.put(talk("c"), "Harbour. Ferries to Turku.")
    await world.index(talk("c"))
    world.compactor.put(talk("c"), "Winds. Storms.")
    world.texts.down = True
    with pytest.raises(DependencyDown):
        await world.index(talk("c"))
    assert not (await world.store.known(TENANT, AGENT, [talk("c")]))[0].settled
    world.texts.down = False
    await world.index(talk("c"))
    found = await world.vectors.similarities(
        BUCKET, await world.texts.query("Winds. Storms."), ["summary/c#00000"]
    )
    assert found["summary/c#00000"] == pytest.approx(1.0)
    assert (await world.store.known(TENANT, AGENT, [talk("c")]))[0].settled


async def test_all_themes_come_and_go_together(world: World) -> None:
    world.contacts = {"c": "ann", "d": "bob"}
    world.compactor.put(THEMES, "Gardens.", id_="b1", of=["c"])
    world.compactor.put(THEMES, "Ships.", id_="b2", of=["c", "d"])
    await world.index(THEMES)
    assert sorted(await world.found("gardens ships")) == ["theme/b1", "theme/b2"]
    world.compactor.documents[THEMES] = world.compactor.documents[THEMES][1:]
    await world.index(THEMES)
    assert await world.found("gardens ships") == ["theme/b2"]


async def test_whose_a_document_is_follows_from_its_conversations(world: World) -> None:
    """By the rows of their summaries where they are indexed, else by Episodic; unknown is nobody's to see."""
    world.contacts = {"c": "ann", "d": "bob", "e": ""}
    page = DocumentSource(type=DocumentType.PAGE, subject="b1")
    world.compactor.put(talk("c"), "Harbour. Ferries.")
    world.compactor.put(page, "Harbour. Ferries to Turku.", of=["c", "e"])
    await world.index(talk("c"))
    world.asked.clear()
    await world.index(page)
    assert set(world.asked) == {"e"}
    ann, bob = DocumentScope(contact_ids=("ann",)), DocumentScope(contact_ids=("bob",))
    assert sorted(await world.found("ferries", ann)) == ["page/b1", "summary/c"]
    assert await world.found("ferries", bob) == await world.found("ferries", DocumentScope()) == []
    for others in (["c", "d"], ["c", "unknown"]):
        world.compactor.put(page, "Harbour. Ferries to Turku.", of=others)
        await world.index(page)
        assert await world.found("ferries", ann) == ["summary/c"]
        assert sorted(await world.found("ferries")) == ["page/b1", "summary/c"]
    (found,) = (await world.store.chunks(TENANT, AGENT, ["page/b1#00000"])).values()
    assert found.document.contact_id == SHARED


async def test_an_index_that_is_behind_shows_nothing_that_the_rows_do_not_allow(world: World) -> None:
    """S-5: the vectors and words still say that it is Ann's."""
    world.contacts = {"c": "ann"}
    made = world.compactor.put(talk("c"), "Harbour. Ferries.")
    await world.index(talk("c"))
    ann = DocumentScope(contact_ids=("ann",))
    assert await world.found("ferries", ann) == ["summary/c"]
    found = await world.store.chunks(TENANT, AGENT, ["summary/c#00000"])
    row = replace(
        found["summary/c#00000"].document, contact_id=SHARED, chunks=(found["summary/c#00000"].chunk,)
    )
    await world.store.write(TENANT, AGENT, [row], [])
    assert await world.found("ferries", ann) == []
    await world.store.write(TENANT, AGENT, [], [row.key])
    assert await world.found("ferries") == []
    assert made.id == "c"


async def test_types_narrow_both_channels(world: World) -> None:
    world.contacts = {"c": ""}
    branch = DocumentSource(type=DocumentType.BRANCH, subject="b1")
    world.compactor.put(talk("c"), "Harbour. Ferries.")
    world.compactor.put(branch, "Harbour.", of=["c"])
    await world.index(talk("c"), branch)
    only = DocumentScope(contact_ids=None, types=frozenset({DocumentType.BRANCH}))
    assert await world.found("harbour", only) == ["branch/b1"]
    assert sorted(await world.found("harbour")) == ["branch/b1", "summary/c"]


async def test_a_document_comes_once_for_its_best_part(world: World) -> None:
    world.contacts = {"c": ""}
    world.compactor.put(talk("c"), LONG + "At last a walrus was seen.")
    await world.index(talk("c"))
    for strategy in (Default(), Reference()):
        hits, _ = await world.search("walrus", strategy=strategy)
        (hit,) = hits
        assert "walrus" in hit.found.chunk.text
        assert hit.found.chunk.number == hit.found.chunk_count - 1
        assert hit.hit.score == pytest.approx(sum(hit.hit.contributions.values()))


async def test_one_channel_is_enough_and_none_is_too_few(world: World) -> None:
    world.contacts = {"c": ""}
    world.compactor.put(talk("c"), "Harbour. Ferries.")
    await world.index(talk("c"))
    world.texts.down = True
    hits, failures = await world.search("ferries")
    assert len(hits) == 1
    assert failures == {"vector": "not available"}
    with pytest.raises(DependencyDown):
        await world.search("ferries", strategy=Reference(weights={"vector": 1.0, "keyword": 0.0}))


async def test_a_text_that_is_refused_or_kept_in_is_found_by_its_words(world: World) -> None:
    """S-15; the job of what was refused says so, the others of its batch are well."""
    world.contacts = {"c": "", "d": ""}
    world.compactor.put(talk("c"), "Harbour. Ferries.")
    world.compactor.put(talk("d"), "Winds. Storms.")
    world.texts.refused = "Ferries"
    assert await world.index(talk("c"), talk("d")) == [UNUSABLE, ""]
    assert "summary/c" in await world.found("ferries")
    world.texts.refused = ""
    await world.index(talk("c"))
    assert len(await world.held()) == 2
    world.texts.kept_in = True
    world.compactor.put(talk("c"), "Harbour. Lighthouses.")
    assert await world.index(talk("c")) == [""]
    world.texts.kept_in = False
    assert "summary/c" in await world.found("lighthouses")
    ids = (await world.vectors.ids(BUCKET, limit=10)).item_ids
    assert ids == ("summary/d#00000",), "no vector of what it said before"


async def test_a_next_generation_is_filled_from_the_rows(world: World) -> None:
    """S-17: nobody is asked for the texts again; what has no row is refused."""
    world.contacts = {"c": ""}
    world.compactor.put(talk("c"), LONG)
    await world.index(talk("c"))
    ids = sorted(await world.held())
    other = MemoryVectorIndex(VectorModel(revision="s", dimension=DIMENSION))
    generation = Generation(vectors=other, texts=Hashing())
    world.compactor.down = True
    batch = [ChunkItem(item_id=id_) for id_ in [*ids, "summary/x#00000"]]
    errors = await world.indexer.fill(TENANT, AGENT, batch, generation)
    assert errors == [""] * len(ids) + [UNUSABLE]
    assert sorted((await other.ids(BUCKET, limit=1000)).item_ids) == ids


async def test_what_is_lost_or_not_settled_is_asked_for_and_what_has_no_row_taken_out(world: World) -> None:
    world.contacts = {"c": "", "d": "", "e": ""}
    for subject in "cde":
        world.compactor.put(talk(subject), f"{subject}. {LONG}")
    await world.index(*map(talk, "cde"))

    async def lost() -> int:
        return sum([await world.upkeep.lost_of(page, ":x") async for page in world.upkeep.pages()])

    assert await lost() == 0
    await world.items.remove_memories(BUCKET, ["summary/c#00002"])
    found = await world.store.chunks(TENANT, AGENT, ["summary/d#00000"])
    one = found["summary/d#00000"]
    await world.store.write(TENANT, AGENT, [replace(one.document, chunks=(one.chunk,))], ["summary/e"])
    assert await lost() == 2
    keys = [row["key"] for row in world.sql.connection.execute("SELECT key FROM outbox ORDER BY id")]
    assert keys == [f"index_document/{AGENT}/summary/{id_}/:x" for id_ in "cd"]
    strangers = Strangers(
        store=world.parts.store,
        items=world.items,
        generations=world.generations,
        clock=lambda: world.parts.now,
        documents=world.upkeep,
    )
    ids = (await world.vectors.ids(BUCKET, limit=1000)).item_ids
    out = await strangers.take_out(BUCKET, ids)
    assert out
    assert all(id_.startswith("summary/e#") or id_.startswith("summary/d#") for id_ in out)
    assert "summary/d#00000" not in out
    assert BUCKET in await strangers.buckets()
    assert strangers.sees_to(BUCKET.content)


async def test_a_very_long_document_is_embedded_in_calls_that_the_embedder_takes(world: World) -> None:
    world.contacts = {"c": ""}
    world.compactor.put(talk("c"), LONG * 60)
    assert await world.index(talk("c")) == [""]
    sizes = [len(call) for call in world.texts.calls]
    assert sum(sizes) == len(await world.held()) > MOST_TEXTS
    assert max(sizes) <= MOST_TEXTS
