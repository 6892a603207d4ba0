"""Watchers: woken by signals, fed from pages, dropped when they don't take what they are given (SPEC W-7)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

import pytest

from services.kit.errors import Overloaded
from services.kit.watching import RESUME_AFTER, Signal, deliver, follow


class Log:
    """A list of numbers that grows; read in pages of 3."""

    def __init__(self, signal: Signal[str]) -> None:
        self.items: list[int] = []
        self.reads = 0
        self.reading = asyncio.Event()
        self.signal = signal

    def add(self, count: int = 1) -> None:
        self.items += range(len(self.items) + 1, len(self.items) + 1 + count)
        self.signal.notify("log")

    async def read(self, position: int) -> Sequence[tuple[str, int]]:
        self.reads += 1
        self.reading.set()
        page = [(f"event {n}", n) for n in self.items[position : position + 3]]
        await asyncio.sleep(0.01)  # what is added now is not in it
        return page

    def follow(self, position: int = 0, poll_seconds: float = 60) -> AsyncGenerator[tuple[str, int], None]:
        return follow(position, self.read, self.signal, "log", poll_seconds=poll_seconds)


class Consumer:
    """Takes `most` messages, then none."""

    def __init__(self, most: int) -> None:
        self.got: list[str] = []
        self.most = most

    async def write(self, message: str) -> None:
        if len(self.got) == self.most:
            await asyncio.Event().wait()
        self.got.append(message)


@pytest.fixture
def log() -> Log:
    return Log(Signal())


async def take(events: AsyncGenerator[tuple[str, int], None], count: int) -> list[int]:
    async with asyncio.timeout(10):
        return [(await anext(events))[1] for _ in range(count)]


async def test_events_come_in_order_and_a_signal_brings_the_next(log: Log) -> None:
    log.add(7)
    async with aclosing(log.follow(2)) as events:
        assert await take(events, 5) == [3, 4, 5, 6, 7]
        waiting = asyncio.create_task(take(events, 2))
        await asyncio.sleep(0.01)
        assert not waiting.done()
        log.add(2)
        assert await waiting == [8, 9]


async def test_what_comes_while_a_page_is_read_is_not_missed(log: Log) -> None:
    async with aclosing(log.follow()) as events:
        first = asyncio.create_task(take(events, 1))
        await log.reading.wait()
        log.add()  # the read that found nothing has not returned yet
        assert await first == [1]


async def test_a_poll_finds_what_no_signal_tells(log: Log) -> None:
    async with aclosing(log.follow(poll_seconds=0.01)) as events:
        waiting = asyncio.create_task(take(events, 1))
        await asyncio.sleep(0)
        log.items.append(1)
        assert await waiting == [1]


async def test_a_signal_wakes_those_who_listen_to_its_key_alone() -> None:
    signal: Signal[str] = Signal()
    async with signal.listening("a") as wait_a, signal.listening("a") as wait_again:
        async with signal.listening("b") as wait_b:
            assert len(signal) == 2
            signal.notify("a")
            async with asyncio.timeout(10):
                await wait_a(60)
                await wait_again(60)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.02):
                    await wait_b(60)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.02):
                    await wait_a(60)  # a notice counts once
        assert len(signal) == 1
    assert len(signal) == 0


async def test_nobody_listens_once_a_watcher_is_closed(log: Log) -> None:
    events = log.follow()
    log.add()
    assert await take(events, 1) == [1]
    assert len(log.signal) == 1
    await events.aclose()
    assert len(log.signal) == 0


async def test_a_consumer_that_takes_nothing_more_is_dropped_and_no_more_is_read(log: Log) -> None:
    log.add(1_000)
    consumer = Consumer(most=5)
    with pytest.raises(Overloaded) as caught:
        await deliver(consumer, log.follow(), str.upper, start=0, patience=0.05)
    assert caught.value.metadata == {RESUME_AFTER: "5"}
    assert consumer.got == [f"EVENT {n}" for n in range(1, 6)]
    assert log.reads == 2
    assert len(log.signal) == 0


async def test_a_consumer_that_takes_nothing_at_all_goes_on_from_its_start(log: Log) -> None:
    log.add(10)
    with pytest.raises(Overloaded) as caught:
        await deliver(Consumer(most=0), log.follow(7), str, start=7, patience=0.01)
    assert caught.value.metadata == {RESUME_AFTER: "7"}


async def test_patience_is_for_each_event_not_for_waiting_between_them(log: Log) -> None:
    consumer = Consumer(most=100)
    delivering = asyncio.create_task(deliver(consumer, log.follow(), str, start=0, patience=0.2))
    for _ in range(5):
        await asyncio.sleep(0.1)
        log.add()
    while len(consumer.got) < 5:
        assert not delivering.done()
        await asyncio.sleep(0)
    delivering.cancel()
    with pytest.raises(asyncio.CancelledError):
        await delivering
    assert len(log.signal) == 0


async def test_a_timeout_of_the_call_itself_is_not_taken_for_a_slow_consumer(log: Log) -> None:
    log.add()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.02):
            await deliver(Consumer(most=0), log.follow(), str, start=0, patience=60)
