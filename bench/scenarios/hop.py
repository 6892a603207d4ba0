"""P-18: what the gateway adds to a call, over an empty call; and JSON over HTTP beside gRPC.

One caller reads an agent from Episodic itself, and through the gateway, each a process of its own, by turns
with calls of a bare server that answers each request with itself. What the gateway adds is the difference of
the first two; JSON is read from the gateway's HTTP face over one connection that stays.
"""

from __future__ import annotations

import asyncio
import json
import socket
import statistics
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
from palimpsest.episodic.v1 import episodic_pb2, episodic_pb2_grpc
from palimpsest.gateway.v1 import conversations_pb2, gateway_pb2_grpc

from bench.load import ECHO_METHOD, echo_server
from bench.result import Result, percentile
from bench.suite import START_SECONDS, Alone, channel_to, episodic, free_port, service

ID = "P-18"
BUDGET = 1.5
CALLS = 2_000
WARM_UP = 300
AGENT = "hop"
EMPTY, DIRECT, GATEWAY, HTTP = "empty", "direct", "gateway", "http"

Call = Callable[[], Awaitable[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """Where a gateway listens, and a key for it."""

    target: str
    http_port: int
    api_key: str


def run() -> Result:
    """The median of what the gateway adds, over the median of an empty call."""
    with (
        tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as scratch,
        echo_server() as echo,
        episodic(Path(scratch) / "episodic", {}) as behind,
        _gateway(Path(scratch) / "gateway", behind) as front,
    ):
        seconds, correct = asyncio.run(_measure(echo, behind, front))
    typical = {name: statistics.median(values) for name, values in seconds.items()}
    added = typical[GATEWAY] - typical[DIRECT]
    value = added / typical[EMPTY]
    return Result(
        id=ID,
        unit="ratio",
        value=value,
        budget=BUDGET,
        ok=value <= BUDGET,
        correct=correct,
        yardstick="an empty call: a bare grpc.aio server that answers each request with itself",
        load=(
            f"GetAgent by one caller, {CALLS} calls of each kind by turns after {WARM_UP} others; the gateway"
            " and Episodic (SQLite) in processes of their own"
        ),
        details={
            "added_ms": round(added * 1000, 3),
            "http_over_grpc": round(typical[HTTP] / typical[GATEWAY], 4),
            "p50_ms": {name: round(found * 1000, 3) for name, found in typical.items()},
            "p95_ms": {name: round(percentile(found, 0.95) * 1000, 3) for name, found in seconds.items()},
        },
    )


async def _measure(echo: str, behind: Alone, front: Gateway) -> tuple[dict[str, list[float]], bool]:
    async with AsyncExitStack() as stack:
        calls = {
            EMPTY: await stack.enter_async_context(_empty(echo)),
            DIRECT: await stack.enter_async_context(_direct(behind)),
            GATEWAY: await stack.enter_async_context(_through(front)),
            HTTP: await stack.enter_async_context(_over_http(front)),
        }
        seconds: dict[str, list[float]] = {name: [] for name in calls}
        answers: dict[str, Any] = {}
        for number in range(WARM_UP + CALLS):
            for name, call in calls.items():
                began = time.perf_counter()
                answers[name] = await call()
                if number >= WARM_UP:
                    seconds[name].append(time.perf_counter() - began)
    named = json.loads(answers[HTTP])["agent"]["id"]
    return seconds, {answers[DIRECT].agent.id, answers[GATEWAY].agent.id, named} == {AGENT}


@asynccontextmanager
async def _empty(target: str) -> AsyncIterator[Call]:
    async with grpc.aio.insecure_channel(target) as channel:
        echo: Any = channel.unary_unary(ECHO_METHOD)
        yield lambda: echo(b"")


@asynccontextmanager
async def _direct(alone: Alone) -> AsyncIterator[Call]:
    async with channel_to(alone, "episodic") as (channel, metadata):
        stub = episodic_pb2_grpc.EpisodicServiceStub(channel)
        await stub.CreateAgent(episodic_pb2.CreateAgentRequest(agent_id=AGENT), metadata=metadata())
        request = episodic_pb2.GetAgentRequest(agent_id=AGENT)
        yield lambda: stub.GetAgent(request, metadata=metadata())


@asynccontextmanager
async def _through(front: Gateway) -> AsyncIterator[Call]:
    metadata = (("authorization", f"Bearer {front.api_key}"),)
    async with grpc.aio.insecure_channel(front.target) as channel:
        stub = gateway_pb2_grpc.GatewayServiceStub(channel)
        await stub.CreateAgent(conversations_pb2.CreateAgentRequest(agent_id=AGENT), metadata=metadata)
        request = conversations_pb2.GetAgentRequest(agent_id=AGENT)
        yield lambda: stub.GetAgent(request, metadata=metadata)


@asynccontextmanager
async def _over_http(front: Gateway) -> AsyncIterator[Call]:
    """Over a bare socket: a client library's time is not the gateway's."""
    reader, writer = await asyncio.open_connection("127.0.0.1", front.http_port)
    head = (
        f"GET /v1/agents/{AGENT} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {front.api_key}\r\n\r\n"
    )
    request = head.encode("ascii")

    async def call() -> bytes:
        writer.write(request)
        answer = await reader.readuntil(b"\r\n\r\n")
        length = next(line for line in answer.split(b"\r\n") if line.startswith(b"content-length: "))
        return await reader.readexactly(int(length.split()[1]))

    try:
        yield call
    finally:
        writer.transport.abort()


@contextmanager
def _gateway(data: Path, behind: Alone) -> Iterator[Gateway]:
    port, http_port = free_port(), free_port()
    settings = {
        "DATA_DIR": str(data),
        "PORT": str(port),
        "HTTP_PORT": str(http_port),
        "IDENTITY_SECRET": behind.secret.decode(),
        "EPISODIC_TARGET": behind.target,
        "LOG_LEVEL": "ERROR",
    }
    with service("services.gateway", settings) as process:
        _await_port(http_port, process)
        key = (data / "api-key").read_text().strip()
        yield Gateway(target=f"127.0.0.1:{port}", http_port=http_port, api_key=key)


def _await_port(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError(f"the gateway did not start (exit code {process.returncode})")
