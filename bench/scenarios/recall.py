"""P-3: recall of memories through every channel, over what it does at the least, done bare in this process.

The yardstick embeds the query, asks the vector engine once and FTS5 once, in sequence, over a copy of the
suite's own index files. What recall takes beyond that is counted in empty calls to the suite.
"""

from __future__ import annotations

import asyncio
import random
import shutil
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grpc_health.v1 import health_pb2, health_pb2_grpc
from palimpsest.common.v1 import resources_pb2
from palimpsest.gateway.v1 import conversations_pb2, gateway_pb2_grpc, memories_pb2

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

ID = "P-3"
BUDGET_CALLS = 6.0
MEMORIES = 50_000
CONTACTS = 100
MESSAGES_EACH = 20  # with a contact; each is the source of one of the memories, for the channel of messages
DEPTH = 100  # hits that recall asks of a channel
LIMIT = 10
WARM_UP = 40
QUERIES = 400
SEED = 3
CHANNELS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A query that nobody asked before, of whom, and the memory that answers it."""

    contact_id: str
    query: str
    answer_id: str


def run() -> Result:
    """The excess of recall's median over the yardstick's, in medians of an empty call."""
    with tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as scratch:
        data = Path(scratch) / "data"
        fill(data, MEMORIES, CONTACTS)
        return measure(data)


def fill(data: Path, memories: int, contacts: int) -> None:
    """Writes a data folder: memories, and a conversation with each contact that some of them came from."""
    sourced = contacts * MESSAGES_EACH
    fixtures.memories(data, memories - sourced, contacts)
    asyncio.run(_add_sourced(data, contacts))


def measure(data: Path) -> Result:
    """Over a folder that `fill` wrote, which is free again afterwards."""
    copy = data.with_name("yardstick")
    shutil.copytree(data, copy)
    with yardstick(copy) as bare, embedded(data) as running:
        seconds, correct = asyncio.run(_interleave(running, bare))
    typical = {name: statistics.median(values) for name, values in seconds.items()}
    value = (typical["recall"] - typical["yardstick"]) / typical["empty"]
    return Result(
        id=ID,
        unit="empty calls",
        value=value,
        budget=BUDGET_CALLS,
        ok=value <= BUDGET_CALLS,
        correct=all(correct.values()),
        yardstick=(
            "in one process, in sequence, over a copy of the same index: the query embedded, one vector"
            " query, one FTS5 query; and the health check of the suite as an empty call"
        ),
        load=(
            f"{MEMORIES} memories of {CONTACTS} contacts, {CONTACTS * MESSAGES_EACH} of them from messages,"
            f" seeded vectors; {QUERIES} distinct queries after {WARM_UP} others, limit {LIMIT}, depth"
            f" {DEPTH}, one at a time, each followed by the yardstick and an empty call"
        ),
        details={
            "p50_ms": milliseconds(typical),
            "p95_ms": milliseconds({name: percentile(values, 0.95) for name, values in seconds.items()}),
            "yardstick_p50_ms": milliseconds({k: statistics.median(v) for k, v in bare.parts.items()}),
            "checks": correct,
        },
    )


async def _add_sourced(data: Path, contacts: int) -> None:
    dice = random.Random(SEED)
    async with fixtures.serving(data) as (stub, metadata):
        for number in range(contacts):
            person = await _person(stub, metadata, number)
            name = f"c{number}"
            await stub.CreateConversation(
                conversations_pb2.CreateConversationRequest(
                    agent_id=fixtures.AGENT, conversation_id=name, contact_id=person
                ),
                metadata=metadata,
            )
            said = [" ".join(fixtures.word(dice) for _ in range(12)) for _ in range(MESSAGES_EACH)]
            stored = await stub.Ingest(
                conversations_pb2.IngestRequest(
                    agent_id=fixtures.AGENT,
                    conversation_id=name,
                    messages=[
                        resources_pb2.NewMessage(
                            role=resources_pb2.ROLE_USER, parts=[resources_pb2.Part(text=text)]
                        )
                        for text in said
                    ],
                ),
                metadata=metadata,
            )
            for message in stored.messages:
                await stub.Remember(
                    memories_pb2.RememberRequest(
                        agent_id=fixtures.AGENT,
                        contact_id=person,
                        key=f"{fixtures.word(dice)}.from-{message.sequence}",
                        value=" ".join(fixtures.word(dice) for _ in range(12)),
                        provenance=[
                            resources_pb2.MessageRef(conversation_id=name, message_id=message.message_id)
                        ],
                    ),
                    metadata=metadata,
                )
    if not await fixtures.drained(data, {f"c{number}": MESSAGES_EACH for number in range(contacts)}):
        raise RuntimeError("not everything was indexed")


async def _person(stub: Any, metadata: Metadata, number: int) -> str:
    request = conversations_pb2.ResolveContactRequest(agent_id=fixtures.AGENT, identity=f"bench:{number}")
    return str((await stub.ResolveContact(request, metadata=metadata)).contact.id)


async def _questions(stub: Any, metadata: Metadata, count: int) -> list[Question]:
    """Each names the key of a memory, words of its value, and words of a message of the same person."""
    dice = random.Random(SEED)
    questions: dict[str, Question] = {}
    for number in range(CONTACTS):
        person = await _person(stub, metadata, number)
        listing = memories_pb2.ListMemoriesRequest(agent_id=fixtures.AGENT, contact_id=person, page_size=500)
        memories = (await stub.ListMemories(listing, metadata=metadata)).memories
        pages = conversations_pb2.ListMessagesRequest(
            agent_id=fixtures.AGENT, conversation_id=f"c{number}", page_size=MESSAGES_EACH
        )
        messages = (await stub.ListMessages(pages, metadata=metadata)).messages
        for memory in dice.sample(list(memories), -(-count // CONTACTS)):
            key = memory.key.partition(".")[0]
            first, second = dice.sample(memory.value.split(), 2)
            third, fourth = dice.sample(dice.choice(messages).parts[0].text.split(), 2)
            query = f"what became of {key} with the {first} and {second}, since {third} {fourth}?"
            questions[query] = Question(contact_id=person, query=query, answer_id=memory.id)
    found = list(questions.values())
    dice.shuffle(found)
    return found[:count]


async def _interleave(running: Running, bare: Yardstick) -> tuple[dict[str, list[float]], dict[str, bool]]:
    seconds: dict[str, list[float]] = {"recall": [], "yardstick": [], "empty": []}
    channels: set[int] = set()
    answered, alike, failures = 0, 0, 0
    async with gateway_channel(running) as channel:
        stub: Any = gateway_pb2_grpc.GatewayServiceStub(channel)
        health: Any = health_pb2_grpc.HealthStub(channel)
        metadata = (("authorization", f"Bearer {running.api_key}"),)
        questions = await _questions(stub, metadata, WARM_UP + QUERIES)
        for number, asked in enumerate(questions):
            if number == WARM_UP:
                for values in (*seconds.values(), *bare.parts.values()):
                    values.clear()
                answered = alike = failures = 0
            request = memories_pb2.RecallRequest(
                agent_id=fixtures.AGENT, contact_id=asked.contact_id, query=asked.query, limit=LIMIT
            )
            began = time.perf_counter()
            answer = await stub.Recall(request, metadata=metadata)
            seconds["recall"].append(time.perf_counter() - began)
            began = time.perf_counter()
            near, worded = bare.ask(asked.contact_id, asked.query)
            seconds["yardstick"].append(time.perf_counter() - began)
            began = time.perf_counter()
            await health.Check(health_pb2.HealthCheckRequest(), metadata=metadata)
            seconds["empty"].append(time.perf_counter() - began)
            failures += len(answer.failures)
            answered += any(hit.memory.id == asked.answer_id for hit in answer.hits)
            alike += len(near) == DEPTH and asked.answer_id in worded
            channels |= {rank.channel for hit in answer.hits for rank in hit.explanation.channels}
    return seconds, {
        "answered": answered == QUERIES,
        "yardstick_finds_the_same": alike == QUERIES,
        "every_channel": len(channels) == CHANNELS and not failures,
    }


def milliseconds(seconds: dict[str, float]) -> dict[str, float]:
    """For a result's details."""
    return {name: round(value * 1000, 3) for name, value in seconds.items()}


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
def yardstick(data: Path) -> Iterator[Yardstick]:
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
