"""Which memories prompts show at any rate, chosen anew only when memories changed (SPEC G-1, S-10).

Relevance falls with the days since the last access, and each prompt counts an access of what it shows. Chosen
by it each time, memories would come and go from prompt to prompt though nothing was learnt, and with them the
beginning that a provider has cached. So a choice is kept. It stands until a memory is written, one is pinned,
unpinned or brought back (`changed_by_hand`), or one begins to hold, or one that was chosen no longer does.
Accesses, verification and decay are no such changes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from hashlib import blake2b

from services.kit.sql import Row, Script, execute, fetch, first
from services.kit.times import to_micros
from services.memory.semantic.adapters.sql.memories_listing import standing
from services.memory.semantic.adapters.sql.memories_rows import COLUMNS, holding, memories_of
from services.memory.semantic.domain.memory import Kind, Memory, Scope

NEWEST = 50
"""Of each bucket in a mark: a writer that commits late is seen among them."""
BY_HAND = ""
"""In place of a scope."""
NEVER = 2**62
SHOWN_KINDS = frozenset(Kind) - {Kind.TASK}

Choose = Callable[[Sequence[Memory]], Sequence[Memory]]


def kept(tenant: str, scope: Scope, limit: int, now: datetime) -> Script[list[Memory] | None]:
    """The choice that stands, in its order; None if there is none, or if what it was made of has changed."""
    return (yield from _valid((yield from _row(tenant, scope, limit)), tenant, scope, now))


def choose_anew(tenant: str, scope: Scope, limit: int, now: datetime, choose: Choose) -> Script[list[Memory]]:
    """Makes a choice and keeps it; where another was made meanwhile, that one is given."""
    row = yield from _row(tenant, scope, limit)
    found = yield from _valid(row, tenant, scope, now)
    if found is not None:
        return found
    mark = yield from _mark(tenant, scope)  # before the memories: a change in between is seen next time
    begins = yield from _next_beginning(tenant, scope, now)
    chosen = list(choose((yield from standing(tenant, scope, now, SHOWN_KINDS, None))))[:limit]
    ends = [to_micros(memory.ends) for memory in chosen if memory.ends is not None]
    yield from execute(
        "INSERT INTO standing_choices (tenant, agent_id, scope, revision, mark, until, ids)"
        " VALUES (?, ?, ?, 1, ?, ?, ?) ON CONFLICT (tenant, agent_id, scope) DO UPDATE"
        " SET mark = excluded.mark, until = excluded.until, ids = excluded.ids,"
        " revision = standing_choices.revision + 1 WHERE standing_choices.revision = ?",
        tenant,
        scope.agent_id,
        _key(scope, limit),
        mark,
        min([begins, *ends]),
        json.dumps([memory.id for memory in chosen]),
        row["revision"] if row is not None else 0,
    )
    stored = yield from kept(tenant, scope, limit, now)
    return chosen if stored is None else stored


def _row(tenant: str, scope: Scope, limit: int) -> Script[Row | None]:
    return (
        yield from first(
            "SELECT revision, mark, until, ids FROM standing_choices"
            " WHERE tenant = ? AND agent_id = ? AND scope = ?",
            tenant,
            scope.agent_id,
            _key(scope, limit),
        )
    )


def _valid(row: Row | None, tenant: str, scope: Scope, now: datetime) -> Script[list[Memory] | None]:
    if row is None or row["until"] <= to_micros(now) or row["mark"] != (yield from _mark(tenant, scope)):
        return None
    ids = json.loads(row["ids"])
    live, moments = holding(now, None)
    rows = yield from fetch(
        f"SELECT {COLUMNS} FROM memories WHERE tenant = ? AND agent_id = ? AND memory_id IN ?? AND {live}",
        tenant,
        scope.agent_id,
        ids,
        *moments,
    )
    if len(rows) < len(ids):
        return None
    memories = yield from memories_of(tenant, scope.agent_id, rows)
    return sorted(memories, key=lambda memory: ids.index(memory.id))


def changed_by_hand(tenant: str, agent_id: str) -> Script[None]:
    """Makes the choices of an agent anew, once this transaction is committed."""
    yield from execute(
        "INSERT INTO standing_choices (tenant, agent_id, scope, revision, mark, until, ids)"
        " VALUES (?, ?, ?, 1, '', 0, '[]') ON CONFLICT (tenant, agent_id, scope) DO UPDATE"
        " SET revision = standing_choices.revision + 1",
        tenant,
        agent_id,
        BY_HAND,
    )


def _mark(tenant: str, scope: Scope) -> Script[str]:
    by_hand = yield from first(
        "SELECT revision FROM standing_choices WHERE tenant = ? AND agent_id = ? AND scope = ?",
        tenant,
        scope.agent_id,
        BY_HAND,
    )
    told = [str(by_hand["revision"] if by_hand is not None else 0)]
    for contact_id in sorted(set(scope.read_buckets)):
        rows = yield from fetch(
            "SELECT memory_id FROM memories WHERE tenant = ? AND agent_id = ? AND contact_id = ?"
            " ORDER BY number DESC LIMIT ?",
            tenant,
            scope.agent_id,
            contact_id,
            NEWEST,
        )
        told += [contact_id, *sorted(row["memory_id"] for row in rows)]
    return blake2b(json.dumps(told).encode("utf-8"), digest_size=16).hexdigest()


def _next_beginning(tenant: str, scope: Scope, now: datetime) -> Script[int]:
    """When the next memory that was written for later begins to hold."""
    found: list[int] = []
    for contact_id in sorted(set(scope.read_buckets)):
        row = yield from first(
            "SELECT min(valid_from) AS begins FROM memories WHERE tenant = ? AND agent_id = ?"
            " AND contact_id = ? AND valid_from > created AND valid_from > ?",
            tenant,
            scope.agent_id,
            contact_id,
            to_micros(now),
        )
        if row is not None and row["begins"] is not None:
            found.append(row["begins"])
    return min(found, default=NEVER)


def _key(scope: Scope, limit: int) -> str:
    who = json.dumps([limit, sorted(set(scope.read_buckets))])
    return blake2b(who.encode("utf-8"), digest_size=16).hexdigest()
