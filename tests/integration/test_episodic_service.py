"""The Episodic service through a real stub over a socket, on real stores (SPEC §5, X-1, X-2, SV-5)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp
from palimpsest.common.v1 import recall_pb2, resources_pb2
from palimpsest.episodic.v1 import episodic_pb2 as pb
from palimpsest.episodic.v1 import episodic_pb2_grpc

from services.kit.context import act_as
from services.kit.errors import PalimpsestError, Reason
from services.kit.identity import Role
from services.kit.serving import roles_of
from services.memory.episodic.config import EpisodicSettings
from services.memory.episodic.rpc.servicer import DESCRIPTOR
from tests.integration.episodic_server import ONLY_B, OTHER, READER, WRITER, Ledger, serve_episodic

ROLES = roles_of(DESCRIPTOR)
KIB = 1024
USER = resources_pb2.ROLE_USER

Stub: TypeAlias = "episodic_pb2_grpc.EpisodicServiceAsyncStub"


@pytest.fixture
async def compactor() -> Ledger:
    return Ledger()


@pytest.fixture
async def stub(tmp_path: Path, compactor: Ledger) -> AsyncIterator[Stub]:
    async with AsyncExitStack() as stack:
        to_episodic = await serve_episodic(stack, EpisodicSettings(data_dir=tmp_path), compactor)
        made: Stub = episodic_pb2_grpc.EpisodicServiceStub(to_episodic)  # type: ignore[assignment]
        with act_as(WRITER):
            await made.CreateAgent(pb.CreateAgentRequest(agent_id="a", display_name="Ada"))
            await made.CreateConversation(pb.CreateConversationRequest(agent_id="a", conversation_id="c"))
            yield made


def says(text: str = "hello", **fields: Any) -> resources_pb2.NewMessage:
    return resources_pb2.NewMessage(role=USER, parts=[resources_pb2.Part(text=text)], **fields)


def append(*messages: resources_pb2.NewMessage, **fields: Any) -> pb.AppendMessagesRequest:
    return pb.AppendMessagesRequest(
        **{"agent_id": "a", "conversation_id": "c", "messages": messages, **fields}
    )


async def everything(stub: Stub) -> list[bytes]:
    """All that can be seen of the tenant's agent, to show that nothing was stored."""
    listed = [
        await stub.ListAgents(pb.ListAgentsRequest()),
        await stub.ListContacts(pb.ListContactsRequest(agent_id="a")),
        await stub.ListConversations(pb.ListConversationsRequest(agent_id="a")),
        await stub.ListMessages(pb.ListMessagesRequest(agent_id="a", conversation_id="c")),
    ]
    return [answer.SerializeToString(deterministic=True) for answer in listed]


async def failure(call: Awaitable[Any]) -> PalimpsestError:
    with pytest.raises(PalimpsestError) as caught:
        await call
    return caught.value


async def test_agents(stub: Stub) -> None:
    again = await stub.CreateAgent(pb.CreateAgentRequest(agent_id="a", display_name="Ada"))
    assert again.agent.display_name == "Ada"
    wanted = resources_pb2.Agent(id="a", display_name="ignored", system_prompt="Be kind.")
    changed = await stub.UpdateAgent(
        pb.UpdateAgentRequest(agent=wanted, update_mask=FieldMask(paths=["system_prompt"]))
    )
    read = await stub.GetAgent(pb.GetAgentRequest(agent_id="a"))
    assert changed.agent == read.agent
    assert (read.agent.display_name, read.agent.system_prompt) == ("Ada", "Be kind.")
    await stub.CreateAgent(pb.CreateAgentRequest(agent_id="b"))
    first = await stub.ListAgents(pb.ListAgentsRequest(page_size=1))
    rest = await stub.ListAgents(pb.ListAgentsRequest(page_size=1, page_token=first.next_page_token))
    assert [agent.id for agent in (*first.agents, *rest.agents)] == ["a", "b"]
    assert rest.next_page_token == ""
    with act_as(ONLY_B):
        assert [agent.id for agent in (await stub.ListAgents(pb.ListAgentsRequest())).agents] == ["b"]


