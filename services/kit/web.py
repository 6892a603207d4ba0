"""HTTP beside gRPC: one uvicorn server on the loop of the service (SPEC G-10, O-3)."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import grpc

from services.kit.errors import StartupError

Message = MutableMapping[str, Any]

KEEP_ALIVE_SECONDS = 30
HEAD_SECONDS = 15.0
"""How long a request's line and headers may take to arrive."""
UNREAD_SECONDS = 30.0
"""How long a client may leave its answer unread while more of it waits."""
MAX_HEAD_BYTES = 32 * 1024
MAX_CONNECTIONS = 1024
"""At one time; a further one is closed at once."""


class WebApp(Protocol):
    """An ASGI application whose streams can be told to end."""

    async def __call__(
        self,
        scope: Message,
        receive: Callable[[], Awaitable[Message]],
        send: Callable[[Message], Awaitable[None]],
    ) -> None:
        """One request."""

    def stop(self) -> None:
        """Ends what would not end by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Web:
    """The HTTP face of a service."""

    make: Callable[[grpc.aio.Channel], WebApp]
    """Makes it over a channel that leads to the service, in this process."""
    port: int | None = None
    """Where it is served; None: nowhere; 0: on a free port."""


@asynccontextmanager
async def serving_web(
    app: WebApp,
    host: str,
    port: int,
    *,
    drain_seconds: float,
    connections: int = MAX_CONNECTIONS,
    head_seconds: float = HEAD_SECONDS,
    unread_seconds: float = UNREAD_SECONDS,
) -> AsyncIterator[int]:
    """Serves until left; yields the port. Leaving lets calls end for `drain_seconds`. Raises StartupError."""
    # Imported here: the other services are installed without it.
    from services.kit.web_server import make_server

    listener = _listen(host, port)
    server = make_server(
        app,
        drain_seconds=drain_seconds,
        connections=connections,
        head_seconds=head_seconds,
        unread_seconds=unread_seconds,
    )
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        await server.ready.wait()
        yield listener.getsockname()[1]
    finally:
        app.stop()
        server.should_exit = True
        await serving


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host.strip("[]"), port), family=family)
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        reason = "the port is in use" if taken else (error.strerror or type(error).__name__)
        raise StartupError(f"cannot serve HTTP on {host}:{port}: {reason}") from error
    # Connections inherit it. Without, a body waits for the receipt of its headers: 40 ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener
