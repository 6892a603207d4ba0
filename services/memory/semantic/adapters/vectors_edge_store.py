"""The files of an embedded vector index, and the engine's calls; used by `vectors_edge_child` alone.

Fails with the engine's own exceptions, except at opening (OpenFailed). The engine's `PanicException` is no
`Exception`: after one its state is unknown, so that it ends the process and a fresh one takes over.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import qdrant_edge as engine

SCHEMA = 2
"""Of the payload and its indexes; a folder of another one is outdated."""
LOCK_SECONDS = 3.0  # a former owner may still be closing
LOCK_POLL_SECONDS = 0.05

# No graphs: exact search takes about 0.1 ms a thousand points that pass the filter (24 ms at 200,000), while
# building the graph of such a bucket holds up every call for over ten minutes and takes 8 GB. What is left
# to optimise are segments of which much was deleted, for 0.1 to 0.2 s a thousand points (docs/scale.md).
GRAPH = engine.HnswIndexConfig(m=0, payload_m=0, ef_construct=100, full_scan_threshold=0)
OPTIMIZERS = engine.EdgeOptimizersConfig(
    indexing_threshold=0,  # never
    default_segment_number=1,
    deleted_threshold=0.2,  # of a segment's points, before it is rewritten without them
    vacuum_min_vector_number=1_000,
)
SEARCH_THREADS = 1  # one segment as a rule: more threads would find nothing to share

BUCKET = "bucket"
KEYWORDS = ("contact", "conversation", "kind", "role", "author")
TIME = "time"
ENDS = "ends"
ITEM = "item"

Scored = list[tuple[str, float]]
WireFilter = dict[str, Any]
WirePoint = tuple[str, dict[str, Any]]


class OpenFailed(Exception):
    """The index cannot be opened; `kind` is mismatch, outdated, corrupt or locked."""

    def __init__(self, kind: str, message: str) -> None:
        self.kind = kind
        super().__init__(message)


class Store:
    """An open index. Made by `open`."""

    def __init__(
        self,
        directory: Path,
        shard: engine.EdgeShard,
        lock: IO[bytes],
        dimension: int,
        *,
        clean: bool,
        made: bool,
    ) -> None:
        self.opened_clean = clean
        self.made = made
        self._directory = directory
        self._shard = shard
        self._lock = lock
        self._vector_bytes = dimension * 4

    @classmethod
    def open(cls, path: str, revision: str, dimension: int) -> Store:
        """Opens or creates the index. Raises OpenFailed, or OSError when the directory can't be written."""
        directory = Path(path)
        directory.mkdir(parents=True, exist_ok=True)
        lock = _lock(directory / "lock")
        made = not _check_manifest(directory, revision, dimension)
        if made:
            _create(directory, revision, dimension)
        expected = _take_mark(directory / "clean")
        shard = _load(directory / "shard", dimension)
        clean = expected is not None and shard.count(engine.CountRequest()) == expected
        return cls(directory, shard, lock, dimension, clean=clean, made=made)

    def upsert(self, requests: Sequence[tuple[Sequence[WirePoint], bytes]]) -> None:
        """Stores the points of several requests, whose vectors lie one after another in the bytes."""
        points: dict[str, engine.Point] = {}
        for wire_points, vectors in requests:
            for place, (point_id, payload) in enumerate(wire_points):
                start = place * self._vector_bytes
                vector = _vector(vectors[start : start + self._vector_bytes])
                points[point_id] = engine.Point(point_id, vector, payload)
        self._shard.update(engine.UpdateOperation.upsert_points(list(points.values())))

    def delete(self, point_ids: list[str]) -> None:
        """Removes points."""
        self._shard.update(engine.UpdateOperation.delete_points(list(point_ids)))

    def delete_where(self, wire: WireFilter) -> None:
        """Removes the points that pass."""
        self._shard.update(engine.UpdateOperation.delete_points_by_filter(_filter(wire)))

    def search(self, wire: WireFilter, vector: bytes, limit: int) -> Scored:
        """The nearest points that pass: item ids and cosines."""
        return self._query(_filter(wire), vector, limit)

    def similarities(self, point_ids: list[str], vector: bytes) -> Scored:
        """The cosines of these points, as far as they are stored; exact, for the engine scans few points."""
        named = engine.Filter(must=[engine.HasIdCondition(set(point_ids))])
        return self._query(named, vector, len(point_ids))

    def count(self, wire: WireFilter) -> int:
        """How many points pass."""
        return self._shard.count(engine.CountRequest(exact=True, filter=_filter(wire)))

    def ids(self, wire: WireFilter, after: str, limit: int) -> tuple[list[str], str]:
        """Item ids in the order of point ids, from the point `after`; and the point to go on from, or ""."""
        records, rest = self._shard.scroll(
            engine.ScrollRequest(
                offset=after or None,
                limit=limit,
                filter=_filter(wire),
                with_payload=[ITEM],
                with_vector=False,
            )
        )
        return [_item(record) for record in records], "" if rest is None else str(rest)

    def flush(self) -> None:
        """Syncs every write to the disk."""
        self._shard.flush()

    def size(self) -> int:
        """About how many points there are; to count a million takes a third of a second."""
        return self._shard.count(engine.CountRequest(exact=False))

    def optimize(self) -> None:
        """Rewrites what passed a threshold; nothing when nothing did."""
        self._shard.optimize()

    def close(self) -> None:
        """Syncs, leaves the mark of an orderly end, gives the lock back."""
        points = self._shard.count(engine.CountRequest())
        self._shard.flush()
        self._shard.close()
        _write_synced(self._directory / "clean", json.dumps({"points": points}))
        self._lock.close()

    def _query(self, passing: engine.Filter, vector: bytes, limit: int) -> Scored:
        found = self._shard.query(
            engine.QueryRequest(
                limit=limit,
                query=engine.Query.Nearest(_vector(vector)),
                filter=passing,
                with_payload=[ITEM],
            )
        )
        return [(_item(point), point.score) for point in found]


