"""A data folder with very many memories, written through the stores themselves: no gateway, no jobs.

The memories are made by `bench.large_texts`; here they get their places.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from palimpsest.gateway.v1 import conversations_pb2

from bench import fixtures
from bench.large_texts import Draft, Drafts
from services.embedder.adapters.onnx_folder import OnnxFolder
from services.embedder.bootstrap import default_model_dir
from services.gateway.app.keys import DEFAULT_TENANT
from services.kit.sql import Script, execute
from services.kit.sqlite import Database, SqliteScripts
from services.memory.semantic.adapters.sql import migrations
from services.memory.semantic.adapters.sql.memories import SqlMemories
from services.memory.semantic.adapters.sql.memories_writing import WriteRules, remember
from services.memory.semantic.adapters.sqlite_index import SqliteItemIndex
from services.memory.semantic.adapters.vectors import VECTOR_FOLDER, folder_name
from services.memory.semantic.adapters.vectors_edge import EdgeVectorIndex
from services.memory.semantic.adapters.vectors_edge_store import Store
from services.memory.semantic.adapters.words import INDEX_FILE, open_index_file
from services.memory.semantic.app.entries import memory_document, memory_point
from services.memory.semantic.bootstrap import CANONICAL_FILE
from services.memory.semantic.domain.memory import Memory
from services.memory.semantic.domain.vectors import Bucket, ContentClass, VectorModel

AGENTS = 20
CONTACTS_EACH = 100
BIG_AGENT = "big"
BIG_SHARE = 0.2
"""Of all memories are agent-wide ones of one agent; the others belong to the contacts of all other agents."""
BATCH = 1000
SAMPLES = 250  # memories to be asked for, in small and in big buckets
FIRST_MOMENT = datetime(2024, 1, 1, tzinfo=UTC)
SPACING = timedelta(seconds=30)
RULES = WriteRules(task_lifetime=timedelta(days=7), verify=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """A memory that is known to be there; `question` is a needle's, which has no word of the statement."""

    agent_id: str
    contact_id: str
    memory_id: str
    key: str
    value: str
    question: str


@dataclass(slots=True, kw_only=True)
class Loaded:
    """What was written, some memories of it, and seconds by part."""

    count: int
    big_count: int
    written: int = 0
    samples: list[Planted] = field(default_factory=list)
    big_samples: list[Planted] = field(default_factory=list)
    needles: list[Planted] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        """Adds what the block takes."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[part] += time.perf_counter() - began


def load(data: Path, count: int, seed: int = 1) -> Loaded:
    """Fills a fresh data folder with `count` memories and the needles; it is closed in order then."""
    return asyncio.run(_load(data, count, seed))


async def _load(data: Path, count: int, seed: int) -> Loaded:
    big = round(count * BIG_SHARE)
    loaded = Loaded(count=count, big_count=big)
    with loaded.timed("people"):
        people = await _people(data)
    model = OnnxFolder.load(default_model_dir())
    try:
        with loaded.timed("texts"):
            drafts = Drafts(model, seed)
        described = VectorModel(revision=model.description.revision, dimension=model.description.dimension)
        folder = data / VECTOR_FOLDER / folder_name(described.revision)
        async with AsyncExitStack() as stack:
            stores = await _Stores.open(data, folder, described, stack)
            for agent_id, contacts in people.items():
                await _fill(stores, drafts, loaded, agent_id, contacts, (count - big) // len(people))
            await _fill(stores, drafts, loaded, BIG_AGENT, [""], big)
            with loaded.timed("close"):
                await stack.aclose()
    finally:
        await model.close()
    with loaded.timed("optimise"):
        await asyncio.to_thread(_optimise, folder, described)
    return loaded


async def _people(data: Path) -> dict[str, list[str]]:
    """The agents' contacts, made through the gateway; the big agent is made besides."""
    found: dict[str, list[str]] = {}
    async with fixtures.serving(data) as (stub, metadata):
        agents = [f"agent{number}" for number in range(AGENTS)]
        for agent_id in (*agents, BIG_AGENT):
            await stub.CreateAgent(conversations_pb2.CreateAgentRequest(agent_id=agent_id), metadata=metadata)
        for agent_id in agents:
            found[agent_id] = []
            for number in range(CONTACTS_EACH):
                request = conversations_pb2.ResolveContactRequest(
                    agent_id=agent_id, identity=f"bench:{number}"
                )
                found[agent_id].append((await stub.ResolveContact(request, metadata=metadata)).contact.id)
    return found


