"""Nothing that a user types is syntax: neither in a query nor in a prefix (SPEC S-5, S-9, X-1)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from palimpsest.common.v1 import recall_pb2
from palimpsest.gateway.v1 import memories_pb2 as pb
from palimpsest.gateway.v1 import prompt_pb2

from tests.integration.embedded_suite import AGENT, Running
from tests.integration.noted_suite import CONCEALED, KEY, noted
from tests.integration.odd_queries import ODD_QUERIES

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def suite(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    async with noted(tmp_path_factory.mktemp("queries") / "data") as made:
        yield made


@pytest_asyncio.fixture(loop_scope="module")
async def stub(suite: Running) -> Any:
    return await suite.stub()


@pytest.mark.parametrize("query", ODD_QUERIES, ids=ascii)
async def test_nothing_in_a_query_is_syntax(stub: Any, query: str) -> None:
    """S-5, X-1: it is looked for as it stands, in its scope; every channel that is asked answers."""
    for fusion in (None, recall_pb2.FusionStrategy(reference=recall_pb2.ReferenceFusion())):
        memories = await stub.Recall(
            pb.RecallRequest(agent_id=AGENT, query=query, fill=True, limit=100, fusion=fusion)
        )
        assert not memories.failures
        assert [hit.memory.key for hit in memories.hits] == [KEY]
    for mode in recall_pb2.SearchMode.values():
        search = pb.RecallConversationRequest(agent_id=AGENT, conversation_id="c", query=query, mode=mode)
        messages = await stub.RecallConversation(search)
        assert not messages.failures
        assert {hit.message.conversation_id for hit in messages.hits} <= {"c"}
    prompt = prompt_pb2.AssemblePromptRequest(agent_id=AGENT, conversation_id="c", message=query)
    assembled = await stub.AssemblePrompt(prompt)
    assert not assembled.failures
    assert CONCEALED not in str(assembled)


@pytest.mark.parametrize("query", ["herons", "HERONS!", "“herons”?", "the herons\0", "nest"])
async def test_words_among_other_signs_are_found(stub: Any, query: str) -> None:
    """The positive control: by words, and by a key."""
    (hit,) = (await stub.Recall(pb.RecallRequest(agent_id=AGENT, query=query))).hits
    assert recall_pb2.CHANNEL_KEYWORD in {place.channel for place in hit.explanation.channels}


@pytest.mark.parametrize("prefix", ["note_", "%", "note%", "NOTE", "\\", "note.plain\0", "_"])
async def test_nothing_in_a_prefix_is_syntax(stub: Any, prefix: str) -> None:
    request = pb.ListMemoriesRequest(agent_id=AGENT, key_prefix=prefix)
    assert not (await stub.ListMemories(request)).memories
    request.key_prefix = "note."
    assert len((await stub.ListMemories(request)).memories) == 1
