"""Rows of the SQLite ledger: how jobs are read, and the filters of queries."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass

from services.compactor.app.ports import Counts, Query
from services.compactor.domain.ledger import Job, JobState
from services.kit.times import from_micros

JOB_COLUMNS = (
    "j.seq, j.id, j.tenant, g.agent_id, g.type, j.key, j.state, j.revision, j.due, j.finished, j.attempt,"
    " j.max_attempts, j.fence, j.suspicion, j.deferred, j.progress, j.owner, j.created, j.updated, j.error,"
    " j.result_ids, j.subject, j.payload"
)
CLAIMED_COLUMNS = (
    JOB_COLUMNS.replace("j.", "")
    .replace("g.agent_id", "(SELECT agent_id FROM groups WHERE id = group_id) AS agent_id")
    .replace("g.type", "(SELECT type FROM groups WHERE id = group_id) AS type")
)
"""JOB_COLUMNS for a RETURNING clause, which knows no join."""
JOBS = "jobs j JOIN groups g ON g.id = j.group_id"
NO_IDS = "[]"
COUNT_SUMS = ", ".join(f"COALESCE(SUM({state}), 0) AS {state}" for state in JobState)

Parameters = dict[str, str | int | float | bytes | None]


@dataclass(frozen=True, slots=True)
class Condition:
    """A WHERE clause and its named parameters."""

    sql: str
    parameters: Parameters


def job_of(row: sqlite3.Row) -> Job:
    """A row of JOB_COLUMNS."""
    finished, due, deferred = row["finished"], row["due"], row["deferred"]
    return Job(
        id=row["id"],
        tenant=row["tenant"],
        agent_id=row["agent_id"],
        type=row["type"],
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
    terms, parameters = ["g.tenant = :tenant"], Parameters(tenant=query.reach.tenant)
    if query.reach.agents is not None:
        terms.append("g.agent_id IN (SELECT value FROM json_each(:agents))")
        parameters["agents"] = json.dumps(sorted(query.reach.agents))
    if query.types:
        terms.append("g.type IN (SELECT value FROM json_each(:types))")
        parameters["types"] = json.dumps(sorted(query.types))
    return Condition(" AND ".join(terms), parameters)


def of_jobs(query: Query) -> Condition:
    """The jobs within a query, over JOBS."""
    groups = of_groups(query)
    terms, parameters = ["j.tenant = :tenant", groups.sql], dict(groups.parameters)
    if query.states == {JobState.DEAD}:
        terms.append("j.state = 'dead'")  # as the partial index jobs_dead has it
    elif query.states:
        terms.append("j.state IN (SELECT value FROM json_each(:states))")
        parameters["states"] = json.dumps(sorted(query.states))
    return Condition(" AND ".join(terms), parameters)


def count(connection: sqlite3.Connection, query: Query) -> Counts:
    """Sums over groups, not over jobs."""
    groups = of_groups(query)
    row = connection.execute(
        f"SELECT {COUNT_SUMS} FROM groups g WHERE {groups.sql}", groups.parameters
    ).fetchone()
    return {state: row[state.value] for state in JobState}