async def test_contacts(stub: Stub) -> None:
    async def resolve(identity: str) -> pb.ResolveContactResponse:
        return await stub.ResolveContact(pb.ResolveContactRequest(agent_id="a", identity=identity))

    ann, bob = (await resolve("telegram:1")).contact, (await resolve("mailto:b@example.org")).contact
    assert not (await resolve("telegram:1")).created
    linked = await stub.LinkIdentity(
        pb.LinkIdentityRequest(agent_id="a", contact_id=ann.id, identity="x:ann")
    )
    assert list(linked.contact.identities) == ["telegram:1", "x:ann"]
    merge = pb.MergeContactsRequest(agent_id="a", source_contact_id=ann.id, target_contact_id=bob.id)
    assert list((await stub.MergeContacts(merge)).contact.merged_ids) == [ann.id]
    seen = await stub.GetContact(pb.GetContactRequest(agent_id="a", contact_id=ann.id))
    assert seen.contact.id == bob.id
    assert len((await stub.ListContacts(pb.ListContactsRequest(agent_id="a"))).contacts) == 1
    undone = await stub.UnmergeContact(pb.UnmergeContactRequest(agent_id="a", contact_id=ann.id))
    assert undone.contact == linked.contact
    twice = pb.LinkIdentityRequest(agent_id="a", contact_id=bob.id, identity="x:ann")
    assert (await failure(stub.LinkIdentity(twice))).reason is Reason.STATE_CONFLICT
    unmerge = pb.UnmergeContactRequest(agent_id="a", contact_id=ann.id)
    assert (await failure(stub.UnmergeContact(unmerge))).reason is Reason.STATE_CONFLICT


async def test_a_message_comes_back_as_it_was_sent(stub: Stub) -> None:
    arguments = Struct()
    arguments.update({"n": 1, "x": [1.5, None, True, {"deep": "ü"}], "empty": {}})
    parts = [
        resources_pb2.Part(text="Look at this: 日本 \U0001f600"),
        resources_pb2.Part(tool_call=resources_pb2.ToolCall(call_id="k", name="look", arguments=arguments)),
        resources_pb2.Part(tool_result=resources_pb2.ToolResult(call_id="k", content="", is_error=True)),
        resources_pb2.Part(
            attachment=resources_pb2.Attachment(uri="s3://x", media_type="image/png", caption="dog")
        ),
    ]
    when = Timestamp(seconds=-62135596800, nanos=1000)
    sent = resources_pb2.NewMessage(role=USER, author="Ann", session="s1", time=when, parts=parts)
    answer = await stub.AppendMessages(append(sent))
    assert (answer.token.agent_id, answer.token.messages.sequence) == ("a", 1)
    page = await stub.ListMessages(pb.ListMessagesRequest(agent_id="a", conversation_id="c"))
    (got,) = page.messages
    assert list(got.parts) == parts
    assert (got.id, got.author, got.session, got.time) == (answer.results[0].message_id, "Ann", "s1", when)
    assert got.token_count > 0
    conversation = await stub.GetConversation(pb.GetConversationRequest(agent_id="a", conversation_id="c"))
    assert (conversation.conversation.stored_count, conversation.conversation.leaf_id) == (1, got.id)
    assert list(conversation.conversation.authors) == ["Ann"]


async def test_each_stored_message_is_enqueued_once(stub: Stub, compactor: Ledger) -> None:
    """SV-5."""
    await stub.AppendMessages(append(says("a"), says("b"), parent_id=""))
    await stub.AppendMessages(append(says("a"), says("b"), says("c"), parent_id=""))
    async with asyncio.timeout(20):
        while len(compactor.jobs) < 5:
            compactor.arrived.clear()
            await compactor.arrived.wait()
    extractions = [job.idempotency_key for _, job in compactor.jobs if job.type == "extract_messages"]
    assert sorted(extractions) == ["extract_messages/a/c/1-2", "extract_messages/a/c/3-3"]
    jobs = [job for _, job in compactor.jobs if job.type != "extract_messages"]
    assert {tenant for tenant, _ in compactor.jobs} == {"acme"}
    assert sorted(job.idempotency_key for job in jobs) == [f"index_message/a/c/{n}" for n in (1, 2, 3)]
    assert {(job.type, job.agent_id) for job in jobs} == {("index_message", "a")}
    assert sorted(job.subject for job in jobs)[0] == "conversations/c/messages/1"
    assert json.loads(jobs[0].payload).keys() == {"conversation_id", "sequence"}


