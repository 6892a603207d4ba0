"""Clients of Redis or Valkey, alone or as a cluster. To be imported only where the driver is installed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.cluster import RedisCluster
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisClusterException, RedisError

from services.kit.errors import StartupError

T = TypeVar("T")

PREFIX: Final = "palimpsest:"
FAILURES: Final = (RedisError, RedisClusterException, OSError, TimeoutError)
"""What a call raises that got no answer, or an error for one."""
RETRIES: Final = 1  # a connection that broke while nobody used it shows it only in the first call over it


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisOptions:
    """How a Redis is used."""

    url: str
    """redis://, rediss:// or unix://; for a cluster, that of any of its machines. May hold a password."""
    cluster: bool = False
    timeout_seconds: float = 0.25
    """Longest a call may take, connecting included."""
    connections: int = 16
    """At most, and calls under way at a time; others wait, within their time."""
    prefix: str = PREFIX
    """Begins every key; must hold no brace, for that would choose a cluster's machine."""


class RedisCalls:
    """Calls of a client, each within its time. Made by `open`, which does not connect: a Redis that is away
    delays nothing."""

    def __init__(self, client: Any, options: RedisOptions) -> None:
        self.prefix: Final = options.prefix
        self._client = client
        self._seconds = options.timeout_seconds
        # A cluster's client refuses a call for which it has no connection, rather than let it wait.
        self._free = asyncio.Semaphore(options.connections)

    @classmethod
    def open(cls, options: RedisOptions) -> RedisCalls:
        """Raises StartupError, which never holds the URL, for options that cannot be."""
        return cls(open_client(options), options)

    async def run(self, call: Callable[[Any], Awaitable[T]]) -> T:
        """What `call` gets by the driver's client. Raises one of FAILURES."""
        async with asyncio.timeout(self._seconds), self._free:
            return await call(self._client)

    async def close(self) -> None:
        """Ends the connections."""
        await self._client.aclose()


def open_client(options: RedisOptions, *, answers_late: bool = False) -> Redis | RedisCluster:
    """The driver's client, not connected yet; `answers_late`: the time is for connecting alone.

    Raises StartupError, which never holds the URL, for options that cannot be.
    """
    if "{" in options.prefix:
        raise StartupError("a prefix of Redis keys must hold no brace")
    shared: dict[str, Any] = {
        "socket_timeout": None if answers_late else options.timeout_seconds,
        "socket_connect_timeout": options.timeout_seconds,
        "retry": Retry(NoBackoff(), RETRIES),
        "client_name": "palimpsest",
    }
    try:
        if options.cluster:
            # Twice: a call that was cut off holds its connection until that is closed.
            return RedisCluster.from_url(options.url, max_connections=2 * options.connections, **shared)
        pool = BlockingConnectionPool.from_url(
            options.url, max_connections=options.connections, timeout=options.timeout_seconds, **shared
        )
        return Redis.from_pool(pool)
    except (ValueError, RedisError, RedisClusterException):
        # The driver's text may quote the password.
        raise StartupError(
            "the URL of Redis (setting …_REDIS_URL) cannot be used: it begins with redis://, rediss:// or unix://"
        ) from None
