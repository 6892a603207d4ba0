"""The embedded suite as a process, for tests that kill and restart it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
from palimpsest.common.v1 import resources_pb2
from palimpsest.gateway.v1 import conversations_pb2, gateway_pb2_grpc

START_SECONDS = 90.0
AGENT = "ada"


class Suite:
    """`palimpsest up` over one data folder; may be killed and started again."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self.process: subprocess.Popen[bytes] | None = None
        self.errors = b""

    def start(self, *extra: str, wait: bool = True) -> None:
        """Starts it; returns once it answers (or, without `wait`, at once)."""
        (self.data / "endpoint.json").unlink(missing_ok=True)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "palimpsest", "up", "--data", str(self.data), "--port", "0", *extra],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        if wait:
            self._wait_started()

    def _wait_started(self) -> None:
        assert self.process is not None
        until = time.monotonic() + START_SECONDS
        while not (self.data / "endpoint.json").exists():
            if self.process.poll() is not None:
                raise AssertionError(f"the suite ended: {self.process.communicate()[1].decode()[-2000:]}")
            assert time.monotonic() < until, "the suite did not start"
            time.sleep(0.02)

    def kill(self) -> None:
        """SIGKILL to the main process only: its children must end by themselves."""
        assert self.process is not None
        self.process.kill()
        self.process.communicate()

    def stop(self) -> int:
        """SIGTERM; returns the exit code."""
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            self.errors = self.process.communicate(timeout=30)[1]
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.errors = self.process.communicate()[1]
            raise
        return self.process.returncode

    @property
    def target(self) -> str:
        """Where it listens."""
        return str(json.loads((self.data / "endpoint.json").read_text())["target"])

    @asynccontextmanager
    async def client(self, key: str | None = None) -> AsyncIterator[Any]:
        """A stub whose calls carry the API key."""
        secret = key or (self.data / "api-key").read_text().strip()
        async with grpc.aio.insecure_channel(
            self.target, interceptors=[Keyed(secret), KeyedStream(secret)]
        ) as channel:
            yield gateway_pb2_grpc.GatewayServiceStub(channel)


def _with_key(details: Any, secret: str) -> Any:
    metadata = grpc.aio.Metadata(*(details.metadata or ()))
    metadata.add("authorization", f"Bearer {secret}")
    return grpc.aio.ClientCallDetails(
        details.method, details.timeout, metadata, details.credentials, details.wait_for_ready
    )


class Keyed(grpc.aio.UnaryUnaryClientInterceptor):
    def __init__(self, secret: str) -> None:
        self._secret = secret

    async def intercept_unary_unary(self, continuation: Any, details: Any, request: Any) -> Any:
        return await continuation(_with_key(details, self._secret), request)


class KeyedStream(grpc.aio.StreamStreamClientInterceptor):
    def __init__(self, secret: str) -> None:
        self._secret = secret

    async def intercept_stream_stream(self, continuation: Any, details: Any, requests: Any) -> Any:
        return await continuation(_with_key(details, self._secret), requests)


def message(text: str, role: int = resources_pb2.ROLE_USER, **fields: Any) -> resources_pb2.NewMessage:
    """A message of one text."""
    made = resources_pb2.NewMessage(role=role, **fields)  # type: ignore[arg-type]
    made.parts.add().text = text
    return made


async def prepare(stub: Any, conversation: str = "c") -> None:
    """An agent and a conversation."""
    await stub.CreateAgent(conversations_pb2.CreateAgentRequest(agent_id=AGENT))
    await stub.CreateConversation(
        conversations_pb2.CreateConversationRequest(agent_id=AGENT, conversation_id=conversation)
    )


async def until(condition: Any, seconds: float = 60.0) -> None:
    """Waits until the coroutine function returns true."""
    end = time.monotonic() + seconds
    while not await condition():
        assert time.monotonic() < end, "it never came true"
        await asyncio.sleep(0.05)


async def indexed(ask: Callable[[], Awaitable[Any]], seconds: float = 120.0) -> Any:
    """Asks, until the answer is of everything waited for; one call waits no longer than a service lets it."""
    end = time.monotonic() + seconds
    while (answer := await ask()).unindexed:
        assert time.monotonic() < end, "it was never indexed"
        await asyncio.sleep(0.05)
    return answer
