"""One in-process call, from both of its ends (SPEC SV-4); see `inprocess` for the channel and the server."""

from __future__ import annotations

import asyncio
import contextvars
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol, TypeAlias, cast

import grpc

STREAM_BUFFER = 16  # messages that a stream may hold ahead of its reader
PEER = "inprocess:"
CANCELLED_BY_CALLER = "Locally cancelled by application!"
DEADLINE_PASSED = "Deadline Exceeded"

Code = grpc.StatusCode
Pairs = Sequence[tuple[str, str | bytes]]
Serializer = Callable[[Any], bytes] | None
Deserializer = Callable[[bytes], Any] | None
Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"


@dataclass(frozen=True, slots=True)
class CallDetails(grpc.HandlerCallDetails):
    """What interceptors and handlers are chosen by."""

    method: str
    invocation_metadata: Any


class Handlers(Protocol):
    """Where a call finds its handler (the server)."""

    max_message_bytes: int

    async def find(self, details: grpc.HandlerCallDetails) -> Handler | None:
        """The handler of a call, wrapped by the interceptors; None for an unknown method."""


class _End:
    """Marks the end of a stream."""


class _Context(grpc.aio.ServicerContext[Any, Any]):
    """What a handler sees of its call."""

    def __init__(self, call: InProcessCall) -> None:
        self._call = call
        self._code: grpc.StatusCode | None = None
        self._details = ""
        self._trailing: Pairs = ()

    async def abort(self, code: grpc.StatusCode, details: str = "", trailing_metadata: Any = ()) -> NoReturn:
        self._code, self._details = code, details
        if trailing_metadata:
            self._trailing = tuple(trailing_metadata)
        raise grpc.aio.AbortError("Locally aborted.")

    async def abort_with_status(self, status: grpc.Status) -> NoReturn:
        await self.abort(status.code, status.details, status.trailing_metadata)

    async def read(self) -> Any:
        return await self._call.next_request()

    async def write(self, message: Any) -> None:
        await self._call.put_response(message)

    async def send_initial_metadata(self, initial_metadata: Any) -> None:
        self._call.set_initial_metadata(tuple(initial_metadata))

    def set_trailing_metadata(self, trailing_metadata: Any) -> None:
        self._trailing = tuple(trailing_metadata)

    def trailing_metadata(self) -> Any:
        return self._trailing

    def invocation_metadata(self) -> Any:
        return self._call.metadata

    def set_code(self, code: grpc.StatusCode) -> None:
        self._code = code

    def set_details(self, details: str) -> None:
        self._details = details

    def code(self) -> Any:
        return self._code

    def details(self) -> str:
        return self._details

    def set_compression(self, compression: grpc.Compression) -> None:
        """Nothing is compressed in process."""

    def disable_next_message_compression(self) -> None:
        """Nothing is compressed in process."""

    def peer(self) -> str:
        return PEER

    def peer_identities(self) -> Any:
        return None

    def peer_identity_key(self) -> Any:
        return None

    def auth_context(self) -> Mapping[str, Iterable[bytes]]:
        return {}

    def time_remaining(self) -> Any:
        return self._call.time_remaining()

    def add_done_callback(self, callback: Any) -> None:
        self._call.add_done_callback(lambda _: callback(self))

    def cancelled(self) -> bool:
        return self._call.cancelled()

    def done(self) -> bool:
        return self._call.done()

    def status(self, default: grpc.StatusCode) -> tuple[grpc.StatusCode, str, Pairs]:
        """Code, details and trailing metadata that the handler left."""
        return self._code or default, self._details, self._trailing


