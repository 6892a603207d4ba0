"""P-6: messages from append to searchable, over the embedding model alone with the same texts in batches."""

from __future__ import annotations

import asyncio
import random
import statistics
import time
from collections.abc import Sequence
from typing import Any

from palimpsest.common.v1 import recall_pb2
from palimpsest.gateway.v1 import conversations_pb2, memories_pb2

from bench import fixtures
from bench.result import Result
from bench.suite import Metadata, Running, embedded, gateway
from services.embedder.adapters.onnx_folder import OnnxFolder
from services.embedder.bootstrap import default_model_dir
from services.embedder.config import EmbedderSettings

ID = "P-6"
BUDGET = 0.75
ROUNDS = 5
MESSAGES = 960  # a round
CONVERSATIONS = 8
CHUNK = 40  # messages of an Ingest call
WORDS = (6, 30)  # of a message, from and to
WARM_UP = 128
SAMPLE = 10  # messages of a round that are looked for
POLL_SECONDS = 0.05
GIVE_UP_SECONDS = 300.0
SEED = 6


def run() -> Result:
    """The median over rounds of the suite's rate over the model's, which takes its turn in each."""
    model = OnnxFolder.load(default_model_dir())
    try:
        with embedded() as running:
            rounds, correct = asyncio.run(_measure(running, model))
    finally:
        asyncio.run(model.close())
    value = statistics.median(ours / alone for ours, alone in rounds)
    return Result(
        id=ID,
        unit="ratio",
        value=value,
        budget=BUDGET,
        ok=value >= BUDGET,
        correct=all(correct.values()),
        yardstick=(
            f"the same texts embedded in one process, sorted by length, {_batch_size()} at a time; for each"
            " round before it or after it, by turns"
        ),
        load=(
            f"{MESSAGES} messages of {WORDS[0]} to {WORDS[1]} made-up words a round, ingested {CHUNK} at"
            f" a time into {CONVERSATIONS} conversations at once; from the first call until all are"
            f" searchable; {ROUNDS} rounds"
        ),
        details={
            "messages_per_second": [round(ours, 1) for ours, _ in rounds],
            "embedded_alone_per_second": [round(alone, 1) for _, alone in rounds],
            "checks": correct,
        },
    )


async def _measure(running: Running, model: OnnxFolder) -> tuple[list[tuple[float, float]], dict[str, bool]]:
    dice = random.Random(SEED)
    rounds: list[tuple[float, float]] = []
    found = 0
    async with gateway(running) as (stub, metadata):
        load = Load(stub, metadata)
        await load.prepare()
        warm_up = _texts(dice, WARM_UP)
        await load.index(warm_up)
        _embed(model, warm_up)
        for number in range(ROUNDS):
            texts = _texts(dice, MESSAGES)
            if number % 2:
                alone = _embed(model, texts)
                ours = await load.index(texts)
            else:
                ours = await load.index(texts)
                alone = _embed(model, texts)
            rounds.append((len(texts) / ours, len(texts) / alone))
            found += await load.find(dice.sample(texts, SAMPLE))
        total = WARM_UP + ROUNDS * MESSAGES
        return rounds, {
            "found": found == ROUNDS * SAMPLE,
            "indexed": await load.indexed() == total,
            "no_job_failed": not load.dead,
        }


class Load:
    """Conversations of an agent that grow together."""

    def __init__(self, stub: Any, metadata: Metadata) -> None:
        self._stub = stub
        self._metadata = metadata
        self.dead = 0
        self._appended = 0
        self._ends = dict.fromkeys(_names(), "")  # ids of the newest messages

    async def prepare(self) -> None:
        """The agent and its conversations."""
        create = conversations_pb2.CreateAgentRequest(agent_id=fixtures.AGENT)
        await self._stub.CreateAgent(create, metadata=self._metadata)
        for name in _names():
            await self._stub.CreateConversation(
                conversations_pb2.CreateConversationRequest(agent_id=fixtures.AGENT, conversation_id=name),
                metadata=self._metadata,
            )

    async def index(self, texts: Sequence[str]) -> float:
        """Seconds from the first append until all of the texts are searchable."""
        began = time.perf_counter()
        await asyncio.gather(
            *(self._ingest(name, texts[place::CONVERSATIONS]) for place, name in enumerate(_names()))
        )
        self._appended += len(texts)
        while await self.indexed() < self._appended:
            if time.perf_counter() - began > GIVE_UP_SECONDS:
                raise RuntimeError("not every message was indexed")
            await asyncio.sleep(POLL_SECONDS)
        took = time.perf_counter() - began
        await self._settle()
        return took

    async def find(self, texts: Sequence[str]) -> int:
        """How many of the texts recall finds by their beginnings."""
        return sum([await self._finds(text) for text in texts])

    async def indexed(self) -> int:
        """Messages that are searchable."""
        request = conversations_pb2.ListConversationsRequest(agent_id=fixtures.AGENT)
        listed = await self._stub.ListConversations(request, metadata=self._metadata)
        return sum(conversation.indexed_count for conversation in listed.conversations)

    async def _settle(self) -> None:
        """Lets other derived work end, so that it is not in the way of the model alone."""
        self.dead = (await fixtures.until_idle(self._stub, self._metadata)).dead

    async def _ingest(self, name: str, texts: Sequence[str]) -> None:
        for start in range(0, len(texts), CHUNK):
            stored = await self._stub.Ingest(
                conversations_pb2.IngestRequest(
                    agent_id=fixtures.AGENT,
                    conversation_id=name,
                    parent_id=self._ends[name],
                    messages=[fixtures.message(text) for text in texts[start : start + CHUNK]],
                ),
                metadata=self._metadata,
            )
            self._ends[name] = stored.messages[-1].message_id

    async def _finds(self, text: str) -> bool:
        answer = await self._stub.RecallConversation(
            memories_pb2.RecallConversationRequest(
                agent_id=fixtures.AGENT,
                query=text[:200],
                mode=recall_pb2.SEARCH_MODE_SEMANTIC,
                scope=memories_pb2.SEARCH_SCOPE_ALL,
                limit=5,
            ),
            metadata=self._metadata,
        )
        return any(part.text == text for hit in answer.hits for part in hit.message.parts)


def _embed(model: OnnxFolder, texts: Sequence[str]) -> float:
    """Seconds for all of the texts."""
    size = _batch_size()
    began = time.perf_counter()
    prepared = sorted(model.prepare_now(texts), key=lambda text: text.token_count)
    for start in range(0, len(prepared), size):
        model.embed_now(prepared[start : start + size])
    return time.perf_counter() - began


def _batch_size() -> int:
    return int(EmbedderSettings.model_fields["batch_size"].default)


def _texts(dice: random.Random, count: int) -> list[str]:
    return [" ".join(fixtures.word(dice) for _ in range(dice.randint(*WORDS))) for _ in range(count)]


def _names() -> list[str]:
    return [f"c{number}" for number in range(CONVERSATIONS)]
