"""Streams of changes that are pulled from a store, never queued (SPEC W-7).

A watcher reads small pages from the store and hands over one event at a time; it reads on when the consumer
has taken what it was given. So a slow consumer costs a page and what the transport holds, however much
changes meanwhile. `Signal` wakes watchers after writes of this process; a poll finds those of others.

A handler that delivers so is a coroutine, not a generator:

    async def WatchThings(self, request, context):
        events = follow(after, self._read, self._signal, key, poll_seconds=1.0)
        await deliver(context, events, convert.event, start=after, patience=30.0)
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Hashable, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from services.kit.errors import Overloaded

E = TypeVar("E")
P = TypeVar("P")
K = TypeVar("K", bound=Hashable)

RESUME_AFTER = "resume_after"
TOO_SLOW = "the stream was not read in time; go on after the last event received"

Read: TypeAlias = "Callable[[P], Awaitable[Sequence[tuple[E, P]]]]"
Wait: TypeAlias = "Callable[[float], Awaitable[None]]"


class Writer(Protocol):
    """The part of a `grpc.aio.ServicerContext` that is needed here."""

    async def write(self, message: Any) -> None:
        """Sends one response of a stream; returns once the transport has taken it."""


class Signal(Generic[K]):
    """Wakes those who listen to a key. Belongs to one event loop."""

    def __init__(self) -> None:
        self._listeners: dict[K, set[asyncio.Event]] = {}

    def notify(self, key: K) -> None:
        """Something about `key` has changed and can be read."""
        for event in self._listeners.get(key, ()):
            event.set()

    @asynccontextmanager
    async def listening(self, key: K) -> AsyncIterator[Wait]:
        """Gives `wait(seconds)`: returns at the next notice, or after the time.

        A notice that came since listening began, or since `wait` last returned, counts: who reads after
        each wait misses nothing.
        """
        event = asyncio.Event()

        async def wait(seconds: float) -> None:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await event.wait()
            event.clear()

        self._listeners.setdefault(key, set()).add(event)
        try:
            yield wait
        finally:
            listeners = self._listeners[key]
            listeners.discard(event)
            if not listeners:
                del self._listeners[key]

    def __len__(self) -> int:
        """How many keys are listened to."""
        return len(self._listeners)


async def follow(
    position: P, read: Read[P, E], signal: Signal[K], key: K, *, poll_seconds: float
) -> AsyncGenerator[tuple[E, P], None]:
    """Every event after `position`, in order, each with its own position; never ends.

    `read(position)` gives the next few events after a position, none when there are no more for now.
    Close it (`aclosing`) to stop listening; `deliver` does.
    """
    async with signal.listening(key) as wait:
        while True:
            page = await read(position)
            for event, position in page:
                yield event, position
            if not page:
                await wait(poll_seconds)


async def deliver(
    context: Writer,
    events: AsyncGenerator[tuple[E, P], None],
    to_message: Callable[[E], Any],
    *,
    start: P,
    patience: float,
    to_text: Callable[[P], str] = str,
) -> None:
    """Sends events until they end, and closes them.

    Raises Overloaded when the consumer doesn't take one within `patience` seconds. Its metadata
    `resume_after` is the position of the last event that the transport took, `start` before the first. The
    one that waited may still arrive, so a consumer goes on after the last event that it received.
    """
    position = start
    async with aclosing(events):
        async for event, reached in events:
            try:
                async with asyncio.timeout(patience) as limit:
                    await context.write(to_message(event))
            except TimeoutError:
                if not limit.expired():
                    raise
                raise Overloaded(TOO_SLOW, metadata={RESUME_AFTER: to_text(position)}) from None
            position = reached
