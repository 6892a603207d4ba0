"""M-1M: the embedded profile over a million memories. There is no budget: this is what it takes.

Four fifths of the memories belong to 2,000 contacts of 20 agents (small buckets of 400), one fifth to nobody
in particular at one agent (the big bucket of 200,000). It takes half an hour, and is no part of `bench all`:
`python -m bench.scenarios.million [--count N] [--json OUT] [--data FOLDER]`. A folder that was filled before
is used again.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import pickle
import random
import signal
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil
from grpc_health.v1 import health_pb2, health_pb2_grpc
from palimpsest.common.v1 import recall_pb2
from palimpsest.gateway.v1 import gateway_pb2_grpc, memories_pb2

from bench.fixtures import word
from bench.large import Loaded, Planted, load
from bench.large_texts import TOPICS
from bench.result import Result, percentile, write
from bench.suite import Metadata, Running, embedded, gateway, gateway_channel
from services.memory.semantic.adapters.sql.items import WHOLE_FACT
from services.memory.semantic.adapters.vectors import VECTOR_FOLDER
from services.memory.semantic.adapters.words import INDEX_FILE
from services.memory.semantic.bootstrap import CANONICAL_FILE

ID = "M-1M"
MEMORIES = 1_000_000
QUERIES = 200
WARM_UP = 20
REMEMBERED = 20
LIMIT = 10
SEED = 1
SETTLE_SECONDS = 5.0
RECONCILE_SECONDS = 3600.0
ASKING_PAUSE_SECONDS = 0.25
LOADED_FILE = "loaded.pickle"
SMALL, BIG, EMPTY = "small", "big", "empty"

Seconds = dict[str, list[float]]


def run() -> Result:
    """With the default number of memories, in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as scratch:
        return measure(Path(scratch) / "data", MEMORIES)


def measure(data: Path, count: int) -> Result:
    """Fills the folder unless it is filled, and runs the suite on it three times."""
    loaded = _filled(data, count)
    details: dict[str, Any] = {
        "load_s": {part: round(seconds, 1) for part, seconds in loaded.seconds.items()},
        "disk_mb": _disk(data),
        "machine_load": {"loaded": _machine_load()},
    }
    checks: dict[str, bool] = {}
    questions = _Questions(loaded)
    with embedded(data) as running:
        first = time.monotonic()
        checks["first_answer"] = asyncio.run(_first_answer(running, questions))
        details["start_after_clean_end_s"] = round(running.started_in + time.monotonic() - first, 2)
        details["memory_mb_at_start"] = _memory(running)
        seconds, details["answered"], checks["no_channel_failed"] = asyncio.run(_ask(running, questions))
        checks["answered_in_small"] = details["answered"][SMALL] == QUERIES
        details |= {"p50_ms": _typical(seconds), "p95_ms": _slow(seconds)}
        details["machine_load"]["asked"] = _machine_load()
        checks |= asyncio.run(_needles(running, loaded.needles))
        remembered, checks["remembered"] = asyncio.run(_remember(running, loaded))
        details |= {"remember_p50_ms": _typical(remembered), "remember_p95_ms": _slow(remembered)}
        time.sleep(SETTLE_SECONDS)
        details["memory_mb"] = _memory(running)
        os.kill(running.process.pid, signal.SIGKILL)
        running.process.wait()
    with embedded(data) as running:
        first = time.monotonic()
        checks["first_answer_after_kill"] = asyncio.run(_first_answer(running, questions))
        details["start_after_kill_s"] = round(running.started_in + time.monotonic() - first, 2)
        meanwhile, until_whole, checks["answered_while_reconciling"] = asyncio.run(
            _while_reconciling(running, questions, first)
        )
        details["reconciled_after_kill_s"] = round(until_whole, 1)
        details |= {"reconciling_p50_ms": _typical(meanwhile), "reconciling_p95_ms": _slow(meanwhile)}
        details["memory_mb_after_reconciling"] = _memory(running)
        details["machine_load"]["reconciled"] = _machine_load()
        ending = time.monotonic()
    details["stop_s"] = round(time.monotonic() - ending, 2)
    checks["stopped_in_order"] = running.process.returncode == 0
    return _result(loaded, details, checks)


def _result(loaded: Loaded, details: dict[str, Any], checks: dict[str, bool]) -> Result:
    return Result(
        id=ID,
        unit="ms",
        value=float(details["p50_ms"][SMALL]),
        budget=None,
        ok=None,
        correct=all(checks.values()),
        yardstick="none; the health check of the suite as an empty call",
        load=(
            f"{loaded.written} memories, {loaded.big_count} of them of one agent and nobody in particular;"
            f" vectors in seeded clusters; {QUERIES} distinct queries in small and in big buckets, embedded"
            f" by the model, after {WARM_UP} others, limit {LIMIT}, one at a time"
        ),
        details=details | {"checks": checks},
    )


