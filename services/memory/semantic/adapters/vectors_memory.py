"""A vector index in this process's memory: exact, nothing kept; the yardstick of the contract suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from services.kit.errors import DependencyDown
from services.memory.semantic.domain.vectors import (
    NO_FILTERS,
    Bucket,
    Filters,
    IdPage,
    VectorHit,
    VectorModel,
    VectorPoint,
    check_vector,
    passes,
    ranked,
)

Unit = NDArray[np.float32]


class MemoryVectorIndex:
    """`VectorIndex` over dictionaries."""

    def __init__(self, model: VectorModel) -> None:
        self.model = model
        self.opened_clean = False
        self.lost = False
        self._buckets: dict[Bucket, dict[str, tuple[VectorPoint, Unit]]] = {}
        self._closed = False

    async def restore(self) -> bool:
        """Says what `lost` said."""
        self._check_open()
        was_lost, self.lost = self.lost, False
        self.opened_clean = self.opened_clean and not was_lost
        return was_lost

    async def upsert(self, points: Sequence[VectorPoint]) -> None:
        """Stores points."""
        self._check_open()
        for point in points:
            check_vector(point.vector, self.model.dimension)
        for point in points:
            self._buckets.setdefault(point.bucket, {})[point.item_id] = (point, _unit(point.vector))

    async def delete(self, bucket: Bucket, item_ids: Sequence[str]) -> None:
        """Removes items."""
        items = self._items(bucket)
        for item_id in item_ids:
            items.pop(item_id, None)

    async def delete_where(self, bucket: Bucket, filters: Filters = NO_FILTERS) -> None:
        """Removes every item of the bucket that passes."""
        await self.delete(bucket, [p.item_id for p, _ in self._items(bucket).values() if passes(filters, p)])

    async def search(
        self, bucket: Bucket, vector: bytes, *, filters: Filters = NO_FILTERS, limit: int
    ) -> list[VectorHit]:
        """Up to `limit` nearest items that pass."""
        if limit < 1:
            raise ValueError("a search needs a limit of at least 1")
        found = [p.item_id for p, _ in self._items(bucket).values() if passes(filters, p)]
        scores = await self.similarities(bucket, vector, found)
        return ranked([VectorHit(item_id=item_id, cosine=c) for item_id, c in scores.items()])[:limit]

    async def similarities(
        self, bucket: Bucket, vector: bytes, item_ids: Sequence[str]
    ) -> Mapping[str, float]:
        """The cosine of each item that is stored."""
        check_vector(vector, self.model.dimension)
        items = self._items(bucket)
        known = [item_id for item_id in dict.fromkeys(item_ids) if item_id in items]
        if not known:
            return {}
        cosines = np.stack([items[item_id][1] for item_id in known]) @ _unit(vector)
        return dict(zip(known, cosines.tolist(), strict=True))

    async def count(self, bucket: Bucket | None = None, filters: Filters = NO_FILTERS) -> int:
        """How many points there are."""
        self._check_open()
        if bucket is None:
            return sum(len(items) for items in self._buckets.values())
        return sum(passes(filters, point) for point, _ in self._items(bucket).values())

    async def ids(self, bucket: Bucket, *, after: str = "", limit: int) -> IdPage:
        """Item ids of the bucket, in order."""
        rest = sorted(item_id for item_id in self._items(bucket) if item_id > after)
        page = tuple(rest[:limit])
        return IdPage(item_ids=page, next=page[-1] if len(rest) > limit else "")

    async def flush(self) -> None:
        """Nothing outlasts this process."""
        self._check_open()

    async def close(self) -> None:
        """Forgets everything."""
        self._closed = True
        self._buckets.clear()

    def _items(self, bucket: Bucket) -> dict[str, tuple[VectorPoint, Unit]]:
        self._check_open()
        return self._buckets.get(bucket, {})

    def _check_open(self) -> None:
        if self._closed:
            raise DependencyDown


def _unit(vector: bytes) -> Unit:
    values = np.frombuffer(vector, dtype="<f4").astype(np.float32)
    norm = float(np.linalg.norm(values))
    return values / np.float32(norm) if norm else values
