"""Wires the engines that read facts and write summaries: by a model where there is one (SPEC J-16, S-15)."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Final

from palimpsest.embedder.v1 import embedder_pb2_grpc
from palimpsest.history.v1 import history_pb2_grpc
from prometheus_client.registry import Collector

from services.compactor.adapters.cover_handler import COVER_MESSAGES, FOLD_OVERLAYS
from services.compactor.adapters.extract_handler import EXTRACT_MESSAGES
from services.compactor.adapters.model_asking import Asker
from services.compactor.adapters.model_extractor import KIND as EXTRACTION
from services.compactor.adapters.model_extractor import ModelExtractor
from services.compactor.adapters.model_summariser import KIND as SUMMARY
from services.compactor.adapters.model_summariser import ModelSummariser, Otherwise
from services.compactor.adapters.reader import Reader
from services.compactor.adapters.summary_handler import SUMMARIZE_CONVERSATION
from services.compactor.app.conversation_summaries import REFRESH_SUMMARY
from services.compactor.app.extracting import Extractor
from services.compactor.app.summarising import Extractive
from services.compactor.config import CompactorSettings
from services.kit.channels import Channels
from services.kit.models.metrics import ModelMetrics
from services.kit.models.recording import EpisodicUsage
from services.kit.models.settings import ModelSettings
from services.kit.models.types import Tier
from services.kit.policy import Bounded, DataFlow, Gate, Leave
from services.kit.policy_client import GatewayPolicies, Refusals
from services.kit.serving import background
from services.kit.times import Clock

NAME: Final = "compactor"
MODEL_SHARE: Final = 0.75
"""Of the time that a job has: what a model may take, with all attempts; the rest is for another engine."""
SLOW: Final = frozenset(
    {EXTRACT_MESSAGES, COVER_MESSAGES, FOLD_OVERLAYS, REFRESH_SUMMARY, SUMMARIZE_CONVERSATION}
)
"""Types of jobs that ask a model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Engines:
    """Who reads and who writes; `slow` are the types of jobs for which they may take their time."""

    extractor: Extractor
    summariser: Otherwise
    slow: frozenset[str] = frozenset()
    collectors: tuple[Collector, ...] = ()


def without_model(channels: Channels) -> Engines:
    """The deterministic ones."""
    reader = Reader(embedder_pb2_grpc.EmbedderServiceStub(channels.embedder))
    return Engines(extractor=reader, summariser=Extractive())


def open_engines(
    settings: CompactorSettings,
    models: ModelSettings,
    channels: Channels,
    stack: AsyncExitStack,
    clock: Clock,
) -> Engines:
    """Those of the tier "fast"; the deterministic ones where it has no model."""
    plain, chosen = without_model(channels), models.tiers().get(Tier.FAST)
    if chosen is None:
        return plain
    # Imported here: without a model the service is installed without an HTTP client.
    from services.kit.models.client import ModelClient

    client, metrics = ModelClient.connect(models), ModelMetrics(NAME)
    stack.push_async_callback(client.close)
    usage = EpisodicUsage(history_pb2_grpc.HistoryServiceStub(channels.episodic), service=NAME)
    stack.push_async_callback(usage.close)
    refusals = Refusals(channels.gateway, service=NAME, clock=clock)
    background(stack, [refusals.run()])
    # S-15: what tenants chose, within what the deployment allows.
    policies = Bounded(
        policies=GatewayPolicies(channels.gateway, service=NAME), deployment=DataFlow(settings.data_flow)
    )

    def leave(kind: str) -> Leave:
        return Gate(policies, refusals, kind).before(partner=client.leaves(Tier.FAST))

    asker = Asker(
        client,
        name=chosen.name,
        seconds=MODEL_SHARE * settings.call_seconds,
        leave={kind: leave(kind) for kind in (EXTRACTION, SUMMARY)},
        usage=usage,
        metrics=metrics,
    )
    return Engines(
        extractor=ModelExtractor(asker, plain.extractor),
        summariser=ModelSummariser(asker, plain.summariser),
        slow=SLOW,
        collectors=(refusals.counter, usage.lost, *metrics.collectors),
    )
