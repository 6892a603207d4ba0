"""Calls to a Qdrant server: the client, deadlines, retries, failures as DependencyDown (SPEC X-1, S-11)."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

import grpc
import structlog
from httpx import TransportError
from qdrant_client import AsyncQdrantClient
from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from services.kit.errors import DependencyDown
from services.kit.pauses import backoff

T = TypeVar("T")

PASSING_CODES = frozenset(
    (
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        grpc.StatusCode.ABORTED,
    )
)
PASSING_STATUSES = frozenset((408, 429, 502, 503, 504))
TIMEOUT = "timeout"
REFUSALS = frozenset(("UNAUTHENTICATED", "PERMISSION_DENIED", "401", "403"))
MISSING = frozenset(("NOT_FOUND", "404"))

GRPC_OPTIONS = {
    "grpc.lb_policy_name": "round_robin",
    "grpc.keepalive_time_ms": 30_000,
    "grpc.initial_reconnect_backoff_ms": 100,
    "grpc.max_reconnect_backoff_ms": 1_000,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLimits:
    """How long calls may take, in seconds, and how often they are tried."""

    read_seconds: float = 5.0
    """Of one attempt to search, count or list."""
    write_seconds: float = 30.0
    """Of one attempt to write, or to make or delete a collection."""
    attempts: int = 4
    first_pause_seconds: float = 0.1
    """At most before the second attempt; each pause may be twice the one before."""
    max_pause_seconds: float = 2.0


DEFAULT_LIMITS = CallLimits()


class QdrantDown(DependencyDown):
    """The vector server is not available; try again."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind
        """The status it failed with, "timeout", or the class of the exception: for logs and decisions."""


class NotApplied(Exception):
    """The server took a write, but does not say that it is applied: a search might miss it."""


class Calls:
    """Runs calls to the server until they succeed, or give no hope. All of them can be repeated."""

    def __init__(
        self,
        limits: CallLimits = DEFAULT_LIMITS,
        *,
        chance: Callable[[], float] = random.random,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._limits = limits
        self._chance = chance
        self._sleep = sleep
        self._closed = False
        self._log = structlog.get_logger("vectors")

    async def read(self, method: str, attempt: Callable[[], Awaitable[T]]) -> T:
        """What `attempt` returns. Raises QdrantDown."""
        return await self._run(method, attempt, self._limits.read_seconds)

    async def write(self, method: str, attempt: Callable[[], Awaitable[T]]) -> T:
        """Likewise, with a write's patience."""
        return await self._run(method, attempt, self._limits.write_seconds)

    def close(self) -> None:
        """Lets no more calls start."""
        self._closed = True

    async def _run(self, method: str, attempt: Callable[[], Awaitable[T]], seconds: float) -> T:
        for number in range(1, self._limits.attempts + 1):
            if self._closed:
                raise QdrantDown("closed")
            try:
                async with asyncio.timeout(seconds):
                    return await attempt()
            # Whatever an answer that makes no sense sets off in the client means the same: no answer.
            except Exception as error:
                kind, passing = _judged(error)
                if number == self._limits.attempts or not passing:
                    self._log.warning("vector_call_failed", method=method, kind=kind)
                    raise QdrantDown(kind) from error
            await self._sleep(self._pause(number))
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _pause(self, attempt: int) -> float:
        limits = self._limits
        return backoff(
            attempt, first=limits.first_pause_seconds, longest=limits.max_pause_seconds, chance=self._chance()
        )


def _judged(error: Exception) -> tuple[str, bool]:
    """What to call the failure (never the driver's text), and whether it may pass by itself."""
    match error:
        case TimeoutError():
            return TIMEOUT, True
        case grpc.aio.AioRpcError():
            return error.code().name, error.code() in PASSING_CODES
        case ResourceExhaustedResponse():
            return grpc.StatusCode.RESOURCE_EXHAUSTED.name, True
        case UnexpectedResponse():
            return str(error.status_code), error.status_code in PASSING_STATUSES
        case ResponseHandlingException():
            return type(error.source).__name__, isinstance(error.source, TransportError)
        case NotApplied():
            return "not_applied", True
        case _:
            return type(error).__name__, False


def connect(
    url: str,
    *,
    api_key: str = "",
    over_grpc: bool = True,
    grpc_port: int = 6334,
    limits: CallLimits = DEFAULT_LIMITS,
) -> AsyncQdrantClient:
    """A client of the server at `url` ("http://qdrant:6333"); over REST alone unless `over_grpc`.

    It connects with the first call. The deadlines of calls are `Calls`' own, for the client knows whole
    seconds only; its timeout is a little above them.
    """
    return AsyncQdrantClient(
        url=url,
        api_key=api_key or None,
        prefer_grpc=over_grpc,
        grpc_port=grpc_port,
        grpc_options=dict(GRPC_OPTIONS),
        pool_size=1 if over_grpc else None,
        timeout=math.ceil(max(limits.read_seconds, limits.write_seconds)) + 1,
        check_compatibility=False,  # a thread that asks over REST, which may be closed to us
    )
