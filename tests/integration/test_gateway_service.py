"""The gateway over a real socket: reach of keys, bad input, streams, search, and the prompt's sources.

SPEC G-1 to G-4, G-9, E-2, S-12, S-16, X-1, X-2. One suite serves all tests; each has agents of its own.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import count
from typing import Any

import grpc
import pytest
import pytest_asyncio
from google.protobuf.timestamp_pb2 import Timestamp
from palimpsest.common.v1 import recall_pb2, resources_pb2
from palimpsest.gateway.v1 import administration_pb2 as admin
from palimpsest.gateway.v1 import conversations_pb2 as conv
from palimpsest.gateway.v1 import gateway_pb2, indexes_pb2, prompt_pb2
from palimpsest.gateway.v1 import memories_pb2 as mem

from services.kit.identity import Role
from services.kit.times import now
from tests.integration.embedded_suite import Running, failure, running, said
from tests.integration.judged import judgements, verdict

pytestmark = pytest.mark.asyncio(loop_scope="module")
CODE = grpc.StatusCode
METHODS = {m.name: m for m in gateway_pb2.DESCRIPTOR.services_by_name["GatewayService"].methods}
NAME_NO_AGENT = {
    "ListAgents",
    "GetReindex",
    "GetIndexStatus",
    "GetJob",
    "RetryJob",
    "CancelJob",
    "GetStatus",
    "CreateApiKey",
    "GetApiKey",
    "ListApiKeys",
    "RotateApiKey",
    "RevokeApiKey",
    "ListApiKeyChanges",
}


@pytest.fixture(scope="module")
def numbers() -> count[int]:
    return count()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def suite(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    async with running(tmp_path_factory.mktemp("suite") / "data") as made:
        yield made


@pytest.fixture
def agent(numbers: count[int]) -> str:
    """An agent's id that no other test has."""
    return f"agent-{next(numbers)}"


@pytest_asyncio.fixture(loop_scope="module")
async def stub(suite: Running, agent: str) -> Any:
    """The operator's stub; the agent and its conversation "c" are there."""
    made = await suite.stub()
    await made.CreateAgent(conv.CreateAgentRequest(agent_id=agent))
    await made.CreateConversation(conv.CreateConversationRequest(agent_id=agent, conversation_id="c"))
    return made


async def called(stub: Any, method: str, request: Any) -> list[Any]:
    """All answers to one request, whatever streams."""

    async def one() -> AsyncIterator[Any]:
        yield request

    call = getattr(stub, method)(one() if METHODS[method].client_streaming else request)
    if METHODS[method].server_streaming:
        return [answer async for answer in call]
    return [await call]


async def person(stub: Any, agent: str, identity: str) -> str:
    request = conv.ResolveContactRequest(agent_id=agent, identity=identity)
    return str((await stub.ResolveContact(request)).contact.id)


async def recorded(stub: Any, agent: str, conversation: str, *messages: Any) -> Any:
    """The answer once all of them can be recalled."""
    answer = await stub.RecordTurn(
        conv.RecordTurnRequest(agent_id=agent, conversation_id=conversation, messages=messages)
    )
    waited = await stub.Recall(mem.RecallRequest(agent_id=agent, query="x", wait_for=[answer.token]))
    assert not waited.unindexed
    return answer


async def judged(suite: Running, stub: Any, agent: str) -> tuple[str, str]:
    """A memory that another one replaced, and a contradiction, as a judge would find them."""
    texts = ("lives in Oslo", "lives in Bergen", "eats no meat", "loves steak")
    ids = [
        (await stub.Remember(mem.RememberRequest(agent_id=agent, key=f"judged.{n}", value=text))).memory.id
        for n, text in enumerate(texts)
    ]
    async with judgements(suite.data) as store:
        assert await store.supersede("default", agent, verdict(ids[0], ids[1]), now())
        assert await store.record_contradiction("default", agent, verdict(ids[2], ids[3]), now())
    (found,) = (await stub.ListContradictions(mem.ListContradictionsRequest(agent_id=agent))).contradictions
    return ids[0], found.id


