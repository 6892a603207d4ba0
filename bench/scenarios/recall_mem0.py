"""P-5: recall at 5,882 memories of one person, over mem0's search with the same texts, vectors and model."""

from __future__ import annotations

import asyncio
import base64
import random
import statistics
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from palimpsest.gateway.v1 import conversations_pb2, memories_pb2

from bench import fixtures
from bench.mem0.environment import FAISS, MEM0, Mem0, Unavailable, mem0, skipped
from bench.result import Result, percentile
from bench.suite import Metadata, Running, embedded, gateway
from services.embedder.adapters.onnx_folder import OnnxFolder
from services.embedder.bootstrap import default_model_dir

ID = "P-5"
BUDGET_STOCK = 0.1
BUDGET_FASTEST = 1.3
MEMORIES = 5_882
WRITERS = 64
WORDS = 8
QUERIES = 200
WARM_UP = 20
LIMIT = 10
SEED = 5
STOCK, FASTEST = "qdrant", "faiss"
LEAST_FOUND = 0.5  # of the texts that are asked for, by a search that ranks by likeness alone
OURS = "palimpsest"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A query, and the text that it was made from."""

    query: str
    text: str


def run() -> Result:
    """The median over that of mem0's fastest local store; the stock store's is in the details."""
    texts = sentences(MEMORIES, SEED)
    try:
        with tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as scratch, ExitStack() as stack:
            peers = {
                store: stack.enter_context(mem0(store, Path(scratch) / store)) for store in (STOCK, FASTEST)
            }
            vectors = _vectors(texts)
            for peer in peers.values():
                peer.ask("fill", texts=texts, vectors=vectors)
            running = stack.enter_context(embedded(Path(scratch) / "data"))
            seconds, found = asyncio.run(_measure(running, peers, texts))
    except Unavailable as why:
        return skipped(ID, "ratio", BUDGET_FASTEST, why)
    typical = {name: statistics.median(values) for name, values in seconds.items()}
    over_fastest, over_stock = typical[OURS] / typical[FASTEST], typical[OURS] / typical[STOCK]
    return Result(
        id=ID,
        unit="ratio",
        value=over_fastest,
        budget=BUDGET_FASTEST,
        ok=over_fastest <= BUDGET_FASTEST and over_stock <= BUDGET_STOCK,
        correct=found[OURS] == 1.0 and min(found[STOCK], found[FASTEST]) >= LEAST_FOUND,
        yardstick=f"search of mem0 {MEM0} over FAISS {FAISS} and its stock store, each in its own process",
        load=(
            f"{MEMORIES} memories of one person; {QUERIES} distinct queries after {WARM_UP} others, limit"
            f" {LIMIT}, one at a time and by turns; ours through the gateway's socket, mem0's in process"
        ),
        details={
            "over_stock": round(over_stock, 4),
            "budget_over_stock": BUDGET_STOCK,
            "p50_ms": {name: round(value * 1000, 2) for name, value in typical.items()},
            "p95_ms": {name: round(percentile(v, 0.95) * 1000, 2) for name, v in seconds.items()},
            "found": {name: round(share, 4) for name, share in found.items()},
        },
    )


def sentences(count: int, seed: int) -> list[str]:
    """Made-up texts, all different."""
    dice = random.Random(seed)
    return [f"{' '.join(fixtures.word(dice) for _ in range(WORDS))} {number}" for number in range(count)]


async def fill(stub: Any, metadata: Metadata, texts: list[str]) -> str:
    """Remembers texts about one person and waits until all are indexed; the contact's id."""
    await stub.CreateAgent(conversations_pb2.CreateAgentRequest(agent_id=fixtures.AGENT), metadata=metadata)
    asked = conversations_pb2.ResolveContactRequest(agent_id=fixtures.AGENT, identity="bench:0")
    person = str((await stub.ResolveContact(asked, metadata=metadata)).contact.id)
    todo = iter(enumerate(texts))

    async def write() -> None:
        for number, text in todo:
            await stub.Remember(
                memories_pb2.RememberRequest(
                    agent_id=fixtures.AGENT, contact_id=person, key=f"note.{number}", value=text
                ),
                metadata=metadata,
            )

    await asyncio.gather(*(write() for _ in range(WRITERS)))
    if (await fixtures.until_idle(stub, metadata)).dead:
        raise RuntimeError("not every memory was indexed")
    return person


def _vectors(texts: list[str]) -> list[str]:
    """Of the project's model, as base64."""
    model = OnnxFolder.load(default_model_dir())
    vectors = model.embed_now(model.prepare_now(texts))
    asyncio.run(model.close())
    return [base64.b64encode(vector).decode() for vector in vectors]


def _questions(texts: list[str], count: int) -> list[Question]:
    """Four words of a text each."""
    dice = random.Random(SEED)
    questions = []
    for text in dice.sample(texts, count):
        one, two, three, four = dice.sample(text.split()[:-1], 4)
        questions.append(Question(query=f"what was said of {one} {two} and {three} {four}?", text=text))
    return questions


async def _measure(
    running: Running, peers: dict[str, Mem0], texts: list[str]
) -> tuple[dict[str, list[float]], dict[str, float]]:
    seconds: dict[str, list[float]] = {name: [] for name in (OURS, *peers)}
    found = dict.fromkeys(seconds, 0)
    async with gateway(running) as (stub, metadata):
        person = await fill(stub, metadata, texts)
        for number, asked in enumerate(_questions(texts, WARM_UP + QUERIES)):
            request = memories_pb2.RecallRequest(
                agent_id=fixtures.AGENT, contact_id=person, query=asked.query, limit=LIMIT
            )
            began = time.perf_counter()
            answer = await stub.Recall(request, metadata=metadata)
            taken = {OURS: time.perf_counter() - began}
            said = {OURS: [hit.memory.value for hit in answer.hits]}
            for name, peer in peers.items():
                reply = peer.ask("search", query=asked.query, limit=LIMIT)
                taken[name], said[name] = reply["seconds"], reply["texts"]
            if number >= WARM_UP:
                for name, values in seconds.items():
                    values.append(taken[name])
                    found[name] += asked.text in said[name]
    return seconds, {name: hits / QUERIES for name, hits in found.items()}
