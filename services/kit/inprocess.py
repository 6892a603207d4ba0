"""Calls between services that share a process (SPEC SV-4).

`InProcessServer` takes servicers like a `grpc.aio.Server`, with the same interceptors; `InProcessChannel` is
a `grpc.aio.Channel` to it. Messages are serialised and parsed, so nothing is shared between caller and
callee; each call runs in a task and a context of its own; status, details, metadata, deadline, cancellation
and backpressure are those of a socket. tests/contract/test_channel_parity.py runs one suite over both.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import grpc

from services.kit.inprocess_call import Deserializer, Handler, InProcessCall, Serializer


class InProcessServer:
    """Holds servicers; `add_<Service>_to_server` accepts it in place of a `grpc.aio.Server`."""

    def __init__(self, *, max_message_bytes: int = 0) -> None:
        self._interceptors: list[grpc.aio.ServerInterceptor] = []
        self._handlers: list[grpc.GenericRpcHandler] = []
        self._methods: dict[str, Handler] = {}
        self._mounted = asyncio.Event()
        self.max_message_bytes = max_message_bytes

    def add_interceptor(self, interceptor: grpc.aio.ServerInterceptor) -> None:
        """The first one added is the outermost."""
        self._interceptors.append(interceptor)

    def add_generic_rpc_handlers(self, generic_rpc_handlers: Iterable[grpc.GenericRpcHandler]) -> None:
        """As on a server."""
        self._handlers.extend(generic_rpc_handlers)

    def add_registered_method_handlers(
        self, service_name: str, method_handlers: Mapping[str, Handler]
    ) -> None:
        """As on a server."""
        for name, handler in method_handlers.items():
            self._methods[f"/{service_name}/{name}"] = handler
        self._mounted.set()

    def channel(self) -> InProcessChannel:
        """A channel to this server."""
        return InProcessChannel(self)

    async def find(self, details: grpc.HandlerCallDetails) -> Handler | None:
        """The handler of a call, wrapped by the interceptors; None for an unknown method.

        Services that need each other start in some order: a call waits until a servicer is added.
        """
        await self._mounted.wait()
        return await self._intercept(0, details)

    async def _intercept(self, index: int, details: grpc.HandlerCallDetails) -> Handler | None:
        if index == len(self._interceptors):
            return self._lookup(details)

        async def rest(inner: grpc.HandlerCallDetails) -> Handler | None:
            return await self._intercept(index + 1, inner)

        return await self._interceptors[index].intercept_service(rest, details)

    def _lookup(self, details: grpc.HandlerCallDetails) -> Handler | None:
        known = self._methods.get(details.method)
        if known is not None:
            return known
        for generic in self._handlers:
            handler = generic.service(details)
            if handler is not None:
                return handler
        return None


class InProcessChannel(grpc.aio.Channel):
    """A channel to an `InProcessServer`."""

    def __init__(self, server: InProcessServer) -> None:
        self._server = server

    def unary_unary(
        self,
        method: str,
        request_serializer: Any = None,
        response_deserializer: Any = None,
        _registered_method: bool | None = False,
    ) -> Any:
        """As on a channel."""
        return self._callable(method, request_serializer, response_deserializer, request_streaming=False)

    unary_stream = unary_unary  # how responses come is the call's reader's affair

    def stream_unary(
        self,
        method: str,
        request_serializer: Any = None,
        response_deserializer: Any = None,
        _registered_method: bool | None = False,
    ) -> Any:
        """As on a channel."""
        return self._callable(method, request_serializer, response_deserializer, request_streaming=True)

    stream_stream = stream_unary  # how responses come is the call's reader's affair

    def _callable(
        self, method: str, serialize: Serializer, deserialize: Deserializer, *, request_streaming: bool
    ) -> Callable[..., InProcessCall]:
        def start(
            request: Any = None, *, timeout: float | None = None, metadata: Any = None, **_: Any
        ) -> InProcessCall:
            return InProcessCall(
                self._server,
                method,
                request,
                request_streaming=request_streaming,
                serialize=serialize,
                deserialize=deserialize,
                timeout=timeout,
                metadata=metadata,
            )

        return start

    async def close(self, grace: float | None = None) -> None:
        """There is nothing to close."""

    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:  # noqa: ARG002
        """Always ready."""
        return grpc.ChannelConnectivity.READY

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        """Returns unless the caller already knows that it is ready; then it waits for ever."""
        if last_observed_state is grpc.ChannelConnectivity.READY:
            await asyncio.Event().wait()

    async def channel_ready(self) -> None:
        """At once."""

    async def __aenter__(self) -> InProcessChannel:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
