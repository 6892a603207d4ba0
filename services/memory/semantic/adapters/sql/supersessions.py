"""What replaced what, and taking it back (SPEC S-7, S-8).

`memories.superseded_by` is the newest supersession that stands; undoing it brings back what was before.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from services.kit.errors import NotFound, StateConflict
from services.kit.outbox import NewJob, put_jobs
from services.kit.refreshing import memories_changed, memories_replaced, merges_outdated
from services.kit.sql import Row, Script, execute, fetch, first
from services.kit.times import from_micros, to_micros
from services.memory.semantic.adapters.index_jobs import index_job
from services.memory.semantic.adapters.sql.memories_rows import find, find_whole, lock_keys
from services.memory.semantic.adapters.sql.standing_choices import changed_by_hand
from services.memory.semantic.app.ports import Supersession, Verdict
from services.memory.semantic.domain.memory import Cause, Memory

CHANGED = "updated = ?, revision = revision + 1, edits = edits + 1"
COLUMNS = "number, old_id, new_id, cause, probability, judge, created, undone, valid_to_before, ended_before"
OTHER_SCOPE = "a memory of a contact and an agent-wide one cannot replace each other"
HELD = "a newer version of its key is live"


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """`old` ends where `new_id` begins."""

    old: Memory
    new_id: str
    begins: datetime
    cause: Cause
    probability: float = 1.0
    judge: str = ""


def end(tenant: str, made: Replacement, now: datetime) -> Script[None]:
    """Ends a memory at the new one's beginning, unless it ends before; never before it began.

    The caller holds the lock of its key.
    """
    old = made.old
    until = max(made.begins, old.valid_from)
    shorter = old.valid_to is None or until < old.valid_to
    yield from execute(
        "INSERT INTO supersessions (tenant, agent_id, old_id, new_id, cause, probability, judge, created,"
        " valid_to_before, ended_before) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        tenant,
        old.agent_id,
        old.id,
        made.new_id,
        int(made.cause),
        made.probability,
        made.judge,
        to_micros(now),
        _micros(old.valid_to),
        _micros(old.ended),
    )
    yield from execute(
        f"UPDATE memories SET superseded_by = ?, valid_to = ?, ended = ?, {CHANGED}"
        " WHERE tenant = ? AND agent_id = ? AND memory_id = ?",
        made.new_id,
        to_micros(until) if shorter else _micros(old.valid_to),
        to_micros(now) if shorter else _micros(old.ended),
        to_micros(now),
        tenant,
        old.agent_id,
        old.id,
    )
    yield from put_jobs(tenant, [index_job(old.agent_id, old.id, old.revision + 1), *_ended(made, until)])


def _ended(made: Replacement, until: datetime) -> list[NewJob]:
    """What was derived from it follows (J-17); a merge says the same in other words."""
    old = made.old
    if made.cause is Cause.CONSOLIDATED:
        return []
    never_held = made.cause is Cause.RESOLVED or until <= old.valid_from
    return (memories_changed if never_held else memories_replaced)(old.agent_id, [old.id])


def merged_from(tenant: str, agent_id: str, memory_ids: list[str]) -> Script[list[str]]:
    """The memories that stand in the place of these by a merge."""
    rows = yield from fetch(
        "SELECT DISTINCT new_id FROM supersessions WHERE tenant = ? AND agent_id = ? AND old_id IN ??"
        " AND cause = ? AND undone IS NULL ORDER BY new_id",
        tenant,
        agent_id,
        memory_ids,
        int(Cause.CONSOLIDATED),
    )
    return [row["new_id"] for row in rows]


def supersede(tenant: str, agent_id: str, verdict: Verdict, now: datetime, cause: Cause) -> Script[bool]:
    """See the port."""
    both = yield from _both_locked(tenant, agent_id, verdict.old_id, verdict.new_id)
    if both is None:
        return False
    old, new = both
    if old.superseded_by:
        return old.superseded_by == new.id
    if new.superseded_by or not old.lasts(now) or (yield from _was_undone(tenant, agent_id, verdict, cause)):
        return False
    if bool(old.contact_id) != bool(new.contact_id):
        raise StateConflict(OTHER_SCOPE)
    # Found later than either was written; an end in the past was no plan.
    now = max(now, old.created, new.created)
    made = Replacement(
        old=old,
        new_id=new.id,
        begins=new.valid_from,
        cause=cause,
        probability=verdict.probability,
        judge=verdict.judge,
    )
    yield from end(tenant, made, now)
    return True


def _both_locked(
    tenant: str, agent_id: str, one_id: str, other_id: str
) -> Script[tuple[Memory, Memory] | None]:
    """Both memories as they are once their keys are locked; None if they are one, or one is gone."""
    if one_id == other_id:
        return None
    one = yield from find(tenant, agent_id, one_id)
    other = yield from find(tenant, agent_id, other_id)
    if one is None or other is None:
        return None
    yield from lock_keys(tenant, agent_id, [one.key, other.key])
    one = yield from find(tenant, agent_id, one_id)
    other = yield from find(tenant, agent_id, other_id)
    return None if one is None or other is None else (one, other)


def _was_undone(tenant: str, agent_id: str, verdict: Verdict, cause: Cause) -> Script[bool]:
    """Whether somebody took this very judgement back: a job that runs again must not make it anew."""
    row = yield from first(
        "SELECT number FROM supersessions WHERE tenant = ? AND agent_id = ? AND old_id = ? AND new_id = ?"
        " AND cause = ? AND undone IS NOT NULL LIMIT 1",
        tenant,
        agent_id,
        verdict.old_id,
        verdict.new_id,
        int(Cause.JUDGED),
    )
    return cause is Cause.JUDGED and row is not None


def undo(tenant: str, agent_id: str, memory_id: str, now: datetime, *, apart: bool = True) -> Script[Memory]:
    """See the port. With `apart`, what the memory was merged into is to be taken apart."""
    found = yield from find(tenant, agent_id, memory_id)
    if found is None:
        raise NotFound("memory", memory_id)
    yield from lock_keys(tenant, agent_id, [found.key])
    old = yield from find(tenant, agent_id, memory_id, lock=True)
    if old is None:
        raise NotFound("memory", memory_id)
    standing = yield from fetch(
        f"SELECT {COLUMNS} FROM supersessions WHERE tenant = ? AND agent_id = ? AND old_id = ?"
        " AND undone IS NULL ORDER BY number DESC LIMIT 2",
        tenant,
        agent_id,
        memory_id,
    )
    if not old.superseded_by or not standing:
        raise StateConflict("the memory is not superseded")
    before = standing[1]["new_id"] if len(standing) > 1 else ""
    if not before:
        yield from _refuse_a_second_live_one(tenant, old)
    yield from _take_back(tenant, old, standing[0], before, now)
    yield from put_jobs(tenant, _held_again(old, standing[0], apart=apart))
    restored = yield from find_whole(tenant, agent_id, memory_id)
    assert restored is not None
    return restored


def _refuse_a_second_live_one(tenant: str, old: Memory) -> Script[None]:
    holder = yield from first(
        "SELECT memory_id FROM memories WHERE tenant = ? AND agent_id = ? AND contact_id = ? AND key = ?"
        " AND superseded_by = ''",
        tenant,
        old.agent_id,
        old.contact_id,
        old.key,
    )
    if holder is not None:
        raise StateConflict(HELD)


def _take_back(tenant: str, old: Memory, made: Row, before: str, now: datetime) -> Script[None]:
    yield from execute(
        "UPDATE supersessions SET undone = ? WHERE tenant = ? AND agent_id = ? AND old_id = ? AND number = ?",
        to_micros(now),
        tenant,
        old.agent_id,
        old.id,
        made["number"],
    )
    yield from execute(
        f"UPDATE memories SET superseded_by = ?, valid_to = ?, ended = ?, {CHANGED}"
        " WHERE tenant = ? AND agent_id = ? AND memory_id = ?",
        before,
        made["valid_to_before"],
        made["ended_before"],
        to_micros(now),
        tenant,
        old.agent_id,
        old.id,
    )
    if made["cause"] == Cause.RESOLVED:
        yield from execute(
            "UPDATE contradictions SET resolved = NULL, kept_id = ?"
            " WHERE tenant = ? AND agent_id = ? AND memory_id = ? AND other_id = ?",
            "",
            tenant,
            old.agent_id,
            *sorted([old.id, made["new_id"]]),
        )
    yield from put_jobs(tenant, [index_job(old.agent_id, old.id, old.revision + 1)])
    yield from changed_by_hand(tenant, old.agent_id)


def _held_again(old: Memory, made: Row, *, apart: bool) -> list[NewJob]:
    """What follows when a supersession is taken back (J-17); a merge took nothing away."""
    if made["cause"] != Cause.CONSOLIDATED:
        return memories_changed(old.agent_id, [old.id])
    return merges_outdated(old.agent_id, [made["new_id"]]) if apart else []


def of_memories(tenant: str, agent_id: str, memory_ids: list[str]) -> Script[list[Supersession]]:
    """Every supersession of these, undone ones too, in order of time."""
    rows = yield from fetch(
        f"SELECT {COLUMNS} FROM supersessions WHERE tenant = ? AND agent_id = ? AND old_id IN ??"
        " ORDER BY number",
        tenant,
        agent_id,
        memory_ids,
    )
    return [
        Supersession(
            old_id=row["old_id"],
            new_id=row["new_id"],
            cause=Cause(row["cause"]),
            probability=row["probability"],
            judge=row["judge"],
            created=from_micros(row["created"]),
            undone=None if row["undone"] is None else from_micros(row["undone"]),
        )
        for row in rows
    ]


def _micros(moment: datetime | None) -> int | None:
    return None if moment is None else to_micros(moment)
