"""The steps of the SQLite ledger that change jobs, each to be run inside one write transaction.

Every change of a job goes with the change of its group's counters and of the group's `next_due`, in the same
transaction. Times are microseconds.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter

from services.compactor.adapters.sqlite_rows import CLAIMED_COLUMNS, JOB_COLUMNS, JOBS, job_of
from services.compactor.domain.ledger import (
    FINAL,
    LOST_ERROR,
    SUSPECT_AFTER,
    UNCOUNTED,
    VERDICTS,
    Event,
    Job,
    JobState,
    NewJob,
    Settlement,
    target,
)
from services.kit.ids import new_id
from services.kit.times import to_micros

MAX_SKIPPED_GROUPS = 64
"""Groups that one claim finds empty before it leaves the rest to the next."""
SUSPECT = f"suspicion + (state = 'running') >= {SUSPECT_AFTER}"
LOST = "state = 'running' AND attempt >= max_attempts"
HELD = "jobs.tenant = v.tenant AND jobs.id = v.id AND jobs.fence = v.fence AND jobs.state = 'running'"
CLAIMS = (
    "(SELECT json_extract(value, '$[0]') AS tenant, json_extract(value, '$[1]') AS id,"
    " json_extract(value, '$[2]') AS fence FROM json_each(:claims)) AS v"
)

Moves = Mapping[int, Counter[JobState]]  # by group: how many more (or fewer) jobs are in each state


def next_revision(connection: sqlite3.Connection) -> int:
    """The revision of the step that begins."""
    row = connection.execute("UPDATE clock SET revision = revision + 1 RETURNING revision").fetchone()
    return int(row[0])


def move(connection: sqlite3.Connection, moves: Moves) -> None:
    """Adjusts the counters of groups, and their `next_due` to the earliest of their jobs."""
    for group, delta in moves.items():
        changed = [(state, by) for state, by in delta.items() if by]
        counters = "".join(f"{state} = {state} + ?, " for state, _ in changed)
        connection.execute(
            f"UPDATE groups SET {counters}next_due = (SELECT max(due, paused_until) FROM jobs"
            " WHERE group_id = groups.id AND due IS NOT NULL ORDER BY due LIMIT 1) WHERE id = ?",
            (*(by for _, by in changed), group),
        )


def enqueue(
    connection: sqlite3.Connection, tenant: str, jobs: Sequence[NewJob], max_attempts: int, now: int
) -> list[str]:
    """Adds those whose key is new; the ids of all."""
    ids = {
        row["key"]: row["id"]
        for row in connection.execute(
            "SELECT key, id FROM jobs WHERE tenant = ? AND key IN (SELECT value FROM json_each(?))",
            (tenant, json.dumps([job.key for job in jobs])),
        )
    }
    fresh = {job.key: job for job in jobs if job.key not in ids}
    if fresh:
        # Sorted, so that jobs of one call are listed in its order.
        ids.update(zip(fresh, sorted(new_id() for _ in fresh), strict=True))
        _insert(connection, tenant, [(ids[key], job) for key, job in fresh.items()], max_attempts, now)
    return [ids[job.key] for job in jobs]


def _insert(
    connection: sqlite3.Connection,
    tenant: str,
    jobs: Sequence[tuple[str, NewJob]],
    max_attempts: int,
    now: int,
) -> None:
    revision = next_revision(connection)
    connection.execute("INSERT OR IGNORE INTO tenants (tenant) VALUES (?)", (tenant,))
    groups = {pair: _group(connection, tenant, *pair) for pair in {(j.agent_id, j.type) for _, j in jobs}}
    moves: dict[int, Counter[JobState]] = defaultdict(Counter)
    rows = []
    for id_, job in jobs:
        group = groups[job.agent_id, job.type]
        moves[group][JobState.QUEUED] += 1
        due = now if job.not_before is None else to_micros(job.not_before)
        rows.append(
            (id_, tenant, group, job.key, revision, due, max_attempts, now, now, job.subject, job.payload)
        )
    connection.executemany(
        "INSERT INTO jobs (id, tenant, group_id, key, state, revision, due, max_attempts, created, updated,"
        " subject, payload) VALUES (?, ?, ?, ?, 'queued', ?, ?, ?, ?, ?, ?, ?)",
        rows,
    )
    move(connection, moves)


def _group(connection: sqlite3.Connection, tenant: str, agent_id: str, type_: str) -> int:
    connection.execute(
        "INSERT OR IGNORE INTO groups (tenant, agent_id, type) VALUES (?, ?, ?)", (tenant, agent_id, type_)
    )
    row = connection.execute(
        "SELECT id FROM groups WHERE tenant = ? AND agent_id = ? AND type = ?", (tenant, agent_id, type_)
    ).fetchone()
    return int(row["id"])


def claim(connection: sqlite3.Connection, owner: str, limit: int, lease_end: int, now: int) -> list[Job]:
    """Takes due jobs of the group whose turn it is."""
    for _ in range(MAX_SKIPPED_GROUPS):
        row = _whose_turn(connection, now)
        if row is None:
            return []
        group, tenant = row["id"], row["tenant"]
        jobs = _take(connection, group, owner, limit, lease_end, now)
        if jobs:
            served = jobs[0].revision
            connection.execute("UPDATE tenants SET served = ? WHERE tenant = ?", (served, tenant))
            connection.execute("UPDATE groups SET served = ? WHERE id = ?", (served, group))
            return jobs
        move(connection, {group: Counter()})  # leases were renewed, or what was due is dead now
    return []


def _whose_turn(connection: sqlite3.Connection, now: int) -> sqlite3.Row | None:
    # CROSS JOIN keeps the loops in this order: tenants by turn, and of each the first group that is due.
    row: sqlite3.Row | None = connection.execute(
        "SELECT g.id, g.tenant FROM tenants t CROSS JOIN groups g ON g.id = ("
        " SELECT id FROM groups INDEXED BY groups_turn WHERE tenant = t.tenant AND next_due IS NOT NULL"
        " AND next_due <= ? ORDER BY served, agent_id, type LIMIT 1) ORDER BY t.served, t.tenant LIMIT 1",
        (now,),
    ).fetchone()
    return row


def _end_lost(connection: sqlite3.Connection, places: Sequence[int], now: int) -> None:
    """Ends running jobs whose lease is over and whose last attempt it was."""
    if not places:
        return
    rows = connection.execute(
        "UPDATE jobs SET state = ?, due = NULL, finished = ?, updated = ?, revision = ?, error = ?"
        " WHERE seq IN (SELECT value FROM json_each(?)) AND state = 'running' RETURNING group_id",
        (
            target(Event.LOSE, JobState.RUNNING),
            now,
            now,
            next_revision(connection),
            LOST_ERROR,
            json.dumps(places),
        ),
    ).fetchall()
    move(connection, _from_running((row["group_id"], JobState.DEAD) for row in rows))


def _take(
    connection: sqlite3.Connection, group: int, owner: str, limit: int, lease_end: int, now: int
) -> list[Job]:
    found = connection.execute(
        f"SELECT seq, state, {SUSPECT} AS suspect, {LOST} AS lost FROM jobs WHERE group_id = ? AND due <= ?"
        " ORDER BY due, seq LIMIT ?",
        (group, now, limit),
    ).fetchall()
    _end_lost(connection, [row["seq"] for row in found if row["lost"]], now)
    due = [row for row in found if not row["lost"]]
    if not due:
        return []
    # A suspect at the head goes alone; further on, it waits until it is at the head.
    chosen = due[:1] if due[0]["suspect"] else [row for row in due if not row["suspect"]]
    rows = connection.execute(
        "UPDATE jobs SET suspicion = suspicion + (state = 'running'), state = 'running',"
        " attempt = attempt + 1, fence = fence + 1, owner = :owner, due = :lease, updated = :now,"
        " revision = :revision WHERE seq IN (SELECT value FROM json_each(:chosen)) AND due <= :now"
        f" RETURNING {CLAIMED_COLUMNS}",
        {
            "chosen": json.dumps([row["seq"] for row in chosen]),
            "now": now,
            "owner": owner,
            "lease": lease_end,
            "revision": next_revision(connection),
        },
    ).fetchall()
    delta = Counter({JobState.RUNNING: len(rows)})
    delta.subtract(JobState(row["state"]) for row in chosen)
    move(connection, {group: delta})
    return [job_of(row) for row in sorted(rows, key=itemgetter("seq"))]


def read(connection: sqlite3.Connection, places: Iterable[int]) -> list[Job]:
    """Jobs by place, in order of enqueueing."""
    rows = connection.execute(
        f"SELECT {JOB_COLUMNS} FROM {JOBS} WHERE j.seq IN (SELECT value FROM json_each(?)) ORDER BY j.seq",
        (json.dumps(list(places)),),
    )
    return [job_of(row) for row in rows]


def heartbeat(connection: sqlite3.Connection, claims: str, lease_end: int) -> set[str]:
    """Extends claims; the revision stays, as nobody waits for this."""
    rows = connection.execute(
        f"UPDATE jobs SET due = :due FROM {CLAIMS} WHERE {HELD} RETURNING id",
        {"claims": claims, "due": lease_end},
    )
    return {row["id"] for row in rows.fetchall()}


def settle(connection: sqlite3.Connection, settlements: Sequence[Settlement], now: int) -> set[str]:
    """Applies verdicts to the claims that hold."""
    rows = connection.execute(
        "UPDATE jobs SET state = v.state, due = v.due, finished = v.finished, error = v.error,"
        " attempt = attempt - v.uncounted, suspicion = suspicion + v.deferred,"
        " deferred = iif(v.refused, :now, jobs.deferred), result_ids = v.result_ids,"
        " progress = iif(v.state = 'succeeded', 1.0, jobs.progress),"
        f" updated = :now, revision = :revision FROM {_VERDICTS} WHERE {HELD}"
        " RETURNING id, group_id, state, due",
        {
            "now": now,
            "revision": next_revision(connection),
            "claims": json.dumps([_verdict_row(verdict, now) for verdict in settlements]),
        },
    ).fetchall()
    _pause(connection, settlements, {row["id"]: row["group_id"] for row in rows})
    move(connection, _from_running((row["group_id"], JobState(row["state"])) for row in rows))
    return {row["id"] for row in rows}


_VERDICT_FIELDS = (
    *("tenant", "id", "fence", "state", "due", "finished"),
    *("uncounted", "deferred", "refused", "error", "result_ids"),
)
_VERDICTS = (
    "(SELECT "
    + ", ".join(f"json_extract(value, '$[{i}]') AS {name}" for i, name in enumerate(_VERDICT_FIELDS))
    + " FROM json_each(:claims)) AS v"
)


def _verdict_row(verdict: Settlement, now: int) -> list[object]:
    if verdict.event not in VERDICTS:
        raise AssertionError(f"{verdict.event} is no verdict")
    state = target(verdict.event, JobState.RUNNING)
    return [
        verdict.tenant,
        verdict.job_id,
        verdict.fence,
        state,
        None if verdict.not_before is None else to_micros(verdict.not_before),
        now if state in FINAL else None,
        int(verdict.event in UNCOUNTED),
        int(verdict.event is Event.DEFER),
        int(verdict.refused),
        verdict.error,
        json.dumps(verdict.result_ids),
    ]


def _pause(
    connection: sqlite3.Connection, settlements: Sequence[Settlement], group_of: Mapping[str, int]
) -> None:
    pauses: dict[int, int] = {}
    for verdict in settlements:
        group = group_of.get(verdict.job_id)
        if group is not None and verdict.event is Event.DEFER and verdict.not_before is not None:
            pauses[group] = max(pauses.get(group, 0), to_micros(verdict.not_before))
    connection.executemany(
        "UPDATE groups SET paused_until = max(paused_until, ?) WHERE id = ?",
        [(until, group) for group, until in pauses.items()],
    )


def _from_running(ends: Iterable[tuple[int, JobState]]) -> Moves:
    moves: dict[int, Counter[JobState]] = defaultdict(Counter)
    for group, state in ends:
        moves[group][state] += 1
        moves[group][JobState.RUNNING] -= 1
    return moves


def release(connection: sqlite3.Connection, claims: str, now: int) -> set[str]:
    """Gives claims back as if they had not been made, but for the fence."""
    rows = connection.execute(
        "UPDATE jobs SET state = :state, due = :now, attempt = attempt - 1, updated = :now,"
        f" revision = :revision FROM {CLAIMS} WHERE {HELD} RETURNING id, group_id",
        {
            "claims": claims,
            "state": target(Event.RELEASE, JobState.RUNNING),
            "now": now,
            "revision": next_revision(connection),
        },
    ).fetchall()
    move(connection, _from_running((row["group_id"], JobState.QUEUED) for row in rows))
    return {row["id"] for row in rows}


def free_leases(connection: sqlite3.Connection, owner: str, now: int) -> int:
    """Ends the claims of `owner`; those in their last attempt die."""
    held = connection.execute(
        f"SELECT seq, {LOST} AS last FROM jobs WHERE state = 'running' AND owner = ?"
        " AND due IS NOT NULL AND group_id IN (SELECT id FROM groups WHERE running > 0)",
        (owner,),
    ).fetchall()
    _end_lost(connection, [row["seq"] for row in held if row["last"]], now)
    rows = connection.execute(
        "UPDATE jobs SET state = ?, due = ?, suspicion = suspicion + 1, updated = ?, revision = ?"
        " WHERE seq IN (SELECT value FROM json_each(?)) RETURNING group_id",
        (
            target(Event.FREE, JobState.RUNNING),
            now,
            now,
            next_revision(connection),
            json.dumps([row["seq"] for row in held if not row["last"]]),
        ),
    ).fetchall()
    move(connection, _from_running((row["group_id"], JobState.QUEUED) for row in rows))
    return len(held)


def cancel(connection: sqlite3.Connection, place: int, now: int) -> bool:
    """Whether the job's state allowed it."""
    changes = "due = NULL, finished = :now"
    return _change_one(connection, place, Event.CANCEL, changes, now)


