"""The Semantic service over a socket on real stores, with the services around it in process, for tests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import grpc
import pytest
from palimpsest.common.v1 import jobs_pb2, recall_pb2, resources_pb2
from palimpsest.compactor.v1 import compactor_pb2, compactor_pb2_grpc
from palimpsest.episodic.v1 import episodic_pb2, episodic_pb2_grpc
from palimpsest.semantic.v1 import semantic_pb2 as pb
from palimpsest.semantic.v1 import semantic_pb2_grpc, upkeep_pb2_grpc

from services.embedder.bootstrap import build as build_embedder
from services.embedder.config import EmbedderSettings, ModelChoice
from services.kit.channels import CHANNEL_OPTIONS, Channels
from services.kit.context import current_principal
from services.kit.errors import NotFound
from services.kit.identity import BEARER, Principal, Role, TokenSigner
from services.kit.inprocess import InProcessServer
from services.kit.metrics import Metrics
from services.kit.models.settings import ModelSettings
from services.kit.serving import Service, interceptor, listening, outgoing
from services.kit.times import to_timestamp
from services.memory.semantic.bootstrap import AS_CONFIGURED, Openers, build
from services.memory.semantic.config import SemanticSettings

SECRET = b"a secret of the tests, 32 bytes or more"
CODE = grpc.StatusCode
AGENT = "ada"
PATIENCE = 60.0  # seconds that a job which must come is waited for
NOW = datetime(2031, 5, 4, 12, 0, tzinfo=UTC)
SERVICE = Principal(tenant="acme", role=Role.SERVICE, subject="test")
WRITER = Principal(tenant="acme", role=Role.WRITER, subject="test")
READER = Principal(tenant="acme", role=Role.READER, subject="test")
ONLY_B = Principal(tenant="acme", role=Role.WRITER, agents=frozenset({"bea"}), subject="test")
OTHER = Principal(tenant="other", role=Role.SERVICE, subject="test")
USER, ASSISTANT, TOOL = resources_pb2.ROLE_USER, resources_pb2.ROLE_ASSISTANT, resources_pb2.ROLE_TOOL
TASK = resources_pb2.FACT_TYPE_TASK
REFERENCE = recall_pb2.FusionStrategy(reference=recall_pb2.ReferenceFusion())
VECTOR, KEYWORD = recall_pb2.CHANNEL_VECTOR, recall_pb2.CHANNEL_KEYWORD
KEY, MESSAGES = recall_pb2.CHANNEL_KEY, recall_pb2.CHANNEL_MESSAGES
EMBEDDER_BYTES = 1024 * 1024


class Episodic(episodic_pb2_grpc.EpisodicServiceServicer):
    """Conversations of any tenant and agent, kept in a dictionary."""

    def __init__(self) -> None:
        self.conversations: dict[tuple[str, str, str], episodic_pb2.GetMessageRangeResponse] = {}

    def add(
        self,
        text: str,
        conversation_id: str = "c",
        *,
        contact_id: str = "",
        agent_id: str = AGENT,
        tenant: str = "acme",
        **fields: Any,
    ) -> resources_pb2.Message:
        """Appends a message."""
        held = self.conversations.setdefault(
            (tenant, agent_id, conversation_id),
            episodic_pb2.GetMessageRangeResponse(
                conversation=resources_pb2.Conversation(
                    id=conversation_id, agent_id=agent_id, contact_id=contact_id
                )
            ),
        )
        sequence = len(held.messages) + 1
        chosen = {"role": USER, "time": to_timestamp(NOW), "create_time": to_timestamp(NOW)} | fields
        message = held.messages.add(
            id=f"{conversation_id}-{sequence}", conversation_id=conversation_id, sequence=sequence, **chosen
        )
        if not message.parts:
            message.parts.add().text = text
        if message.author and message.author not in held.conversation.authors:
            held.conversation.authors.append(message.author)
        return message

    async def GetMessageRange(
        self, request: episodic_pb2.GetMessageRangeRequest, _: Any
    ) -> episodic_pb2.GetMessageRangeResponse:
        place = (current_principal().tenant, request.agent_id, request.conversation_id)
        if place not in self.conversations:
            raise NotFound("conversation", request.conversation_id)
        held = self.conversations[place]
        return episodic_pb2.GetMessageRangeResponse(
            conversation=held.conversation,
            messages=[m for m in held.messages if m.sequence in request.sequences],
        )


class Ledger(compactor_pb2_grpc.CompactorServiceServicer):
    """Keeps what is enqueued until a test works it off; states are what the test says."""

    def __init__(self) -> None:
        self.waiting: asyncio.Queue[tuple[str, compactor_pb2.NewJob]] = asyncio.Queue()
        self.keys: list[str] = []  # of all that was ever enqueued
        self.states: dict[str, jobs_pb2.JobState] = {}

    async def Enqueue(self, request: compactor_pb2.EnqueueRequest, _: Any) -> compactor_pb2.EnqueueResponse:
        for job in request.jobs:
            self.waiting.put_nowait((current_principal().tenant, job))
            self.keys.append(job.idempotency_key)
        return compactor_pb2.EnqueueResponse(job_ids=[job.idempotency_key for job in request.jobs])

    async def LookupJobs(
        self, request: compactor_pb2.LookupJobsRequest, _: Any
    ) -> compactor_pb2.LookupJobsResponse:
        return compactor_pb2.LookupJobsResponse(
            jobs=[
                compactor_pb2.KeyedJob(
                    idempotency_key=key, job=jobs_pb2.Job(id=f"job {key}", state=self.states[key])
                )
                for key in request.idempotency_keys
                if key in self.states
            ]
        )


class Switch(grpc.aio.ServerInterceptor):
    """Makes a service unreachable while `down`."""

    def __init__(self) -> None:
        self.down = False

    async def intercept_service(self, continuation: Any, details: grpc.HandlerCallDetails) -> Any:
        async def refuse(_request: Any, context: Any) -> None:
            await context.abort(CODE.UNAVAILABLE, "down")

        return grpc.unary_unary_rpc_method_handler(refuse) if self.down else await continuation(details)


class Stubs:
    """The methods of both proto services; their names are unique."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stubs: tuple[Any, ...] = (
            semantic_pb2_grpc.SemanticServiceStub(channel),
            upkeep_pb2_grpc.UpkeepServiceStub(channel),
        )

    def __getattr__(self, name: str) -> Any:
        return next(getattr(stub, name) for stub in self._stubs if hasattr(stub, name))


