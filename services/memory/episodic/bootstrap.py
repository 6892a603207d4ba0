"""Puts the service together; the only place that chooses adapters."""

from __future__ import annotations

from contextlib import AsyncExitStack
from functools import partial

from palimpsest.compactor.v1 import compactor_pb2_grpc
from palimpsest.episodic.v1 import episodic_pb2_grpc

from services.kit.channels import Channels
from services.kit.ids import new_id
from services.kit.outbox import Relay
from services.kit.serving import Face, Service, background, roles_of
from services.kit.sql import SqlDatabase
from services.kit.stores import open_store
from services.kit.times import Clock, now
from services.kit.tokenizers_counter import load_counter
from services.kit.watching import Signal
from services.memory.episodic.adapters.sql import migrations, sql_stores
from services.memory.episodic.adapters.sql.records import SqlRecords
from services.memory.episodic.adapters.sql.requests import AppendRequests
from services.memory.episodic.adapters.sql.state import SqlStates
from services.memory.episodic.adapters.sql.working import working_stores
from services.memory.episodic.app.agents import Agents
from services.memory.episodic.app.blocks import Blocks
from services.memory.episodic.app.checkpoints import Checkpoints
from services.memory.episodic.app.contacts import Contacts
from services.memory.episodic.app.conversations import Conversations
from services.memory.episodic.app.history import History, HistoryRules
from services.memory.episodic.app.housekeeping import keep_house
from services.memory.episodic.app.messages import Messages
from services.memory.episodic.app.notes import NotesAndTasks
from services.memory.episodic.app.ports import Stores
from services.memory.episodic.app.prompts import SystemPrompts
from services.memory.episodic.app.records import Records
from services.memory.episodic.app.state import States, WatchSettings
from services.memory.episodic.app.usage import UsageCounts
from services.memory.episodic.app.working import Working
from services.memory.episodic.app.working_ports import WorkingStores
from services.memory.episodic.config import DATABASE_FILE, MAX_RESPONSE_BYTES, EpisodicSettings
from services.memory.episodic.domain.model import ConversationKey
from services.memory.episodic.rpc import history_servicer, state_servicer, working_servicer
from services.memory.episodic.rpc.servicer import DESCRIPTOR, EpisodicServicer

MICROS_PER_HOUR = 3_600_000_000


async def build(
    settings: EpisodicSettings, channels: Channels, stack: AsyncExitStack, *, clock: Clock = now
) -> Service:
    """Opens the store, starts the relay of its outbox, and gives the service. Raises StartupError."""
    opened = await open_store(settings, migrations, DATABASE_FILE, stack)
    database = opened.database
    stores = await sql_stores(
        database, rules=settings.cover_rules, max_bytes=MAX_RESPONSE_BYTES, extract=settings.extract
    )
    relay = Relay(opened.outbox, compactor_pb2_grpc.CompactorServiceStub(channels.compactor))
    if settings.relay:
        background(stack, [relay.run()])
    working = working_stores(database, settings.working_limits)
    requests = AppendRequests(database, int(settings.request_id_hours * MICROS_PER_HOUR))
    background(stack, [keep_house([requests, working.checkpoints], clock, settings.housekeeping_seconds)])
    changed: Signal[ConversationKey] = Signal()
    servicer = EpisodicServicer(
        agents=Agents(stores.agents, clock),
        contacts=Contacts(stores.contacts, clock, new_id),
        conversations=Conversations(stores.conversations, clock, new_id),
        messages=Messages(stores.messages, clock, settings.limits, changed, relay.wake),
    )
    return Service(
        name=DESCRIPTOR.full_name,
        add=partial(episodic_pb2_grpc.add_EpisodicServiceServicer_to_server, servicer),
        roles=roles_of(DESCRIPTOR),
        ready=opened.ready,
        faces=(
            _history(stores, settings, changed, relay, clock),
            _working(working, settings, clock),
            _state(database, settings, clock),
        ),
    )


def _history(
    stores: Stores,
    settings: EpisodicSettings,
    changed: Signal[ConversationKey],
    relay: Relay,
    clock: Clock,
) -> Face:
    history = History(
        stores.history,
        clock,
        new_id,
        counters={model: load_counter(path) for model, path in settings.tokenizers.items()},
        rules=HistoryRules(fork_messages=settings.fork_messages, poll_seconds=settings.watch_poll_seconds),
        changed=changed,
        on_stored=relay.wake,
    )
    return history_servicer.face(
        history,
        UsageCounts(stores.usage, clock),
        patience=settings.watch_patience_seconds,
        fold_tokens=settings.fold_tokens,
    )


def _working(stores: WorkingStores, settings: EpisodicSettings, clock: Clock) -> Face:
    limits = settings.working_limits
    return working_servicer.face(
        notes=NotesAndTasks(stores.notes, stores.tasks, clock, limits),
        checkpoints=Checkpoints(stores.checkpoints, clock, limits),
        blocks=Blocks(stores.blocks, stores.entries, clock, limits),
        prompts=SystemPrompts(stores.prompts, clock),
        working=Working(stores.working, clock, limits),
    )


def _state(database: SqlDatabase, settings: EpisodicSettings, clock: Clock) -> Face:
    watch = WatchSettings(
        poll_seconds=settings.watch_poll_seconds, patience_seconds=settings.watch_patience_seconds
    )
    return state_servicer.face(
        States(SqlStates(database), clock, watch),
        Records(SqlRecords(database, max_bytes=MAX_RESPONSE_BYTES), clock, new_id),
    )
