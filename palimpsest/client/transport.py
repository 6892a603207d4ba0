"""One channel to a gateway: credentials, deadlines, retries, and errors with a reason."""

from __future__ import annotations

import asyncio
import copy
import time
import uuid
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import grpc
from google.protobuf.message import Message

from palimpsest.chat.v1.chat_pb2_grpc import ChatServiceStub
from palimpsest.client.failures import REQUEST_ID_KEY, is_described, to_error
from palimpsest.client.policy import RetryPolicy, gateway_policy
from palimpsest.derived.v1.derived_pb2_grpc import DerivedWorkServiceStub
from palimpsest.documents.v1.documents_pb2_grpc import DocumentsServiceStub
from palimpsest.errors import CallCancelledError, InternalError, PalimpsestError, UnavailableError
from palimpsest.gateway.v1.gateway_pb2_grpc import GatewayServiceStub
from palimpsest.graph.v1.graph_pb2_grpc import GraphServiceStub
from palimpsest.history.v1.history_pb2_grpc import HistoryServiceStub
from palimpsest.insight.v1.insight_pb2_grpc import InsightServiceStub
from palimpsest.search.v1.search_pb2_grpc import SearchServiceStub
from palimpsest.settings.v1.settings_pb2_grpc import SettingsServiceStub
from palimpsest.state.v1.state_pb2_grpc import StateServiceStub
from palimpsest.tools.v1.tools_pb2_grpc import ToolServiceStub
from palimpsest.working.v1.working_pb2_grpc import WorkingMemoryServiceStub

if TYPE_CHECKING:
    from palimpsest.chat.v1.chat_pb2_grpc import ChatServiceAsyncStub
    from palimpsest.derived.v1.derived_pb2_grpc import DerivedWorkServiceAsyncStub
    from palimpsest.documents.v1.documents_pb2_grpc import DocumentsServiceAsyncStub
    from palimpsest.gateway.v1.gateway_pb2_grpc import GatewayServiceAsyncStub
    from palimpsest.graph.v1.graph_pb2_grpc import GraphServiceAsyncStub
    from palimpsest.history.v1.history_pb2_grpc import HistoryServiceAsyncStub
    from palimpsest.insight.v1.insight_pb2_grpc import InsightServiceAsyncStub
    from palimpsest.search.v1.search_pb2_grpc import SearchServiceAsyncStub
    from palimpsest.settings.v1.settings_pb2_grpc import SettingsServiceAsyncStub
    from palimpsest.state.v1.state_pb2_grpc import StateServiceAsyncStub
    from palimpsest.tools.v1.tools_pb2_grpc import ToolServiceAsyncStub
    from palimpsest.working.v1.working_pb2_grpc import WorkingMemoryServiceAsyncStub

RequestT = TypeVar("RequestT", bound=Message, contravariant=True)
ResponseT = TypeVar("ResponseT")

MAX_RECEIVED_BYTES = 64 * 1024 * 1024
"""Room for the largest page: 1,000 messages of 32 KiB, and their frames."""

CHANNEL_OPTIONS = (
    ("grpc.max_receive_message_length", MAX_RECEIVED_BYTES),
    # This client's own retries carry request ids and honour RetryInfo; gRPC's would multiply them.
    ("grpc.enable_retries", 0),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 2000),
    # A watch may be silent for hours: a connection that died meanwhile is found out.
    ("grpc.keepalive_time_ms", 30_000),
)

Metadata = tuple[tuple[str, str], ...]


class UnaryMethod(Protocol[RequestT, ResponseT]):
    """A unary method of an asynchronous stub."""

    def __call__(
        self, request: RequestT, /, *, timeout: float | None = None, metadata: Any = None
    ) -> grpc.aio.UnaryUnaryCall[Any, ResponseT]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Stubs:
    """One a proto service, all over the same channel."""

    gateway: GatewayServiceAsyncStub
    history: HistoryServiceAsyncStub
    working: WorkingMemoryServiceAsyncStub
    state: StateServiceAsyncStub
    documents: DocumentsServiceAsyncStub
    settings: SettingsServiceAsyncStub
    insights: InsightServiceAsyncStub
    graph: GraphServiceAsyncStub
    chat: ChatServiceAsyncStub
    derived: DerivedWorkServiceAsyncStub
    search: SearchServiceAsyncStub
    tools: ToolServiceAsyncStub


def new_request_id() -> str:
    """An id that no other request has."""
    return uuid.uuid4().hex


