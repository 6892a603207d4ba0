"""The vector index on a Qdrant server: failures on the wire (SPEC S-11, X-1)."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from itertools import product
from typing import Any

import grpc
import pytest
from google.protobuf.message import Message
from qdrant_client import grpc as wire

from services.kit.errors import DependencyDown
from services.memory.semantic.adapters.vectors_qdrant import BATCH_POINTS, QdrantVectors
from services.memory.semantic.adapters.vectors_qdrant_calls import CallLimits, Calls, QdrantDown
from services.memory.semantic.domain.vectors import (
    point_id,
)
from tests.qdrant_server import Context, Place, StandIn
from tests.unit.qdrant_parts import ANNA, CALLS, HASTY, MODEL, SECRET, X, answering, failing, opened, point


@pytest.fixture
async def server() -> AsyncIterator[StandIn]:
    async with StandIn() as started:
        yield started


@pytest.fixture
def place(server: StandIn) -> Place:
    return server.place()


@pytest.fixture
async def index(server: StandIn, place: Place) -> AsyncIterator[QdrantVectors]:
    async with opened(place) as index:
        server.calls.clear()
        yield index


PASSING = [
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.ABORTED,
]
LASTING = [grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.INTERNAL]


@pytest.mark.parametrize(
    ("name", "code"),
    [*product(CALLS, PASSING[:1]), *product(("search", "upsert"), PASSING[1:])],
)
async def test_what_may_pass_is_tried_again(
    server: StandIn, index: QdrantVectors, name: str, code: grpc.StatusCode
) -> None:
    method, call = CALLS[name]
    server.hook = failing(method, HASTY.attempts - 1, code)
    await call(index)
    assert len(server.requests(method)) >= HASTY.attempts


@pytest.mark.parametrize("name", CALLS)
async def test_a_server_that_stays_down_is_a_dependency_that_is_down(
    server: StandIn, index: QdrantVectors, name: str
) -> None:
    """X-1: after some attempts, and without the driver's text."""
    method, call = CALLS[name]
    server.hook = failing(method, 1000, grpc.StatusCode.UNAVAILABLE)
    with pytest.raises(DependencyDown) as caught:
        await call(index)
    assert len(server.requests(method)) == HASTY.attempts
    assert SECRET not in caught.value.message + str(caught.value) + str(caught.value.metadata)


@pytest.mark.parametrize(
    ("name", "code"),
    [*product(CALLS, LASTING[:1]), *product(("search", "upsert"), LASTING[1:])],
)
async def test_what_will_not_pass_is_not_tried_again(
    server: StandIn, index: QdrantVectors, name: str, code: grpc.StatusCode
) -> None:
    method, call = CALLS[name]
    server.hook = failing(method, 1000, code)
    with pytest.raises(DependencyDown) as caught:
        await call(index)
    assert len(server.requests(method)) == 1
    assert SECRET not in caught.value.message


async def test_a_server_that_asks_for_patience_gets_it(server: StandIn, index: QdrantVectors) -> None:
    trailing = {"retry-after": "1"}
    server.hook = failing("Query", 1, grpc.StatusCode.RESOURCE_EXHAUSTED, **trailing)
    assert await index.search(ANNA, X, limit=1) == []
    assert len(server.requests("Query")) == 2


async def test_an_attempt_without_an_answer_is_given_up_and_repeated(server: StandIn, place: Place) -> None:
    limits = CallLimits(read_seconds=0.2, write_seconds=0.2, attempts=2, first_pause_seconds=0.001)
    opened = QdrantVectors(place.client(), MODEL, limits=limits)

    async def hook(method: str, _request: Message, _context: Context) -> Message | None:
        if method in ("Query", "Upsert"):
            await asyncio.Event().wait()
        return None

    server.hook = hook
    with pytest.raises(QdrantDown) as caught:
        await opened.search(ANNA, X, limit=1)
    assert caught.value.kind == "timeout"
    with pytest.raises(DependencyDown):
        await opened.upsert([point("a")])
    assert len(server.requests("Query")) == len(server.requests("Upsert")) == 2
    await opened.close()


