"""The Model Context Protocol over streamable HTTP, without sessions (SPEC G-10).

Each request is complete in itself: its key is checked, and it names agent and conversation in its query. So
any replica answers any request, nothing is held between two of them, and no session can be taken over with
another key. A caller that leaves cancels its call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from urllib.parse import parse_qsl

import grpc
import structlog
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from palimpsest.client import DEFAULT_AGENT, AsyncClient
from palimpsest.mcp.place import DEFAULT_CONVERSATION, Place
from palimpsest.mcp.server import Context, make_server
from services.gateway.http import answering, heads
from services.gateway.http.answering import COMMON_HEADERS, JSON_TYPE, Answer, Refused
from services.gateway.http.bodies import Bodies, Gone, discard, leaves
from services.gateway.http.heads import Head
from services.gateway.http.limits import MAX_BODY_BYTES, OVERLOADED_RETRY_SECONDS
from services.gateway.http.refusals import Refusals
from services.kit.errors import Internal, InvalidField, NotAllowed, Overloaded, PalimpsestError, UnknownMethod
from services.kit.identity import Authenticator, bearer_of
from services.kit.logs import frames_of

MAX_REQUESTS = 128
"""Requests under way at one time; more get OVERLOADED."""
ANY = "*"


class McpFace:
    """An ASGI application over the gateway's own services."""

    def __init__(
        self,
        channel: grpc.aio.Channel,
        *,
        authenticator: Authenticator,
        origins: Sequence[str],
        most_requests: int = MAX_REQUESTS,
        refusals: Refusals | None = None,
    ) -> None:
        """`origins`: whose pages may call; requests of other pages are refused (DNS rebinding)."""
        self._client = AsyncClient.over(channel)
        self._server = make_server(self._place)
        self._authenticator = authenticator
        self._origins = frozenset(origins)
        self._most = most_requests
        self._under_way = 0
        self._refusals = refusals or Refusals()
        self._bodies = Bodies()
        self._log = structlog.get_logger("mcp")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        exchange = _Exchange(scope, receive, send)
        try:
            answer = await self._answer(exchange)
        except Gone:
            return
        except Refused as error:
            self._refusals.count(error.error)
            answer = answering.refused(error)
        except PalimpsestError as error:
            self._refusals.count(error)
            answer = answering.failed(error)
        except Exception as error:  # noqa: BLE001 - the last line of defence: logged, then a constant text
            self._log.error("mcp_fault", error=type(error).__name__, trace=frames_of(error))
            answer = answering.failed(Internal())
        if answer is not None:
            await exchange.finish(answer)

    async def _answer(self, exchange: _Exchange) -> Answer | None:
        """An answer of our own; None where the protocol's was sent."""
        head = exchange.read_head()
        self._check(head)
        await self._authenticator.authenticate(head.metadata)
        if self._under_way >= self._most:
            raise Overloaded("too many requests at once", retry_after=OVERLOADED_RETRY_SECONDS)
        self._under_way += 1
        try:
            async with self._bodies.read(head, exchange.receive) as body:
                exchange.unread = False
                await self._serve(exchange, body)
        finally:
            self._under_way -= 1
        return None

    def _check(self, head: Head) -> None:
        """Raises Refused: for a verb that there is not, as there are no sessions; for a page of elsewhere;
        for a parameter that comes twice, which two readers could read differently."""
        if head.verb != "POST":
            raise Refused(405, UnknownMethod("this path has POST alone"), {"allow": "POST"})
        origin = head.headers.get("origin")
        if origin is not None and not self._origins & {origin, ANY}:
            raise Refused(403, NotAllowed("pages of this origin may not call"))
        given = [name for name, _ in parse_qsl(head.query.decode("latin-1"), keep_blank_values=True)]
        if len(given) != len(set(given)):
            raise Refused(400, InvalidField("query", "names a parameter more than once"))

    async def _serve(self, exchange: _Exchange, body: bytes) -> None:
        """Until the request is answered or its caller has left."""
        manager = StreamableHTTPSessionManager(
            self._server, json_response=True, stateless=True, max_request_body_size=MAX_BODY_BYTES
        )
        gone = asyncio.ensure_future(leaves(exchange.receive))

        async def handle() -> None:
            async with manager.run():
                await manager.handle_request(exchange.scope, _replayed(body, gone), exchange.send)

        handling = asyncio.ensure_future(handle())
        try:
            await asyncio.wait((handling, gone), return_when=asyncio.FIRST_COMPLETED)
            if handling.done():
                handling.result()
        finally:
            for task in (handling, gone):
                task.cancel()
            await asyncio.gather(handling, gone, return_exceptions=True)

    def _place(self, context: Context) -> Place:
        """As the request says: its key, and ?agent=…&conversation=…"""
        request = context.request
        assert request is not None
        query = request.query_params
        key = bearer_of(request.headers)
        return Place(
            client=self._client.with_key(key, agent=query.get("agent") or DEFAULT_AGENT),
            conversation_id=query.get("conversation") or DEFAULT_CONVERSATION,
        )


class _Exchange:
    """One request and its answer, on the wire."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scope, self.receive, self._send = scope, receive, send
        self.unread = False
        """Whether a body may still come."""
        self._started = False

    def read_head(self) -> Head:
        """Raises Refused, CredentialInvalid."""
        head = heads.read(self.scope, heads.request_id(self.scope))
        self.unread = head.has_body and "expect" not in head.headers
        return head

    async def send(self, message: Message) -> None:
        """The protocol's answer."""
        self._started = True
        await self._send(message)

    async def finish(self, answer: Answer) -> None:
        """Sends an answer of our own, unless the protocol's has begun; the connection ends with it."""
        if self._started:
            return
        if self.unread:
            await discard(self.receive)
        headers = {**COMMON_HEADERS, "connection": "close", **answer.headers}
        response = Response(answer.body, answer.status, media_type=JSON_TYPE, headers=headers)
        await response(self.scope, self.receive, self._send)


def _replayed(body: bytes, gone: Awaitable[None]) -> Callable[[], Awaitable[Message]]:
    """A `receive` that gives a body that was read already, then waits for the caller to leave."""
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        if pending:
            return pending.pop()
        await asyncio.shield(asyncio.ensure_future(gone))
        return {"type": "http.disconnect"}

    return receive
