"""Builds the gateway."""

from __future__ import annotations

from contextlib import AsyncExitStack
from importlib.metadata import version
from typing import Any

from palimpsest.gateway.v1 import gateway_pb2_grpc

from services.gateway.adapters.agents import EpisodicAgents
from services.gateway.adapters.sources import ServiceSources
from services.gateway.adapters.sql import migrations
from services.gateway.adapters.sql.keys import SqlKeys
from services.gateway.adapters.sql.settings import SqlSettings
from services.gateway.app.backends import Backends
from services.gateway.app.keys import Keys
from services.gateway.app.prompting import Prompting
from services.gateway.app.settings import TenantSettings
from services.gateway.config import GatewaySettings
from services.gateway.rpc.faces import faces
from services.gateway.rpc.servicer import ROLES, GatewayServicer
from services.gateway.rpc.settings_servicer import settings_faces
from services.kit.channels import Channels
from services.kit.serving import Service
from services.kit.stores import open_store
from services.kit.times import Clock, now

DATABASE_FILE = "gateway.db"


async def build(
    settings: GatewaySettings, channels: Channels, stack: AsyncExitStack, *, clock: Clock = now
) -> Service:
    """The service, which authenticates by API key; a first key is made if there is none.

    Raises StartupError.
    """
    opened = await open_store(settings, migrations, DATABASE_FILE, stack)
    keys = Keys(SqlKeys(opened.database), clock)
    await keys.ensure_first_key(settings.data_dir)
    backends = Backends.over(channels)
    tenant_settings = TenantSettings(
        store=SqlSettings(opened.database), agents=EpisodicAgents(backends.episodic), clock=clock
    )
    servicer = GatewayServicer(
        backends,
        keys=keys,
        prompting=Prompting(ServiceSources(backends)),
        version=version("palimpsest"),
        profile=settings.profile,
    )

    def add(server: Any) -> None:
        gateway_pb2_grpc.add_GatewayServiceServicer_to_server(servicer, server)

    return Service(
        name="palimpsest.gateway.v1.GatewayService",
        add=add,
        roles=ROLES,
        ready=opened.ready,
        faces=(*faces(backends), *settings_faces(tenant_settings)),
        authenticator=keys,
    )
