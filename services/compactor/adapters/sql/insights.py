"""Reflections, goals and learnings (SPEC J-11)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from services.compactor.app.reflection import InsightQuery, reflect_again
from services.compactor.domain.documents import Kind as DocumentKind
from services.compactor.domain.insights import (
    Change,
    Draft,
    GoalState,
    Insight,
    Kind,
    changed,
    derived_again,
    merged,
)
from services.kit.ids import new_id
from services.kit.outbox import put_jobs
from services.kit.sql import Row, Script, SqlDatabase, Value, execute, execute_many, fetch, first
from services.kit.times import from_micros, to_micros

COLUMNS = (
    "insight_id, agent_id, kind, contact_id, slug, topic, text, state, day, provenance, sources, memory_id,"
    " kept, revision, created, updated, asked, state_day, stale"
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

    async def mark_stale(
        self,
        tenant: str,
        agent_id: str,
        source_ids: Sequence[str],
        *,
        erased: bool = False,
        goals: bool = True,
        again: bool = True,
    ) -> int:
        """Each row once, in the order of their ids, so that two writers never wait for each other."""

        wanted = ("" if erased else " AND NOT kept") + ("" if goals else " AND kind <> ?")

        def script() -> Script[int]:
            found = yield from fetch(
                f"SELECT DISTINCT insight_id FROM insight_sources WHERE {WHOSE} AND source_id IN ??",
                tenant,
                agent_id,
                list(source_ids),
            )
            ids = [row["insight_id"] for row in found]
            rows = yield from fetch(
                f"SELECT {COLUMNS} FROM insights WHERE {WHOSE} AND insight_id IN ??"
                f"{wanted} ORDER BY insight_id FOR UPDATE",
                tenant,
                agent_id,
                ids,
                *(() if goals else (Kind.GOAL.value,)),
            )
            marked = [_insight(row) for row in rows]
            yield from execute_many(
                f"UPDATE insights SET stale = stale + 1 WHERE {WHOSE} AND insight_id = ?",
                [(tenant, agent_id, row.id) for row in marked],
            )
            ends = {row.day: row.until for row in marked}
            if again:
                yield from put_jobs(tenant, [reflect_again(agent_id, *end) for end in sorted(ends.items())])
            return len(marked)

        return await self._database.write(script) if source_ids else 0

    async def stale(self, tenant: str, agent_id: str, day: str) -> list[Insight]:
        """Of a day."""
        rows = await self._database.read(
            lambda: fetch(
                f"SELECT {COLUMNS} FROM insights WHERE {WHOSE} AND day = ? AND stale > 0 ORDER BY insight_id",
                tenant,
                agent_id,
                day,
            )
        )
        return [_insight(row) for row in rows]

    async def settle(
        self, tenant: str, seen: Sequence[tuple[Insight, Draft | None]], now: datetime
    ) -> list[Insight]:
        """All in one transaction, in the order of their ids."""
        ordered = sorted(seen, key=lambda one: one[0].id)

        def script() -> Script[list[Insight]]:
            left = []
            for row, draft in ordered:
                left.append((yield from _settle(tenant, row, draft, now)))
            return [row for row in left if row is not None]

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
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, FALSE, 1, ?, ?, ?, ?, 0) ON CONFLICT DO NOTHING"
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
        None if draft.asked is None else to_micros(draft.asked),
        draft.told,
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
    yield from _note_sources(tenant, agent_id, draft, row.id)
    return row


def _note_sources(tenant: str, agent_id: str, draft: Draft, insight_id: str) -> Script[None]:
    yield from execute_many(
        "INSERT INTO insight_sources (tenant, agent_id, source_id, insight_id) VALUES (?, ?, ?, ?)"
        " ON CONFLICT DO NOTHING",
        [(tenant, agent_id, source_id, insight_id) for source_id in _sources(draft)],
    )


def _settle(tenant: str, seen: Insight, draft: Draft | None, now: datetime) -> Script[Insight | None]:
    """Derives a stale row again; one that nothing tells of any more goes, unless it changed since."""
    row = yield from _get(tenant, seen.agent_id, seen.id, lock=True)
    if row is None:
        return None
    if draft is None and row.stale != seen.stale:
        return row
    yield from _forget_sources(tenant, row)
    if draft is None and row.kept:  # it stays as somebody wrote it, and came from nothing that is known
        kept = replace(row, provenance=(), source_ids=(), stale=0, revision=row.revision + 1, updated=now)
        yield from _save(tenant, kept)
        return kept
    if draft is None:
        yield from execute(
            f"DELETE FROM insights WHERE {WHOSE} AND insight_id = ?", tenant, row.agent_id, row.id
        )
        return None
    yield from _note_sources(tenant, row.agent_id, draft, row.id)
    again = replace(derived_again(row, draft, now), stale=row.stale if row.stale != seen.stale else 0)
    yield from _save(tenant, again)
    return again


def _forget_sources(tenant: str, row: Insight) -> Script[None]:
    yield from execute(
        f"DELETE FROM insight_sources WHERE {WHOSE} AND insight_id = ?", tenant, row.agent_id, row.id
    )


def _sources(draft: Draft) -> list[str]:
    """Whatever, if it were erased, would have to be taken out of the row (D-2)."""
    messages = [f"{conversation_id}/{message_id}" for conversation_id, message_id in draft.provenance]
    return sorted({*draft.source_ids, *messages})


def _save(tenant: str, row: Insight) -> Script[None]:
    yield from execute(
        "UPDATE insights SET topic = ?, text = ?, state = ?, state_day = ?, provenance = ?, sources = ?,"
        f" kept = ?, revision = ?, updated = ?, stale = ? WHERE {WHOSE} AND insight_id = ?",
        row.topic,
        row.text,
        row.state.value,
        row.state_day,
        json.dumps(row.provenance, ensure_ascii=False),
        json.dumps(row.source_ids, ensure_ascii=False),
        row.kept,
        row.revision,
        to_micros(row.updated),
        row.stale,
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
        asked=None if row["asked"] is None else from_micros(row["asked"]),
        stale=row["stale"],
        state_day=row["state_day"],
    )


class SqlSummaries:
    """Which summaries changed, of the documents' table (K-2)."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def changed(self, tenant: str, agent_id: str, since: datetime) -> list[str]:
        """The conversations whose summary has a version written since then, the newest first."""
        rows = await self._database.read(
            lambda: fetch(
                f"SELECT subject FROM documents WHERE {WHOSE} AND kind = ? AND present AND created >= ?"
                " ORDER BY created DESC, subject",
                tenant,
                agent_id,
                DocumentKind.SUMMARY.value,
                to_micros(since),
            )
        )
        return [row["subject"] for row in rows]
