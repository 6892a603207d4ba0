"""The order in which the engine's process works: reads, then a batch of writes, then upkeep (SPEC SV-4)."""

from __future__ import annotations

from typing import Any, cast

import pytest

from services.kit.child_link import Link
from services.kit.frames import Frame
from services.memory.semantic.adapters.vectors_edge_child import (
    BATCH_POINTS,
    OPTIMIZE_CHANGES,
    OPTIMIZE_IDLE_POINT_SECONDS,
    OPTIMIZE_IDLE_SECONDS,
    SYNC_IDLE_SECONDS,
    Server,
)
from services.memory.semantic.adapters.vectors_edge_store import Store


class FakeLink:
    """Hands out the scripted deliveries; an empty one is a wait in vain. Closes after the last."""

    def __init__(self, deliveries: list[list[Frame]]) -> None:
        self.closed = False
        self.waits: list[float | None] = []
        self.answered: list[int] = []
        self.failed: list[int] = []
        self._deliveries = deliveries

    def receive(self, wait: float | None) -> list[Frame]:
        self.waits.append(wait)
        if not self._deliveries:
            self.closed = True
            return []
        return self._deliveries.pop(0)

    def answer(self, call_id: int, head: dict[str, Any], body: bytes = b"") -> None:
        self.answered.append(call_id)

    def fail(self, call_id: int, kind: str, message: str) -> None:
        self.failed.append(call_id)


class FakeStore:
    """Notes what it is asked to do."""

    def __init__(self, *, broken: bool = False, points: int = 0) -> None:
        self.done: list[str] = []
        self._broken = broken
        self._points = points

    def search(self, *_: object) -> list[tuple[str, float]]:
        self.done.append("search")
        return [("a", 0.5)]

    def upsert(self, requests: list[tuple[list[object], bytes]]) -> None:
        if self._broken:
            raise OSError("disk full")
        self.done.append("upsert " + "+".join(str(len(points)) for points, _ in requests))

    def delete(self, point_ids: list[str]) -> None:
        self.done.append("delete")

    def flush(self) -> None:
        self.done.append("flush")

    def size(self) -> int:
        return self._points

    def optimize(self) -> None:
        self.done.append("optimize")


def upsert(call_id: int, points: int = 1) -> Frame:
    return Frame(id=call_id, head={"method": "upsert", "points": [("id", {})] * points})


def search(call_id: int) -> Frame:
    return Frame(id=call_id, head={"method": "search", "filter": {}, "limit": 1})


def delete(call_id: int) -> Frame:
    return Frame(id=call_id, head={"method": "delete", "ids": ["x"]})


def run(deliveries: list[list[Frame]], store: FakeStore) -> FakeLink:
    link = FakeLink(deliveries)
    Server(cast(Link, link), cast(Store, store)).run()
    return link


def test_searches_go_first_and_between_batches() -> None:
    store = FakeStore()
    link = run([[upsert(1, BATCH_POINTS), upsert(2, BATCH_POINTS), search(3)], [search(4)]], store)
    full = f"upsert {BATCH_POINTS}"
    assert store.done == ["search", full, "search", full]
    assert link.answered == [3, 1, 4, 2]


def test_waiting_upserts_share_an_update_and_writes_keep_their_order() -> None:
    store = FakeStore()
    link = run([[upsert(1, 2), upsert(2, 3), delete(3), upsert(4), upsert(5, BATCH_POINTS)]], store)
    assert store.done == ["upsert 2+3", "delete", "upsert 1", f"upsert {BATCH_POINTS}"]
    assert link.answered == [1, 2, 3, 4, 5]


def test_a_failing_update_fails_each_of_its_calls_and_nothing_else() -> None:
    store = FakeStore(broken=True)
    link = run([[upsert(1), upsert(2)], [search(3)]], store)
    assert (link.failed, link.answered) == ([1, 2], [3])


def test_an_unknown_method_fails_its_call_alone() -> None:
    link = run([[Frame(id=1, head={"method": "explode"}), search(2)]], FakeStore())
    assert (link.failed, link.answered) == ([1], [2])


def test_what_was_written_is_synced_once_nobody_asks() -> None:
    """S-16: the tail that a power cut can take is a second long."""
    store = FakeStore()
    link = run([[upsert(1)], [], []], store)
    assert store.done == ["upsert 1", "flush"]
    assert link.waits[:3] == [None, SYNC_IDLE_SECONDS, None]


@pytest.mark.parametrize(("changes", "optimised"), [(OPTIMIZE_CHANGES - 1, False), (OPTIMIZE_CHANGES, True)])
def test_it_optimises_only_when_idle_and_after_enough_changes(changes: int, optimised: bool) -> None:
    """SV-4: never at start, never while asked."""
    store = FakeStore()
    link = run([[upsert(1, changes)], [search(2)], [], [], []], store)
    assert store.done[:3] == [f"upsert {changes}", "search", "flush"]
    assert ("optimize" in store.done, OPTIMIZE_IDLE_SECONDS in link.waits) == (optimised, optimised)
    assert store.done.count("optimize") <= 1


def test_a_large_index_is_optimised_after_a_longer_rest() -> None:
    """SV-4: nothing is answered meanwhile, for the longer the more points there are."""
    store = FakeStore(points=1_000_000)
    link = run([[upsert(1, OPTIMIZE_CHANGES)], [], []], store)
    assert store.done[-1] == "optimize"
    assert link.waits[2] == 1_000_000 * OPTIMIZE_IDLE_POINT_SECONDS > OPTIMIZE_IDLE_SECONDS


def test_a_start_without_requests_does_nothing() -> None:
    store = FakeStore()
    link = run([], store)
    assert store.done == []
    assert link.waits == [None]
