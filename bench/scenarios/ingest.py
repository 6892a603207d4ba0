"""P-2: durable ingest by stream into SQLite, over a writer that does nothing but commit the same rows.

Derived work is paused while it is measured (the outbox is not relayed), then done and checked: each message
that was acknowledged is stored once, under dense sequence numbers, and indexed.
"""

from __future__ import annotations

import asyncio
import queue
import random
import sqlite3
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from palimpsest.gateway.v1 import conversations_pb2

from bench import fixtures
from bench.load import interleaved, medians, rate, rounded, text
from bench.result import Result
from bench.rows import (
    INSERT_AGENT,
    INSERT_CONVERSATION,
    INSERT_MESSAGE,
    INSERT_OUTBOX,
    UPDATE_CONVERSATION,
    Rows,
)
from bench.scenarios.appends import PAUSED, Journal, Through, conversation
from bench.suite import Metadata, Running, embedded, gateway

ID = "P-2"
BUDGET = 0.5
CALLERS = 64
STREAMS = 4
CONVERSATIONS = 16
CHUNK = 100
AHEAD = 8  # chunks of a stream that are not answered yet
TEXT_BYTES = 1024
TEXTS = 1000
ROUNDS = 3
SECONDS = 0.4  # what is stored must be indexed and covered afterwards
WARM_UP_SECONDS = 0.2
SEED = 2
MIGRATIONS = files("services.memory.episodic") / "migrations" / "sqlite"


def run() -> Result:
    """The median rate of IngestStream through the gateway over that of the writer, in messages a second."""
    with tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as scratch:
        suite = Path(scratch) / "suite"
        settings = {f"PALIMPSEST_EPISODIC_{name}": value for name, value in PAUSED.items()}
        with embedded(suite, settings) as running:
            rates, journal, stored = asyncio.run(_measure(running, Path(scratch) / "bare.db"))
        began = time.monotonic()
        indexed = asyncio.run(
            fixtures.drained(suite, {name: len(kept) for name, kept in journal.stored.items()})
        )
        drained = time.monotonic() - began
    typical = medians(rates)
    value = typical["gateway"] / typical["writer"]
    return Result(
        id=ID,
        unit="ratio",
        value=value,
        budget=BUDGET,
        ok=value >= BUDGET,
        correct=stored and indexed,
        yardstick=(
            f"a thread that commits the same rows (message, conversation, outbox) of {CALLERS} awaiting"
            " callers in groups, one message a caller, SQLite with the same schema, WAL, synchronous=FULL"
        ),
        load=(
            f"{STREAMS} calls of IngestStream over one connection to the embedded suite's gateway,"
            f" {CONVERSATIONS} conversations, chunks of {CHUNK} messages of {TEXT_BYTES} bytes;"
            f" derived work paused; {ROUNDS} interleaved rounds of {SECONDS:g} s, medians"
        ),
        details={
            "per_second": {name: round(value, 1) for name, value in typical.items()},
            "rounds": rounded(rates),
            "messages_checked": journal.count,
            "checks": {"stored": stored, "indexed": indexed},
            "drain_seconds": round(drained, 1),
            "sqlite": sqlite3.sqlite_version,
        },
    )


async def _measure(running: Running, bare: Path) -> tuple[dict[str, list[float]], Journal, bool]:
    dice = random.Random(SEED)
    texts = [text(dice, TEXT_BYTES) for _ in range(TEXTS)]
    async with gateway(running) as (stub, metadata):
        ingest = _Ingest(stub, lambda: metadata, texts)
        await ingest.prepare(CONVERSATIONS)
        with Writer(bare, texts) as writer:
            rates = await interleaved(
                {"writer": lambda seconds: rate(writer.call, CALLERS, seconds), "gateway": ingest.rate},
                rounds=ROUNDS,
                seconds=SECONDS,
                warm_up=WARM_UP_SECONDS,
            )
        return rates, ingest.journal, await ingest.check()


