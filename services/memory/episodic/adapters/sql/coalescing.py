"""One transaction for the appends that wait (E-1): each caller pays its share of a commit, not a commit."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

Q = TypeVar("Q")
A = TypeVar("A")

MOST_TOGETHER = 256  # requests of one transaction
IN_FLIGHT = 2  # transactions at once: the next is prepared while one commits


class Coalescer(Generic[Q, A]):
    """Hands the requests of concurrent callers to `run` together, in order, and each its own answer.

    An answer that is an exception is raised at its caller; an exception of `run` itself at all of them.
    """

    def __init__(self, run: Callable[[Sequence[Q]], Awaitable[Sequence[A | Exception]]]) -> None:
        self._run = run
        self._waiting: deque[tuple[Q, asyncio.Future[A]]] = deque()
        self._running: set[asyncio.Task[None]] = set()

    async def ask(self, request: Q) -> A:
        """The answer to a request. A caller that is cancelled does not take its request back."""
        future: asyncio.Future[A] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, future))
        self._start()
        return await future

    def _start(self) -> None:
        if self._waiting and len(self._running) < IN_FLIGHT:
            task = asyncio.create_task(self._flush())
            self._running.add(task)
            task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._start()

    async def _flush(self) -> None:
        batch = [self._waiting.popleft() for _ in range(min(len(self._waiting), MOST_TOGETHER))]
        if not batch:
            return
        try:
            answers = await self._run([request for request, _ in batch])
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is the callers'
            for _, future in batch:
                if not future.done():
                    future.set_exception(error if isinstance(error, Exception) else asyncio.CancelledError())
            return
        for (_, future), answer in zip(batch, answers, strict=True):
            if future.done():
                continue
            if isinstance(answer, Exception):
                future.set_exception(answer)
            else:
                future.set_result(answer)
