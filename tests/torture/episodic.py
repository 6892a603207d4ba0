"""Episodic as its own process, killed and started again on the same port and store."""

from __future__ import annotations

import asyncio
import os
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg
import grpc

from services.kit.channels import CHANNEL_OPTIONS, ServiceChannel
from services.kit.identity import TokenSigner
from services.kit.serving import outgoing

START_SECONDS = 60.0
STOP_SECONDS = 30.0
SECRET = "a secret of the torture, 32 bytes or more"
# A caller whose server was killed looks for it again at once.
RECONNECT = (
    ("grpc.initial_reconnect_backoff_ms", 50),
    ("grpc.min_reconnect_backoff_ms", 50),
    ("grpc.max_reconnect_backoff_ms", 200),
)


class Episodic:
    """The service over one store: PostgreSQL with a `url`, else a SQLite file in `data`.

    Its outbox is not relayed, so that every job it ever asked for can be counted.
    """

    def __init__(self, data: Path, url: str = "", settings: Mapping[str, str] | None = None) -> None:
        self.data = data
        self._url = url
        self._process: subprocess.Popen[bytes] | None = None
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = int(free.getsockname()[1])
        names = {
            "DATA_DIR": str(data),
            "DATABASE_URL": url,
            "PORT": str(self._port),
            "IDENTITY_SECRET": SECRET,
            "LOG_LEVEL": "ERROR",
            "RELAY": "false",
            **(settings or {}),
        }
        self._environment = os.environ | {f"PALIMPSEST_EPISODIC_{name}": v for name, v in names.items()}

    @property
    def pid(self) -> int:
        """Of the process that runs."""
        assert self._process is not None
        return self._process.pid

    def start(self, *wrapper: str) -> None:
        """Starts the process, by `wrapper` if given; does not wait until it answers."""
        with (self.data / "episodic.log").open("ab") as log:
            self._process = subprocess.Popen(
                [*wrapper, sys.executable, "-m", "services.memory.episodic"],
                env=self._environment,
                stdout=log,
                stderr=log,
            )

    async def until_ready(self) -> None:
        """Returns once it takes connections; AssertionError with its log if it ends before."""
        until = time.monotonic() + START_SECONDS
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", self._port)
            except OSError:
                assert self._process is not None
                assert self._process.poll() is None, f"it did not start: {self.log()[-2000:]}"
                assert time.monotonic() < until, "it did not start in time"
                await asyncio.sleep(0.02)
            else:
                writer.close()
                await writer.wait_closed()
                return

    def kill(self) -> None:
        """SIGKILL."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        """SIGTERM, if it runs."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self.kill()

    def log(self) -> str:
        """What it wrote."""
        return (self.data / "episodic.log").read_text("utf-8", "replace")

    @asynccontextmanager
    async def channel(self) -> AsyncIterator[ServiceChannel]:
        """A channel whose failures are our errors; callers act as someone (`kit.context.act_as`)."""
        options = (*CHANNEL_OPTIONS, *RECONNECT)
        inner = grpc.aio.insecure_channel(f"127.0.0.1:{self._port}", options=options)
        async with outgoing(inner, "episodic", TokenSigner(SECRET.encode())) as channel:
            yield channel

    async def rows(self, statement: str) -> Sequence[Mapping[str, Any]]:
        """What a query finds in the store, read beside the service."""
        if self._url:
            connection = await asyncpg.connect(self._url)
            try:
                return [dict(row) for row in await connection.fetch(statement)]
            finally:
                await connection.close()
        return await asyncio.to_thread(self._file_rows, statement)

    def _file_rows(self, statement: str) -> Sequence[Mapping[str, Any]]:
        connection = sqlite3.connect(f"file:{self.data / 'episodic.db'}?mode=ro", uri=True)
        try:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute(statement)]
        finally:
            connection.close()