def _filled(data: Path, count: int) -> Loaded:
    notes = data.with_name(data.name + "-" + LOADED_FILE)
    if notes.exists():
        loaded: Loaded = pickle.loads(notes.read_bytes())
        if loaded.count == count:
            return loaded
    loaded = load(data, count, SEED)
    notes.write_bytes(pickle.dumps(loaded))
    return loaded


class _Questions:
    """Distinct questions about memories; some name a topic, as very many keys do."""

    def __init__(self, loaded: Loaded) -> None:
        dice = random.Random(SEED)
        self.small = [_question(planted, dice) for planted in _some(loaded.samples, dice)]
        self.big = [_question(planted, dice) for planted in _some(loaded.big_samples, dice)]


def _some(samples: Sequence[Planted], dice: random.Random) -> list[Planted]:
    """As many as are asked; by turns again where there are few."""
    shuffled = dice.sample(list(samples), len(samples))
    return [shuffled[place % len(shuffled)] for place in range(WARM_UP + QUERIES)]


def _question(planted: Planted, dice: random.Random) -> tuple[Planted, str]:
    key = planted.key.split(".")[1]
    first, second, third, fourth = dice.sample(planted.value.split(), 4)
    topic = dice.choice(TOPICS)
    return planted, f"what became of {key} with the {first} {second} and {third} {fourth}, or the {topic}?"


def _request(planted: Planted, query: str, **more: Any) -> memories_pb2.RecallRequest:
    return memories_pb2.RecallRequest(
        agent_id=planted.agent_id, contact_id=planted.contact_id, query=query, limit=LIMIT, **more
    )


async def _first_answer(running: Running, questions: _Questions) -> bool:
    async with gateway(running) as (stub, metadata):
        answer = await stub.Recall(_request(*questions.small[0]), metadata=metadata)
        return bool(answer.hits)


async def _ask(running: Running, questions: _Questions) -> tuple[Seconds, dict[str, int], bool]:
    """Small, big and empty calls by turns: how long they took, how many found what was asked for."""
    seconds: Seconds = {SMALL: [], BIG: [], EMPTY: []}
    found = {SMALL: 0, BIG: 0}
    failures = 0
    async with gateway_channel(running) as channel:
        stub: Any = gateway_pb2_grpc.GatewayServiceStub(channel)
        health: Any = health_pb2_grpc.HealthStub(channel)
        metadata = _metadata(running)
        for number, asked in enumerate(zip(questions.small, questions.big, strict=True)):
            for name, (planted, query) in zip((SMALL, BIG), asked, strict=True):
                request = _request(planted, query)
                took, answer = await _timed(lambda: stub.Recall(request, metadata=metadata))  # noqa: B023
                if number >= WARM_UP:
                    seconds[name].append(took)
                    failures += len(answer.failures)
                    found[name] += any(hit.memory.id == planted.memory_id for hit in answer.hits)
            took, _ = await _timed(lambda: health.Check(health_pb2.HealthCheckRequest(), metadata=metadata))
            if number >= WARM_UP:
                seconds[EMPTY].append(took)
    return seconds, found, failures == 0


async def _needles(running: Running, needles: Sequence[Planted]) -> dict[str, bool]:
    """Each needle by its key, by its rare words and by its meaning, every time first in that channel."""
    channels = {
        "by_key": recall_pb2.CHANNEL_KEY,
        "by_words": recall_pb2.CHANNEL_KEYWORD,
        "by_vector": recall_pb2.CHANNEL_VECTOR,
    }
    missed = dict.fromkeys(channels, 0)
    async with gateway(running) as (stub, metadata):
        for planted in needles:
            ways = {
                "by_key": planted.key.split(".")[1],
                "by_words": " ".join(planted.value.split()[-2:]),
                "by_vector": planted.question,
            }
            for way, query in ways.items():
                answer = await stub.Recall(_request(planted, query), metadata=metadata)
                places = [
                    place.rank
                    for hit in answer.hits
                    if hit.memory.id == planted.memory_id
                    for place in hit.explanation.channels
                    if place.channel == channels[way]
                ]
                missed[way] += places != [1]
    return {f"needles_{way}": count == 0 for way, count in missed.items()}