async def test_a_retry_returns_the_first_answer(stub: Stub) -> None:
    """E-2."""
    request = append(says("a"), says("b"), request_id="r")
    first = await stub.AppendMessages(request)
    assert await stub.AppendMessages(request) == first
    error = await failure(stub.AppendMessages(append(says("other"), request_id="r")))
    assert (error.reason, [p.field for p in error.fields]) == (Reason.RESOURCE_EXISTS, ["request_id"])


async def test_messages_are_read_by_page_id_and_sequence(stub: Stub) -> None:
    await stub.AppendMessages(append(*(says(f"message {n}", author=f"p{n % 2}") for n in range(1, 31))))
    seen: list[int] = []
    token = ""
    while True:
        page = await stub.ListMessages(
            pb.ListMessagesRequest(
                agent_id="a",
                conversation_id="c",
                newest_first=True,
                page_size=4,
                page_token=token,
                filter=recall_pb2.MessageFilter(authors=["p1"], roles=[USER]),
            )
        )
        seen.extend(message.sequence for message in page.messages)
        token = page.next_page_token
        if not token:
            break
    assert seen == list(range(29, 0, -2))
    at = await stub.GetMessageRange(
        pb.GetMessageRangeRequest(agent_id="a", conversation_id="c", sequences=[30, 2, 99])
    )
    assert [message.sequence for message in at.messages] == [2, 30]
    assert at.conversation.stored_count == 30
    refs = [
        resources_pb2.MessageRef(conversation_id="c", message_id=at.messages[0].id),
        resources_pb2.MessageRef(conversation_id="c", message_id="zz"),
    ]
    found = await stub.GetMessages(pb.GetMessagesRequest(agent_id="a", refs=refs, neighbours=2))
    assert [message.sequence for message in found.messages[0].before] == [1]
    assert [message.sequence for message in found.messages[0].after] == [3, 4]
    assert list(found.missing) == refs[1:]


def attach(**fields: str) -> resources_pb2.NewMessage:
    return resources_pb2.NewMessage(
        role=USER, parts=[resources_pb2.Part(attachment=resources_pb2.Attachment(**fields))]
    )


def calls(arguments: Struct) -> resources_pb2.NewMessage:
    call = resources_pb2.ToolCall(call_id="k", name="f", arguments=arguments)
    return resources_pb2.NewMessage(role=USER, parts=[resources_pb2.Part(tool_call=call)])


def results(content: str) -> resources_pb2.NewMessage:
    result = resources_pb2.ToolResult(call_id="k", content=content)
    return resources_pb2.NewMessage(role=USER, parts=[resources_pb2.Part(tool_result=result)])


def struct(**values: Any) -> Struct:
    made = Struct()
    made.update(values)
    return made


