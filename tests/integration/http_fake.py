"""The HTTP face over a service that does as it is told, behind the real interceptor and server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from palimpsest.state.v1 import state_pb2, state_pb2_grpc
from starlette.routing import BaseRoute

from services.gateway.http.app import HttpFace
from services.gateway.http.limits import MAX_REQUESTS
from services.gateway.http.refusals import Refusals
from services.kit.errors import CredentialInvalid, Overloaded, StateConflict
from services.kit.identity import Principal, Role, bearer_of
from services.kit.inprocess import InProcessServer
from services.kit.interceptors import CallInterceptor
from services.kit.metrics import Metrics
from services.kit.serving import roles_of
from services.kit.web import serving_web

SERVICE = state_pb2.DESCRIPTOR.services_by_name["StateService"]
KEY = "key"
LARGE = 200_000
"""Characters of a large event."""


class Authenticated:
    """Knows one key."""

    async def authenticate(self, metadata: Mapping[str, str]) -> Principal:
        """A writer."""
        if bearer_of(metadata) != KEY:
            raise CredentialInvalid
        return Principal(tenant="t", role=Role.WRITER)


class FakeState(state_pb2_grpc.StateServiceServicer):
    """Does what the name of the document says."""

    def __init__(self) -> None:
        self.ended = asyncio.Event()
        """A stream or a slow call has ended, however."""
        self.called = asyncio.Event()
        """A slow call has begun."""
        self.first = asyncio.Event()
        """A stream has given its first event."""
        self.release = asyncio.Event()
        self.sent = 0
        self.timeouts: list[float | None] = []

    async def SetState(self, request: state_pb2.SetStateRequest, context: Any) -> state_pb2.SetStateResponse:
        """The length of the name; once it is released, for "slow"; an error for others."""
        self.timeouts.append(context.time_remaining())
        match request.name:
            case "slow":
                self.called.set()
                try:
                    await self.release.wait()
                finally:
                    self.ended.set()
            case "busy":
                raise Overloaded(retry_after=2.5)
            case "fault":
                raise RuntimeError("secret")
        return state_pb2.SetStateResponse(version=len(request.name))

    async def WatchState(
        self, request: state_pb2.WatchStateRequest, context: Any
    ) -> AsyncIterator[state_pb2.WatchStateResponse]:
        """Versions after the one that is asked for, without end or as the name says."""
        try:
            if request.name == "refused":
                raise StateConflict
            version = request.after_version
            while request.name != "silent":
                version += 1
                text = "x" * LARGE if request.name == "large" else f'"{version}\n"'
                self.sent += 1
                yield state_pb2.WatchStateResponse(version=version, json=text)
                self.first.set()
                if version == 3 and request.name == "failing":
                    raise StateConflict("no more")
                if version == 3 and request.name == "ending":
                    return
                if request.name == "live":
                    await self.release.wait()
            await asyncio.Event().wait()
        finally:
            self.ended.set()


@asynccontextmanager
async def fake_web(
    *,
    origins: tuple[str, ...] = (),
    mounts: tuple[BaseRoute, ...] = (),
    drain_seconds: float = 5,
    ready: bool = True,
    refusals: Refusals | None = None,
    most_requests: int = MAX_REQUESTS,
    **bounds: Any,
) -> AsyncIterator[tuple[FakeState, int]]:
    """The service and the port of its HTTP face."""
    servicer, server = FakeState(), InProcessServer()
    roles = {f"/{SERVICE.full_name}/{name}": role for name, role in roles_of(SERVICE).items()}
    server.add_interceptor(
        CallInterceptor(authenticator=Authenticated(), roles=roles, timeouts={}, metrics=Metrics())
    )
    state_pb2_grpc.add_StateServiceServicer_to_server(servicer, server)

    async def answers() -> bool:
        if not ready:
            raise OSError("no store")
        return True

    face = HttpFace(
        services=(SERVICE.full_name,),
        authenticator=Authenticated(),
        ready=answers,
        origins=origins,
        mounts_over=lambda _channel: mounts,
        refusals=refusals or Refusals(),
        most_requests=most_requests,
    )
    app = face.over(server.channel())
    async with serving_web(app, "127.0.0.1", 0, drain_seconds=drain_seconds, **bounds) as port:
        yield servicer, port


class Wire:
    """A connection on which bytes are sent as they are."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self._writer = writer

    async def send(self, data: bytes) -> None:
        """Sends."""
        self._writer.write(data)
        await self._writer.drain()

    async def answer(self) -> tuple[int, dict[str, str], bytes]:
        """The next answer: status, headers, body."""
        async with asyncio.timeout(20):
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            pairs = (line.split(": ", 1) for line in head[1:] if line)
            headers = {name.lower(): value for name, value in pairs}
            body = await self.reader.readexactly(int(headers.get("content-length", "0")))
        return int(head[0].split(" ")[1]), headers, body

    async def closed(self) -> bytes:
        """What comes until the other side closes."""
        async with asyncio.timeout(20):
            try:
                return await self.reader.read()
            except ConnectionError:
                return b""


@asynccontextmanager
async def wire(port: int) -> AsyncIterator[Wire]:
    """Connects."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield Wire(reader, writer)
    finally:
        writer.transport.abort()
