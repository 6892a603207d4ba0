"""Streams as server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import grpc
from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message
from google.rpc.status_pb2 import Status

from services.gateway.http.answering import dump, status_json, status_of
from services.gateway.http.resuming import event_id
from services.kit.errors import DependencyDown
from services.kit.status import to_status

EVENT_STREAM = "text/event-stream"
ONEOF = "event"
"""The oneof of a response whose member names the event."""
HEARTBEAT = b":\n\n"
END = b"event: end\ndata: {}\n\n"
STOPPING = "the server is stopping; go on with another call"

Write = Callable[[bytes], Awaitable[None]]


class Events:
    """One stream: reads the call's responses and writes them as events until either side ends."""

    def __init__(
        self, call: Any, *, gone: asyncio.Future[Any], closing: asyncio.Event, request: Descriptor
    ) -> None:
        """`gone` ends when the caller leaves; `closing` is set when the server stops."""
        self._call = call
        self._gone = gone
        self._closing = asyncio.ensure_future(closing.wait())
        self._request = request
        self._reading: asyncio.Future[Any] = asyncio.ensure_future(call.read())

    async def begins(self, seconds: float) -> Status | None:
        """Waits for a first response; the status of a call that failed before."""
        await asyncio.wait((self._reading, self._gone), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if not self._reading.done() or self._reading.exception() is None:
            return None
        return _status(self._reading)

    async def run(self, write: Write, *, heartbeat: float) -> None:
        """Writes until the stream ends, the caller leaves or the server stops."""
        while True:
            watched = (self._reading, self._gone, self._closing)
            await asyncio.wait(watched, timeout=heartbeat, return_when=asyncio.FIRST_COMPLETED)
            if self._gone.done():
                return
            if self._reading.done():
                if not await self._pass_on(write):
                    return
            elif self._closing.done():
                await write(_error(to_status(DependencyDown(STOPPING))))
                return
            else:
                await write(HEARTBEAT)

    async def _pass_on(self, write: Write) -> bool:
        """Writes what was read; whether there may be more."""
        if self._reading.exception() is not None:
            await write(_error(_status(self._reading)))
            return False
        response = self._reading.result()
        if response is grpc.aio.EOF:
            await write(END)
            return False
        await write(_event(response, self._request))
        self._reading = asyncio.ensure_future(self._call.read())
        return True

    async def close(self) -> None:
        """Ends the call, whatever state it is in."""
        self._call.cancel()
        self._closing.cancel()
        self._reading.cancel()
        await asyncio.gather(self._closing, self._reading, return_exceptions=True)


def _event(response: Message, request: Descriptor) -> bytes:
    lines = []
    if ONEOF in response.DESCRIPTOR.oneofs_by_name and (name := response.WhichOneof(ONEOF)):
        lines.append(b"event: " + name.encode("ascii"))
    if id := event_id(response, request):
        lines.append(b"id: " + id.encode("utf-8"))
    lines.append(b"data: " + dump(response))
    return b"\n".join(lines) + b"\n\n"


def _error(status: Status) -> bytes:
    return b"event: error\ndata: " + status_json(status) + b"\n\n"


def _status(reading: asyncio.Future[Any]) -> Status:
    error = reading.exception()
    if isinstance(error, grpc.aio.AioRpcError):
        return status_of(error)
    assert error is not None
    raise error
