"""The vector index on a Qdrant server, which several replicas may share (SPEC O-5, S-3, S-17).

The server must be 1.16 or newer: collections carry metadata since then.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import structlog
from qdrant_client import AsyncQdrantClient, models

from services.kit.errors import StartupError
from services.memory.semantic.adapters import vectors_qdrant_schema as schema
from services.memory.semantic.adapters.vectors_qdrant_calls import (
    DEFAULT_LIMITS,
    MISSING,
    REFUSALS,
    CallLimits,
    Calls,
    NotApplied,
    QdrantDown,
)
from services.memory.semantic.domain.vectors import (
    FLOAT_BYTES,
    NO_FILTERS,
    Bucket,
    ContentClass,
    Filters,
    IdPage,
    VectorHit,
    VectorModel,
    VectorPoint,
    check_vector,
    ranked,
    unpack,
)

T = TypeVar("T")

BATCH_POINTS = 500  # of one write, at most
BATCH_BYTES = 1 << 18  # of the vectors in it: converting a batch holds up the loop, for some 10 ms then
BATCH_IDS = 1_000
DEFAULT_PREFIX = "palimpsest"
START_POLL_SECONDS = 0.5
SETTLING = CallLimits(write_seconds=2.0, attempts=1)  # a stop does not wait for longer


@dataclass(frozen=True, slots=True, kw_only=True)
class QdrantOptions:
    """How collections are named and made."""

    prefix: str = DEFAULT_PREFIX
    """What the names of all collections begin with; suites that share a server take different ones."""
    replication_factor: int = 1
    """How many nodes of a Qdrant cluster keep each point; of collections made from now on."""


DEFAULT_OPTIONS = QdrantOptions()


class QdrantVectors:
    """`VectorIndex` over a model's collections, one for each content class. Made by `open`.

    `close` closes the client too.
    """

    def __init__(
        self,
        client: AsyncQdrantClient,
        model: VectorModel,
        *,
        options: QdrantOptions = DEFAULT_OPTIONS,
        limits: CallLimits = DEFAULT_LIMITS,
    ) -> None:
        self.model = model
        self.opened_clean = False
        self.lost = False
        self._client = client
        self._options = options
        self._calls = Calls(limits)
        self._batch = max(1, min(BATCH_POINTS, BATCH_BYTES // (model.dimension * FLOAT_BYTES)))
        self._closed = False
        self._log = structlog.get_logger("vectors")

    @classmethod
    async def open(
        cls,
        client: AsyncQdrantClient,
        model: VectorModel,
        *,
        options: QdrantOptions = DEFAULT_OPTIONS,
        limits: CallLimits = DEFAULT_LIMITS,
        patience: float = 0.0,
    ) -> QdrantVectors:
        """Finds the model's collections, or makes them; waits up to `patience` seconds for the server.

        `opened_clean` when all of them were there and an earlier owner was closed in order: a server keeps
        what it acknowledged, so that only one that lost its disk, or was never filled, needs reconciling.
        Collections restored from an older snapshot look no different: they need a reindex.

        Raises VectorMismatch, or StartupError when the server does not answer or refuses the key; the client
        is closed then.
        """
        index = cls(client, model, options=options, limits=limits)
        try:
            index.opened_clean = await _patiently(index._open_collections, patience)
        except BaseException:
            await client.close()
            raise
        return index

    async def restore(self) -> bool:
        """Makes the collections again that are not there."""
        missing = [content for content in ContentClass if not await self._exists(self._collection(content))]
        await self._open_collections()
        self.lost = False
        if missing:
            self.opened_clean = False
        return bool(missing)

    async def upsert(self, points: Sequence[VectorPoint]) -> None:
        """Stores points."""
        for point in points:
            check_vector(point.vector, self.model.dimension)
        latest: dict[ContentClass, dict[str, VectorPoint]] = {}
        for point in points:
            latest.setdefault(point.bucket.content, {})[str(point.id)] = point
        for content, unique in latest.items():
            for part in _parts(list(unique.values()), self._batch):
                await self._upsert(self._collection(content), part)
                await asyncio.sleep(0)  # converting the next part must not hold up the loop at once

    async def delete(self, bucket: Bucket, item_ids: Sequence[str]) -> None:
        """Removes items."""
        for part in _parts(item_ids, BATCH_IDS):
            await self._delete(bucket, schema.named(bucket, part))

    async def delete_where(self, bucket: Bucket, filters: Filters = NO_FILTERS) -> None:
        """Removes every item of the bucket that passes."""
        passing = schema.passing(bucket, filters)
        if passing is not None:
            await self._delete(bucket, passing)

    async def search(
        self, bucket: Bucket, vector: bytes, *, filters: Filters = NO_FILTERS, limit: int
    ) -> list[VectorHit]:
        """Up to `limit` nearest items that pass."""
        if limit < 1:
            raise ValueError("a search needs a limit of at least 1")
        check_vector(vector, self.model.dimension)
        passing = schema.passing(bucket, filters)
        if passing is None:
            return []
        return ranked(await self._nearest(bucket, vector, passing, limit, exact=False))

    async def similarities(
        self, bucket: Bucket, vector: bytes, item_ids: Sequence[str]
    ) -> Mapping[str, float]:
        """The exact cosine of each item that is stored."""
        check_vector(vector, self.model.dimension)
        found: dict[str, float] = {}
        for part in _parts(list(dict.fromkeys(item_ids)), BATCH_IDS):
            hits = await self._nearest(bucket, vector, schema.named(bucket, part), len(part), exact=True)
            found |= {hit.item_id: hit.cosine for hit in hits}
        return found

    async def count(self, bucket: Bucket | None = None, filters: Filters = NO_FILTERS) -> int:
        """How many points there are; only the number of all is asked for without a tenant."""
        if bucket is None:
            return sum([await self._count(self._collection(content), None) for content in ContentClass])
        passing = schema.passing(bucket, filters)
        return 0 if passing is None else await self._count(self._collection(bucket.content), passing)

    async def ids(self, bucket: Bucket, *, after: str = "", limit: int) -> IdPage:
        """Item ids of the bucket, in the order of their point ids."""
        passing = schema.passing(bucket)

        async def attempt() -> IdPage:
            records, rest = await self._client.scroll(
                self._collection(bucket.content),
                scroll_filter=passing,
                offset=after or None,
                limit=limit,
                with_payload=[schema.ITEM],
                with_vectors=False,
            )
            return IdPage(
                item_ids=tuple(schema.item_of(record.payload) for record in records),
                next="" if rest is None else str(rest),
            )

        return await self._read("ids", attempt)

    async def flush(self) -> None:
        """Nothing to do but to see that the server is there.

        It acknowledges a write once that is in its log, and syncs the log by itself: no client can make it.
        """
        await self._calls.read(
            "flush", lambda: self._client.collection_exists(self._collection(ContentClass.MEMORY))
        )

    async def close(self) -> None:
        """Marks the collections as settled and closes the client; a server that is down is no error."""
        if self._closed:
            return
        self._closed = True
        try:
            if not self.opened_clean and not self.lost:
                await self._settle()
        except QdrantDown as error:
            self._log.warning("vectors_not_settled", kind=error.kind)
        finally:
            self._calls.close()
            await self._client.close()

    async def list_models(self) -> list[VectorModel]:
        """The models that have a collection under this prefix, by revision (S-17)."""
        listed = await self._calls.read("list", self._client.get_collections)
        names = [found.name for found in listed.collections]
        models_found = [await self._model_of(name) for name in names if self._may_own(name)]
        unique = {model.revision: model for model in models_found if model is not None}
        return sorted(unique.values(), key=lambda model: model.revision)

    async def drop_model(self, revision: str) -> None:
        """Deletes the collections of another model; none is no error. Raises ValueError for this one's."""
        if revision == self.model.revision:
            raise ValueError("an index does not drop the model that it serves")
        for content in ContentClass:
            name = schema.collection_name(self._options.prefix, revision, content)
            await self._calls.write("drop", partial(self._client.delete_collection, name))

    def _may_own(self, name: str) -> bool:
        return name.startswith(f"{self._options.prefix}-")

    def _collection(self, content: ContentClass) -> str:
        return schema.collection_name(self._options.prefix, self.model.revision, content)

    async def _upsert(self, collection: str, points: Sequence[VectorPoint]) -> None:
        structs = [schema.point_struct(point) for point in points]
        await self._write("upsert", lambda: self._client.upsert(collection, structs, wait=True))

    async def _delete(self, bucket: Bucket, passing: models.Filter) -> None:
        selector = models.FilterSelector(filter=passing)
        collection = self._collection(bucket.content)
        await self._write("delete", lambda: self._client.delete(collection, selector, wait=True))

    async def _write(self, method: str, write: Callable[[], Awaitable[models.UpdateResult]]) -> None:
        """Writes; returns when a search would see it."""

        async def attempt() -> None:
            if (await write()).status is not models.UpdateStatus.COMPLETED:
                raise NotApplied

        with self._noticing():
            await self._calls.write(method, attempt)

    async def _read(self, method: str, attempt: Callable[[], Awaitable[T]]) -> T:
        with self._noticing():
            return await self._calls.read(method, attempt)

    @contextmanager
    def _noticing(self) -> Iterator[None]:
        """A collection that is missing, of an index that was opened, was lost."""
        try:
            yield
        except QdrantDown as error:
            if error.kind in MISSING and not self._closed:
                self.lost = True
            raise

    async def _nearest(
        self, bucket: Bucket, vector: bytes, passing: models.Filter, limit: int, *, exact: bool
    ) -> list[VectorHit]:
        query = list(unpack(vector))

        async def attempt() -> list[VectorHit]:
            found = await self._client.query_points(
                self._collection(bucket.content),
                query=query,
                query_filter=passing,
                search_params=models.SearchParams(exact=exact),
                limit=limit,
                with_payload=[schema.ITEM],
                with_vectors=False,
            )
            return [_hit(point) for point in found.points]

        return await self._read("search", attempt)

    async def _count(self, collection: str, passing: models.Filter | None) -> int:
        async def attempt() -> int:
            return (await self._client.count(collection, count_filter=passing, exact=True)).count

        return await self._read("count", attempt)

    async def _open_collections(self) -> bool:
        """Whether all were there, and settled."""
        return all([await self._open_collection(content) for content in ContentClass])

    async def _open_collection(self, content: ContentClass) -> bool:
        name = self._collection(content)
        existed = await self._exists(name)
        if not existed:
            await self._create(name, content)
        found = await self._info(name)
        schema.check_collection(name, found.config, self.model, content)
        for field, params in schema.INDEXES.items():
            if field not in found.payload_schema:
                await self._index(name, field, params)
        return existed and bool((found.config.metadata or {}).get(schema.SETTLED_FACT))

    async def _create(self, name: str, content: ContentClass) -> None:
        async def attempt() -> None:
            await self._client.create_collection(
                name,
                vectors_config=schema.vector_params(self.model),
                hnsw_config=schema.GRAPH,
                replication_factor=self._options.replication_factor,
                metadata=schema.facts(self.model, content),
            )

        try:
            await self._calls.write("create", attempt)
        except QdrantDown:
            # Another replica may have been first, or an attempt of ours that had no answer.
            if not await self._exists(name):
                raise

    async def _exists(self, name: str) -> bool:
        return await self._calls.read("exists", lambda: self._client.collection_exists(name))

    async def _index(
        self, name: str, field: str, params: models.KeywordIndexParams | models.FloatIndexParams
    ) -> None:
        await self._calls.write(
            "index", lambda: self._client.create_payload_index(name, field, field_schema=params, wait=True)
        )

    async def _info(self, name: str) -> models.CollectionInfo:
        return await self._calls.read("info", lambda: self._client.get_collection(name))

    async def _settle(self) -> None:
        calls = Calls(SETTLING)
        for content in ContentClass:
            await calls.write("settle", partial(self._mark_settled, self._collection(content)))

    async def _mark_settled(self, name: str) -> None:
        await self._client.update_collection(name, metadata={schema.SETTLED_FACT: True})

    async def _model_of(self, name: str) -> VectorModel | None:
        """The model of a collection; None when it isn't ours, or gone since it was listed."""
        try:
            found = await self._info(name)
        except QdrantDown as error:
            if error.kind in MISSING:
                return None
            raise
        return schema.model_of(name, self._options.prefix, found.config)


async def _patiently(attempt: Callable[[], Awaitable[T]], patience: float) -> T:
    """What `attempt` returns, tried again for `patience` seconds while the server does not answer."""
    deadline = asyncio.get_running_loop().time() + patience
    while True:
        try:
            return await attempt()
        except QdrantDown as error:
            if error.kind in REFUSALS:
                raise StartupError("the Qdrant server refuses the API key") from error
            if asyncio.get_running_loop().time() >= deadline:
                raise StartupError(f"the Qdrant server does not answer ({error.kind})") from error
            await asyncio.sleep(START_POLL_SECONDS)


def _hit(point: models.ScoredPoint) -> VectorHit:
    if not math.isfinite(point.score):
        raise ValueError("a score is not finite")
    return VectorHit(item_id=schema.item_of(point.payload), cosine=point.score)


def _parts(values: Sequence[T], size: int) -> list[Sequence[T]]:
    return [values[start : start + size] for start in range(0, len(values), size)]
