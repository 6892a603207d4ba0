"""What a call takes beyond what it does at the least, in empty calls to the suite.

The least is done bare in this process, over a copy of the suite's own index files: the text is embedded, the
vector engine is asked once and FTS5 once, in sequence. Call, yardstick and empty call follow one another.
"""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grpc_health.v1 import health_pb2, health_pb2_grpc
from palimpsest.gateway.v1 import gateway_pb2_grpc

from bench import fixtures
from bench.result import Result, percentile
from bench.suite import Metadata, Running, embedded, gateway_channel
from services.embedder.adapters.onnx_folder import OnnxFolder
from services.embedder.bootstrap import default_model_dir
from services.gateway.app.keys import DEFAULT_TENANT
from services.kit.sqlite import run_script
from services.memory.semantic.adapters.vectors import VECTOR_FOLDER, folder_name
from services.memory.semantic.adapters.vectors_edge_store import Store
from services.memory.semantic.adapters.words import INDEX_FILE
from services.memory.semantic.adapters.words_fts import search_words
from services.memory.semantic.domain.analysis import analyse_query
from services.memory.semantic.domain.keywords import WordFilters
from services.memory.semantic.domain.vectors import Bucket, ContentClass

DEPTH = 100  # hits that recall asks of a channel

Ask = Callable[[Any, Metadata, "Turns"], Awaitable[dict[str, bool]]]
"""Asks the gateway whose stub it gets, and tells which checks hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What is measured: a result's id, its budget, the call, what is embedded of it, and the load."""

    id: str
    budget: float
    call: str
    text: str
    load: str


def excess(data: Path, measured: Measured, ask: Ask) -> Result:
    """The excess of the call's median over the yardstick's, in medians of an empty call.

    Over a data folder that is indexed, and free again afterwards.
    """
    copy = data.with_name("yardstick")
    shutil.copytree(data, copy)
    with _opened(copy) as bare, embedded(data) as running:
        seconds, checks = asyncio.run(_asked(running, bare, ask))
    typical = {name: statistics.median(values) for name, values in seconds.items()}
    value = (typical["call"] - typical["yardstick"]) / typical["empty"]
    slow = {name: percentile(values, 0.95) for name, values in seconds.items()}
    return Result(
        id=measured.id,
        unit="empty calls",
        value=value,
        budget=measured.budget,
        ok=value <= measured.budget,
        correct=all(checks.values()),
        yardstick=(
            f"in one process, in sequence, over a copy of the same index: the {measured.text} embedded, one"
            " vector query, one FTS5 query; and the health check of the suite as an empty call"
        ),
        load=f"{measured.load}, one at a time, each followed by the yardstick and an empty call",
        details={
            "p50_ms": _milliseconds(typical, measured.call),
            "p95_ms": _milliseconds(slow, measured.call),
            "yardstick_p50_ms": _milliseconds({k: statistics.median(v) for k, v in bare.parts.items()}),
            "checks": checks,
        },
    )


async def _asked(
    running: Running, bare: Yardstick, ask: Ask
) -> tuple[dict[str, list[float]], dict[str, bool]]:
    metadata = (("authorization", f"Bearer {running.api_key}"),)
    async with gateway_channel(running) as channel:
        turns = Turns(bare, health_pb2_grpc.HealthStub(channel), metadata)
        checks = await ask(gateway_pb2_grpc.GatewayServiceStub(channel), metadata, turns)
    return turns.seconds, checks


def _milliseconds(seconds: dict[str, float], call: str = "") -> dict[str, float]:
    return {call if name == "call" else name: round(value * 1000, 3) for name, value in seconds.items()}


class Turns:
    """Calls, each followed by the yardstick and an empty call, and how long each took."""

    def __init__(self, bare: Yardstick, health: Any, metadata: Metadata) -> None:
        self._bare = bare
        self._health = health
        self._metadata = metadata
        self.seconds: dict[str, list[float]] = {"call": [], "yardstick": [], "empty": []}

    def warmed_up(self) -> None:
        """What was measured so far does not count."""
        for values in (*self.seconds.values(), *self._bare.parts.values()):
            values.clear()

    async def take(
        self, call: Callable[[], Awaitable[Any]], contact_id: str, text: str
    ) -> tuple[Any, list[str], list[str]]:
        """What the call answers, and what the yardstick finds: see Yardstick.ask."""
        began = time.perf_counter()
        answer = await call()
        self.seconds["call"].append(time.perf_counter() - began)
        began = time.perf_counter()
        near, worded = self._bare.ask(contact_id, text)
        self.seconds["yardstick"].append(time.perf_counter() - began)
        began = time.perf_counter()
        await self._health.Check(health_pb2.HealthCheckRequest(), metadata=self._metadata)
        self.seconds["empty"].append(time.perf_counter() - began)
        return answer, near, worded


class Yardstick:
    """The model, the vectors and the words of a data folder, asked directly."""

    def __init__(self, model: OnnxFolder, vectors: Store, words: sqlite3.Connection) -> None:
        self._model = model
        self._vectors = vectors
        self._words = words
        self.parts: dict[str, list[float]] = {"embed": [], "vector": [], "words": []}

    def ask(self, contact_id: str, query: str) -> tuple[list[str], list[str]]:
        """Ids of the nearest memories, and of those with the query's words; notes how long each part took."""
        bucket = Bucket(tenant=DEFAULT_TENANT, agent=fixtures.AGENT, content=ContentClass.MEMORY)
        began = time.perf_counter()
        vector = self._model.embed_now(self._model.prepare_now([query]))[0]
        embedded_at = time.perf_counter()
        places = [f"{bucket.key}/{contact_id}", f"{bucket.key}/"]
        near = self._vectors.search({"any": {"contact": places}}, vector, DEPTH)
        near_at = time.perf_counter()
        filters = WordFilters(contact_ids=(contact_id, ""))
        found = run_script(self._words, search_words([bucket], analyse_query(query), filters, DEPTH))
        end = time.perf_counter()
        for name, seconds in zip(
            self.parts, (embedded_at - began, near_at - embedded_at, end - near_at), strict=True
        ):
            self.parts[name].append(seconds)
        return [item_id for item_id, _ in near], [item_id for item_id, _ in found]


@contextmanager
def _opened(data: Path) -> Iterator[Yardstick]:
    """Opens a data folder that no suite uses."""
    model = OnnxFolder.load(default_model_dir())
    description = model.description
    folder = data / VECTOR_FOLDER / folder_name(description.revision)
    vectors = Store.open(str(folder), description.revision, description.dimension)
    words = sqlite3.connect(data / INDEX_FILE)
    words.row_factory = sqlite3.Row
    try:
        yield Yardstick(model, vectors, words)
    finally:
        words.close()
        vectors.close()
        asyncio.run(model.close())
