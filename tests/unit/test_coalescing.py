"""Requests of concurrent callers that are carried out together (SPEC E-1)."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from itertools import chain

import pytest

from services.kit.errors import DependencyDown, Exists
from services.memory.episodic.adapters.sql.coalescing import (
    ALL_IN_FLIGHT,
    IN_FLIGHT,
    MOST_TOGETHER,
    Coalescer,
)

BAD = "bad"
BROKEN = "broken"


class Store:
    """Answers each request with its text in capitals; `hold` keeps transactions from ending."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.gates: deque[asyncio.Event] = deque()
        self.held = False
        self.running = self.most = 0
        self.coalescer: Coalescer[str, str, str] = Coalescer(self.run)

    async def run(self, requests: Sequence[str]) -> Sequence[str | Exception]:
        self.batches.append(list(requests))
        self.running += 1
        self.most = max(self.most, self.running)
        if self.held:
            gate = asyncio.Event()
            self.gates.append(gate)
            await gate.wait()
        await asyncio.sleep(0)
        self.running -= 1
        if BROKEN in requests:
            raise DependencyDown
        return [Exists(text) if text.startswith(BAD) else text.upper() for text in requests]

    def asks(self, *texts: str, key: str = "t") -> list[asyncio.Task[str]]:
        return [asyncio.create_task(self.coalescer.ask(key, text)) for text in texts]

    def release(self) -> None:
        self.held = False
        for gate in self.gates:
            gate.set()


@pytest.fixture
def store() -> Store:
    return Store()


async def settle() -> None:
    """Lets everything go on that can."""
    for _ in range(20):
        await asyncio.sleep(0)


async def answers(tasks: Sequence[asyncio.Task[str]]) -> list[str | BaseException]:
    async with asyncio.timeout(10):
        return await asyncio.gather(*tasks, return_exceptions=True)


async def test_those_that_wait_go_together_in_order_and_each_gets_its_own_answer(store: Store) -> None:
    store.held = True
    first = store.asks("a")
    await settle()
    later = store.asks(*(f"b{n}" for n in range(5)))
    await settle()
    store.release()
    assert await answers([*first, *later]) == ["A", *(f"B{n}" for n in range(5))]
    assert store.batches[0] == ["a"]
    assert list(chain.from_iterable(store.batches[1:])) == [f"b{n}" for n in range(5)]
    assert len(store.batches) <= 1 + IN_FLIGHT


async def test_one_that_is_refused_fails_alone(store: Store) -> None:
    found = await answers(store.asks("a", "bad one", "b"))
    assert [found[0], found[2]] == ["A", "B"]
    assert isinstance(found[1], Exists)
    assert found[1].message == "bad one"


async def test_a_failure_of_the_store_reaches_all_that_went_together_and_no_one_else(store: Store) -> None:
    together = await answers(store.asks("a", BROKEN, "b"))
    assert [type(one) for batch in store.batches for one in batch] == [str] * 3
    assert all(isinstance(one, DependencyDown) for one in together)
    assert await answers(store.asks("c")) == ["C"]


async def test_one_that_is_cancelled_hinders_no_other_and_its_request_stands(store: Store) -> None:
    store.held = True
    tasks = store.asks("a", "b", "c")
    await settle()
    late = store.asks("d", "e")
    await settle()
    for task in (tasks[1], late[0]):
        task.cancel()
    await settle()
    assert tasks[1].cancelled()
    store.release()
    found = await answers([tasks[0], tasks[2], late[1]])
    assert found == ["A", "C", "E"]
    assert sorted(chain.from_iterable(store.batches)) == ["a", "b", "c", "d", "e"]


async def test_one_that_is_cancelled_is_no_obstacle_to_a_failure_either(store: Store) -> None:
    store.held = True
    tasks = store.asks("a", BROKEN)
    await settle()
    tasks[1].cancel()
    await settle()
    store.release()
    assert isinstance((await answers(tasks))[0], DependencyDown)


async def test_requests_of_different_keys_never_share_a_transaction(store: Store) -> None:
    tasks = [*store.asks("a1", "a2", key="a"), *store.asks("b1", "b2", key="b")]
    assert await answers(tasks) == ["A1", "A2", "B1", "B2"]
    assert all(len({text[0] for text in batch}) == 1 for batch in store.batches)


async def test_transactions_at_once_and_their_sizes_are_bounded(store: Store) -> None:
    store.held = True
    busy = store.asks(*(f"a{n}" for n in range(2)), key="a")
    await settle()
    many = store.asks(*(f"a{n}" for n in range(2, 3 * MOST_TOGETHER)), key="a")
    await settle()
    assert store.running <= IN_FLIGHT
    others = [task for n in range(2 * ALL_IN_FLIGHT) for task in store.asks("x", key=f"k{n}")]
    await settle()
    assert store.running == ALL_IN_FLIGHT
    store.release()
    assert len(await answers([*busy, *many, *others])) == 3 * MOST_TOGETHER + len(others)
    assert store.most == ALL_IN_FLIGHT
    assert max(map(len, store.batches)) == MOST_TOGETHER


async def test_when_one_ends_the_next_in_line_begins(store: Store) -> None:
    """A busy key does not keep others waiting, nor a transaction that hangs those of other keys."""
    store.held = True
    hanging = [task for n in range(ALL_IN_FLIGHT) for task in store.asks("x", key=f"k{n}")]
    await settle()
    waiting = store.asks("late", key="late")
    await settle()
    assert ["late"] not in store.batches
    store.gates.popleft().set()
    await settle()
    assert ["late"] in store.batches
    store.release()
    await answers([*hanging, *waiting])


async def test_nothing_is_kept_when_all_is_answered(store: Store) -> None:
    assert await answers(store.asks("a", key="k")) == ["A"]
    await settle()
    assert await answers(store.asks("b", BAD, key="k"))
    await settle()
    assert (store.coalescer._lanes, store.coalescer._running) == ({}, set())
