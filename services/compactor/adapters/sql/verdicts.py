"""Verdicts on claims, and what people decide of jobs (SPEC J-2)."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from services.compactor.adapters.sql import progress
from services.compactor.adapters.sql.rows import NO_IDS, find, job_of
from services.compactor.adapters.sql.steps import Step, begin, end
from services.compactor.app.ports import Reach
from services.compactor.domain.ledger import (
    FINAL,
    UNCOUNTED,
    VERDICTS,
    Event,
    Job,
    JobState,
    Settlement,
    target,
)
from services.compactor.domain.progress import postponed
from services.kit.errors import JobStateConflict, NotFound
from services.kit.sql import Row, Script, Value, execute, execute_many, fetch
from services.kit.times import to_micros

_SETTLE: Final = (
    "UPDATE jobs SET state = ?, due = ?, finished = ?, error = ?, attempt = ?, suspicion = ?, deferred = ?,"
    " result_ids = ?, engine = ?, progress = ?, blocks = ?, updated = ?, revision = ?"
    " WHERE tenant = ? AND seq = ? AND fence = ?"
)
_SUCCEED: Final = (
    "UPDATE jobs SET state = 'succeeded', due = NULL, finished = ?, error = '', result_ids = '[]',"
    " engine = '', progress = 1.0, blocks = NULL, updated = ?, revision = ? WHERE tenant = ? AND id IN ??"
)
_CLAIMED: Final = (
    "SELECT seq, id, group_id, fence, attempt, suspicion, deferred, progress, conversation_id, sequence,"
    " blocks FROM jobs WHERE tenant = ? AND id IN ?? AND state = 'running'"
)
_CANCEL: Final = "due = NULL, blocks = NULL, finished"
_RETRY: Final = (
    "finished = NULL, attempt = 0, suspicion = 0, deferred = NULL, error = '', progress = 0,"
    " blocks = first_sequence, due"
)


def settle(settlements: Sequence[Settlement], now: int) -> Script[set[str]]:
    """Applies verdicts to the claims that hold."""
    counted: set[str] = set()
    by_tenant: dict[str, dict[str, Settlement]] = defaultdict(dict)
    for verdict in settlements:
        if verdict.event not in VERDICTS:
            raise AssertionError(f"{verdict.event} is no verdict")
        by_tenant[verdict.tenant][verdict.job_id] = verdict
    for tenant, verdicts in sorted(by_tenant.items()):
        step = yield from begin(tenant)
        if step is not None:
            counted |= yield from _settle(step, verdicts, now)
    return counted


def _settle(step: Step, verdicts: Mapping[str, Settlement], now: int) -> Script[set[str]]:
    rows = yield from fetch(_CLAIMED, step.tenant, list(verdicts))
    held = [(row, verdicts[row["id"]]) for row in rows if row["fence"] == verdicts[row["id"]].fence]
    if not held:
        return set()
    plain = [row for row, verdict in held if verdict.event is Event.SUCCEED and not _told(verdict)]
    if plain:
        yield from execute(_SUCCEED, now, now, step.revision, step.tenant, [row["id"] for row in plain])
    ended = {row["id"] for row in plain}
    others = [(row, verdict) for row, verdict in held if row["id"] not in ended]
    yield from execute_many(_SETTLE, [_values(step, row, verdict, now) for row, verdict in others])
    for row, verdict in held:
        step.move(row["group_id"], JobState.RUNNING, target(verdict.event, JobState.RUNNING))
    done = [(row, verdict) for row, verdict in held if verdict.event is Event.SUCCEED]
    put_off = {row["id"] for row, verdict in done if postponed(verdict.result_ids)}
    yield from progress.record(step.tenant, [row for row, _ in done], put_off)
    yield from _pause(step.tenant, held)
    yield from end(step)
    return {row["id"] for row, _ in held}


def _told(verdict: Settlement) -> bool:
    return bool(verdict.result_ids or verdict.engine)


def _values(step: Step, row: Row, verdict: Settlement, now: int) -> Sequence[Value]:
    state = target(verdict.event, JobState.RUNNING)
    succeeded = state is JobState.SUCCEEDED
    return (
        state,
        None if verdict.not_before is None else to_micros(verdict.not_before),
        now if state in FINAL else None,
        verdict.error,
        row["attempt"] - (verdict.event in UNCOUNTED),
        row["suspicion"] + (verdict.event is Event.DEFER),
        now if verdict.refused else row["deferred"],
        json.dumps(verdict.result_ids) if verdict.result_ids else NO_IDS,
        verdict.engine,
        1.0 if succeeded else row["progress"],
        None if succeeded else row["blocks"],
        now,
        step.revision,
        step.tenant,
        row["seq"],
        row["fence"],
    )


def _pause(tenant: str, held: Iterable[tuple[Row, Settlement]]) -> Script[None]:
    """A deferral keeps the whole group from being claimed for a while."""
    pauses: dict[int, int] = {}
    for row, verdict in held:
        if verdict.event is Event.DEFER and verdict.not_before is not None:
            group = row["group_id"]
            pauses[group] = max(pauses.get(group, 0), to_micros(verdict.not_before))
    yield from execute_many(
        "UPDATE groups SET paused_until = ? WHERE tenant = ? AND id = ? AND paused_until < ?",
        [(until, tenant, group, until) for group, until in pauses.items()],
    )


def change(reach: Reach, job_id: str, event: Event, now: int) -> Script[Job]:
    """Cancels or retries a job. Raises NotFound, JobStateConflict."""
    step = yield from begin(reach.tenant)
    row = None if step is None else (yield from find(reach.tenant, job_id))
    if step is None or row is None or not reach.holds(job_of(row)):
        raise NotFound("job", job_id)
    before = JobState(row["state"])
    after = target(event, before)
    if after is None:
        raise JobStateConflict(f"a job that is {before} allows no {event}")
    if after is before:
        return job_of(row)
    time = _CANCEL if event is Event.CANCEL else _RETRY
    yield from execute(
        f"UPDATE jobs SET state = ?, updated = ?, revision = ?, {time} = ? WHERE tenant = ? AND seq = ?",
        after,
        now,
        step.revision,
        now,
        step.tenant,
        row["seq"],
    )
    step.move(row["group_id"], before, after)
    yield from end(step)
    changed = yield from find(reach.tenant, job_id)
    assert changed is not None
    return job_of(changed)


def delete_finished(finished_before: int, dead_before: int, limit: int) -> Script[int]:
    """Deletes old jobs, and groups that hold none any more."""
    old: dict[str, list[str]] = defaultdict(list)
    found = 0
    for state in sorted(FINAL):
        rows = yield from fetch(
            "SELECT tenant, id FROM jobs WHERE state = ? AND finished IS NOT NULL AND finished < ?"
            " ORDER BY finished LIMIT ?",
            state,
            dead_before if state is JobState.DEAD else finished_before,
            limit - found,
        )
        found += len(rows)
        for row in rows:
            old[row["tenant"]].append(row["id"])
    deleted = 0
    for tenant, ids in sorted(old.items()):
        deleted += yield from _delete(tenant, ids)
    return deleted


def _delete(tenant: str, ids: Sequence[str]) -> Script[int]:
    step = yield from begin(tenant)
    assert step is not None
    # One that was retried meanwhile is old no more.
    rows = yield from fetch(
        "DELETE FROM jobs WHERE tenant = ? AND id IN ?? AND finished IS NOT NULL RETURNING group_id, state",
        tenant,
        ids,
    )
    for row in rows:
        step.move(row["group_id"], JobState(row["state"]), None)
    groups = list(step.moves)
    yield from end(step)
    yield from execute(f"DELETE FROM groups WHERE tenant = ? AND id IN ?? AND {_EMPTY}", tenant, groups)
    return len(rows)


_EMPTY: Final = " + ".join(JobState) + " = 0"
