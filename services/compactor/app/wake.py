"""Waking workers; a lost wake-up delays a poll interval and loses nothing (SPEC J-1)."""

from __future__ import annotations

import asyncio
from typing import Protocol


class Wake(Protocol):
    """Set when jobs may be due. Clear it before looking for jobs, wait after having found none."""

    def set(self) -> None:
        """Jobs were enqueued. Returns at once, whatever it takes to tell others."""

    def clear(self) -> None:
        """Somebody is about to look for jobs."""

    async def wait(self, seconds: float) -> None:
        """Returns when set, at the latest after `seconds`."""


class LocalWake:
    """A Wake of the workers of this process."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def set(self) -> None:
        """See Wake."""
        self._event.set()

    def clear(self) -> None:
        """See Wake."""
        self._event.clear()

    async def wait(self, seconds: float) -> None:
        """See Wake."""
        try:
            async with asyncio.timeout(seconds):
                await self._event.wait()
        except TimeoutError:
            return
