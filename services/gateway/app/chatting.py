"""Chats: turns that run on their own, and their readers (SPEC G-4)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from services.gateway.app.turn import ChatParts, Turn
from services.gateway.domain.turns import Ask, Cause, Event

MARGIN_SECONDS = 0.5
"""How long before the caller's deadline a turn is cut off, so that its end still reaches the caller."""
STOP_MARGIN_SECONDS = 2.0
"""How long before calls are cut off, as the process stops, turns are: their ends still reach the callers."""
CLOSE_SECONDS = 10.0
"""How long turns that were cut off have to store what came of them when the process stops."""


class Chatting:
    """Starts turns, and sees that they end."""

    def __init__(self, parts: ChatParts, *, seconds: float) -> None:
        """`seconds`: the longest that a turn may take."""
        self._parts = parts
        self._seconds = seconds
        self._running: dict[asyncio.Task[None], Turn] = {}
        self._stopping: asyncio.TimerHandle | None = None

    async def chat(
        self, ask: Ask, *, retry: bool, remaining: float | None = None
    ) -> AsyncGenerator[Event, None]:
        """The events of a turn. A reader that leaves cuts it off; what came till then is stored.

        `retry`: whether the request id is the caller's; `remaining`: seconds until its deadline. Raises what
        ChatService.Chat names.
        """
        seconds = self._seconds
        if remaining is not None:
            seconds = min(seconds, max(remaining - MARGIN_SECONDS, 0.0))
        turn = Turn(self._parts, ask, retry=retry, seconds=seconds)
        task = asyncio.create_task(turn.run())
        self._running[task] = turn
        task.add_done_callback(self._running.pop)
        try:
            async for event in turn.events.read():
                yield event
        finally:
            turn.leave(Cause.STOPPED if self._stopping else Cause.READER_LEFT)

    def stopping(self, seconds: float) -> None:
        """The process stops, and calls have so long to end; turns that haven't by then are cut off before."""
        if self._stopping is None:
            left = max(0.0, seconds - STOP_MARGIN_SECONDS)
            self._stopping = asyncio.get_running_loop().call_later(left, self._stop)

    async def close(self) -> None:
        """Cuts off what runs and waits until it is stored."""
        if self._stopping is not None:
            self._stopping.cancel()
        running = dict(self._running)
        self._stop()
        if running:
            _, late = await asyncio.wait(running, timeout=CLOSE_SECONDS)
            for task in late:  # perhaps its reader doesn't read
                running[task].leave()

    def _stop(self) -> None:
        for turn in self._running.values():
            turn.stop(Cause.STOPPED)
