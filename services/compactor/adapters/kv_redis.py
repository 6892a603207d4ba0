"""Copies of documents in Redis or Valkey, alone or as a cluster (SPEC K-1)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, cast

from redis.exceptions import ResponseError

from services.compactor.app.document_ports import MAX_VALUE_BYTES, KvDown, revision_of
from services.kit.redis import FAILURES, RedisCalls, RedisOptions

T = TypeVar("T")

CONNECTIONS = 32
"""Of a process, at most."""
WRONG_TYPE = "WRONGTYPE"
NO_VALUE = b""  # for what is there and no text: has no revision, so it is replaced
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


class RedisKv:
    """A Kv. Made by `open`, which does not connect: a Redis that is away delays nothing."""

    def __init__(self, redis: RedisCalls) -> None:
        self._redis = redis

    @classmethod
    def open(cls, options: RedisOptions) -> RedisKv:
        """Over the Redis of these options. Raises StartupError, which never holds the URL."""
        return cls(RedisCalls.open(options))

    async def get(self, key: str) -> bytes | None:
        """A value."""
        try:
            found = await self._call(lambda redis: redis.get(self._redis.prefix + key))
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
                lambda redis: redis.eval(SET_UNLESS_NEWER, 1, self._redis.prefix + key, *arguments)
            )
        except ResponseError:  # out of memory, a replica, no rights
            raise KvDown from None
        return bool(done)

    async def delete(self, key: str) -> None:
        """Forgets a value."""
        try:
            await self._call(lambda redis: redis.delete(self._redis.prefix + key))
        except ResponseError:
            raise KvDown from None

    async def close(self) -> None:
        """Ends the connections."""
        await self._redis.close()

    async def _call(self, call: Callable[[Any], Awaitable[T]]) -> T:
        """Raises ResponseError for an answer that is an error, KvDown for no answer."""
        try:
            return await self._redis.run(call)
        except ResponseError:
            raise
        except FAILURES:
            raise KvDown from None
