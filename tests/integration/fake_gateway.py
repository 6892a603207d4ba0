"""A gateway of the simplest kind, over a real socket, that fails as a test tells it to."""

from __future__ import annotations

import hashlib
import threading
from collections import defaultdict, deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf.any_pb2 import Any as ProtoAny
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status
from palimpsest.common.v1 import jobs_pb2, recall_pb2, resources_pb2
from palimpsest.gateway.v1 import (
    administration_pb2,
    conversations_pb2,
    gateway_pb2_grpc,
    memories_pb2,
    prompt_pb2,
)
from palimpsest.history.v1 import history_pb2, history_pb2_grpc
from palimpsest.state.v1 import state_pb2, state_pb2_grpc

DEFAULT_PAGE = 100


@dataclass(frozen=True, kw_only=True)
class Fault:
    """How a call fails: a gRPC code, and the details that the service would send (none without a reason)."""

    code: grpc.StatusCode
    reason: str = ""
    message: str = "scripted"
    field: str = ""
    retry_after: float | None = None
    metadata: tuple[tuple[str, str], ...] = ()

    def trailing(self) -> tuple[tuple[str, bytes], ...]:
        if not self.reason:
            return ()
        status = Status(code=self.code.value[0], message=self.message)
        info = ErrorInfo(
            reason=f"ERROR_REASON_{self.reason}", domain="palimpsest", metadata=dict(self.metadata)
        )
        details: list[Any] = [info]
        if self.field:
            violation = BadRequest.FieldViolation(field=self.field, description=self.message)
            details.append(BadRequest(field_violations=[violation]))
        if self.retry_after is not None:
            retry = RetryInfo()
            retry.retry_delay.FromNanoseconds(int(self.retry_after * 1e9))
            details.append(retry)
        for detail in details:
            packed = ProtoAny()
            packed.Pack(detail)
            status.details.append(packed)
        return (("grpc-status-details-bin", status.SerializeToString()),)


NOT_FOUND = Fault(code=grpc.StatusCode.NOT_FOUND, reason="RESOURCE_NOT_FOUND", message="no such thing")
DOWN = Fault(code=grpc.StatusCode.UNAVAILABLE, reason="DEPENDENCY_DOWN")


