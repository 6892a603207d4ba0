"""Several calls at once, not too many."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

R = TypeVar("R")

MOST_CALLS = 16
"""Calls under way at once for one request of a framework."""


async def gathered(calls: Iterable[Coroutine[Any, Any, R]]) -> list[R]:
    """The results in order. The first failure is raised once none of the calls runs any more."""
    room = asyncio.Semaphore(MOST_CALLS)

    async def one(call: Coroutine[Any, Any, R]) -> R:
        async with room:
            return await call

    results = await asyncio.gather(*map(one, calls), return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if not isinstance(result, BaseException)]
