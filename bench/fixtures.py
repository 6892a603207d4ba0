"""Data folders for scenarios that need many memories: written through the gateway, with seeded vectors.

Embedding fifty thousand texts takes minutes and is measured elsewhere; here a stand-in answers as the real
embedder does (same model, revision and dimension) with random unit vectors. A scenario's own queries embed
for real.
"""

from __future__ import annotations

import asyncio
import json
import random
import secrets
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import grpc
import numpy as np
from palimpsest.embedder.v1 import embedder_pb2, embedder_pb2_grpc
from palimpsest.gateway.v1 import administration_pb2, conversations_pb2, gateway_pb2_grpc, memories_pb2

from services.embedded import compose, lock_data
from services.embedder.bootstrap import default_model_dir
from services.embedder.rpc.servicer import ROLES
from services.kit.errors import UnknownMethod
from services.kit.metrics import Metrics
from services.kit.serving import Service, listening

AGENT = "bench"
WRITERS = 64
SYLLABLES = (
    "ba",
    "cor",
    "den",
    "fi",
    "gul",
    "han",
    "jo",
    "kel",
    "lum",
    "mar",
    "nos",
    "pir",
    "rud",
    "sol",
    "tev",
    "wen",
)


class SeededEmbedder(embedder_pb2_grpc.EmbedderServiceServicer):
    """Random unit vectors under the real model's name."""

    def __init__(self, seed: int) -> None:
        self._manifest = json.loads((default_model_dir() / "manifest.json").read_text("utf-8"))
        self._dice = np.random.default_rng(seed)

    async def DescribeModel(self, request: Any, context: Any) -> embedder_pb2.DescribeModelResponse:  # noqa: N802, ARG002
        """As the real one."""
        return embedder_pb2.DescribeModelResponse(
            **{key: self._manifest[key] for key in ("name", "dimension", "max_tokens", "revision")}
        )

    async def Embed(self, request: Any, context: Any) -> embedder_pb2.EmbedResponse:  # noqa: N802, ARG002
        """One vector a text."""
        dimension = self._manifest["dimension"]
        vectors = self._dice.standard_normal((len(request.texts), dimension)).astype("<f4")
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return embedder_pb2.EmbedResponse(
            embeddings=[
                embedder_pb2.Embedding(text_index=index, start=0, end=len(text), vector=vector.tobytes())
                for index, (text, vector) in enumerate(zip(request.texts, vectors, strict=True))
            ],
            dimension=dimension,
            revision=self._manifest["revision"],
        )

    async def EmbedStream(self, request_iterator: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Nothing in a fixture streams."""
        raise UnknownMethod
        yield

    async def CountTokens(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Nothing in a fixture counts."""
        raise UnknownMethod

    def service(self) -> Service:
        """In place of the real one."""

        async def ready() -> bool:
            return True

        return Service(
            name="palimpsest.embedder.v1.EmbedderService",
            add=lambda server: embedder_pb2_grpc.add_EmbedderServiceServicer_to_server(self, server),
            roles=ROLES,
            ready=ready,
        )


def word(dice: random.Random) -> str:
    """A made-up word out of some thirty thousand."""
    return "".join(dice.choices(SYLLABLES, k=dice.choice((2, 3, 3, 4))))


def memories(data: Path, count: int, contacts: int, seed: int = 10) -> None:
    """Fills a fresh data folder with `count` memories spread over `contacts` people, all indexed."""
    asyncio.run(_memories(data, count, contacts, random.Random(seed)))


async def _memories(data: Path, count: int, contacts: int, dice: random.Random) -> None:
    async with AsyncExitStack() as stack:
        lock_data(data, stack)
        secret = secrets.token_bytes(32)
        gateway = await compose(data, secret, Metrics(), stack, embedder=SeededEmbedder(1).service())
        port = await stack.enter_async_context(
            listening(gateway, secret, Metrics(), "127.0.0.1:0", drain_seconds=5)
        )
        channel = await stack.enter_async_context(grpc.aio.insecure_channel(f"127.0.0.1:{port}"))
        stub: Any = gateway_pb2_grpc.GatewayServiceStub(channel)
        metadata = (("authorization", f"Bearer {(data / 'api-key').read_text().strip()}"),)
        await stub.CreateAgent(conversations_pb2.CreateAgentRequest(agent_id=AGENT), metadata=metadata)
        people = [
            (
                await stub.ResolveContact(
                    conversations_pb2.ResolveContactRequest(agent_id=AGENT, identity=f"bench:{number}"),
                    metadata=metadata,
                )
            ).contact.id
            for number in range(contacts)
        ]
        todo = iter(range(count))

        async def write() -> None:
            for number in todo:
                await stub.Remember(
                    memories_pb2.RememberRequest(
                        agent_id=AGENT,
                        contact_id=people[number % contacts],
                        key=f"{word(dice)}.{number}",
                        value=" ".join(word(dice) for _ in range(12)),
                    ),
                    metadata=metadata,
                )

        await asyncio.gather(*(write() for _ in range(WRITERS)))
        watch = stub.WatchJobs(administration_pb2.WatchJobsRequest(until_idle=True), metadata=metadata)
        counts = None
        async for response in watch:
            counts = response.counts
        if counts is None or counts.dead or counts.succeeded < count:
            raise RuntimeError("not every memory was indexed")