async def requests_of(suite: Running, stub: Any, agent: str) -> dict[str, Any]:
    """A request for each RPC that names an agent, about things that exist; deeds come last."""
    ann, bob = await person(stub, agent, "telegram:1"), await person(stub, agent, "telegram:2")
    turn = await recorded(stub, agent, "c", said("the heron nests"))
    written = await stub.Remember(mem.RememberRequest(agent_id=agent, key="bird", value="likes herons"))
    message, memory = turn.messages[0].message_id, written.memory.id
    where: dict[str, Any] = {"agent_id": agent}
    replaced, contradiction = await judged(suite, stub, agent)
    chunk = conv.IngestRequest(**where, conversation_id="c", messages=[said("more")], parent_id=message)
    change = conv.UpdateAgentRequest(agent=resources_pb2.Agent(id=agent, display_name="Ada"))
    change.update_mask.paths.append("display_name")
    pin = mem.UpdateMemoryRequest(agent_id=agent, memory=resources_pb2.Memory(id=memory, pinned=True))
    pin.update_mask.paths.append("pinned")
    merge = conv.MergeContactsRequest(**where, source_contact_id=bob, target_contact_id=ann)
    jobs = admin.JobFilter(agent_id=agent)
    return {
        "CreateAgent": conv.CreateAgentRequest(**where),
        "GetAgent": conv.GetAgentRequest(**where),
        "UpdateAgent": change,
        "ResolveContact": conv.ResolveContactRequest(**where, identity="telegram:1"),
        "GetContact": conv.GetContactRequest(**where, contact_id=ann),
        "ListContacts": conv.ListContactsRequest(**where),
        "LinkIdentity": conv.LinkIdentityRequest(**where, contact_id=ann, identity="telegram:3"),
        "CreateConversation": conv.CreateConversationRequest(**where, conversation_id="d"),
        "GetConversation": conv.GetConversationRequest(**where, conversation_id="c"),
        "ListConversations": conv.ListConversationsRequest(**where),
        "ListMessages": conv.ListMessagesRequest(**where, conversation_id="c"),
        "GetMessage": conv.GetMessageRequest(**where, conversation_id="c", message_id=message),
        "GetMemory": mem.GetMemoryRequest(**where, memory_id=memory),
        "GetMemoryByKey": mem.GetMemoryByKeyRequest(**where, key="bird"),
        "ListMemories": mem.ListMemoriesRequest(**where),
        "ListMemoryVersions": mem.ListMemoryVersionsRequest(**where, memory_id=memory),
        "Recall": mem.RecallRequest(**where, query="heron"),
        "RecallConversation": mem.RecallConversationRequest(**where, conversation_id="c", query="heron"),
        "AssemblePrompt": prompt_pb2.AssemblePromptRequest(**where, conversation_id="c", message="heron"),
        "ListJobs": admin.ListJobsRequest(filter=jobs),
        "WatchJobs": admin.WatchJobsRequest(filter=jobs, until_idle=True),
        "UpdateMemory": pin,
        "ListContradictions": mem.ListContradictionsRequest(**where),
        "UndoSupersession": mem.UndoSupersessionRequest(**where, memory_id=replaced),
        "ResolveContradiction": mem.ResolveContradictionRequest(**where, contradiction_id=contradiction),
        "Ingest": chunk,
        "IngestStream": conv.IngestStreamRequest(chunk=chunk),
        "RecordTurn": conv.RecordTurnRequest(**where, conversation_id="c", messages=[said("again")]),
        "Remember": mem.RememberRequest(**where, key="other", value="new"),
        "MergeContacts": merge,
        "UnmergeContact": conv.UnmergeContactRequest(**where, contact_id=bob),
        "ForgetMemory": mem.ForgetMemoryRequest(**where, memory_id=memory),
        "Reindex": indexes_pb2.ReindexRequest(**where),
    }


