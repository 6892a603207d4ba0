"""What tenants use, in Redis or Valkey: the same for all replicas (SPEC G-5).

Each operation is one script over one key, timed by the server's clock alone. Keys of a tenant have one hash
tag, so that a cluster keeps them on one machine. They expire when they say nothing more: a bucket when it is
full, streams when the last one's time is over. A clock that goes back brings a bucket nothing, and takes
streams out whose time it could not have given; a living process brings its own back at the next renewal.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from redis.exceptions import NoScriptError

from services.gateway.app.admitting import LEASE_SECONDS
from services.gateway.domain.buckets import MICROS, Level, Rate
from services.kit.errors import DependencyDown
from services.kit.redis import FAILURES, RedisCalls, RedisOptions

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


class RedisLimits:
    """A LimitStore. Made by `open`, which does not connect."""

    def __init__(self, redis: RedisCalls) -> None:
        self._redis = redis

    @classmethod
    def open(cls, options: RedisOptions) -> RedisLimits:
        """Over the Redis of these options. Raises StartupError, which never holds the URL."""
        return cls(RedisCalls.open(options))

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
        await self._streams(tenant, RELEASE, 0, LEASE_SECONDS, holder)

    async def held(self, tenant: str) -> int:
        """See the port."""
        return await self._streams(tenant, HELD, 0, LEASE_SECONDS)

    async def ping(self) -> None:
        """Raises DependencyDown where nothing answers."""
        await self._streams("", HELD, 0, LEASE_SECONDS)

    async def close(self) -> None:
        """Ends the connections."""
        await self._redis.close()

    async def _bucket(self, tenant: str, name: str, what: str, rate: Rate, cost: int) -> Level:
        key = self._key(tenant, name)
        wait, left = await self._run(BUCKET, key, what, rate.per_minute, rate.capacity, cost)
        return Level(left=left, wait=wait / MICROS)

    async def _streams(self, tenant: str, what: str, most: int, seconds: float, *holders: str) -> int:
        life = round(seconds * MICROS)
        return int(await self._run(STREAMS, self._key(tenant, "streams"), what, most, life, *holders))

    def _key(self, tenant: str, name: str) -> str:
        return f"{self._redis.prefix}limits:{{{tenant}}}:{name}"

    async def _run(self, script: str, key: str, *arguments: str | int) -> Any:
        """The script's answer. Raises DependencyDown for none, and for an error."""

        async def ask(redis: Any) -> Any:
            try:
                return await redis.evalsha(DIGESTS[script], 1, key, *arguments)
            except NoScriptError:  # the first time, and after a restart
                return await redis.eval(script, 1, key, *arguments)

        try:
            return await self._redis.run(ask)
        except FAILURES:
            raise DependencyDown("what was used is not known: Redis does not answer") from None
