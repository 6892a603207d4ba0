"""Puts the service together; the only place that chooses adapters."""

from __future__ import annotations

from contextlib import AsyncExitStack
from functools import partial

from palimpsest.compactor.v1 import compactor_pb2_grpc
from palimpsest.episodic.v1 import episodic_pb2_grpc

from services.kit.channels import Channels
from services.kit.ids import new_id
from services.kit.outbox import Relay, SqliteOutbox
from services.kit.serving import Service, background
from services.kit.sqlite import Database
from services.kit.times import Clock, now
from services.memory.episodic.adapters.sqlite import open_database, sqlite_stores
from services.memory.episodic.app.agents import Agents
from services.memory.episodic.app.contacts import Contacts
from services.memory.episodic.app.conversations import Conversations
from services.memory.episodic.app.messages import Messages
from services.memory.episodic.app.ports import Stores
from services.memory.episodic.config import MAX_RESPONSE_BYTES, EpisodicSettings
from services.memory.episodic.rpc.servicer import ROLES, SERVICE_NAME, EpisodicServicer

MICROS_PER_HOUR = 3_600_000_000


async def build(
    settings: EpisodicSettings, channels: Channels, stack: AsyncExitStack, *, clock: Clock = now
) -> Service:
    """Opens the store, starts the relay of its outbox, and gives the service. Raises StartupError."""
    database = await open_database(settings.database, readers=settings.readers)
    stack.push_async_callback(database.close)
    stores = await sqlite_stores(
        database,
        max_bytes=MAX_RESPONSE_BYTES,
        remember_requests=int(settings.request_id_hours * MICROS_PER_HOUR),
    )
    relay = Relay(SqliteOutbox(database), compactor_pb2_grpc.CompactorServiceStub(channels.compactor))
    if settings.relay:
        background(stack, [relay.run()])
    servicer = _servicer(stores, settings, relay, clock)
    return Service(
        name=SERVICE_NAME,
        add=partial(episodic_pb2_grpc.add_EpisodicServiceServicer_to_server, servicer),
        roles=ROLES,
        ready=partial(_answers, database),
    )


def _servicer(stores: Stores, settings: EpisodicSettings, relay: Relay, clock: Clock) -> EpisodicServicer:
    return EpisodicServicer(
        agents=Agents(stores.agents, clock),
        contacts=Contacts(stores.contacts, clock, new_id),
        conversations=Conversations(stores.conversations, clock, new_id),
        messages=Messages(stores.messages, clock, settings.limits, relay.wake),
    )


async def _answers(database: Database) -> bool:
    return bool(await database.read(lambda connection: connection.execute("SELECT 1").fetchone()))