async def test_a_restarted_server_is_found_again(server: StandIn, place: Place) -> None:
    index = await place.open(MODEL, limits=HASTY)
    await index.upsert([point("a")])
    await server.stop()
    with pytest.raises(DependencyDown):
        await index.search(ANNA, X, limit=1)
    await server.start()
    found = None
    for _ in range(200):
        try:
            found = await index.search(ANNA, X, limit=1)
            break
        except DependencyDown:
            await asyncio.sleep(0.05)
    assert found is not None
    assert [hit.item_id for hit in found] == ["a"]
    await index.close()


def hit(score: float = 0.5, **payload: wire.Value) -> wire.QueryResponse:
    found = wire.ScoredPoint(id=wire.PointId(uuid=str(point_id(ANNA, "a"))), score=score, payload=payload)
    return wire.QueryResponse(result=[found])


def update(status: Any) -> wire.PointsOperationResponse:
    return wire.PointsOperationResponse(result=wire.UpdateResult(status=status))


TEXT, NUMBER = wire.Value(string_value="a"), wire.Value(integer_value=7)


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("search", hit()),
        ("search", hit(item=NUMBER)),
        ("search", hit(item=wire.Value(null_value=wire.NULL_VALUE))),
        ("search", hit(math.nan, item=TEXT)),
        ("search", hit(math.inf, item=TEXT)),
        ("search", wire.QueryResponse(result=[wire.ScoredPoint(payload={"item": TEXT})])),
        ("similarities", hit()),
        ("ids", wire.ScrollResponse(result=[wire.RetrievedPoint(id=wire.PointId(num=1))])),
        ("ids", wire.ScrollResponse(next_page_offset=wire.PointId())),
        ("upsert", wire.PointsOperationResponse()),
        ("upsert", update(wire.UpdateStatus.ClockRejected)),
        ("upsert", update(99)),
        ("delete", wire.PointsOperationResponse()),
    ],
)
async def test_an_answer_that_makes_no_sense_is_none(
    server: StandIn, index: QdrantVectors, name: str, answer: Message
) -> None:
    method, call = CALLS[name]
    server.hook = answering(method, answer)
    with pytest.raises(DependencyDown):
        await call(index)
    assert len(server.requests(method)) == 1
    server.hook = answering("", answer)
    await call(index)


@pytest.mark.parametrize("status", [wire.UpdateStatus.Acknowledged, wire.UpdateStatus.WaitTimeout])
@pytest.mark.parametrize("name", ["upsert", "delete"])
async def test_a_write_that_is_not_applied_is_repeated(
    server: StandIn, index: QdrantVectors, name: str, status: Any
) -> None:
    """S-16: to be in the server's log is not enough."""
    method, call = CALLS[name]
    server.hook = answering(method, update(status))
    with pytest.raises(DependencyDown):
        await call(index)
    assert len(server.requests(method)) == HASTY.attempts


async def test_an_upsert_that_failed_half_way_can_be_repeated(server: StandIn, index: QdrantVectors) -> None:
    points = [point(f"{n:04}") for n in range(BATCH_POINTS + 5)]

    async def hook(method: str, _request: Message, context: Context) -> None:
        if method == "Upsert" and len(server.requests("Upsert")) > 1:
            await context.abort(grpc.StatusCode.INTERNAL, SECRET)

    server.hook = hook
    with pytest.raises(DependencyDown):
        await index.upsert(points)
    assert await index.count() == BATCH_POINTS
    server.hook = answering("", update(0))
    await index.upsert(points)
    assert await index.count() == len(points)


async def test_pauses_grow_and_are_left_to_chance_in_part() -> None:
    pauses: list[float] = []
    chances = iter([0.0, 1.0, 0.5, 1.0])

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    async def attempt() -> None:
        raise TimeoutError

    limits = CallLimits(attempts=5, first_pause_seconds=1.0, max_pause_seconds=4.0)
    calls = Calls(limits, chance=lambda: next(chances), sleep=sleep)
    with pytest.raises(QdrantDown):
        await calls.read("search", attempt)
    assert pauses == [0.5, 2.0, 3.0, 4.0]


async def test_cancelling_is_not_a_failure_of_the_server(server: StandIn, index: QdrantVectors) -> None:
    asked = asyncio.Event()

    async def hook(method: str, _request: Message, _context: Context) -> None:
        if method == "Query":
            asked.set()
            await asyncio.Event().wait()

    server.hook = hook
    search = asyncio.create_task(index.search(ANNA, X, limit=1))
    await asked.wait()
    search.cancel()
    with pytest.raises(asyncio.CancelledError):
        await search
    assert len(server.requests("Query")) == 1
