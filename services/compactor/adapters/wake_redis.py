"""Wake-ups between processes by a Redis stream (SPEC J-1).

Each process adds an entry when jobs were enqueued there, and waits for those of the others. Entries say
nothing else, the newest few are kept. All of it may be lost, late or down: then workers poll, as they do
without it. Nobody who enqueues waits for Redis.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

import structlog
from redis.asyncio import Redis, RedisCluster

from services.compactor.app.wake import LocalWake
from services.kit.ids import new_id
from services.kit.pauses import backoff
from services.kit.redis import FAILURES, RedisOptions, open_client

KEPT_ENTRIES: Final = 64
READ_SECONDS: Final = 5.0
"""A reader that was told nothing begins anew after this: at the stream's end, wherever that is by then."""
CALL_SECONDS: Final = 2.0
FIRST_PAUSE_SECONDS: Final = 0.1
LONGEST_PAUSE_SECONDS: Final = 5.0
END: Final = "$"
SENDER: Final = "by"
CONNECTIONS: Final = 4
"""One is told by, one is listened to; a call that was cut off holds its own until that is closed."""


class RedisWake:
    """A Wake of the workers of all processes that share a stream. Its work is done by `run`."""

    def __init__(self, client: Redis | RedisCluster, prefix: str) -> None:
        """`prefix` is what the stream's name begins with."""
        self._client = client
        self._stream = f"{prefix}wake"
        self._me = new_id().encode("ascii")
        self._local = LocalWake()
        self._unsent = asyncio.Event()
        self._last: bytes | str = END
        self._log = structlog.get_logger("wake")

    def set(self) -> None:
        """See Wake. Others are told as soon as Redis takes it; many at once are one."""
        self._local.set()
        self._unsent.set()

    def clear(self) -> None:
        """See Wake."""
        self._local.clear()

    async def wait(self, seconds: float) -> None:
        """See Wake."""
        await self._local.wait(seconds)

    async def run(self) -> None:
        """Tells and listens until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._keep(self._tell))
            tasks.create_task(self._keep(self._listen))

    async def _keep(self, step: Callable[[], Awaitable[None]]) -> None:
        """Does a step again and again; after failures with growing pauses."""
        failures = 0
        while True:
            try:
                await step()
                failures = 0
            except FAILURES as error:
                failures += 1
                if failures == 1:
                    self._log.warning("redis_failed", error=type(error).__name__)
                pause = backoff(
                    failures,
                    first=FIRST_PAUSE_SECONDS,
                    longest=LONGEST_PAUSE_SECONDS,
                    chance=random.random(),
                )
                await asyncio.sleep(pause)

    async def _tell(self) -> None:
        """Adds an entry once there is something to tell; what fails is told again."""
        await self._unsent.wait()
        self._unsent.clear()
        try:
            async with asyncio.timeout(CALL_SECONDS):
                await self._client.xadd(self._stream, {SENDER: self._me}, maxlen=KEPT_ENTRIES)
        except FAILURES:
            self._unsent.set()
            raise

    async def _listen(self) -> None:
        """Waits for entries, and wakes if one is another's."""
        last, self._last = self._last, END
        async with asyncio.timeout(READ_SECONDS + CALL_SECONDS):
            found = await self._client.xread({self._stream: last}, block=round(READ_SECONDS * 1000))
        for entry_id, fields in _entries(found):
            self._last = entry_id
            if fields.get(SENDER.encode("ascii")) != self._me:
                self._local.set()


def _entries(found: object) -> list[tuple[bytes, dict[bytes, bytes]]]:
    """Those of the one stream that was read; the protocol's versions wrap them differently."""
    if isinstance(found, dict):
        return [tuple(entry) for batches in found.values() for batch in batches for entry in batch]
    assert isinstance(found, list)
    return [tuple(entry) for _, batch in found for entry in batch]


@asynccontextmanager
async def redis_client(url: str, *, cluster: bool) -> AsyncIterator[Redis | RedisCluster]:
    """A client whose calls have no time limit of their own; closed when left.

    Raises StartupError, which never holds the URL, for one that cannot be used.
    """
    options = RedisOptions(url=url, cluster=cluster, timeout_seconds=CALL_SECONDS, connections=CONNECTIONS)
    client = open_client(options, answers_late=True)
    try:
        yield client
    finally:
        await client.aclose()
