"""The one place where the Compactor's adapters are chosen and wired."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import cast

from palimpsest.compactor.v1 import compactor_pb2_grpc
from palimpsest.episodic.v1 import episodic_pb2_grpc
from palimpsest.history.v1 import history_pb2_grpc
from palimpsest.semantic.v1 import semantic_pb2_grpc

from services.compactor import attracting, modelling, searching, summing_up, theming, upkeep
from services.compactor.adapters.cover_handler import (
    COVER_MESSAGES,
    FOLD_OVERLAYS,
    CoverHandler,
    FoldHandler,
)
from services.compactor.adapters.cron import CronTables
from services.compactor.adapters.extract_handler import EXTRACT_MESSAGES, ExtractHandler
from services.compactor.adapters.fact_writer import FactWriter
from services.compactor.adapters.index_handler import (
    INDEX_MEMORY,
    INDEX_MESSAGE,
    IndexHandler,
    memory_item,
    message_item,
)
from services.compactor.adapters.kv_memory import MemoryKv
from services.compactor.adapters.own_outbox import OwnLedger
from services.compactor.adapters.owner import worker_id
from services.compactor.adapters.sql import migrations
from services.compactor.adapters.sql.documents import SqlDocuments
from services.compactor.adapters.sql.ledger import SqlLedger
from services.compactor.adapters.sql.progress import SqlProgress
from services.compactor.adapters.sql.schedules import SqlSchedules
from services.compactor.adapters.sync_handler import SYNC_MEMORY, SyncHandler
from services.compactor.adapters.verify_handler import VERIFY_MEMORY
from services.compactor.app import attractors, graph
from services.compactor.app.calls import Calls, Rules
from services.compactor.app.correcting import Corrections
from services.compactor.app.document_copies import KvRules
from services.compactor.app.document_ports import Kv
from services.compactor.app.documents import Documents
from services.compactor.app.housekeeping import Retention, keep_house
from services.compactor.app.jobs import Jobs
from services.compactor.app.ports import Handler, Ledger
from services.compactor.app.progress import Progress
from services.compactor.app.schedules import Leadership, Schedules
from services.compactor.app.searching import follow_document
from services.compactor.app.wake import LocalWake, Wake
from services.compactor.app.worker import Worker, WorkerRules
from services.compactor.config import DATABASE_FILE, CompactorSettings
from services.compactor.domain.covering import Lengths
from services.compactor.domain.ledger import Backoff
from services.compactor.domain.schedules import Spec
from services.compactor.modelling import Engines
from services.compactor.rpc import derived_servicer, documents_servicer
from services.compactor.rpc.servicer import DESCRIPTOR, CompactorServicer
from services.kit.channels import Channels
from services.kit.models.settings import ModelSettings
from services.kit.outbox import NewJob, Relay
from services.kit.serving import Service, background, roles_of
from services.kit.stores import open_store
from services.kit.times import Clock, now

SCHEDULES: tuple[Spec, ...] = (*upkeep.SCHEDULES, *summing_up.SCHEDULES)
"""What comes round by itself; each asks for a job of a type that `handlers` knows."""


async def build(
    settings: CompactorSettings,
    channels: Channels,
    stack: AsyncExitStack,
    *,
    clock: Clock = now,
    specs: Sequence[Spec] = SCHEDULES,
    models: ModelSettings | None = None,
) -> Service:
    """Opens the ledger, starts the worker, and returns the service. Raises StartupError.

    `models` are by default those of the environment.
    """
    opened = await open_store(settings, migrations, DATABASE_FILE, stack)
    ledger = SqlLedger(opened.database, tenant_slots=settings.tenant_slots)
    wake = await _open_wake(settings, stack)
    jobs = Jobs(ledger, wake, clock, max_attempts=settings.max_attempts)
    own = cast("compactor_pb2_grpc.CompactorServiceAsyncStub", OwnLedger(jobs))  # for its Enqueue alone
    relay = Relay(opened.outbox, own)
    documents = Documents(
        SqlDocuments(opened.database, follow_document),
        document_kv(settings, stack),
        clock,
        _kv_rules(settings),
        wake=relay.wake,
    )
    background(stack, [documents.keep_up()])
    kept = upkeep.wire(opened.database, channels, jobs, documents, relay.wake, clock, settings.call_seconds)
    themes = theming.wire(opened.database, channels, documents, relay.wake, clock, settings.graph_merge_at)
    searched = searching.wire(opened.database, channels, documents)
    engines = modelling.open_engines(settings, models or ModelSettings(), channels, stack, clock)
    if settings.work:
        workers = {
            **handlers(channels, clock, engines),
            **kept.handlers,
            **themes.handlers,
            **searched.handlers,
            **summing_up.wire(
                opened.database,
                channels,
                documents,
                relay.wake,
                kept.refreshing,
                follow_ups,
                engines.summariser,
            ),
            **attracting.handlers(opened.database, channels, documents, jobs, clock),
        }
        worker = make_worker(settings, ledger, workers, wake, clock, asking=engines.slow)
        await worker.start()
        stack.push_async_callback(worker.stop, settings.drain_seconds)
    schedules = Schedules(specs, SqlSchedules(opened.database), CronTables(), relay.wake, clock)
    house = keep_house(ledger, _retention(settings), clock, settings.housekeeping_seconds)
    background(stack, [house, relay.run()])
    if settings.schedules:
        background(stack, [schedules.keep(_leadership(settings))])
    servicer = CompactorServicer(jobs)

    return Service(
        name=DESCRIPTOR.full_name,
        add=lambda server: compactor_pb2_grpc.add_CompactorServiceServicer_to_server(servicer, server),
        roles=roles_of(DESCRIPTOR),
        ready=opened.ready,
        faces=(
            documents_servicer.face(documents, Corrections(documents, kept.refreshing, clock, follow_ups)),
            kept.face,
            themes.face,
            searched.face,
            derived_servicer.face(Progress(SqlProgress(opened.database)), schedules),
        ),
        collectors=engines.collectors,
    )


def follow_ups(agent_id: str, conversation_id: str, version: int, to_sequence: int) -> Sequence[NewJob]:
    """What a version of a summary asks for: the attractor and the graph of themes follow it."""
    about = (agent_id, conversation_id, version, to_sequence)
    return [*attractors.follow_up(*about), *graph.follow_up(*about)]


def handlers(channels: Channels, clock: Clock, engines: Engines) -> Mapping[str, Handler]:
    """Who does which type of job."""
    semantic = semantic_pb2_grpc.SemanticServiceStub(channels.semantic)
    history = history_pb2_grpc.HistoryServiceStub(channels.episodic)
    summariser, lengths = engines.summariser, Lengths()
    episodic = episodic_pb2_grpc.EpisodicServiceStub(channels.episodic)
    facts = FactWriter(episodic, semantic, engines.extractor, clock)
    return {
        INDEX_MESSAGE: IndexHandler(semantic, message_item),
        INDEX_MEMORY: IndexHandler(semantic, memory_item),
        COVER_MESSAGES: CoverHandler(history, summariser, lengths, facts.flush),
        EXTRACT_MESSAGES: ExtractHandler(episodic, facts),
        FOLD_OVERLAYS: FoldHandler(history, summariser, lengths),
        SYNC_MEMORY: SyncHandler(semantic),
    }


def make_worker(
    settings: CompactorSettings,
    ledger: Ledger,
    handlers: Mapping[str, Handler],
    wake: Wake,
    clock: Clock,
    *,
    asking: frozenset[str] = frozenset(),
) -> Worker:
    """A worker by the settings' figures; jobs of the types `asking` ask a model, besides those that verify.

    Each of them has a call of its own. Where there are any, there is one slot more, which does none.
    """
    slow = asking | {VERIFY_MEMORY}
    backoff = Backoff(
        base=timedelta(seconds=settings.backoff_base_seconds),
        cap=timedelta(seconds=settings.backoff_cap_seconds),
        random=random.random,
    )
    rules = Rules(
        backoff=backoff,
        patience=settings.dependency_patience,
        call_seconds=settings.call_seconds,
        alone=slow,
    )
    return Worker(
        ledger,
        Calls(handlers, rules, clock),
        wake,
        WorkerRules(
            owner=worker_id(settings.data_dir),
            slots=settings.slots + bool(asking),
            batch_size=settings.batch_size,
            lease=timedelta(seconds=settings.lease_seconds),
            heartbeat_seconds=settings.heartbeat_seconds,
            poll_seconds=settings.poll_seconds,
            slow=slow,
        ),
        clock,
    )


def document_kv(settings: CompactorSettings, stack: AsyncExitStack) -> Kv:
    """Where copies of documents are: Redis where a URL is set, else this process. Raises StartupError."""
    url = settings.redis_url.get_secret_value()
    if url:
        # Imported here: the embedded profile is installed without the driver.
        from services.compactor.adapters.kv_redis import CONNECTIONS, RedisKv
        from services.kit.redis import RedisOptions

        kv = RedisKv.open(
            RedisOptions(
                url=url,
                cluster=settings.redis_cluster,
                timeout_seconds=settings.kv_timeout_seconds,
                connections=CONNECTIONS,
                prefix=f"{settings.redis_prefix}:",
            )
        )
        stack.push_async_callback(kv.close)
        return kv
    # Beside PostgreSQL there may be other processes, whose writes a copy in this one would not follow.
    alone = not settings.database_url.get_secret_value()
    return MemoryKv(settings.kv_bytes if alone else 0)


def _kv_rules(settings: CompactorSettings) -> KvRules:
    return KvRules(keep_seconds=settings.kv_keep_seconds, mark_seconds=settings.kv_mark_seconds)


async def _open_wake(settings: CompactorSettings, stack: AsyncExitStack) -> Wake:
    """Raises StartupError for a URL that is none; a server that is away is waited for while workers poll."""
    url = settings.redis_url.get_secret_value()
    if not url:
        return LocalWake()
    # Imported here: the embedded profile is installed without the driver.
    from services.compactor.adapters.wake_redis import RedisWake, redis_client

    client = await stack.enter_async_context(redis_client(url, cluster=settings.redis_cluster))
    wake = RedisWake(client, f"{settings.redis_prefix}:")
    background(stack, [wake.run()])
    return wake


def _leadership(settings: CompactorSettings) -> Leadership:
    return Leadership(
        owner=worker_id(settings.data_dir),
        lease=timedelta(seconds=settings.leader_seconds),
        every=settings.schedule_seconds,
    )


def _retention(settings: CompactorSettings) -> Retention:
    return Retention(
        finished=timedelta(seconds=settings.keep_finished_seconds),
        dead=timedelta(seconds=settings.keep_dead_seconds),
        step=settings.delete_step,
    )
