"""A step: one change of a tenant's jobs, under the lock of the tenant's row.

Every script that changes jobs begins a step of their tenant and ends it in the same transaction. The row
stays locked until the commit, so the steps of a tenant come one after the other: what a step has read holds,
its revision is greater than that of every step before and visible before that of any after, and its counters
are exact. Steps of several tenants in one transaction begin in the order of the tenants' names.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Final

from services.compactor.domain.ledger import JobState
from services.kit.sql import Script, execute, first

_LOCK: Final = "SELECT revision FROM tenants WHERE tenant = ? FOR UPDATE"
_COUNTERS: Final = ", ".join(f"{state} = {state} + ?" for state in JobState)
_MOVE: Final = (
    f"UPDATE groups SET {_COUNTERS}, next_due ="
    " (SELECT CASE WHEN j.due < groups.paused_until THEN groups.paused_until ELSE j.due END FROM jobs j"
    " WHERE j.tenant = ? AND j.group_id = ? AND j.due IS NOT NULL ORDER BY j.due LIMIT 1)"
    " WHERE tenant = ? AND id = ?"
)
_END: Final = (
    "UPDATE tenants SET revision = ?, next_due ="
    " (SELECT MIN(g.next_due) FROM groups g WHERE g.tenant = ? AND g.next_due IS NOT NULL) WHERE tenant = ?"
)


@dataclass(slots=True, kw_only=True)
class Step:
    """A step that has begun: its revision, and by group how many more jobs are in each state."""

    tenant: str
    revision: int
    moves: dict[int, Counter[JobState]] = field(default_factory=lambda: defaultdict(Counter))

    def move(self, group: int, before: JobState | None, after: JobState | None) -> None:
        """A job of a group went from one state to another; None: it was not there, it is gone."""
        moves = self.moves[group]
        if before is not None:
            moves[before] -= 1
        if after is not None:
            moves[after] += 1


def begin(tenant: str) -> Script[Step | None]:
    """Locks the tenant; None for one that has never had a job."""
    row = yield from first(_LOCK, tenant)
    return None if row is None else Step(tenant=tenant, revision=row["revision"] + 1)


def begin_first(tenant: str) -> Script[Step]:
    """Locks the tenant, which may be new."""
    step = yield from begin(tenant)
    if step is None:
        yield from execute("INSERT INTO tenants (tenant) VALUES (?) ON CONFLICT DO NOTHING", tenant)
        step = yield from begin(tenant)
        assert step is not None, "a tenant is never deleted"
    return step


def move_groups(step: Step) -> Script[None]:
    """Brings the groups that the step touched up to date: their counters, and when they are next due."""
    tenant = step.tenant
    for group, delta in step.moves.items():
        yield from execute(_MOVE, *(delta[state] for state in JobState), tenant, group, tenant, group)
    step.moves.clear()


def end(step: Step) -> Script[None]:
    """Brings groups and tenant up to date; the step's revision counts from the commit on."""
    yield from move_groups(step)
    yield from execute(_END, step.revision, step.tenant, step.tenant)
