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
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import numpy as np
from palimpsest.common.v1 import jobs_pb2, resources_pb2
from palimpsest.embedder.v1 import embedder_pb2, embedder_pb2_grpc
from palimpsest.gateway.v1 import administration_pb2, conversations_pb2, gateway_pb2_grpc, memories_pb2

from services.embedded import compose, lock_data
from services.embedder.adapters.span_reader import SpanReader
from services.embedder.bootstrap import default_model_dir
from services.embedder.rpc import convert
from services.embedder.rpc.servicer import DESCRIPTOR
from services.kit.errors import UnknownMethod
from services.kit.metrics import Metrics
from services.kit.serving import Service, listening, roles_of

AGENT = "bench"
WRITERS = 64
USER, ASSISTANT = resources_pb2.ROLE_USER, resources_pb2.ROLE_ASSISTANT
CHUNK = 250  # messages of one that IngestStream takes
DRAIN_SECONDS = 600.0
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
    """Random unit vectors under the real model's name; facts are read by the real network."""

    def __init__(self, seed: int) -> None:
        self._manifest = json.loads((default_model_dir() / "manifest.json").read_text("utf-8"))
        self._dice = np.random.default_rng(seed)
        self._reader = SpanReader(default_model_dir())

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

    async def ScoreSpans(self, request: Any, context: Any = None) -> embedder_pb2.ScoreSpansResponse:  # noqa: N802, ARG002
        """As the real one."""
        return convert.scores(await self._reader.score(convert.spanned(request)))

    def service(self) -> Service:
        """In place of the real one."""

        async def ready() -> bool:
            return True

        return Service(
            name=DESCRIPTOR.full_name,
            add=lambda server: embedder_pb2_grpc.add_EmbedderServiceServicer_to_server(self, server),
            roles=roles_of(DESCRIPTOR),
            ready=ready,
        )


def word(dice: random.Random) -> str:
    """A made-up word out of some thirty thousand."""
    return "".join(dice.choices(SYLLABLES, k=dice.choice((2, 3, 3, 4))))


def message(said: str, role: resources_pb2.Role.ValueType = USER) -> resources_pb2.NewMessage:
    """A message of one text."""
    return resources_pb2.NewMessage(role=role, parts=[resources_pb2.Part(text=said)])


async def ingest(
    stub: Any,
    metadata: Any,
    conversation_id: str,
    messages: Sequence[resources_pb2.NewMessage],
    parent_id: str = "",
) -> list[str]:
    """Streams messages into a conversation, after the parent; their ids."""

    async def chunks() -> AsyncIterator[conversations_pb2.IngestStreamRequest]:
        for start in range(0, len(messages), CHUNK):
            chunk = conversations_pb2.IngestRequest(
                agent_id=AGENT,
                conversation_id=conversation_id,
                messages=messages[start : start + CHUNK],
                parent_id="" if start else parent_id,
            )
            yield conversations_pb2.IngestStreamRequest(chunk=chunk)

    ids: list[str] = []
    async for answer in stub.IngestStream(chunks(), metadata=metadata):
        ids += [one.message_id for one in answer.chunk.messages]
    return ids


def memories(data: Path, count: int, contacts: int, seed: int = 10) -> None:
    """Fills a fresh data folder with `count` memories spread over `contacts` people, all indexed."""
    asyncio.run(_memories(data, count, contacts, random.Random(seed)))


async def _memories(data: Path, count: int, contacts: int, dice: random.Random) -> None:
    async with serving(data) as (stub, metadata):
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
        counts = await until_idle(stub, metadata)
        if counts.dead or counts.succeeded < count:
            raise RuntimeError("not every memory was indexed")


@asynccontextmanager
async def serving(data: Path) -> AsyncIterator[tuple[Any, Any]]:
    """The suite over a data folder in this process, with seeded vectors: a stub, and its calls' metadata."""
    async with AsyncExitStack() as stack:
        lock_data(data, stack)
        secret = secrets.token_bytes(32)
        gateway = await compose(data, secret, Metrics(), stack, embedder=SeededEmbedder(1).service())
        port = await stack.enter_async_context(
            listening(gateway, secret, Metrics(), "127.0.0.1:0", drain_seconds=5)
        )
        channel = await stack.enter_async_context(grpc.aio.insecure_channel(f"127.0.0.1:{port}"))
        metadata = (("authorization", f"Bearer {(data / 'api-key').read_text().strip()}"),)
        yield gateway_pb2_grpc.GatewayServiceStub(channel), metadata


async def drained(data: Path, messages: Mapping[str, int]) -> bool:
    """Does the derived work that waits in a data folder; whether these conversations have so many messages
    stored, all of them indexed, and no job failed for good."""
    async with serving(data) as (stub, metadata):
        indexed = await _indexed(stub, metadata, messages)
        counts = await until_idle(stub, metadata)
        return indexed and not counts.dead and counts.succeeded >= sum(messages.values())


async def _indexed(stub: Any, metadata: Any, messages: Mapping[str, int]) -> bool:
    for name, count in messages.items():
        request = conversations_pb2.GetConversationRequest(agent_id=AGENT, conversation_id=name)
        until = time.monotonic() + DRAIN_SECONDS
        while True:
            found = (await stub.GetConversation(request, metadata=metadata)).conversation
            if found.indexed_count >= count:
                break
            if time.monotonic() > until:
                return False
            await asyncio.sleep(0.5)
        if (found.stored_count, found.indexed_count) != (count, count):
            return False
    return True


async def until_idle(stub: Any, metadata: Any) -> jobs_pb2.JobCounts:
    """Waits until no job is left; how all of them stand then."""
    counts = jobs_pb2.JobCounts()
    request = administration_pb2.WatchJobsRequest(until_idle=True)
    async for response in stub.WatchJobs(request, metadata=metadata):
        counts = response.counts
    return counts
