"""Requests of the Semantic service through a real stub: odd, bad, lists, keys (SPEC S-1, S-10, X-2)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.field_mask_pb2 import FieldMask
from palimpsest.common.v1 import recall_pb2, resources_pb2
from palimpsest.semantic.v1 import semantic_pb2 as pb

from services.kit.times import to_timestamp
from services.memory.semantic.rpc.servicer import DESCRIPTOR
from tests.integration.embedded_suite import failure
from tests.integration.semantic_suite import (
    AGENT,
    CODE,
    NOW,
    READER,
    SERVICE,
    TASK,
    Episodic,
    Semantic,
    found,
    running,
    scope,
    values,
)


@pytest.fixture
async def semantic(tmp_path: Path) -> AsyncIterator[Semantic]:
    async with running(tmp_path, Episodic()) as made:
        yield made


# Odd and bad requests


@pytest.mark.parametrize(
    "query",
    [
        "?!… ()",
        "the of and is",
        '" OR 1=1 --',
        "terms : heron*",
        "NEAR(a b) AND",
        "\0",
        "🙂",
        "é" * 512,
        "  ",
    ],
)
async def test_odd_queries_are_answered(semantic: Semantic, query: str) -> None:
    """S-18: by meaning alone, where there are no words."""
    await semantic.known("k", "a plain note")
    await semantic.said("a plain note")
    assert values(await semantic.recall(query)) == ["a plain note"]
    assert found(await semantic.search(query)) == ["c-1"]
    assert not found(await semantic.search(query, mode=recall_pb2.SEARCH_MODE_KEYWORD))


def recall_with(**fields: Any) -> pb.RecallMemoriesRequest:
    return pb.RecallMemoriesRequest(**{"scope": scope(), "query": "q"} | fields)


def remember_with(**fields: Any) -> pb.RememberRequest:
    return pb.RememberRequest(**{"scope": scope(), "key": "k", "value": "v"} | fields)


def search_with(**fields: Any) -> pb.RecallMessagesRequest:
    return pb.RecallMessagesRequest(**{"scope": scope(), "query": "q"} | fields)


LONG_AGO = to_timestamp(datetime(1999, 1, 1, tzinfo=UTC))
FAR = to_timestamp(NOW)
assert FAR is not None
FAR.seconds = 10**15
NO_MARK = resources_pb2.FreshnessToken(agent_id=AGENT)
BAD = [
    ("RecallMemories", recall_with(query=""), "query"),
    ("RecallMemories", recall_with(query="q" * 1025), "query"),
    ("RecallMemories", recall_with(query="é" * 513), "query"),
    ("RecallMemories", recall_with(limit=101), "limit"),
    ("RecallMemories", recall_with(limit=-1), "limit"),
    ("RecallMemories", recall_with(kinds=[9]), "kinds[0]"),
    ("RecallMemories", recall_with(kinds=[0]), "kinds[0]"),
    ("RecallMemories", recall_with(scope=None), "scope"),
    ("RecallMemories", recall_with(scope=pb.Scope()), "scope.agent_id"),
    ("RecallMemories", recall_with(scope=scope("")), "scope.contact_ids[0]"),
    ("RecallMemories", recall_with(wait_for=[NO_MARK]), "wait_for[0].mark"),
    ("RecallMemories", recall_with(wait_for=[NO_MARK] * 101), "wait_for"),
    (
        "RecallMemories",
        recall_with(fusion=recall_pb2.FusionStrategy(reference=recall_pb2.ReferenceFusion(k=-1))),
        "fusion.reference.k",
    ),
    (
        "RecallMemories",
        recall_with(
            fusion=recall_pb2.FusionStrategy(
                reference=recall_pb2.ReferenceFusion(
                    weights=[recall_pb2.ChannelWeight(channel=9, weight=1)]  # type: ignore[arg-type]
                )
            )
        ),
        "fusion.reference.weights[0].channel",
    ),
    ("RecallMessages", search_with(query=""), "query"),
    ("RecallMessages", search_with(query="q" * 1025), "query"),
    ("RecallMessages", search_with(limit=101), "limit"),
    ("RecallMessages", search_with(mode=9), "mode"),
    ("RecallMessages", search_with(filter=recall_pb2.MessageFilter(roles=[9])), "filter.roles[0]"),  # type: ignore[list-item]
    ("RecallMessages", search_with(filter=recall_pb2.MessageFilter(start_time=FAR)), "filter.start_time"),
    ("RecallMessages", search_with(reference_time=FAR), "reference_time"),
    ("Remember", remember_with(key=""), "key"),
    ("Remember", remember_with(key="No Spaces"), "key"),
    ("Remember", remember_with(key="k\n"), "key"),
    ("Remember", remember_with(key="k" * 201), "key"),
    ("Remember", remember_with(value=""), "value"),
    ("Remember", remember_with(value="v" * 8193), "value"),
    ("Remember", remember_with(value="é" * 4097), "value"),
    ("Remember", remember_with(value="a\0b"), "value"),
    ("Remember", remember_with(fact_type=99), "fact_type"),
    ("Remember", remember_with(valid_from_time=FAR), "valid_from_time"),
    ("Remember", remember_with(request_id="r" * 129), "request_id"),
    ("Remember", remember_with(provenance=[resources_pb2.MessageRef()]), "provenance[0].conversation_id"),
    ("GetMemory", pb.GetMemoryRequest(agent_id=AGENT), "memory_id"),
    ("GetMemoryByKey", pb.GetMemoryByKeyRequest(scope=scope(), key="?"), "key"),
    ("ListMemories", pb.ListMemoriesRequest(scope=scope(), page_size=1001), "page_size"),
    (
        "ListMemories",
        pb.ListMemoriesRequest(scope=scope(), filter=pb.MemoryFilter(kinds=[7])),
        "filter.kinds[0]",
    ),  # type: ignore[list-item]
    ("ForgetMemory", pb.ForgetMemoryRequest(agent_id=AGENT), "memory_id"),
    ("ListMemoryVersions", pb.ListMemoryVersionsRequest(memory_id="m"), "agent_id"),
    ("UndoSupersession", pb.UndoSupersessionRequest(agent_id=AGENT), "memory_id"),
    ("ListContradictions", pb.ListContradictionsRequest(scope=scope(), page_size=1001), "page_size"),
    ("ResolveContradiction", pb.ResolveContradictionRequest(agent_id=AGENT), "contradiction_id"),
    ("Remember", remember_with(valid_to_time=FAR), "valid_to_time"),
    ("Remember", remember_with(valid_to_time=LONG_AGO), "valid_to_time"),
    ("GetMemoryByKey", pb.GetMemoryByKeyRequest(scope=scope(), key="k", as_of_time=FAR), "as_of_time"),
    (
        "ListMemories",
        pb.ListMemoriesRequest(scope=scope(), filter=pb.MemoryFilter(as_of_time=FAR)),
        "filter.as_of_time",
    ),
    (
        "UpdateMemory",
        pb.UpdateMemoryRequest(agent_id=AGENT, update_mask=FieldMask(paths=["pinned"])),
        "memory",
    ),
    (
        "UpdateMemory",
        pb.UpdateMemoryRequest(
            agent_id=AGENT, memory=resources_pb2.Memory(id="m"), update_mask=FieldMask(paths=["value"])
        ),
        "update_mask",
    ),
    ("SelectStandingMemories", pb.SelectStandingMemoriesRequest(scope=scope(), limit=101), "limit"),
    ("CountAccess", pb.CountAccessRequest(agent_id=AGENT), "memory_ids"),
    ("CountAccess", pb.CountAccessRequest(agent_id=AGENT, memory_ids=["m", "m"]), "memory_ids"),
    ("GetIndexProgress", pb.GetIndexProgressRequest(agent_id=AGENT), "conversation_ids"),
    ("Reindex", pb.ReindexRequest(agent_id="x" * 129), "agent_id"),
    ("GetReindex", pb.GetReindexRequest(reindex_id="x" * 65), "reindex_id"),
    ("SyncMemories", pb.SyncMemoriesRequest(agent_id=AGENT), "memory_ids"),
    ("SyncMemories", pb.SyncMemoriesRequest(agent_id=AGENT, memory_ids=[""]), "memory_ids[0]"),
    ("Index", pb.IndexRequest(agent_id=AGENT), "items"),
    ("Index", pb.IndexRequest(agent_id=AGENT, items=[pb.IndexItem()]), "items[0].item"),
]


async def test_bad_fields_are_named_and_nothing_is_stored(semantic: Semantic) -> None:
    """X-2: every method."""
    fieldless = {"GetIndexStatus"}
    assert {method for method, _, _ in BAD} == set(DESCRIPTOR.methods_by_name) - fieldless
    for method, request, field in BAD:
        code, reason, fields = await failure(getattr(semantic.by(SERVICE), method)(request))
        assert (code, reason) == (CODE.INVALID_ARGUMENT, "INVALID_FIELD"), (method, field)
        assert field in fields, (method, fields)
    every = pb.ListMemoriesRequest(scope=scope(), filter=pb.MemoryFilter(include_superseded=True))
    assert not (await semantic.by(READER).ListMemories(every)).memories
    await semantic.remember("k" * 200, "é" * 4096)
    assert len((await semantic.by(READER).ListMemories(every)).memories) == 1, (
        "the limits themselves are good"
    )


# Lists, keys, standing memories


async def test_pages_end_and_their_tokens_are_for_one_listing(semantic: Semantic) -> None:
    for n in range(5):
        await semantic.remember(f"k{n}", f"v{n}")
    request = pb.ListMemoriesRequest(scope=scope(), page_size=2)
    sizes, keys = [], []
    while True:
        page = await semantic.by(READER).ListMemories(request)
        sizes.append(len(page.memories))
        keys += [memory.key for memory in page.memories]
        if not page.next_page_token:
            break
        request.page_token = page.next_page_token
    assert (sizes, keys) == ([2, 2, 1], [f"k{n}" for n in range(5)])
    assert request.page_token
    for other in (
        pb.ListMemoriesRequest(scope=scope("ann"), page_size=2, page_token=request.page_token),
        pb.ListMemoriesRequest(
            scope=scope(), filter=pb.MemoryFilter(key_prefix="k"), page_token=request.page_token
        ),
        pb.ListMemoriesRequest(scope=scope(), page_token="nonsense"),
    ):
        outcome = await failure(semantic.by(READER).ListMemories(other))
        assert outcome[:2] == (CODE.INVALID_ARGUMENT, "INVALID_PAGE_TOKEN")


async def test_an_access_is_counted_by_key_and_in_prompts_but_not_by_id(semantic: Semantic) -> None:
    """S-14: what an access is."""
    memory = (await semantic.remember("k", "v")).memory
    by = semantic.by(READER)
    await by.GetMemoryByKey(pb.GetMemoryByKeyRequest(scope=scope(), key="k"))
    await by.CountAccess(pb.CountAccessRequest(agent_id=AGENT, memory_ids=[memory.id]))
    await by.SelectStandingMemories(pb.SelectStandingMemoriesRequest(scope=scope()))
    for _ in range(2):
        seen = (await by.GetMemory(pb.GetMemoryRequest(agent_id=AGENT, memory_id=memory.id))).memory
        assert seen.access_count == 2
        assert seen.HasField("access_time")


async def test_standing_memories_are_pinned_ones_then_others(semantic: Semantic) -> None:
    """S-10."""
    await semantic.remember("a", "plain")
    await semantic.remember("b", "Ann's", "ann", pinned=True)
    await semantic.remember("c", "Bob's", "bob", pinned=True)
    await semantic.remember("d", "task", fact_type=TASK, pinned=True)
    request = pb.SelectStandingMemoriesRequest(scope=scope("ann"))
    standing = (await semantic.by(READER).SelectStandingMemories(request)).memories
    assert [memory.value for memory in standing] == ["Ann's", "plain"]
    request.limit = 1
    assert len((await semantic.by(READER).SelectStandingMemories(request)).memories) == 1
