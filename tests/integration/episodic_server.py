"""Episodic on a socket, with a ledger that remembers what was enqueued, for tests of its services."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Any

import grpc
from palimpsest.compactor.v1 import compactor_pb2, compactor_pb2_grpc

from services.kit.channels import CHANNEL_OPTIONS, Channels
from services.kit.context import current_principal
from services.kit.identity import Principal, Role, TokenSigner
from services.kit.metrics import Metrics
from services.kit.serving import Service, listening, outgoing
from services.memory.episodic.bootstrap import build
from services.memory.episodic.config import EpisodicSettings

SECRET = b"a secret of the tests, 32 bytes or more"
WRITER = Principal(tenant="acme", role=Role.WRITER, subject="test")
READER = Principal(tenant="acme", role=Role.READER, subject="test")
ONLY_B = Principal(tenant="acme", role=Role.WRITER, agents=frozenset({"b"}), subject="test")
OTHER = Principal(tenant="other", role=Role.WRITER, subject="test")


class Ledger(compactor_pb2_grpc.CompactorServiceServicer):
    """Remembers what was enqueued."""

    def __init__(self) -> None:
        self.jobs: list[tuple[str, compactor_pb2.NewJob]] = []
        self.arrived = asyncio.Event()

    async def Enqueue(self, request: compactor_pb2.EnqueueRequest, _: Any) -> compactor_pb2.EnqueueResponse:
        """Remembers jobs."""
        self.jobs.extend((current_principal().tenant, job) for job in request.jobs)
        self.arrived.set()
        return compactor_pb2.EnqueueResponse(job_ids=[job.idempotency_key for job in request.jobs])

    async def until(self, type_: str) -> compactor_pb2.NewJob:
        """The first job of a type, as soon as there is one."""
        while True:
            for _, job in self.jobs:
                if job.type == type_:
                    return job
            self.arrived.clear()
            await self.arrived.wait()


async def _no_store() -> bool:
    return True


def _channel(stack: AsyncExitStack, port: int, audience: str) -> grpc.aio.Channel:
    inner = grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=CHANNEL_OPTIONS)
    channel = outgoing(inner, audience, TokenSigner(SECRET))
    stack.push_async_callback(channel.close)
    return channel


async def serve_episodic(
    stack: AsyncExitStack, settings: EpisodicSettings, ledger: Ledger
) -> grpc.aio.Channel:
    """A channel to the service, which is served until the stack is left."""
    served = Service(
        name="palimpsest.compactor.v1.CompactorService",
        add=lambda server: compactor_pb2_grpc.add_CompactorServiceServicer_to_server(ledger, server),
        roles={"Enqueue": Role.SERVICE},
        ready=_no_store,
    )
    port = await stack.enter_async_context(
        listening(served, SECRET, Metrics(), "127.0.0.1:0", drain_seconds=0)
    )
    to_ledger = _channel(stack, port, "compactor")
    channels = Channels(
        embedder=to_ledger, episodic=to_ledger, semantic=to_ledger, compactor=to_ledger, gateway=to_ledger
    )
    service = await build(settings, channels, stack)
    port = await stack.enter_async_context(
        listening(service, SECRET, Metrics(), "127.0.0.1:0", drain_seconds=0)
    )
    return _channel(stack, port, "episodic")