INVALID: list[tuple[str, Any, str]] = [
    ("CreateAgent", pb.CreateAgentRequest(), "agent_id"),
    ("CreateAgent", pb.CreateAgentRequest(agent_id="a b"), "agent_id"),
    ("CreateAgent", pb.CreateAgentRequest(agent_id="n", display_name="x" * 257), "display_name"),
    ("CreateAgent", pb.CreateAgentRequest(agent_id="n", display_name="\0"), "display_name"),
    ("CreateAgent", pb.CreateAgentRequest(agent_id="n", system_prompt="x" * 65_537), "system_prompt"),
    ("GetAgent", pb.GetAgentRequest(), "agent_id"),
    ("ListAgents", pb.ListAgentsRequest(page_size=1001), "page_size"),
    ("UpdateAgent", pb.UpdateAgentRequest(update_mask=FieldMask(paths=["display_name"])), "agent"),
    ("UpdateAgent", pb.UpdateAgentRequest(agent=resources_pb2.Agent(id="a")), "update_mask"),
    (
        "UpdateAgent",
        pb.UpdateAgentRequest(agent=resources_pb2.Agent(id="a"), update_mask=FieldMask(paths=["id"])),
        "update_mask.paths[0]",
    ),
    (
        "UpdateAgent",
        pb.UpdateAgentRequest(agent=resources_pb2.Agent(), update_mask=FieldMask(paths=["display_name"])),
        "agent.id",
    ),
    (
        "UpdateAgent",
        pb.UpdateAgentRequest(
            agent=resources_pb2.Agent(id="a", display_name="x" * 257),
            update_mask=FieldMask(paths=["display_name"]),
        ),
        "agent.display_name",
    ),
    ("ResolveContact", pb.ResolveContactRequest(agent_id="a"), "identity"),
    ("ResolveContact", pb.ResolveContactRequest(agent_id="a", identity="nobody"), "identity"),
    ("ResolveContact", pb.ResolveContactRequest(agent_id="a", identity="x:" + "y" * 256), "identity"),
    ("ResolveContact", pb.ResolveContactRequest(agent_id="a", identity="x:y\0"), "identity"),
    ("GetContact", pb.GetContactRequest(agent_id="a"), "contact_id"),
    ("ListContacts", pb.ListContactsRequest(), "agent_id"),
    ("LinkIdentity", pb.LinkIdentityRequest(agent_id="a", contact_id="k"), "identity"),
    ("MergeContacts", pb.MergeContactsRequest(agent_id="a", source_contact_id="k"), "target_contact_id"),
    ("UnmergeContact", pb.UnmergeContactRequest(agent_id="a"), "contact_id"),
    (
        "CreateConversation",
        pb.CreateConversationRequest(agent_id="a", conversation_id="/"),
        "conversation_id",
    ),
    ("CreateConversation", pb.CreateConversationRequest(agent_id="a", title="x" * 257), "title"),
    ("CreateConversation", pb.CreateConversationRequest(agent_id="a", title="\0"), "title"),
    ("GetConversation", pb.GetConversationRequest(agent_id="a"), "conversation_id"),
    ("ListConversations", pb.ListConversationsRequest(), "agent_id"),
    ("AppendMessages", append(), "messages"),
    ("AppendMessages", append(*[says()] * 501), "messages"),
    ("AppendMessages", append(says(), conversation_id=""), "conversation_id"),
    ("AppendMessages", append(says(), says(id="a b")), "messages[1].id"),
    ("AppendMessages", append(says(), resources_pb2.NewMessage(role=USER)), "messages[1].parts"),
    ("AppendMessages", append(resources_pb2.NewMessage(parts=says().parts)), "messages[0].role"),
    ("AppendMessages", append(says("")), "messages[0].parts[0].text"),
    ("AppendMessages", append(says(), says("x" * (32 * KIB + 1))), "messages[1].parts[0].text"),
    ("AppendMessages", append(says("a\0b")), "messages[0].parts[0].text"),
    ("AppendMessages", append(says(author="\0")), "messages[0].author"),
    ("AppendMessages", append(results("x" * (32 * KIB + 1))), "messages[0].parts[0].tool_result.content"),
    ("AppendMessages", append(attach(uri="x", caption="\0")), "messages[0].parts[0].attachment.caption"),
    ("AppendMessages", append(attach(caption="x")), "messages[0].parts[0].attachment.uri"),
    ("AppendMessages", append(calls(struct(x="y" * 33_000))), "messages[0].parts[0].tool_call.arguments"),
    ("AppendMessages", append(calls(struct(x=float("nan")))), "messages[0].parts[0].tool_call.arguments"),
    ("AppendMessages", append(says(), says(time=Timestamp(seconds=2**60))), "messages[1].time"),
    ("AppendMessages", append(says(time=Timestamp(seconds=-(2**60)))), "messages[0].time"),
    ("AppendMessages", append(says(time=Timestamp(nanos=-1))), "messages[0].time"),
    ("AppendMessages", append(says(), request_id="x" * 129), "request_id"),
    ("AppendMessages", append(says(), request_id="\0"), "request_id"),
    ("ListMessages", pb.ListMessagesRequest(agent_id="a"), "conversation_id"),
    (
        "ListMessages",
        pb.ListMessagesRequest(agent_id="a", conversation_id="c", page_token="abc"),
        "page_token",
    ),
    (
        "ListMessages",
        pb.ListMessagesRequest(
            agent_id="a",
            conversation_id="c",
            filter=recall_pb2.MessageFilter(end_time=Timestamp(seconds=2**60)),
        ),
        "filter.end_time",
    ),
    ("GetMessages", pb.GetMessagesRequest(agent_id="a"), "refs"),
    (
        "GetMessages",
        pb.GetMessagesRequest(
            agent_id="a", neighbours=11, refs=[resources_pb2.MessageRef(conversation_id="c", message_id="m")]
        ),
        "neighbours",
    ),
    ("GetMessageRange", pb.GetMessageRangeRequest(agent_id="a", conversation_id="c"), "sequences"),
    (
        "GetMessageRange",
        pb.GetMessageRangeRequest(agent_id="a", conversation_id="c", sequences=[0]),
        "sequences[0]",
    ),
]