class FakeGateway(gateway_pb2_grpc.GatewayServiceServicer):
    """Keeps what it is given in dictionaries; `faults[method]` are used up one by one before it obeys.

    A None among the faults lets one call through. `ack_faults` fail IngestStream after a chunk was stored
    and before it is answered.
    """

    def __init__(self) -> None:
        self.target = ""
        self.api_key = "pk_test_secret"
        self.faults: defaultdict[str, deque[Fault | None]] = defaultdict(deque)
        self.ack_faults: deque[Fault | None] = deque()
        self.calls: list[tuple[str, Any]] = []
        self.request_ids: list[str] = []
        self.chunks: list[conversations_pb2.IngestRequest] = []
        self.agents: dict[str, resources_pb2.Agent] = {}
        self.conversations: dict[str, resources_pb2.Conversation] = {}
        self.stored: defaultdict[str, list[resources_pb2.Message]] = defaultdict(list)
        self.memories: dict[str, resources_pb2.Memory] = {}
        self.unindexed: deque[list[resources_pb2.Unindexed]] = deque()
        self.started = threading.Event()
        self.release = threading.Event()
        self.cancelled = threading.Event()
        self.history = FakeHistory(self)
        self.state = FakeState(self)

    def requests(self, method: str) -> list[Any]:
        """The requests of a method, in order."""
        return [request for name, request in self.calls if name == method]

    def _enter(self, method: str, request: Any, context: grpc.ServicerContext) -> None:
        metadata = dict(context.invocation_metadata())
        self.calls.append((method, request))
        self.request_ids.append(str(metadata.get("x-request-id", "")))
        context.set_trailing_metadata((("x-request-id", metadata.get("x-request-id", "")),))
        if metadata.get("authorization") != f"Bearer {self.api_key}":
            self._fail(Fault(code=grpc.StatusCode.UNAUTHENTICATED, reason="CREDENTIAL_INVALID"), context)
        if self.faults[method]:
            fault = self.faults[method].popleft()
            if fault is not None:
                self._fail(fault, context)

    def _fail(self, fault: Fault, context: grpc.ServicerContext) -> None:
        request_id = dict(context.invocation_metadata()).get("x-request-id", "")
        context.set_trailing_metadata((*fault.trailing(), ("x-request-id", request_id)))
        context.abort(fault.code, fault.message)

    def CreateAgent(self, request: Any, context: Any) -> Any:
        self._enter("CreateAgent", request, context)
        agent = resources_pb2.Agent(
            id=request.agent_id, display_name=request.display_name, system_prompt=request.system_prompt
        )
        agent.create_time.FromJsonString("2026-03-02T08:00:00Z")
        return conversations_pb2.CreateAgentResponse(agent=self.agents.setdefault(request.agent_id, agent))

    def GetAgent(self, request: Any, context: Any) -> Any:
        self._enter("GetAgent", request, context)
        if request.agent_id not in self.agents:
            self._fail(NOT_FOUND, context)
        return conversations_pb2.GetAgentResponse(agent=self.agents[request.agent_id])

    def ListAgents(self, request: Any, context: Any) -> Any:
        self._enter("ListAgents", request, context)
        page, token = _page(list(self.agents.values()), request)
        return conversations_pb2.ListAgentsResponse(agents=page, next_page_token=token)

    def UpdateAgent(self, request: Any, context: Any) -> Any:
        self._enter("UpdateAgent", request, context)
        agent = self.agents[request.agent.id]
        for path in request.update_mask.paths:
            setattr(agent, path, getattr(request.agent, path))
        return conversations_pb2.UpdateAgentResponse(agent=agent)

    def ResolveContact(self, request: Any, context: Any) -> Any:
        self._enter("ResolveContact", request, context)
        contact = resources_pb2.Contact(
            id="contact-1", agent_id=request.agent_id, identities=[request.identity]
        )
        return conversations_pb2.ResolveContactResponse(contact=contact, created=True)

    def CreateConversation(self, request: Any, context: Any) -> Any:
        self._enter("CreateConversation", request, context)
        made = resources_pb2.Conversation(
            id=request.conversation_id, agent_id=request.agent_id, contact_id=request.contact_id
        )
        conversation = self.conversations.setdefault(request.conversation_id, made)
        return conversations_pb2.CreateConversationResponse(conversation=conversation)

    def GetConversation(self, request: Any, context: Any) -> Any:
        self._enter("GetConversation", request, context)
        if request.conversation_id not in self.conversations:
            self._fail(NOT_FOUND, context)
        return conversations_pb2.GetConversationResponse(
            conversation=self.conversations[request.conversation_id]
        )

    def ListMessages(self, request: Any, context: Any) -> Any:
        self._enter("ListMessages", request, context)
        page, token = _page(self.stored[request.conversation_id], request)
        return conversations_pb2.ListMessagesResponse(messages=page, next_page_token=token)

    def RecordTurn(self, request: Any, context: Any) -> Any:
        self._enter("RecordTurn", request, context)
        if request.messages[0].author == "slow":
            self.started.set()
            context.add_callback(self.cancelled.set)
            self.release.wait(30)
        stored = self.stored[request.conversation_id]
        parent = stored[-1].id if stored else ""
        answer = self._append(request.conversation_id, request.messages, parent)
        return conversations_pb2.RecordTurnResponse(messages=answer.messages, token=answer.token)

    def Ingest(self, request: Any, context: Any) -> Any:
        self._enter("Ingest", request, context)
        return self._append(request.conversation_id, request.messages, request.parent_id)

    def IngestStream(self, request_iterator: Iterator[Any], context: Any) -> Iterator[Any]:
        self._enter("IngestStream", None, context)
        last: dict[str, str] = {}
        for request in request_iterator:
            chunk = request.chunk
            self.chunks.append(chunk)
            if self.faults["chunk"]:
                fault = self.faults["chunk"].popleft()
                if fault is not None:
                    self._fail(fault, context)
            parent = chunk.parent_id or last.get(chunk.conversation_id, "")
            answer = self._append(chunk.conversation_id, chunk.messages, parent)
            last[chunk.conversation_id] = answer.messages[-1].message_id
            if self.ack_faults:
                fault = self.ack_faults.popleft()
                if fault is not None:
                    self._fail(fault, context)
            yield conversations_pb2.IngestStreamResponse(chunk=answer)

    def _append(self, conversation: str, messages: Any, parent: str) -> Any:
        """Stores what is not there: ids follow from parent and content, as in the service (SPEC E-2)."""
        answer = conversations_pb2.IngestResponse()
        stored = self.stored[conversation]
        known = {message.id: message.sequence for message in stored}
        for message in messages:
            text = "".join(part.SerializeToString().hex() for part in message.parts)
            digest = hashlib.sha256(f"{parent}/{message.role}/{message.author}/{text}".encode()).hexdigest()
            message_id = message.id or digest[:16]
            created = message_id not in known
            if created:
                assert parent == (stored[-1].id if stored else ""), "a gap"
                stored.append(
                    resources_pb2.Message(
                        id=message_id,
                        conversation_id=conversation,
                        sequence=len(stored) + 1,
                        parent_id=parent,
                        role=message.role,
                        author=message.author,
                        session=message.session,
                        time=message.time if message.HasField("time") else None,
                        parts=message.parts,
                    )
                )
                known[message_id] = len(stored)
            answer.messages.add(message_id=message_id, sequence=known[message_id], created=created)
            answer.created_count += created
            parent = message_id
        answer.token.agent_id = "ada"
        answer.token.messages.conversation_id = conversation
        answer.token.messages.sequence = answer.messages[-1].sequence
        return answer

    def Remember(self, request: Any, context: Any) -> Any:
        self._enter("Remember", request, context)
        memory = resources_pb2.Memory(
            id=f"id-{request.key}",
            key=request.key,
            value=request.value,
            fact_type=request.fact_type or resources_pb2.FACT_TYPE_FACT,
            kind=resources_pb2.MEMORY_KIND_FACT,
            source=resources_pb2.MEMORY_SOURCE_EXPLICIT,
            contact_id=request.contact_id,
            pinned=request.pinned,
            confidence=0.5,
            version=1,
        )
        created = self.memories.get(request.key) != memory
        self.memories[request.key] = memory
        token = resources_pb2.FreshnessToken(
            agent_id=request.agent_id, memory=resources_pb2.MemoryMark(memory_id=memory.id, version=1)
        )
        return memories_pb2.RememberResponse(memory=memory, created=created, token=token)

    def GetMemoryByKey(self, request: Any, context: Any) -> Any:
        self._enter("GetMemoryByKey", request, context)
        if request.key not in self.memories:
            fault = Fault(
                code=grpc.StatusCode.NOT_FOUND,
                reason="RESOURCE_NOT_FOUND",
                metadata=(("resource", "memory"), ("id", request.key)),
            )
            self._fail(fault, context)
        return memories_pb2.GetMemoryByKeyResponse(memory=self.memories[request.key])

    def ListMemories(self, request: Any, context: Any) -> Any:
        self._enter("ListMemories", request, context)
        page, token = _page(list(self.memories.values()), request)
        return memories_pb2.ListMemoriesResponse(memories=page, next_page_token=token)

    def ForgetMemory(self, request: Any, context: Any) -> Any:
        self._enter("ForgetMemory", request, context)
        self.memories = {key: each for key, each in self.memories.items() if each.id != request.memory_id}
        return memories_pb2.ForgetMemoryResponse(deleted_count=1)

    def Recall(self, request: Any, context: Any) -> Any:
        self._enter("Recall", request, context)
        rank = recall_pb2.ChannelRank(channel=recall_pb2.CHANNEL_VECTOR, rank=1, score=0.75, contribution=0.5)
        explanation = recall_pb2.Explanation(score=0.5, channels=[rank])
        hits = [
            recall_pb2.MemoryHit(memory=memory, explanation=explanation) for memory in self.memories.values()
        ]
        failure = recall_pb2.ChannelFailure(channel=recall_pb2.CHANNEL_KEYWORD, cause="timed out")
        return memories_pb2.RecallResponse(hits=hits, failures=[failure])

    def RecallConversation(self, request: Any, context: Any) -> Any:
        self._enter("RecallConversation", request, context)
        hits = [
            memories_pb2.MessageHit(message=message)
            for messages in self.stored.values()
            for message in messages
            if request.query in message.parts[0].text
        ]
        unindexed = self.unindexed.popleft() if self.unindexed else []
        return memories_pb2.RecallConversationResponse(hits=hits[: request.limit], unindexed=unindexed)

    def AssemblePrompt(self, request: Any, context: Any) -> Any:
        self._enter("AssemblePrompt", request, context)
        turn = prompt_pb2.PromptMessage(role=resources_pb2.ROLE_USER, content=request.message)
        return prompt_pb2.AssemblePromptResponse(
            layers=[
                prompt_pb2.Layer(kind=prompt_pb2.LAYER_KIND_MESSAGE, text=request.message, token_count=3)
            ],
            text=f"prompt: {request.message}",
            openai_messages=[turn],
            anthropic_system="be kind",
            anthropic_messages=[turn],
            token_count=3,
            budget_tokens=request.budget_tokens or 8000,
        )

    def ListJobs(self, request: Any, context: Any) -> Any:
        self._enter("ListJobs", request, context)
        return administration_pb2.ListJobsResponse(jobs=[_job("j1", jobs_pb2.JOB_STATE_DEAD)])

    def WatchJobs(self, request: Any, context: Any) -> Iterator[Any]:
        self._enter("WatchJobs", request, context)
        context.add_callback(self.cancelled.set)
        for left in (1, 0):
            counts = jobs_pb2.JobCounts(running=left, succeeded=1 - left)
            yield administration_pb2.WatchJobsResponse(
                jobs=[_job("j1", jobs_pb2.JOB_STATE_RUNNING)], counts=counts
            )
            if self.faults["update"]:
                fault = self.faults["update"].popleft()
                if fault is not None:
                    self._fail(fault, context)
        if not request.until_idle:
            self.started.set()
            self.cancelled.wait(30)

    def RetryJob(self, request: Any, context: Any) -> Any:
        self._enter("RetryJob", request, context)
        return administration_pb2.RetryJobResponse(job=_job(request.job_id, jobs_pb2.JOB_STATE_QUEUED))

    def CancelJob(self, request: Any, context: Any) -> Any:
        self._enter("CancelJob", request, context)
        return administration_pb2.CancelJobResponse(job=_job(request.job_id, jobs_pb2.JOB_STATE_CANCELLED))

    def GetStatus(self, request: Any, context: Any) -> Any:
        self._enter("GetStatus", request, context)
        return administration_pb2.GetStatusResponse(
            version="0.1.0", profile="embedded", model_name="mini", model_dimension=384
        )

    def CreateApiKey(self, request: Any, context: Any) -> Any:
        self._enter("CreateApiKey", request, context)
        key = administration_pb2.ApiKey(id="k1", role=request.role, agent_ids=request.agent_ids)
        return administration_pb2.CreateApiKeyResponse(key=key, secret="pk_k1_hidden")


