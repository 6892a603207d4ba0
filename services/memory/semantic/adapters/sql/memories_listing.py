"""Memories of a scope, in the order of an index: pages of them, and those that are chosen without a query.

Bucket by bucket, and no more of one than are wanted in all: a bucket may have very many.
"""

from __future__ import annotations

from datetime import datetime

from services.kit.sql import Row, Script, Value, fetch
from services.memory.semantic.adapters.sql.memories_rows import (
    COLUMNS,
    Condition,
    holding,
    memories_of,
    of_kinds,
)
from services.memory.semantic.app.ports import MemoryQuery
from services.memory.semantic.domain.memory import Kind, Memory, Scope

STANDING_CANDIDATES = 200
ABOVE_KEYS = "\x7f"  # sorts after every character of a key


def standing(
    tenant: str, scope: Scope, now: datetime, kinds: frozenset[Kind], as_of: datetime | None
) -> Script[list[Memory]]:
    """Pinned ones, and the latest. See the port."""
    live, moments = holding(now, as_of)
    chosen, kind_numbers = of_kinds(kinds)
    rows: list[Row] = []
    for contact_id in dict.fromkeys(scope.read_buckets):
        rows += yield from fetch(
            f"SELECT {COLUMNS} FROM memories WHERE tenant = ? AND agent_id = ? AND contact_id = ?"
            f" AND {live} AND {chosen}"
            " ORDER BY pinned DESC, coalesce(accessed, created) DESC LIMIT ?",
            tenant,
            scope.agent_id,
            contact_id,
            *moments,
            *kind_numbers,
            STANDING_CANDIDATES,
        )
    rows.sort(key=lambda row: (bool(row["pinned"]), row["accessed"] or row["created"]), reverse=True)
    return (yield from memories_of(tenant, scope.agent_id, rows[:STANDING_CANDIDATES]))


def page(tenant: str, query: MemoryQuery, now: datetime) -> Script[list[tuple[int, Memory]]]:
    """In order of writing. See the port."""
    every = query.include_superseded and query.as_of is None
    conditions: list[Condition] = [
        ("TRUE", []) if every else holding(now, query.as_of),
        of_kinds(query.kinds),
        _with_prefix(query.key_prefix),
    ]
    arguments: list[Value] = [argument for _, given in conditions for argument in given]
    # Not a bare column where a prefix leaves few: SQLite would go through the bucket in order for them.
    order = "number + 0" if query.key_prefix else "number"
    rows: list[Row] = []
    for contact_id in dict.fromkeys(query.scope.read_buckets):
        rows += yield from fetch(
            f"SELECT number, {COLUMNS} FROM memories"
            f" WHERE tenant = ? AND agent_id = ? AND contact_id = ? AND {order} > ?"
            f" AND {' AND '.join(text for text, _ in conditions)} ORDER BY {order} LIMIT ?",
            tenant,
            query.scope.agent_id,
            contact_id,
            query.after,
            *arguments,
            query.limit,
        )
    rows = sorted(rows, key=lambda row: int(row["number"]))[: query.limit]
    memories = yield from memories_of(tenant, query.scope.agent_id, rows)
    return [(row["number"], memory) for row, memory in zip(rows, memories, strict=True)]


def _with_prefix(prefix: str) -> Condition:
    return ("key >= ? AND key < ?", [prefix, prefix + ABOVE_KEYS]) if prefix else ("TRUE", [])
