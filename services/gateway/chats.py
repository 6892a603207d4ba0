"""Wires ChatService: the part of the gateway's bootstrap that chooses models, tools and leases."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass

from prometheus_client.registry import Collector

from services.gateway.adapters.counted_usage import CountedUsage
from services.gateway.adapters.evidence import described
from services.gateway.adapters.no_models import NoModels
from services.gateway.adapters.own_policy import OwnPolicies, OwnRefusals
from services.gateway.adapters.sql.turn_leases import SqlTurnLeases
from services.gateway.adapters.turn_store import EpisodicTurns
from services.gateway.app.answering import Answering
from services.gateway.app.backends import Backends
from services.gateway.app.chat_ports import ChatModel
from services.gateway.app.chatting import Chatting
from services.gateway.app.limit_ports import ModelBudget
from services.gateway.app.prompting import Prompting
from services.gateway.app.settings import TenantSettings
from services.gateway.app.tool_ports import Tools
from services.gateway.app.turn import ChatParts
from services.gateway.app.turn_lease import LeaseRules
from services.gateway.config import GatewaySettings
from services.gateway.rpc.chat_servicer import ChatServicer, chat_face
from services.kit.models.metrics import ModelMetrics
from services.kit.models.recording import EpisodicUsage
from services.kit.models.settings import ModelSettings
from services.kit.policy import Bounded, DataFlow, Gate
from services.kit.serving import Face, background
from services.kit.sql import SqlDatabase
from services.kit.times import Clock
from services.kit.tokens import TokenCounter

NAME = "gateway"
CHAT, ANSWER = "chat", "answer"
"""What texts that were kept in were meant for (S-15)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatChoices:
    """What takes the place of what the environment says; None for that."""

    models: ModelSettings | None = None
    tools: Tools | None = None
    budget: ModelBudget | None = None


AS_CONFIGURED = ChatChoices()


@dataclass(frozen=True, slots=True, kw_only=True)
class Chats:
    """The service, and its metrics."""

    face: Face
    collectors: tuple[Collector, ...]
    stopping: Callable[[float], None]
    """To be told when the process begins to stop: see services.kit.serving.Service."""


async def wire_chats(
    settings: GatewaySettings,
    database: SqlDatabase,
    backends: Backends,
    stack: AsyncExitStack,
    *,
    prompting: Prompting,
    counters: Mapping[str, TokenCounter],
    tenants: TenantSettings,
    models: ModelSettings,
    clock: Clock,
    budget: ModelBudget,
    tools: Tools,
) -> Chats:
    """Chats run until `stack` is left; then they are cut off and stored. `counters`: see Prompting."""
    leases = SqlTurnLeases(database)
    if not settings.database_url.get_secret_value():
        await leases.clear()  # a file has one owner, which is this process: its former self holds nothing
    policies = Bounded(policies=OwnPolicies(tenants), deployment=DataFlow(settings.data_flow))
    refusals = OwnRefusals(tenants, clock)
    background(stack, [refusals.run()])
    kept, metrics = EpisodicUsage(backends.history, service=NAME), ModelMetrics(NAME)
    stack.push_async_callback(kept.close)
    usage = CountedUsage(kept, metrics)
    model = _models(models, stack)
    chatting = Chatting(
        ChatParts(
            prompting=prompting,
            store=EpisodicTurns(backends),
            lease=LeaseRules(leases=leases, clock=clock, seconds=settings.chat_lease_seconds),
            model=model,
            tools=tools,
            budget=budget,
            usage=usage,
            leave=Gate(policies, refusals, CHAT).check,
            max_tokens=settings.chat_max_tokens,
        ),
        seconds=settings.chat_seconds,
    )
    stack.push_async_callback(chatting.close)
    answering = Answering(
        backends,
        model=model,
        budget=budget,
        usage=usage,
        leave=Gate(policies, refusals, ANSWER).check,
        describe=described,
        max_tokens=settings.chat_max_tokens,
        counters=counters,
    )
    servicer = ChatServicer(chatting, answering, rounds=settings.chat_rounds)
    return Chats(
        face=chat_face(servicer),
        collectors=(refusals.counter, kept.lost, *metrics.collectors),
        stopping=chatting.stopping,
    )


def _models(settings: ModelSettings, stack: AsyncExitStack) -> ChatModel:
    if not settings.tiers():
        return NoModels()
    # Imported here: without a model the service is installed without an HTTP client.
    from services.kit.models.client import ModelClient

    client = ModelClient.connect(settings)
    stack.push_async_callback(client.close)
    return client
