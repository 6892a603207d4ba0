"""Waking the workers of this process; a lost wake-up delays a poll interval and loses nothing (J-1)."""

from __future__ import annotations

import asyncio


class Wake:
    """Set when jobs may be due. Clear it before looking for jobs, wait after having found none."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def set(self) -> None:
        """Jobs were enqueued."""
        self._event.set()

    def clear(self) -> None:
        """Somebody is about to look for jobs."""
        self._event.clear()

    async def wait(self, seconds: float) -> None:
        """Returns when set, at the latest after `seconds`."""
        try:
            async with asyncio.timeout(seconds):
                await self._event.wait()
        except TimeoutError:
            return
