"""The gateway's rules over a real socket: keys and roles, recording, transcripts, the prompt.

SPEC G-1, G-2, G-9, E-2, X-1.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor_pool import Default
from google.protobuf.message_factory import GetMessageClass
from palimpsest.gateway.v1 import (
    administration_pb2,
    conversations_pb2,
    gateway_pb2,
    memories_pb2,
    prompt_pb2,
)
from palimpsest.history.v1 import history_pb2, overlays_pb2

from services.kit.identity import Role
from services.kit.serving import roles_of
from services.kit.timeouts import method_timeouts, service_config
from tests.integration.embedded_suite import AGENT, SERVED, Running, failure, idle, prepare, running, said
from tests.waiting import until

CODE = grpc.StatusCode
SERVICE = gateway_pb2.DESCRIPTOR.services_by_name["GatewayService"]
METHODS = [method for name in SERVED for method in Default().FindServiceByName(name).methods]
LEAST = {
    method: role for name in SERVED for method, role in roles_of(Default().FindServiceByName(name)).items()
}


@pytest.fixture
async def suite(tmp_path: Path) -> AsyncIterator[Running]:
    async with running(tmp_path / "data") as made:
        yield made


async def code_of(stub: Any, method: Any) -> CODE:
    """The code of a call with an empty request (or stream)."""
    request: Any = GetMessageClass(method.input_type)()
    if method.client_streaming:

        async def one() -> AsyncIterator[Any]:
            yield request

        request = one()
    try:
        call = getattr(stub, method.name)(request, timeout=5)
        if method.server_streaming:
            async for _ in call:
                break
        else:
            await call
    except grpc.aio.AioRpcError as error:
        return error.code()
    return CODE.OK


def test_every_method_has_a_role_and_every_unary_one_a_timeout() -> None:
    assert {method.name for method in METHODS} == set(LEAST)
    timeouts = method_timeouts(service_config("gateway"))
    unary = {m.name for m in METHODS if not (m.client_streaming or m.server_streaming)}
    assert {path.rsplit("/", 1)[1] for path in timeouts} == unary


async def test_every_method_by_every_role(suite: Running) -> None:
    for role in (Role.READER, Role.WRITER, Role.ADMIN, Role.OPERATOR):
        stub = await suite.stub(await suite.key(role))
        for method in METHODS:
            code = await code_of(stub, method)
            denied = code is CODE.PERMISSION_DENIED
            assert denied == (role < LEAST[method.name]), (role, method.name, code)
            assert code is not CODE.UNIMPLEMENTED, method.name


async def test_no_method_without_a_key(suite: Running) -> None:
    wrong = suite.operator[:-1] + ("a" if suite.operator[-1] != "a" else "b")
    for secret in ("", "nonsense", "pk_0123456789abcdef_" + "x" * 43, wrong):
        stub = await suite.stub(secret)
        for method in METHODS:
            assert await code_of(stub, method) is CODE.UNAUTHENTICATED, (secret[:5], method.name)


async def test_keys_are_made_listed_limited_and_revoked_at_once(suite: Running) -> None:
    operator = await suite.stub()
    await prepare(operator)
    made = await operator.CreateApiKey(
        administration_pb2.CreateApiKeyRequest(
            display_name="ada only", role=administration_pb2.KEY_ROLE_ADMIN, agent_ids=[AGENT]
        )
    )
    limited = await suite.stub(made.secret)
    assert (await limited.GetAgent(conversations_pb2.GetAgentRequest(agent_id=AGENT))).agent.id == AGENT
    other = limited.GetAgent(conversations_pb2.GetAgentRequest(agent_id="other"))
    assert (await failure(other))[:2] == (CODE.PERMISSION_DENIED, "NOT_ALLOWED")
    for request in (
        administration_pb2.CreateApiKeyRequest(role=administration_pb2.KEY_ROLE_OPERATOR),
        administration_pb2.CreateApiKeyRequest(role=administration_pb2.KEY_ROLE_READER, agent_ids=["other"]),
    ):
        assert (await failure(limited.CreateApiKey(request)))[0] is CODE.PERMISSION_DENIED
    child = await limited.CreateApiKey(
        administration_pb2.CreateApiKeyRequest(role=administration_pb2.KEY_ROLE_READER)
    )
    assert list(child.key.agent_ids) == [AGENT], "a limited maker's keys are limited as it is"
    await operator.RevokeApiKey(administration_pb2.RevokeApiKeyRequest(key_id=made.key.id))
    again = limited.GetAgent(conversations_pb2.GetAgentRequest(agent_id=AGENT))
    assert (await failure(again))[:2] == (CODE.UNAUTHENTICATED, "CREDENTIAL_INVALID")
    listed = (await operator.ListApiKeys(administration_pb2.ListApiKeysRequest(page_size=2))).keys
    assert [key.display_name for key in listed] == ["first start", "ada only"]
    assert listed[1].HasField("revoke_time")
    for file in suite.data.glob("gateway.db*"):
        assert made.secret.encode() not in file.read_bytes()


async def test_a_turn_sent_again_with_its_request_id_is_stored_once(suite: Running) -> None:
    stub = await suite.stub()
    await prepare(stub)
    request = conversations_pb2.RecordTurnRequest(
        agent_id=AGENT, conversation_id="c", messages=[said("yes")], request_id="r"
    )
    answers = await asyncio.gather(*(stub.RecordTurn(request) for _ in range(16)))
    assert len({a.messages[0].message_id for a in answers}) == 1
    request.request_id = ""
    assert (await stub.RecordTurn(request)).messages[0].sequence == 2, "a person may say yes twice"


def ingest(texts: list[str], conversation: str = "c", parent: str = "") -> conversations_pb2.IngestRequest:
    return conversations_pb2.IngestRequest(
        agent_id=AGENT, conversation_id=conversation, messages=[said(t) for t in texts], parent_id=parent
    )


async def test_a_transcript_sent_again_adds_nothing_whole_or_in_chunks(suite: Running) -> None:
    stub = await suite.stub()
    await prepare(stub)
    whole = await stub.Ingest(ingest(["a", "b", "yes", "yes"]))
    assert (whole.created_count, whole.token.messages.sequence) == (4, 4)
    assert (await stub.Ingest(ingest(["a", "b", "yes", "yes", "c"]))).created_count == 1
    head = await stub.Ingest(ingest(["a", "b"]))
    tail = await stub.Ingest(ingest(["yes", "yes", "c", "d"], parent=head.messages[-1].message_id))
    assert (head.created_count, tail.created_count) == (0, 1)
    fork = stub.Ingest(ingest(["other beginning"]))
    assert (await failure(fork))[:2] == (CODE.FAILED_PRECONDITION, "PARENT_CONFLICT")


async def test_a_stream_of_two_conversations_is_answered_in_order(suite: Running) -> None:
    stub = await suite.stub()
    await prepare(stub, "one")
    await prepare(stub, "two")

    async def chunks() -> AsyncIterator[conversations_pb2.IngestStreamRequest]:
        for n in range(40):
            request = ingest([f"{n}", f"{n} too"], "one" if n % 3 else "two")
            yield conversations_pb2.IngestStreamRequest(chunk=request)

    answers = [a.chunk async for a in stub.IngestStream(chunks())]
    expected = ["one" if n % 3 else "two" for n in range(40)]
    assert [a.token.messages.conversation_id for a in answers] == expected
    for name in ("one", "two"):
        request = conversations_pb2.ListMessagesRequest(agent_id=AGENT, conversation_id=name)
        texts = [m.parts[0].text for m in (await stub.ListMessages(request)).messages]
        want = [t for n in range(40) if expected[n] == name for t in (f"{n}", f"{n} too")]
        assert texts == want
    assert [a.chunk.created_count async for a in stub.IngestStream(chunks())] == [0] * 40


async def test_the_first_error_ends_a_stream_and_what_was_answered_stays(suite: Running) -> None:
    stub = await suite.stub()
    await prepare(stub)

    async def chunks() -> AsyncIterator[conversations_pb2.IngestStreamRequest]:
        yield conversations_pb2.IngestStreamRequest(chunk=ingest(["good"]))
        yield conversations_pb2.IngestStreamRequest(chunk=ingest(["x"], "nowhere"))

    answered = []
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        async for response in stub.IngestStream(chunks()):
            answered.append(response.chunk.created_count)
    assert caught.value.code() is CODE.NOT_FOUND
    assert answered == [1]
    request = conversations_pb2.GetConversationRequest(agent_id=AGENT, conversation_id="c")
    assert (await stub.GetConversation(request)).conversation.stored_count == 1


async def test_the_prompt_holds_instructions_memories_history_and_what_matches(suite: Running) -> None:
    stub = await suite.stub()
    await stub.CreateAgent(conversations_pb2.CreateAgentRequest(agent_id=AGENT, system_prompt="You are Ada."))
    await prepare_conversation(stub)
    filler = [
        said(f"small talk number {n}, of no consequence whatever, about the weather") for n in range(120)
    ]
    turn = [said("The heron nests behind the old mill.", author="Ann"), *filler]
    recorded = await stub.RecordTurn(
        conversations_pb2.RecordTurnRequest(agent_id=AGENT, conversation_id="c", messages=turn)
    )
    pinned = await stub.Remember(
        memories_pb2.RememberRequest(agent_id=AGENT, key="name", value="the user is Ann", pinned=True)
    )
    await idle(stub)
    request = prompt_pb2.AssemblePromptRequest(
        agent_id=AGENT,
        conversation_id="c",
        message="Where does the heron nest?",
        author="Ann",
        budget_tokens=1200,
        wait_for=[recorded.token, pinned.token],
    )
    prompts = [await stub.AssemblePrompt(request)]

    async def at_rest() -> bool:
        """Nothing new, the same prompt."""
        prompts.append(await stub.AssemblePrompt(request))
        return bool(prompts[-1].text == prompts[-2].text)

    await until(at_rest)
    prompt = prompts[-1]
    layers = {layer.kind: layer for layer in prompt.layers}
    assert [prompt_pb2.LayerKind.Name(kind).removeprefix("LAYER_KIND_").lower() for kind in layers] == [
        "system",
        "facts",
        "working",
        "history",
        "retrieved",
        "message",
    ]
    assert prompt.token_count <= 1200
    assert layers[prompt_pb2.LAYER_KIND_SYSTEM].text.startswith("You are Ada.")
    assert list(layers[prompt_pb2.LAYER_KIND_FACTS].memory_ids) == [pinned.memory.id]
    history = layers[prompt_pb2.LAYER_KIND_HISTORY]
    assert history.omitted_count == 121 - len(await accounted_for(stub, history))
    assert "heron nests behind the old mill" in prompt.text
    assert prompt.text.rstrip().endswith("Where does the heron nest?")
    read = memories_pb2.GetMemoryRequest(agent_id=AGENT, memory_id=pinned.memory.id)

    async def counted() -> bool:
        """While callers go on."""
        return bool((await stub.GetMemory(read)).memory.access_count >= len(prompts))

    await until(counted)
    assert (await stub.GetMemory(read)).memory.access_count == len(prompts)


async def test_a_prompt_that_cannot_hold_the_message_is_refused(suite: Running) -> None:
    stub = await suite.stub()
    await prepare(stub)
    request = prompt_pb2.AssemblePromptRequest(
        agent_id=AGENT, conversation_id="c", message="long " * 500, budget_tokens=200
    )
    assert (await failure(stub.AssemblePrompt(request)))[:2] == (CODE.FAILED_PRECONDITION, "BUDGET_TOO_SMALL")


async def test_status_tells_the_model_and_the_jobs(suite: Running) -> None:
    stub = await suite.stub()
    status = await stub.GetStatus(administration_pb2.GetStatusRequest())
    assert (status.profile, status.model_name, status.model_dimension) == (
        "embedded",
        "all-MiniLM-L6-v2",
        384,
    )
    assert status.jobs == type(status.jobs)()


async def accounted_for(stub: Any, history: Any) -> set[int]:
    """Depths of the messages that the layer shows, or that a summary in it covers."""
    where: dict[str, Any] = {"agent_id": AGENT, "conversation_id": "c"}
    path = await stub.ListPath(history_pb2.ListPathRequest(**where, page_size=1000))
    shown = {ref.message_id for ref in history.messages}
    depths = {message.depth for message in path.messages if message.id in shown}
    for overlay in (await stub.ListOverlays(overlays_pb2.ListOverlaysRequest(**where))).overlays:
        if overlay.id in history.overlay_ids:
            depths |= set(range(overlay.from_depth, overlay.to_depth + 1))
    return depths


async def prepare_conversation(stub: Any) -> None:
    await stub.CreateConversation(
        conversations_pb2.CreateConversationRequest(agent_id=AGENT, conversation_id="c")
    )
