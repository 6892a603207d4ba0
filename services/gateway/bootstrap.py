"""Builds the gateway."""

from __future__ import annotations

from contextlib import AsyncExitStack
from importlib.metadata import version
from typing import Any

from palimpsest.gateway.v1 import gateway_pb2_grpc

from services.gateway.adapters.agents import EpisodicAgents
from services.gateway.adapters.jwt_choice import with_tokens
from services.gateway.adapters.sources import ServiceSources
from services.gateway.adapters.sql import migrations
from services.gateway.adapters.sql.keys import SqlKeys
from services.gateway.adapters.sql.settings import SqlSettings
from services.gateway.adapters.tool_arguments import problems
from services.gateway.app.backends import Backends
from services.gateway.app.keys import Keys
from services.gateway.app.prompting import Prompting
from services.gateway.app.settings import TenantSettings
from services.gateway.app.tools import GatewayTools
from services.gateway.chats import AS_CONFIGURED, ChatChoices, wire_chats
from services.gateway.config import GatewaySettings, split_origins
from services.gateway.http.app import HttpFace
from services.gateway.http.refusals import Refusals
from services.gateway.limiting import deployment_budgets, wire_limits
from services.gateway.mcp import mcp_mounts
from services.gateway.rpc.faces import faces
from services.gateway.rpc.servicer import DESCRIPTOR, GatewayServicer
from services.gateway.rpc.settings_servicer import settings_faces
from services.gateway.rpc.tool_servicer import tool_face
from services.kit.channels import Channels
from services.kit.models.settings import ModelSettings
from services.kit.serving import Service, roles_of
from services.kit.stores import open_store
from services.kit.times import Clock, now
from services.kit.tokenizers_counter import load_counter
from services.kit.web import Web

DATABASE_FILE = "gateway.db"


async def build(
    settings: GatewaySettings,
    channels: Channels,
    stack: AsyncExitStack,
    *,
    clock: Clock = now,
    chat: ChatChoices = AS_CONFIGURED,
) -> Service:
    """The service, which authenticates by API key, or also by tokens; a first key is made if there is none.

    Raises StartupError.
    """
    opened = await open_store(settings, migrations, DATABASE_FILE, stack)
    keys = Keys(SqlKeys(opened.database), clock)
    await keys.ensure_first_key(settings.data_dir)
    authenticator = with_tokens(keys, settings, stack)
    backends = Backends.over(channels)
    tenant_settings = TenantSettings(
        store=SqlSettings(opened.database),
        agents=EpisodicAgents(backends.episodic),
        clock=clock,
        deployment=deployment_budgets(settings),
    )
    models = chat.models or ModelSettings()
    limiting = wire_limits(
        settings,
        opened.database,
        stack,
        tenants=tenant_settings,
        models=models,
        clock=clock,
    )
    counters = {model: load_counter(path) for model, path in settings.tokenizers.items()}
    prompting = Prompting(ServiceSources(backends), counters=counters)
    stack.push_async_callback(prompting.settle)
    tools = GatewayTools(backends, problems)
    chats = await wire_chats(
        settings,
        opened.database,
        backends,
        stack,
        prompting=prompting,
        counters=counters,
        tenants=tenant_settings,
        models=models,
        clock=clock,
        tools=chat.tools or tools,
        budget=chat.budget or limiting.budget,
    )
    servicer = GatewayServicer(
        backends,
        keys=keys,
        prompting=prompting,
        version=version("palimpsest"),
        profile=settings.profile,
    )

    def add(server: Any) -> None:
        gateway_pb2_grpc.add_GatewayServiceServicer_to_server(servicer, server)

    further = (
        *faces(backends),
        *settings_faces(tenant_settings, limiting.usage),
        chats.face,
        tool_face(tools),
    )
    refusals = Refusals()
    http = HttpFace(
        services=(DESCRIPTOR.full_name, *(face.name for face in further if not face.internal)),
        authenticator=authenticator,
        ready=opened.ready,
        origins=split_origins(settings.http_origins),
        mounts_over=mcp_mounts(settings, authenticator, refusals),
        refusals=refusals,
    )
    return Service(
        name=DESCRIPTOR.full_name,
        add=add,
        roles=roles_of(DESCRIPTOR),
        ready=opened.ready,
        faces=further,
        admission=limiting.admission,
        collectors=(*chats.collectors, *limiting.collectors, refusals.counter),
        authenticator=authenticator,
        web=Web(make=http.over, port=settings.http_port),
        stopping=chats.stopping,
    )
