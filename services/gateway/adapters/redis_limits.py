"""What tenants use, in Redis or Valkey: the same for all replicas (SPEC G-5).

Each operation is one script over one key, timed by the server's clock alone. Keys of a tenant have one hash
tag, so that a cluster keeps them on one machine. They expire when they say nothing more: a bucket when it is
full, streams when the last one's time is over. A clock that goes back brings a bucket nothing, and takes
streams out whose time it could not have given; a living process brings its own back at the next renewal.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import redis.asyncio as aioredis
from redis.asyncio.cluster import RedisCluster
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import NoScriptError, RedisClusterException, RedisError

from services.gateway.domain.buckets import MICROS, Level, Rate
from services.kit.errors import DependencyDown, StartupError

FAILURES: Final = (RedisError, RedisClusterException, OSError, TimeoutError)
RETRIES: Final = 1  # a connection that broke while nobody used it shows it only in the first call over it
TAKE, CHARGE, LOOK = "take", "charge", "look"
HOLD, RENEW, RELEASE, HELD = "hold", "renew", "release", "held"
# As domain/buckets.py, in doubles: exact while capacity and debt are below 150 million tokens.
# KEYS: the bucket. ARGV: what to do, rate a minute, capacity, tokens. Answers microseconds to wait, and what
# is left.
BUCKET = """
local function text(n) return string.format('%.0f', n) end
local MINUTE = 60000000
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local what, rate = ARGV[1], tonumber(ARGV[2])
local full, cost = tonumber(ARGV[3]) * MINUTE, tonumber(ARGV[4]) * MINUTE
local level = full
local known = redis.call('HMGET', KEYS[1], 'level', 'at')
if known[1] and known[2] then
  level = math.min(full, tonumber(known[1]) + math.max(0, now - tonumber(known[2])) * rate)
end
local wait = 0
if what ~= 'charge' and level < cost then wait = math.ceil((cost - level) / rate) end
if what ~= 'look' then
  if wait == 0 then level = level - cost end
  redis.call('HSET', KEYS[1], 'level', text(level), 'at', text(now))
  redis.call('PEXPIRE', KEYS[1], text(math.ceil((full - level) / rate / 1000) + 1000))
end
return {wait, math.floor(level / MINUTE)}
"""
# KEYS: the streams of a tenant, by when they end. ARGV: what to do, how many may be open, microseconds of
# life, then the streams. Answers how many are open, or -1 where there was no room.
STREAMS = """
local function text(n) return string.format('%.0f', n) end
local time = redis.call('TIME')
local now, life = tonumber(time[1]) * 1000000 + tonumber(time[2]), tonumber(ARGV[3])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', text(now))
redis.call('ZREMRANGEBYSCORE', KEYS[1], '(' .. text(now + life), '+inf')
local what = ARGV[1]
if what == 'release' then redis.call('ZREM', KEYS[1], ARGV[4]) end
if what == 'hold' and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return -1 end
if what == 'hold' or what == 'renew' then
  for i = 4, #ARGV do redis.call('ZADD', KEYS[1], text(now + life), ARGV[i]) end
  redis.call('PEXPIRE', KEYS[1], text(math.ceil(life / 1000) + 1000))
end
return redis.call('ZCARD', KEYS[1])
"""
DIGESTS = {
    script: hashlib.sha1(script.encode(), usedforsecurity=False).hexdigest() for script in (BUCKET, STREAMS)
}


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
    prefix: str = "palimpsest:"
    """Begins every key; must hold no brace, for that would choose a cluster's machine."""
    life_seconds: float = 30.0
    """The life that streams are given."""


class RedisLimits:
    """A LimitStore. Made by `open`, which does not connect."""

    def __init__(self, client: Any, options: RedisOptions) -> None:
        self._client = client
        self._prefix = options.prefix
        self._seconds = options.timeout_seconds
        self._life = options.life_seconds
        # A cluster's client refuses a call for which it has no connection, rather than let it wait.
        self._free = asyncio.Semaphore(options.connections)

    @classmethod
    def open(cls, options: RedisOptions) -> RedisLimits:
        """A client for this URL. Raises StartupError, which never holds it, for one that cannot be."""
        if "{" in options.prefix:
            raise StartupError("a prefix of Redis keys must hold no brace")
        try:
            return cls(_client(options), options)
        except (ValueError, RedisError, RedisClusterException):
            raise StartupError("the URL of Redis cannot be used") from None  # the text may quote its password

    async def take(self, tenant: str, name: str, rate: Rate) -> Level:
        """See the port."""
        return await self._bucket(tenant, name, TAKE, rate, 1)

    async def charge(self, tenant: str, name: str, rate: Rate, cost: int) -> None:
        """See the port."""
        await self._bucket(tenant, name, CHARGE, rate, cost)

    async def look(self, tenant: str, name: str, rate: Rate) -> Level:
        """See the port."""
        return await self._bucket(tenant, name, LOOK, rate, 1)

    async def hold(self, tenant: str, holder: str, most: int, seconds: float) -> bool:
        """See the port."""
        return await self._streams(tenant, HOLD, most, seconds, holder) >= 0

    async def renew(self, tenant: str, holders: Sequence[str], seconds: float) -> None:
        """See the port."""
        await self._streams(tenant, RENEW, 0, seconds, *holders)

    async def release(self, tenant: str, holder: str) -> None:
        """See the port."""
        await self._streams(tenant, RELEASE, 0, self._life, holder)

    async def held(self, tenant: str) -> int:
        """See the port."""
        return await self._streams(tenant, HELD, 0, self._life)

    async def ping(self) -> None:
        """Raises DependencyDown where nothing answers."""
        await self._streams("", HELD, 0, self._life)

    async def close(self) -> None:
        """Ends the connections."""
        await self._client.aclose()

    async def _bucket(self, tenant: str, name: str, what: str, rate: Rate, cost: int) -> Level:
        key = self._key(tenant, name)
        wait, left = await self._run(BUCKET, key, what, rate.per_minute, rate.capacity, cost)
        return Level(left=left, wait=wait / MICROS)

    async def _streams(self, tenant: str, what: str, most: int, seconds: float, *holders: str) -> int:
        life = round(seconds * MICROS)
        return int(await self._run(STREAMS, self._key(tenant, "streams"), what, most, life, *holders))

    def _key(self, tenant: str, name: str) -> str:
        return f"{self._prefix}limits:{{{tenant}}}:{name}"

    async def _run(self, script: str, key: str, *arguments: str | int) -> Any:
        """The script's answer. Raises DependencyDown for none, and for an error."""
        try:
            async with asyncio.timeout(self._seconds), self._free:
                try:
                    return await self._client.evalsha(DIGESTS[script], 1, key, *arguments)
                except NoScriptError:  # the first time, and after a restart
                    return await self._client.eval(script, 1, key, *arguments)
        except FAILURES:
            raise DependencyDown("what was used is not known: Redis does not answer") from None


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