async def _fill(
    stores: _Stores, drafts: Drafts, loaded: Loaded, agent_id: str, contacts: Sequence[str], count: int
) -> None:
    """An agent's memories, of its contacts by turns; needles of the first one are among them."""
    is_big = agent_id == BIG_AGENT
    samples = loaded.big_samples if is_big else loaded.samples
    wanted = SAMPLES if is_big else -(-SAMPLES // AGENTS)
    for start in range(0, count, BATCH):
        with loaded.timed("texts"):
            made = drafts.make(agent_id, contacts, start, min(BATCH, count - start))
            needles = drafts.needles(agent_id, contacts[0]) if start == 0 else []
        written = await stores.put(agent_id, made + needles, loaded)
        loaded.written += len(written)
        share = min(len(made), -(-wanted * BATCH // count))
        samples += [_planted(written[place], "") for place in drafts.dice.sample(range(len(made)), share)]
        loaded.needles += [
            _planted(memory, draft.question)
            for draft, memory in zip(needles, written[len(made) :], strict=True)
        ]


def _planted(memory: Memory, question: str) -> Planted:
    return Planted(
        agent_id=memory.agent_id,
        contact_id=memory.contact_id,
        memory_id=memory.id,
        key=memory.key,
        value=memory.value,
        question=question,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stores:
    """The stores of the semantic service."""

    memories: SqliteScripts
    items: SqliteItemIndex
    vectors: EdgeVectorIndex

    @classmethod
    async def open(cls, data: Path, folder: Path, model: VectorModel, stack: AsyncExitStack) -> _Stores:
        """Open until the stack is left."""
        canonical = await Database.open(data / CANONICAL_FILE, migrations("sqlite"))
        stack.push_async_callback(canonical.close)
        index = await open_index_file(data / INDEX_FILE, holds_words=True)
        stack.push_async_callback(index.close)
        vectors = await EdgeVectorIndex.open(folder, model)
        stack.push_async_callback(vectors.close)
        return cls(
            memories=SqliteScripts(canonical), items=SqliteItemIndex(SqliteScripts(index)), vectors=vectors
        )

    async def put(self, agent_id: str, drafts: Sequence[Draft], loaded: Loaded) -> list[Memory]:
        """Writes a batch to each store."""
        bucket = Bucket(tenant=DEFAULT_TENANT, agent=agent_id, content=ContentClass.MEMORY)
        with loaded.timed("canonical"):
            memories = await self.memories.write(lambda: _remember_all(drafts, loaded.written))
            revisions = {memory.id: memory.revision for memory in memories}
            await SqlMemories(self.memories, RULES).mark_indexed(DEFAULT_TENANT, agent_id, revisions)
        with loaded.timed("words"):
            await self.items.put_memories(bucket, [memory_document(memory) for memory in memories])
        with loaded.timed("vectors"):
            pairs = zip(memories, drafts, strict=True)
            await self.vectors.upsert([memory_point(bucket, memory, draft.vector) for memory, draft in pairs])
        return memories


def _remember_all(drafts: Sequence[Draft], before: int) -> Script[list[Memory]]:
    """As if written long ago, one after another; without their jobs, for they are indexed at once."""
    memories = []
    for place, draft in enumerate(drafts, before):
        remembered = yield from remember(DEFAULT_TENANT, draft.new, FIRST_MOMENT + SPACING * place, RULES)
        memories.append(remembered.memory)
    yield from execute("DELETE FROM outbox WHERE tenant = ?", DEFAULT_TENANT)
    return memories


def _optimise(folder: Path, model: VectorModel) -> None:
    """What the engine's process would do when nobody asks it anything."""
    store = Store.open(str(folder), model.revision, model.dimension)
    try:
        store.optimize()
    finally:
        store.close()