class FakeHistory(history_pb2_grpc.HistoryServiceServicer):
    """A conversation in which `count` messages are said; a watch breaks off as `breaks` says.

    Each break is how many events the stream brings first, and the code and details with which it ends.
    """

    def __init__(self, gateway: FakeGateway) -> None:
        self._gateway = gateway
        self.count = 0
        self.breaks: deque[tuple[int, Fault]] = deque()
        self.watches: list[history_pb2.WatchConversationRequest] = []

    def WatchConversation(self, request: Any, context: Any) -> Iterator[Any]:
        self.watches.append(history_pb2.WatchConversationRequest.FromString(request.SerializeToString()))
        context.add_callback(self._gateway.cancelled.set)
        start = int(request.resume_token) if request.resume_token else request.after_sequence
        left, fault = self.breaks.popleft() if self.breaks else (self.count, None)
        for number in range(start + 1, min(start + left, self.count) + 1):
            message = resources_pb2.Message(id=f"m{number}", sequence=number)
            yield history_pb2.WatchConversationResponse(message=message, resume_token=str(number))
        if fault is not None:
            self._gateway._fail(fault, context)
        self._gateway.started.set()
        self._gateway.cancelled.wait(30)


class FakeState(state_pb2_grpc.StateServiceServicer):
    """A document that changes `count` times; its watch breaks off after each change. Writes fail once."""

    def __init__(self, gateway: FakeGateway) -> None:
        self._gateway = gateway
        self.count = 0
        self.writes = 0

    def WatchState(self, request: Any, context: Any) -> Iterator[Any]:
        if request.after_version < self.count:
            version = request.after_version + 1
            yield state_pb2.WatchStateResponse(version=version, json=f'{{"n": {version}}}')
        self._gateway._fail(DOWN, context)

    def SetState(self, request: Any, context: Any) -> Any:
        self.writes += 1
        if self.writes == 1:
            self._gateway._fail(DOWN, context)
        return state_pb2.SetStateResponse(version=1)


def _job(job_id: str, state: jobs_pb2.JobState.ValueType) -> jobs_pb2.Job:
    return jobs_pb2.Job(
        id=job_id, type="index_message", agent_id="ada", subject="conversations/c/messages/1", state=state
    )


def _page(items: list[Any], request: Any) -> tuple[list[Any], str]:
    start = int(request.page_token or 0)
    end = start + (request.page_size or DEFAULT_PAGE)
    return items[start:end], str(end) if end < len(items) else ""


@contextmanager
def serving_fake() -> Iterator[FakeGateway]:
    """The fake on a free port of this machine."""
    fake = FakeGateway()
    server = grpc.server(ThreadPoolExecutor(max_workers=8))
    gateway_pb2_grpc.add_GatewayServiceServicer_to_server(fake, server)
    history_pb2_grpc.add_HistoryServiceServicer_to_server(fake.history, server)
    state_pb2_grpc.add_StateServiceServicer_to_server(fake.state, server)
    fake.target = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    try:
        yield fake
    finally:
        fake.release.set()
        fake.cancelled.set()
        server.stop(0).wait()
