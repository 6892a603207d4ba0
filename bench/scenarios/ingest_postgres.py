"""P-2 on PostgreSQL: durable appends of chunks to Episodic alone, over a writer that commits the same rows.

The writer is the one of P-2: it commits the rows of awaiting callers in groups. The details have two harder
yardsticks, connections that each commit a chunk at a time, and that each commit a message at a time, held
against the same way of calling.

Derived work is paused; afterwards each message that was acknowledged is looked for, and its row in the outbox
counted.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

import asyncpg
from palimpsest.episodic.v1 import episodic_pb2, episodic_pb2_grpc

from bench import fixtures
from bench.load import interleaved, medians, rate, rounded, text
from bench.postgres import postgres
from bench.result import Result
from bench.rows import (
    INSERT_AGENT,
    INSERT_CONVERSATION,
    INSERT_MESSAGE,
    INSERT_OUTBOX,
    UPDATE_CONVERSATION,
    Row,
    Rows,
)
from bench.scenarios.appends import PAUSED, Direct, Journal, conversation
from bench.suite import channel_to, episodic
from services.kit.postgres import migrate_postgres
from services.kit.sql import for_postgres

ID = "P-2-postgres"
BUDGET = 0.5
CALLERS = 64
CHUNK = 100
TEXT_BYTES = 1024
TEXTS = 1000
ROUNDS = 5
SECONDS = 2.0
WARM_UP_SECONDS = 1.0
SEED = 2
MIGRATIONS = files("services.memory.episodic") / "migrations" / "postgres"


def run() -> Result:
    """The median rate of AppendMessages in chunks over that of the writer, in messages a second."""
    with postgres() as url:
        rates, journal, checks = asyncio.run(_measure(url))
        server = asyncio.run(_server(url))
    typical = medians(rates)
    value = typical["episodic"] / typical["writer"]
    return Result(
        id=ID,
        unit="ratio",
        value=value,
        budget=BUDGET,
        ok=value >= BUDGET,
        correct=all(checks.values()),
        yardstick=(
            f"an asyncpg connection that commits the same rows (message, conversation, outbox) of {CALLERS}"
            " awaiting callers in groups, by executemany, one message a caller; the same server with fsync"
        ),
        load=(
            f"{CALLERS} callers over {CALLERS} conversations, one connection, AppendMessages of Episodic"
            f" alone with {CHUNK} messages of {TEXT_BYTES} bytes; derived work paused;"
            f" {ROUNDS} interleaved rounds of {SECONDS:g} s, medians"
        ),
        details={
            "per_second": {name: round(value, 1) for name, value in typical.items()},
            "ratio_to_64_connections": round(typical["episodic"] / typical["connections"], 4),
            "ratio_to_64_connections_singly": round(
                typical["episodic_singly"] / typical["connections_singly"], 4
            ),
            "rounds": rounded(rates),
            "messages_checked": journal.count,
            "checks": checks,
            "postgres": server,
            "asyncpg": version("asyncpg"),
        },
    )


async def _measure(url: str) -> tuple[dict[str, list[float]], Journal, dict[str, bool]]:
    dice = random.Random(SEED)
    texts = [text(dice, TEXT_BYTES) for _ in range(TEXTS)]
    async with AsyncExitStack() as stack:
        scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="palimpsest-bench-"))
        bare = Connections(await _database(url, "bare"), texts)
        await stack.enter_async_context(bare)
        target = await _database(url, "service")
        service = stack.enter_context(episodic(Path(scratch), {**PAUSED, "DATABASE_URL": target}))
        channel, metadata = await stack.enter_async_context(channel_to(service, "episodic"))
        ours = Chunks(episodic_pb2_grpc.EpisodicServiceStub(channel), metadata, texts)
        await ours.prepare()

        def subject(call: Callable[[int], Awaitable[int]]) -> Callable[[float], Awaitable[float]]:
            return lambda seconds: rate(call, CALLERS, seconds)

        rates = await interleaved(
            {
                "writer": subject(bare.grouped),
                "connections": subject(bare.chunk),
                "episodic": subject(ours.chunk),
                "connections_singly": subject(bare.one),
                "episodic_singly": subject(ours.call),
            },
            rounds=ROUNDS,
            seconds=SECONDS,
            warm_up=WARM_UP_SECONDS,
        )
        checks = {
            "stored": await ours.check(),
            "outbox": await _waiting(target) == ours.journal.count,
        }
        return rates, ours.journal, checks


class Chunks(Direct):
    """Appends of chunks, each after the newest message of the caller's conversation."""

    async def chunk(self, caller: int) -> int:
        """Appends a chunk."""
        start = random.Random(caller).randrange(TEXTS // CHUNK) * CHUNK
        said = self.texts[start : start + CHUNK]
        answer = await self.stub.AppendMessages(
            episodic_pb2.AppendMessagesRequest(
                agent_id=fixtures.AGENT,
                conversation_id=conversation(caller),
                messages=map(fixtures.message, said),
            ),
            metadata=self.metadata(),
        )
        self.journal.stored[conversation(caller)] += [
            (one.sequence, one.message_id, text) for one, text in zip(answer.results, said, strict=True)
        ]
        return len(said)


class Connections:
    """A connection for each caller, which does nothing but insert rows."""

    def __init__(self, url: str, texts: Sequence[str]) -> None:
        self._url = url
        self._rows = Rows(texts)
        self._connections: list[Any] = []
        self._waiting: list[tuple[tuple[Row, Row, Row], asyncio.Future[None]]] = []
        self._writing = False

    async def __aenter__(self) -> None:
        self._connections = [await asyncpg.connect(self._url) for _ in range(CALLERS)]
        connection = self._connections[0]
        await connection.execute(for_postgres(INSERT_AGENT), *self._rows.agent())
        await connection.executemany(
            for_postgres(INSERT_CONVERSATION), list(map(self._rows.conversation, range(CALLERS)))
        )

    async def __aexit__(self, *_: object) -> None:
        for connection in self._connections:
            await connection.close()

    async def chunk(self, caller: int) -> int:
        """Commits the rows of a chunk."""
        return await self._commit(caller, CHUNK)

    async def one(self, caller: int) -> int:
        """Commits the rows of one message."""
        return await self._commit(caller, 1)

    async def grouped(self, caller: int) -> int:
        """Commits the rows of one message together with what else waits, on the first connection."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((self._rows.next(caller), future))
        if not self._writing:
            self._writing = True
            while self._waiting:
                group, self._waiting = self._waiting, []
                await _insert(self._connections[0], [rows for rows, _ in group])
                for _, done in group:
                    done.set_result(None)
            self._writing = False
        await future
        return 1

    async def _commit(self, caller: int, count: int) -> int:
        await _insert(self._connections[caller], [self._rows.next(caller) for _ in range(count)])
        return count


async def _insert(connection: Any, rows: Sequence[tuple[Row, Row, Row]]) -> None:
    """Commits the rows of messages; of a conversation's updates the last one is enough."""
    updates = {updated[-1]: updated for _, updated, _ in rows}
    async with connection.transaction():
        await connection.executemany(for_postgres(INSERT_MESSAGE), [inserted for inserted, *_ in rows])
        await connection.executemany(for_postgres(UPDATE_CONVERSATION), list(updates.values()))
        await connection.executemany(for_postgres(INSERT_OUTBOX), [enqueued for *_, enqueued in rows])


async def _database(url: str, name: str) -> str:
    """The URL of a fresh database with Episodic's schema."""
    connection = await asyncpg.connect(url)
    await connection.execute(f"CREATE DATABASE {name}")
    await connection.close()
    target = url.replace("/postgres?", f"/{name}?")
    connection = await asyncpg.connect(target)
    await migrate_postgres(connection, MIGRATIONS)
    await connection.close()
    return target


async def _server(url: str) -> str:
    """The server's version and what makes it durable."""
    connection = await asyncpg.connect(url)
    try:
        kept = [
            f"{name}={await connection.fetchval(f'SHOW {name}')}" for name in ("fsync", "synchronous_commit")
        ]
        return f"{await connection.fetchval('SHOW server_version')} {' '.join(kept)}"
    finally:
        await connection.close()


async def _waiting(url: str) -> int:
    """Index jobs in the outbox."""
    connection = await asyncpg.connect(url)
    try:
        return int(await connection.fetchval("SELECT count(*) FROM outbox WHERE type = 'index_message'"))
    finally:
        await connection.close()
