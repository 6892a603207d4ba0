"""P-4: remembering one thing, over mem0's `add(infer=False)` with the same model.

mem0's call returns when what it was given can be found. Ours is measured twice: until it is acknowledged
(stored and synced), and until it is recallable: until a recall that waits for it has answered with it, less
what such a recall takes that waits for nothing (recall waits before it searches).
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from palimpsest.gateway.v1 import memories_pb2

from bench import fixtures
from bench.mem0.environment import FAISS, MEM0, Mem0, Unavailable, mem0, skipped
from bench.result import Result, percentile
from bench.scenarios.recall_mem0 import FASTEST, LIMIT, STOCK, fill, sentences
from bench.suite import Running, embedded, gateway

ID = "P-4"
BUDGET_ACKNOWLEDGED = 0.25
BUDGET_RECALLABLE = 1.5
BEFORE = 500  # that each side holds already
WRITES = 150
WARM_UP = 15
SEED = 4
ACKNOWLEDGED, RECALLED, RECALL = "acknowledged", "recalled", "recall"


def run() -> Result:
    """The median until acknowledged over mem0's with its stock store; until recallable is in the details."""
    texts = sentences(BEFORE + WARM_UP + WRITES, SEED)
    try:
        with tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as scratch, ExitStack() as stack:
            peers = {
                store: stack.enter_context(mem0(store, Path(scratch) / store)) for store in (STOCK, FASTEST)
            }
            running = stack.enter_context(embedded(Path(scratch) / "data"))
            seconds, correct = asyncio.run(_measure(running, peers, texts))
    except Unavailable as why:
        return skipped(ID, "ratio", BUDGET_ACKNOWLEDGED, why)
    typical = {name: statistics.median(values) for name, values in seconds.items()}
    recallable = typical[RECALLED] - typical[RECALL]
    acknowledged, until_recallable = typical[ACKNOWLEDGED] / typical[STOCK], recallable / typical[STOCK]
    return Result(
        id=ID,
        unit="ratio",
        value=acknowledged,
        budget=BUDGET_ACKNOWLEDGED,
        ok=acknowledged <= BUDGET_ACKNOWLEDGED and until_recallable <= BUDGET_RECALLABLE,
        correct=all(correct.values()),
        yardstick=f"add(infer=False) of mem0 {MEM0} with its stock store, in its own process",
        load=(
            f"{WRITES} memories after {WARM_UP} others, one at a time and by turns, for a person who has"
            f" {BEFORE}; ours through the gateway's socket, mem0's in process; recallable: when a recall with"
            " a new query that waits for the memory has answered with it, less the median of such a recall"
            " that waits for nothing"
        ),
        details={
            "until_recallable": round(until_recallable, 4),
            "budget_until_recallable": BUDGET_RECALLABLE,
            "until_recalled": round(typical[RECALLED] / typical[STOCK], 4),
            f"over_faiss_{FAISS}": {
                "acknowledged": round(typical[ACKNOWLEDGED] / typical[FASTEST], 4),
                "until_recallable": round(recallable / typical[FASTEST], 4),
            },
            "p50_ms": {name: round(value * 1000, 2) for name, value in typical.items()},
            "p95_ms": {name: round(percentile(v, 0.95) * 1000, 2) for name, v in seconds.items()},
            "checks": correct,
        },
    )


async def _measure(
    running: Running, peers: dict[str, Mem0], texts: list[str]
) -> tuple[dict[str, list[float]], dict[str, bool]]:
    seconds: dict[str, list[float]] = {name: [] for name in (ACKNOWLEDGED, RECALLED, RECALL, *peers)}
    missed = 0
    before, new = texts[:BEFORE], texts[BEFORE:]
    for peer in peers.values():
        for text in before:
            peer.ask("add", text=text)
    async with gateway(running) as (stub, metadata):
        person = await fill(stub, metadata, before)

        async def ask(words: Sequence[str], tokens: Sequence[Any]) -> Any:
            request = memories_pb2.RecallRequest(
                agent_id=fixtures.AGENT,
                contact_id=person,
                query=" ".join(words),
                limit=LIMIT,
                wait_for=tokens,
            )
            return await stub.Recall(request, metadata=metadata)

        for number, text in enumerate(new):
            began = time.perf_counter()
            written = await stub.Remember(
                memories_pb2.RememberRequest(
                    agent_id=fixtures.AGENT, contact_id=person, key=f"new.{number}", value=text
                ),
                metadata=metadata,
            )
            taken = {ACKNOWLEDGED: time.perf_counter() - began}
            words = text.split()
            answer = await ask(words[:3], [written.token])
            taken[RECALLED] = time.perf_counter() - began
            missed += text not in [hit.memory.value for hit in answer.hits] or bool(answer.unindexed)
            began = time.perf_counter()
            await ask(words[3:6], [])
            taken[RECALL] = time.perf_counter() - began
            for name, peer in peers.items():
                taken[name] = peer.ask("add", text=text)["seconds"]
            if number >= WARM_UP:
                for name, values in seconds.items():
                    values.append(taken[name])
    found = {
        name: all(text in peer.ask("search", query=text, limit=LIMIT)["texts"] for text in new)
        for name, peer in peers.items()
    }
    return seconds, {"recalled": not missed, **{f"found_by_{name}": ok for name, ok in found.items()}}