class Caller:
    """A stub whose calls are made for a principal."""

    def __init__(self, stub: Any, principal: Principal, signer: TokenSigner) -> None:
        self._stub = stub
        self._principal = principal
        self._signer = signer

    def __getattr__(self, name: str) -> Any:
        token = self._signer.mint(self._principal, "semantic")
        method = getattr(self._stub, name)
        metadata = (("authorization", BEARER + token),)
        return lambda request, timeout=20: method(request, metadata=metadata, timeout=timeout)


class Semantic:
    """The service, what is around it, and short ways to use it."""

    def __init__(self, stub: Any, episodic: Episodic, ledger: Ledger, switches: dict[str, Switch]) -> None:
        self._stub = stub
        self._signer = TokenSigner(SECRET)
        self.episodic = episodic
        self.ledger = ledger
        self.embedder, self.compactor = switches["embedder"], switches["compactor"]

    def by(self, principal: Principal) -> Caller:
        return Caller(self._stub, principal, self._signer)

    async def remember(
        self, key: str, value: str, *contacts: str, agent: str = AGENT, by: Principal = WRITER, **fields: Any
    ) -> pb.RememberResponse:
        request = pb.RememberRequest(scope=scope(*contacts, agent=agent), key=key, value=value, **fields)
        response: pb.RememberResponse = await self.by(by).Remember(request)
        return response

    async def index(
        self, *items: resources_pb2.Message | pb.RememberResponse, agent: str = AGENT, by: Principal = SERVICE
    ) -> list[str]:
        """Indexes as a worker would; the error of each item."""
        request = pb.IndexRequest(agent_id=agent)
        for item in items:
            added = request.items.add()
            if isinstance(item, resources_pb2.Message):
                added.message.conversation_id, added.message.sequence = item.conversation_id, item.sequence
            else:
                added.memory.memory_id = item.memory.id
        outcomes = (await self.by(by).Index(request)).outcomes
        assert len(outcomes) == len(items)
        assert all(outcome.ok == (not outcome.error) for outcome in outcomes)
        return [outcome.error for outcome in outcomes]

    async def known(self, key: str, value: str, *contacts: str, **fields: Any) -> pb.RememberResponse:
        """Remembered and indexed."""
        written = await self.remember(key, value, *contacts, **fields)
        agent, tenant = fields.get("agent", AGENT), fields.get("by", WRITER).tenant
        worker = Principal(tenant=tenant, role=Role.SERVICE, subject="test")
        assert await self.index(written, agent=agent, by=worker) == [""]
        return written

    async def said(self, text: str, *place: str, **fields: Any) -> resources_pb2.Message:
        """Stored by Episodic and indexed."""
        message = self.episodic.add(text, *place, **fields)
        worker = Principal(tenant=fields.get("tenant", "acme"), role=Role.SERVICE, subject="test")
        assert await self.index(message, agent=fields.get("agent_id", AGENT), by=worker) == [""]
        return message

    async def work_off(self, *, at_least: int = 0, until_quiet: float = 0.5) -> int:
        """Does the jobs that index until none arrives for a while; how many there were.

        Those that must come are waited for long.
        """
        count = 0
        while True:
            try:
                async with asyncio.timeout(until_quiet if count >= at_least else PATIENCE):
                    tenant, job = await self.ledger.waiting.get()
            except TimeoutError:
                return count
            if not job.type.startswith("index_"):
                continue  # another service's
            worker = Principal(tenant=tenant, role=Role.SERVICE, subject="test")
            kind, *rest = job.subject.split("/")
            request = pb.IndexRequest(agent_id=job.agent_id)
            if kind == "memories":
                request.items.add().memory.memory_id = rest[0]
            else:
                item = request.items.add().message
                item.conversation_id, item.sequence = rest[0], int(rest[2])
            assert (await self.by(worker).Index(request)).outcomes[0].ok
            count += 1

    async def recall(self, query: str, *contacts: str, **fields: Any) -> pb.RecallMemoriesResponse:
        by, timeout = fields.pop("by", READER), fields.pop("timeout", 20)
        where = scope(*contacts, agent=fields.pop("agent", AGENT))
        request = pb.RecallMemoriesRequest(scope=where, query=query, **fields)
        response: pb.RecallMemoriesResponse = await self.by(by).RecallMemories(request, timeout=timeout)
        return response

    async def search(self, query: str, *contacts: str, **fields: Any) -> pb.RecallMessagesResponse:
        by = fields.pop("by", READER)
        where = scope(*contacts, agent=fields.pop("agent", AGENT))
        request = pb.RecallMessagesRequest(scope=where, query=query, **fields)
        response: pb.RecallMessagesResponse = await self.by(by).RecallMessages(request)
        return response


