"""What the tests of the Qdrant adapter share: calls of the port, failures on the wire, filters read back."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import grpc
from google.protobuf.message import Message
from qdrant_client import grpc as wire

from services.memory.semantic.adapters.vectors_qdrant import QdrantVectors
from services.memory.semantic.adapters.vectors_qdrant_calls import CallLimits
from services.memory.semantic.domain.vectors import Bucket, ContentClass, VectorModel, VectorPoint, pack
from tests.qdrant_server import Context, Place

MODEL = VectorModel(revision="test-1", dimension=4)
ANNA = Bucket(tenant="acme", agent="anna", content=ContentClass.MEMORY)
BOB = Bucket(tenant="umbrella", agent="bob", content=ContentClass.MESSAGE)
X = pack([1, 0, 0, 0])
HASTY = CallLimits(read_seconds=5, write_seconds=5, attempts=3, first_pause_seconds=0.001)
SECRET = "what the driver says"

Call = Callable[[QdrantVectors], Awaitable[object]]
CALLS: dict[str, tuple[str, Call]] = {
    "upsert": ("Upsert", lambda index: index.upsert([point("a")])),
    "delete": ("Delete", lambda index: index.delete(ANNA, ["a"])),
    "delete_where": ("Delete", lambda index: index.delete_where(ANNA)),
    "search": ("Query", lambda index: index.search(ANNA, X, limit=3)),
    "similarities": ("Query", lambda index: index.similarities(ANNA, X, ["a"])),
    "count": ("Count", lambda index: index.count(ANNA)),
    "count all": ("Count", lambda index: index.count()),
    "ids": ("Scroll", lambda index: index.ids(ANNA, limit=3)),
    "flush": ("CollectionExists", lambda index: index.flush()),
    "list_models": ("List", lambda index: index.list_models()),
    "drop_model": ("Delete", lambda index: index.drop_model("another")),
}


def point(item_id: str, vector: bytes = X, bucket: Bucket = ANNA, **fields: Any) -> VectorPoint:
    return VectorPoint(bucket=bucket, item_id=item_id, vector=vector, **fields)


@asynccontextmanager
async def opened(place: Place) -> AsyncIterator[QdrantVectors]:
    """An index that does not wait for long."""
    index = await place.open(MODEL, limits=HASTY)
    yield index
    await index.close()


def failing(method: str, times: int, code: grpc.StatusCode, **trailing: str) -> Any:
    """A hook: the first calls of the method fail."""
    left = [times]

    async def hook(called: str, _request: Message, context: Context) -> None:
        if called == method and left[0]:
            left[0] -= 1
            await context.abort(code, SECRET, trailing_metadata=tuple(trailing.items()))

    return hook


def answering(method: str, answer: Message) -> Any:
    """A hook: every call of the method gets this answer."""

    async def hook(called: str, _request: Message, _context: Context) -> Message | None:
        return answer if called == method else None

    return hook


def matched(request: Any) -> dict[str, list[str]]:
    """The values that a request's filter wants of each field; all of its conditions must hold."""
    chosen = request.points.filter if isinstance(request, wire.DeletePoints) else request.filter
    assert not chosen.should
    assert not chosen.must_not
    fields = [condition.field for condition in chosen.must if condition.HasField("field")]
    return {
        field.key: [field.match.keyword] if field.match.keyword else list(field.match.keywords.strings)
        for field in fields
        if field.HasField("match")
    }


def confined(bucket: Bucket) -> dict[str, list[str]]:
    agent = f"{len(bucket.tenant)}:{bucket.tenant}/{bucket.agent}"
    return {"tenant": [bucket.tenant], "agent": [agent], "content": [bucket.content.value]}
