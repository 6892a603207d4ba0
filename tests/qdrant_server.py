"""Qdrant for tests: the server that PALIMPSEST_TEST_QDRANT_URL names, else a stand-in.

The stand-in is Qdrant's gRPC face on a socket, answered by the local mode of qdrant-client. What travels is
what travels to a real server; what it lacks is named: payload indexes (they are noted and listed, nothing
more, so `is_tenant` and `enable_hnsw` do nothing), graphs (every search is exact), replicas, API keys, REST.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import grpc
from google.protobuf.message import Message
from qdrant_client import AsyncQdrantClient
from qdrant_client import grpc as wire
from qdrant_client.conversions.conversion import GrpcToRest, RestToGrpc

from services.memory.semantic.adapters.vectors_qdrant import QdrantOptions, QdrantVectors
from services.memory.semantic.adapters.vectors_qdrant_calls import DEFAULT_LIMITS, CallLimits, connect
from services.memory.semantic.domain.vectors import VectorModel

URL_VARIABLE = "PALIMPSEST_TEST_QDRANT_URL"
GRPC_PORT_VARIABLE = "PALIMPSEST_TEST_QDRANT_GRPC_PORT"
KEY_VARIABLE = "PALIMPSEST_TEST_QDRANT_API_KEY"

Context = grpc.aio.ServicerContext[Any, Any]
Hook = Callable[[str, Message, Context], Awaitable[Message | None]]


async def no_hook(method: str, request: Message, context: Context) -> Message | None:
    """Leaves every call to the engine."""
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A server, and the prefix of collection names that one test has for itself."""

    url: str
    grpc_port: int
    prefix: str
    api_key: str = ""

    def client(self, limits: CallLimits = DEFAULT_LIMITS) -> AsyncQdrantClient:
        """A client of the server, over gRPC."""
        return connect(self.url, api_key=self.api_key, grpc_port=self.grpc_port, limits=limits)

    async def open(
        self, model: VectorModel, *, limits: CallLimits = DEFAULT_LIMITS, patience: float = 0.0
    ) -> QdrantVectors:
        """The index of a model."""
        return await QdrantVectors.open(
            self.client(limits),
            model,
            options=QdrantOptions(prefix=self.prefix),
            limits=limits,
            patience=patience,
        )


@asynccontextmanager
async def qdrant_place() -> AsyncIterator[Place]:
    """A place on the server named by the environment, emptied afterwards; or on a stand-in."""
    prefix = f"test_{uuid4().hex}"
    url = os.environ.get(URL_VARIABLE)
    if url is None:
        async with StandIn() as server:
            yield server.place(prefix)
        return
    place = Place(
        url=url,
        grpc_port=int(os.environ.get(GRPC_PORT_VARIABLE, "6334")),
        prefix=prefix,
        api_key=os.environ.get(KEY_VARIABLE, ""),
    )
    try:
        yield place
    finally:
        client = place.client()
        for collection in (await client.get_collections()).collections:
            if collection.name.startswith(f"{prefix}-"):
                await client.delete_collection(collection.name)
        await client.close()


@dataclass(slots=True)
class StandIn:
    """The server without a server; `calls` are the requests as they came, `hook` may answer in its stead."""

    calls: list[tuple[str, Message]] = field(default_factory=list)
    hook: Hook = no_hook
    port: int = 0
    indexes: dict[str, dict[str, wire.PayloadSchemaInfo]] = field(default_factory=dict)
    """Payload indexes by collection and field."""
    engine: AsyncQdrantClient = field(default_factory=lambda: AsyncQdrantClient(":memory:"))
    _server: grpc.aio.Server | None = None

    def place(self, prefix: str = "test") -> Place:
        """Collections of the prefix."""
        return Place(url="http://127.0.0.1:1", grpc_port=self.port, prefix=prefix)

    def requests(self, *methods: str) -> list[Any]:
        """Those that came for the methods."""
        return [request for method, request in self.calls if method in methods]

    async def start(self) -> None:
        """Listens, on the same port as before if it did; data outlasts `stop`."""
        server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
        wire.add_PointsServicer_to_server(_face(wire.PointsServicer, _Points(self), self), server)  # type: ignore[no-untyped-call]
        wire.add_CollectionsServicer_to_server(  # type: ignore[no-untyped-call]
            _face(wire.CollectionsServicer, _Collections(self), self), server
        )
        self.port = server.add_insecure_port(f"127.0.0.1:{self.port}")
        await server.start()
        self._server = server

    async def stop(self) -> None:
        """Breaks every connection."""
        if self._server is not None:
            await self._server.stop(None)
            self._server = None

    async def __aenter__(self) -> StandIn:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()
        await self.engine.close()


def _face(base: type[Any], answers: object, stand_in: StandIn) -> Any:
    """A servicer whose methods note the request, then ask the hook, then `answers`."""

    def method(name: str) -> Callable[[Any, Message, Context], Awaitable[Message]]:
        async def call(_: Any, request: Message, context: Context) -> Message:
            stand_in.calls.append((name, request))
            scripted = await stand_in.hook(name, request, context)
            if scripted is not None:
                return scripted
            answer: Message = await getattr(answers, name)(request, context)
            return answer

        return call

    names = [name for name in vars(type(answers)) if not name.startswith("_")]
    return type("Face", (base,), {name: method(name) for name in names})()


