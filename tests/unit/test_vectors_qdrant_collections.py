"""The vector index on a Qdrant server: its collections, opening and closing (SPEC S-3, S-17, O-5)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
from google.protobuf.message import Message
from qdrant_client import grpc as wire
from qdrant_client import models

from services.kit.errors import DependencyDown, StartupError
from services.memory.semantic.adapters import vectors_qdrant_schema as schema
from services.memory.semantic.adapters.vectors_qdrant import QdrantVectors
from services.memory.semantic.adapters.vectors_qdrant_calls import connect
from services.memory.semantic.app.vectors import VectorIndex, VectorMismatch
from services.memory.semantic.domain.vectors import (
    ContentClass,
    VectorModel,
    pack,
)
from tests.qdrant_server import Context, Place, StandIn
from tests.unit.qdrant_parts import ANNA, HASTY, MODEL, SECRET, X, failing, opened, point


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


async def test_a_fresh_server_gets_all_collections(server: StandIn, place: Place) -> None:
    """S-3, S-17: one for each class, of cosine, without a graph over all tenants, not quantised."""
    index = await place.open(MODEL)
    created = server.requests("Create")
    assert [request.collection_name for request in created] == [
        schema.collection_name("test", "test-1", content) for content in ContentClass
    ]
    for request in created:
        params = request.vectors_config.params
        assert (params.size, params.distance) == (4, wire.Distance.Cosine)
        assert (request.hnsw_config.m, request.hnsw_config.payload_m) == (0, 16)
        assert request.hnsw_config.HasField("m")
        assert not request.HasField("quantization_config")
        assert request.replication_factor == 1
        assert request.metadata["model_revision"].string_value == "test-1"
    await index.close()


async def test_the_tenant_index_is_marked_as_one(server: StandIn, place: Place) -> None:
    """S-3: tenants lie together; only fields that confine a search have graphs."""
    index = await place.open(MODEL)
    keywords = {
        request.field_name: request.field_index_params.keyword_index_params
        for request in server.requests("CreateFieldIndex")
        if request.field_index_params.HasField("keyword_index_params")
    }
    assert {name for name, params in keywords.items() if params.is_tenant} == {"tenant"}
    assert {name for name, params in keywords.items() if params.enable_hnsw} == {
        "agent",
        "contact",
        "conversation",
    }
    filtered = {"tenant", "agent", "content", "contact", "conversation", "kind", "role", "author"}
    filtered |= {"time", "ends"}
    assert all(set(indexes) == filtered for indexes in server.indexes.values())
    assert len(server.indexes) == len(ContentClass)
    await index.close()


async def test_opening_again_makes_nothing_but_what_is_missing(server: StandIn, place: Place) -> None:
    await (await place.open(MODEL)).close()
    name = schema.collection_name("test", MODEL.revision, ContentClass.MEMORY)
    del server.indexes[name]["contact"]
    server.calls.clear()
    await (await place.open(MODEL)).close()
    assert server.requests("Create") == []
    made = [(r.collection_name, r.field_name) for r in server.requests("CreateFieldIndex")]
    assert made == [(name, "contact")]


async def test_only_a_server_that_kept_everything_opens_clean(server: StandIn, place: Place) -> None:
    """SV-2: new, never closed in order, or lost in part: then it is reconciled."""
    first = await place.open(MODEL)
    assert not first.opened_clean
    second = await place.open(MODEL)
    assert not second.opened_clean
    await second.close()
    await first.close()
    third = await place.open(MODEL)
    assert third.opened_clean
    await server.engine.delete_collection(schema.collection_name("test", "test-1", ContentClass.MESSAGE))
    fourth = await place.open(MODEL)
    assert not fourth.opened_clean
    await third.close()
    await fourth.close()


async def test_replicas_share_a_server(place: Place) -> None:
    """O-5: they may start at once, and find each other's points."""
    one, other = await asyncio.gather(place.open(MODEL), place.open(MODEL))
    await one.upsert([point("a")])
    assert [hit.item_id for hit in await other.search(ANNA, X, limit=5)] == ["a"]
    await one.close()
    assert await other.count() == 1
    await other.close()


async def test_a_collection_that_appears_meanwhile_is_taken(server: StandIn, place: Place) -> None:
    """O-5: between looking for it and making it, another replica was faster."""

    async def hook(method: str, request: Any, _context: Context) -> Message | None:
        if method == "CollectionExists" and len(server.requests("CollectionExists")) == 1:
            await server.engine.create_collection(
                request.collection_name,
                vectors_config=schema.vector_params(MODEL),
                metadata=schema.facts(MODEL, ContentClass.MEMORY),
            )
            return wire.CollectionExistsResponse(result=wire.CollectionExists(exists=False))
        return None

    server.hook = hook
    index = await place.open(MODEL, limits=HASTY)
    await index.upsert([point("a")])
    assert await index.count() == 1
    await index.close()


