"""Starts the embedded suite as a user does (`palimpsest up`) and talks to it over its port."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import grpc
from palimpsest.gateway.v1 import gateway_pb2_grpc

from services.kit.identity import BEARER, Principal, Role, TokenSigner

START_SECONDS = 120
STOP_SECONDS = 30
MESSAGE_BYTES = 20 * 1024 * 1024
OPTIONS = (
    ("grpc.max_receive_message_length", MESSAGE_BYTES),
    ("grpc.max_send_message_length", MESSAGE_BYTES),
)
Metadata: TypeAlias = "tuple[tuple[str, str], ...]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A suite that answers; `started_in` is seconds from exec to the published endpoint."""

    process: subprocess.Popen[bytes]
    target: str
    api_key: str
    data: Path
    started_in: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Alone:
    """A service by itself; `secret` signs the tokens of its callers."""

    process: subprocess.Popen[bytes]
    target: str
    secret: bytes


@contextmanager
def embedded(data: Path | None = None, settings: Mapping[str, str] | None = None) -> Iterator[Running]:
    """A suite over `data` (default: a fresh folder), stopped at the end; `settings` go to its environment."""
    with tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as scratch:
        folder = data or Path(scratch) / "data"
        endpoint = folder / "endpoint.json"
        endpoint.unlink(missing_ok=True)
        started = time.monotonic()
        process = subprocess.Popen(
            [sys.executable, "-m", "palimpsest", "up", "--data", str(folder), "--port", "0"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **(settings or {})},
        )
        try:
            while not endpoint.exists():
                if process.poll() is not None or time.monotonic() - started > START_SECONDS:
                    raise RuntimeError(f"the suite did not start (exit code {process.returncode})")
                time.sleep(0.01)
            yield Running(
                process=process,
                target=json.loads(endpoint.read_text())["target"],
                api_key=(folder / "api-key").read_text().strip(),
                data=folder,
                started_in=time.monotonic() - started,
            )
        finally:
            _stop(process)


@contextmanager
def episodic(data: Path, settings: Mapping[str, str]) -> Iterator[Alone]:
    """Episodic alone, as its own process; `settings` are environment variables without their prefix."""
    secret = secrets.token_urlsafe(32)
    port = free_port()
    own = {"DATA_DIR": str(data), "PORT": str(port), "IDENTITY_SECRET": secret, "LOG_LEVEL": "ERROR"}
    with service("services.memory.episodic", {**own, **settings}) as process:
        yield Alone(process=process, target=f"127.0.0.1:{port}", secret=secret.encode())


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


@contextmanager
def service(module: str, settings: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A service as its own process, stopped at the end."""
    prefix = f"PALIMPSEST_{module.rpartition('.')[2].upper()}_"
    process = subprocess.Popen(
        [sys.executable, "-m", module],
        env={**os.environ, **{prefix + name: value for name, value in settings.items()}},
    )
    try:
        yield process
    finally:
        _stop(process)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@asynccontextmanager
async def gateway_channel(running: Running) -> AsyncIterator[grpc.aio.Channel]:
    """A channel to the gateway, for stubs of its further services."""
    async with grpc.aio.insecure_channel(running.target, options=OPTIONS) as channel:
        yield channel


@asynccontextmanager
async def gateway(running: Running) -> AsyncIterator[tuple[Any, Metadata]]:
    """A stub of the gateway, and the metadata that its calls need."""
    async with gateway_channel(running) as channel:
        yield gateway_pb2_grpc.GatewayServiceStub(channel), (("authorization", f"Bearer {running.api_key}"),)


@asynccontextmanager
async def channel_to(
    alone: Alone, audience: str
) -> AsyncIterator[tuple[grpc.aio.Channel, Callable[[], Metadata]]]:
    """A channel to a service that answers, and what makes the metadata of a call to it."""
    caller = Principal(tenant="bench", role=Role.WRITER, subject="bench")
    signer = TokenSigner(alone.secret)
    async with grpc.aio.insecure_channel(alone.target, options=OPTIONS) as channel:
        async with asyncio.timeout(START_SECONDS):
            await channel.channel_ready()
        yield channel, lambda: (("authorization", BEARER + signer.mint(caller, audience)),)
