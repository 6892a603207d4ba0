"""Copies of documents in Redis or Valkey, alone or as a cluster (SPEC K-1)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar, cast

import redis.asyncio as aioredis
from redis.asyncio.cluster import RedisCluster
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisClusterException, RedisError, ResponseError

from services.compactor.app.document_ports import MAX_VALUE_BYTES, KvDown, revision_of
from services.kit.errors import StartupError

T = TypeVar("T")

PREFIX = "palimpsest:"
FAILURES: Final = (RedisError, RedisClusterException, OSError, TimeoutError)
WRONG_TYPE = "WRONGTYPE"
NO_VALUE = b""  # for what is there and no text: has no revision, so it is replaced
RETRIES = 1  # a connection that broke while nobody used it shows it only in the first call over it
# KEYS: the key. ARGV: value, its revision, milliseconds. The first 16 bytes hold every revision and its colon
# (`revision_of`); a number of 15 digits is exact in Lua. What is there and is no text has no revision, and
# SET replaces it.
SET_UNLESS_NEWER = """
local start = redis.pcall('GETRANGE', KEYS[1], 0, 15)
if type(start) == 'string' then
  local there = tonumber(string.match(start, '^(%d+):'))
  if there and there > tonumber(ARGV[2]) then return 0 end
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
return 1
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisOptions:
    """How a Redis is used."""

    url: str
    """redis://, rediss:// or unix://; for a cluster, that of any of its machines. May hold a password."""
    cluster: bool = False
    timeout_seconds: float = 0.25
    """Longest a call may take, connecting included."""
    connections: int = 32
    """At most, and calls under way at a time; others wait, within their time."""
    prefix: str = PREFIX
    """Begins every key; must hold no brace, for that would choose a cluster's machine."""


class RedisKv:
    """A Kv. Made by `open`, which does not connect: a Redis that is away delays nothing."""

    def __init__(self, client: Any, options: RedisOptions) -> None:
        self._client = client
        self._prefix = options.prefix
        self._seconds = options.timeout_seconds
        # A cluster's client refuses a call for which it has no connection, rather than let it wait.
        self._free = asyncio.Semaphore(options.connections)

    @classmethod
    def open(cls, options: RedisOptions) -> RedisKv:
        """A client for this URL. Raises StartupError, which never holds it, for one that cannot be."""
        if "{" in options.prefix:
            raise StartupError("a prefix of Redis keys must hold no brace")
        try:
            return cls(_client(options), options)
        except (ValueError, RedisError, RedisClusterException):
            raise StartupError("the URL of Redis cannot be used") from None  # the text may quote its password

    async def get(self, key: str) -> bytes | None:
        """A value."""
        try:
            found = await self._call(lambda: self._client.get(self._prefix + key))
        except ResponseError as error:
            if str(error).startswith(WRONG_TYPE):
                return NO_VALUE
            raise KvDown from None
        return cast("bytes | None", found)

    async def set(self, key: str, value: bytes, *, seconds: float) -> bool:
        """Keeps a value unless a newer one is there."""
        revision = revision_of(value)
        if revision is None or len(value) > MAX_VALUE_BYTES:
            raise ValueError("not a value of the key-value store")
        arguments = (value, revision, max(1, round(seconds * 1000)))
        try:
            done = await self._call(
                lambda: self._client.eval(SET_UNLESS_NEWER, 1, self._prefix + key, *arguments)
            )
        except ResponseError:  # out of memory, a replica, no rights
            raise KvDown from None
        return bool(done)

    async def delete(self, key: str) -> None:
        """Forgets a value."""
        try:
            await self._call(lambda: self._client.delete(self._prefix + key))
        except ResponseError:
            raise KvDown from None

    async def close(self) -> None:
        """Ends the connections."""
        await self._client.aclose()

    async def _call(self, call: Callable[[], Awaitable[T]]) -> T:
        """Raises ResponseError for an answer that is an error, KvDown for no answer."""
        try:
            async with asyncio.timeout(self._seconds), self._free:
                return await call()
        except ResponseError:
            raise
        except FAILURES:
            raise KvDown from None


def _client(options: RedisOptions) -> Any:
    shared: dict[str, Any] = {
        "socket_timeout": options.timeout_seconds,
        "socket_connect_timeout": options.timeout_seconds,
        "retry": Retry(NoBackoff(), RETRIES),
        "client_name": "palimpsest",
    }
    if options.cluster:
        # Twice: a call that was cut off holds its connection until that is closed.
        return RedisCluster.from_url(options.url, max_connections=2 * options.connections, **shared)
    pool = aioredis.BlockingConnectionPool.from_url(
        options.url, max_connections=options.connections, timeout=options.timeout_seconds, **shared
    )
    return aioredis.Redis.from_pool(pool)
