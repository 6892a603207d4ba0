"""Builds the semantic service: the only place that chooses its stores."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any

from palimpsest.compactor.v1 import compactor_pb2_grpc
from palimpsest.semantic.v1 import semantic_pb2_grpc
from prometheus_client import Counter, Histogram

from services.kit.channels import Channels
from services.kit.context import act_as
from services.kit.errors import DeadlineExceeded, DependencyDown, StartupError
from services.kit.identity import Principal, Role
from services.kit.models.settings import ModelSettings
from services.kit.outbox import Relay
from services.kit.serving import Service, background
from services.kit.stores import open_store
from services.kit.times import Clock, now
from services.memory.semantic.adapters.hyde import open_hyde
from services.memory.semantic.adapters.services import CompactorJobs, EmbedderTexts, EpisodicConversations
from services.memory.semantic.adapters.sql import migrations
from services.memory.semantic.adapters.sql.judgements import SqlJudgements
from services.memory.semantic.adapters.sql.memories import SqlMemories
from services.memory.semantic.adapters.sql.memories_writing import WriteRules
from services.memory.semantic.adapters.vectors import open_vectors
from services.memory.semantic.adapters.words import open_items
from services.memory.semantic.app.indexing import Indexer
from services.memory.semantic.app.judgements import Judgements
from services.memory.semantic.app.judging import DeterministicJudge
from services.memory.semantic.app.memories import Memories
from services.memory.semantic.app.recall import Recall, RecallSettings
from services.memory.semantic.app.reconciling import Reconciler
from services.memory.semantic.app.verifying import Verifier, VerifySettings
from services.memory.semantic.app.waiting import Waiter
from services.memory.semantic.config import SemanticSettings
from services.memory.semantic.domain.vectors import VectorModel
from services.memory.semantic.rpc.servicer import ROLES, SemanticServicer

CANONICAL_FILE = "semantic.db"
LAG_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600, 3600)
EMBEDDER_POLL_SECONDS = 0.2
STARTING = Principal(tenant="system", role=Role.SERVICE, subject="semantic")


async def build(
    settings: SemanticSettings,
    channels: Channels,
    stack: AsyncExitStack,
    *,
    clock: Clock = now,
    models: ModelSettings | None = None,
) -> Service:
    """The service, its relay running until `stack` is left.

    Raises StartupError: a database that can't be read, or an index made by another model. An item index or a
    vector index that can't be read is set aside and built again, for both are derived.
    """
    opened = await open_store(settings, migrations, CANONICAL_FILE, stack)
    database = opened.database
    texts = EmbedderTexts(channels.embedder)
    model = await _model(texts, settings.embedder_wait_seconds)
    vectors = await open_vectors(settings, model)
    stack.push_async_callback(vectors.close)

    relay = Relay(opened.outbox, compactor_pb2_grpc.CompactorServiceStub(channels.compactor))
    store = SqlMemories(database, _rules(settings))
    items = await open_items(settings, database, stack)
    # S-16: from the moment a message is stored, or a memory changed, until recall can find it.
    lag = Histogram(
        "palimpsest_index_lag_seconds",
        "Time from storing something to its being indexed.",
        buckets=LAG_BUCKETS,
        registry=None,
    )
    judgements = SqlJudgements(database)
    verdicts = Counter(
        "palimpsest_memory_verdicts_total",
        "Pairs of memories that were held against each other, by what became of it.",
        ["outcome"],
        registry=None,
    )
    verifier = Verifier(
        store=store,
        judgements=judgements,
        vectors=vectors,
        judge=DeterministicJudge(),
        settings=VerifySettings(candidates=settings.verify_candidates, cosine=settings.verify_cosine),
        count=lambda outcome: verdicts.labels(outcome.value).inc(),
        wake=relay.wake,
        clock=clock,
    )
    indexer = Indexer(
        store=store,
        items=items,
        vectors=vectors,
        texts=texts,
        conversations=EpisodicConversations(channels.episodic),
        observe_lag=lag.observe,
        clock=clock,
        verifier=verifier if settings.verify else None,
    )
    # S-15: the same for every tenant, until tenants have a policy of their own (G-12).
    hyde, hyde_metrics = (
        open_hyde(
            models or ModelSettings(),
            texts,
            stack,
            channel_seconds=settings.channel_seconds,
            may_leave=lambda _: settings.data_flow == "allow-partner",
        )
        if settings.hyde
        else (None, ())
    )
    servicer = SemanticServicer(
        memories=Memories(store=store, wake=relay.wake, clock=clock),
        judgements=Judgements(store=judgements, wake=relay.wake, clock=clock),
        recall=Recall(
            store=store,
            items=items,
            vectors=vectors,
            texts=texts,
            settings=RecallSettings(depth=settings.recall_depth, channel_seconds=settings.channel_seconds),
            clock=clock,
            hyde=hyde,
        ),
        indexer=indexer,
        waiter=Waiter(store=store, items=items, jobs=CompactorJobs(channels.compactor), indexer=indexer),
        items=items,
    )
    reconciler = Reconciler(store=store, items=items, vectors=vectors, wake=relay.wake, clock=clock)
    background(stack, [relay.run(), reconciler.run()])

    def add(server: Any) -> None:
        semantic_pb2_grpc.add_SemanticServiceServicer_to_server(servicer, server)

    return Service(
        name="palimpsest.semantic.v1.SemanticService",
        add=add,
        roles=ROLES,
        ready=opened.ready,
        collectors=(lag, verdicts, *hyde_metrics),
    )


def _rules(settings: SemanticSettings) -> WriteRules:
    return WriteRules(task_lifetime=timedelta(days=settings.task_lifetime_days), verify=settings.verify)


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