async def test_bad_input_is_refused_by_the_path_of_its_field_and_nothing_is_stored(stub: Stub) -> None:
    """X-1, X-2."""
    before = await everything(stub)
    for method, request, field in INVALID:
        error = await failure(getattr(stub, method)(request))
        assert error.reason in {Reason.INVALID_FIELD, Reason.INVALID_PAGE_TOKEN}, (method, field)
        assert field in [problem.field for problem in error.fields], (method, field)
    assert await everything(stub) == before
    assert {method for method, _, _ in INVALID} == ROLES.keys()
    await stub.AppendMessages(append(says("x" * 32 * KIB), results("y" * 32 * KIB)))
    assert await everything(stub) != before


MESSAGE = resources_pb2.MessageRef(conversation_id="c", message_id="m")
MASK = FieldMask(paths=["display_name"])
GOOD: dict[str, Callable[[str], Any]] = {
    "CreateAgent": lambda agent: pb.CreateAgentRequest(agent_id=agent),
    "GetAgent": lambda agent: pb.GetAgentRequest(agent_id=agent),
    "UpdateAgent": lambda agent: pb.UpdateAgentRequest(
        agent=resources_pb2.Agent(id=agent, display_name="n"), update_mask=MASK
    ),
    "ResolveContact": lambda agent: pb.ResolveContactRequest(agent_id=agent, identity="x:y"),
    "GetContact": lambda agent: pb.GetContactRequest(agent_id=agent, contact_id="k"),
    "ListContacts": lambda agent: pb.ListContactsRequest(agent_id=agent),
    "LinkIdentity": lambda agent: pb.LinkIdentityRequest(agent_id=agent, contact_id="k", identity="x:y"),
    "MergeContacts": lambda agent: pb.MergeContactsRequest(
        agent_id=agent, source_contact_id="k", target_contact_id="l"
    ),
    "UnmergeContact": lambda agent: pb.UnmergeContactRequest(agent_id=agent, contact_id="k"),
    "CreateConversation": lambda agent: pb.CreateConversationRequest(agent_id=agent),
    "GetConversation": lambda agent: pb.GetConversationRequest(agent_id=agent, conversation_id="c"),
    "ListConversations": lambda agent: pb.ListConversationsRequest(agent_id=agent),
    "AppendMessages": lambda agent: append(says(), agent_id=agent),
    "ListMessages": lambda agent: pb.ListMessagesRequest(agent_id=agent, conversation_id="c"),
    "GetMessages": lambda agent: pb.GetMessagesRequest(agent_id=agent, refs=[MESSAGE]),
    "GetMessageRange": lambda agent: pb.GetMessageRangeRequest(
        agent_id=agent, conversation_id="c", sequences=[1]
    ),
}