async def _remember(running: Running, loaded: Loaded) -> tuple[Seconds, bool]:
    """New memories in small and in big buckets: until acknowledged, and until recalled."""
    dice = random.Random(SEED + 1)
    seconds: Seconds = {}
    missed = 0
    async with gateway(running) as (stub, metadata):
        for number in range(REMEMBERED):
            for name, samples in ((SMALL, loaded.samples), (BIG, loaded.big_samples)):
                planted = dice.choice(samples)
                value = " ".join(word(dice) for _ in range(12))
                request = memories_pb2.RememberRequest(
                    agent_id=planted.agent_id,
                    contact_id=planted.contact_id,
                    key=f"new.{word(dice)}.{number}",
                    value=value,
                )
                began = time.perf_counter()
                written = await stub.Remember(request, metadata=metadata)
                seconds.setdefault(f"{name}_acknowledged", []).append(time.perf_counter() - began)
                query = " ".join(value.split()[:4])
                answer = await stub.Recall(
                    _request(planted, query, wait_for=[written.token]), metadata=metadata
                )
                seconds.setdefault(f"{name}_recalled", []).append(time.perf_counter() - began)
                missed += value not in [hit.memory.value for hit in answer.hits] or bool(answer.unindexed)
    return seconds, missed == 0


async def _while_reconciling(
    running: Running, questions: _Questions, began: float
) -> tuple[Seconds, float, bool]:
    """Asks until the indexes are known to be whole."""
    seconds: Seconds = {SMALL: [], BIG: []}
    missed = 0
    async with gateway(running) as (stub, metadata):
        for number in range(round(RECONCILE_SECONDS / ASKING_PAUSE_SECONDS)):
            if _whole(running.data):
                return seconds, time.monotonic() - began + running.started_in, missed == 0
            for name, asked in ((SMALL, questions.small), (BIG, questions.big)):
                planted, query = asked[number % len(asked)]
                request = _request(planted, query)
                took, answer = await _timed(lambda: stub.Recall(request, metadata=metadata))  # noqa: B023
                seconds[name].append(took)
                missed += bool(answer.failures) or not answer.hits
            await asyncio.sleep(ASKING_PAUSE_SECONDS)
    raise RuntimeError("the indexes were not reconciled")


def _whole(data: Path) -> bool:
    connection = sqlite3.connect(f"file:{data / INDEX_FILE}?mode=ro", uri=True)
    try:
        row = connection.execute("SELECT value FROM index_facts WHERE name = ?", (WHOLE_FACT,)).fetchone()
    finally:
        connection.close()
    return row is not None and row[0] == "yes"


async def _timed(call: Callable[[], Awaitable[Any]]) -> tuple[float, Any]:
    began = time.perf_counter()
    answer = await call()
    return time.perf_counter() - began, answer


def _metadata(running: Running) -> Metadata:
    return (("authorization", f"Bearer {running.api_key}"),)


def _memory(running: Running) -> dict[str, dict[str, float]]:
    """Of the process tree, in MB: shared pages counted by share, and of it what no file holds."""
    suite = psutil.Process(running.process.pid)
    tree = {"suite": suite} | {
        f"child{number}": child for number, child in enumerate(suite.children(recursive=True))
    }
    return {name: _resident(process) for name, process in tree.items()}


def _resident(process: psutil.Process) -> dict[str, float]:
    lines = Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines()[1:]
    sizes = {
        name: int(rest.split()[0]) * 1024 / 1e6 for name, _, rest in (line.partition(":") for line in lines)
    }
    return {"pss": round(sizes["Pss"], 1), "anonymous": round(sizes["Anonymous"], 1)}


def _disk(data: Path) -> dict[str, float]:
    """MB that files take, by part."""
    parts = {CANONICAL_FILE: 0, INDEX_FILE: 0, VECTOR_FOLDER: 0, "other": 0}
    for path in data.rglob("*"):
        if path.is_file():
            top = path.relative_to(data).parts[0].removesuffix("-wal").removesuffix("-shm")
            parts[top if top in parts else "other"] += path.stat().st_blocks * 512
    return {part: round(size / 1e6, 1) for part, size in parts.items()}


def _machine_load() -> list[float]:
    return [round(value, 1) for value in os.getloadavg()]


def _typical(seconds: Mapping[str, Sequence[float]]) -> dict[str, float]:
    return {name: round(statistics.median(v) * 1000, 2) for name, v in seconds.items() if v}


def _slow(seconds: Mapping[str, Sequence[float]]) -> dict[str, float]:
    return {name: round(percentile(list(v), 0.95) * 1000, 2) for name, v in seconds.items() if v}


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="The embedded profile over very many memories.")
    parser.add_argument("--count", type=int, default=MEMORIES)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--data", type=Path, help="keeps the data there, for another run")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as scratch:
        document = measure(options.data or Path(scratch) / "data", options.count).document()
    if options.json is not None:
        write(document, options.json)
    print(document)


if __name__ == "__main__":
    main()
