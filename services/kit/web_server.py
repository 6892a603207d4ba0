"""uvicorn with bounds on slow clients; imported only where HTTP is served."""

from __future__ import annotations

import asyncio
import logging
import math
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from services.kit.web import KEEP_ALIVE_SECONDS, MAX_HEAD_BYTES, WebApp


class Server(uvicorn.Server):
    """Leaves the signals of the process to the service, and tells when it serves."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn's."""
        await super().startup(sockets)
        self.ready.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Captures none."""
        yield


class BoundedProtocol(H11Protocol):
    """A connection that is closed when its client is too slow to ask, or to read what it asked for."""

    most_connections: int
    head_seconds: float
    unread_seconds: float

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head_timer = _Timer()
        self._unread_timer = _Timer()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """As uvicorn's; one connection too many is closed."""
        super().connection_made(transport)
        if len(self.connections) > self.most_connections:
            transport.abort()
        else:
            self._watch_head()

    def data_received(self, data: bytes) -> None:
        """As uvicorn's."""
        super().data_received(data)
        self._watch_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """As uvicorn's."""
        self._head_timer.stop()
        self._unread_timer.stop()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The client reads more slowly than it is answered."""
        super().pause_writing()
        self._unread_timer.start(self.loop, self.unread_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """It has read."""
        self._unread_timer.stop()
        super().resume_writing()

    def _watch_head(self) -> None:
        """Runs a timer while a request has begun to arrive, or the first one is awaited."""
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self._head_timer.start(self.loop, self.head_seconds, self.transport.abort)
        else:
            self._head_timer.stop()


def make_server(
    app: WebApp, *, drain_seconds: float, connections: int, head_seconds: float, unread_seconds: float
) -> Server:
    """A server of `app`, to be given its sockets."""
    bounds = {
        "most_connections": connections,
        "head_seconds": head_seconds,
        "unread_seconds": unread_seconds,
    }
    config = uvicorn.Config(
        app,
        http=type("Protocol", (BoundedProtocol,), bounds),
        ws="none",
        lifespan="off",
        log_config=None,
        log_level=logging.CRITICAL,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=math.ceil(drain_seconds),
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
    )
    return Server(config)


class _Timer:
    """Runs once, unless it is stopped before."""

    def __init__(self) -> None:
        self._handle: asyncio.TimerHandle | None = None

    def start(self, loop: asyncio.AbstractEventLoop, seconds: float, action: Callable[[], None]) -> None:
        """Starts it; one that runs already goes on."""
        if self._handle is None:
            self._handle = loop.call_later(seconds, action)

    def stop(self) -> None:
        """Nothing for one that does not run."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
