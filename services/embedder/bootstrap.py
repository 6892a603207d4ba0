"""Builds the embedder: the only place that chooses its model."""

from __future__ import annotations

import asyncio
import secrets
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from palimpsest.embedder.v1 import embedder_pb2_grpc

from services.embedder.adapters.hashing import HashingBackend
from services.embedder.app.batcher import Batcher
from services.embedder.app.cache import VectorCache
from services.embedder.app.embedding import Embedder
from services.embedder.app.ports import EmbeddingBackend
from services.embedder.config import EmbedderSettings
from services.embedder.rpc.servicer import ROLES, EmbedderServicer
from services.kit.channels import Channels
from services.kit.errors import StartupError
from services.kit.serving import Service, background

CACHE_KEY_BYTES = 32


def default_model_dir() -> Path:
    """Where the bundled model is."""
    return Path(__file__).parent / "model"


async def build(settings: EmbedderSettings, channels: Channels | None, stack: AsyncExitStack) -> Service:
    """The service, its batcher running until `stack` is left. Raises StartupError for an unusable model."""
    backend = await asyncio.to_thread(choose_backend, settings)
    stack.push_async_callback(backend.close)
    batcher = Batcher(backend, batch_size=settings.batch_size, queue_limit=settings.queue_limit)
    background(stack, [batcher.run()])
    cache = VectorCache(
        secret=secrets.token_bytes(CACHE_KEY_BYTES),
        revision=backend.description.revision,
        max_bytes=settings.cache_bytes,
    )
    servicer = EmbedderServicer(Embedder(backend, batcher, cache))

    def add(server: Any) -> None:
        embedder_pb2_grpc.add_EmbedderServiceServicer_to_server(servicer, server)

    async def ready() -> bool:
        return True  # the model is loaded, or there would be no service

    return Service(name="palimpsest.embedder.v1.EmbedderService", add=add, roles=ROLES, ready=ready)


def choose_backend(settings: EmbedderSettings) -> EmbeddingBackend:
    """The model that the settings name; drivers are imported only when they are used."""
    match settings.backend:
        case "hashing":
            return HashingBackend(settings.dimension or 64)
        case "openai":
            from services.embedder.adapters.openai_compatible import OpenAiCompatible

            if not (settings.openai_model and settings.dimension):
                raise StartupError("the backend openai needs openai_model and dimension")
            return OpenAiCompatible.connect(
                base_url=settings.openai_base_url,
                api_key=settings.openai_api_key.get_secret_value(),
                model=settings.openai_model,
                dimension=settings.dimension,
                max_tokens=settings.openai_max_tokens,
                timeout_seconds=settings.openai_timeout_seconds,
            )
        case _:
            from services.embedder.adapters.onnx_folder import OnnxFolder

            folder = settings.model_dir or default_model_dir()
            return OnnxFolder.load(folder, threads=settings.threads, dimension=settings.dimension)
