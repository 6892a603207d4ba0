"""Claims: how workers take jobs, keep them and give them back (SPEC J-1, J-2, J-4).

A claim is made in a step of one tenant: of the one that was served longest ago among those with something
due whose row no other step holds; if all rows are held, of the first that is let go. What turns out not to be
claimable leaves a later `next_due` behind, so that the next look passes it over.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Final

from services.compactor.adapters.sql.rows import JOB_FIELDS, job_of
from services.compactor.adapters.sql.steps import Step, begin, end, move_groups
from services.compactor.domain.ledger import (
    LOST_ERROR,
    SUSPECT_AFTER,
    Event,
    Job,
    JobState,
    most_at_once,
    target,
    turn_after,
)
from services.kit.sql import Row, Script, Value, execute, fetch, first

MAX_EMPTY_GROUPS: Final = 64
"""Groups that one step finds without a job to take before it leaves the rest to the next."""
NO_LIMIT: Final = 0

_DUE_TENANTS: Final = "SELECT tenant, revision FROM tenants WHERE next_due IS NOT NULL AND next_due <= ?"
_OF_OTHER_TYPES: Final = (
    " AND EXISTS (SELECT 1 FROM groups g WHERE g.tenant = tenants.tenant AND g.next_due IS NOT NULL"
    " AND g.next_due <= ? AND NOT g.type IN ??)"
)
_NEXT_TENANT: Final = " ORDER BY served, tenant LIMIT 1 FOR UPDATE"
_DUE_GROUPS: Final = (
    "SELECT id, agent_id, type FROM groups WHERE tenant = ? AND next_due IS NOT NULL AND next_due <= ?"
)
_NEXT_GROUP: Final = " ORDER BY served, agent_id, type LIMIT 1"
_TAKE: Final = (
    "UPDATE jobs SET suspicion = suspicion + CASE WHEN state = 'running' THEN 1 ELSE 0 END,"
    " state = 'running', attempt = attempt + 1, fence = fence + 1, owner = ?, due = ?, updated = ?,"
    f" revision = ?, claim = ? WHERE tenant = ? AND id IN ?? RETURNING {JOB_FIELDS.replace('j.', '')}"
)
_DUE: Final = (
    "SELECT id, group_id, state, attempt, max_attempts, suspicion FROM jobs WHERE tenant = ? AND group_id = ?"
    " AND due IS NOT NULL AND due <= ? ORDER BY due, seq LIMIT ?"
)
_BURY: Final = (
    "UPDATE jobs SET state = 'dead', due = NULL, finished = ?, updated = ?, revision = ?, error = ?"
    " WHERE tenant = ? AND id IN ??"
)
_SOONER: Final = (
    "UPDATE groups SET next_due = CASE WHEN paused_until > ? THEN paused_until ELSE ? END"
    " WHERE tenant = ? AND id IN ?? AND next_due > ?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a worker asks for; `slots` is the most claims that a tenant may have at once (NO_LIMIT: any).

    `but` are types that it leaves to others.
    """

    owner: str
    limit: int
    lease_end: int
    now: int
    slots: int
    but: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Held:
    """A claim that holds: its job, and the job's group."""

    id: str
    group: int


def claim(wish: Wish) -> Script[list[Job] | None]:
    """Takes due jobs of the tenant whose turn it is; [] when it has none after all, None when nobody has."""
    step = yield from _whose_turn(wish)
    if step is None:
        return None
    if wish.slots != NO_LIMIT:
        free = yield from _next_slot(step.tenant, wish)
        if free is not None:
            yield from execute("UPDATE tenants SET next_due = ? WHERE tenant = ?", free, step.tenant)
            return []
    jobs = yield from _of_some_group(step, wish)
    yield from end(step)
    if jobs:
        # A claim elsewhere that is not committed yet may take the same number: then names decide.
        yield from execute(
            "UPDATE tenants SET served = (SELECT MAX(served) FROM tenants) + 1 WHERE tenant = ?", step.tenant
        )
    return jobs


def _whose_turn(wish: Wish) -> Script[Step | None]:
    turn = _DUE_TENANTS + (_OF_OTHER_TYPES if wish.but else "") + _NEXT_TENANT
    arguments: list[Value] = [wish.now]
    if wish.but:
        arguments += [wish.now, wish.but]
    row = yield from first(turn + " SKIP LOCKED", *arguments)
    if row is None:
        row = yield from first(turn, *arguments)
    return None if row is None else Step(tenant=row["tenant"], revision=row["revision"] + 1)


def _next_slot(tenant: str, wish: Wish) -> Script[int | None]:
    """When the tenant's first lease ends, if it has as many claims as it may have; claims that end before,
    by a verdict, make it due again in their own steps."""
    row = yield from first(
        "SELECT COUNT(DISTINCT claim) AS claims, MIN(due) AS ends FROM jobs"
        " WHERE tenant = ? AND state = 'running' AND due > ?",
        tenant,
        wish.now,
    )
    assert row is not None
    return row["ends"] if row["claims"] >= wish.slots else None


def _of_some_group(step: Step, wish: Wish) -> Script[list[Job]]:
    for _ in range(MAX_EMPTY_GROUPS):
        group = yield from first(
            _DUE_GROUPS + (" AND NOT type IN ??" if wish.but else "") + _NEXT_GROUP,
            step.tenant,
            wish.now,
            *([wish.but] if wish.but else []),
        )
        if group is None:
            return []
        jobs = yield from _take(step, group, wish)
        if jobs:
            yield from execute(
                "UPDATE groups SET served = ? WHERE tenant = ? AND id = ?",
                turn_after(group["type"], step.revision),
                step.tenant,
                group["id"],
            )
            return jobs
        # Leases were renewed, or what was due is dead now.
        step.move(group["id"], None, None)
        yield from move_groups(step)
    return []


