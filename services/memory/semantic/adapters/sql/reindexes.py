"""Runs that build indexes again, and what they go through (SPEC SV-2)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime

from services.kit.ids import new_id
from services.kit.sql import Row, Script, SqlDatabase, Value, execute, fetch, first
from services.kit.times import from_micros, to_micros
from services.memory.semantic.adapters.sql.documents import SqlIndexedDocuments
from services.memory.semantic.adapters.sql.models import holds
from services.memory.semantic.app.reindex_ports import (
    Position,
    Reindexing,
    ReindexState,
    lease_of,
)
from services.memory.semantic.domain.documents import DocumentSource

COLUMNS = "tenant, id, agent_id, state, done, total, position, created, finished"


class SqlReindexes:
    """`Reindexes` over a SqlDatabase."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def start(self, tenant: str, agent_id: str, now: datetime) -> Reindexing:
        """See the port."""
        id_ = new_id()

        def script() -> Script[Reindexing]:
            total = yield from _total(tenant, agent_id)
            yield from execute(
                "INSERT INTO reindexes (tenant, id, agent_id, state, done, total, position, created)"
                " VALUES (?, ?, ?, ?, 0, ?, ?, ?) ON CONFLICT (tenant) WHERE state = 1 DO NOTHING",
                tenant,
                id_,
                agent_id,
                int(ReindexState.RUNNING),
                total,
                _written(Position()),
                to_micros(now),
            )
            row = yield from first(f"SELECT {COLUMNS} FROM reindexes WHERE tenant = ? AND state = 1", tenant)
            if row is None:
                raise LookupError("the run that was in the way is done")
            return _reindexing(row)

        try:
            return await self._database.write(script)
        except LookupError:  # it ended between the two statements: there is room now
            return await self._database.write(script)

    async def get(self, tenant: str, id_: str = "") -> Reindexing | None:
        """See the port."""
        where, values = (" AND id = ?", [id_]) if id_ else ("", [])
        row = await self._database.read(
            lambda: first(
                f"SELECT {COLUMNS} FROM reindexes WHERE tenant = ?{where} ORDER BY id DESC LIMIT 1",
                tenant,
                *values,
            )
        )
        return None if row is None else _reindexing(row)

    async def running(self) -> list[Reindexing]:
        """See the port."""
        rows = await self._database.read(
            lambda: fetch(f"SELECT {COLUMNS} FROM reindexes WHERE state = 1 ORDER BY tenant")
        )
        return [_reindexing(row) for row in rows]

    async def advance(self, run: Reindexing, holder: str, now: datetime) -> bool:
        """See the port."""

        def script() -> Script[bool]:
            if not (yield from holds(lease_of(run.tenant), holder, now)):
                return False
            changed = yield from first(
                "UPDATE reindexes SET state = ?, done = ?, position = ?, finished = ?"
                " WHERE tenant = ? AND id = ? AND state = 1 RETURNING id",
                int(run.state),
                run.done,
                _written(run.position),
                None if run.finished is None else to_micros(run.finished),
                run.tenant,
                run.id,
            )
            return changed is not None

        return await self._database.write(script)


class SqlCanonical:
    """`Canonical` over the tables of memories, indexed documents and known conversations."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database
        self._documents = SqlIndexedDocuments(database)

    async def agents(self, tenant: str) -> Sequence[str]:
        """See the port."""
        rows = await self._database.read(
            lambda: fetch(
                "SELECT agent_id FROM known_conversations WHERE tenant = ?"
                " UNION SELECT agent_id FROM memories WHERE tenant = ?"
                " UNION SELECT agent_id FROM indexed_documents WHERE tenant = ? ORDER BY agent_id",
                tenant,
                tenant,
                tenant,
            )
        )
        return [row["agent_id"] for row in rows]

    async def conversations(
        self, tenant: str, agent_id: str, first: str, limit: int
    ) -> Sequence[tuple[str, int]]:
        """See the port."""
        rows = await self._database.read(
            lambda: fetch(
                "SELECT conversation_id, highest_sequence FROM known_conversations"
                " WHERE tenant = ? AND agent_id = ? AND conversation_id >= ?"
                " ORDER BY conversation_id LIMIT ?",
                tenant,
                agent_id,
                first,
                limit,
            )
        )
        return [(row["conversation_id"], row["highest_sequence"]) for row in rows]

    async def memories(self, tenant: str, agent_id: str, after: int, limit: int) -> Sequence[tuple[int, str]]:
        """See the port."""
        rows = await self._database.read(
            lambda: fetch(
                "SELECT number, memory_id FROM memories WHERE tenant = ? AND agent_id = ? AND number > ?"
                " ORDER BY number LIMIT ?",
                tenant,
                agent_id,
                after,
                limit,
            )
        )
        return [(row["number"], row["memory_id"]) for row in rows]

    async def documents(
        self, tenant: str, agent_id: str, after: str, limit: int
    ) -> Sequence[tuple[str, DocumentSource]]:
        """See the port."""
        place = tenant, agent_id, after
        found = await self._documents.page(place, limit, tenant=tenant, agent_id=agent_id)
        return [(one.key, one.source) for one in found]


def _total(tenant: str, agent_id: str) -> Script[int]:
    where, values = _of_agent(agent_id)
    messages = yield from first(
        "SELECT CAST(COALESCE(SUM(highest_sequence), 0) AS BIGINT) AS n FROM known_conversations"
        f" WHERE tenant = ?{where}",
        tenant,
        *values,
    )
    memories = yield from first(
        f"SELECT COUNT(*) AS n FROM memories WHERE tenant = ?{where}", tenant, *values
    )
    documents = yield from first(
        f"SELECT COUNT(*) AS n FROM indexed_documents WHERE tenant = ?{where}", tenant, *values
    )
    return sum(int(row["n"]) for row in (messages, memories, documents) if row is not None)


def _of_agent(agent_id: str) -> tuple[str, list[Value]]:
    return (" AND agent_id = ?", [agent_id]) if agent_id else ("", [])


def _written(position: Position) -> str:
    return json.dumps(asdict(position), separators=(",", ":"))


def _reindexing(row: Row) -> Reindexing:
    return Reindexing(
        tenant=row["tenant"],
        id=row["id"],
        agent_id=row["agent_id"],
        state=ReindexState(row["state"]),
        done=row["done"],
        total=row["total"],
        position=Position(**json.loads(row["position"])),
        created=from_micros(row["created"]),
        finished=None if row["finished"] is None else from_micros(row["finished"]),
    )
