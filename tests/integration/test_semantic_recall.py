"""Recall through a real stub: explanations, scopes, failing channels (SPEC S-3, S-5, S-8 to S-12, X-1)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.field_mask_pb2 import FieldMask
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from palimpsest.common.v1 import recall_pb2, resources_pb2
from palimpsest.semantic.v1 import semantic_pb2 as pb

from services.kit.identity import Principal, Role
from services.kit.times import to_timestamp
from services.memory.semantic.rpc.servicer import DESCRIPTOR
from tests.integration.embedded_suite import failure
from tests.integration.semantic_suite import (
    AGENT,
    ASSISTANT,
    CODE,
    KEY,
    KEYWORD,
    MESSAGES,
    NOW,
    ONLY_B,
    OTHER,
    READER,
    REFERENCE,
    TASK,
    TOOL,
    USER,
    VECTOR,
    WRITER,
    Episodic,
    Semantic,
    assert_adds_up,
    found,
    running,
    scope,
    values,
)


@pytest.fixture
async def semantic(tmp_path: Path) -> AsyncIterator[Semantic]:
    async with running(tmp_path, Episodic()) as made:
        yield made


# Recall


@pytest.mark.parametrize("fusion", [None, REFERENCE], ids=["default", "reference"])
async def test_what_was_remembered_is_recalled_and_explained(
    semantic: Semantic, fusion: recall_pb2.FusionStrategy | None
) -> None:
    """S-9, S-11: all four channels, and parts that add up to the score."""
    message = await semantic.said("we repaint the lighthouse in June")
    source = resources_pb2.MessageRef(conversation_id="c", message_id=message.id)
    plan = await semantic.known("plan.lighthouse", "paint the tower", provenance=[source])
    await semantic.known("drink", "prefers tea to coffee")
    assert not plan.memory.indexed
    response = await semantic.recall("the lighthouse plan", fusion=fusion)
    assert values(response)[0] == "paint the tower"
    for hit in response.hits:
        assert not hit.filled
        assert_adds_up(hit.explanation)
    best = response.hits[0]
    assert {c.channel for c in best.explanation.channels} == {VECTOR, KEYWORD, KEY, MESSAGES}
    assert best.memory.indexed
    assert best.memory.provenance == [source]
    scores = [hit.explanation.score for hit in response.hits]
    assert scores == sorted(scores, reverse=True)


async def test_weights_of_the_reference_are_the_callers(semantic: Semantic) -> None:
    """S-9: 0.9 + 0.5 times weight / (k + 1)."""
    await semantic.known("drink", "tea")
    fusion = recall_pb2.FusionStrategy(
        reference=recall_pb2.ReferenceFusion(
            k=9,
            weights=[
                recall_pb2.ChannelWeight(channel=VECTOR, weight=0),
                recall_pb2.ChannelWeight(channel=KEY, weight=7),
            ],
        )
    )
    (hit,) = (await semantic.recall("tea", fusion=fusion)).hits
    assert hit.explanation.score == pytest.approx(1.4 * 1 / 10, rel=1e-4)
    (hit,) = (await semantic.recall("drink", fusion=fusion)).hits
    assert hit.explanation.score == pytest.approx(1.4 * (1 + 7) / 10, rel=1e-4), "keys are words too"


async def test_the_limit_is_an_upper_bound_and_kinds_filter(semantic: Semantic) -> None:
    """S-9, S-2."""
    for n in range(12):
        await semantic.known(f"k{n}", f"tea number {n}")
    await semantic.known("e", "a tea party", fact_type=resources_pb2.FACT_TYPE_EVENT)
    assert len(values(await semantic.recall("tea"))) == 10, "the default"
    assert len(values(await semantic.recall("tea", limit=3))) == 3
    assert len(values(await semantic.recall("tea", limit=100))) == 13
    event = resources_pb2.MEMORY_KIND_EVENT
    assert values(await semantic.recall("tea", kinds=[event], limit=100)) == ["a tea party"]


async def test_superseded_and_forgotten_memories_are_in_no_channel(semantic: Semantic) -> None:
    """S-8, S-1: even before the indexes follow, and after."""
    message = await semantic.said("about the heron and the town")
    source = [resources_pb2.MessageRef(conversation_id="c", message_id=message.id)]
    old = await semantic.known("heron.town", "the heron lives in Oslo", provenance=source)
    gone = await semantic.known("heron.food", "the heron eats frogs", provenance=source)
    assert set(values(await semantic.recall("heron town", limit=100))) == {
        "the heron lives in Oslo",
        "the heron eats frogs",
    }
    new = await semantic.remember("heron.town", "the heron lives in Bergen", provenance=source)
    by = semantic.by(WRITER)
    request = pb.ForgetMemoryRequest(agent_id=AGENT, memory_id=gone.memory.id)
    assert (await by.ForgetMemory(request)).deleted_count == 1
    for fusion in (None, REFERENCE):
        recalled = await semantic.recall("heron town oslo frogs", limit=100, fusion=fusion, fill=True)
        assert values(recalled) == ["the heron lives in Bergen"], "by key and by its message"
        assert {c.channel for c in recalled.hits[0].explanation.channels} == {KEY, MESSAGES}
    assert await semantic.work_off(at_least=4) >= 4
    recalled = await semantic.recall("heron town oslo frogs", limit=100)
    assert values(recalled) == ["the heron lives in Bergen"]
    assert {c.channel for c in recalled.hits[0].explanation.channels} == {VECTOR, KEYWORD, KEY, MESSAGES}
    read = pb.GetMemoryRequest(agent_id=AGENT, memory_id=old.memory.id)
    assert (await by.GetMemory(read)).memory.superseded_by == new.memory.id
    read.memory_id = gone.memory.id
    assert (await failure(by.GetMemory(read)))[:2] == (CODE.NOT_FOUND, "RESOURCE_NOT_FOUND")


async def test_tasks_are_found_by_words_until_they_expire(tmp_path: Path) -> None:
    """S-3."""
    moments = [NOW]
    async with running(tmp_path, Episodic(), clock=lambda: moments[-1]) as semantic:
        await semantic.known("todo", "renew the passport", fact_type=TASK)
        await semantic.known("fact", "the passport is red")
        task = (await semantic.recall("passport")).hits
        channels = {hit.memory.value: {c.channel for c in hit.explanation.channels} for hit in task}
        assert channels == {"renew the passport": {KEYWORD}, "the passport is red": {KEYWORD, VECTOR}}
        moments.append(NOW + timedelta(days=7))
        assert values(await semantic.recall("todo passport")) == ["the passport is red"]


async def test_places_left_are_filled_with_what_matters_but_not_with_tasks(semantic: Semantic) -> None:
    """S-10."""
    await semantic.remember("todo", "a task", fact_type=TASK)
    await semantic.remember("pinned", "always shown", pinned=True)
    await semantic.remember("other", "some fact")
    await semantic.remember("bobs", "Bob's", "bob")
    for n in range(25):
        await semantic.remember(f"k{n}", f"v{n}")
    assert not (await semantic.recall("zeppelin")).hits, "nothing is indexed yet"
    response = await semantic.recall("zeppelin", fill=True, limit=100)
    assert all(hit.filled and not hit.HasField("explanation") for hit in response.hits)
    assert len(response.hits) == 20
    assert response.hits[0].memory.value == "always shown"
    assert not {"a task", "Bob's"} & set(values(response))
    assert len((await semantic.recall("zeppelin", fill=True, limit=5)).hits) == 5


# Scopes

AGENTS, CONTACTS, WORDS = ("ada", "bea"), ("", "ann", "bob"), ("heron", "stork", "river")
written = st.tuples(st.sampled_from(AGENTS), st.sampled_from(CONTACTS), st.sampled_from(WORDS))
numbers = iter(range(10**6))


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    writes=st.lists(written, min_size=1, max_size=10),
    agent=st.sampled_from(AGENTS),
    contacts=st.sets(st.sampled_from(CONTACTS[1:])),
)
async def test_nothing_outside_the_scope_comes_back(
    semantic: Semantic, writes: Sequence[tuple[str, str, str]], agent: str, contacts: set[str]
) -> None:
    """S-5, S-12, X-1: and all that is within does."""
    tenants = [f"tenant {next(numbers)}" for _ in range(2)]
    inside: set[str] = set()
    messages: set[str] = set()
    for tenant in tenants:
        for n, (its_agent, contact, word) in enumerate(writes):
            person = (contact,) if contact else ()
            by = Principal(tenant=tenant, role=Role.SERVICE, subject="test")
            place = f"{contact or 'nobody'}s"
            message = await semantic.said(
                word, place, contact_id=contact, agent_id=its_agent, tenant=tenant, author=tenant
            )
            source = [resources_pb2.MessageRef(conversation_id=place, message_id=message.id)]
            memory = await semantic.known(
                f"{word}.k{n}", f"{word} {n}", *person, agent=its_agent, by=by, provenance=source
            )
            if (tenant, its_agent) == (tenants[0], agent):
                if contact in contacts | {""}:
                    inside.add(memory.memory.id)
                if contact in contacts or not contacts:
                    messages.add(message.id)
    reader = Principal(tenant=tenants[0], role=Role.READER, subject="test")
    query, people = " ".join(WORDS), sorted(contacts)
    for fusion in (None, REFERENCE):
        got = await semantic.recall(
            query, *people, agent=agent, by=reader, limit=100, fusion=fusion, fill=True
        )
        assert {hit.memory.id for hit in got.hits} == inside
        assert all({c.channel for c in h.explanation.channels} >= {VECTOR, KEY} for h in got.hits)
    for mode in (recall_pb2.SEARCH_MODE_SEMANTIC, recall_pb2.SEARCH_MODE_KEYWORD):
        hits = await semantic.search(query, *people, agent=agent, by=reader, limit=100, mode=mode)
        assert set(found(hits)) == messages


async def test_a_foreign_tenant_finds_and_changes_nothing(semantic: Semantic) -> None:
    """X-1."""
    mine = await semantic.known("k", "mine")
    await semantic.said("mine")
    stranger = semantic.by(OTHER)
    assert not (await semantic.recall("mine", by=OTHER, fill=True)).hits
    assert not (await semantic.search("mine", by=OTHER)).matches
    listing = pb.ListMemoriesRequest(scope=scope())
    assert not (await stranger.ListMemories(listing)).memories
    assert len((await semantic.by(READER).ListMemories(listing)).memories) == 1
    names = {"agent_id": AGENT, "memory_id": mine.memory.id}
    pinned = FieldMask(paths=["pinned"])
    memory = resources_pb2.Memory(id=mine.memory.id, pinned=True)
    for call in (
        stranger.GetMemory(pb.GetMemoryRequest(**names)),
        stranger.ForgetMemory(pb.ForgetMemoryRequest(**names)),
        stranger.ListMemoryVersions(pb.ListMemoryVersionsRequest(**names)),
        stranger.UpdateMemory(pb.UpdateMemoryRequest(agent_id=AGENT, memory=memory, update_mask=pinned)),
        stranger.GetMemoryByKey(pb.GetMemoryByKeyRequest(scope=scope(), key="k")),
    ):
        assert (await failure(call))[:2] == (CODE.NOT_FOUND, "RESOURCE_NOT_FOUND")
    await stranger.CountAccess(pb.CountAccessRequest(agent_id=AGENT, memory_ids=[mine.memory.id]))
    now = (await semantic.by(READER).GetMemory(pb.GetMemoryRequest(**names))).memory
    assert (now.pinned, now.access_count) == (False, 0)
    progress = pb.GetIndexProgressRequest(agent_id=AGENT, conversation_ids=["c"])
    assert (await stranger.GetIndexProgress(progress)).progress[0].indexed_count == 0
    assert (await semantic.by(READER).GetIndexProgress(progress)).progress[0].indexed_count == 1


async def test_a_credential_reaches_its_agents_only(semantic: Semantic) -> None:
    """X-1: every method."""
    token = (await semantic.remember("k", "v")).token
    limited = semantic.by(ONLY_B)
    item = pb.IndexItem(memory=pb.MemoryItem(memory_id="m"))
    foreign = [
        ("Remember", pb.RememberRequest(scope=scope(), key="k", value="v")),
        ("GetMemory", pb.GetMemoryRequest(agent_id=AGENT, memory_id="m")),
        ("GetMemoryByKey", pb.GetMemoryByKeyRequest(scope=scope(), key="k")),
        ("ListMemories", pb.ListMemoriesRequest(scope=scope())),
        (
            "UpdateMemory",
            pb.UpdateMemoryRequest(
                agent_id=AGENT, memory=resources_pb2.Memory(id="m"), update_mask=FieldMask(paths=["pinned"])
            ),
        ),
        ("ForgetMemory", pb.ForgetMemoryRequest(agent_id=AGENT, memory_id="m")),
        ("ListMemoryVersions", pb.ListMemoryVersionsRequest(agent_id=AGENT, memory_id="m")),
        ("UndoSupersession", pb.UndoSupersessionRequest(agent_id=AGENT, memory_id="m")),
        ("ListContradictions", pb.ListContradictionsRequest(scope=scope())),
        ("ResolveContradiction", pb.ResolveContradictionRequest(agent_id=AGENT, contradiction_id="c")),
        ("RecallMemories", pb.RecallMemoriesRequest(scope=scope(), query="q")),
        ("RecallMessages", pb.RecallMessagesRequest(scope=scope(), query="q")),
        ("SelectStandingMemories", pb.SelectStandingMemoriesRequest(scope=scope())),
        ("CountAccess", pb.CountAccessRequest(agent_id=AGENT, memory_ids=["m"])),
        ("GetIndexProgress", pb.GetIndexProgressRequest(agent_id=AGENT, conversation_ids=["c"])),
        ("Index", pb.IndexRequest(agent_id=AGENT, items=[item])),
        ("SyncMemories", pb.SyncMemoriesRequest(agent_id=AGENT, memory_ids=["m"])),
        ("Reindex", pb.ReindexRequest(agent_id=AGENT)),
        ("GetReindex", pb.GetReindexRequest()),
        ("GetIndexStatus", pb.GetIndexStatusRequest()),
        ("RecallMemories", pb.RecallMemoriesRequest(scope=scope(agent="bea"), query="q", wait_for=[token])),
        ("RecallMessages", pb.RecallMessagesRequest(scope=scope(agent="bea"), query="q", wait_for=[token])),
    ]
    assert {name for name, _ in foreign} == set(DESCRIPTOR.methods_by_name)
    for name, request in foreign:
        outcome = await failure(getattr(limited, name)(request))
        assert outcome[:2] == (CODE.PERMISSION_DENIED, "NOT_ALLOWED"), name
    assert (await semantic.remember("k", "v", agent="bea", by=ONLY_B)).created


async def test_writing_takes_a_writer_and_indexing_a_service(semantic: Semantic) -> None:
    item = pb.IndexItem(memory=pb.MemoryItem(memory_id="m"))
    for principal, name, request in (
        (READER, "Remember", pb.RememberRequest(scope=scope(), key="k", value="v")),
        (READER, "ForgetMemory", pb.ForgetMemoryRequest(agent_id=AGENT, memory_id="m")),
        (READER, "UndoSupersession", pb.UndoSupersessionRequest(agent_id=AGENT, memory_id="m")),
        (
            READER,
            "ResolveContradiction",
            pb.ResolveContradictionRequest(agent_id=AGENT, contradiction_id="c"),
        ),
        (WRITER, "Index", pb.IndexRequest(agent_id=AGENT, items=[item])),
    ):
        outcome = await failure(getattr(semantic.by(principal), name)(request))
        assert outcome[:2] == (CODE.PERMISSION_DENIED, "NOT_ALLOWED")


async def test_vectors_of_all_tenants_are_counted_for_operators_alone(semantic: Semantic) -> None:
    """SV-6: a tenant's admin learns nothing of the others."""
    await semantic.remember("k", "v")
    asked = pb.GetIndexStatusRequest()
    admin, operator = (
        Principal(tenant="acme", role=role, subject="test") for role in (Role.ADMIN, Role.OPERATOR)
    )
    outcome = await failure(semantic.by(admin).GetIndexStatus(asked))
    assert outcome[:2] == (CODE.PERMISSION_DENIED, "NOT_ALLOWED")
    assert (await semantic.by(operator).GetIndexStatus(asked)).HasField("active")


