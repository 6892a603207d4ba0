"""What a request_id was answered with, so that a retry gets the same answer."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime

from services.kit.errors import Exists
from services.kit.sql import Script, execute, fetch, first
from services.kit.times import to_micros
from services.memory.semantic.adapters.sql.memories_rows import find_whole
from services.memory.semantic.app.ports import Remembered
from services.memory.semantic.domain.memory import REQUEST_LIFETIME, NewMemory

PRUNED_AT_ONCE = 20
USED = "this request_id was used for another memory"


def answered(tenant: str, new: NewMemory) -> Script[Remembered | None]:
    """What this request_id was answered with; Exists if it came with another content."""
    if not new.request_id:
        return None
    row = yield from first(
        "SELECT digest, memory_id, created_memory FROM remember_requests"
        " WHERE tenant = ? AND agent_id = ? AND request_id = ?",
        tenant,
        new.scope.agent_id,
        new.request_id,
    )
    if row is None:
        return None
    if row["digest"] != _digest(new):
        raise Exists(USED)
    found = yield from find_whole(tenant, new.scope.agent_id, row["memory_id"])
    if found is None:  # forgotten since: the retry must not bring it back
        raise Exists("this request_id was used for a memory that has been forgotten")
    return Remembered(memory=found, created=bool(row["created_memory"]))


def keep_answer(tenant: str, new: NewMemory, result: Remembered, now: datetime) -> Script[None]:
    """Keeps the answer, and drops some of the tenant's that are older than a day.

    Writers of one key go one after the other, so a request_id that is taken meanwhile came with another key.
    """
    if not new.request_id:
        return
    kept = yield from first(
        "INSERT INTO remember_requests"
        " (tenant, agent_id, request_id, digest, memory_id, created_memory, created)"
        " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING request_id",
        tenant,
        new.scope.agent_id,
        new.request_id,
        _digest(new),
        result.memory.id,
        result.created,
        to_micros(now),
    )
    if kept is None:
        raise Exists(USED)
    old = yield from fetch(
        "SELECT agent_id, request_id FROM remember_requests WHERE tenant = ? AND created < ?"
        " ORDER BY created LIMIT ? FOR UPDATE SKIP LOCKED",
        tenant,
        to_micros(now - REQUEST_LIFETIME),
        PRUNED_AT_ONCE,
    )
    for row in old:
        yield from execute(
            "DELETE FROM remember_requests WHERE tenant = ? AND agent_id = ? AND request_id = ?",
            tenant,
            row["agent_id"],
            row["request_id"],
        )


def _digest(new: NewMemory) -> str:
    body = json.dumps([new.key, new.value, int(new.fact_type), new.scope.write_bucket], ensure_ascii=False)
    return hashlib.blake2b(body.encode("utf-8"), digest_size=16).hexdigest()