class InProcessCall:
    """One call, seen from the caller: awaitable (unary response) or iterable (stream)."""

    def __init__(
        self,
        server: Handlers,
        method: str,
        request: Any,
        *,
        request_streaming: bool,
        serialize: Serializer,
        deserialize: Deserializer,
        timeout: float | None,
        metadata: Any,
    ) -> None:
        self.metadata: Pairs = tuple(metadata or ())
        self._server = server
        self._method = method
        self._serialize = serialize
        self._deserialize = deserialize
        self._request_streaming = request_streaming
        self._loop = asyncio.get_running_loop()
        self._deadline = None if timeout is None else time.monotonic() + timeout
        self._requests: asyncio.Queue[Any] = asyncio.Queue(STREAM_BUFFER)
        self._responses: asyncio.Queue[Any] = asyncio.Queue(STREAM_BUFFER)
        self._initial: asyncio.Future[Pairs] = self._loop.create_future()
        self._status: asyncio.Future[tuple[grpc.StatusCode, str, Pairs]] = self._loop.create_future()
        self._handler: Handler | None = None
        self._forced: tuple[grpc.StatusCode, str] | None = None
        self._reader_ended = False
        # A fresh context: nothing of the caller's leaks in, as over a socket.
        self._task = self._loop.create_task(self._serve(request), context=contextvars.Context())
        self._feeder: asyncio.Task[None] | None = None
        if request_streaming and request is not None:
            self._feeder = self._loop.create_task(self._feed(request))
        self._timer = (
            None
            if timeout is None
            else self._loop.call_later(
                max(0.0, timeout), self._force, Code.DEADLINE_EXCEEDED, DEADLINE_PASSED
            )
        )

    # The server's side

    async def _serve(self, request: Any) -> None:
        context = _Context(self)
        code, details, trailing = Code.OK, "", cast("Pairs", ())
        try:
            await self._handle(request, context)
            code, details, trailing = context.status(Code.OK)
        except grpc.aio.AbortError:
            code, details, trailing = context.status(Code.UNKNOWN)
        except asyncio.CancelledError:
            code, details, trailing = Code.CANCELLED, CANCELLED_BY_CALLER, ()
        except _TooLarge as error:
            code, details = Code.RESOURCE_EXHAUSTED, str(error)
        except Exception as error:  # noqa: BLE001 - as grpc.aio does for a handler that raises
            code, details = Code.UNKNOWN, f"Unexpected {type(error)}: {error}"
        self._finish(code, details, trailing)

    async def _handle(self, request: Any, context: _Context) -> None:
        handler: Any = await self._server.find(CallDetails(self._method, self.metadata))
        if handler is None:
            await context.abort(Code.UNIMPLEMENTED, "Method not found!")
        self._handler = handler
        if self._request_streaming:
            incoming: Any = self._incoming()
        else:
            incoming = self._parse_request(self._encode(request))
        if handler.request_streaming != self._request_streaming:
            await context.abort(Code.INTERNAL, "the streaming kinds of caller and handler differ")
        if handler.response_streaming:
            behaviour = handler.stream_stream if handler.request_streaming else handler.unary_stream
            produced = behaviour(incoming, context)
            if hasattr(produced, "__aiter__"):
                async for response in produced:
                    await self.put_response(response)
            else:
                await produced
        else:
            behaviour = handler.stream_unary if handler.request_streaming else handler.unary_unary
            await self.put_response(await behaviour(incoming, context))

    async def _incoming(self) -> AsyncIterator[Any]:
        while (request := await self.next_request()) is not grpc.aio.EOF:
            yield request

    async def next_request(self) -> Any:
        """The next request of a stream, parsed; EOF at its end."""
        item = await self._requests.get()
        return grpc.aio.EOF if item is _End else self._parse_request(item)

    async def put_response(self, response: Any) -> None:
        """Hands a response to the caller, waiting while the buffer is full."""
        self.set_initial_metadata(())
        serializer = cast("Any", self._handler).response_serializer
        data = serializer(response) if serializer else response
        self._check_size(data)
        await self._responses.put(data)

    def set_initial_metadata(self, metadata: Pairs) -> None:
        """Once; later calls change nothing."""
        if not self._initial.done():
            self._initial.set_result(metadata)

    def _parse_request(self, data: bytes) -> Any:
        self._check_size(data)
        parse = cast("Any", self._handler).request_deserializer
        return parse(data) if parse else data

    def _check_size(self, data: bytes) -> None:
        limit = self._server.max_message_bytes
        if limit and len(data) > limit:
            raise _TooLarge(f"Received message larger than max ({len(data)} vs. {limit})")

    def _encode(self, message: Any) -> bytes:
        return self._serialize(message) if self._serialize else cast("bytes", message)

    def _finish(self, code: grpc.StatusCode, details: str, trailing: Pairs) -> None:
        if self._forced is not None:
            code, details, trailing = *self._forced, ()
        self.set_initial_metadata(())
        if not self._status.done():
            self._status.set_result((code, details, trailing))
        if self._timer is not None:
            self._timer.cancel()
        if self._feeder is not None:
            self._feeder.cancel()

    # The caller's side

    def _force(self, code: grpc.StatusCode, details: str) -> None:
        if self._status.done():
            return
        self._forced = (code, details)
        self._task.cancel()
        # The caller learns at once; the handler ends in its own time, as over a socket.
        self._finish(code, details, ())

    async def _feed(self, requests: AsyncIterable[Any] | Iterable[Any]) -> None:
        try:
            if isinstance(requests, AsyncIterable):
                async for request in requests:
                    await self._requests.put(self._encode(request))
            else:
                for request in requests:
                    await self._requests.put(self._encode(request))
        except asyncio.CancelledError:
            raise
        except Exception:  # noqa: BLE001 - the caller's iterator failed: its call is cancelled, as over a socket
            self.cancel()
            return
        await self._requests.put(_End)

    def __await__(self) -> Generator[Any, None, Any]:
        return self._unary_result().__await__()

    async def _unary_result(self) -> Any:
        try:
            code, details, trailing = await asyncio.shield(self._status)
        except asyncio.CancelledError:
            self.cancel()
            raise
        if code is not Code.OK:
            if self._forced is not None and code is Code.CANCELLED:
                raise asyncio.CancelledError
            raise self._error(code, details, trailing)
        return self._parse_response(self._responses.get_nowait())

    def __aiter__(self) -> AsyncIterator[Any]:
        return self._iterate()

    async def _iterate(self) -> AsyncIterator[Any]:
        while (response := await self.read()) is not grpc.aio.EOF:
            yield response

    async def read(self) -> Any:
        """The next response of a stream; EOF at its end. Raises AioRpcError when the call failed."""
        if self._forced is None and not self._responses.empty():
            return self._parse_response(self._responses.get_nowait())
        if not self._status.done():
            getter = self._loop.create_task(self._responses.get())
            try:
                await asyncio.wait((getter, self._status), return_when=asyncio.FIRST_COMPLETED)
            except asyncio.CancelledError:
                getter.cancel()
                self.cancel()
                raise
            if getter.done():
                return self._parse_response(getter.result())
            getter.cancel()
            if self._forced is None and not self._responses.empty():
                return self._parse_response(self._responses.get_nowait())
        code, details, trailing = self._status.result()
        if code is Code.OK:
            return grpc.aio.EOF
        if self._forced is not None and code is Code.CANCELLED:
            raise asyncio.CancelledError
        raise self._error(code, details, trailing)

    async def write(self, request: Any) -> None:
        """Sends a request of a stream."""
        if self._status.done():
            code, details, trailing = self._status.result()
            raise self._error(code, details, trailing)
        await self._requests.put(self._encode(request))

    async def done_writing(self) -> None:
        """Ends the stream of requests."""
        if not self._status.done():
            await self._requests.put(_End)

    def cancel(self) -> bool:
        """Ends the call; False when it had ended."""
        if self._status.done():
            return False
        self._force(Code.CANCELLED, CANCELLED_BY_CALLER)
        return True

    def cancelled(self) -> bool:
        """Whether it ended as cancelled."""
        return self._status.done() and self._status.result()[0] is Code.CANCELLED

    def done(self) -> bool:
        """Whether it has ended."""
        return self._status.done()

    def time_remaining(self) -> float | None:
        """Seconds until the deadline; None without one."""
        return None if self._deadline is None else max(0.0, self._deadline - time.monotonic())

    def add_done_callback(self, callback: Callable[[Any], None]) -> None:
        """Calls back once the call has ended."""
        self._status.add_done_callback(lambda _: callback(self))

    async def initial_metadata(self) -> grpc.aio.Metadata:
        """What the server sent first."""
        return grpc.aio.Metadata(*await asyncio.shield(self._initial))

    async def trailing_metadata(self) -> grpc.aio.Metadata:
        """What the server sent last."""
        return grpc.aio.Metadata(*(await asyncio.shield(self._status))[2])

    async def code(self) -> grpc.StatusCode:
        """How it ended."""
        return (await asyncio.shield(self._status))[0]

    async def details(self) -> str:
        """The status message."""
        return (await asyncio.shield(self._status))[1]

    async def wait_for_connection(self) -> None:
        """There is nothing to connect."""

    def _parse_response(self, data: bytes) -> Any:
        return self._deserialize(data) if self._deserialize else data

    def _error(self, code: grpc.StatusCode, details: str, trailing: Pairs) -> grpc.aio.AioRpcError:
        initial = self._initial.result() if self._initial.done() else ()
        return grpc.aio.AioRpcError(code, grpc.aio.Metadata(*initial), grpc.aio.Metadata(*trailing), details)


class _TooLarge(Exception):
    """A message is over the limit."""
