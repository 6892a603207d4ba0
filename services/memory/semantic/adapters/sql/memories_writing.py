"""Writing a memory: the same again, or a version that ends what it replaces (SPEC S-6, S-8)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from services.kit.errors import Exists, VersionConflict
from services.kit.ids import new_id
from services.kit.outbox import put_jobs
from services.kit.sql import Script, Value, execute_many, fetch, first
from services.kit.times import to_micros
from services.memory.semantic.adapters.index_jobs import index_job
from services.memory.semantic.adapters.sql.memories_requests import answered, keep_answer
from services.memory.semantic.adapters.sql.memories_rows import (
    COLUMNS,
    find_whole,
    lock_keys,
    memories_of,
)
from services.memory.semantic.adapters.sql.memories_told import is_new_telling
from services.memory.semantic.adapters.sql.standing_choices import changed_by_hand
from services.memory.semantic.adapters.sql.supersessions import Replacement, end
from services.memory.semantic.app.ports import Remembered
from services.memory.semantic.domain.memory import (
    CONFIDENCE,
    EXTRACTED,
    Cause,
    Kind,
    Memory,
    MessageRef,
    NewMemory,
    expiry,
    key_segments,
    kind_of,
    verification_of,
)

TOLD = "its messages have told this before"
INSERT = (
    "INSERT INTO memories (tenant, memory_id, agent_id, contact_id, key, version, value, fact_type, kind,"
    " pinned, confidence, source, provenance, created, updated, valid_from, valid_to, ended, supersedes,"
    " expires, verification) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    " RETURNING number"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteRules:
    """After how long a task expires (S-3), and whether new memories are to be verified (S-7)."""

    task_lifetime: timedelta
    verify: bool = True


def remember(tenant: str, new: NewMemory, now: datetime, rules: WriteRules) -> Script[Remembered]:
    """See the port.

    What is extracted late does not replace what holds from later on, and a message tells of a key once: what
    has been replaced or forgotten since does not come back.
    """
    yield from lock_keys(tenant, new.scope.agent_id, [new.key])
    known = yield from answered(tenant, new)
    if known is not None:
        return known
    extracted = new.source in EXTRACTED
    if extracted and not (yield from is_new_telling(tenant, new)):
        raise Exists(TOLD)
    replaceable = yield from _replaceable(tenant, new, now)
    # Time doesn't go back within a key, whatever the clocks of its writers.
    now = max([now, *(old.created for old in replaceable)])
    begins = new.valid_from or now
    replaceable = [old for old in replaceable if not old.superseded_by or _holds_after(old, begins)]
    live = [old for old in replaceable if old.live(max(begins, now))]
    later = [old for old in live if extracted and old.valid_from > begins]
    if later or (len(live) == 1 and _same(live[0], new)):
        result = Remembered(memory=(later or live)[-1], created=False)
    else:
        replaceable.sort(key=lambda old: (old.live(max(begins, now)), old.version))
        result = Remembered(memory=(yield from _insert(tenant, new, replaceable, now, rules)), created=True)
    yield from keep_answer(tenant, new, result, now)
    return result


def _holds_after(old: Memory, begins: datetime) -> bool:
    return old.valid_to is not None and old.valid_to > begins


def _same(live: Memory, new: NewMemory) -> bool:
    """An end that is stated is a change, none is not."""
    return (live.value, live.fact_type) == (new.value, new.fact_type) and new.valid_to in (
        None,
        live.valid_to,
    )


def _replaceable(tenant: str, new: NewMemory, now: datetime) -> Script[list[Memory]]:
    """The newest version of each bucket, and those that would hold beside the new one."""
    buckets = list(new.scope.contact_ids or ("",))
    rows = yield from fetch(
        f"SELECT {COLUMNS} FROM memories WHERE tenant = ? AND agent_id = ? AND contact_id IN ?? AND key = ?"
        " AND (superseded_by = '' OR (valid_to > ? AND valid_to > valid_from)) ORDER BY number FOR UPDATE",
        tenant,
        new.scope.agent_id,
        buckets,
        new.key,
        to_micros(new.valid_from or now),
    )
    return (yield from memories_of(tenant, new.scope.agent_id, rows))


def _insert(
    tenant: str, new: NewMemory, replaced: Sequence[Memory], now: datetime, rules: WriteRules
) -> Script[Memory]:
    agent, memory_id, begins = new.scope.agent_id, new_id(), new.valid_from or now
    for old in replaced:
        yield from end(tenant, Replacement(old=old, new_id=memory_id, begins=begins, cause=Cause.KEY), now)
    newest = yield from first(
        "SELECT coalesce(max(version), 0) AS version FROM memories"
        " WHERE tenant = ? AND agent_id = ? AND contact_id = ? AND key = ?",
        tenant,
        agent,
        new.scope.write_bucket,
        new.key,
    )
    assert newest is not None
    task = kind_of(new.fact_type) is Kind.TASK
    row = yield from first(
        INSERT,
        tenant,
        memory_id,
        agent,
        new.scope.write_bucket,
        new.key,
        newest["version"] + 1,
        new.value,
        int(new.fact_type),
        int(kind_of(new.fact_type)),
        new.pinned or any(old.pinned for old in replaced),
        CONFIDENCE[new.source],
        int(new.source),
        json.dumps([[r.conversation_id, r.message_id] for r in new.provenance], ensure_ascii=False),
        to_micros(now),
        to_micros(now),
        to_micros(begins),
        None if new.valid_to is None else to_micros(new.valid_to),
        None if new.valid_to is None else to_micros(now),
        replaced[-1].id if replaced else "",
        to_micros(expiry(max(begins, now), rules.task_lifetime)) if task else None,
        int(verification_of(new.fact_type, verify=rules.verify)),
    )
    assert row is not None
    yield from insert_ways(tenant, agent, new.key, new.provenance, memory_id, row["number"])
    yield from put_jobs(tenant, [index_job(agent, memory_id, 1)])
    written = yield from find_whole(tenant, agent, memory_id)
    assert written is not None
    return written


def insert_ways(
    tenant: str, agent: str, key: str, provenance: Sequence[MessageRef], memory_id: str, number: int
) -> Script[None]:
    """The words and the messages by which a memory is found."""
    yield from execute_many(
        "INSERT INTO key_segments (tenant, agent_id, segment, number) VALUES (?, ?, ?, ?)",
        [(tenant, agent, segment, number) for segment in key_segments(key)],
    )
    yield from execute_many(
        "INSERT INTO memory_sources (tenant, agent_id, conversation_id, message_id, memory_id)"
        " VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        [(tenant, agent, r.conversation_id, r.message_id, memory_id) for r in provenance],
    )


def set_pinned(
    tenant: str, agent_id: str, memory_id: str, pinned: bool, now: datetime, edits: int | None
) -> Script[Memory | None]:
    """See the port."""
    expected: list[Value] = [] if edits is None else [edits]
    changed = yield from first(
        "UPDATE memories SET pinned = ?, updated = ?, edits = edits + 1"
        " WHERE tenant = ? AND agent_id = ? AND memory_id = ? AND pinned <> ?"
        f"{' AND edits = ?' if expected else ''} RETURNING memory_id",
        pinned,
        to_micros(now),
        tenant,
        agent_id,
        memory_id,
        pinned,
        *expected,
    )
    if changed is not None:
        yield from changed_by_hand(tenant, agent_id)
    found = yield from find_whole(tenant, agent_id, memory_id)
    if found is not None and changed is None and found.pinned != pinned:
        raise VersionConflict
    return found