@pytest.mark.parametrize(
    ("size", "distance", "changed", "said"),
    [
        (8, models.Distance.COSINE, {"dimension": 8}, "8 dimensions"),
        (8, models.Distance.COSINE, {}, "8 dimensions"),
        (4, models.Distance.DOT, {}, "by Dot"),
        (4, models.Distance.COSINE, {"palimpsest_schema": 0}, "layout 0"),
        (4, models.Distance.COSINE, {"model_revision": "other"}, "model other"),
        (4, models.Distance.COSINE, {"content": "message"}, "message vectors"),
        (4, models.Distance.COSINE, None, "not made by"),
    ],
)
async def test_another_model_is_a_clear_error(
    server: StandIn,
    place: Place,
    size: int,
    distance: models.Distance,
    changed: dict[str, Any] | None,
    said: str,
) -> None:
    """S-17."""
    metadata = None if changed is None else schema.facts(MODEL, ContentClass.MEMORY) | changed
    await server.engine.create_collection(
        schema.collection_name("test", MODEL.revision, ContentClass.MEMORY),
        vectors_config=models.VectorParams(size=size, distance=distance),
        metadata=metadata,
    )
    with pytest.raises(VectorMismatch, match=said):
        await place.open(MODEL)
    assert server.requests("Upsert", "Delete", "Update") == []


async def test_a_second_model_is_filled_while_the_first_serves(place: Place, server: StandIn) -> None:
    """S-17: and is dropped, or drops the first, without touching the other."""
    old, new = MODEL, VectorModel(revision="remote:big/model:8", dimension=8)
    serving = await place.open(old)
    await serving.upsert([point("a")])
    assert await serving.list_models() == [old]
    filling = await place.open(new)
    await filling.upsert([point("a", pack([1.0] * 8)), point("b", pack([1.0] * 8))])
    assert await serving.list_models() == [new, old]
    assert (await serving.count(), await filling.count()) == (1, 2)
    with pytest.raises(ValueError, match="serves"):
        await filling.drop_model(new.revision)
    await filling.drop_model(old.revision)
    await filling.drop_model(old.revision)
    assert await filling.list_models() == [new]
    assert await filling.count() == 2
    with pytest.raises(DependencyDown):
        await serving.search(ANNA, X, limit=1)
    await serving.close()
    await filling.close()


async def test_models_of_others_are_not_listed(server: StandIn, place: Place) -> None:
    index = await place.open(MODEL)
    longer = await server.place("test-more").open(VectorModel(revision="theirs", dimension=4))
    await server.engine.create_collection("test-unknown", vectors_config=schema.vector_params(MODEL))
    await server.engine.create_collection("elsewhere", vectors_config=schema.vector_params(MODEL))
    assert await index.list_models() == [MODEL]
    assert [model.revision for model in await longer.list_models()] == ["theirs"]
    await index.close()
    await longer.close()


def test_revisions_that_look_alike_have_their_own_collections() -> None:
    names = {
        schema.collection_name("p", revision, content)
        for revision in ("a/b", "a:b", "a_b", "a" * 300, "a" * 301)
        for content in ContentClass
    }
    assert len(names) == 5 * len(ContentClass)
    assert all(len(name) < 100 and not set(name) & set('<>:"/\\|?*\0') for name in names)


async def test_a_server_that_comes_late_is_waited_for(server: StandIn, place: Place) -> None:
    await server.stop()
    opening = asyncio.create_task(place.open(MODEL, limits=HASTY, patience=60))
    await asyncio.sleep(0.05)
    await server.start()
    index = await opening
    assert await index.count() == 0
    await index.close()


async def test_no_server_is_an_error_at_the_start(server: StandIn, place: Place) -> None:
    await server.stop()
    with pytest.raises(StartupError, match="does not answer"):
        await place.open(MODEL, limits=HASTY)


@pytest.mark.parametrize("code", [grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED])
async def test_a_refused_key_is_an_error_at_once(
    server: StandIn, place: Place, code: grpc.StatusCode
) -> None:
    server.hook = failing("CollectionExists", 1000, code)
    with pytest.raises(StartupError, match="refuses the API key") as caught:
        await place.open(MODEL, limits=HASTY, patience=3600)
    assert SECRET not in str(caught.value)


@pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection")
async def test_the_api_key_goes_with_every_call(server: StandIn, place: Place) -> None:
    keys: list[object] = []

    async def hook(_method: str, _request: Message, context: Context) -> None:
        keys.append(dict(context.invocation_metadata() or ()).get("api-key"))

    server.hook = hook
    client = connect(place.url, api_key="sesame", grpc_port=place.grpc_port)
    index = await QdrantVectors.open(client, MODEL)
    await index.upsert([point("a")])
    await index.close()
    assert len(keys) > 5
    assert set(keys) == {"sesame"}


async def test_a_server_that_is_down_does_not_hold_up_a_stop(server: StandIn, place: Place) -> None:
    index = await place.open(MODEL, limits=HASTY)
    await server.stop()
    await index.close()
    with pytest.raises(DependencyDown):
        await index.count()
    await server.start()
    again = await place.open(MODEL)
    assert not again.opened_clean
    await again.close()


async def test_it_is_a_vector_index(index: QdrantVectors) -> None:
    checked: VectorIndex = index
    assert checked.model == MODEL
