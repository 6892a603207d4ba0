"""Nothing that is typed is syntax with the stores on servers either (SPEC S-5, S-9, X-1).

PostgreSQL, Meilisearch and Qdrant, or what stands in for the latter two.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import pytest_asyncio
from palimpsest.common.v1 import recall_pb2, resources_pb2
from palimpsest.semantic.v1 import semantic_pb2 as pb
from pydantic import SecretStr

from services.kit.times import to_timestamp
from services.memory.semantic.adapters.sql import migrations
from tests.integration.embedded_suite import failure
from tests.integration.odd_queries import ODD_QUERIES
from tests.integration.semantic_suite import (
    AGENT,
    CODE,
    KEYWORD,
    NOW,
    READER,
    VECTOR,
    WRITER,
    Episodic,
    Semantic,
    found,
    running,
    scope,
    values,
)
from tests.meilisearch_server import meilisearch
from tests.postgres_server import SharedServer, shared_server
from tests.qdrant_server import qdrant_place

pytestmark = pytest.mark.asyncio(loop_scope="module")
NAMES = (
    'ann" OR "1" = "1',
    "ann' OR contact_id EXISTS --",
    "ann\\",
    "%",
    "_",
    "ann, bob",
    "ann]",
    "ANN",
    "ann",
    " ann",
    "ánn",
    "a\u0301nn",
    "🦩",
)
"""Of people; some differ for a careful reader only."""


@pytest.fixture(scope="module")
def postgres_server(pytestconfig: pytest.Config) -> SharedServer:
    return shared_server(pytestconfig)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def semantic(
    tmp_path_factory: pytest.TempPathFactory, postgres_server: SharedServer
) -> AsyncIterator[Semantic]:
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(postgres_server.database(migrations("postgres")))
        words = await stack.enter_async_context(meilisearch())
        vectors = await stack.enter_async_context(qdrant_place())
        folder: Path = tmp_path_factory.mktemp("servers")
        yield await stack.enter_async_context(
            running(
                folder,
                Episodic(),  # type: ignore[abstract]
                database_url=SecretStr(url),
                meilisearch_url=words.url,
                meilisearch_api_key=SecretStr(words.api_key),
                meilisearch_prefix=words.prefix,
                qdrant_url=vectors.url,
                qdrant_grpc_port=vectors.grpc_port,
                qdrant_api_key=SecretStr(vectors.api_key),
                qdrant_prefix=vectors.prefix,
            )
        )


async def test_no_query_is_syntax(semantic: Semantic) -> None:
    """S-9: each is looked for as it stands, and nobody else's is found."""
    for who, word in (("mine", "plain"), ("theirs", "concealed")):
        message = await semantic.said(f"a {word} note on herons", who, contact_id=who)
        source = resources_pb2.MessageRef(conversation_id=who, message_id=message.id)
        await semantic.known(f"note.{word}", f"{word}: herons nest", who, provenance=[source])

    async def ask(query: str) -> None:
        for as_of in (None, to_timestamp(NOW.replace(year=9000))):
            answer = await semantic.recall(query, "mine", limit=100, as_of_time=as_of)
            assert set(values(answer)) <= {"plain: herons nest"}, query
        for mode in recall_pb2.SearchMode.values():
            assert set(found(await semantic.search(query, "mine", mode=mode))) <= {"mine-1"}, query

    await ask("herons")
    (hit,) = (await semantic.recall("herons", "mine")).hits
    assert {VECTOR, KEYWORD} <= {place.channel for place in hit.explanation.channels}, "the positive control"
    for query in ODD_QUERIES:
        await ask(query)


async def test_no_name_is_syntax(semantic: Semantic) -> None:
    """S-5: of a person, a conversation, an author; each finds their own and no other's, past ones too."""

    async def settle(name: str) -> None:
        message = await semantic.said("about storks", name, contact_id=name, author=name)
        source = resources_pb2.MessageRef(conversation_id=name, message_id=message.id)
        await semantic.known("stork", f"the former stork of {name}", name, provenance=[source])
        await semantic.known("stork", f"the stork of {name}", name, provenance=[source])

    await asyncio.gather(*(settle(name) for name in NAMES))
    await semantic.work_off()
    for name in NAMES:
        assert values(await semantic.recall("stork", name)) == [f"the stork of {name}"]
        past = await semantic.recall("stork", name, as_of_time=to_timestamp(NOW.replace(year=9000)))
        assert values(past) == [f"the stork of {name}"]
        author = recall_pb2.MessageFilter(authors=[name])
        for mode in recall_pb2.SearchMode.values():
            for fields in ({}, {"conversation_id": name}, {"filter": author}):
                answer = await semantic.search("stork", name, mode=mode, **fields)
                assert found(answer) == [f"{name}-1"]
        listing = pb.ListMemoriesRequest(scope=scope(name))
        listed = (await semantic.by(READER).ListMemories(listing)).memories
        assert [memory.value for memory in listed] == [f"the stork of {name}"]


async def test_a_nul_is_refused_or_finds_nothing_everywhere(semantic: Semantic) -> None:
    """X-1: PostgreSQL keeps none; it is no fault of the server."""
    name = "a\0b"
    reader, writer = semantic.by(READER), semantic.by(WRITER)
    for call in (
        writer.Remember(pb.RememberRequest(scope=scope(name), key="k", value="v")),
        writer.Remember(pb.RememberRequest(scope=scope("ann"), key="k", value="v", request_id=name)),
        reader.GetMemory(pb.GetMemoryRequest(agent_id=AGENT, memory_id=name)),
        reader.ListMemoryVersions(pb.ListMemoryVersionsRequest(agent_id=name, memory_id="m")),
        reader.GetMemoryByKey(pb.GetMemoryByKeyRequest(scope=scope(name), key="k")),
        writer.ForgetMemory(pb.ForgetMemoryRequest(agent_id=AGENT, memory_id=name)),
    ):
        assert (await failure(call))[0] in (CODE.INVALID_ARGUMENT, CODE.NOT_FOUND)
    token = resources_pb2.FreshnessToken(agent_id=AGENT)
    token.messages.conversation_id, token.messages.sequence = name, 1
    waiting = pb.RecallMemoriesRequest(scope=scope("ann"), query="stork", wait_for=[token])
    assert (await failure(reader.RecallMemories(waiting, timeout=5)))[0] is CODE.INVALID_ARGUMENT
