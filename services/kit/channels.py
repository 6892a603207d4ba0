"""Outgoing calls: identity, request id and deadline are added, failures come back as our errors.

`ServiceChannel` wraps any `grpc.aio.Channel` (socket or in process), so generated stubs work unchanged and a
handler needs no `try` (SPEC SV-1, SV-6).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import grpc

from services.kit.context import current_call, time_remaining
from services.kit.errors import CredentialInvalid, DependencyDown, Internal
from services.kit.identity import BEARER, TokenSigner
from services.kit.status import REQUEST_ID_KEY, from_rpc_error

MAX_MESSAGE_BYTES = 20 * 1024 * 1024  # 16 MiB of content and its wrapping
CHANNEL_OPTIONS = (
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
    ("grpc.lb_policy_name", "round_robin"),
    ("grpc.keepalive_time_ms", 30_000),
)

MultiCallable = Callable[..., Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Channels:
    """Ready channels to the services; a service uses those that it needs."""

    embedder: grpc.aio.Channel
    episodic: grpc.aio.Channel
    semantic: grpc.aio.Channel
    compactor: grpc.aio.Channel
    gateway: grpc.aio.Channel
    """For its settings alone; nothing that a service needs to start."""


class ServiceChannel(grpc.aio.Channel):
    """A channel to one service (`audience`: "episodic", …); `timeouts` are seconds by method path."""

    def __init__(
        self, inner: grpc.aio.Channel, *, audience: str, signer: TokenSigner, timeouts: Mapping[str, float]
    ) -> None:
        self._inner = inner
        self._audience = audience
        self._signer = signer
        self._timeouts = timeouts

    def unary_unary(self, method: str, *args: Any, **kwargs: Any) -> Any:
        """A coroutine function: request in, response out."""
        return self._unary(method, self._inner.unary_unary(method, *args, **kwargs))

    def stream_unary(self, method: str, *args: Any, **kwargs: Any) -> Any:
        """A coroutine function: request iterator in, response out."""
        return self._unary(method, self._inner.stream_unary(method, *args, **kwargs))

    def unary_stream(self, method: str, *args: Any, **kwargs: Any) -> Any:
        """An async generator function: request in, responses out."""
        return self._stream(self._inner.unary_stream(method, *args, **kwargs))

    def stream_stream(self, method: str, *args: Any, **kwargs: Any) -> Any:
        """An async generator function: request iterator in, responses out."""
        return self._stream(self._inner.stream_stream(method, *args, **kwargs))

    def _unary(self, method: str, inner: MultiCallable) -> Callable[[Any], Awaitable[Any]]:
        default = self._timeouts.get(method)

        async def call(request: Any, *, timeout: float | None = None) -> Any:
            try:
                return await inner(request, timeout=_timeout(timeout or default), metadata=self._metadata())
            except grpc.aio.AioRpcError as error:
                raise _translate(error) from error

        return call

    def _stream(self, inner: MultiCallable) -> Callable[[Any], AsyncIterator[Any]]:
        async def call(request: Any, *, timeout: float | None = None) -> AsyncIterator[Any]:
            stream = inner(request, timeout=_timeout(timeout), metadata=self._metadata())
            try:
                async for response in stream:
                    yield response
            except grpc.aio.AioRpcError as error:
                raise _translate(error) from error
            finally:
                stream.cancel()

        return call

    def _metadata(self) -> tuple[tuple[str, str], ...]:
        call = current_call()
        if call is None or call.principal is None:
            raise CredentialInvalid("a call between services was made on nobody's behalf")
        token = self._signer.mint(call.principal, self._audience)
        return (("authorization", BEARER + token), (REQUEST_ID_KEY, call.request_id))

    async def close(self, grace: float | None = None) -> None:
        """Closes the channel beneath."""
        await self._inner.close(grace)

    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:
        """The channel's state."""
        return self._inner.get_state(try_to_connect)

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        """Waits until the state is another one."""
        await self._inner.wait_for_state_change(last_observed_state)

    async def channel_ready(self) -> None:
        """Waits until the channel is connected."""
        await self._inner.channel_ready()

    async def __aenter__(self) -> ServiceChannel:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def _timeout(wanted: float | None) -> float | None:
    """The smaller of what the call may take and what its caller's deadline leaves."""
    remaining = time_remaining()
    if remaining is None:
        return wanted
    return remaining if wanted is None else min(wanted, remaining)


def _translate(error: grpc.aio.AioRpcError) -> Exception:
    ours = from_rpc_error(error)
    if isinstance(ours, CredentialInvalid):
        return Internal()  # our own token was refused: not the caller's fault
    if error.code() is grpc.StatusCode.CANCELLED:
        return DependencyDown()
    return ours