# Messages


async def test_messages_are_found_filtered_and_explained(semantic: Semantic) -> None:
    """S-11, S-12."""
    hour = timedelta(hours=1)
    rows = [("Ann", USER, "c"), ("Bob", USER, "c"), ("", ASSISTANT, "c"), ("Ann", USER, "d")]
    for n, (author, role, conversation) in enumerate(rows):
        moment = to_timestamp(NOW + n * hour)
        await semantic.said("the heron of the river", conversation, author=author, role=role, time=moment)

    async def search(**fields: Any) -> set[str]:
        chosen = recall_pb2.MessageFilter(**fields)
        answers = [await semantic.search("heron", filter=chosen, mode=mode) for mode in (1, 2, 3)]
        sets = [set(found(answer)) for answer in answers]
        for answer in answers:
            for match in answer.matches:
                assert_adds_up(match.explanation)
        assert sets[0] == sets[1] == sets[2]
        return sets[0]

    assert await search() == {"c-1", "c-2", "c-3", "d-1"}
    assert await search(authors=["Ann"]) == {"c-1", "d-1"}
    assert await search(roles=[ASSISTANT]) == {"c-3"}
    assert await search(start_time=to_timestamp(NOW + hour)) == {"c-2", "c-3", "d-1"}
    assert await search(end_time=to_timestamp(NOW + hour)) == {"c-1"}
    assert set(found(await semantic.search("heron", conversation_id="d"))) == {"d-1"}
    assert not found(await semantic.search("heron", conversation_id="unknown"))