class Transport:
    """Calls a gateway. Belongs to the event loop in which its first call is made."""

    def __init__(
        self,
        target: str,
        *,
        api_key: str | None,
        timeout: float | None = None,
        retries: RetryPolicy | None = None,
        credentials: grpc.ChannelCredentials | None = None,
        channel: grpc.aio.Channel | None = None,
    ) -> None:
        """Over `channel` if one is given, which stays open; else over one of its own."""
        self.target = target
        self.retries = retries or gateway_policy().retries
        self._timeout = timeout
        self._timeouts = gateway_policy().timeouts
        self._authorization = _authorization(api_key)
        self._given = channel
        self._credentials = credentials
        self._channel: grpc.aio.Channel | None = None
        self._stubs: Stubs | None = None
        self._closed = False

    @property
    def stubs(self) -> Stubs:
        """The stubs. The first use opens the channel, so that a client can be made outside of a loop."""
        if self._stubs is None:
            if self._closed:
                raise RuntimeError("the client is closed")
            channel = self._given or self._own()
            self._stubs = Stubs(
                gateway=GatewayServiceStub(channel),
                history=HistoryServiceStub(channel),
                working=WorkingMemoryServiceStub(channel),
                state=StateServiceStub(channel),
                documents=DocumentsServiceStub(channel),
                settings=SettingsServiceStub(channel),
                insights=InsightServiceStub(channel),
                graph=GraphServiceStub(channel),
                chat=ChatServiceStub(channel),
                derived=DerivedWorkServiceStub(channel),
                search=SearchServiceStub(channel),
                tools=ToolServiceStub(channel),
            )
        return self._stubs

    @property
    def stub(self) -> GatewayServiceAsyncStub:
        """The gateway's own stub."""
        return self.stubs.gateway

    def with_key(self, api_key: str | None) -> Transport:
        """One with another key over the same channel and stubs, which are this one's to close."""
        self.stubs  # noqa: B018 - opens the channel, so that both have it
        other = copy.copy(self)
        other._authorization, other._channel = _authorization(api_key), None
        return other

    def _own(self) -> grpc.aio.Channel:
        self._channel = (
            grpc.aio.insecure_channel(self.target, options=CHANNEL_OPTIONS)
            if self._credentials is None
            else grpc.aio.secure_channel(self.target, self._credentials, options=CHANNEL_OPTIONS)
        )
        return self._channel

    async def close(self) -> None:
        """Ends running calls and the channel. Again is no change."""
        self._closed, self._stubs = True, None
        channel, self._channel = self._channel, None
        if channel is not None:
            await channel.close()

    def metadata(self, request_id: str) -> Metadata:
        """What goes with every call."""
        return (*self._authorization, (REQUEST_ID_KEY, request_id))

    def default_timeout(self, method: str) -> float:
        """Seconds that a call of the method, or a silence of its stream, may take."""
        if self._timeout is not None:
            return self._timeout
        return self._timeouts.get(method, max(self._timeouts.values()))

    async def call(
        self,
        method: UnaryMethod[RequestT, ResponseT],
        request: RequestT,
        *,
        timeout: float | None = None,
        retry: bool | None = None,
    ) -> ResponseT:
        """The answer. The timeout spans all attempts; the same request, ids and all, is sent again.

        Whether a failed call is tried again is the service config's to say, unless `retry` does.
        """
        name = _method_name(request)
        seconds = timeout if timeout is not None else self.default_timeout(name)
        retry = name in gateway_policy().retried if retry is None else retry
        deadline = time.monotonic() + seconds
        request_id = new_request_id()
        attempt = 0
        while True:
            attempt += 1
            try:
                return await method(
                    request,
                    timeout=max(deadline - time.monotonic(), 0.001),
                    metadata=self.metadata(request_id),
                )
            except grpc.aio.AioRpcError as failure:
                error = to_error(failure, request_id)
                delay = self.retries.delay(error, attempt) if retry else None
                if delay is None or time.monotonic() + delay >= deadline:
                    raise error from failure
            await asyncio.sleep(delay)

    async def resumed(
        self, method: Callable[..., Any], request: Callable[[], Message]
    ) -> AsyncGenerator[Any, None]:
        """Responses of a stream that is opened again when it breaks off in a way that may pass.

        `request` is asked anew each time, so that it can say where to go on.
        """
        attempt = 0
        while True:
            attempt += 1
            request_id = new_request_id()
            call: Any = method(request(), metadata=self.metadata(request_id))
            try:
                async for response in call:
                    attempt = 1
                    yield response
                return
            except grpc.aio.AioRpcError as failure:
                error = to_error(failure, request_id)
                if self._closed:
                    raise error from failure
                await self.backoff(_passing(error, failure), attempt)
            finally:
                call.cancel()

    async def streamed(
        self, method: Callable[..., Any], request: Message, *, timeout: float | None = None
    ) -> AsyncGenerator[Any, None]:
        """Responses of a stream that comes to an end; called again only while nothing has come.

        The timeout spans all of it; without one there is none.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        request_id, attempt, begun = new_request_id(), 0, False
        while True:
            attempt += 1
            left = None if deadline is None else max(deadline - time.monotonic(), 0.001)
            call: Any = method(request, timeout=left, metadata=self.metadata(request_id))
            try:
                async for response in call:
                    begun = True
                    yield response
                return
            except grpc.aio.AioRpcError as failure:
                error = to_error(failure, request_id)
                delay = None if begun or self._closed else self.retries.delay(error, attempt)
                if delay is None or (deadline is not None and time.monotonic() + delay >= deadline):
                    raise error from failure
            finally:
                call.cancel()
            await asyncio.sleep(delay)

    async def backoff(self, error: PalimpsestError, attempt: int) -> None:
        """Waits before a stream is opened again; raises the error when there is no point in that."""
        delay = self.retries.delay(error, attempt)
        if delay is None:
            raise error
        await asyncio.sleep(delay)


def _authorization(api_key: str | None) -> Metadata:
    return (("authorization", f"Bearer {api_key}"),) if api_key else ()


def _passing(error: PalimpsestError, failure: grpc.aio.AioRpcError) -> PalimpsestError:
    """A server that stops ends its streams with codes that say nothing of why: that passes."""
    if isinstance(error, CallCancelledError | InternalError) and not is_described(failure):
        return UnavailableError("the stream broke off", request_id=error.request_id)
    return error


def _method_name(request: Message) -> str:
    """Each method has a request message of its own, named after it."""
    return type(request).__name__.removesuffix("Request")
