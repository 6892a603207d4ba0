"""Tasks that a service has beside its calls (SPEC O-3, O-4)."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import pytest
from structlog.testing import capture_logs

from services.kit.serving import background


async def test_a_task_that_fails_is_told_of_while_the_service_runs() -> None:
    """X-3: by the type of its error alone. One that is ended is no failure."""
    stack = AsyncExitStack()

    async def fails() -> None:
        raise LookupError("somebody's text")

    async def goes_on() -> None:
        await asyncio.Event().wait()

    with capture_logs() as logs:
        background(stack, [fails(), goes_on()])
        for _ in range(3):
            await asyncio.sleep(0)
        told = list(logs)
        with pytest.raises(LookupError):
            await stack.aclose()
        await asyncio.sleep(0)
    assert told == logs == [{"event": "background_failed", "error": "LookupError", "log_level": "error"}]