def retry(connection: sqlite3.Connection, place: int, now: int) -> bool:
    """Whether the job's state allowed it."""
    changes = (
        "due = :now, finished = NULL, attempt = 0, suspicion = 0, deferred = NULL, error = '', progress = 0"
    )
    return _change_one(connection, place, Event.RETRY, changes, now)


def _change_one(connection: sqlite3.Connection, place: int, event: Event, changes: str, now: int) -> bool:
    row = connection.execute("SELECT group_id, state FROM jobs WHERE seq = ?", (place,)).fetchone()
    before = JobState(row["state"])
    after = target(event, before)
    if after is None:
        return False
    connection.execute(
        f"UPDATE jobs SET state = :state, updated = :now, revision = :revision, {changes} WHERE seq = :place",
        {"state": after, "now": now, "revision": next_revision(connection), "place": place},
    )
    move(connection, {row["group_id"]: Counter({after: 1, before: -1})})
    return True


def delete_finished(
    connection: sqlite3.Connection, finished_before: int, dead_before: int, limit: int
) -> int:
    """Deletes old jobs, and groups that hold none any more."""
    kept = {state: dead_before if state is JobState.DEAD else finished_before for state in sorted(FINAL)}
    deleted = 0
    for state, before in kept.items():
        rows = connection.execute(
            "DELETE FROM jobs WHERE seq IN (SELECT seq FROM jobs WHERE state = ? AND finished < ?"
            " ORDER BY finished LIMIT ?) RETURNING group_id",
            (state, before, limit - deleted),
        ).fetchall()
        deleted += len(rows)
        gone = Counter(int(row["group_id"]) for row in rows)
        move(connection, {group: Counter({state: -n}) for group, n in gone.items()})
        connection.executemany(f"DELETE FROM groups WHERE id = ? AND {_EMPTY}", [(group,) for group in gone])
    return deleted


_EMPTY = " + ".join(JobState) + " = 0"


def claims_of(jobs: Iterable[Job]) -> str:
    """The claims of jobs, as the parameter `claims`."""
    return json.dumps([[job.tenant, job.id, job.fence] for job in jobs])
