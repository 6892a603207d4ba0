"""The gateway on a real socket while services behind it are down or refuse (SPEC S-11, X-1, SV-3)."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import grpc
import pytest
from palimpsest.common.v1 import recall_pb2, resources_pb2
from palimpsest.episodic.v1 import episodic_pb2, episodic_pb2_grpc
from palimpsest.gateway.v1 import (
    administration_pb2,
    conversations_pb2,
    memories_pb2,
    prompt_pb2,
)
from palimpsest.history.v1 import history_pb2, history_pb2_grpc, windows_pb2
from palimpsest.working.v1 import notes_pb2, working_pb2_grpc
from palimpsest.working.v1 import prompt_pb2 as working_prompt_pb2

from services.gateway.bootstrap import build
from services.gateway.config import GatewaySettings
from services.kit.channels import Channels
from services.kit.context import current_call, current_principal
from services.kit.errors import DependencyDown, LimitExceeded, ParentConflict, Reason
from services.kit.identity import Principal, Role, TokenSigner
from services.kit.inprocess import InProcessServer
from services.kit.metrics import Metrics
from services.kit.serving import Face, Service, interceptor, listening, outgoing
from services.kit.status import from_rpc_error
from tests.integration.embedded_suite import Keyed, Stubs, failure, said

CODE = grpc.StatusCode
SECRET = "a secret that no log may hold"


class FakeEpisodic(episodic_pb2_grpc.EpisodicServiceServicer):
    """Knows one conversation; keeps who called; appends fail as `broken` says."""

    def __init__(self) -> None:
        self.callers: list[tuple[Principal, str]] = []
        self.broken: Exception | None = None

    async def GetAgent(self, request: Any, context: Any) -> episodic_pb2.GetAgentResponse:
        call = current_call()
        assert call is not None
        self.callers.append((current_principal(), call.request_id))
        return episodic_pb2.GetAgentResponse(agent=resources_pb2.Agent(id=request.agent_id))

    async def GetConversation(self, request: Any, context: Any) -> episodic_pb2.GetConversationResponse:
        return episodic_pb2.GetConversationResponse(
            conversation=resources_pb2.Conversation(id=request.conversation_id)
        )

    async def AppendMessages(self, request: Any, context: Any) -> episodic_pb2.AppendMessagesResponse:
        if self.broken is not None:
            raise self.broken
        return episodic_pb2.AppendMessagesResponse(results=[episodic_pb2.AppendResult(message_id="m")])


class FakeHistory(history_pb2_grpc.HistoryServiceServicer):
    """One message."""

    async def GetWindow(self, request: Any, context: Any) -> windows_pb2.GetWindowResponse:
        message = resources_pb2.Message(id="m", conversation_id="c", role=resources_pb2.ROLE_USER, depth=1)
        message.parts.add().text = "what was said"
        return windows_pb2.GetWindowResponse(tail=[windows_pb2.WindowMessage(message=message)], depth=1)

    async def SwitchLeaf(self, request: Any, context: Any) -> history_pb2.SwitchLeafResponse:
        return history_pb2.SwitchLeafResponse(conversation=resources_pb2.Conversation(id="c", leaf_id="m"))


class FakeWorking(working_pb2_grpc.WorkingMemoryServiceServicer):
    """A frozen prompt and notes; notes cannot be written."""

    async def GetSystemPrompt(self, request: Any, context: Any) -> working_prompt_pb2.GetSystemPromptResponse:
        prompt = working_prompt_pb2.SystemPrompt(text="You are Ada.", revision=1)
        return working_prompt_pb2.GetSystemPromptResponse(prompt=prompt)

    async def GetWorkingMemory(
        self, request: Any, context: Any
    ) -> working_prompt_pb2.GetWorkingMemoryResponse:
        notes = notes_pb2.Notes(text="likes herons", version=1)
        return working_prompt_pb2.GetWorkingMemoryResponse(notes=notes)

    async def SetNotes(self, request: Any, context: Any) -> notes_pb2.SetNotesResponse:
        raise LimitExceeded("too long", metadata={"limit": "2000", "actual": "2001"})


class Half:
    """A gateway whose Episodic is a fake and whose other services are down."""

    def __init__(self, episodic: FakeEpisodic, channel: grpc.aio.Channel, key: str) -> None:
        self.episodic = episodic
        self.stub = Keyed(Stubs(channel), key)


async def ready() -> bool:
    return True


@pytest.fixture
async def half(tmp_path: Path) -> AsyncIterator[Half]:
    secret = secrets.token_bytes(32)
    signer = TokenSigner(secret)
    episodic = FakeEpisodic()
    server = InProcessServer()
    service = Service(
        name="palimpsest.episodic.v1.EpisodicService",
        add=lambda target: episodic_pb2_grpc.add_EpisodicServiceServicer_to_server(episodic, target),
        roles=dict.fromkeys(("GetAgent", "GetConversation", "AppendMessages"), Role.READER),
        ready=ready,
        faces=(
            Face(
                name="palimpsest.history.v1.HistoryService",
                add=lambda target: history_pb2_grpc.add_HistoryServiceServicer_to_server(
                    FakeHistory(), target
                ),
                roles=dict.fromkeys(("GetWindow", "SwitchLeaf"), Role.READER),
            ),
            Face(
                name="palimpsest.working.v1.WorkingMemoryService",
                add=lambda target: working_pb2_grpc.add_WorkingMemoryServiceServicer_to_server(
                    FakeWorking(), target
                ),
                roles=dict.fromkeys(("GetSystemPrompt", "GetWorkingMemory", "SetNotes"), Role.READER),
            ),
        ),
    )
    server.add_interceptor(interceptor(service, secret, Metrics()))
    service.add_to(server)
    async with AsyncExitStack() as stack:
        # Port 1 of this machine: nobody listens, a connection is refused at once.
        down = grpc.aio.insecure_channel("127.0.0.1:1")
        stack.push_async_callback(down.close)
        channels = Channels(
            episodic=outgoing(server.channel(), "episodic", signer),
            semantic=outgoing(down, "semantic", signer),
            compactor=outgoing(down, "compactor", signer),
            embedder=outgoing(down, "embedder", signer),
            gateway=outgoing(down, "gateway", signer),
        )
        gateway = await build(GatewaySettings(data_dir=tmp_path), channels, stack)
        port = await stack.enter_async_context(
            listening(gateway, secret, Metrics(), "127.0.0.1:0", drain_seconds=0)
        )
        channel = grpc.aio.insecure_channel(f"127.0.0.1:{port}")
        stack.push_async_callback(channel.close)
        key = (tmp_path / "api-key").read_text("utf-8").strip()
        yield Half(episodic, channel, key)


async def test_without_semantic_the_prompt_comes_with_its_failures(half: Half) -> None:
    request = prompt_pb2.AssemblePromptRequest(agent_id="ada", conversation_id="c", message="so?")
    prompt = await half.stub.AssemblePrompt(request)
    for text in ("You are Ada.", "likes herons", "what was said"):
        assert text in prompt.text
    assert prompt.token_count <= prompt.budget_tokens == 8000
    assert {failure.channel for failure in prompt.failures} >= {
        recall_pb2.CHANNEL_VECTOR,
        recall_pb2.CHANNEL_KEYWORD,
    }
    assert {failure.cause for failure in prompt.failures} == {
        "not available",
        "standing memories not available",
        "the attractor is not available",
        "derived documents are not available",
    }


@pytest.mark.parametrize(
    ("method", "request_"),
    [
        ("Recall", memories_pb2.RecallRequest(agent_id="ada", query="x")),
        ("Remember", memories_pb2.RememberRequest(agent_id="ada", key="k", value="v")),
        ("GetMemory", memories_pb2.GetMemoryRequest(agent_id="ada", memory_id="m")),
        (
            "RecallConversation",
            memories_pb2.RecallConversationRequest(agent_id="ada", conversation_id="c", query="x"),
        ),
        ("GetJob", administration_pb2.GetJobRequest(job_id="j")),
        ("GetStatus", administration_pb2.GetStatusRequest()),
    ],
)
async def test_what_needs_a_service_that_is_down_says_that_it_may_be_tried_again(
    half: Half, method: str, request_: Any
) -> None:
    code, reason, fields = await failure(getattr(half.stub, method)(request_))
    assert (code, reason, fields) == (CODE.UNAVAILABLE, "DEPENDENCY_DOWN", [])


async def test_what_does_not_need_it_goes_on(half: Half) -> None:
    """SV-3: storing a turn and switching to another branch ask nothing of recall."""
    request = conversations_pb2.RecordTurnRequest(agent_id="ada", conversation_id="c", messages=[said("hi")])
    assert (await half.stub.RecordTurn(request)).messages[0].message_id == "m"
    switch = history_pb2.SwitchLeafRequest(agent_id="ada", conversation_id="c", message_id="m")
    assert (await half.stub.SwitchLeaf(switch)).conversation.leaf_id == "m"
    keys = await half.stub.ListApiKeys(administration_pb2.ListApiKeysRequest())
    assert [key.role for key in keys.keys] == [administration_pb2.KEY_ROLE_OPERATOR]


async def test_an_error_from_behind_keeps_its_code_and_reason(half: Half) -> None:
    request = conversations_pb2.RecordTurnRequest(agent_id="ada", conversation_id="c", messages=[said("hi")])
    half.episodic.broken = ParentConflict()
    assert (await failure(half.stub.RecordTurn(request)))[:2] == (CODE.FAILED_PRECONDITION, "PARENT_CONFLICT")
    half.episodic.broken = DependencyDown()
    assert (await failure(half.stub.RecordTurn(request)))[:2] == (CODE.UNAVAILABLE, "DEPENDENCY_DOWN")


async def test_an_error_of_a_service_that_is_passed_on_keeps_all_it_says(half: Half) -> None:
    request = notes_pb2.SetNotesRequest(agent_id="ada", conversation_id="c", append="x")
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await half.stub.SetNotes(request)
    error = from_rpc_error(caught.value)
    assert (error.reason, error.metadata) == (Reason.LIMIT_EXCEEDED, {"limit": "2000", "actual": "2001"})


async def test_a_fault_behind_tells_nothing_of_its_cause(
    half: Half, capsys: pytest.CaptureFixture[str]
) -> None:
    """X-1, X-3: neither the caller nor a log gets the text of an unknown exception."""
    half.episodic.broken = RuntimeError(SECRET)
    request = conversations_pb2.RecordTurnRequest(
        agent_id="ada", conversation_id="c", messages=[said(SECRET)]
    )
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await half.stub.RecordTurn(request)
    assert caught.value.code() is CODE.INTERNAL
    assert SECRET not in str(caught.value.details())
    logged = "".join(capsys.readouterr())
    assert "call_fault" in logged, "the fault itself is logged"
    assert SECRET not in logged


async def test_calls_behind_carry_the_caller_and_not_the_key(half: Half) -> None:
    """SV-6: tenant, role and agents come from the verified key."""
    await half.stub.GetAgent(conversations_pb2.GetAgentRequest(agent_id="ada"))
    made = await half.stub.CreateApiKey(
        administration_pb2.CreateApiKeyRequest(role=administration_pb2.KEY_ROLE_READER, agent_ids=["ada"])
    )
    limited = Keyed(half.stub._stub, made.secret)
    await limited.GetAgent(conversations_pb2.GetAgentRequest(agent_id="ada"))
    (operator, _), (reader, request_id) = half.episodic.callers
    assert (operator.tenant, operator.role, operator.agents) == ("default", Role.OPERATOR, None)
    assert (reader.tenant, reader.role, reader.agents) == ("default", Role.READER, frozenset({"ada"}))
    assert reader.subject == f"key:{made.key.id}"
    assert request_id


async def test_a_stream_over_a_service_that_fails_ends_with_its_error(half: Half) -> None:
    half.episodic.broken = DependencyDown()

    async def chunks() -> AsyncIterator[conversations_pb2.IngestStreamRequest]:
        for _ in range(3):
            request = conversations_pb2.IngestRequest(
                agent_id="ada", conversation_id="c", messages=[said("x")]
            )
            yield conversations_pb2.IngestStreamRequest(chunk=request)
            await asyncio.sleep(0)

    with pytest.raises(grpc.aio.AioRpcError) as caught:
        async for _ in half.stub.IngestStream(chunks()):
            raise AssertionError("nothing was stored")
    assert caught.value.code() is CODE.UNAVAILABLE
