"""What an attractor takes from each summary (SPEC J-12). Reads the documents' heads beside its own table."""

from __future__ import annotations

import json
from collections.abc import Sequence

from services.compactor.domain.attractor import Concept, Point
from services.compactor.domain.documents import Kind
from services.kit.sql import Row, Script, SqlDatabase, execute, execute_many, fetch, first
from services.kit.times import from_micros, to_micros

_PUT = (
    "INSERT INTO attractor_points"
    " (tenant, agent_id, conversation_id, version, model, time, title, concepts, vector)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (tenant, agent_id, conversation_id) DO UPDATE SET version = excluded.version,"
    " model = excluded.model, time = excluded.time, title = excluded.title, concepts = excluded.concepts,"
    " vector = excluded.vector"
)
_SEEN = "tenant = ? AND agent_id = ? AND model = ? AND length(vector) > 0"


class SqlAttractorPoints:
    """Points. Every method is one transaction."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def changed(self, tenant: str, agent_id: str, model: str, limit: int) -> list[str]:
        """Conversations whose summary has no point of its version and this model."""

        def script() -> Script[list[str]]:
            rows = yield from fetch(
                "SELECT d.subject FROM documents d LEFT JOIN attractor_points p"
                " ON p.tenant = d.tenant AND p.agent_id = d.agent_id AND p.conversation_id = d.subject"
                " AND p.version = d.version AND p.model = ?"
                " WHERE d.tenant = ? AND d.agent_id = ? AND d.kind = ? AND d.present"
                " AND p.conversation_id IS NULL ORDER BY d.created DESC, d.subject LIMIT ?",
                model,
                tenant,
                agent_id,
                Kind.SUMMARY.value,
                limit,
            )
            return [row["subject"] for row in rows]

        return await self._database.read(script)

    async def put(self, tenant: str, agent_id: str, model: str, points: Sequence[Point]) -> None:
        """Stores points."""
        rows = [
            (
                tenant,
                agent_id,
                point.conversation_id,
                point.version,
                model,
                to_micros(point.time),
                point.title,
                json.dumps([[one.name, one.relevance] for one in point.concepts], ensure_ascii=False),
                point.vector,
            )
            for point in sorted(points, key=lambda point: point.conversation_id)
        ]
        await self._database.write(lambda: execute_many(_PUT, rows))

    async def prune(self, tenant: str, agent_id: str) -> None:
        """Deletes the points of conversations that have no summary."""
        await self._database.write(
            lambda: execute(
                "DELETE FROM attractor_points WHERE tenant = ? AND agent_id = ? AND NOT EXISTS"
                " (SELECT 1 FROM documents d WHERE d.tenant = attractor_points.tenant"
                " AND d.agent_id = attractor_points.agent_id AND d.kind = ?"
                " AND d.subject = attractor_points.conversation_id AND d.present)",
                tenant,
                agent_id,
                Kind.SUMMARY.value,
            )
        )

    async def newest(self, tenant: str, agent_id: str, model: str, limit: int) -> tuple[list[Point], int]:
        """The newest points with a vector, and how many there are."""

        def script() -> Script[tuple[list[Point], int]]:
            rows = yield from fetch(
                "SELECT conversation_id, version, time, title, concepts, vector FROM attractor_points"
                f" WHERE {_SEEN} ORDER BY time DESC, conversation_id DESC LIMIT ?",
                tenant,
                agent_id,
                model,
                limit,
            )
            counted = yield from first(
                f"SELECT count(*) AS points FROM attractor_points WHERE {_SEEN}", tenant, agent_id, model
            )
            assert counted is not None
            return [_point(row) for row in rows], counted["points"]

        return await self._database.read(script)


def _point(row: Row) -> Point:
    return Point(
        conversation_id=row["conversation_id"],
        version=row["version"],
        time=from_micros(row["time"]),
        title=row["title"],
        concepts=tuple(Concept(name=name, relevance=weight) for name, weight in json.loads(row["concepts"])),
        vector=bytes(row["vector"]),
    )
