"""A suite in a thread of its own, for frameworks that call it from plain code and from event loops."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import palimpsest
from tests.integration.embedded_suite import running

START_SECONDS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameworkSuite:
    """Where it listens, and the key of its operator."""

    target: str
    key: str

    def client(self, agent: str) -> palimpsest.Client:
        """A client for plain code, of an agent that exists then."""
        made = palimpsest.Client(self.target, api_key=self.key, agent=agent)
        made.create_agent()
        return made

    def async_client(self, agent: str) -> palimpsest.AsyncClient:
        """A client for one event loop; its agent has to be created."""
        return palimpsest.AsyncClient(self.target, api_key=self.key, agent=agent)


@contextmanager
def framework_suite(data: Path) -> Iterator[FrameworkSuite]:
    """Starts it over a folder."""
    started: list[FrameworkSuite] = []
    failed: list[BaseException] = []
    ready = threading.Event()
    loop = asyncio.new_event_loop()
    end = asyncio.Event()

    async def serve() -> None:
        try:
            async with running(data) as suite:
                started.append(FrameworkSuite(target=f"127.0.0.1:{suite.port}", key=suite.operator))
                ready.set()
                await end.wait()
        except BaseException as error:
            failed.append(error)
            raise
        finally:
            ready.set()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), name="suite")
    thread.start()
    try:
        assert ready.wait(START_SECONDS)
        assert started, failed
        yield started[0]
    finally:
        loop.call_soon_threadsafe(end.set)
        thread.join()
        loop.close()
