"""What a request_id was answered with, so that a retry gets the same answer."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from datetime import datetime

from services.kit.errors import Exists
from services.kit.times import to_micros
from services.memory.semantic.adapters.sqlite_memory_rows import COLUMNS, memory_of
from services.memory.semantic.app.ports import Remembered
from services.memory.semantic.domain.memory import REQUEST_LIFETIME, NewMemory

PRUNED_AT_ONCE = 20


def answered(c: sqlite3.Connection, tenant: str, new: NewMemory) -> Remembered | None:
    """What this request_id was answered with; Exists if it came with another content."""
    if not new.request_id:
        return None
    row = c.execute(
        "SELECT digest, memory_id, created_memory FROM remember_requests"
        " WHERE tenant = ? AND agent_id = ? AND request_id = ?",
        (tenant, new.scope.agent_id, new.request_id),
    ).fetchone()
    if row is None:
        return None
    if row["digest"] != _digest(new):
        raise Exists("this request_id was used for another memory")
    found = c.execute(
        f"SELECT {COLUMNS} FROM memories WHERE tenant = ? AND agent_id = ? AND memory_id = ?",
        (tenant, new.scope.agent_id, row["memory_id"]),
    ).fetchone()
    if found is None:  # forgotten since: the retry must not bring it back
        raise Exists("this request_id was used for a memory that has been forgotten")
    return Remembered(memory=memory_of(found), created=bool(row["created_memory"]))


def keep_answer(
    c: sqlite3.Connection, tenant: str, new: NewMemory, result: Remembered, now: datetime
) -> None:
    """Keeps the answer, and drops some that are older than a day."""
    if not new.request_id:
        return
    c.execute(
        "INSERT INTO remember_requests VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            tenant,
            new.scope.agent_id,
            new.request_id,
            _digest(new),
            result.memory.id,
            int(result.created),
            to_micros(now),
        ),
    )
    c.execute(
        "DELETE FROM remember_requests WHERE (tenant, agent_id, request_id) IN (SELECT tenant, agent_id,"
        " request_id FROM remember_requests WHERE created < ? LIMIT ?)",
        (to_micros(now - REQUEST_LIFETIME), PRUNED_AT_ONCE),
    )


def _digest(new: NewMemory) -> str:
    body = json.dumps([new.key, new.value, int(new.fact_type), new.scope.write_bucket], ensure_ascii=False)
    return hashlib.blake2b(body.encode("utf-8"), digest_size=16).hexdigest()
