"""Reflections, goals and learnings (SPEC J-11)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from services.compactor.app.reflection import InsightQuery
from services.compactor.domain.documents import Kind as DocumentKind
from services.compactor.domain.insights import (
    Change,
    Draft,
    GoalState,
    Insight,
    Kind,
    changed,
    merged,
)
from services.kit.ids import new_id
from services.kit.sql import Row, Script, SqlDatabase, Value, execute, execute_many, fetch, first
from services.kit.times import from_micros, to_micros

COLUMNS = (
    "insight_id, agent_id, kind, contact_id, slug, topic, text, state, day, provenance, sources, memory_id,"
    " kept, revision, created, updated"
)
WHOSE = "tenant = ? AND agent_id = ?"


class SqlInsights:
    """`Insights` over a SqlDatabase."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def put(self, tenant: str, agent_id: str, drafts: Sequence[Draft], now: datetime) -> list[Insight]:
        """All in one transaction, in their order of slugs, so that two writers never wait for each other."""
        ordered = sorted(drafts, key=lambda draft: (draft.kind, draft.contact_id, draft.slug))

        def script() -> Script[list[Insight]]:
            rows = []
            for draft in ordered:
                rows.append((yield from _put(tenant, agent_id, draft, now)))
            return rows

        return await self._database.write(script) if ordered else []

    async def set_memory(self, tenant: str, agent_id: str, insight_id: str, memory_id: str) -> None:
        """By id."""
        await self._database.write(
            lambda: execute(
                f"UPDATE insights SET memory_id = ? WHERE {WHOSE} AND insight_id = ?",
                memory_id,
                tenant,
                agent_id,
                insight_id,
            )
        )

    async def get(self, tenant: str, agent_id: str, insight_id: str) -> Insight | None:
        """By id."""
        return await self._database.read(lambda: _get(tenant, agent_id, insight_id))

    async def page(self, tenant: str, agent_id: str, query: InsightQuery) -> list[Insight]:
        """Newest first."""
        conditions: list[tuple[str, Value]] = [("kind = ?", query.kind.value)]
        if query.contact_id is not None:
            conditions.append(("contact_id = ?", query.contact_id))
        if query.states:
            conditions.append(("state IN ??", sorted(state.value for state in query.states)))
        if query.before is not None:
            conditions.append(("insight_id < ?", query.before))

        def script() -> Script[list[Insight]]:
            rows = yield from fetch(
                f"SELECT {COLUMNS} FROM insights WHERE {WHOSE}"
                f"{''.join(f' AND {text}' for text, _ in conditions)} ORDER BY insight_id DESC LIMIT ?",
                tenant,
                agent_id,
                *(value for _, value in conditions),
                query.limit,
            )
            return [_insight(row) for row in rows]

        return await self._database.read(script)

    async def update(
        self, tenant: str, agent_id: str, insight_id: str, change: Change, now: datetime
    ) -> Insight | None:
        """As `changed` has it."""

        def script() -> Script[Insight | None]:
            row = yield from _get(tenant, agent_id, insight_id, lock=True)
            if row is None:
                return None
            found = changed(row, change, now)
            yield from _save(tenant, found)
            return found

        return await self._database.write(script)


def _put(tenant: str, agent_id: str, draft: Draft, now: datetime) -> Script[Insight]:
    made = yield from first(
        f"INSERT INTO insights (tenant, {COLUMNS})"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, FALSE, 1, ?, ?) ON CONFLICT DO NOTHING"
        f" RETURNING {COLUMNS}",
        tenant,
        new_id(),
        agent_id,
        draft.kind.value,
        draft.contact_id,
        draft.slug,
        draft.topic,
        draft.text,
        draft.state.value,
        draft.day,
        json.dumps(draft.provenance, ensure_ascii=False),
        json.dumps(draft.source_ids, ensure_ascii=False),
        "",
        to_micros(now),
        to_micros(now),
    )
    if made is None:
        known = yield from first(
            f"SELECT {COLUMNS} FROM insights WHERE {WHOSE} AND kind = ? AND contact_id = ? AND slug = ?"
            " FOR UPDATE",
            tenant,
            agent_id,
            draft.kind.value,
            draft.contact_id,
            draft.slug,
        )
        assert known is not None, "it was in the way"
        before = _insight(known)
        row = merged(before, draft, now)
        if row is not before:
            yield from _save(tenant, row)
    else:
        row = _insight(made)
    yield from execute_many(
        "INSERT INTO insight_sources (tenant, agent_id, source_id, insight_id) VALUES (?, ?, ?, ?)"
        " ON CONFLICT DO NOTHING",
        [(tenant, agent_id, source_id, row.id) for source_id in _sources(draft)],
    )
    return row


def _sources(draft: Draft) -> list[str]:
    """Whatever, if it were erased, would have to be taken out of the row (D-2)."""
    messages = [f"{conversation_id}/{message_id}" for conversation_id, message_id in draft.provenance]
    return sorted({*draft.source_ids, *messages})


def _save(tenant: str, row: Insight) -> Script[None]:
    yield from execute(
        "UPDATE insights SET text = ?, state = ?, provenance = ?, sources = ?, kept = ?, revision = ?,"
        f" updated = ? WHERE {WHOSE} AND insight_id = ?",
        row.text,
        row.state.value,
        json.dumps(row.provenance, ensure_ascii=False),
        json.dumps(row.source_ids, ensure_ascii=False),
        row.kept,
        row.revision,
        to_micros(row.updated),
        tenant,
        row.agent_id,
        row.id,
    )


def _get(tenant: str, agent_id: str, insight_id: str, *, lock: bool = False) -> Script[Insight | None]:
    row = yield from first(
        f"SELECT {COLUMNS} FROM insights WHERE {WHOSE} AND insight_id = ?{' FOR UPDATE' if lock else ''}",
        tenant,
        agent_id,
        insight_id,
    )
    return None if row is None else _insight(row)


def _insight(row: Row) -> Insight:
    return Insight(
        id=row["insight_id"],
        agent_id=row["agent_id"],
        kind=Kind(row["kind"]),
        contact_id=row["contact_id"],
        slug=row["slug"],
        topic=row["topic"],
        text=row["text"],
        state=GoalState(row["state"]),
        day=row["day"],
        provenance=tuple((conversation, message) for conversation, message in json.loads(row["provenance"])),
        source_ids=tuple(json.loads(row["sources"])),
        memory_id=row["memory_id"],
        kept=bool(row["kept"]),
        revision=row["revision"],
        created=from_micros(row["created"]),
        updated=from_micros(row["updated"]),
    )


class SqlSummaries:
    """Which summaries changed, of the documents' table (K-2)."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def changed(self, tenant: str, agent_id: str, since: datetime) -> list[str]:
        """The conversations whose summary has a version written since then."""
        rows = await self._database.read(
            lambda: fetch(
                f"SELECT subject FROM documents WHERE {WHOSE} AND kind = ? AND present AND created >= ?"
                " ORDER BY subject",
                tenant,
                agent_id,
                DocumentKind.SUMMARY.value,
                to_micros(since),
            )
        )
        return [row["subject"] for row in rows]
