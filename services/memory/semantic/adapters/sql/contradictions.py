"""Memories that cannot both hold (SPEC S-7)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from services.kit.errors import InvalidField, NotFound, StateConflict
from services.kit.ids import new_id
from services.kit.sql import Row, Script, execute, fetch, first
from services.kit.times import from_micros, to_micros
from services.memory.semantic.adapters.sql.memories_rows import COLUMNS as MEMORY_COLUMNS
from services.memory.semantic.adapters.sql.memories_rows import find, holding, lock_keys, memories_of
from services.memory.semantic.adapters.sql.supersessions import OTHER_SCOPE, supersede
from services.memory.semantic.app.ports import ContradictionQuery, Verdict
from services.memory.semantic.domain.memory import Cause, Contradiction

COLUMNS = "c.id, c.memory_id, c.other_id, c.probability, c.judge, c.created, c.resolved, c.kept_id"


def record(tenant: str, agent_id: str, verdict: Verdict, now: datetime) -> Script[bool]:
    """See the port."""
    ids = sorted([verdict.old_id, verdict.new_id])
    memories = []
    for memory_id in ids:  # in one order, so that two never wait for each other
        memories.append((yield from find(tenant, agent_id, memory_id, lock=True)))
    one, other = memories
    if one is None or other is None or one == other or one.superseded_by or other.superseded_by:
        return False
    if bool(one.contact_id) != bool(other.contact_id):
        raise StateConflict(OTHER_SCOPE)
    made = yield from first(
        "INSERT INTO contradictions"
        " (tenant, agent_id, id, memory_id, other_id, probability, judge, created)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id",
        tenant,
        agent_id,
        new_id(),
        *ids,
        verdict.probability,
        verdict.judge,
        to_micros(now),
    )
    if made is None:
        return False
    yield from execute(
        "UPDATE memories SET contradicted = TRUE, updated = ?, edits = edits + 1"
        " WHERE tenant = ? AND agent_id = ? AND memory_id IN ??",
        to_micros(now),
        tenant,
        agent_id,
        ids,
    )
    return True


def page(tenant: str, query: ContradictionQuery, now: datetime) -> Script[list[Contradiction]]:
    """See the port."""
    agent, buckets = query.scope.agent_id, list(query.scope.read_buckets)
    (one, moments), (other, _) = holding(now, None, "a."), holding(now, None, "b.")
    rows = yield from fetch(
        f"SELECT {COLUMNS} FROM contradictions AS c"
        " JOIN memories AS a ON a.tenant = c.tenant AND a.agent_id = c.agent_id AND a.memory_id = c.memory_id"
        " JOIN memories AS b ON b.tenant = c.tenant AND b.agent_id = c.agent_id AND b.memory_id = c.other_id"
        " WHERE c.tenant = ? AND c.agent_id = ? AND c.id > ? AND c.resolved IS NULL"
        f" AND a.contact_id IN ?? AND b.contact_id IN ?? AND {one} AND {other} ORDER BY c.id LIMIT ?",
        tenant,
        agent,
        query.after,
        buckets,
        buckets,
        *moments,
        *moments,
        query.limit,
    )
    return (yield from _whole(tenant, agent, rows))


def resolve(
    tenant: str, agent_id: str, contradiction_id: str, kept_id: str, now: datetime
) -> Script[Contradiction]:
    """See the port."""
    row = yield from _row(tenant, agent_id, contradiction_id)
    memory_ids = [row["memory_id"], row["other_id"]]
    if kept_id and kept_id not in memory_ids:
        raise InvalidField("kept_memory_id", "is none of the two memories")
    yield from _lock(tenant, agent_id, memory_ids)
    row = yield from _row(tenant, agent_id, contradiction_id)
    if row["resolved"] is not None and row["kept_id"] != kept_id:
        raise StateConflict("the contradiction was resolved otherwise")
    if row["resolved"] is None:
        if kept_id:
            yield from _keep(tenant, agent_id, row, kept_id, now)
        yield from _mark(tenant, agent_id, row, kept_id, now)
    (resolved,) = yield from _whole(tenant, agent_id, [row])
    return resolved


def _lock(tenant: str, agent_id: str, memory_ids: Sequence[str]) -> Script[None]:
    keys = []
    for memory_id in memory_ids:
        memory = yield from find(tenant, agent_id, memory_id)
        keys += [memory.key] if memory else []
    yield from lock_keys(tenant, agent_id, keys)


def _keep(tenant: str, agent_id: str, row: Row, kept_id: str, now: datetime) -> Script[None]:
    """The other one ends, as if the one that is kept had replaced it."""
    ended = row["other_id"] if kept_id == row["memory_id"] else row["memory_id"]
    verdict = Verdict(old_id=ended, new_id=kept_id, probability=1.0, judge="")
    if not (yield from supersede(tenant, agent_id, verdict, now, Cause.RESOLVED)):
        raise StateConflict("one of the two is no longer live")


def _mark(tenant: str, agent_id: str, row: Row, kept_id: str, now: datetime) -> Script[None]:
    yield from execute(
        "UPDATE contradictions SET resolved = ?, kept_id = ? WHERE tenant = ? AND agent_id = ? AND id = ?",
        to_micros(now),
        kept_id,
        tenant,
        agent_id,
        row["id"],
    )
    yield from execute(
        "UPDATE memories SET updated = ?, edits = edits + 1"
        " WHERE tenant = ? AND agent_id = ? AND memory_id IN ??",
        to_micros(now),
        tenant,
        agent_id,
        [row["memory_id"], row["other_id"]],
    )


def _row(tenant: str, agent_id: str, contradiction_id: str) -> Script[Row]:
    row = yield from first(
        f"SELECT {COLUMNS} FROM contradictions AS c WHERE c.tenant = ? AND c.agent_id = ? AND c.id = ?",
        tenant,
        agent_id,
        contradiction_id,
    )
    if row is None:
        raise NotFound("contradiction", contradiction_id)
    return row


def _whole(tenant: str, agent_id: str, rows: Sequence[Row]) -> Script[list[Contradiction]]:
    """With the memories, as they are now."""
    wanted = sorted({row[side] for row in rows for side in ("memory_id", "other_id")})
    found = yield from fetch(
        f"SELECT {MEMORY_COLUMNS} FROM memories WHERE tenant = ? AND agent_id = ? AND memory_id IN ??",
        tenant,
        agent_id,
        wanted,
    )
    memories = {memory.id: memory for memory in (yield from memories_of(tenant, agent_id, found))}
    return [
        Contradiction(
            id=row["id"],
            memories=(memories[row["memory_id"]], memories[row["other_id"]]),
            probability=row["probability"],
            judge=row["judge"],
            created=from_micros(row["created"]),
        )
        for row in rows
    ]
