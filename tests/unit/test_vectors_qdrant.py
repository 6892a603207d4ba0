"""The vector index on a Qdrant server: what leaves the adapter (SPEC S-3, S-5, S-16)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from uuid import UUID

import pytest
from qdrant_client import grpc as wire

from services.memory.semantic.adapters import vectors_qdrant_schema as schema
from services.memory.semantic.adapters.vectors_qdrant import BATCH_POINTS, QdrantVectors
from services.memory.semantic.domain.vectors import (
    Bucket,
    ContentClass,
    Filters,
    VectorModel,
    pack,
    point_id,
)
from tests.qdrant_server import Place, StandIn
from tests.unit.qdrant_parts import ANNA, BOB, MODEL, X, confined, matched, opened, point


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


SENT = ("Query", "Count", "Scroll", "Delete")


async def everything(index: QdrantVectors, bucket: Bucket) -> None:
    """Every call of the port that is of a bucket, with and without filters."""
    narrow = Filters(contact_ids=frozenset("c"), conversation_id="v", kinds=frozenset("k"))
    await index.upsert([point("a", bucket=bucket), point("b", bucket=bucket, contact_id="c")])
    for filters in (Filters(), narrow):
        await index.search(bucket, X, filters=filters, limit=3)
        await index.count(bucket, filters)
        await index.delete_where(bucket, filters)
    await index.similarities(bucket, X, ["a", "b"])
    await index.ids(bucket, limit=1)
    await index.delete(bucket, ["a"])


@pytest.mark.parametrize("bucket", [ANNA, BOB])
async def test_every_request_names_tenant_agent_and_class(
    server: StandIn, index: QdrantVectors, bucket: Bucket
) -> None:
    """S-3: whatever leaves the adapter is confined, and goes to the class's own collection."""
    await everything(index, bucket)
    sent = server.requests(*SENT)
    assert {type(request) for request in sent} == {
        wire.QueryPoints,
        wire.CountPoints,
        wire.ScrollPoints,
        wire.DeletePoints,
    }
    for request in sent:
        assert matched(request).items() >= confined(bucket).items()
    points = [sent_point for request in server.requests("Upsert") for sent_point in request.points]
    assert len(points) == 2
    for sent_point in points:
        held = {name: [sent_point.payload[name].string_value] for name in ("tenant", "agent", "content")}
        assert held == confined(bucket)
    collections = {request.collection_name for request in server.requests("Upsert", *SENT)}
    assert collections == {schema.collection_name("test", MODEL.revision, bucket.content)}
    assert {method for method, _ in server.calls} == {"Upsert", *SENT}


async def test_only_the_number_of_all_points_is_asked_for_without_a_tenant(
    server: StandIn, index: QdrantVectors
) -> None:
    """The control of the test before: a request without a filter would be seen."""
    await index.upsert([point("a"), point("b", bucket=BOB)])
    assert await index.count() == 2
    assert [matched(request) for request in server.requests("Count")] == [{}] * len(ContentClass)


async def test_filters_are_pushed_down(server: StandIn, index: QdrantVectors) -> None:
    """S-5: the server filters; nothing is left for afterwards."""
    filters = Filters(
        contact_ids=frozenset(("c1", "c2")),
        conversation_id="v",
        kinds=frozenset(("fact", "event")),
        roles=frozenset(("user",)),
        authors=frozenset(("ann",)),
        since=1.5,
        until=9.0,
    )
    await index.search(ANNA, X, filters=filters, limit=7)
    (request,) = server.requests("Query")
    assert matched(request) == confined(ANNA) | {
        "contact": sorted(f"{ANNA.key}/{contact}" for contact in ("", "c1", "c2")),
        "conversation": [f"{ANNA.key}/v"],
        "kind": ["event", "fact"],
        "role": ["user"],
        "author": ["ann"],
    }
    (time,) = [c.field for c in request.filter.must if c.field.HasField("range")]
    assert (time.key, time.range.gte, time.range.lt) == ("time", 1.5, 9.0)
    assert not time.range.HasField("gt")
    assert not time.range.HasField("lte")
    assert (request.limit, list(request.with_payload.include.fields)) == (7, ["item"])
    assert not request.params.exact
    assert list(request.query.nearest.dense.data) == [1, 0, 0, 0]


async def test_what_cannot_pass_is_not_asked_for(server: StandIn, index: QdrantVectors) -> None:
    nobody = Filters(contact_ids=frozenset(), agent_wide=False)
    assert await index.search(ANNA, X, filters=nobody, limit=1) == []
    assert await index.count(ANNA, nobody) == 0
    await index.delete_where(ANNA, nobody)
    await index.upsert([])
    await index.delete(ANNA, [])
    assert await index.similarities(ANNA, X, []) == {}
    assert server.calls == []


async def test_writes_wait_until_they_are_applied(server: StandIn, index: QdrantVectors) -> None:
    """S-16: what is acknowledged is found."""
    await index.upsert([point("a")])
    await index.delete(ANNA, ["a"])
    await index.delete_where(ANNA)
    assert [request.wait for request in server.requests("Upsert", "Delete")] == [True, True, True]


async def test_similarities_are_exact(server: StandIn, index: QdrantVectors) -> None:
    await index.similarities(ANNA, X, ["a", "b", "a"])
    (request,) = server.requests("Query")
    assert request.params.exact
    assert request.limit == 2
    (ids,) = [c.has_id.has_id for c in request.filter.must if c.HasField("has_id")]
    assert {i.uuid for i in ids} == {str(point_id(ANNA, item)) for item in "ab"}


async def test_point_ids_are_uuids_of_the_parts(server: StandIn, index: QdrantVectors) -> None:
    await index.upsert([point("a")])
    (request,) = server.requests("Upsert")
    assert [UUID(sent.id.uuid) for sent in request.points] == [point_id(ANNA, "a")]


async def test_large_writes_go_in_batches(server: StandIn, index: QdrantVectors) -> None:
    names = [f"{n:04}" for n in range(2 * BATCH_POINTS + 1)]
    await index.upsert([point(name) for name in names] + [point(names[0])])
    sizes = [len(request.points) for request in server.requests("Upsert")]
    assert sizes == [BATCH_POINTS, BATCH_POINTS, 1]
    assert await index.count() == len(names)
    await index.delete(ANNA, names)
    assert await index.count() == 0


async def test_batches_of_wide_vectors_are_smaller(server: StandIn, place: Place) -> None:
    wide = VectorModel(revision="wide", dimension=4096)
    index = await place.open(wide)
    await index.upsert([point(str(n), pack([float(n)] * 4096)) for n in range(1, 40)])
    sizes = [len(request.points) for request in server.requests("Upsert")]
    assert sizes == [16, 16, 7]
    await index.close()