class _Points:
    def __init__(self, stand_in: StandIn) -> None:
        self._stand_in = stand_in
        self._engine = stand_in.engine

    async def Upsert(self, request: Any, context: Context) -> Message:
        await _needs(self._engine, request.collection_name, context)
        points = [GrpcToRest.convert_point_struct(point) for point in request.points]
        return _updated(await self._engine.upsert(request.collection_name, points))

    async def Delete(self, request: Any, context: Context) -> Message:
        await _needs(self._engine, request.collection_name, context)
        selector = GrpcToRest.convert_points_selector(request.points)
        return _updated(await self._engine.delete(request.collection_name, selector))

    async def Query(self, request: Any, context: Context) -> Message:
        await _needs(self._engine, request.collection_name, context)
        found = await self._engine.query_points(
            request.collection_name,
            query=GrpcToRest.convert_query(request.query),
            query_filter=_filter(request),
            limit=request.limit,
            with_payload=GrpcToRest.convert_with_payload_interface(request.with_payload),
        )
        return wire.QueryResponse(result=[RestToGrpc.convert_scored_point(point) for point in found.points])

    async def Count(self, request: Any, context: Context) -> Message:
        await _needs(self._engine, request.collection_name, context)
        counted = await self._engine.count(request.collection_name, _filter(request))
        return wire.CountResponse(result=RestToGrpc.convert_count_result(counted))

    async def Scroll(self, request: Any, context: Context) -> Message:
        await _needs(self._engine, request.collection_name, context)
        records, rest = await self._engine.scroll(
            request.collection_name,
            scroll_filter=_filter(request),
            limit=request.limit,
            offset=GrpcToRest.convert_point_id(request.offset) if request.HasField("offset") else None,
            with_payload=GrpcToRest.convert_with_payload_interface(request.with_payload),
        )
        return wire.ScrollResponse(
            result=[RestToGrpc.convert_retrieved_point(record) for record in records],
            next_page_offset=None if rest is None else RestToGrpc.convert_extended_point_id(str(rest)),
        )

    async def CreateFieldIndex(self, request: Any, context: Context) -> Message:
        params = GrpcToRest.convert_payload_schema_params(request.field_index_params)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Payload indexes have no effect")
            done = await self._engine.create_payload_index(
                request.collection_name, request.field_name, params
            )
        noted = self._stand_in.indexes.setdefault(request.collection_name, {})
        noted[request.field_name] = wire.PayloadSchemaInfo(
            data_type=RestToGrpc.convert_payload_schema_type(params.type.value),  # type: ignore[arg-type]
            params=request.field_index_params,
        )
        return _updated(done)


class _Collections:
    def __init__(self, stand_in: StandIn) -> None:
        self._stand_in = stand_in
        self._engine = stand_in.engine

    async def List(self, request: Any, context: Context) -> Message:
        listed = await self._engine.get_collections()
        return wire.ListCollectionsResponse(
            collections=[RestToGrpc.convert_collection_description(one) for one in listed.collections]
        )

    async def CollectionExists(self, request: Any, context: Context) -> Message:
        exists = await self._engine.collection_exists(request.collection_name)
        return wire.CollectionExistsResponse(result=wire.CollectionExists(exists=exists))

    async def Get(self, request: Any, context: Context) -> Message:
        await _needs(self._engine, request.collection_name, context)
        info = RestToGrpc.convert_collection_info(await self._engine.get_collection(request.collection_name))
        for name, index in self._stand_in.indexes.get(request.collection_name, {}).items():
            info.payload_schema[name].CopyFrom(index)
        return wire.GetCollectionInfoResponse(result=info)

    async def Create(self, request: Any, context: Context) -> Message:
        if await self._engine.collection_exists(request.collection_name):
            await context.abort(grpc.StatusCode.ALREADY_EXISTS, "it is there")
        await self._engine.create_collection(
            request.collection_name,
            vectors_config=GrpcToRest.convert_vectors_config(request.vectors_config),
            metadata=GrpcToRest.convert_payload(request.metadata),
        )
        return wire.CollectionOperationResponse(result=True)

    async def Update(self, request: Any, context: Context) -> Message:
        await _needs(self._engine, request.collection_name, context)
        metadata = GrpcToRest.convert_payload(request.metadata)
        await self._engine.update_collection(request.collection_name, metadata=metadata)
        return wire.CollectionOperationResponse(result=True)

    async def Delete(self, request: Any, context: Context) -> Message:
        self._stand_in.indexes.pop(request.collection_name, None)
        done = await self._engine.delete_collection(request.collection_name)
        return wire.CollectionOperationResponse(result=done)


def _filter(request: Any) -> Any:
    return GrpcToRest.convert_filter(request.filter) if request.HasField("filter") else None


def _updated(result: Any) -> Message:
    return wire.PointsOperationResponse(result=RestToGrpc.convert_update_result(result))


async def _needs(engine: AsyncQdrantClient, name: str, context: Context) -> None:
    if not await engine.collection_exists(name):
        await context.abort(grpc.StatusCode.NOT_FOUND, "it is not there")
