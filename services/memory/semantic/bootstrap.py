"""Builds the semantic service: the only place that chooses its stores."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from palimpsest.compactor.v1 import compactor_pb2_grpc
from palimpsest.history.v1 import history_pb2_grpc
from palimpsest.semantic.v1 import semantic_pb2_grpc
from prometheus_client import Counter, Histogram

from services.kit.channels import Channels
from services.kit.models.metrics import ModelMetrics
from services.kit.models.recording import EpisodicUsage
from services.kit.models.settings import ModelSettings
from services.kit.outbox import Relay
from services.kit.policy import Bounded, DataFlow, Gate, Policies
from services.kit.policy_client import GatewayPolicies, Refusals
from services.kit.serving import Service, background, roles_of
from services.kit.sql import SqlDatabase
from services.kit.stores import open_store
from services.kit.times import Clock, now
from services.memory.semantic.adapters.document_sources import CompactorDocuments, EpisodicContacts
from services.memory.semantic.adapters.hyde import open_hyde
from services.memory.semantic.adapters.judge_model import open_judge
from services.memory.semantic.adapters.remote import open_remote
from services.memory.semantic.adapters.services import (
    CompactorJobs,
    EmbedderModels,
    EpisodicConversations,
)
from services.memory.semantic.adapters.sql import migrations
from services.memory.semantic.adapters.sql.documents import SqlIndexedDocuments
from services.memory.semantic.adapters.sql.judgements import SqlJudgements
from services.memory.semantic.adapters.sql.memories import SqlMemories
from services.memory.semantic.adapters.sql.memories_writing import WriteRules
from services.memory.semantic.adapters.sql.reindexes import SqlCanonical, SqlReindexes
from services.memory.semantic.adapters.sql.upkeep import SqlUpkeep
from services.memory.semantic.adapters.vectors import open_vectors
from services.memory.semantic.adapters.words import open_items
from services.memory.semantic.app.document_indexing import DocumentIndexer
from services.memory.semantic.app.document_search import DocumentSearch
from services.memory.semantic.app.document_upkeep import DocumentUpkeep
from services.memory.semantic.app.drift import DriftCheck
from services.memory.semantic.app.filling import Filler
from services.memory.semantic.app.following import FollowedIndexing
from services.memory.semantic.app.hyde import HYDE
from services.memory.semantic.app.indexing import Indexer
from services.memory.semantic.app.item_ports import ItemIndex
from services.memory.semantic.app.judgements import Judgements
from services.memory.semantic.app.judging import JUDGE
from services.memory.semantic.app.memories import Memories
from services.memory.semantic.app.ports import MemoryStore
from services.memory.semantic.app.recall import Recall, RecallSettings
from services.memory.semantic.app.reconciling import Reconciler
from services.memory.semantic.app.reindexing import Reindexer
from services.memory.semantic.app.strangers import Strangers
from services.memory.semantic.app.sweeping import Sweeper
from services.memory.semantic.app.syncing import NoRemote
from services.memory.semantic.app.upkeep import Upkeep
from services.memory.semantic.app.vector_writing import VectorWriter
from services.memory.semantic.app.verification_jobs import VerificationJobs
from services.memory.semantic.app.verifying import Verifier, VerifySettings
from services.memory.semantic.app.waiting import Waiter
from services.memory.semantic.config import SemanticSettings
from services.memory.semantic.opening import OpenVectors, open_generations
from services.memory.semantic.rpc import search_servicer, upkeep_servicer
from services.memory.semantic.rpc.servicer import DESCRIPTOR, SemanticServicer


@dataclass(frozen=True, slots=True, kw_only=True)
class Openers:
    """What opens the stores; a test puts something of its own between them and who uses them."""

    memories: Callable[[SqlDatabase, WriteRules], MemoryStore] = SqlMemories
    items: Callable[[SemanticSettings, SqlDatabase, AsyncExitStack], Awaitable[ItemIndex]] = open_items
    vectors: OpenVectors = open_vectors


AS_CONFIGURED = Openers()
CANONICAL_FILE = "semantic.db"
LAG_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600, 3600)


async def build(
    settings: SemanticSettings,
    channels: Channels,
    stack: AsyncExitStack,
    *,
    clock: Clock = now,
    models: ModelSettings | None = None,
    openers: Openers = AS_CONFIGURED,
) -> Service:
    """The service, its relay running until `stack` is left.

    Raises StartupError: a database that can't be read, or an index made by another model. An item index or a
    vector index that can't be read is set aside and built again, for both are derived.
    """
    opened = await open_store(settings, migrations, CANONICAL_FILE, stack)
    database = opened.database
    relay = Relay(opened.outbox, compactor_pb2_grpc.CompactorServiceStub(channels.compactor))
    store = openers.memories(database, _rules(settings))
    # S-15: what tenants chose, within what the deployment allows.
    policies = Bounded(
        policies=GatewayPolicies(channels.gateway, service="semantic"),
        deployment=DataFlow(settings.data_flow),
    )
    refusals = Refusals(channels.gateway, service="semantic", clock=clock)
    remote = open_remote(
        settings,
        database,
        store,
        stack,
        policies=policies,
        refused=refusals,
        wake=relay.wake,
        clock=clock,
    )
    items = await openers.items(settings, database, stack)
    change = await open_generations(
        settings, database, items, EmbedderModels(channels.embedder), stack, clock, openers.vectors
    )
    generations = change.generations
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
    model_metrics = ModelMetrics("semantic")
    usage = EpisodicUsage(history_pb2_grpc.HistoryServiceStub(channels.episodic), service="semantic")
    stack.push_async_callback(usage.close)
    judge = open_judge(
        (models or ModelSettings()) if settings.judge_model else None,
        stack,
        seconds=settings.judge_seconds,
        gate=Gate(policies, refusals, JUDGE),
        used=usage.beside(model_metrics),
    )
    verifier_by = partial(
        Verifier,
        store=store,
        judgements=judgements,
        judge=judge,
        settings=VerifySettings(candidates=settings.verify_candidates, cosine=settings.verify_cosine),
        count=lambda outcome: verdicts.labels(outcome.value).inc(),
        wake=relay.wake,
        clock=clock,
        wanted=lambda tenant, agent_id: verifies(policies, tenant, agent_id),
    )
    verifiers = {one.model.revision: verifier_by(vectors=one.vectors) for one in generations.written}
    verifier_of = (lambda one: verifiers[one.model.revision]) if settings.verify else None
    documents = SqlIndexedDocuments(database)
    derived = DocumentUpkeep(documents, items)
    indexer = Indexer(
        store=store,
        items=items,
        generations=generations,
        conversations=EpisodicConversations(channels.episodic),
        observe_lag=lag.observe,
        clock=clock,
        verifier_of=verifier_of,
        documents=DocumentIndexer(
            store=documents,
            texts=CompactorDocuments(channels.compactor),
            contacts=EpisodicContacts(channels.episodic),
            items=items,
            writer=VectorWriter(generations),
        ),
    )
    hyde = (
        open_hyde(
            models or ModelSettings(),
            stack,
            channel_seconds=settings.channel_seconds,
            gate=Gate(policies, refusals, HYDE),
            used=usage.beside(model_metrics),
        )
        if settings.hyde
        else None
    )
    strangers = Strangers(store=store, items=items, generations=generations, clock=clock, documents=derived)
    recall_settings = RecallSettings(depth=settings.recall_depth, channel_seconds=settings.channel_seconds)
    reindexer = Reindexer(
        reindexes=SqlReindexes(database),
        canonical=SqlCanonical(database),
        generations=generations,
        indexer=indexer,
        strangers=strangers,
        replica=change.replica,
        clock=clock,
    )
    servicer = SemanticServicer(
        reindexer=reindexer,
        generations=generations,
        memories=Memories(store=store, wake=relay.wake, clock=clock),
        judgements=Judgements(store=judgements, wake=relay.wake, clock=clock),
        recall=Recall(
            store=store,
            items=items,
            generations=generations,
            settings=recall_settings,
            clock=clock,
            hyde=hyde,
            remote=None if remote is None else remote.recall,
        ),
        indexer=indexer if remote is None else FollowedIndexing(indexer, remote.syncing),
        waiter=Waiter(store=store, items=items, jobs=CompactorJobs(channels.compactor), indexer=indexer),
        items=items,
        syncing=NoRemote() if remote is None else remote.syncing,
        policies=policies,
    )
    reconciler = Reconciler(
        store=store,
        items=items,
        generations=generations,
        strangers=strangers,
        turns=change.replica,
        wake=relay.wake,
        clock=clock,
        lease_seconds=change.settings.lease_seconds,
        documents=derived,
    )
    filler = Filler(
        generations=generations,
        models=change.models,
        items=items,
        indexer=indexer,
        strangers=strangers,
        replica=change.replica,
        settings=change.settings,
        clock=clock,
    )
    kept = SqlUpkeep(database)
    drift = DriftCheck(
        store=store, upkeep=kept, items=items, reconciler=reconciler, wake=relay.wake, clock=clock
    )
    upkeep = Upkeep(store=kept, generations=generations, judge=judge, wake=relay.wake, clock=clock)
    verifications = VerificationJobs(store=store, generations=generations, verifier_of=verifier_of)
    sweeper = Sweeper(store=store, upkeep=kept, items=items, wake=relay.wake, clock=clock)
    background(stack, [filler.run(), reindexer.run(), sweeper.run(settings.sweep_seconds)])
    if change.shared:
        background(stack, [change.replica.run()])
    background(stack, [relay.run(), reconciler.run(), refusals.run()])
    if remote is not None:
        background(stack, [remote.syncing.run()])

    def add(server: Any) -> None:
        semantic_pb2_grpc.add_SemanticServiceServicer_to_server(servicer, server)

    return Service(
        name=DESCRIPTOR.full_name,
        add=add,
        roles=roles_of(DESCRIPTOR),
        ready=_both(opened.ready, change.replica.current),
        faces=(
            upkeep_servicer.face(upkeep, drift, verifications),
            search_servicer.face(
                DocumentSearch(
                    store=documents, items=items, generations=generations, settings=recall_settings
                ),
                policies,
            ),
        ),
        collectors=(lag, verdicts, refusals.counter, usage.lost, *model_metrics.collectors),
    )


def _both(*conditions: Callable[[], Awaitable[bool]]) -> Callable[[], Awaitable[bool]]:
    """Whether all of them hold."""

    async def hold() -> bool:
        return all([await condition() for condition in conditions])

    return hold


async def verifies(policies: Policies, tenant: str, agent_id: str) -> bool:
    """Unless the settings say no (G-12).

    Settings that are not known say nothing, and the deployment's default holds. Nothing leaves by that: the
    judge by rules asks nobody, and a model's judge has a gate of its own, which is shut where nothing is
    known. "No" would be final: the memory is marked as one that needs no verification.
    """
    return (await policies.of(tenant, agent_id)).verify is not False


def _rules(settings: SemanticSettings) -> WriteRules:
    return WriteRules(task_lifetime=timedelta(days=settings.task_lifetime_days), verify=settings.verify)
