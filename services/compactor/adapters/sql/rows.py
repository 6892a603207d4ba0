"""Rows of the ledger: how jobs are read, and the filters of queries."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from services.compactor.app.ports import Counts, Query
from services.compactor.domain.ledger import Job, JobState
from services.kit.sql import Row, Script, Value, fetch, first
from services.kit.times import from_micros

JOB_FIELDS = (
    "j.seq, j.id, j.tenant, j.group_id, j.key, j.state, j.revision, j.due, j.finished, j.attempt,"
    " j.max_attempts, j.fence, j.suspicion, j.deferred, j.progress, j.owner, j.created, j.updated, j.error,"
    " j.result_ids, j.engine, j.subject, j.payload"
)
JOB_COLUMNS = f"g.agent_id, g.type, {JOB_FIELDS}"
JOBS = "jobs j JOIN groups g ON g.tenant = j.tenant AND g.id = j.group_id"
NO_IDS = "[]"
COUNT_SUMS = ", ".join(f"{state}" for state in JobState)


@dataclass(frozen=True, slots=True)
class Condition:
    """A WHERE clause and its arguments."""

    sql: str
    arguments: Sequence[Value]


def job_of(row: Row, *, agent_id: str | None = None, type_: str | None = None) -> Job:
    """A row of JOB_COLUMNS; of JOB_FIELDS, where the group's names are given."""
    finished, due, deferred = row["finished"], row["due"], row["deferred"]
    return Job(
        id=row["id"],
        tenant=row["tenant"],
        agent_id=row["agent_id"] if agent_id is None else agent_id,
        type=row["type"] if type_ is None else type_,
        subject=row["subject"],
        key=row["key"],
        payload=row["payload"],
        state=JobState(row["state"]),
        attempt=row["attempt"],
        max_attempts=row["max_attempts"],
        fence=row["fence"],
        suspicion=row["suspicion"],
        progress=row["progress"],
        error=row["error"],
        result_ids=() if row["result_ids"] == NO_IDS else tuple(json.loads(row["result_ids"])),
        engine=row["engine"],
        owner=row["owner"],
        created=from_micros(row["created"]),
        updated=from_micros(row["updated"]),
        finished=None if finished is None else from_micros(finished),
        due=None if due is None else from_micros(due),
        deferred=None if deferred is None else from_micros(deferred),
        revision=row["revision"],
    )


def of_groups(query: Query) -> Condition:
    """The groups within a query; the tenant is always bound."""
    terms: list[str] = ["g.tenant = ?"]
    arguments: list[Value] = [query.reach.tenant]
    if query.reach.agents is not None:
        terms.append("g.agent_id IN ??")
        arguments.append(sorted(query.reach.agents))
    if query.types:
        terms.append("g.type IN ??")
        arguments.append(sorted(query.types))
    return Condition(" AND ".join(terms), arguments)


def of_jobs(query: Query) -> Condition:
    """The jobs within a query, over JOBS."""
    groups = of_groups(query)
    terms, arguments = ["j.tenant = ?", groups.sql], [query.reach.tenant, *groups.arguments]
    if query.states == {JobState.DEAD}:
        terms.append("j.state = 'dead'")  # as the partial index jobs_dead has it
    elif query.states:
        terms.append("j.state IN ??")
        arguments.append(sorted(query.states))
    return Condition(" AND ".join(terms), arguments)


def find(tenant: str, job_id: str) -> Script[Row | None]:
    """A job's row of JOB_COLUMNS."""
    return (
        yield from first(f"SELECT {JOB_COLUMNS} FROM {JOBS} WHERE j.tenant = ? AND j.id = ?", tenant, job_id)
    )


def count(query: Query) -> Script[Counts]:
    """Sums over groups, not over jobs."""
    groups = of_groups(query)
    rows = yield from fetch(f"SELECT {COUNT_SUMS} FROM groups g WHERE {groups.sql}", *groups.arguments)
    return {state: sum(row[state.value] for row in rows) for state in JobState}
