"""The calls of the gateway as an ASGI application."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import grpc
import structlog
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.descriptor_pb2 import MethodOptions
from google.protobuf.message import Message

from services.gateway.http import answering, heads, reading, resuming
from services.gateway.http.answering import Answer, Refused
from services.gateway.http.bodies import Bodies, Gone, Receive, discard, leaves
from services.gateway.http.calls import Calls
from services.gateway.http.events import EVENT_STREAM, Events
from services.gateway.http.heads import Head, Scope
from services.gateway.http.limits import (
    FIRST_EVENT_SECONDS,
    HEARTBEAT_SECONDS,
    MAX_REQUESTS,
    OVERLOADED_RETRY_SECONDS,
    THREAD_BYTES,
)
from services.gateway.http.refusals import Refusals
from services.gateway.http.routes import Match, Routes
from services.kit.errors import Internal, NotFound, Overloaded, PalimpsestError, UnknownMethod
from services.kit.identity import Authenticator
from services.kit.logs import frames_of
from services.kit.status import REQUEST_ID_KEY

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
MAX_PATH_SHOWN = 200


class Api:
    """Answers every route of `routes`; anything else is not found."""

    def __init__(
        self,
        *,
        routes: Routes,
        channel: grpc.aio.Channel,
        authenticator: Authenticator,
        heartbeat: float = HEARTBEAT_SECONDS,
        bodies: Bodies | None = None,
        most_requests: int = MAX_REQUESTS,
        refusals: Refusals | None = None,
    ) -> None:
        """The channel leads to the services that the routes are of, in this process."""
        self._routes = routes
        self._calls = Calls(channel)
        self._authenticator = authenticator
        self._heartbeat = heartbeat
        self._bodies = bodies or Bodies()
        self._closing = asyncio.Event()
        self._most = most_requests
        self._under_way = 0
        self._refusals = refusals or Refusals()
        self._log = structlog.get_logger("http")

    def stop(self) -> None:
        """Ends the streams that change nothing; other calls go on."""
        self._closing.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            return  # a websocket is closed without an answer: there is none here
        exchange = _Exchange(scope, receive, send)
        if self._under_way >= self._most:
            error = Overloaded("too many requests at once", retry_after=OVERLOADED_RETRY_SECONDS)
            self._refused(exchange, error)
            await exchange.finish(answering.failed(error))
            return
        self._under_way += 1
        try:
            await self._serve(exchange)
        finally:  # not before its answer is sent, which a caller may read slowly
            self._under_way -= 1

    async def _serve(self, exchange: _Exchange) -> None:
        try:
            answer = await self._answer(exchange)
        except Gone:
            return
        except Refused as error:
            self._refused(exchange, error.error)
            answer = answering.refused(error)
        except PalimpsestError as error:
            self._refused(exchange, error)
            answer = answering.failed(error)
        except Exception as error:  # noqa: BLE001 - the last line of defence: logged, then a constant text
            self._log_fault(exchange.request_id, error)
            answer = answering.failed(Internal())
        if answer is not None:
            await exchange.finish(answer)

    async def _answer(self, exchange: _Exchange) -> Answer | None:
        """The answer; None where it was sent already."""
        head = exchange.read_head()
        match = self._match(head)
        if match is None:
            return self._options(head)
        exchange.rpc = match.route.path
        await self._authenticator.authenticate(head.metadata)
        async with self._bodies.read(head, exchange.receive) as body:
            exchange.is_read()
            if len(body) > THREAD_BYTES:
                message = await asyncio.to_thread(reading.read, match, head.query, body)
            else:
                message = reading.read(match, head.query, body)
        if match.route.method.server_streaming:
            return await self._stream(exchange, match, message)
        return await self._unary(exchange, match, message)

    def _match(self, head: Head) -> Match | None:
        """The route; None for OPTIONS."""
        match = self._routes.find("GET" if head.verb == "HEAD" else head.verb, head.path)
        if match is not None and not (head.verb == "HEAD" and match.route.method.server_streaming):
            return match
        verbs = self._routes.verbs(head.path)
        if not verbs:
            raise Refused(404, NotFound("path", head.path[:MAX_PATH_SHOWN]))
        if head.verb != "OPTIONS":
            raise Refused(405, UnknownMethod("this path has no such verb"), {"allow": _allowed(verbs)})
        return None

    def _options(self, head: Head) -> Answer:
        return Answer(status=204, body=b"", headers={"allow": _allowed(self._routes.verbs(head.path))})

    async def _unary(self, exchange: _Exchange, match: Match, message: Message) -> Answer:
        call = self._calls.start(match.route, message, exchange.head)
        answered = asyncio.ensure_future(call)
        try:
            await asyncio.wait((answered, exchange.gone), return_when=asyncio.FIRST_COMPLETED)
            if not answered.done():
                raise Gone
            return await _result(answered.result())
        except grpc.aio.AioRpcError as error:
            return answering.of_status(answering.status_of(error))
        finally:
            call.cancel()
            await asyncio.gather(answered, return_exceptions=True)

    async def _stream(self, exchange: _Exchange, match: Match, message: Message) -> Answer | None:
        last = exchange.head.headers.get(resuming.HEADER, "")
        resuming.resume(message, match.route.method.output_type, last)
        call = self._calls.start(match.route, message, exchange.head)
        method = match.route.method
        # A stream that changes nothing can be begun anew elsewhere; another ends as other calls do.
        closing = self._closing if _changes_nothing(method) else asyncio.Event()
        events = Events(call, gone=exchange.gone, closing=closing, request=method.input_type)
        try:
            failure = await events.begins(FIRST_EVENT_SECONDS)
            if failure is not None:
                return answering.of_status(failure)
            await exchange.begin_stream()
            await events.run(exchange.write, heartbeat=self._heartbeat)
            await exchange.end_stream()
        finally:
            await events.close()
        return None

    def _refused(self, exchange: _Exchange, error: PalimpsestError) -> None:
        """What never became a call is told here; of calls their interceptor tells."""
        self._refusals.count(error)
        self._log.info("http_refused", rpc=exchange.rpc, request_id=exchange.request_id, code=error.reason)

    def _log_fault(self, request_id: str, error: BaseException) -> None:
        self._log.error(
            "http_fault", request_id=request_id, error=type(error).__name__, trace=frames_of(error)
        )


class _Exchange:
    """One request and its answer, on the wire."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope, self.receive, self._send = scope, receive, send
        self.request_id = heads.request_id(scope)
        self.head: Head
        self.rpc = ""
        """The call that it is for; "" until that is known. Never its path, which may hold anything."""
        self._gone: asyncio.Future[None] | None = None
        self._unread = True
        self._streaming = False

    @property
    def gone(self) -> asyncio.Future[None]:
        """Done when the caller has left. To be asked for once the body is read."""
        if self._gone is None:
            self._gone = asyncio.ensure_future(leaves(self.receive))
        return self._gone

    @property
    def _awaits_permission(self) -> bool:
        """Whether the caller sends its body only once it is asked for (`Expect: 100-continue`)."""
        return any(name == b"expect" for name, _ in self._scope["headers"])

    def read_head(self) -> Head:
        """Raises Refused."""
        self.head = heads.read(self._scope, self.request_id)
        self._unread = self.head.has_body
        return self.head

    def is_read(self) -> None:
        """To be told once the body is read: the connection can stay then."""
        self._unread = False

    async def finish(self, answer: Answer) -> None:
        """Sends a whole answer; where a stream was begun, only its end."""
        if self._streaming:
            await self.end_stream()
            return
        headers = {"content-type": answering.JSON_TYPE, **answer.headers}
        if answer.status == 204:
            headers.pop("content-type")
        else:
            headers["content-length"] = str(len(answer.body))
        if self._unread:
            headers["connection"] = "close"
            if not self._awaits_permission:
                await discard(self.receive)
        await self._start(answer.status, headers)
        await self._send({"type": "http.response.body", "body": answer.body})
        await self._settle()

    async def begin_stream(self) -> None:
        """Sends the head of a stream."""
        self._streaming = True
        await self._start(200, {"content-type": EVENT_STREAM, "x-accel-buffering": "no"})

    async def write(self, data: bytes) -> None:
        """Sends a piece of a stream; waits while the caller does not read."""
        await self._send({"type": "http.response.body", "body": data, "more_body": True})

    async def end_stream(self) -> None:
        """Sends the end of a stream."""
        await self._send({"type": "http.response.body", "body": b""})
        await self._settle()

    async def _start(self, status: int, headers: dict[str, str]) -> None:
        pairs = {**answering.COMMON_HEADERS, **headers, REQUEST_ID_KEY: self.request_id}
        encoded = [(name.encode("ascii"), value.encode("latin-1")) for name, value in pairs.items()]
        await self._send({"type": "http.response.start", "status": status, "headers": encoded})

    async def _settle(self) -> None:
        if self._gone is not None:
            self._gone.cancel()
            await asyncio.gather(self._gone, return_exceptions=True)


async def _result(response: Message) -> Answer:
    """A call's response; a large one is made into text on a thread, so that other calls go on."""
    if response.ByteSize() > THREAD_BYTES:
        return await asyncio.to_thread(answering.result, response)
    return answering.result(response)


def _changes_nothing(method: MethodDescriptor) -> bool:
    return bool(method.GetOptions().idempotency_level == MethodOptions.NO_SIDE_EFFECTS)


def _allowed(verbs: list[str]) -> str:
    return ", ".join(sorted({*verbs, "OPTIONS", *(["HEAD"] if "GET" in verbs else [])}))
