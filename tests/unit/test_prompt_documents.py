"""The documents that a prompt is offered (SPEC S-13, S-11): other conversations', in the person's scope."""

from __future__ import annotations

from palimpsest.common.v1 import recall_pb2
from palimpsest.search.v1 import search_pb2

from services.gateway.adapters.sources import DOCUMENTS_DOWN, ServiceSources
from services.gateway.app.ports import Found
from services.gateway.app.searching import search_documents
from services.gateway.domain.layers import MAX_DOCUMENTS
from services.gateway.domain.parts import Passage
from services.kit.errors import DependencyDown
from tests.unit.gateway_parts import FakeSearch, backends
from tests.unit.test_gateway_sources import FakeEpisodic, FakeSemantic


def hit(conversation_id: str) -> search_pb2.DocumentHit:
    return search_pb2.DocumentHit(
        type=search_pb2.DOCUMENT_TYPE_SUMMARY,
        document_id=conversation_id,
        conversation_id=conversation_id,
        title=f"title of {conversation_id}",
        version=2,
        snippet=f"told in {conversation_id}",
    )


async def found_with(search: FakeSearch, *contact_ids: str, semantic: FakeSemantic | None = None) -> Found:
    episodic = FakeEpisodic()
    behind = backends(episodic=episodic, history=episodic, semantic=semantic or FakeSemantic(), search=search)
    return await ServiceSources(behind).find("ada", "c", contact_ids, "so?", ())


async def test_documents_of_other_conversations_are_offered_a_few() -> None:
    """The conversation's own summary stands in the prompt already."""
    search = FakeSearch(*map(hit, ("one", "c", "two", "three", "four")))
    found = await found_with(search, "ann", "anna")
    assert found.documents == tuple(
        Passage(kind="summary", document_id=one, version=2, title=f"title of {one}", text=f"told in {one}")
        for one in ("one", "two", "three")
    )
    (asked,) = search.asked
    assert (asked.agent_id, asked.query, asked.limit) == ("ada", "so?", MAX_DOCUMENTS + 1)
    assert list(asked.contact_ids) == ["ann", "anna"]
    assert asked.scope == search_pb2.DOCUMENT_SCOPE_UNSPECIFIED, "never those of other people"


async def test_a_search_that_is_down_costs_the_documents_alone() -> None:
    search = FakeSearch(hit("one"))
    search.broken = DependencyDown()
    found = await found_with(search)
    assert found.documents == ()
    assert found.memories
    assert found.older
    assert found.failures == (recall_pb2.ChannelFailure(cause=DOCUMENTS_DOWN),)


async def test_documents_are_offered_while_recall_is_down() -> None:
    semantic = FakeSemantic()
    semantic.broken["RecallMemories"] = DependencyDown()
    found = await found_with(FakeSearch(hit("one")), semantic=semantic)
    assert [one.document_id for one in found.documents] == ["one"]


async def test_through_the_gateway_a_person_is_searched_under_every_id_they_had() -> None:
    search = FakeSearch(hit("one"))
    behind = backends(episodic=FakeEpisodic(), search=search)
    request = search_pb2.SearchDocumentsRequest(agent_id="ada", query="q", limit=5, contact_ids=["ann"])
    assert len((await search_documents(behind, request)).hits) == 1
    (asked,) = search.asked
    assert list(asked.contact_ids) == ["ann", "other"]
    assert list(request.contact_ids) == ["ann"]
    assert (asked.query, asked.limit) == ("q", 5)
