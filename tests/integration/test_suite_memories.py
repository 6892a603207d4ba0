"""Memories through the gateway: chains, scopes, recall, waiting, loss of the indexes.

SPEC S-1 to S-6, S-8, S-9, S-11, S-12, S-16, SV-2, X-1.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import grpc
import pytest
from palimpsest.common.v1 import recall_pb2, resources_pb2
from palimpsest.gateway.v1 import administration_pb2, conversations_pb2, memories_pb2, prompt_pb2

from services.kit.identity import Role
from tests.integration.embedded_suite import AGENT, Running, contact, failure, idle, prepare, running, said
from tests.waiting import until

CODE = grpc.StatusCode


@pytest.fixture
async def suite(tmp_path: Path) -> AsyncIterator[Running]:
    async with running(tmp_path / "data") as made:
        yield made


async def remember(stub: Any, key: str, value: str, **fields: Any) -> memories_pb2.RememberResponse:
    request = memories_pb2.RememberRequest(agent_id=AGENT, key=key, value=value, **fields)
    response: memories_pb2.RememberResponse = await stub.Remember(request)
    return response


async def recalled(stub: Any, query: str, *tokens: Any, **fields: Any) -> list[str]:
    request = memories_pb2.RecallRequest(agent_id=AGENT, query=query, wait_for=tokens, **fields)
    answer = await stub.Recall(request)
    assert not answer.unindexed
    assert not answer.failures
    return [hit.memory.value for hit in answer.hits]


async def test_the_same_again_changes_nothing_and_a_new_value_supersedes(suite: Running) -> None:
    stub = await suite.stub()
    await prepare(stub)
    first = await remember(stub, "city", "lives in Oslo")
    again = await remember(stub, "city", "lives in Oslo")
    assert (first.created, again.created, again.memory.id) == (True, False, first.memory.id)
    assert first.memory.confidence == pytest.approx(0.9)
    assert first.memory.source == resources_pb2.MEMORY_SOURCE_EXPLICIT
    assert await recalled(stub, "which city", first.token) == ["lives in Oslo"]
    second = await remember(stub, "city", "lives in Bergen")
    assert (second.memory.version, second.memory.supersedes) == (2, first.memory.id)
    assert await recalled(stub, "which city: Oslo?", second.token) == ["lives in Bergen"]
    old = (
        await stub.GetMemory(memories_pb2.GetMemoryRequest(agent_id=AGENT, memory_id=first.memory.id))
    ).memory
    assert (old.superseded_by, old.valid_to_time) == (second.memory.id, second.memory.valid_from_time)


async def test_races_leave_one_memory_or_one_chain(suite: Running) -> None:
    stub = await suite.stub()
    await prepare(stub)
    same = await asyncio.gather(*(remember(stub, "k", "one value") for _ in range(64)))
    assert len({r.memory.id for r in same}) == 1
    assert sum(r.created for r in same) == 1
    different = await asyncio.gather(*(remember(stub, "n", f"value {n}") for n in range(64)))
    request = memories_pb2.ListMemoryVersionsRequest(agent_id=AGENT, memory_id=different[0].memory.id)
    chain = (await stub.ListMemoryVersions(request)).memories
    assert [m.version for m in chain] == list(range(1, 65))
    assert [m.superseded_by for m in chain] == [m.id for m in chain[1:]] + [""]
    assert [m.supersedes for m in chain] == ["", *(m.id for m in chain[:-1])]


async def test_a_request_id_makes_a_retry_the_same_write(suite: Running) -> None:
    stub = await suite.stub()
    await prepare(stub)
    first = await remember(stub, "k", "a", request_id="r1")
    await remember(stub, "k", "b")
    assert (await remember(stub, "k", "a", request_id="r1")).memory.id == first.memory.id
    request = memories_pb2.RememberRequest(agent_id=AGENT, key="k", value="other", request_id="r1")
    assert (await failure(stub.Remember(request)))[:2] == (CODE.ALREADY_EXISTS, "RESOURCE_EXISTS")


async def test_a_hit_explains_itself_and_the_parts_add_up(suite: Running) -> None:
    stub = await suite.stub()
    await prepare(stub)
    turn = conversations_pb2.RecordTurnRequest(
        agent_id=AGENT, conversation_id="c", messages=[said("We shall repaint the lighthouse in June.")]
    )
    recorded = await stub.RecordTurn(turn)
    source = resources_pb2.MessageRef(conversation_id="c", message_id=recorded.messages[0].message_id)
    written = await remember(stub, "plan.summer", "paint the tower before autumn", provenance=[source])
    for strategy in (None, recall_pb2.FusionStrategy(reference=recall_pb2.ReferenceFusion())):
        request = memories_pb2.RecallRequest(
            agent_id=AGENT,
            query="plan for the lighthouse",
            wait_for=[recorded.token, written.token],
            fusion=strategy,
        )
        (hit,) = (await stub.Recall(request)).hits
        why = hit.explanation
        total = sum(c.contribution for c in why.channels) + sum(s.contribution for s in why.signals)
        assert total == pytest.approx(why.score, rel=1e-4)
        found = {c.channel: c.rank for c in why.channels}
        assert found[recall_pb2.CHANNEL_MESSAGES] == 1, "its source says lighthouse, it does not"
        assert {recall_pb2.CHANNEL_VECTOR, recall_pb2.CHANNEL_KEY} <= found.keys()
    # S-9 by hand: four channels at rank 1, 1/61 each (key 1.5/61), times 0.5 + 0.9.
    assert why.score == pytest.approx((1 + 1 + 1.5 + 1) / 61 * 1.4, rel=1e-4)


async def test_forgotten_memories_are_gone_from_every_channel(suite: Running) -> None:
    stub = await suite.stub()
    await prepare(stub)
    written = await remember(stub, "secret.word", "the word is xylophone")
    kept = await remember(stub, "other.word", "another word is trombone")
    assert len(await recalled(stub, "xylophone word", written.token, kept.token)) == 2
    request = memories_pb2.ForgetMemoryRequest(agent_id=AGENT, memory_id=written.memory.id)
    assert (await stub.ForgetMemory(request)).deleted_count == 1
    assert await recalled(stub, "xylophone word") == ["another word is trombone"]
    assert (await failure(stub.ForgetMemory(request)))[0] is CODE.NOT_FOUND
    await idle(stub)
    index = (suite.data / "semantic-index.db").read_bytes() + (
        suite.data / "semantic-index.db-wal"
    ).read_bytes()
    assert b"trombon" in index


async def test_a_contact_is_seen_by_itself_only_and_merging_is_undoable(suite: Running) -> None:
    stub = await suite.stub()
    await prepare(stub)
    ann, bob, ann_too = [
        await contact(stub, i) for i in ("telegram:1", "telegram:2", "mailto:ann@example.org")
    ]
    tokens = [
        (await remember(stub, "drink", "Ann drinks tea", contact_id=ann)).token,
        (await remember(stub, "drink", "Bob drinks tea", contact_id=bob)).token,
        (await remember(stub, "sport", "Ann rows before tea", contact_id=ann_too)).token,
        (await remember(stub, "drink", "tea is served at four")).token,
    ]
    await asyncio.gather(*(recalled(stub, "tea", token) for token in tokens))
    common = "tea is served at four"
    assert set(await recalled(stub, "tea", contact_id=ann)) == {"Ann drinks tea", common}
    assert set(await recalled(stub, "tea", contact_id=bob)) == {"Bob drinks tea", common}
    assert set(await recalled(stub, "tea")) == {common}
    merge = conversations_pb2.MergeContactsRequest(
        agent_id=AGENT, source_contact_id=ann_too, target_contact_id=ann
    )
    await stub.MergeContacts(merge)
    for who in (ann, ann_too):
        assert set(await recalled(stub, "tea", contact_id=who)) == {
            "Ann drinks tea",
            "Ann rows before tea",
            common,
        }
    await stub.UnmergeContact(conversations_pb2.UnmergeContactRequest(agent_id=AGENT, contact_id=ann_too))
    assert set(await recalled(stub, "tea", contact_id=ann)) == {"Ann drinks tea", common}
    by_key = memories_pb2.GetMemoryByKeyRequest(agent_id=AGENT, contact_id=bob, key="drink")
    assert (await stub.GetMemoryByKey(by_key)).memory.value == "Bob drinks tea"
    by_key.contact_id = ann_too
    assert (await stub.GetMemoryByKey(by_key)).memory.value == common


async def test_tasks_are_found_by_words_only(suite: Running) -> None:
    stub = await suite.stub()
    await prepare(stub)
    task = await remember(stub, "todo", "renew the passport", fact_type=resources_pb2.FACT_TYPE_TASK)
    assert task.memory.kind == resources_pb2.MEMORY_KIND_TASK
    assert (task.memory.expire_time.seconds - task.memory.create_time.seconds) == 7 * 86400
    assert await recalled(stub, "passport", task.token) == ["renew the passport"]
    assert await recalled(stub, "travel documents") == []


@pytest.mark.parametrize(
    "query", ["?!…", "the of and", '" OR 1=1 --', "NEAR(a b) AND *", "terms : x", "{}", "a" * 1024, "🙂", "-"]
)
async def test_nothing_that_a_user_types_is_syntax(suite: Running, query: str) -> None:
    stub = await suite.stub()
    await prepare(stub)
    written = await remember(stub, "note", "a plain note about tides")
    assert len(await recalled(stub, query, written.token)) <= 1
    request = memories_pb2.RecallConversationRequest(agent_id=AGENT, conversation_id="c", query=query)
    assert not (await stub.RecallConversation(request)).failures


BAD = [
    ("Remember", memories_pb2.RememberRequest(agent_id=AGENT, key="k"), "value"),
    ("Remember", memories_pb2.RememberRequest(agent_id=AGENT, key="Bad Key", value="v"), "key"),
    ("Remember", memories_pb2.RememberRequest(agent_id=AGENT, key="k" * 201, value="v"), "key"),
    ("Remember", memories_pb2.RememberRequest(agent_id=AGENT, key="k", value="v" * 8193), "value"),
    ("Remember", memories_pb2.RememberRequest(agent_id=AGENT, key="k", value="a\0b"), "value"),
    ("Remember", memories_pb2.RememberRequest(agent_id=AGENT, key="k", value="v", fact_type=99), "fact_type"),
    ("Recall", memories_pb2.RecallRequest(agent_id=AGENT), "query"),
    ("Recall", memories_pb2.RecallRequest(agent_id=AGENT, query="q" * 1025), "query"),
    ("Recall", memories_pb2.RecallRequest(agent_id=AGENT, query="q", limit=101), "limit"),
    ("Recall", memories_pb2.RecallRequest(agent_id=AGENT, query="q", kinds=[9]), "kinds[0]"),
    ("Recall", memories_pb2.RecallRequest(query="q"), "agent_id"),
    (
        "RecallConversation",
        memories_pb2.RecallConversationRequest(agent_id=AGENT, query="q"),
        "conversation_id",
    ),
    ("UpdateMemory", memories_pb2.UpdateMemoryRequest(agent_id=AGENT), "memory"),
    ("ListMemories", memories_pb2.ListMemoriesRequest(agent_id=AGENT, page_size=1001), "page_size"),
    ("AssemblePrompt", prompt_pb2.AssemblePromptRequest(agent_id=AGENT, conversation_id="c"), "message"),
    (
        "AssemblePrompt",
        prompt_pb2.AssemblePromptRequest(agent_id=AGENT, conversation_id="c", message="m", budget_tokens=50),
        "budget_tokens",
    ),
    ("RecordTurn", conversations_pb2.RecordTurnRequest(agent_id=AGENT, conversation_id="c"), "messages"),
    (
        "RecordTurn",
        conversations_pb2.RecordTurnRequest(
            agent_id=AGENT, conversation_id="c", messages=[said("x" * 40_000)]
        ),
        "messages[0].parts[0].text",
    ),
    ("CreateAgent", conversations_pb2.CreateAgentRequest(agent_id="no spaces"), "agent_id"),
    (
        "ResolveContact",
        conversations_pb2.ResolveContactRequest(agent_id=AGENT, identity="nobody"),
        "identity",
    ),
    ("CreateApiKey", administration_pb2.CreateApiKeyRequest(), "role"),
]


async def test_bad_fields_are_named_and_nothing_is_stored(suite: Running) -> None:
    stub = await suite.stub()
    await prepare(stub)
    for method, request, field in BAD:
        code, reason, fields = await failure(getattr(stub, method)(request))
        assert (code, reason) == (CODE.INVALID_ARGUMENT, "INVALID_FIELD"), (method, field)
        assert field in fields, (method, fields)
    listing = await stub.ListMemories(
        memories_pb2.ListMemoriesRequest(agent_id=AGENT, include_superseded=True)
    )
    assert not listing.memories
    messages = await stub.ListMessages(
        conversations_pb2.ListMessagesRequest(agent_id=AGENT, conversation_id="c")
    )
    assert not messages.messages


async def test_what_is_unknown_or_another_tenants_is_not_found(suite: Running) -> None:
    mine = await suite.stub()
    await prepare(mine)
    written = await remember(mine, "k", "v")
    stranger = await suite.stub(await suite.key(Role.OPERATOR, tenant="other"))
    get = memories_pb2.GetMemoryRequest(agent_id=AGENT, memory_id=written.memory.id)
    assert (await mine.GetMemory(get)).memory.value == "v"
    for call in (
        stranger.GetMemory(get),
        stranger.GetAgent(conversations_pb2.GetAgentRequest(agent_id=AGENT)),
        stranger.GetConversation(
            conversations_pb2.GetConversationRequest(agent_id=AGENT, conversation_id="c")
        ),
        stranger.Recall(memories_pb2.RecallRequest(agent_id=AGENT, query="v")),
        stranger.Remember(memories_pb2.RememberRequest(agent_id=AGENT, key="k", value="w")),
        stranger.RecordTurn(
            conversations_pb2.RecordTurnRequest(agent_id=AGENT, conversation_id="c", messages=[said("hi")])
        ),
        mine.Recall(memories_pb2.RecallRequest(agent_id="nobody", query="v")),
        mine.Recall(memories_pb2.RecallRequest(agent_id=AGENT, contact_id="nobody", query="v")),
        mine.Remember(
            memories_pb2.RememberRequest(
                agent_id=AGENT,
                key="p",
                value="v",
                provenance=[resources_pb2.MessageRef(conversation_id="c", message_id="nothing")],
            )
        ),
        mine.AssemblePrompt(
            prompt_pb2.AssemblePromptRequest(agent_id=AGENT, conversation_id="nothing", message="hi")
        ),
    ):
        assert (await failure(call))[:2] == (CODE.NOT_FOUND, "RESOURCE_NOT_FOUND")
    jobs = await stranger.ListJobs(administration_pb2.ListJobsRequest())
    assert not jobs.jobs
    assert (await mine.ListJobs(administration_pb2.ListJobsRequest())).jobs


async def test_the_indexes_are_built_again_after_they_are_lost(tmp_path: Path) -> None:
    import shutil

    data = tmp_path / "data"
    async with running(data) as suite:
        stub = await suite.stub()
        await prepare(stub)
        turn = conversations_pb2.RecordTurnRequest(
            agent_id=AGENT, conversation_id="c", messages=[said(f"about walrus{n}") for n in range(30)]
        )
        recorded = await stub.RecordTurn(turn)
        written = await remember(stub, "animal", "prefers seals")
        assert await recalled(stub, "seals", written.token, recorded.token)
    for lost in ("semantic-index.db", "vectors"):
        victim = data / lost
        if victim.is_dir():
            shutil.rmtree(victim)
        else:
            for file in data.glob(f"{lost}*"):
                file.unlink()
        async with running(data) as suite:
            stub = await suite.stub()
            await until(partial(found_by_both, stub, "seals", "walrus7"))


async def found_by_both(stub: Any, memory: str, message: str) -> bool:
    """Whether words and vectors find a memory, and each of them a message that says "about …"."""
    hits = (await stub.Recall(memories_pb2.RecallRequest(agent_id=AGENT, query=memory))).hits
    channels = {channel.channel for hit in hits for channel in hit.explanation.channels}
    for mode in (recall_pb2.SEARCH_MODE_SEMANTIC, recall_pb2.SEARCH_MODE_KEYWORD):
        search = memories_pb2.RecallConversationRequest(
            agent_id=AGENT, conversation_id="c", query=message, mode=mode, limit=100
        )
        messages = (await stub.RecallConversation(search)).hits
        if not any(hit.message.parts[0].text == f"about {message}" for hit in messages):
            return False
    return {recall_pb2.CHANNEL_VECTOR, recall_pb2.CHANNEL_KEYWORD} <= channels


async def test_waiting_ends_with_what_is_pending_or_dead(suite: Running) -> None:
    stub = await suite.stub()
    await prepare(stub)
    token = resources_pb2.FreshnessToken(agent_id=AGENT)
    token.messages.conversation_id, token.messages.sequence = "c", 5
    request = memories_pb2.RecallRequest(agent_id=AGENT, query="anything", wait_for=[token])
    answer = await stub.Recall(request, timeout=1.5)
    (outcome,) = answer.unindexed
    assert (outcome.token, outcome.state) == (token, resources_pb2.UNINDEXED_STATE_PENDING)


async def test_conversation_recall_respects_scope_filter_and_neighbours(suite: Running) -> None:
    stub = await suite.stub()
    await prepare(stub)
    ann = await contact(stub, "telegram:1")
    for name, who in (("a1", ann), ("a2", ann), ("x", "")):
        await prepare(stub, name, who)
        turn = conversations_pb2.RecordTurnRequest(
            agent_id=AGENT,
            conversation_id=name,
            messages=[said("before"), said(f"the heron of {name}", author="Ann"), said("after")],
        )
        recorded = await stub.RecordTurn(turn)
        await recalled(stub, "warm", recorded.token)

    async def search(**fields: Any) -> set[str]:
        request = memories_pb2.RecallConversationRequest(
            agent_id=AGENT, query="heron", mode=recall_pb2.SEARCH_MODE_KEYWORD, neighbours=1, **fields
        )
        hits = (await stub.RecallConversation(request)).hits
        assert all([len(h.before), len(h.after)] == [1, 1] for h in hits)
        return {h.message.conversation_id for h in hits}

    assert await search(conversation_id="a1") == {"a1", "a2"}
    assert await search(conversation_id="a1", scope=memories_pb2.SEARCH_SCOPE_CONVERSATION) == {"a1"}
    assert await search(contact_id=ann) == {"a1", "a2"}
    assert await search(conversation_id="x") == {"x"}
    assert await search(scope=memories_pb2.SEARCH_SCOPE_ALL) == {"a1", "a2", "x"}
    only = recall_pb2.MessageFilter(authors=["Bob"])
    assert await search(scope=memories_pb2.SEARCH_SCOPE_ALL, filter=only) == set()


async def test_ids_with_colons_do_not_share_a_job(suite: Running) -> None:
    stub = await suite.stub()
    for agent, name in (("a:b", "c"), ("a", "b:c")):
        await stub.CreateAgent(conversations_pb2.CreateAgentRequest(agent_id=agent))
        await stub.CreateConversation(
            conversations_pb2.CreateConversationRequest(agent_id=agent, conversation_id=name)
        )
        turn = conversations_pb2.RecordTurnRequest(
            agent_id=agent, conversation_id=name, messages=[said(f"a bittern seen by {agent}")]
        )
        token = (await stub.RecordTurn(turn)).token
        search = memories_pb2.RecallConversationRequest(
            agent_id=agent,
            conversation_id=name,
            query="bittern",
            mode=recall_pb2.SEARCH_MODE_KEYWORD,
            wait_for=[token],
        )
        answer = await stub.RecallConversation(search)
        assert not answer.unindexed
        assert len(answer.hits) == 1
