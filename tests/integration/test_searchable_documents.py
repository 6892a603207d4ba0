"""What the Compactor gives Semantic to index: the newest readable versions of what is there (SPEC S-13)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.compactor.adapters.kv_memory import MemoryKv
from services.compactor.adapters.sql import migrations
from services.compactor.adapters.sql.documents import SqlDocuments
from services.compactor.adapters.sql.graph import SqlGraph
from services.compactor.app.document_copies import KvRules
from services.compactor.app.documents import Documents
from services.compactor.app.searching import SearchableDocuments
from services.compactor.domain.attractor_document import body_of, sources_of
from services.compactor.domain.documents import (
    DocumentKey,
    Draft,
    JsonObject,
    attractor_key,
    summary_key,
    wiki_key,
)
from services.compactor.domain.graph import Names, Naming, NewLink
from services.compactor.domain.graph_names import slug_of
from services.compactor.domain.rolling import ConversationSummary, to_body
from services.compactor.domain.searchable import DocumentType, Searchable, Source
from services.kit.sql import execute
from services.kit.sqlite import Database, SqliteScripts
from tests.contract.document_parts import AGENT, NOW, TENANT
from tests.unit.attractor_parts import points, update

PAGE: JsonObject = {
    "title": "Tea",
    "aliases": [],
    "lead": ["Green tea is steeped."],
    "timeline": [],
    "decisions": [],
    "open_questions": [],
    "sources": [{"conversation_id": "c", "title": "", "version": 1, "relevance": 1.0}],
}


class World:
    def __init__(self, scripts: SqliteScripts) -> None:
        self.scripts = scripts
        self.documents = Documents(SqlDocuments(scripts), MemoryKv(0), lambda: NOW, KvRules())
        self.graph = SqlGraph(scripts)
        self.searchable = SearchableDocuments(self.documents, self.graph)

    async def put(self, key: DocumentKey, body: JsonObject, *source_ids: str) -> None:
        draft = Draft(body=body, engine="test-1", source_ids=source_ids)
        await self.documents.put(key, draft, await self.documents.head(key))

    async def read(self, *sources: tuple[DocumentType, str]) -> list[Searchable]:
        wanted = [Source(type=type_, subject=subject) for type_, subject in sources]
        return await self.searchable.read(TENANT, AGENT, wanted)

    async def link(self, conversation_id: str, name: str) -> str:
        naming = Naming(slug=name.casefold(), name=name)
        link = NewLink(naming=naming, relevance=0.5)
        return (await self.graph.link(TENANT, AGENT, conversation_id, link, NOW)).id


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    file = await Database.open(tmp_path / "c.db", migrations("sqlite"), readers=1)
    yield World(SqliteScripts(file))
    await file.close()


async def test_the_newest_versions_of_all_types_are_given_in_order(world: World) -> None:
    key = summary_key(TENANT, AGENT, "c")
    for title in ("Old", "New"):
        await world.put(key, to_body(ConversationSummary(conversation_id="c", title=title)))
    attractor = update(None, points([0, 0, 0, 1, 1, 1]))
    await world.put(attractor_key(TENANT, AGENT), body_of(attractor, "f"), *sources_of(attractor))
    tea = await world.link("c", "Tea")
    await world.link("d", "Tea")
    await world.put(wiki_key(TENANT, AGENT, tea), PAGE)
    found = await world.read(
        (DocumentType.BRANCH, tea),
        (DocumentType.THEME, ""),
        (DocumentType.SUMMARY, "c"),
        (DocumentType.PAGE, tea),
    )
    branch, *themes, summary, page = found
    assert (branch.title, branch.conversation_ids) == ("Tea", ("c", "d"))
    assert (summary.title, summary.version) == ("New", 2)
    assert page.text == "Tea\nGreen tea is steeped."
    assert page.conversation_ids == ("c", "d"), "its name may come from any of the branch's"
    assert [one.document_id for one in themes] == [basin.id for basin in attractor.basins]
    members = {id_ for one in themes for id_ in one.conversation_ids}
    assert members == {visit.conversation_id for visit in attractor.visits}
    assert all(one.text.startswith(one.title) and one.title for one in themes)


async def test_what_is_gone_merged_empty_or_unreadable_is_left_out(world: World) -> None:
    """The rest of a batch is given all the same."""
    for conversation in ("c", "d"):
        body = to_body(ConversationSummary(conversation_id=conversation, title=conversation))
        await world.put(summary_key(TENANT, AGENT, conversation), body)
    await world.put(summary_key(TENANT, AGENT, "odd"), {"title": "no summary"})
    await world.documents.erase(summary_key(TENANT, AGENT, "c"))
    tea, chai = await world.link("d", "Tea"), await world.link("d", "Chai")
    await world.put(wiki_key(TENANT, AGENT, tea), PAGE)
    await world.graph.merge(TENANT, AGENT, chai, tea, NOW)
    found = await world.read(
        (DocumentType.SUMMARY, "c"),
        (DocumentType.SUMMARY, "odd"),
        (DocumentType.SUMMARY, "nobody"),
        (DocumentType.BRANCH, chai),
        (DocumentType.PAGE, chai),
        (DocumentType.BRANCH, "nobody"),
        (DocumentType.THEME, ""),
        (DocumentType.SUMMARY, "d"),
        (DocumentType.BRANCH, tea),
    )
    assert [(one.source.type.value, one.document_id) for one in found] == [("summary", "d"), ("branch", tea)]
    await world.scripts.write(
        lambda: execute("UPDATE document_versions SET body = '{' WHERE subject = ?", "d")
    )
    assert await world.read((DocumentType.SUMMARY, "d")) == []


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("change", ["goes", "comes"])
@pytest.mark.parametrize("type_", [DocumentType.BRANCH, DocumentType.PAGE])
async def test_a_name_is_of_those_who_gave_it_also_when_they_come_or_go_while_it_is_read(
    world: World, monkeypatch: pytest.MonkeyPatch, type_: DocumentType, change: str, moment: str
) -> None:
    """S-13: else it would be Ann's alone, and found for her, until the change is indexed."""

    async def file(conversation: str, name: str, version: int) -> str:
        link = NewLink(naming=Naming(slug=slug_of(name), name=name), relevance=0.5)
        (made,) = await world.graph.file(TENANT, AGENT, conversation, version, [link], set(), NOW)
        return made

    leave, burnout = await file("anns", "Leave of absence", 1), await file("bobs", "Burn-out", 1)
    await world.graph.merge(TENANT, AGENT, leave, burnout, NOW)
    if change == "comes":
        await file("bobs", "Bicycles", 2)
    await world.put(wiki_key(TENANT, AGENT, burnout), {**PAGE, "sources": []})
    names = world.graph.names
    reads: list[Names | None] = []

    async def meanwhile(tenant: str, agent_id: str, ref: str, among: str = "") -> Names | None:
        async def happens() -> None:
            if change == "goes":
                await world.graph.forget(TENANT, AGENT, "bobs", 3)
            else:
                await file("bobs", "Burn-out", 3)

        if moment == "before":
            await happens()
        found = await names(tenant, agent_id, ref, among)
        if moment == "after":
            await happens()
        reads.append(found)
        return found

    monkeypatch.setattr(world.graph, "names", meanwhile)
    (one,) = await world.read((type_, burnout))
    assert "anns" in one.conversation_ids
    assert "Burn-out" not in one.text or "bobs" in one.conversation_ids
    assert len(reads) == 1, "it happened"