async def test_a_limited_key_and_another_tenant_reach_nothing_of_an_agent(
    suite: Running, stub: Any, agent: str
) -> None:
    """X-1, G-9. Its owner, last of all, may do the same things."""
    requests = await requests_of(suite, stub, agent)
    assert set(requests) == set(METHODS) - NAME_NO_AGENT, "a new RPC belongs in one or the other"
    elsewhere = await suite.stub(await suite.key(Role.OPERATOR, agents=frozenset({"elsewhere"})))
    stranger = await suite.stub(await suite.key(Role.OPERATOR, tenant="other"))
    for method, request in requests.items():
        refused = await failure(called(elsewhere, method, request))
        assert refused[:2] == (CODE.PERMISSION_DENIED, "NOT_ALLOWED"), method
    for method, request in requests.items():
        if method in ("ListJobs", "WatchJobs"):
            assert not [job for answer in await called(stranger, method, request) for job in answer.jobs]
        elif method != "CreateAgent":
            missing = await failure(called(stranger, method, request))
            assert missing[:2] == (CODE.NOT_FOUND, "RESOURCE_NOT_FOUND"), method
    own = await suite.stub(await suite.key(Role.OPERATOR, agents=frozenset({agent})))
    for method, request in requests.items():
        assert await called(own, method, request), method


async def test_what_is_named_by_id_alone_is_kept_apart_too(suite: Running, stub: Any, agent: str) -> None:
    """X-1: jobs, keys and the list of agents."""
    await recorded(stub, agent, "c", said("hello"))
    filtered = admin.ListJobsRequest(filter=admin.JobFilter(agent_id=agent))
    job = (await stub.ListJobs(filtered)).jobs[0].id
    key = (await stub.CreateApiKey(admin.CreateApiKeyRequest(role=admin.KEY_ROLE_READER))).key.id
    stranger = await suite.stub(await suite.key(Role.OPERATOR, tenant="third"))
    elsewhere = await suite.stub(await suite.key(Role.ADMIN, agents=frozenset({"elsewhere"})))
    for other in (stranger, elsewhere):
        for call in (
            other.GetJob(admin.GetJobRequest(job_id=job)),
            other.RetryJob(admin.RetryJobRequest(job_id=job)),
            other.CancelJob(admin.CancelJobRequest(job_id=job)),
        ):
            assert (await failure(call))[0] in (CODE.NOT_FOUND, CODE.PERMISSION_DENIED)
        assert agent not in [a.id for a in (await other.ListAgents(conv.ListAgentsRequest())).agents]
    revoke = admin.RevokeApiKeyRequest(key_id=key)
    assert (await failure(stranger.RevokeApiKey(revoke)))[0] is CODE.NOT_FOUND
    assert (await failure(elsewhere.RevokeApiKey(revoke)))[0] is CODE.PERMISSION_DENIED
    assert key not in [k.id for k in (await stranger.ListApiKeys(admin.ListApiKeysRequest())).keys]
    assert (await stub.GetJob(admin.GetJobRequest(job_id=job))).job.id == job
    listed = (await stub.ListAgents(conv.ListAgentsRequest(page_size=1000))).agents
    assert agent in [a.id for a in listed]
    assert (await stub.RevokeApiKey(revoke)).key.HasField("revoke_time")


async def test_a_read_waits_for_its_own_agent_only(stub: Any, agent: str) -> None:
    """S-16: else a key could learn whether an agent that it doesn't reach has work left."""
    token = resources_pb2.FreshnessToken(agent_id="elsewhere")
    token.memory.memory_id, token.memory.version = "m", 1
    fields: dict[str, Any] = {"agent_id": agent, "conversation_id": "c", "wait_for": [token]}
    for call in (
        stub.Recall(mem.RecallRequest(agent_id=agent, query="x", wait_for=[token])),
        stub.RecallConversation(mem.RecallConversationRequest(query="x", **fields)),
        stub.AssemblePrompt(prompt_pb2.AssemblePromptRequest(message="x", **fields)),
    ):
        assert await failure(call) == (CODE.INVALID_ARGUMENT, "INVALID_FIELD", ["wait_for[0].agent_id"])


