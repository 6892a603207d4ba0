"""From a turn to its reader (SPEC G-4)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from services.gateway.domain.turns import Event

EVENTS_AHEAD = 64
"""G-4: events that a turn may be ahead of its reader; then it waits, and so does the model's stream."""


class Events:
    """A bounded queue whose reader may leave; then what comes is dropped and nobody waits."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[Event | None] = asyncio.Queue(EVENTS_AHEAD)
        self._left = False
        self._error: BaseException | None = None

    async def put(self, event: Event) -> None:
        """Hands an event over, waiting for room."""
        if not self._left:
            await self._queue.put(event)

    async def end(self, error: BaseException | None = None) -> None:
        """No more events come; the reader gets the error, if there is one."""
        self._error = error
        if not self._left:
            await self._queue.put(None)

    def leave(self) -> None:
        """The reader is gone."""
        self._left = True
        while not self._queue.empty():  # makes room for those that wait
            self._queue.get_nowait()

    async def read(self) -> AsyncGenerator[Event, None]:
        """The events, for one reader. Raises what ended the turn."""
        while (event := await self._queue.get()) is not None:
            yield event
        if self._error is not None:
            raise self._error
