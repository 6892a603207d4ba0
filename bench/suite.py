"""Starts the embedded suite as a user does (`palimpsest up`) and talks to it over its port."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
from palimpsest.gateway.v1 import gateway_pb2_grpc

START_SECONDS = 120
STOP_SECONDS = 30
MESSAGE_BYTES = 20 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A suite that answers; `started_in` is seconds from exec to the published endpoint."""

    process: subprocess.Popen[bytes]
    target: str
    api_key: str
    data: Path
    started_in: float


@contextmanager
def embedded(data: Path | None = None) -> Iterator[Running]:
    """A suite over `data` (default: a fresh folder), stopped at the end."""
    with tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as scratch:
        folder = data or Path(scratch) / "data"
        endpoint = folder / "endpoint.json"
        endpoint.unlink(missing_ok=True)
        started = time.monotonic()
        process = subprocess.Popen(
            [sys.executable, "-m", "palimpsest", "up", "--data", str(folder), "--port", "0"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
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
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@asynccontextmanager
async def gateway(running: Running) -> AsyncIterator[tuple[Any, tuple[tuple[str, str], ...]]]:
    """A stub of the gateway, and the metadata that its calls need."""
    options = (
        ("grpc.max_receive_message_length", MESSAGE_BYTES),
        ("grpc.max_send_message_length", MESSAGE_BYTES),
    )
    async with grpc.aio.insecure_channel(running.target, options=options) as channel:
        yield gateway_pb2_grpc.GatewayServiceStub(channel), (("authorization", f"Bearer {running.api_key}"),)
