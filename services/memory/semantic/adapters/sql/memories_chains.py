"""Versions that belong together: their history, and forgetting them (SPEC S-1, S-5, S-8)."""

from __future__ import annotations

from collections.abc import Sequence

from services.kit.outbox import put_jobs
from services.kit.refreshing import memories_changed, merges_outdated
from services.kit.sql import Row, Script, execute_many, fetch
from services.memory.semantic.adapters.index_jobs import index_job
from services.memory.semantic.adapters.sql.memories_rows import COLUMNS, find, lock_keys, memories_of
from services.memory.semantic.adapters.sql.supersessions import merged_from, of_memories
from services.memory.semantic.app.ports import MemoryHistory

MAX_VERSIONS = 1000
LIGHT = "number, memory_id, contact_id, key, superseded_by, revision"
OF_AGENT = " FROM memories WHERE tenant = ? AND agent_id = ?"
NOTHING = MemoryHistory(memories=(), supersessions=())


def history(tenant: str, agent_id: str, memory_id: str) -> Script[MemoryHistory]:
    """See the port."""
    chosen = yield from find(tenant, agent_id, memory_id)
    if chosen is None:
        return NOTHING
    found = yield from _replaced_within_key(tenant, agent_id, chosen.key, [chosen.contact_id])
    yield from _add_successors(tenant, agent_id, chosen.key, found)
    newest = sorted(found.values(), key=lambda row: int(row["number"]))[-MAX_VERSIONS:]
    ids = [row["memory_id"] for row in newest]
    rows = yield from fetch(
        f"SELECT {COLUMNS}{OF_AGENT} AND memory_id IN ?? ORDER BY number", tenant, agent_id, ids
    )
    return MemoryHistory(
        memories=tuple((yield from memories_of(tenant, agent_id, rows))),
        supersessions=tuple((yield from of_memories(tenant, agent_id, ids))),
    )


def _replaced_within_key(tenant: str, agent_id: str, key: str, buckets: list[str]) -> Script[dict[str, Row]]:
    """All versions of a key in these buckets, and those in other buckets that they replaced, by id."""
    rows = yield from fetch(
        f"SELECT {LIGHT}{OF_AGENT} AND contact_id IN ?? AND key = ? ORDER BY number",
        tenant,
        agent_id,
        buckets,
        key,
    )
    found = {row["memory_id"]: row for row in rows}
    fresh = list(found)
    while fresh:
        rows = yield from fetch(
            f"SELECT {LIGHT}{OF_AGENT} AND superseded_by <> '' AND superseded_by IN ?? AND key = ?"
            " ORDER BY number",
            tenant,
            agent_id,
            fresh,
            key,
        )
        fresh = [row["memory_id"] for row in rows if row["memory_id"] not in found]
        found |= {row["memory_id"]: row for row in rows}
    return found


def _add_successors(tenant: str, agent_id: str, key: str, found: dict[str, Row]) -> Script[None]:
    """Adds what replaced those found; of the same key, with the rest of its bucket's versions."""
    while True:
        fresh = sorted({row["superseded_by"] for row in found.values()} - {""} - found.keys())
        rows = yield from fetch(
            f"SELECT {LIGHT}{OF_AGENT} AND memory_id IN ?? ORDER BY number", tenant, agent_id, fresh
        )
        if not rows:  # none, or forgotten
            return
        found |= {row["memory_id"]: row for row in rows}
        buckets = sorted({row["contact_id"] for row in rows if row["key"] == key})
        if buckets:
            found |= yield from _replaced_within_key(tenant, agent_id, key, buckets)


def forget(tenant: str, agent_id: str, memory_id: str) -> Script[list[str]]:
    """See the port."""
    chosen = yield from find(tenant, agent_id, memory_id)
    if chosen is None:
        return []
    yield from lock_keys(tenant, agent_id, [chosen.key])
    if (yield from find(tenant, agent_id, memory_id)) is None:
        return []
    gone = yield from _replaced_within_key(tenant, agent_id, chosen.key, [chosen.contact_id])
    merged = [id_ for id_ in (yield from merged_from(tenant, agent_id, list(gone))) if id_ not in gone]
    yield from delete(tenant, agent_id, list(gone))
    jobs = [index_job(agent_id, id_, row["revision"] + 1) for id_, row in gone.items()]
    follow = [*memories_changed(agent_id, list(gone)), *merges_outdated(agent_id, merged)]
    yield from put_jobs(tenant, [*jobs, *follow])
    return list(gone)


def delete(tenant: str, agent_id: str, memory_ids: Sequence[str]) -> Script[None]:
    """Memories and whatever names them. That one of them replaced another stays known, to be undone."""
    numbers = yield from fetch(
        "SELECT number FROM memories WHERE tenant = ? AND agent_id = ? AND memory_id IN ??",
        tenant,
        agent_id,
        list(memory_ids),
    )
    yield from execute_many(
        "DELETE FROM key_segments WHERE tenant = ? AND number = ?",
        [(tenant, row["number"]) for row in numbers],
    )
    for table, column in (
        ("memory_sources", "memory_id"),
        ("supersessions", "old_id"),
        ("contradictions", "memory_id"),
        ("contradictions", "other_id"),
        ("memories", "memory_id"),
    ):
        yield from execute_many(
            f"DELETE FROM {table} WHERE tenant = ? AND agent_id = ? AND {column} = ?",
            [(tenant, agent_id, memory_id) for memory_id in memory_ids],
        )