def _take(step: Step, group: Row, wish: Wish) -> Script[list[Job]]:
    limit = most_at_once(group["type"], wish.limit)
    found = yield from fetch(_DUE, step.tenant, group["id"], wish.now, limit)
    yield from _bury(step, [row for row in found if _is_lost(row)], wish.now)
    due = [row for row in found if not _is_lost(row)]
    if not due:
        return []
    # A suspect at the head goes alone; further on, it waits until it is at the head.
    chosen = due[:1] if _is_suspect(due[0]) else [row for row in due if not _is_suspect(row)]
    rows = yield from fetch(
        _TAKE,
        wish.owner,
        wish.lease_end,
        wish.now,
        step.revision,
        step.revision,
        step.tenant,
        [row["id"] for row in chosen],
    )
    for row in chosen:
        step.move(group["id"], JobState(row["state"]), JobState.RUNNING)
    names = {"agent_id": group["agent_id"], "type_": group["type"]}
    return [job_of(row, **names) for row in sorted(rows, key=itemgetter("seq"))]


def _is_lost(row: Row) -> bool:
    return bool(row["state"] == JobState.RUNNING and row["attempt"] >= row["max_attempts"])


def _is_suspect(row: Row) -> bool:
    return bool(row["suspicion"] + (row["state"] == JobState.RUNNING) >= SUSPECT_AFTER)


def _bury(step: Step, rows: Sequence[Row], now: int) -> Script[None]:
    """Ends running jobs whose lease is over and whose last attempt it was."""
    if not rows:
        return
    ids = [row["id"] for row in rows]
    yield from execute(_BURY, now, now, step.revision, LOST_ERROR, step.tenant, ids)
    for row in rows:
        step.move(row["group_id"], JobState.RUNNING, target(Event.LOSE, JobState.RUNNING))


def held(step: Step, fences: Mapping[str, int]) -> Script[list[Held]]:
    """Those of the claims (fence by job) that hold: the job still runs, and under this fence."""
    rows = yield from fetch(
        "SELECT id, group_id, fence FROM jobs WHERE tenant = ? AND id IN ?? AND state = 'running'",
        step.tenant,
        list(fences),
    )
    return [Held(row["id"], row["group_id"]) for row in rows if row["fence"] == fences[row["id"]]]


def by_tenant(jobs: Iterable[Job]) -> list[tuple[str, dict[str, int]]]:
    """The fences of claims by tenant, in the order in which tenants are locked."""
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for job in jobs:
        found[job.tenant][job.id] = job.fence
    return sorted(found.items())


def heartbeat(jobs: Sequence[Job], lease_end: int) -> Script[set[str]]:
    """Extends claims. The revision stays, as nobody waits for this, and so does an earlier `next_due`: who
    looks too early finds nothing and mends it. A later one, of a clock that went back since, comes along."""
    kept: set[str] = set()
    for tenant, fences in by_tenant(jobs):
        step = yield from begin(tenant)
        if step is not None:
            claims = yield from held(step, fences)
            yield from execute(
                "UPDATE jobs SET due = ? WHERE tenant = ? AND id IN ??",
                lease_end,
                tenant,
                [one.id for one in claims],
            )
            yield from execute(
                _SOONER, lease_end, lease_end, tenant, sorted({one.group for one in claims}), lease_end
            )
            yield from execute(
                "UPDATE tenants SET next_due = ? WHERE tenant = ? AND next_due > ?",
                lease_end,
                tenant,
                lease_end,
            )
            kept |= {one.id for one in claims}
    return kept


def release(jobs: Sequence[Job], now: int) -> Script[set[str]]:
    """Gives claims back as if they had not been made, but for the fence."""
    given: set[str] = set()
    for tenant, fences in by_tenant(jobs):
        step = yield from begin(tenant)
        if step is not None:
            claims = yield from held(step, fences)
            yield from _requeue(step, claims, now, "attempt = attempt - 1", Event.RELEASE)
            given |= {one.id for one in claims}
    return given


def free_leases(owner: str, now: int) -> Script[int]:
    """Ends the claims of `owner`; those in their last attempt die."""
    tenants = yield from fetch(
        "SELECT DISTINCT tenant FROM jobs WHERE state = 'running' AND owner = ? ORDER BY tenant", owner
    )
    ended = 0
    for row in tenants:
        step = yield from begin(row["tenant"])
        assert step is not None
        rows = yield from fetch(
            "SELECT id, group_id, state, attempt, max_attempts FROM jobs"
            " WHERE tenant = ? AND state = 'running' AND owner = ?",
            step.tenant,
            owner,
        )
        yield from _bury(step, [one for one in rows if _is_lost(one)], now)
        rest = [Held(one["id"], one["group_id"]) for one in rows if not _is_lost(one)]
        yield from _requeue(step, rest, now, "suspicion = suspicion + 1", Event.FREE)
        ended += len(rows)
    return ended


def _requeue(step: Step, claims: Sequence[Held], now: int, change: str, event: Event) -> Script[None]:
    """Ends a step after which the jobs of claims wait again."""
    after = target(event, JobState.RUNNING)
    if claims:
        yield from execute(
            f"UPDATE jobs SET state = ?, due = ?, updated = ?, revision = ?, {change}"
            " WHERE tenant = ? AND id IN ??",
            after,
            now,
            now,
            step.revision,
            step.tenant,
            [one.id for one in claims],
        )
    for one in claims:
        step.move(one.group, JobState.RUNNING, after)
    yield from end(step)