async def test_what_is_unknown_or_anothers_is_not_found_and_out_of_reach_not_allowed(stub: Stub) -> None:
    before = await everything(stub)
    assert GOOD.keys() == ROLES.keys() - {"ListAgents"}
    for method, request in GOOD.items():
        call = getattr(stub, method)
        with act_as(ONLY_B):
            assert (await failure(call(request("a")))).reason is Reason.NOT_ALLOWED, method
        if method == "CreateAgent":
            continue
        assert (await failure(call(request("zz")))).reason is Reason.RESOURCE_NOT_FOUND, method
        with act_as(OTHER):
            assert (await failure(call(request("a")))).reason is Reason.RESOURCE_NOT_FOUND, method
        if ROLES[method] is Role.WRITER:
            with act_as(READER):
                assert (await failure(call(request("a")))).reason is Reason.NOT_ALLOWED, method
    assert await everything(stub) == before


@pytest.mark.parametrize(
    ("request_", "reason", "field"),
    [
        (append(says("other", id="m")), Reason.RESOURCE_EXISTS, "messages[0].id"),
        (append(says("new"), parent_id="m"), Reason.PARENT_CONFLICT, "parent_id"),
        (append(says("new"), parent_id="zz"), Reason.PARENT_CONFLICT, "parent_id"),
        (append(says("new"), parent_id=""), Reason.PARENT_CONFLICT, "parent_id"),
        (append(says("first", id="m"), says("new")), Reason.PARENT_CONFLICT, "messages[1]"),
    ],
)
async def test_an_append_that_contradicts_is_refused_whole(
    stub: Stub, request_: pb.AppendMessagesRequest, reason: Reason, field: str
) -> None:
    await stub.AppendMessages(append(says("first", id="m"), says("second")))
    before = await everything(stub)
    error = await failure(stub.AppendMessages(request_))
    assert (error.reason, [problem.field for problem in error.fields]) == (reason, [field])
    assert await everything(stub) == before


async def test_a_call_over_16_mib_is_refused(stub: Stub) -> None:
    """X-2."""
    part = resources_pb2.Part(text="x" * 32 * KIB)
    large = [resources_pb2.NewMessage(role=USER, parts=[part] * 3) for _ in range(180)]
    error = await failure(stub.AppendMessages(append(*large)))
    assert error.reason is Reason.LIMIT_EXCEEDED
    assert len((await stub.AppendMessages(append(*large[:160]))).results) == 160


async def test_a_page_token_of_another_listing_is_refused(stub: Stub) -> None:
    await stub.AppendMessages(append(*(says() for _ in range(3))))
    page = await stub.ListMessages(pb.ListMessagesRequest(agent_id="a", conversation_id="c", page_size=1))
    again = pb.ListMessagesRequest(
        agent_id="a", conversation_id="c", page_size=1, page_token=page.next_page_token, newest_first=True
    )
    assert (await failure(stub.ListMessages(again))).reason is Reason.INVALID_PAGE_TOKEN
    again.newest_first = False
    assert [message.sequence for message in (await stub.ListMessages(again)).messages] == [2]


async def test_ids_stay_the_same_after_a_restart_and_differ_between_tenants(
    stub: Stub, tmp_path: Path
) -> None:
    """E-2: the key of ids belongs to the tenant and outlives the process."""
    first = (await stub.AppendMessages(append(says(), parent_id=""))).results[0]
    with act_as(OTHER):
        await stub.CreateAgent(pb.CreateAgentRequest(agent_id="a"))
        await stub.CreateConversation(pb.CreateConversationRequest(agent_id="a", conversation_id="c"))
        other = (await stub.AppendMessages(append(says(), parent_id=""))).results[0]
    assert other.message_id != first.message_id
    async with AsyncExitStack() as stack:
        settings = EpisodicSettings(data_dir=tmp_path, relay=False)
        restarted = await serve_episodic(stack, settings, Ledger())
        again = await episodic_pb2_grpc.EpisodicServiceStub(restarted).AppendMessages(
            append(says(), parent_id="")
        )
    assert (again.results[0].message_id, again.results[0].created) == (first.message_id, False)
