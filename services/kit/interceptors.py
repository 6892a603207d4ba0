"""The one server interceptor: what happens around every call, in order.

Request id, error mapping, metrics and log, authentication, role, deadline, budgets; then each message that
comes in is checked before the handler sees it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, NoReturn, TypeAlias

import grpc
import structlog
from google.protobuf.message import DecodeError, Message

from services.kit import context as calls
from services.kit import request_ids
from services.kit.admission import Admission, Unlimited
from services.kit.context import CallInfo
from services.kit.errors import (
    CredentialInvalid,
    DeadlineExceeded,
    DependencyDown,
    Internal,
    InvalidRequest,
    NotAllowed,
    PalimpsestError,
    UnknownMethod,
)
from services.kit.identity import AUTHORIZATION, Authenticator, Principal, Role, check_one_credential
from services.kit.ids import new_id
from services.kit.logs import frames_of
from services.kit.metrics import Metrics
from services.kit.status import DETAILS_KEY, REQUEST_ID_KEY, to_status
from services.kit.tenants import SYSTEM_TENANT
from services.kit.validation import check_request

OPEN_PREFIXES = ("/grpc.health.v1.Health/", "/grpc.reflection.")
TIMEOUT_REASON = "the server's deadline passed"


class _Unreadable:
    """What stands for a request whose bytes are no message of its type."""


Incoming: TypeAlias = "Message | _Unreadable"
Context = grpc.aio.ServicerContext[Any, Any]
Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
Continuation: TypeAlias = "Callable[[grpc.HandlerCallDetails], Awaitable[Handler | None]]"


class CallInterceptor(grpc.aio.ServerInterceptor):
    """Serves the methods named in `roles` (full method path -> least role) and no others."""

    def __init__(
        self,
        *,
        authenticator: Authenticator,
        roles: Mapping[str, Role],
        timeouts: Mapping[str, float],
        metrics: Metrics,
        authenticators: Mapping[str, Authenticator] | None = None,
        admission: Admission | None = None,
    ) -> None:
        """`authenticators` are those of methods whose callers are others than everybody's; without an
        `admission`, callers may call as much as they like."""
        self._authenticator = authenticator
        self._authenticators = authenticators or {}
        self._admission = admission or Unlimited()
        self._roles = roles
        self._timeouts = timeouts
        self._metrics = metrics
        self._wrapped: dict[str, tuple[Handler, Handler]] = {}  # by method: a handler, and with all around it
        self._log = structlog.get_logger("rpc")

    async def intercept_service(
        self, continuation: Continuation, handler_call_details: grpc.HandlerCallDetails
    ) -> Handler:
        """Wraps the handler of one call."""
        method = handler_call_details.method
        handler = await continuation(handler_call_details)
        if method.startswith(OPEN_PREFIXES) and handler is not None:
            return handler
        if handler is None:
            return grpc.unary_unary_rpc_method_handler(self._unknown)
        known = self._wrapped.get(method)
        if known is None or known[0] is not handler:
            known = self._wrapped[method] = (handler, self._wrap(method, handler))
        return known[1]

    async def _unknown(self, _request: bytes, context: Context) -> NoReturn:
        await _abort(context, UnknownMethod(), new_id())

    def _wrap(self, method: str, handler: Handler) -> Handler:
        inner: Any = handler
        streaming: bool = inner.response_streaming
        coding = {
            "request_deserializer": _reading(inner.request_deserializer),
            "response_serializer": inner.response_serializer,
        }

        async def unary(request: Incoming, context: Context) -> Any:
            async with self._guard(method, context, streaming) as principal:
                _check(request, principal)
                return await inner.unary_unary(request, context)

        async def unary_stream(request: Incoming, context: Context) -> AsyncIterator[Any]:
            async with self._guard(method, context, streaming) as principal:
                _check(request, principal)
                async for response in _responses(inner.unary_stream(request, context)):
                    yield response

        async def stream_unary(requests: AsyncIterator[Incoming], context: Context) -> Any:
            async with self._guard(method, context, streaming) as principal:
                return await inner.stream_unary(_checked(requests, principal), context)

        async def stream_stream(requests: AsyncIterator[Incoming], context: Context) -> AsyncIterator[Any]:
            async with self._guard(method, context, streaming) as principal:
                async for response in _responses(inner.stream_stream(_checked(requests, principal), context)):
                    yield response

        match (inner.request_streaming, streaming):
            case (False, False):
                return grpc.unary_unary_rpc_method_handler(unary, **coding)
            case (False, True):
                return grpc.unary_stream_rpc_method_handler(unary_stream, **coding)
            case (True, False):
                return grpc.stream_unary_rpc_method_handler(stream_unary, **coding)
            case _:
                return grpc.stream_stream_rpc_method_handler(stream_stream, **coding)

    @asynccontextmanager
    async def _guard(self, method: str, context: Context, streaming: bool) -> AsyncIterator[Principal]:
        started = time.monotonic()
        pairs = tuple(context.invocation_metadata() or ())
        metadata: Mapping[str, Any] = dict(pairs)
        request_id = _request_id(pairs)
        context.set_trailing_metadata(((REQUEST_ID_KEY, request_id),))
        code = grpc.StatusCode.OK.name
        failure: PalimpsestError | None = None
        try:
            async with asyncio.timeout(self._default_timeout(method, context)):
                check_one_credential(pairs)
                principal = await self._admit(method, metadata)
                # Each call has a task of its own, so the variable needs no reset.
                calls.enter(
                    CallInfo(
                        request_id=request_id,
                        principal=principal,
                        deadline=_deadline(context, started, self._timeouts.get(method)),
                    )
                )
                async with self._admission.enter(principal, streaming=streaming):
                    yield principal
        except PalimpsestError as error:
            failure = error
        except TimeoutError:
            failure = DeadlineExceeded(TIMEOUT_REASON)
        except grpc.aio.AbortError:
            code = "ABORTED_BY_HANDLER"
            raise
        except (asyncio.CancelledError, GeneratorExit):
            code = grpc.StatusCode.CANCELLED.name
            raise
        except (OSError, MemoryError) as error:
            self._log_fault(method, request_id, error)
            failure = DependencyDown()
        except Exception as error:  # noqa: BLE001 - the last line of defence: logged, then a constant text
            self._log_fault(method, request_id, error)
            failure = Internal()
        finally:
            seconds = time.monotonic() - started
            if failure is not None:
                code = failure.reason
                self._log.info(
                    "call_failed", rpc=method, request_id=request_id, code=code, seconds=round(seconds, 4)
                )
            self._metrics.observe_call(method, code, seconds)
        if failure is not None:
            await _abort(context, failure, request_id)

    async def _admit(self, method: str, metadata: Mapping[str, Any]) -> Principal:
        authenticator = self._authenticators.get(method, self._authenticator)
        principal = await authenticator.authenticate(metadata)
        if principal.tenant == SYSTEM_TENANT and principal.role is not Role.SERVICE:
            raise CredentialInvalid
        least = self._roles.get(method)
        if least is None:
            raise UnknownMethod
        if principal.role < least:
            raise NotAllowed(f"this call needs the role {least.name.lower()}")
        return principal

    def _default_timeout(self, method: str, context: Context) -> float | None:
        return None if context.time_remaining() is not None else self._timeouts.get(method)

    def _log_fault(self, method: str, request_id: str, error: BaseException) -> None:
        self._log.error(
            "call_fault",
            rpc=method,
            request_id=request_id,
            error=type(error).__name__,
            trace=frames_of(error),
        )


def _deadline(context: Context, started: float, default: float | None) -> float | None:
    remaining = context.time_remaining()
    if remaining is not None:
        return time.monotonic() + remaining
    return None if default is None else started + default


async def _responses(produced: AsyncIterator[Any] | Awaitable[None]) -> AsyncIterator[Any]:
    """What a handler yields; nothing from one that is a coroutine and writes to its context itself."""
    if isinstance(produced, AsyncIterator):
        async for response in produced:
            yield response
    else:
        await produced


def _reading(deserializer: Callable[[bytes], Any] | None) -> Callable[[bytes], Any] | None:
    """The deserializer, with _Unreadable in place of an error: gRPC would answer its text, and no reason."""
    if deserializer is None:
        return None
    read = deserializer

    def lenient(message: bytes) -> Any:
        try:
            return read(message)
        except DecodeError:
            return _Unreadable()

    return lenient


def _check(request: Incoming, principal: Principal) -> Message:
    if isinstance(request, _Unreadable):
        raise InvalidRequest("the request cannot be read as a message of its type, with texts in UTF-8")
    check_request(request, principal)
    return request


async def _checked(requests: AsyncIterator[Incoming], principal: Principal) -> AsyncIterator[Message]:
    async for request in requests:
        yield _check(request, principal)


def _request_id(metadata: Sequence[tuple[str, Any]]) -> str:
    given = next((value for key, value in metadata if key == REQUEST_ID_KEY), None)
    return request_ids.request_id(given, [value for key, value in metadata if key == AUTHORIZATION])


async def _abort(context: Context, error: PalimpsestError, request_id: str) -> NoReturn:
    status = to_status(error)
    code = next(code for code in grpc.StatusCode if code.value[0] == status.code)
    trailing = ((REQUEST_ID_KEY, request_id), (DETAILS_KEY, status.SerializeToString()))
    await context.abort(code, status.message, trailing)
    raise AssertionError("abort raises")
