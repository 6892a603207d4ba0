"""The process that owns the embedded vector engine (SPEC SV-4); the parent's side is `vectors_edge`.

One thread takes requests in turn, because the engine's calls hold the interpreter lock anyway: first all that
read, then one batch of those that write. When nobody asks, it syncs; when nobody asks for long, it optimises.

Directory: `manifest.json` (schema, model revision, dimension), `shard/` (the engine's files), `lock`, and
`clean`, which is there, with the number of points, only between an orderly end and the next start.
"""

from __future__ import annotations

import json
import sys
import time
from array import array
from collections import deque
from dataclasses import dataclass
from typing import Any

import qdrant_edge as engine

from services.kit.child_link import Link, attach
from services.kit.frames import Frame
from services.memory.semantic.adapters.vectors_edge_store import OpenFailed, Store

BATCH_POINTS = 64  # written at once; bounds how long a search waits for a write (about 6 ms)
SYNC_IDLE_SECONDS = 1.0  # without a request, before unsynced writes are synced
SYNC_BUSY_SECONDS = 30.0  # at most between two syncs while requests keep coming
OPTIMIZE_IDLE_SECONDS = 30.0  # without a request, before the engine may optimise; at the least
OPTIMIZE_IDLE_POINT_SECONDS = 0.001  # for each point: five to ten times as long as it takes
OPTIMIZE_CHANGES = 1_000  # writes since the last time, below which it isn't tried
READS = frozenset(("search", "similarities", "count", "ids"))

Head = dict[str, Any]


class Server:
    """Answers the requests of one link from one store."""

    def __init__(self, link: Link, store: Store) -> None:
        self._link = link
        self._store = store
        self._reads: deque[Frame] = deque()
        self._writes: deque[Frame] = deque()
        self._unsynced_since: float | None = None
        self._changes = 0

    def run(self) -> None:
        """Serves until the parent closes the link and everything received is answered."""
        while self._reads or self._writes or not self._link.closed:
            received = self._link.receive(0 if self._writes else self._patience())
            for frame in received:
                (self._reads if frame.head["method"] in READS else self._writes).append(frame)
            while self._reads:
                self._answer(self._reads.popleft())
            if self._writes:
                self._write()
            elif not received and not self._link.closed:
                self._idle()
            if self._unsynced_since and time.monotonic() - self._unsynced_since > SYNC_BUSY_SECONDS:
                self._sync()

    def _patience(self) -> float | None:
        if self._unsynced_since is not None:
            return SYNC_IDLE_SECONDS
        if self._changes < OPTIMIZE_CHANGES:
            return None
        return max(OPTIMIZE_IDLE_SECONDS, self._store.size() * OPTIMIZE_IDLE_POINT_SECONDS)

    def _idle(self) -> None:
        if self._unsynced_since is not None:
            self._sync()
        elif self._changes >= OPTIMIZE_CHANGES:
            self._changes = 0
            self._store.optimize()

    def _write(self) -> None:
        """One batch: the upserts at the head of the queue together, or one other write."""
        if self._writes[0].head["method"] != "upsert":
            self._answer(self._writes.popleft())
            return
        batch = [self._writes.popleft()]
        points = len(batch[0].head["points"])
        while self._writes and self._writes[0].head["method"] == "upsert":
            points += len(self._writes[0].head["points"])
            if points > BATCH_POINTS:
                break
            batch.append(self._writes.popleft())
        self._upsert(batch)

    def _upsert(self, batch: list[Frame]) -> None:
        try:
            self._store.upsert([(frame.head["points"], frame.body) for frame in batch])
        except Exception as error:  # noqa: BLE001 - the callers hear of it; a panic is no Exception
            for frame in batch:
                self._link.fail(frame.id, "failed", f"upsert: {error}")
            return
        self._changed(sum(len(frame.head["points"]) for frame in batch))
        for frame in batch:
            self._link.answer(frame.id, {})

    def _answer(self, frame: Frame) -> None:
        method = frame.head["method"]
        try:
            head, body = self._carry_out(method, frame)
        except Exception as error:  # noqa: BLE001 - as above
            self._link.fail(frame.id, "failed", f"{method}: {error}")
        else:
            self._link.answer(frame.id, head, body)

    def _carry_out(self, method: str, frame: Frame) -> tuple[Head, bytes]:
        head, store = frame.head, self._store
        match method:
            case "search":
                return _scored(store.search(head["filter"], frame.body, head["limit"]))
            case "similarities":
                return _scored(store.similarities(head["ids"], frame.body))
            case "count":
                return {"count": store.count(head["filter"])}, b""
            case "ids":
                items, after = store.ids(head["filter"], head["after"], head["limit"])
                return {"items": items, "next": after}, b""
            case "delete":
                self._changed(len(head["ids"]))
                store.delete(head["ids"])
            case "delete_where":
                self._changed(OPTIMIZE_CHANGES)
                store.delete_where(head["filter"])
            case "flush":
                self._sync()
            case _:
                raise ValueError("no such method")
        return {}, b""

    def _changed(self, points: int) -> None:
        self._changes += points
        if self._unsynced_since is None:
            self._unsynced_since = time.monotonic()

    def _sync(self) -> None:
        self._store.flush()
        self._unsynced_since = None


def _scored(found: list[tuple[str, float]]) -> tuple[Head, bytes]:
    """Item ids in the head, their cosines as float32 in the body."""
    return {"items": [item for item, _ in found]}, array("f", [score for _, score in found]).tobytes()


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """What the parent says on the command line, as JSON."""

    directory: str
    revision: str
    dimension: int


def main() -> int:
    """Serves one index until the parent has had enough."""
    link = attach()
    arguments = Arguments(**json.loads(sys.argv[1]))
    try:
        store = Store.open(arguments.directory, arguments.revision, arguments.dimension)
    except OpenFailed as error:
        link.refuse(error.kind, str(error))
        return 1
    except OSError as error:
        link.refuse("unwritable", f"cannot write {arguments.directory}: {error.strerror}")
        return 1
    link.greet(
        {"clean": store.opened_clean, "made": store.made, "engine": getattr(engine, "__version__", "")}
    )
    Server(link, store).run()
    store.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
