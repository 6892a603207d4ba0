"""The port to a vector index (SPEC S-3, S-17): nearest items of one bucket by cosine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from services.kit.errors import StartupError
from services.memory.semantic.domain.vectors import (
    NO_FILTERS,
    Bucket,
    Filters,
    IdPage,
    VectorHit,
    VectorModel,
    VectorPoint,
)


class VectorMismatch(StartupError):
    """The index holds vectors of another model: rebuild it, or start with that model."""


class VectorOutdated(StartupError):
    """The index was laid out by another version of the service: rebuild it."""


class VectorCorrupt(StartupError):
    """The index cannot be read: rebuild it."""


class VectorsInUse(StartupError):
    """Another process has the index open."""


class VectorIndex(Protocol):
    """Vectors of one model. What is acknowledged is found by every later call.

    Every call may raise DependencyDown. All writes are idempotent, so that a caller may repeat them.
    """

    @property
    def model(self) -> VectorModel:
        """The model whose vectors these are."""

    @property
    def opened_clean(self) -> bool:
        """Whether, at opening, everything that was ever acknowledged is known to be there.

        False for a new index and after an end without `close`: reconcile it with the relational store.
        """

    @property
    def lost(self) -> bool:
        """Whether a call met with the loss of what was acknowledged, and `restore` was not called since."""

    async def restore(self) -> bool:
        """Makes again, empty, what of the index is not there; whether anything was lost since it was opened.

        Calls that meet with a loss fail, or find nothing, until then. Afterwards `opened_clean` is False.
        """

    async def upsert(self, points: Sequence[VectorPoint]) -> None:
        """Stores points; one with the id of a stored point replaces it, the last of equal ids stays.

        Raises ValueError, and stores none, when a vector has another dimension or a value that isn't finite.
        """

    async def delete(self, bucket: Bucket, item_ids: Sequence[str]) -> None:
        """Removes items; unknown ids are no error."""

    async def delete_where(self, bucket: Bucket, filters: Filters = NO_FILTERS) -> None:
        """Removes every item of the bucket that passes."""

    async def search(
        self, bucket: Bucket, vector: bytes, *, filters: Filters = NO_FILTERS, limit: int
    ) -> list[VectorHit]:
        """Up to `limit` nearest items that pass, best first, equals by item id.

        Exact while the engine's bucket is small, approximate (HNSW) beyond. A zero vector has cosine 0 with
        everything. Raises ValueError for a vector that `upsert` would refuse, or a limit below 1.
        """

    async def similarities(
        self, bucket: Bucket, vector: bytes, item_ids: Sequence[str]
    ) -> Mapping[str, float]:
        """The exact cosine of each item that is stored in the bucket; others are left out."""

    async def count(self, bucket: Bucket | None = None, filters: Filters = NO_FILTERS) -> int:
        """How many points there are: in all, or those of a bucket that pass."""

    async def ids(self, bucket: Bucket, *, after: str = "", limit: int) -> IdPage:
        """Item ids of the bucket in a fixed order, for reconciliation; `after` is the previous page's `next`.

        An item that stays throughout is listed once, whatever is written meanwhile.
        """

    async def flush(self) -> None:
        """Returns when everything acknowledged would outlast a power cut."""

    async def close(self) -> None:
        """Flushes and releases the index. Calls after it raise DependencyDown."""
