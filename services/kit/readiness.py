"""Whether what a service needs is there (SPEC O-2)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import structlog

READINESS_SECONDS = 2.0
"""How long the stores have to answer, and how often they are asked."""


async def is_ready(ready: Callable[[], Awaitable[bool]]) -> bool:
    """Asks; an error, or no answer in time, is no, and logged."""
    try:
        async with asyncio.timeout(READINESS_SECONDS):
            return await ready()
    except Exception as error:  # noqa: BLE001 - whatever it is, the service is not ready
        structlog.get_logger("health").warning("not_ready", error=type(error).__name__)
        return False
