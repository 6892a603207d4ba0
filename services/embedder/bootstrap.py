"""Builds the embedder: the only place that chooses its model."""

from __future__ import annotations

import asyncio
import secrets
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from palimpsest.embedder.v1 import embedder_pb2_grpc
from prometheus_client.registry import Collector

from services.embedder.adapters.hashing import HashingBackend
from services.embedder.adapters.span_reader import SpanReader
from services.embedder.app.batcher import Batcher
from services.embedder.app.cache import VectorCache
from services.embedder.app.embedding import Embedder
from services.embedder.app.models import Models
from services.embedder.app.policy import EMBEDDING, PartnerEmbedder
from services.embedder.app.ports import EmbeddingBackend
from services.embedder.config import EmbedderSettings, ModelChoice
from services.embedder.rpc.servicer import DESCRIPTOR, EmbedderServicer
from services.kit.channels import Channels
from services.kit.errors import StartupError
from services.kit.policy import Bounded, DataFlow, Gate
from services.kit.policy_client import GatewayPolicies, Refusals
from services.kit.serving import Service, background, roles_of

CACHE_KEY_BYTES = 32


def default_model_dir() -> Path:
    """Where the bundled model is."""
    return Path(__file__).parent / "model"


async def build(settings: EmbedderSettings, channels: Channels | None, stack: AsyncExitStack) -> Service:
    """The service, its batchers running until `stack` is left. Raises StartupError for an unusable model."""
    gate, collectors = _gate(settings, channels, stack)
    current = await _open(settings, settings, stack, gate)
    following = await _open(settings.next, settings, stack, gate) if settings.next is not None else None
    reader = SpanReader.of(default_model_dir())
    stack.push_async_callback(reader.close)
    servicer = EmbedderServicer(Models(current, following), reader)

    def add(server: Any) -> None:
        embedder_pb2_grpc.add_EmbedderServiceServicer_to_server(servicer, server)

    async def ready() -> bool:
        return True  # the model is loaded, or there would be no service

    return Service(
        name=DESCRIPTOR.full_name,
        add=add,
        roles=roles_of(DESCRIPTOR),
        ready=ready,
        collectors=collectors,
    )


def _gate(
    settings: EmbedderSettings, channels: Channels | None, stack: AsyncExitStack
) -> tuple[Gate | None, tuple[Collector, ...]]:
    """What texts pass on their way to a model that is somebody else's, and its metrics; none without one."""
    if not any(choice.leaves for choice in (settings, settings.next) if choice is not None):
        return None, ()
    if channels is None:
        raise StartupError("a model that is somebody else's needs the gateway, which keeps the data flow")
    policies = Bounded(
        policies=GatewayPolicies(channels.gateway, service="embedder"),
        deployment=DataFlow(settings.data_flow),
    )
    refusals = Refusals(channels.gateway, service="embedder")
    background(stack, [refusals.run()])
    return Gate(policies, refusals, EMBEDDING), (refusals.counter,)


async def _open(
    choice: ModelChoice, settings: EmbedderSettings, stack: AsyncExitStack, gate: Gate | None
) -> Embedder:
    """A model with a batcher and a cache of its own; before one that is somebody else's stands the gate."""
    backend = await asyncio.to_thread(choose_backend, choice, settings.threads)
    stack.push_async_callback(backend.close)
    batcher = Batcher(backend, batch_size=settings.batch_size, queue_limit=settings.queue_limit)
    background(stack, [batcher.run()])
    cache = VectorCache(
        secret=secrets.token_bytes(CACHE_KEY_BYTES),
        revision=backend.description.revision,
        max_bytes=settings.cache_bytes,
    )
    if gate is not None and choice.leaves:
        return PartnerEmbedder(backend, batcher, cache, gate=gate)
    return Embedder(backend, batcher, cache)


def choose_backend(choice: ModelChoice, threads: int) -> EmbeddingBackend:
    """The model that the settings name; drivers are imported only when they are used."""
    match choice.backend:
        case "hashing":
            return HashingBackend(choice.dimension or 64)
        case "openai":
            from services.embedder.adapters.openai_compatible import OpenAiCompatible

            if not (choice.openai_model and choice.dimension):
                raise StartupError("the backend openai needs openai_model and dimension")
            return OpenAiCompatible.connect(
                base_url=choice.openai_base_url,
                api_key=choice.openai_api_key.get_secret_value(),
                model=choice.openai_model,
                dimension=choice.dimension,
                max_tokens=choice.openai_max_tokens,
                timeout_seconds=choice.openai_timeout_seconds,
            )
        case _:
            from services.embedder.adapters.onnx_folder import OnnxFolder

            folder = choice.model_dir or default_model_dir()
            return OnnxFolder.load(folder, threads=threads, dimension=choice.dimension)
