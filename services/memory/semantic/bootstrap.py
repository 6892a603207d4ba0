"""Builds the semantic service: the only place that chooses its stores."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from datetime import timedelta
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import structlog
from palimpsest.compactor.v1 import compactor_pb2_grpc
from palimpsest.semantic.v1 import semantic_pb2_grpc
from prometheus_client import Histogram

from services.kit.channels import Channels
from services.kit.context import act_as
from services.kit.errors import DeadlineExceeded, DependencyDown, StartupError
from services.kit.identity import Principal, Role
from services.kit.outbox import Relay, SqliteOutbox
from services.kit.serving import Service, background
from services.kit.sqlite import CorruptDatabase, Database
from services.kit.times import Clock, now
from services.memory.semantic.adapters.services import CompactorJobs, EmbedderTexts, EpisodicConversations
from services.memory.semantic.adapters.sqlite_index import SqliteItemIndex
from services.memory.semantic.adapters.sqlite_memories import SqliteMemoryStore
from services.memory.semantic.adapters.vectors_edge import EdgeVectorIndex, discard
from services.memory.semantic.app.indexing import Indexer
from services.memory.semantic.app.memories import Memories
from services.memory.semantic.app.recall import Recall, RecallSettings
from services.memory.semantic.app.reconciling import Reconciler
from services.memory.semantic.app.vectors import VectorCorrupt
from services.memory.semantic.app.waiting import Waiter
from services.memory.semantic.config import SemanticSettings
from services.memory.semantic.domain.analysis import ANALYSER_REVISION
from services.memory.semantic.domain.vectors import VectorModel
from services.memory.semantic.rpc.servicer import ROLES, SemanticServicer

CANONICAL_FILE = "semantic.db"
INDEX_FILE = "semantic-index.db"
VECTOR_FOLDER = "vectors"
LAG_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600, 3600)
EMBEDDER_POLL_SECONDS = 0.2
PACKAGE = "services.memory.semantic"
REVISION_FACT = "revision"
INDEX_REVISION = f"2.{ANALYSER_REVISION}"  # of its tables, and of the terms in them
STARTING = Principal(tenant="system", role=Role.SERVICE, subject="semantic")


async def build(
    settings: SemanticSettings, channels: Channels, stack: AsyncExitStack, *, clock: Clock = now
) -> Service:
    """The service, its relay running until `stack` is left.

    Raises StartupError: a database that can't be read, or an index made by another model. An item index or a
    vector index that can't be read is set aside and built again, for both are derived.
    """
    migrations = files(PACKAGE) / "migrations"
    database = await Database.open(settings.data_dir / CANONICAL_FILE, migrations / "canonical")
    stack.push_async_callback(database.close)
    index_database = await _open_index(settings.data_dir / INDEX_FILE, migrations / "index")
    stack.push_async_callback(index_database.close)
    texts = EmbedderTexts(channels.embedder)
    model = await _model(texts, settings.embedder_wait_seconds)
    vectors = await _open_vectors(settings.data_dir / VECTOR_FOLDER, model)
    stack.push_async_callback(vectors.close)

    relay = Relay(SqliteOutbox(database), compactor_pb2_grpc.CompactorServiceStub(channels.compactor))
    store = SqliteMemoryStore(database, task_lifetime=timedelta(days=settings.task_lifetime_days))
    items = SqliteItemIndex(index_database)
    # S-16: from the moment a message is stored, or a memory changed, until recall can find it.
    lag = Histogram(
        "palimpsest_index_lag_seconds",
        "Time from storing something to its being indexed.",
        buckets=LAG_BUCKETS,
        registry=None,
    )
    indexer = Indexer(
        store=store,
        items=items,
        vectors=vectors,
        texts=texts,
        conversations=EpisodicConversations(channels.episodic),
        observe_lag=lag.observe,
        clock=clock,
    )
    servicer = SemanticServicer(
        memories=Memories(store=store, wake=relay.wake, clock=clock),
        recall=Recall(
            store=store,
            items=items,
            vectors=vectors,
            texts=texts,
            settings=RecallSettings(depth=settings.recall_depth, channel_seconds=settings.channel_seconds),
            clock=clock,
        ),
        indexer=indexer,
        waiter=Waiter(store=store, items=items, jobs=CompactorJobs(channels.compactor), indexer=indexer),
        items=items,
    )
    reconciler = Reconciler(store=store, items=items, vectors=vectors, wake=relay.wake)
    background(stack, [relay.run(), reconciler.run()])

    def add(server: Any) -> None:
        semantic_pb2_grpc.add_SemanticServiceServicer_to_server(servicer, server)

    async def ready() -> bool:
        return bool(await database.read(lambda c: c.execute("SELECT 1").fetchone()))

    return Service(
        name="palimpsest.semantic.v1.SemanticService", add=add, roles=ROLES, ready=ready, collectors=(lag,)
    )


async def _model(texts: EmbedderTexts, patience: float) -> VectorModel:
    """What the embedder describes. Raises StartupError when it doesn't answer for `patience` seconds."""
    deadline = asyncio.get_running_loop().time() + patience
    while True:
        try:
            with act_as(STARTING):
                return await texts.model()
        except (DependencyDown, DeadlineExceeded) as error:
            if asyncio.get_running_loop().time() >= deadline:
                raise StartupError("the embedder does not answer") from error
            await asyncio.sleep(EMBEDDER_POLL_SECONDS)


async def _open_index(path: Path, migrations: Traversable) -> Database:
    """The item index; a new one in place of one that is corrupt or of another revision."""
    try:
        database = await Database.open(path, migrations, synchronous="NORMAL")
    except CorruptDatabase:
        structlog.get_logger("semantic").warning("index_corrupt", file=path.name)
        _remove(path)
        database = await Database.open(path, migrations, synchronous="NORMAL")
    facts = await database.read(
        lambda c: {row["name"]: row["value"] for row in c.execute("SELECT name, value FROM index_facts")}
    )
    if facts and facts.get(REVISION_FACT) != INDEX_REVISION:
        await database.close()
        _remove(path)
        return await _open_index(path, migrations)
    await database.write(
        lambda c: c.execute(
            "INSERT OR REPLACE INTO index_facts VALUES (?, ?)", (REVISION_FACT, INDEX_REVISION)
        )
    )
    return database


async def _open_vectors(folder: Path, model: VectorModel) -> EdgeVectorIndex:
    try:
        return await EdgeVectorIndex.open(folder, model)
    except VectorCorrupt:
        structlog.get_logger("semantic").warning("vectors_corrupt", folder=folder.name)
        discard(folder)
        return await EdgeVectorIndex.open(folder, model)


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
