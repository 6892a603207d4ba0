"""The embedded vector index: Qdrant's engine in a child process of its own (SPEC SV-4, S-3, S-17).

A directory holds the vectors of one model; a second model gets a second directory.
"""

from __future__ import annotations

import asyncio
import json
import shutil
from array import array
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import structlog

from services.kit.child import (
    Again,
    CallFailed,
    Child,
    ChildDied,
    ChildLimits,
    ChildRefused,
    Reply,
    module_command,
)
from services.kit.errors import DependencyDown, StartupError
from services.memory.semantic.app.vectors import VectorCorrupt, VectorMismatch, VectorOutdated, VectorsInUse
from services.memory.semantic.domain.vectors import (
    NO_FILTERS,
    Bucket,
    Filters,
    IdPage,
    VectorHit,
    VectorModel,
    VectorPoint,
    check_vector,
    point_id,
    ranked,
)

T = TypeVar("T")

CHILD_MODULE = "services.memory.semantic.adapters.vectors_edge_child"
FRAME_POINTS = 64  # points a call carries; more are sent as several calls
FLYING_POINTS = 192  # points on their way at once: a search waits in the pipe behind no more
FRAME_IDS = 1_000
LIMITS = ChildLimits(start=300.0, call=1800.0)
"""A million points are opened in 6 s and optimised in 200 s, on a busy machine (docs/scale.md)."""
REFUSALS: Mapping[str, type[StartupError]] = {
    "mismatch": VectorMismatch,
    "outdated": VectorOutdated,
    "corrupt": VectorCorrupt,
    "locked": VectorsInUse,
}
BEGUN_ANEW = frozenset(("corrupt", "outdated"))


class EdgeVectorIndex:
    """`VectorIndex` over a directory. Made by `open`.

    A call that the child's death cuts short is repeated once: every call is idempotent. A child that is
    started again and finds its directory empty, or unreadable, begins a new index: what was there is lost.
    """

    def __init__(self, directory: Path, model: VectorModel) -> None:
        self.model = model
        self.opened_clean = False
        self.lost = False
        self._directory = directory
        self._child: Child
        self._room = _Room(FLYING_POINTS)
        self._log = structlog.get_logger("vectors")

    @classmethod
    async def open(
        cls, directory: Path, model: VectorModel, *, limits: ChildLimits = LIMITS
    ) -> EdgeVectorIndex:
        """Starts the child on the directory, which is created when missing.

        Raises VectorMismatch, VectorOutdated, VectorCorrupt, VectorsInUse, or StartupError when the child
        can't start.
        """
        arguments = {
            "directory": str(directory),
            "revision": model.revision,
            "dimension": model.dimension,
        }
        command = module_command(CHILD_MODULE, json.dumps(arguments))
        index = cls(directory, model)
        again = Again(remedy=index._remedy, greeted=index._greeted)
        try:
            index._child = await Child.start(command, name="vectors", limits=limits, again=again)
        except ChildRefused as refusal:
            raise REFUSALS.get(refusal.kind, StartupError)(str(refusal)) from refusal
        index.opened_clean = bool(index._child.hello["clean"])
        return index

    async def restore(self) -> bool:
        """The child has made the index again, if it was lost."""
        was_lost, self.lost = self.lost, False
        self.opened_clean = self.opened_clean and not was_lost
        return was_lost

    @property
    def child(self) -> Child:
        """The process, for health and metrics."""
        return self._child

    async def upsert(self, points: Sequence[VectorPoint]) -> None:
        """Stores points."""
        for point in points:
            check_vector(point.vector, self.model.dimension)
        latest = list({point.id: point for point in points}.values())
        for part in _parts(latest, FRAME_POINTS):
            head = {"points": [(str(point.id), _payload(point)) for point in part]}
            async with self._room.taken(len(part)):
                await self._call("upsert", head, b"".join(point.vector for point in part))

    async def delete(self, bucket: Bucket, item_ids: Sequence[str]) -> None:
        """Removes items."""
        for part in _parts(item_ids, FRAME_IDS):
            await self._call("delete", {"ids": [str(point_id(bucket, item_id)) for item_id in part]})

    async def delete_where(self, bucket: Bucket, filters: Filters = NO_FILTERS) -> None:
        """Removes every item of the bucket that passes."""
        wire = _wire_filter(bucket, filters)
        if wire is not None:
            await self._call("delete_where", {"filter": wire})

    async def search(
        self, bucket: Bucket, vector: bytes, *, filters: Filters = NO_FILTERS, limit: int
    ) -> list[VectorHit]:
        """Up to `limit` nearest items that pass."""
        if limit < 1:
            raise ValueError("a search needs a limit of at least 1")
        check_vector(vector, self.model.dimension)
        wire = _wire_filter(bucket, filters)
        if wire is None:
            return []
        reply = await self._call("search", {"filter": wire, "limit": limit}, vector)
        return ranked([VectorHit(item_id=item, cosine=cosine) for item, cosine in _scores(reply).items()])

    async def similarities(
        self, bucket: Bucket, vector: bytes, item_ids: Sequence[str]
    ) -> Mapping[str, float]:
        """The exact cosine of each item that is stored."""
        check_vector(vector, self.model.dimension)
        found: dict[str, float] = {}
        for part in _parts(list(dict.fromkeys(item_ids)), FRAME_IDS):
            ids = [str(point_id(bucket, item_id)) for item_id in part]
            found |= _scores(await self._call("similarities", {"ids": ids}, vector))
        return found

    async def count(self, bucket: Bucket | None = None, filters: Filters = NO_FILTERS) -> int:
        """How many points there are."""
        wire: dict[str, Any] | None = {} if bucket is None else _wire_filter(bucket, filters)
        if wire is None:
            return 0
        return int((await self._call("count", {"filter": wire})).head["count"])

    async def ids(self, bucket: Bucket, *, after: str = "", limit: int) -> IdPage:
        """Item ids of the bucket, in the order of their point ids."""
        wire = _wire_filter(bucket, NO_FILTERS)
        reply = await self._call("ids", {"filter": wire, "after": after, "limit": limit})
        return IdPage(item_ids=tuple(reply.head["items"]), next=reply.head["next"])

    async def flush(self) -> None:
        """Returns when everything acknowledged is synced."""
        await self._call("flush", {})

    async def close(self) -> None:
        """Lets the child finish, sync and end."""
        await self._child.close()
        if self.lost:  # nobody has learnt of it yet: what is there is not all, whatever the mark says
            mark_unclean(self._directory)

    async def _remedy(self, kind: str) -> None:
        """What a child that was started again can't read is set aside, as at a start."""
        if kind in BEGUN_ANEW:
            self._log.warning("vectors_begun_anew", kind=kind)
            await asyncio.to_thread(discard, self._directory)

    def _greeted(self, hello: Mapping[str, Any]) -> None:
        if hello["made"]:
            self._log.error("vectors_lost")
            self.lost = True

    async def _call(self, method: str, head: Mapping[str, Any], body: bytes = b"") -> Reply:
        try:
            try:
                return await self._child.call(method, head, body)
            except ChildDied:
                return await self._child.call(method, head, body)
        except CallFailed as failure:
            self._log.error("vector_call_failed", method=method, kind=failure.kind)
            raise DependencyDown("the vector engine failed") from failure