def _vector(data: bytes) -> Any:
    """The engine takes any buffer of floats, though its stubs say lists."""
    values = array("f", data)
    if sys.byteorder == "big":
        values.byteswap()
    return values


def _item(point: engine.ScoredPoint | engine.Record) -> str:
    assert point.payload is not None
    return str(point.payload[ITEM])


def _filter(wire: WireFilter) -> engine.Filter:
    """{"any": {field: [values]}, "since": s, "until": s, "valid_at": s} as the engine's conditions.

    What has no end does not end by `valid_at`: hence `must_not`.
    """
    must: list[Any] = [
        engine.FieldCondition(
            field,
            match=engine.MatchValue(values[0]) if len(values) == 1 else engine.MatchAny(values),
        )
        for field, values in wire.get("any", {}).items()
    ]
    since, until = wire.get("since"), wire.get("until")
    if since is not None or until is not None:
        must.append(engine.FieldCondition(TIME, range=engine.RangeFloat(gte=since, lt=until)))
    valid_at = wire.get("valid_at")
    if valid_at is None:
        return engine.Filter(must=must)
    must.append(engine.FieldCondition(TIME, range=engine.RangeFloat(lte=valid_at)))
    return engine.Filter(
        must=must, must_not=[engine.FieldCondition(ENDS, range=engine.RangeFloat(lte=valid_at))]
    )


def _config(dimension: int) -> engine.EdgeConfig:
    return engine.EdgeConfig(
        vectors=engine.EdgeVectorParams(size=dimension, distance=engine.Distance.Cosine),
        hnsw_config=GRAPH,
        optimizers=OPTIMIZERS,
        max_search_threads=SEARCH_THREADS,
    )


def _create(directory: Path, revision: str, dimension: int) -> None:
    """Makes an empty index; interrupted, it starts over. The manifest says that it is whole."""
    shutil.rmtree(directory / "shard", ignore_errors=True)
    (directory / "clean").unlink(missing_ok=True)
    shard = engine.EdgeShard.create(str(directory / "shard"), _config(dimension))
    create = engine.UpdateOperation.create_field_index
    shard.update(create(BUCKET, engine.KeywordIndexParams(is_tenant=True)))
    for field in KEYWORDS:
        shard.update(create(field, engine.KeywordIndexParams(enable_hnsw=False)))
    for field in (TIME, ENDS):
        shard.update(create(field, engine.FloatIndexParams(enable_hnsw=False)))
    shard.flush()
    shard.close()
    manifest = {"schema": SCHEMA, "model_revision": revision, "dimension": dimension}
    _write_synced(directory / "manifest.json", json.dumps(manifest))


def _load(path: Path, dimension: int) -> engine.EdgeShard:
    try:
        return engine.EdgeShard.load(str(path), _config(dimension))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a damaged file may make the engine panic
        raise OpenFailed("corrupt", f"{path} cannot be read: {error}") from error


def _check_manifest(directory: Path, revision: str, dimension: int) -> bool:
    """Whether there is an index; raises OpenFailed when it isn't one of this model."""
    path = directory / "manifest.json"
    if not path.exists():
        if (directory / "clean").exists():  # once whole: not an interrupted creation
            raise OpenFailed("corrupt", f"{path} is missing")
        return False
    try:
        manifest = json.loads(path.read_text("utf-8"))
        schema, found = manifest["schema"], (manifest["model_revision"], manifest["dimension"])
    except (ValueError, LookupError, TypeError) as error:
        raise OpenFailed("corrupt", f"{path} is not a manifest") from error
    if schema != SCHEMA:
        raise OpenFailed("outdated", f"{directory} has layout {schema}, not {SCHEMA}")
    if found != (revision, dimension):
        raise OpenFailed(
            "mismatch",
            f"{directory} holds vectors of model {found[0]} ({found[1]} dimensions),"
            f" not of {revision} ({dimension})",
        )
    return True


def _take_mark(path: Path) -> int | None:
    """The number of points at the last orderly end, None without one; the mark is gone afterwards."""
    try:
        points = int(json.loads(path.read_text("utf-8"))["points"])
    except FileNotFoundError:
        return None
    except (ValueError, LookupError, TypeError):
        points = None
    path.unlink()
    _sync_directory(path.parent)
    return points


def _lock(path: Path) -> IO[bytes]:
    """The file, locked for as long as it is open; raises OpenFailed when another process keeps it."""
    file = path.open("ab")
    if sys.platform == "win32":
        return file  # the engine's own lock on its log has to do
    import fcntl  # not on every platform

    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                file.close()
                raise OpenFailed("locked", f"{path.parent} is in use by another process") from None
            time.sleep(LOCK_POLL_SECONDS)
        else:
            return file


def _write_synced(path: Path, text: str) -> None:
    """Replaces the file so that a reader finds the old or the new text, even after a power cut."""
    fresh = path.with_suffix(".new")
    with fresh.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
    _sync_directory(path.parent)


def _sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
