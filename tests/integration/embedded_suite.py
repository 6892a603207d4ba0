"""The whole suite in this process behind a real socket, for tests of what the services do together."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import grpc
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo
from google.rpc.status_pb2 import Status
from palimpsest.common.v1 import resources_pb2
from palimpsest.gateway.v1 import conversations_pb2, gateway_pb2_grpc
from palimpsest.history.v1 import history_pb2_grpc
from palimpsest.state.v1 import state_pb2_grpc
from palimpsest.working.v1 import working_pb2_grpc

from services.embedded import compose
from services.gateway.adapters.sqlite_keys import SqliteKeyStore
from services.gateway.domain.keys import ApiKey, digest_of, new_secret
from services.kit.identity import Role
from services.kit.metrics import Metrics
from services.kit.serving import listening

AGENT = "ada"


class Running:
    """A suite, its address, and calls under any key."""

    def __init__(self, data: Path, port: int, stack: AsyncExitStack) -> None:
        self.data = data
        self.port = port
        self._stack = stack
        self.operator = (data / "api-key").read_text().strip()

    async def stub(self, secret: str | None = None) -> Any:
        """A stub whose calls carry the operator's key, or another ("" for none)."""
        channel = grpc.aio.insecure_channel(f"127.0.0.1:{self.port}")
        self._stack.push_async_callback(channel.close)
        return Keyed(Stubs(channel), self.operator if secret is None else secret)

    async def key(self, role: Role, tenant: str = "default", agents: frozenset[str] | None = None) -> str:
        """A key written straight into the store, as another tenant's could not be made otherwise."""
        from importlib.resources import files

        from services.kit.sqlite import Database

        migrations = files("services.gateway") / "migrations" / "sqlite"
        database = await Database.open(self.data / "gateway.db", migrations)
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
        await SqliteKeyStore(database).add(key)
        await database.close()
        return secret


class Stubs:
    """The methods of all services that the gateway serves; their names are unique."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stubs: tuple[Any, ...] = (
            gateway_pb2_grpc.GatewayServiceStub(channel),
            history_pb2_grpc.HistoryServiceStub(channel),
            working_pb2_grpc.WorkingMemoryServiceStub(channel),
            state_pb2_grpc.StateServiceStub(channel),
        )

    def __getattr__(self, name: str) -> Any:
        return next(getattr(stub, name) for stub in self._stubs if hasattr(stub, name))


class Keyed:
    """Adds the key to each call of a stub."""

    def __init__(self, stub: Any, secret: str) -> None:
        self._stub = stub
        self._metadata = (("authorization", f"Bearer {secret}"),) if secret else ()

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._stub, name)
        return lambda request, timeout=30: method(request, metadata=self._metadata, timeout=timeout)


@asynccontextmanager
async def running(data: Path) -> AsyncIterator[Running]:
    """Starts it over a folder."""
    async with AsyncExitStack() as stack:
        secret = secrets.token_bytes(32)
        gateway = await compose(data, secret, Metrics(), stack)
        port = await stack.enter_async_context(
            listening(gateway, secret, Metrics(), "127.0.0.1:0", drain_seconds=0)
        )
        yield Running(data, port, stack)


async def prepare(stub: Any, conversation: str = "c", contact_id: str = "") -> None:
    """An agent and a conversation."""
    await stub.CreateAgent(conversations_pb2.CreateAgentRequest(agent_id=AGENT))
    await stub.CreateConversation(
        conversations_pb2.CreateConversationRequest(
            agent_id=AGENT, conversation_id=conversation, contact_id=contact_id
        )
    )


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
