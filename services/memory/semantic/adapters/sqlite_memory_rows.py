"""What the statements about memories share: columns, conditions, rows as domain types."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from services.kit.times import from_micros
from services.memory.semantic.domain.memory import FactType, Kind, Memory, MessageRef, Source

COLUMNS = (
    "memory_id, agent_id, key, value, fact_type, contact_id, pinned, confidence, source, provenance, created,"
    " updated, accessed, access_count, valid_from, valid_to, superseded_by, supersedes, version, expires,"
    " revision, indexed_revision"
)
LIVE = "superseded_by = '' AND (expires IS NULL OR expires > :now)"


def memory_of(row: sqlite3.Row) -> Memory:
    """A row with COLUMNS."""
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
        accessed=None if row["accessed"] is None else from_micros(row["accessed"]),
        access_count=row["access_count"],
        valid_from=from_micros(row["valid_from"]),
        valid_to=None if row["valid_to"] is None else from_micros(row["valid_to"]),
        superseded_by=row["superseded_by"],
        supersedes=row["supersedes"],
        version=row["version"],
        expires=None if row["expires"] is None else from_micros(row["expires"]),
        revision=row["revision"],
        indexed_revision=row["indexed_revision"],
    )


def read_one(c: sqlite3.Connection, tenant: str, agent_id: str, memory_id: str) -> Memory:
    """A memory that is known to exist."""
    row = c.execute(
        f"SELECT {COLUMNS} FROM memories WHERE tenant = ? AND agent_id = ? AND memory_id = ?",
        (tenant, agent_id, memory_id),
    ).fetchone()
    return memory_of(row)


def forgotten_with(c: sqlite3.Connection, tenant: str, agent_id: str, memory_id: str) -> dict[str, int]:
    """The revisions of all versions of a memory's key and bucket, by id.

    And of what they superseded in another bucket: the same person's, from before contacts were merged.
    """
    chosen = c.execute(
        "SELECT contact_id, key FROM memories WHERE tenant = ? AND agent_id = ? AND memory_id = ?",
        (tenant, agent_id, memory_id),
    ).fetchone()
    if chosen is None:
        return {}
    rows = c.execute(
        "SELECT memory_id, contact_id, superseded_by, revision FROM memories WHERE number IN"
        " (SELECT number FROM key_segments WHERE tenant = ? AND agent_id = ? AND segment = ?) AND key = ?"
        " ORDER BY number DESC",  # what supersedes comes before what it superseded
        (tenant, agent_id, chosen["key"], chosen["key"]),
    )
    revisions: dict[str, int] = {}
    for row in rows:
        if row["contact_id"] == chosen["contact_id"] or row["superseded_by"] in revisions:
            revisions[row["memory_id"]] = row["revision"]
    return revisions


def of_kinds(kinds: frozenset[Kind]) -> str:
    """A condition: any of these kinds; all, if there are none."""
    return f"kind IN ({', '.join(str(int(kind)) for kind in sorted(kinds))})" if kinds else "TRUE"


def marks(values: Sequence[object] | range) -> str:
    """Question marks for values."""
    return ", ".join("?" for _ in values)


def names(values: Sequence[str], prefix: str = "b") -> str:
    """Named marks, as `named` names the values."""
    return ", ".join(f":{prefix}{index}" for index in range(len(values)))


def named(values: Sequence[str], prefix: str = "b") -> dict[str, object]:
    """Values by the names that `names` writes."""
    return {f"{prefix}{index}": value for index, value in enumerate(values)}
