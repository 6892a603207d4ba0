"""Builds the gateway."""

from __future__ import annotations

from contextlib import AsyncExitStack
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from palimpsest.gateway.v1 import gateway_pb2_grpc

from services.gateway.adapters.sources import ServiceSources
from services.gateway.adapters.sqlite_keys import SqliteKeyStore
from services.gateway.app.backends import Backends
from services.gateway.app.keys import Keys
from services.gateway.app.prompting import Prompting
from services.gateway.config import GatewaySettings
from services.gateway.rpc.faces import faces
from services.gateway.rpc.servicer import ROLES, GatewayServicer
from services.kit.channels import Channels
from services.kit.serving import Service
from services.kit.sqlite import Database
from services.kit.times import Clock, now

DATABASE_FILE = "gateway.db"


async def build(
    settings: GatewaySettings, channels: Channels, stack: AsyncExitStack, *, clock: Clock = now
) -> Service:
    """The service, which authenticates by API key; a first key is made if there is none.

    Raises StartupError.
    """
    migrations = files("services.gateway") / "migrations" / "sqlite"
    database = await Database.open(settings.data_dir / DATABASE_FILE, migrations)
    stack.push_async_callback(database.close)
    keys = Keys(SqliteKeyStore(database), clock)
    await keys.ensure_first_key(settings.data_dir)
    backends = Backends.over(channels)
    servicer = GatewayServicer(
        backends,
        keys=keys,
        prompting=Prompting(ServiceSources(backends)),
        version=version("palimpsest"),
        profile=settings.profile,
    )

    def add(server: Any) -> None:
        gateway_pb2_grpc.add_GatewayServiceServicer_to_server(servicer, server)

    async def ready() -> bool:
        return bool(await database.read(lambda c: c.execute("SELECT 1").fetchone()))

    return Service(
        name="palimpsest.gateway.v1.GatewayService",
        add=add,
        roles=ROLES,
        ready=ready,
        faces=faces(backends),
        authenticator=keys,
    )
