"""One memory in the place of several, and taking that back (SPEC J-10)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from itertools import chain

from services.kit.errors import StateConflict
from services.kit.outbox import put_jobs
from services.kit.refreshing import memories_changed
from services.kit.sql import Script, fetch, first
from services.kit.times import to_micros
from services.memory.semantic.adapters.index_jobs import index_job
from services.memory.semantic.adapters.sql.memories_chains import delete
from services.memory.semantic.adapters.sql.memories_rows import COLUMNS, find_whole, lock_keys, memory_of
from services.memory.semantic.adapters.sql.memories_writing import insert_ways
from services.memory.semantic.adapters.sql.supersessions import Replacement, end, undo
from services.memory.semantic.app.upkeep_ports import Member
from services.memory.semantic.domain.memory import Cause, Kind, Memory, MessageRef, Source, Verification

CHANGED = "a memory that was to be merged has changed since"
NO_MERGE = "the memory is not a merged one, or was replaced since"
INSERT = (
    "INSERT INTO memories (tenant, memory_id, agent_id, contact_id, key, version, value, fact_type, kind,"
    " pinned, confidence, source, provenance, created, updated, accessed, access_count, valid_from,"
    " supersedes, verification) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    " RETURNING number"
)
MOST_PROVENANCE = 100
"""Messages that a memory names, as of any that is remembered; of more, the newest members' first."""


def merge(
    tenant: str, agent_id: str, memory_id: str, members: Sequence[Member], now: datetime
) -> Script[Memory]:
    """See the port."""
    made = yield from find_whole(tenant, agent_id, memory_id)
    if made is not None:
        return made
    found = yield from _locked(tenant, agent_id, [member.memory_id for member in members])
    made = yield from find_whole(tenant, agent_id, memory_id)
    if made is not None:  # by the same job in another worker, while this one waited for the keys
        return made
    merged = [found.get(member.memory_id) for member in members]
    olds = [memory for memory in merged if memory is not None]
    now = max([now, *(old.created for old in olds)])
    if len(olds) < len(members) or not _may_merge(olds, members, now):
        raise StateConflict(CHANGED)
    yield from _write(tenant, memory_id, olds, now)
    for old in olds:
        made_so = Replacement(old=old, new_id=memory_id, begins=now, cause=Cause.CONSOLIDATED)
        yield from end(tenant, made_so, now)
    yield from put_jobs(tenant, [index_job(agent_id, memory_id, 1)])
    written = yield from find_whole(tenant, agent_id, memory_id)
    assert written is not None, "it was just inserted"
    return written


def _locked(tenant: str, agent_id: str, memory_ids: list[str]) -> Script[dict[str, Memory]]:
    """Those that exist, as they are once their keys are locked."""
    statement = f"SELECT {COLUMNS} FROM memories WHERE tenant = ? AND agent_id = ? AND memory_id IN ??"
    rows = yield from fetch(statement, tenant, agent_id, memory_ids)
    yield from lock_keys(tenant, agent_id, [row["key"] for row in rows])
    rows = yield from fetch(f"{statement} ORDER BY number FOR UPDATE", tenant, agent_id, memory_ids)
    return {row["memory_id"]: memory_of(row) for row in rows}


def _may_merge(olds: Sequence[Memory], members: Sequence[Member], now: datetime) -> bool:
    chosen = olds[0]
    return all(
        old.edits == member.edits
        and (old.contact_id, old.kind) == (chosen.contact_id, chosen.kind)
        and old.kind is not Kind.TASK
        and not old.superseded_by
        and old.valid_to is None
        and old.live(now)
        for old, member in zip(olds, members, strict=True)
    )


def _write(tenant: str, memory_id: str, olds: Sequence[Memory], now: datetime) -> Script[None]:
    """The first one's statement, as the next version of its key."""
    chosen, provenance = olds[0], _provenance(olds)
    accessed = max((old.accessed for old in olds if old.accessed is not None), default=None)
    verified = all(old.verification is not Verification.PENDING for old in olds)
    newest = yield from first(
        "SELECT coalesce(max(version), 0) AS version FROM memories"
        " WHERE tenant = ? AND agent_id = ? AND contact_id = ? AND key = ?",
        tenant,
        chosen.agent_id,
        chosen.contact_id,
        chosen.key,
    )
    assert newest is not None
    # The old one of the key gives its place up first: of a key and bucket, one version has no successor.
    yield from first(
        "UPDATE memories SET superseded_by = ? WHERE tenant = ? AND agent_id = ? AND memory_id = ?"
        " RETURNING memory_id",
        memory_id,
        tenant,
        chosen.agent_id,
        chosen.id,
    )
    row = yield from first(
        INSERT,
        tenant,
        memory_id,
        chosen.agent_id,
        chosen.contact_id,
        chosen.key,
        newest["version"] + 1,
        chosen.value,
        int(chosen.fact_type),
        int(chosen.kind),
        any(old.pinned for old in olds),
        max(old.confidence for old in olds),
        int(Source.CONSOLIDATION),
        json.dumps([[ref.conversation_id, ref.message_id] for ref in provenance], ensure_ascii=False),
        to_micros(now),
        to_micros(now),
        None if accessed is None else to_micros(accessed),
        sum(old.access_count for old in olds),
        to_micros(now),
        chosen.id,
        int(chosen.verification if verified else Verification.PENDING),
    )
    assert row is not None
    yield from insert_ways(tenant, chosen.agent_id, chosen.key, provenance, memory_id, row["number"])


def _provenance(olds: Sequence[Memory]) -> list[MessageRef]:
    return list(dict.fromkeys(chain.from_iterable(old.provenance for old in olds)))[:MOST_PROVENANCE]


def undo_merge(tenant: str, agent_id: str, memory_id: str, now: datetime) -> Script[list[Memory]]:
    """See the port."""
    made = yield from find_whole(tenant, agent_id, memory_id)
    if made is None:
        return []
    rows = yield from fetch(
        "SELECT memory_id, key FROM memories WHERE tenant = ? AND agent_id = ? AND superseded_by = ?"
        " ORDER BY number",
        tenant,
        agent_id,
        memory_id,
    )
    yield from lock_keys(tenant, agent_id, [made.key, *(row["key"] for row in rows)])
    made = yield from find_whole(tenant, agent_id, memory_id)
    if made is None:
        return []
    if made.source is not Source.CONSOLIDATION or made.superseded_by or not made.lasts(now):
        raise StateConflict(NO_MERGE)
    yield from delete(tenant, agent_id, [memory_id])
    gone = index_job(agent_id, memory_id, made.revision + 1)
    yield from put_jobs(tenant, [gone, *memories_changed(agent_id, [memory_id])])
    restored = []
    for row in rows:
        restored.append((yield from undo(tenant, agent_id, row["memory_id"], now, apart=False)))
    return restored