def scope(*contacts: str, agent: str = AGENT) -> pb.Scope:
    return pb.Scope(agent_id=agent, contact_ids=contacts)


def values(response: pb.RecallMemoriesResponse) -> list[str]:
    assert not response.failures
    return [hit.memory.value for hit in response.hits]


def found(response: pb.RecallMessagesResponse) -> list[str]:
    assert not response.failures
    return [match.ref.message_id for match in response.matches]


def assert_adds_up(why: recall_pb2.Explanation) -> None:
    """S-11."""
    total = sum(c.contribution for c in why.channels) + sum(s.contribution for s in why.signals)
    assert total == pytest.approx(why.score, rel=1e-4)
    assert why.score >= 0
    assert all(c.rank >= 1 for c in why.channels)


async def always() -> bool:
    return True


@asynccontextmanager
async def running(
    folder: Path,
    episodic: Episodic,
    clock: Any = None,
    *,
    dimension: int = 64,
    next_dimension: int | None = None,
    openers: Openers = AS_CONFIGURED,
    within: Mapping[str, grpc.aio.ServerInterceptor] = MappingProxyType({}),
    answers_by: ModelSettings | None = None,
    **chosen: Any,
) -> AsyncIterator[Semantic]:
    """The service over a folder, with services around it in process; the embedder has one model or two.

    Calls that a service around it has let in go through what is `within` by its name. Made-up answers are by
    the model `answers_by`.
    """
    async with AsyncExitStack() as stack:
        ledger, switches = Ledger(), {name: Switch() for name in ("embedder", "episodic", "compactor")}
        following = ModelChoice(backend="hashing", dimension=next_dimension) if next_dimension else None
        models = EmbedderSettings(backend="hashing", dimension=dimension, next=following)
        embedder = await build_embedder(models, None, stack)
        services = {
            "embedder": embedder,
            "episodic": Service(
                name="palimpsest.episodic.v1.EpisodicService",
                add=lambda s: episodic_pb2_grpc.add_EpisodicServiceServicer_to_server(episodic, s),
                roles={"GetMessageRange": Role.READER},
                ready=always,
            ),
            "compactor": Service(
                name="palimpsest.compactor.v1.CompactorService",
                add=lambda s: compactor_pb2_grpc.add_CompactorServiceServicer_to_server(ledger, s),
                roles={"Enqueue": Role.SERVICE, "LookupJobs": Role.READER},
                ready=always,
            ),
        }
        made: dict[str, grpc.aio.Channel] = {}
        for name, service in services.items():
            server = InProcessServer()
            server.add_interceptor(switches[name])
            server.add_interceptor(interceptor(service, SECRET, Metrics()))
            if name in within:
                server.add_interceptor(within[name])
            service.add_to(server)
            made[name] = outgoing(server.channel(), name, TokenSigner(SECRET))
        channels = Channels(semantic=made["episodic"], gateway=made["episodic"], **made)
        extra = {} if clock is None else {"clock": clock}
        settings = SemanticSettings(data_dir=folder, **chosen)
        service = await build(settings, channels, stack, openers=openers, models=answers_by, **extra)
        port = await stack.enter_async_context(
            listening(service, SECRET, Metrics(), "127.0.0.1:0", drain_seconds=0)
        )
        channel = grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=CHANNEL_OPTIONS)
        stack.push_async_callback(channel.close)
        yield Semantic(Stubs(channel), episodic, ledger, switches)