async def test_every_request_without_its_agent_or_with_one_too_long_names_the_field(
    suite: Running, stub: Any, agent: str
) -> None:
    """X-2, for each RPC that takes an agent's id as its first field; nothing is stored."""
    requests = await requests_of(suite, stub, agent)
    listing = conv.ListMessagesRequest(agent_id=agent, conversation_id="c")
    before = (await stub.ListMessages(listing)).messages
    everything = mem.ListMemoriesRequest(agent_id=agent, include_superseded=True)
    known = [(m.id, m.value) for m in (await stub.ListMemories(everything)).memories]
    assert known
    for method, request in requests.items():
        if method in ("UpdateAgent", "IngestStream", "ListJobs", "WatchJobs", "Reindex"):
            continue  # the agent is elsewhere, or may be left out
        for bad in ("", "a" * 129):
            broken = type(request)()
            broken.CopyFrom(request)
            broken.agent_id = bad
            wrong = await failure(called(stub, method, broken))
            assert wrong == (CODE.INVALID_ARGUMENT, "INVALID_FIELD", ["agent_id"]), (method, bad)
    assert (await stub.ListMessages(listing)).messages == before
    after = (await stub.ListMemories(everything)).memories  # their revisions rise while jobs verify them
    assert [(m.id, m.value) for m in after] == known


def bad_requests(agent: str) -> list[tuple[str, Any, str]]:
    where: dict[str, Any] = {"agent_id": agent, "conversation_id": "c"}
    no_such_value: Any = 9
    filled = said("x")
    nameless, empty = said("x"), said("x")
    nameless.role = resources_pb2.ROLE_UNSPECIFIED
    del empty.parts[:]
    window = recall_pb2.MessageFilter(authors=["a" * 129])
    return [
        ("Ingest", conv.IngestRequest(**where), "messages"),
        ("Ingest", conv.IngestRequest(**where, messages=[filled] * 501), "messages"),
        ("Ingest", conv.IngestRequest(**where, messages=[filled, nameless]), "messages[1].role"),
        ("Ingest", conv.IngestRequest(**where, messages=[empty]), "messages[0].parts"),
        ("Ingest", conv.IngestRequest(**where, messages=[filled], parent_id="p" * 129), "parent_id"),
        ("Ingest", conv.IngestRequest(**where, messages=[said("x", id="a b")]), "messages[0].id"),
        ("IngestStream", conv.IngestStreamRequest(), "chunk"),
        ("IngestStream", conv.IngestStreamRequest(chunk=conv.IngestRequest(**where)), "chunk.messages"),
        (
            "RecordTurn",
            conv.RecordTurnRequest(**where, messages=[said("x", author="a" * 129)]),
            "messages[0].author",
        ),
        (
            "RecordTurn",
            conv.RecordTurnRequest(**where, messages=[filled], request_id="r" * 129),
            "request_id",
        ),
        (
            "CreateConversation",
            conv.CreateConversationRequest(agent_id=agent, conversation_id="a/b"),
            "conversation_id",
        ),
        ("CreateConversation", conv.CreateConversationRequest(agent_id=agent, title="t" * 257), "title"),
        ("ListMessages", conv.ListMessagesRequest(**where, filter=window), "filter.authors[0]"),
        ("ListMessages", conv.ListMessagesRequest(**where, page_size=-1), "page_size"),
        ("GetMessage", conv.GetMessageRequest(**where), "message_id"),
        ("LinkIdentity", conv.LinkIdentityRequest(agent_id=agent, contact_id="c", identity="x"), "identity"),
        (
            "MergeContacts",
            conv.MergeContactsRequest(agent_id=agent, source_contact_id="s"),
            "target_contact_id",
        ),
        ("UnmergeContact", conv.UnmergeContactRequest(agent_id=agent), "contact_id"),
        ("UpdateAgent", conv.UpdateAgentRequest(agent=resources_pb2.Agent(id=agent)), "update_mask"),
        ("RecallConversation", mem.RecallConversationRequest(**where, query=""), "query"),
        (
            "RecallConversation",
            mem.RecallConversationRequest(**where, query="q", neighbours=11),
            "neighbours",
        ),
        ("RecallConversation", mem.RecallConversationRequest(**where, query="q", mode=no_such_value), "mode"),
        (
            "RecallConversation",
            mem.RecallConversationRequest(**where, query="q", scope=no_such_value),
            "scope",
        ),
        ("AssemblePrompt", prompt_pb2.AssemblePromptRequest(**where, message="m" * 32_769), "message"),
        (
            "AssemblePrompt",
            prompt_pb2.AssemblePromptRequest(**where, message="m", budget_tokens=2_000_001),
            "budget_tokens",
        ),
        ("GetMemoryByKey", mem.GetMemoryByKeyRequest(agent_id=agent), "key"),
        ("ForgetMemory", mem.ForgetMemoryRequest(agent_id=agent), "memory_id"),
        ("GetJob", admin.GetJobRequest(), "job_id"),
        ("ListJobs", admin.ListJobsRequest(page_size=1001), "page_size"),
        ("RevokeApiKey", admin.RevokeApiKeyRequest(), "key_id"),
        ("CreateApiKey", admin.CreateApiKeyRequest(role=no_such_value), "role"),
    ]


