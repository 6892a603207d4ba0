"""The whole suite in this process behind a real socket, for tests of what the services do together."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import grpc
from google.protobuf.descriptor_pool import Default
from google.protobuf.message_factory import GetMessageClass
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo
from google.rpc.status_pb2 import Status
from palimpsest.chat.v1 import chat_pb2
from palimpsest.common.v1 import resources_pb2
from palimpsest.gateway.v1 import administration_pb2, conversations_pb2, gateway_pb2
from palimpsest.settings.v1 import settings_pb2
from palimpsest.tools.v1 import tools_pb2

from services.embedded import compose
from services.gateway.adapters.sql import migrations
from services.gateway.adapters.sql.keys import SqlKeys
from services.gateway.chats import AS_CONFIGURED, ChatChoices
from services.gateway.domain.keys import ApiKey, digest_of, new_secret
from services.gateway.rpc.faces import faces
from services.kit.identity import Role
from services.kit.metrics import Metrics
from services.kit.serving import Service, listening
from services.kit.sqlite import Database, SqliteScripts
from tests.waiting import until

AGENT = "ada"
REST_SECONDS = 0.2
"""In which nothing new may come to the ledger for a suite to be idle."""
SERVED = (
    gateway_pb2.DESCRIPTOR.services_by_name["GatewayService"].full_name,
    settings_pb2.DESCRIPTOR.services_by_name["SettingsService"].full_name,
    chat_pb2.DESCRIPTOR.services_by_name["ChatService"].full_name,
    tools_pb2.DESCRIPTOR.services_by_name["ToolService"].full_name,
    *(face.name for face in faces(Mock())),
)
"""The services that the gateway has for applications."""


class Running:
    """A suite, its address, and calls under any key."""

    def __init__(self, data: Path, port: int, secret: bytes, stack: AsyncExitStack) -> None:
        """`secret` signs the tokens between the services."""
        self.data = data
        self.port = port
        self.secret = secret
        self._stack = stack
        self.operator = (data / "api-key").read_text().strip()

    async def stub(self, secret: str | None = None) -> Any:
        """A stub whose calls carry the operator's key, or another ("" for none)."""
        channel = grpc.aio.insecure_channel(f"127.0.0.1:{self.port}")
        self._stack.push_async_callback(channel.close)
        return Keyed(Stubs(channel), self.operator if secret is None else secret)

    async def key(self, role: Role, tenant: str = "default", agents: frozenset[str] | None = None) -> str:
        """A key written straight into the store, as another tenant's could not be made otherwise."""
        database = await Database.open(self.data / "gateway.db", migrations("sqlite"))
        key_id, secret = new_secret()
        key = ApiKey(
            id=key_id,
            tenant=tenant,
            display_name="",
            role=role,
            agents=agents,
            digest=digest_of(secret),
            created=datetime.now(UTC),
            expires=None,
            revoked=None,
        )
        await SqlKeys(SqliteScripts(database)).add(key, "test")
        await database.close()
        return secret


class Stubs:
    """The methods of all services that the gateway serves; their names are unique."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._channel = channel
        services = map(Default().FindServiceByName, SERVED)
        self._methods = {method.name: method for service in services for method in service.methods}

    def __getattr__(self, name: str) -> Any:
        method = self._methods[name]
        kinds = (
            "stream" if streams else "unary" for streams in (method.client_streaming, method.server_streaming)
        )
        return getattr(self._channel, "_".join(kinds))(
            f"/{method.containing_service.full_name}/{name}",
            request_serializer=GetMessageClass(method.input_type).SerializeToString,
            response_deserializer=GetMessageClass(method.output_type).FromString,
        )


class Keyed:
    """Adds the key to each call of a stub."""

    def __init__(self, stub: Any, secret: str) -> None:
        self._stub = stub
        self._metadata = (("authorization", f"Bearer {secret}"),) if secret else ()

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._stub, name)
        return lambda request, timeout=30: method(request, metadata=self._metadata, timeout=timeout)


@asynccontextmanager
async def running(
    data: Path, *, embedder: Service | None = None, chat: ChatChoices = AS_CONFIGURED
) -> AsyncIterator[Running]:
    """Starts it over a folder, with the configured embedder, and models for chats, or others."""
    async with AsyncExitStack() as stack:
        secret = secrets.token_bytes(32)
        gateway = await compose(data, secret, Metrics(), stack, embedder=embedder, chat=chat)
        port = await stack.enter_async_context(
            listening(gateway, secret, Metrics(), "127.0.0.1:0", drain_seconds=0)
        )
        yield Running(data, port, secret, stack)


async def prepare(stub: Any, conversation: str = "c", contact_id: str = "") -> None:
    """An agent and a conversation."""
    await stub.CreateAgent(conversations_pb2.CreateAgentRequest(agent_id=AGENT))
    await stub.CreateConversation(
        conversations_pb2.CreateConversationRequest(
            agent_id=AGENT, conversation_id=conversation, contact_id=contact_id
        )
    )


async def idle(stub: Any) -> None:
    """Returns once all derived work is done, also what the ledger had not heard of when first asked."""

    async def rests() -> bool:
        async for _ in stub.WatchJobs(administration_pb2.WatchJobsRequest(until_idle=True)):
            pass
        known = await jobs()
        await asyncio.sleep(REST_SECONDS)
        return bool(known == await jobs())

    async def jobs() -> Any:
        return (await stub.GetStatus(administration_pb2.GetStatusRequest())).jobs

    await until(rests)


async def contact(stub: Any, identity: str) -> str:
    """A person's contact id."""
    request = conversations_pb2.ResolveContactRequest(agent_id=AGENT, identity=identity)
    return str((await stub.ResolveContact(request)).contact.id)


def said(text: str, **fields: Any) -> resources_pb2.NewMessage:
    """A user's message."""
    made = resources_pb2.NewMessage(role=resources_pb2.ROLE_USER, **fields)
    made.parts.add().text = text
    return made


async def failure(call: Any) -> tuple[grpc.StatusCode, str, list[str]]:
    """Code, reason and named fields of a call that must fail."""
    try:
        await call
    except grpc.aio.AioRpcError as error:
        raw = dict(error.trailing_metadata() or ()).get("grpc-status-details-bin", b"")
        info, bad = ErrorInfo(), BadRequest()
        for detail in Status.FromString(raw).details:
            detail.Unpack(info)
            detail.Unpack(bad)
        reason = info.reason.removeprefix("ERROR_REASON_")
        return error.code(), reason, [violation.field for violation in bad.field_violations]
    raise AssertionError("the call did not fail")