def mark_unclean(directory: Path) -> None:
    """Has the next start compare a closed index with the registry."""
    (directory / "clean").unlink(missing_ok=True)


class _Room:
    """Lets callers in, in turn, while what they carry fits together."""

    def __init__(self, size: int) -> None:
        self._free = size
        self._queue: deque[tuple[int, asyncio.Future[None]]] = deque()

    @asynccontextmanager
    async def taken(self, amount: int) -> AsyncIterator[None]:
        """Waits until `amount` (at most the size) fits; gives it back when left."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append((amount, turn))
        self._admit()
        try:
            await turn
            yield
        finally:
            if turn.done() and not turn.cancelled():
                self._free += amount
            self._admit()

    def _admit(self) -> None:
        while self._queue:
            amount, turn = self._queue[0]
            if not turn.done():
                if amount > self._free:
                    return
                self._free -= amount
                turn.set_result(None)
            self._queue.popleft()


def discard(directory: Path) -> None:
    """Removes an index that nobody has open, to build it anew: another model's, outdated or corrupt."""
    if directory.exists():
        shutil.rmtree(directory)


def _payload(point: VectorPoint) -> dict[str, Any]:
    """Without what the item does not have: a memory has no author. An indexed field takes memory for each."""
    bucket = point.bucket
    payload: dict[str, Any] = {
        "tenant": bucket.tenant,
        "agent": bucket.agent,
        "content": bucket.content.value,
        "bucket": bucket.key,
        "item": point.item_id,
        "contact": _within(bucket, point.contact_id),
        "time": point.time,
    }
    if point.conversation_id:
        payload |= {
            "conversation": _within(bucket, point.conversation_id),
            "sequence": point.sequence,
            "session": point.session,
        }
    named = {"kind": point.kind, "role": point.role, "author": point.author}
    payload |= {field: value for field, value in named.items() if value}
    return payload if point.ends is None else payload | {"ends": point.ends}


def _within(bucket: Bucket, value: str) -> str:
    """Names chosen per agent ("1", "default", none at all) are made selective by their bucket."""
    return f"{bucket.key}/{value}"


def _wire_filter(bucket: Bucket, filters: Filters) -> dict[str, Any] | None:
    """What the child turns into the engine's conditions; None when nothing can pass.

    The bucket is in every filter (S-3): by itself, or within the contact or the conversation. Both at once
    would say it twice, and the engine takes 2 to 3 times as long over two conditions as over one.
    """
    contacts = filters.contacts
    if contacts is not None and not contacts:
        return None
    one_of: dict[str, list[str]] = {}
    if contacts is not None:
        one_of["contact"] = sorted(_within(bucket, contact) for contact in contacts)
    if filters.conversation_id is not None:
        one_of["conversation"] = [_within(bucket, filters.conversation_id)]
    if not one_of:
        one_of["bucket"] = [bucket.key]
    named = {"kind": filters.kinds, "role": filters.roles, "author": filters.authors}
    one_of |= {field: sorted(values) for field, values in named.items() if values}
    return {"any": one_of, "since": filters.since, "until": filters.until, "valid_at": filters.valid_at}


def _scores(reply: Reply) -> dict[str, float]:
    return dict(zip(reply.head["items"], array("f", reply.body), strict=True))


def _parts(values: Sequence[T], size: int) -> list[Sequence[T]]:
    return [values[start : start + size] for start in range(0, len(values), size)]
