"""What the statements about memories share: columns, conditions, locks, rows as domain types."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import blake2b

from services.kit.sql import Row, Script, Value, execute_many, fetch, first
from services.kit.times import from_micros, to_micros
from services.memory.semantic.domain.memory import FactType, Kind, Memory, MessageRef, Source, Verification

COLUMNS = (
    "memory_id, agent_id, key, value, fact_type, contact_id, pinned, confidence, source, provenance, created,"
    " updated, accessed, access_count, valid_from, valid_to, ended, superseded_by, supersedes, version,"
    " expires, revision, indexed_revision, verification, edits, contradicted"
)
BY_ID = "SELECT " + COLUMNS + " FROM memories WHERE tenant = ? AND agent_id = ? AND memory_id = ?"
STRIPES = 256  # locks of an agent; more of them let more writers of different keys go side by side

LASTS = "({m}valid_to IS NULL OR ({m}valid_to > ? AND {m}valid_to > {m}ended))"
PRESENT = "({m}valid_from <= ? OR {m}valid_from <= {m}created) AND " + LASTS
THEN = "{m}valid_from <= ? AND ({m}valid_to IS NULL OR {m}valid_to > ?)"
UNEXPIRED = " AND ({m}expires IS NULL OR {m}expires > ?)"

Condition = tuple[str, list[Value]]

OPEN_CONTRADICTIONS = (
    "SELECT c.memory_id, c.other_id FROM contradictions AS c"
    " JOIN memories AS a ON a.tenant = c.tenant AND a.agent_id = c.agent_id AND a.memory_id = c.memory_id"
    " JOIN memories AS b ON b.tenant = c.tenant AND b.agent_id = c.agent_id AND b.memory_id = c.other_id"
    " WHERE c.tenant = ? AND c.agent_id = ? AND {side} IN ?? AND c.resolved IS NULL"
    " AND a.superseded_by = '' AND b.superseded_by = ''"
)


def holding(now: datetime, as_of: datetime | None, alias: str = "") -> Condition:
    """What is live at present (`Memory.live`); with `as_of`, what was valid then (`Memory.valid_at`)."""
    moment = to_micros(now if as_of is None else as_of)
    text = (PRESENT if as_of is None else THEN) + UNEXPIRED
    return text.format(m=alias), [moment, moment, moment]


def of_kinds(kinds: frozenset[Kind]) -> Condition:
    """Any of these kinds; all, if there are none."""
    return ("kind IN ??", [sorted(int(kind) for kind in kinds)]) if kinds else ("TRUE", [])


def memory_of(row: Row) -> Memory:
    """A row with COLUMNS; what it contradicts is left to `memories_of`."""
    return Memory(
        id=row["memory_id"],
        agent_id=row["agent_id"],
        key=row["key"],
        value=row["value"],
        fact_type=FactType(row["fact_type"]),
        contact_id=row["contact_id"],
        pinned=bool(row["pinned"]),
        confidence=row["confidence"],
        source=Source(row["source"]),
        provenance=tuple(
            MessageRef(conversation_id=c, message_id=m) for c, m in json.loads(row["provenance"])
        ),
        created=from_micros(row["created"]),
        updated=from_micros(row["updated"]),
        accessed=_time(row["accessed"]),
        access_count=row["access_count"],
        valid_from=from_micros(row["valid_from"]),
        valid_to=_time(row["valid_to"]),
        ended=_time(row["ended"]),
        superseded_by=row["superseded_by"],
        supersedes=row["supersedes"],
        version=row["version"],
        expires=_time(row["expires"]),
        revision=row["revision"],
        indexed_revision=row["indexed_revision"],
        verification=Verification(row["verification"]),
        edits=row["edits"],
    )


def _time(micros: int | None) -> datetime | None:
    return None if micros is None else from_micros(micros)


def memories_of(tenant: str, agent_id: str, rows: Sequence[Row]) -> Script[list[Memory]]:
    """Rows with COLUMNS, in their order, with what each contradicts."""
    memories = [memory_of(row) for row in rows]
    flagged: Value = [row["memory_id"] for row in rows if row["contradicted"]]
    if not flagged:
        return memories
    pairs = yield from fetch(
        OPEN_CONTRADICTIONS.format(side="c.memory_id")
        + " UNION "
        + OPEN_CONTRADICTIONS.format(side="c.other_id"),
        tenant,
        agent_id,
        flagged,
        tenant,
        agent_id,
        flagged,
    )
    others: dict[str, set[str]] = defaultdict(set)
    for pair in pairs:
        others[pair["memory_id"]].add(pair["other_id"])
        others[pair["other_id"]].add(pair["memory_id"])
    return [replace(m, contradicts=tuple(sorted(others.get(m.id, ())))) for m in memories]


def find(tenant: str, agent_id: str, memory_id: str, *, lock: bool = False) -> Script[Memory | None]:
    """A memory by id, without what it contradicts."""
    row = yield from first(BY_ID + (" FOR UPDATE" if lock else ""), tenant, agent_id, memory_id)
    return None if row is None else memory_of(row)


def find_whole(tenant: str, agent_id: str, memory_id: str) -> Script[Memory | None]:
    """A memory by id, with what it contradicts."""
    rows = yield from fetch(BY_ID, tenant, agent_id, memory_id)
    found = yield from memories_of(tenant, agent_id, rows)
    return found[0] if found else None


def lock_keys(tenant: str, agent_id: str, keys: Iterable[str]) -> Script[None]:
    """Makes the writers of these keys, in any bucket, go one after the other until the transaction's end.

    Rows are locked in order, so that two never wait for each other. They hold no key, and are kept for good,
    so that none is deleted while another waits for it.
    """
    stripes = sorted({_stripe(key) for key in keys})
    statement = (
        "SELECT stripe FROM memory_locks WHERE tenant = ? AND agent_id = ? AND stripe IN ??"
        " ORDER BY stripe FOR UPDATE"
    )
    held = yield from fetch(statement, tenant, agent_id, stripes)
    if len(held) < len(stripes):
        yield from execute_many(
            "INSERT INTO memory_locks (tenant, agent_id, stripe) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            [(tenant, agent_id, stripe) for stripe in stripes],
        )
        yield from fetch(statement, tenant, agent_id, stripes)


def _stripe(key: str) -> int:
    return int.from_bytes(blake2b(key.encode("utf-8"), digest_size=2).digest()) % STRIPES
