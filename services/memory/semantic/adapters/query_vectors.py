"""Vectors of queries, made once for searches that ask for the same at the same time.

A prompt searches memories, messages and documents side by side by one text; embedding it is what costs most.
Only searches of one tenant share, and only while the vector is being made: how long an answer takes tells
nobody what others asked before.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from services.kit.context import current_call
from services.kit.errors import PalimpsestError

Key = tuple[str, str]


@dataclass(slots=True)
class _Making:
    """A vector that is being made, and how many wait for it."""

    task: asyncio.Task[bytes]
    waiting: int = 0


class SharedQueries:
    """Runs `embed` once for equal texts of a tenant that are asked for while it runs.

    It ends when the last who waits leaves: what hangs holds up nobody who comes later.
    """

    def __init__(self, embed: Callable[[str], Coroutine[Any, Any, bytes]]) -> None:
        self._embed = embed
        self._making: dict[Key, _Making] = {}

    async def vector(self, text: str) -> bytes:
        """What `embed` gives; outside of a call it shares with nobody. Raises what it raises."""
        call = current_call()
        if call is None or call.principal is None:
            return await self._embed(text)
        key = (call.principal.tenant, text)
        making = self._making.get(key)
        if making is None:
            making = self._making[key] = _Making(asyncio.create_task(self._embed(text)))
            return await self._await(key, making)
        try:
            return await self._await(key, making)
        except PalimpsestError:  # perhaps the other's alone, as its deadline is
            return await self._embed(text)

    async def _await(self, key: Key, making: _Making) -> bytes:
        making.waiting += 1
        try:
            return await asyncio.shield(making.task)
        finally:
            making.waiting -= 1
            if not making.waiting and not making.task.done():
                making.task.cancel()
            if self._making.get(key) is making and (making.task.done() or not making.waiting):
                del self._making[key]
