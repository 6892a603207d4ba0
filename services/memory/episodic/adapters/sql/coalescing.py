"""One transaction for the appends that wait (E-1): each caller pays its share of a commit, not a commit."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
Q = TypeVar("Q")
A = TypeVar("A")

MOST_TOGETHER = 256  # requests of one transaction
IN_FLIGHT = 2  # transactions of one lane at once: the next is prepared while one commits
BUSY = 4  # requests of a transaction; after one that had as many, the next waits for company
LINGER_SECONDS = 0.002
ALL_IN_FLIGHT = 8  # transactions at once


@dataclass(slots=True)
class _Lane(Generic[Q, A]):
    """Those that wait under one key."""

    waiting: deque[tuple[Q, asyncio.Future[A]]] = field(default_factory=deque)
    running: int = 0
    newest: int = 0  # requests of the transaction that was begun last


class Coalescer(Generic[K, Q, A]):
    """Hands the requests of concurrent callers to `run` together, in order, and each its own answer.

    Requests go together only with those of the same key; keys take turns. An answer that is an exception is
    raised at its caller; an exception of `run` itself at all of them.
    """

    def __init__(self, run: Callable[[Sequence[Q]], Awaitable[Sequence[A | Exception]]]) -> None:
        self._run = run
        self._lanes: dict[K, _Lane[Q, A]] = {}  # the one whose turn is next comes first
        self._running: set[asyncio.Task[None]] = set()

    async def ask(self, key: K, request: Q) -> A:
        """The answer to a request. A caller that is cancelled does not take its request back."""
        future: asyncio.Future[A] = asyncio.get_running_loop().create_future()
        self._lanes.setdefault(key, _Lane()).waiting.append((request, future))
        self._start()
        return await future

    def _start(self) -> None:
        """Begins as many transactions as may run."""
        for key, lane in list(self._lanes.items()):
            if len(self._running) >= ALL_IN_FLIGHT:
                return
            if lane.waiting and lane.running < IN_FLIGHT:
                lane.running += 1
                self._lanes[key] = self._lanes.pop(key)  # to the end of the line
                task = asyncio.create_task(self._flush(key, lane))
                self._running.add(task)
                task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)  # before others begin in its place
        self._start()

    async def _flush(self, key: K, lane: _Lane[Q, A]) -> None:
        if lane.newest >= BUSY:
            await asyncio.sleep(LINGER_SECONDS)
        batch = [lane.waiting.popleft() for _ in range(min(len(lane.waiting), MOST_TOGETHER))]
        lane.newest = len(batch)
        try:
            if batch:
                _answer(batch, await self._run([request for request, _ in batch]))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the callers'
            _answer(batch, [error] * len(batch))
        finally:
            lane.running -= 1
            if not lane.waiting and not lane.running:
                del self._lanes[key]


def _answer(batch: Sequence[tuple[Q, asyncio.Future[A]]], answers: Sequence[A | Exception]) -> None:
    for (_, future), answer in zip(batch, answers, strict=True):
        if future.done():
            continue  # its caller was cancelled; its request stands
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)
