"""Waiting for what comes to be by itself."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

PATIENCE = 120.0
"""Seconds; a test that waits so long has failed, however busy the machine is."""
_PAUSE = 0.05


async def until(holds: Callable[[], Awaitable[bool] | bool]) -> None:
    """Returns once it holds; TimeoutError after PATIENCE."""
    async with asyncio.timeout(PATIENCE):
        while True:
            held = holds()
            if held if isinstance(held, bool) else await held:
                return
            await asyncio.sleep(_PAUSE)
