"""Documents over a real store and a real key-value store, and what may happen between two steps."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from services.compactor.adapters.kv_memory import MemoryKv
from services.compactor.adapters.kv_redis import RedisKv
from services.compactor.adapters.sql.documents import SqlDocuments
from services.compactor.app.document_copies import KvRules
from services.compactor.app.document_ports import Kv, KvDown
from services.compactor.app.documents import Choice, Documents, Place
from services.compactor.domain.documents import Document, DocumentKey, Draft, Head, attractor_key, summary_key
from services.kit.redis import PREFIX, RedisOptions
from services.kit.sql import SqlDatabase, execute
from services.kit.sqlite import Database, SqliteScripts
from tests.redis_server import shared_redis

TENANT = "acme"
AGENT = "ada"
ATTRACTOR = attractor_key(TENANT, AGENT)
SUMMARY = summary_key(TENANT, AGENT, "c1")
NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
PATIENT = 10.0  # seconds; a test machine may be busy
MIGRATIONS = files("services.compactor") / "migrations" / "sqlite"
KV_ADAPTERS = ["memory", "redis"]
Step = Callable[[str], Awaitable[None]]


class Killed(BaseException):
    """Ends a call where the process would have been killed: nothing catches it."""


class SteppedKv:
    """A Kv that lets a test act before each call and after each `set`, and that can be away.

    `keys` gathers all that were ever set.
    """

    def __init__(self, inner: Kv, keys: set[str]) -> None:
        self.inner = inner
        self.keys = keys
        self.step: Step | None = None
        self.down = False

    async def _before(self, name: str) -> None:
        if self.step is not None:
            await self.step(name)
        if self.down:
            raise KvDown

    async def get(self, key: str) -> bytes | None:
        await self._before("get")
        return await self.inner.get(key)

    async def set(self, key: str, value: bytes, *, seconds: float) -> bool:
        await self._before("set")
        self.keys.add(key)
        done = await self.inner.set(key, value, seconds=seconds)
        if self.step is not None:
            await self.step("after set")
        return done

    async def delete(self, key: str) -> None:
        await self._before("delete")
        await self.inner.delete(key)


class SteppedStore(SqlDocuments):
    """The store; lets a test act after the newest version was read, and after one was written."""

    step: Step | None = None

    async def current(self, key: DocumentKey) -> Any:
        found = await super().current(key)
        if self.step is not None:
            await self.step("current")
        return found

    async def put(self, *args: Any, **fields: Any) -> Document:
        made = await super().put(*args, **fields)
        if self.step is not None:
            await self.step("put")
        return made


@dataclass(slots=True)
class Seconds:
    """A clock that a test moves."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


class World:
    """Documents of several processes over the same stores, the truth, and the clock of copies."""

    def __init__(self, database: SqlDatabase, kv: Kv, seconds: Seconds) -> None:
        self.database = database
        self.seconds = seconds
        self.kv = SteppedKv(kv, set())
        self.store = SteppedStore(database)
        self.documents = self._over(self.store, self.kv)

    def process(self, rules: KvRules | None = None) -> Documents:
        """Another process, in which nothing happens between two steps."""
        return self._over(SqlDocuments(self.database), SteppedKv(self.kv.inner, self.kv.keys), rules)

    def _over(self, store: SqlDocuments, kv: Kv, rules: KvRules | None = None) -> Documents:
        return Documents(store, kv, lambda: NOW, rules or KvRules(), monotonic=self.seconds)

    async def write(self, key: DocumentKey = ATTRACTOR, count: int = 1) -> Document:
        """The next versions, by another process; the last of them."""
        documents = self.process()
        for _ in range(count):
            head = await documents.head(key)
            made = await documents.put(key, draft(head.version + 1), head)
        return made

    async def truth(self, key: DocumentKey = ATTRACTOR) -> tuple[Head, Document]:
        """The head and newest version by SQL."""
        snapshot = await SqlDocuments(self.database).current(key)
        assert snapshot is not None
        return snapshot.head, snapshot.document

    async def seen(self, key: DocumentKey = ATTRACTOR) -> tuple[Head, Document]:
        """The head and newest version as another process serves them."""
        served = await self.process().get(key, Choice(newest=True))
        return served.head, served.document

    async def flush(self) -> None:
        """The key-value store loses its memory."""
        for key in self.kv.keys:
            await self.kv.inner.delete(key)

    async def values(self) -> dict[str, bytes]:
        """What the key-value store holds."""
        found = {key: await self.kv.inner.get(key) for key in self.kv.keys}
        return {key: value for key, value in found.items() if value is not None}

    async def spoil(self, version: int, key: DocumentKey = ATTRACTOR) -> None:
        """Writes over a version's row what is no document."""
        text = "UPDATE document_versions SET body = '{' WHERE agent_id = ? AND subject = ? AND version = ?"
        await self.database.write(lambda: execute(text, key.agent_id, key.subject, version))


def draft(number: int = 1, **fields: Any) -> Draft:
    """A document; `number` tells it from others."""
    return Draft(**{"body": {"number": number}, "engine": "test-1", "source_ids": (f"s{number}",), **fields})


@asynccontextmanager
async def world(folder: Path, redis_url: str = "", prefix: str = PREFIX) -> AsyncIterator[World]:
    """Documents over a SQLite file, and over Redis or memory."""
    file = await Database.open(folder / "compactor.db", MIGRATIONS, synchronous="NORMAL")
    seconds = Seconds()
    async with AsyncExitStack() as stack:
        stack.push_async_callback(file.close)
        kv: Kv = MemoryKv(1 << 24, clock=seconds)
        if redis_url:
            remote = RedisKv.open(RedisOptions(url=redis_url, prefix=prefix, timeout_seconds=PATIENT))
            stack.push_async_callback(remote.close)
            kv = remote
        yield World(SqliteScripts(file), kv, seconds)


@asynccontextmanager
async def any_world(
    request: pytest.FixtureRequest, config: pytest.Config, folder: Path
) -> AsyncIterator[World]:
    """For a fixture with the parameters KV_ADAPTERS."""
    if request.param == "memory":
        async with world(folder) as made:
            yield made
        return
    server = shared_redis(config)
    async with server.prefix() as prefix, world(folder, server.url, prefix) as made:
        yield made


async def full(made: World) -> dict[str, bytes]:
    """A value under every name that there is."""
    await made.write(ATTRACTOR, 3)
    await made.documents.freeze(ATTRACTOR, 2)
    await made.write(SUMMARY, 2)
    return await made.values()


async def places(documents: Documents, key: DocumentKey, *choices: Choice) -> list[tuple[int, Place]]:
    """The version and place of each answer."""
    served = [await documents.get(key, choice) for choice in choices or [Choice()]]
    return [(one.document.version, one.place) for one in served]


class Gate:
    """Holds up whoever comes to a step for the first time, until it is opened."""

    def __init__(self, step: str) -> None:
        self._step = step
        self._opened = asyncio.Event()
        self.reached = asyncio.Event()

    async def __call__(self, step: str) -> None:
        if step == self._step and not self.reached.is_set():
            self.reached.set()
            await self._opened.wait()

    def open(self) -> None:
        """Lets it go on."""
        self._opened.set()


@dataclass(slots=True)
class KillAt:
    """Kills the process at its n-th step, from 0."""

    place: int
    steps: int = 0
    at: str = ""

    async def __call__(self, step: str) -> None:
        if self.steps == self.place:
            self.at = step
            raise Killed
        self.steps += 1
