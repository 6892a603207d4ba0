"""The one place where the Compactor's adapters are chosen and wired."""

from __future__ import annotations

import random
from collections.abc import Mapping
from contextlib import AsyncExitStack
from datetime import timedelta

from palimpsest.compactor.v1 import compactor_pb2_grpc
from palimpsest.history.v1 import history_pb2_grpc
from palimpsest.semantic.v1 import semantic_pb2_grpc

from services.compactor.adapters.cover_handler import (
    COVER_MESSAGES,
    FOLD_OVERLAYS,
    CoverHandler,
    FoldHandler,
)
from services.compactor.adapters.index_handler import (
    INDEX_MEMORY,
    INDEX_MESSAGE,
    IndexHandler,
    memory_item,
    message_item,
)
from services.compactor.adapters.owner import worker_id
from services.compactor.adapters.sqlite import SqliteLedger, open_database
from services.compactor.app.calls import Calls, Rules
from services.compactor.app.housekeeping import Retention, keep_house
from services.compactor.app.jobs import Jobs
from services.compactor.app.ports import Handler, Ledger
from services.compactor.app.summarising import Extractive
from services.compactor.app.wake import Wake
from services.compactor.app.worker import Worker, WorkerRules
from services.compactor.config import CompactorSettings
from services.compactor.domain.covering import Lengths
from services.compactor.domain.ledger import Backoff
from services.compactor.rpc.servicer import NAME, ROLES, CompactorServicer
from services.kit.channels import Channels
from services.kit.serving import Service, background
from services.kit.times import Clock, now


async def build(
    settings: CompactorSettings, channels: Channels, stack: AsyncExitStack, *, clock: Clock = now
) -> Service:
    """Opens the ledger, starts the worker, and returns the service. Raises StartupError."""
    database = await open_database(settings.database)
    stack.push_async_callback(database.close)
    ledger, wake = SqliteLedger(database), Wake()
    if settings.work:
        worker = make_worker(settings, ledger, handlers(channels), wake, clock)
        await worker.start()
        stack.push_async_callback(worker.stop, settings.drain_seconds)
    background(stack, [keep_house(ledger, _retention(settings), clock, settings.housekeeping_seconds)])
    servicer = CompactorServicer(Jobs(ledger, wake, clock, max_attempts=settings.max_attempts))

    async def ready() -> bool:
        await database.read(lambda c: c.execute("SELECT revision FROM clock").fetchone())
        return True

    return Service(
        name=NAME,
        add=lambda server: compactor_pb2_grpc.add_CompactorServiceServicer_to_server(servicer, server),
        roles=ROLES,
        ready=ready,
    )


def handlers(channels: Channels) -> Mapping[str, Handler]:
    """Who does which type of job."""
    semantic = semantic_pb2_grpc.SemanticServiceStub(channels.semantic)
    history = history_pb2_grpc.HistoryServiceStub(channels.episodic)
    summariser, lengths = Extractive(), Lengths()
    return {
        INDEX_MESSAGE: IndexHandler(semantic, message_item),
        INDEX_MEMORY: IndexHandler(semantic, memory_item),
        COVER_MESSAGES: CoverHandler(history, summariser, lengths),
        FOLD_OVERLAYS: FoldHandler(history, summariser, lengths),
    }


def make_worker(
    settings: CompactorSettings, ledger: Ledger, handlers: Mapping[str, Handler], wake: Wake, clock: Clock
) -> Worker:
    """A worker by the settings' figures."""
    backoff = Backoff(
        base=timedelta(seconds=settings.backoff_base_seconds),
        cap=timedelta(seconds=settings.backoff_cap_seconds),
        random=random.random,
    )
    rules = Rules(
        backoff=backoff,
        patience=settings.dependency_patience,
        call_seconds=settings.call_seconds,
    )
    return Worker(
        ledger,
        Calls(handlers, rules, clock),
        wake,
        WorkerRules(
            owner=worker_id(settings.data_dir),
            slots=settings.slots,
            batch_size=settings.batch_size,
            lease=timedelta(seconds=settings.lease_seconds),
            heartbeat_seconds=settings.heartbeat_seconds,
            poll_seconds=settings.poll_seconds,
        ),
        clock,
    )


def _retention(settings: CompactorSettings) -> Retention:
    return Retention(
        finished=timedelta(seconds=settings.keep_finished_seconds),
        dead=timedelta(seconds=settings.keep_dead_seconds),
        step=settings.delete_step,
    )