async def test_bad_fields_are_named_and_nothing_is_stored(stub: Any, agent: str) -> None:
    """X-2."""
    for method, request, field in bad_requests(agent):
        code, reason, fields = await failure(called(stub, method, request))
        assert (code, reason) == (CODE.INVALID_ARGUMENT, "INVALID_FIELD"), (method, field)
        assert field in fields, (method, fields)
    read = conv.GetConversationRequest(agent_id=agent, conversation_id="c")
    assert (await stub.GetConversation(read)).conversation.stored_count == 0
    listed = await stub.ListConversations(conv.ListConversationsRequest(agent_id=agent))
    assert [c.id for c in listed.conversations] == ["c"]


async def test_pages_cannot_be_read_with_a_forged_or_another_lists_token(stub: Any, agent: str) -> None:
    await stub.CreateApiKey(admin.CreateApiKeyRequest(role=admin.KEY_ROLE_READER))
    first = await stub.ListApiKeys(admin.ListApiKeysRequest(page_size=1))
    assert first.next_page_token
    for call in (
        stub.ListApiKeys(admin.ListApiKeysRequest(page_token="forged")),
        stub.ListAgents(conv.ListAgentsRequest(page_token=first.next_page_token)),
        stub.ListMemories(mem.ListMemoriesRequest(agent_id=agent, page_token=first.next_page_token)),
    ):
        assert (await failure(call))[:2] == (CODE.INVALID_ARGUMENT, "INVALID_PAGE_TOKEN")
    seen = list(first.keys)
    token = first.next_page_token
    while token:
        page = await stub.ListApiKeys(admin.ListApiKeysRequest(page_size=1, page_token=token))
        seen += page.keys
        token = page.next_page_token
    whole = (await stub.ListApiKeys(admin.ListApiKeysRequest())).keys
    assert seen == list(whole)