async def test_what_tools_said_and_captions_are_found(semantic: Semantic) -> None:
    """S-12, S-18."""
    result = resources_pb2.Part(
        tool_result=resources_pb2.ToolResult(call_id="1", content="twelve albatrosses")
    )
    picture = resources_pb2.Part(
        attachment=resources_pb2.Attachment(uri="file:///x", media_type="image/png", caption="a puffin")
    )
    await semantic.said("", role=TOOL, parts=[result])
    await semantic.said("", parts=[picture])
    for word, expected in (("albatrosses", "c-1"), ("puffin", "c-2")):
        for mode in (recall_pb2.SEARCH_MODE_SEMANTIC, recall_pb2.SEARCH_MODE_KEYWORD):
            assert found(await semantic.search(word, mode=mode))[0] == expected


# Failing channels


async def test_words_answer_while_the_embedder_is_down(semantic: Semantic) -> None:
    """S-11."""
    await semantic.known("k", "a heron")
    await semantic.said("a heron")
    assert values(await semantic.recall("heron")) == ["a heron"]
    semantic.embedder.down = True
    memories, messages = await semantic.recall("heron"), await semantic.search("heron")
    assert [hit.memory.value for hit in memories.hits] == ["a heron"]
    assert [match.ref.message_id for match in messages.matches] == ["c-1"]
    for response in (memories, messages):
        assert [(f.channel, f.cause) for f in response.failures] == [(VECTOR, "not available")]
    for explanation in (memories.hits[0].explanation, messages.matches[0].explanation):
        assert {c.channel for c in explanation.channels} == {KEYWORD}
        assert_adds_up(explanation)
    words = await semantic.search("heron", mode=recall_pb2.SEARCH_MODE_KEYWORD)
    assert found(words) == ["c-1"], "a channel that was not asked did not fail"


async def test_recall_is_unavailable_when_every_channel_fails(semantic: Semantic) -> None:
    """S-11."""
    semantic.embedder.down = True
    request = pb.RecallMessagesRequest(scope=scope(), query="heron", mode=recall_pb2.SEARCH_MODE_SEMANTIC)
    outcome = await failure(semantic.by(READER).RecallMessages(request))
    assert outcome[:2] == (CODE.UNAVAILABLE, "DEPENDENCY_DOWN")