class _Ingest(Through):
    """Streams, each with conversations of its own, whose chunks take turns."""

    def __init__(self, stub: Any, metadata: Callable[[], Metadata], texts: Sequence[str]) -> None:
        super().__init__(stub, metadata, texts)
        self._messages = [fixtures.message(said) for said in texts]
        self._last: dict[str, str] = {}
        self._turn = 0

    async def rate(self, seconds: float) -> float:
        """Messages a second; what was sent within `seconds` counts, and so does the time until its answer."""
        began = time.monotonic()
        before = self.journal.count
        names = [conversation(number) for number in range(CONVERSATIONS)]
        await asyncio.gather(
            *(self._stream(names[number::STREAMS], began + seconds) for number in range(STREAMS))
        )
        return (self.journal.count - before) / (time.monotonic() - began)

    async def _stream(self, names: Sequence[str], until: float) -> None:
        sent: list[tuple[str, Sequence[str]]] = []
        room = asyncio.Semaphore(AHEAD)

        async def chunks() -> AsyncIterator[conversations_pb2.IngestStreamRequest]:
            number = 0
            while time.monotonic() < until:
                await room.acquire()
                name = names[number % len(names)]
                start = self._turn * CHUNK % TEXTS
                chunk = conversations_pb2.IngestRequest(
                    agent_id=fixtures.AGENT,
                    conversation_id=name,
                    messages=self._messages[start : start + CHUNK],
                    parent_id=self._last.get(name, "") if number < len(names) else "",
                )
                sent.append((name, self.texts[start : start + CHUNK]))
                number, self._turn = number + 1, self._turn + 1
                yield conversations_pb2.IngestStreamRequest(chunk=chunk)

        answered = 0
        async for answer in self.stub.IngestStream(chunks(), metadata=self.metadata()):
            name, said = sent[answered]
            answered += 1
            room.release()
            self.journal.stored[name] += [
                (one.sequence, one.message_id, text)
                for one, text in zip(answer.chunk.messages, said, strict=True)
            ]
            self._last[name] = answer.chunk.messages[-1].message_id
        if answered != len(sent):
            raise RuntimeError("a chunk was not answered")


class Writer:
    """A SQLite file with the schema of Episodic, and a thread that commits what waits."""

    def __init__(self, path: Path, texts: Sequence[str]) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        for script in sorted(MIGRATIONS.iterdir(), key=lambda file: file.name):
            if script.name.endswith(".sql"):
                self._connection.executescript(script.read_text("utf-8"))
        self._rows = Rows(texts)
        self._connection.execute(INSERT_AGENT, self._rows.agent())
        self._connection.executemany(INSERT_CONVERSATION, map(self._rows.conversation, range(CALLERS)))
        self._queue: queue.SimpleQueue[tuple[Any, asyncio.Future[None]] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write, daemon=True)

    def __enter__(self) -> Writer:
        self._loop = asyncio.get_running_loop()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._queue.put(None)
        self._thread.join()
        self._connection.close()

    async def call(self, caller: int) -> int:
        """Commits one message of a caller's conversation."""
        future: asyncio.Future[None] = self._loop.create_future()
        self._queue.put((self._rows.next(caller), future))
        await future
        return 1

    def _write(self) -> None:
        execute = self._connection.execute
        while (item := self._queue.get()) is not None:
            group = [item]
            try:
                while (more := self._queue.get_nowait()) is not None:
                    group.append(more)
            except queue.Empty:
                pass
            execute("BEGIN IMMEDIATE")
            for (inserted, updated, enqueued), _ in group:
                execute(INSERT_MESSAGE, inserted)
                execute(UPDATE_CONVERSATION, updated)
                execute(INSERT_OUTBOX, enqueued)
            execute("COMMIT")
            self._loop.call_soon_threadsafe(_answer, [future for _, future in group])


def _answer(futures: Sequence[asyncio.Future[None]]) -> None:
    for future in futures:
        future.set_result(None)