async def test_chunks_before_a_bad_one_are_answered_before_the_stream_ends(stub: Any, agent: str) -> None:
    """G-4: the error has the bad chunk's place, though that is known at once; later chunks are not stored."""

    def chunk(*texts: str) -> conv.IngestStreamRequest:
        messages = [said(text) for text in texts]
        return conv.IngestStreamRequest(
            chunk=conv.IngestRequest(agent_id=agent, conversation_id="c", messages=messages)
        )

    async def chunks() -> AsyncIterator[conv.IngestStreamRequest]:
        yield chunk(*(f"message {n}" for n in range(400)))
        yield chunk("second")
        yield chunk()
        yield chunk("never")

    answered = []
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        async for answer in stub.IngestStream(chunks()):
            answered.append(answer.chunk.created_count)
    assert caught.value.code() is CODE.INVALID_ARGUMENT
    assert answered == [400, 1]
    listing = conv.ListMessagesRequest(agent_id=agent, conversation_id="c", newest_first=True, page_size=1)
    (newest,) = (await stub.ListMessages(listing)).messages
    assert (newest.sequence, newest.parts[0].text) == (401, "second")


async def test_search_gives_exact_originals_best_first_through_its_filters(stub: Any, agent: str) -> None:
    """S-12."""
    early, late = Timestamp(seconds=1_700_000_000), Timestamp(seconds=1_750_000_000)
    texts = ["Heron,  heron;\n\theron! 鷺", "a heron", "no bird at all"]
    roles = [resources_pb2.ROLE_USER, resources_pb2.ROLE_ASSISTANT, resources_pb2.ROLE_USER]
    messages = [
        said(text, author=author, time=time)
        for text, author, time in zip(texts, ["Ann", "", "Bob"], [early, late, late], strict=True)
    ]
    for message, role in zip(messages, roles, strict=True):
        message.role = role
    await recorded(stub, agent, "c", *messages)

    async def search(**fields: Any) -> list[Any]:
        request = mem.RecallConversationRequest(
            agent_id=agent, conversation_id="c", mode=recall_pb2.SEARCH_MODE_KEYWORD, **fields
        )
        hits = list((await stub.RecallConversation(request)).hits)
        assert [h.explanation.score for h in hits] == sorted(
            (h.explanation.score for h in hits), reverse=True
        )
        return hits

    hits = await search(query="heron", neighbours=2)
    assert {h.message.parts[0].text for h in hits} == set(texts[:2])
    first = next(h for h in hits if h.message.sequence == 1)
    assert first.message.parts[0].text == texts[0], "to the letter"
    assert (first.message.author, first.message.time) == ("Ann", early)
    assert [m.sequence for m in first.before] == []
    assert [m.sequence for m in first.after] == [2, 3]
    assert len(await search(query="heron", limit=1)) == 1
    for sifted, found in (
        (recall_pb2.MessageFilter(roles=[resources_pb2.ROLE_ASSISTANT]), [2]),
        (recall_pb2.MessageFilter(authors=["Ann"]), [1]),
        (recall_pb2.MessageFilter(start_time=late), [2]),
        (recall_pb2.MessageFilter(end_time=late), [1]),
        (recall_pb2.MessageFilter(authors=["Bob"]), []),
    ):
        assert [h.message.sequence for h in await search(query="heron", filter=sifted)] == found
    for unknown in (
        mem.RecallConversationRequest(agent_id=agent, query="heron", conversation_id="nothing"),
        mem.RecallConversationRequest(agent_id=agent, query="heron", contact_id="nobody"),
    ):
        assert (await failure(stub.RecallConversation(unknown)))[0] is CODE.NOT_FOUND


async def test_a_memory_names_sources_that_exist(stub: Any, agent: str) -> None:
    turn = await recorded(stub, agent, "c", said("Ghent, at last"))
    real = resources_pb2.MessageRef(conversation_id="c", message_id=turn.messages[0].message_id)
    unreal = resources_pb2.MessageRef(conversation_id="c", message_id="nothing")
    request = mem.RememberRequest(agent_id=agent, key="home", value="Ghent", provenance=[real, unreal])
    assert (await failure(stub.Remember(request)))[0] is CODE.NOT_FOUND
    assert not (await stub.ListMemories(mem.ListMemoriesRequest(agent_id=agent))).memories
    del request.provenance[1]
    assert list((await stub.Remember(request)).memory.provenance) == [real]