async def test_a_name_that_only_people_gave_who_are_gone_from_a_branch_is_shown_to_nobody(
    world: World,
) -> None:
    """S-13: what is left is Ann's alone, and so found for her; Bob's word for it is not."""

    async def file(conversation: str, name: str) -> str:
        link = NewLink(naming=Naming(slug=slug_of(name), name=name), relevance=0.5)
        (made,) = await world.graph.file(TENANT, AGENT, conversation, 1, [link], set(), NOW)
        return made

    leave, burnout = await file("anns", "Leave of absence"), await file("bobs", "Burn-out")
    await world.graph.merge(TENANT, AGENT, leave, burnout, NOW)
    page = PAGE | {"title": "Burn-out", "aliases": ["leave-of-absence"], "sources": []}
    await world.put(wiki_key(TENANT, AGENT, burnout), page)

    async def texts() -> list[tuple[str, str, tuple[str, ...]]]:
        found = await world.read((DocumentType.BRANCH, burnout), (DocumentType.PAGE, burnout))
        return [(one.title, one.text, one.conversation_ids) for one in found]

    both = ("anns", "bobs")
    assert await texts() == [
        ("Burn-out", "Burn-out\nleave of absence", both),
        ("Burn-out", "Burn-out\nGreen tea is steeped.\nleave of absence", both),
    ]
    await world.graph.forget(TENANT, AGENT, "bobs", 2)
    title = "Leave of absence"
    assert await texts() == [
        (title, title, ("anns",)),
        (title, f"{title}\nGreen tea is steeped.", ("anns",)),
    ]
