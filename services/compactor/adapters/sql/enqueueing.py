"""How jobs come into the ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from services.compactor.adapters.sql.steps import Step, begin_first, end
from services.compactor.domain.ledger import JobState, NewJob
from services.compactor.domain.progress import span_of
from services.kit.ids import new_id
from services.kit.sql import Script, Value, execute_many, fetch, first
from services.kit.times import to_micros

_INSERT = (
    "INSERT INTO jobs (id, tenant, group_id, key, state, revision, due, max_attempts, created, updated,"
    " subject, payload, conversation_id, sequence, first_sequence, blocks)"
    " VALUES (?, ?, ?, ?, 'queued', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


def enqueue(tenant: str, jobs: Sequence[NewJob], max_attempts: int, now: int) -> Script[list[str]]:
    """Adds those whose key is new; the ids of all."""
    step = yield from begin_first(tenant)
    known = yield from fetch(
        "SELECT key, id FROM jobs WHERE tenant = ? AND key IN ??", tenant, [job.key for job in jobs]
    )
    ids: dict[str, str] = {row["key"]: row["id"] for row in known}
    fresh = {job.key: job for job in jobs if job.key not in ids}
    if fresh:
        # Sorted, so that jobs of one call are listed in its order.
        ids.update(zip(fresh, sorted(new_id() for _ in fresh), strict=True))
        groups = yield from _groups(step, fresh)
        rows = []
        for key, job in fresh.items():
            group = groups[job.agent_id, job.type]
            step.move(group, None, JobState.QUEUED)
            rows.append(_row(step, ids[key], group, job, max_attempts, now))
        yield from execute_many(_INSERT, rows)
        yield from end(step)
    return [ids[job.key] for job in jobs]


def _groups(step: Step, jobs: Mapping[str, NewJob]) -> Script[dict[tuple[str, str], int]]:
    """The numbers of the jobs' groups, made where they are missing."""
    numbers: dict[tuple[str, str], int] = {}
    for agent_id, type_ in {(job.agent_id, job.type) for job in jobs.values()}:
        row = yield from first(
            "SELECT id FROM groups WHERE tenant = ? AND agent_id = ? AND type = ?",
            step.tenant,
            agent_id,
            type_,
        )
        if row is None:
            row = yield from first(
                "INSERT INTO groups (tenant, agent_id, type) VALUES (?, ?, ?) RETURNING id",
                step.tenant,
                agent_id,
                type_,
            )
            assert row is not None
        numbers[agent_id, type_] = row["id"]
    return numbers


def _row(step: Step, id_: str, group: int, job: NewJob, max_attempts: int, now: int) -> Sequence[Value]:
    due = now if job.not_before is None else to_micros(job.not_before)
    span = span_of(job.type, job.payload)
    place: tuple[Value, ...] = ("", None, None, None)
    if span is not None:
        place = (span.conversation_id, span.last, span.first, span.first)
    made: tuple[Value, ...] = (id_, step.tenant, group, job.key, step.revision, due, max_attempts, now, now)
    return (*made, job.subject, job.payload, *place)