def layer(prompt: Any, kind: int) -> Any:
    (found,) = [one for one in prompt.layers if one.kind == kind]
    return found


async def test_the_prompt_finds_what_the_window_left_out_and_shows_nothing_twice(
    stub: Any, agent: str
) -> None:
    """G-1, G-2."""
    filler = [said(f"small talk number {n} about nothing that matters much at all") for n in range(80)]
    heron = said("The heron nests behind the old mill.", author="Ann")
    turn = await recorded(stub, agent, "c", *filler[:30], heron, *filler[30:])
    prompt = await stub.AssemblePrompt(
        prompt_pb2.AssemblePromptRequest(
            agent_id=agent, conversation_id="c", message="Where does the heron nest?", budget_tokens=700
        )
    )
    history = [ref.message_id for ref in layer(prompt, prompt_pb2.LAYER_KIND_HISTORY).messages]
    retrieved = [ref.message_id for ref in layer(prompt, prompt_pb2.LAYER_KIND_RETRIEVED).messages]
    assert turn.messages[30].message_id in retrieved
    assert turn.messages[-1].message_id in history
    assert not set(history) & set(retrieved)
    assert len(retrieved) <= 3
    assert prompt.token_count <= prompt.budget_tokens == 700
    for one in prompt.layers:
        assert one.token_count <= one.budget_tokens
    assert prompt.anthropic_system == prompt.openai_messages[0].content
    assert prompt.openai_messages[-1].content.endswith("Where does the heron nest?")
    assert not prompt.failures


async def test_a_persons_memories_are_in_their_prompts_also_after_a_merge(stub: Any, agent: str) -> None:
    """The contact's memories show in the conversation with them, and a merge adds the other's; an undo
    takes them out again."""
    ann, other = await person(stub, agent, "telegram:1"), await person(stub, agent, "mailto:ann@example.org")
    await stub.CreateConversation(
        conv.CreateConversationRequest(agent_id=agent, conversation_id="with-ann", contact_id=ann)
    )
    for who, value in ((ann, "drinks tea"), (other, "rows at dawn"), ("", "office opens at nine")):
        await stub.Remember(
            mem.RememberRequest(agent_id=agent, contact_id=who, key=value.split()[0], value=value)
        )

    async def facts() -> str:
        request = prompt_pb2.AssemblePromptRequest(
            agent_id=agent, conversation_id="with-ann", message="Good morning!"
        )
        return str(layer(await stub.AssemblePrompt(request), prompt_pb2.LAYER_KIND_FACTS).text)

    shown = await facts()
    assert "drinks tea" in shown
    assert "opens at nine" in shown
    assert "rows at dawn" not in shown
    await stub.MergeContacts(
        conv.MergeContactsRequest(agent_id=agent, source_contact_id=other, target_contact_id=ann)
    )
    assert "rows at dawn" in await facts()
    await stub.UnmergeContact(conv.UnmergeContactRequest(agent_id=agent, contact_id=other))
    assert await facts() == shown


async def test_a_prompt_that_waits_in_vain_comes_in_time_and_says_so(stub: Any, agent: str) -> None:
    """S-16."""
    token = resources_pb2.FreshnessToken(agent_id=agent)
    token.messages.conversation_id, token.messages.sequence = "c", 5
    request = prompt_pb2.AssemblePromptRequest(
        agent_id=agent, conversation_id="c", message="hello", wait_for=[token]
    )
    prompt = await stub.AssemblePrompt(request, timeout=3)
    assert prompt.text.endswith("hello")
    assert {outcome.state for outcome in prompt.unindexed} == {resources_pb2.UNINDEXED_STATE_PENDING}
    assert [outcome.token for outcome in prompt.unindexed] == [token]
