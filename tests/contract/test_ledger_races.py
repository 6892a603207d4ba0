"""Many at once on one ledger, over both engines: turns, limits, changes (SPEC J-1, J-4)."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from services.compactor.adapters.sql.ledger import SqlLedger
from services.compactor.app.ports import Cursor, Query, Reach
from services.compactor.domain.ledger import Job, JobState, NewJob, succeeded
from services.kit.errors import JobStateConflict
from services.kit.sql import SqlDatabase
from tests.contract.ledger_model import Watcher

T0 = datetime(2026, 1, 1, tzinfo=UTC)
LEASE = timedelta(seconds=60)
SECOND = timedelta(seconds=1)
Pair = tuple[SqlDatabase, SqlDatabase]
ACME = Query(reach=Reach(tenant="acme"))


def new(key: str, agent: str = "a") -> NewJob:
    return NewJob(type="t", agent_id=agent, subject="s", key=key)


@pytest.fixture
def ledgers(compactor_sql_pair: Pair) -> list[SqlLedger]:
    return [SqlLedger(database) for database in compactor_sql_pair]


async def fill(ledger: SqlLedger, tenant: str, count: int, agents: int = 1) -> None:
    jobs = [new(f"k{n}", f"a{n % agents}") for n in range(count)]
    for start in range(0, count, 500):
        await ledger.enqueue(tenant, jobs[start : start + 500], 5, T0)


async def drain(ledger: SqlLedger, owner: str, claimed: list[Job], limit: int = 64) -> None:
    while jobs := await ledger.claim(owner, limit, LEASE, T0):
        claimed += jobs
        assert await ledger.settle([succeeded(job) for job in jobs], T0) == {job.id for job in jobs}


async def test_workers_of_two_processes_do_each_job_once(ledgers: list[SqlLedger]) -> None:
    for tenant in ("acme", "other", "third"):
        await fill(ledgers[0], tenant, 150, agents=3)
    claimed: list[Job] = []
    await asyncio.gather(*(drain(ledgers[n % 2], f"w{n}", claimed, limit=7) for n in range(6)))
    await drain(ledgers[0], "last", claimed)  # one that found nobody free went home
    assert len(claimed) == len({job.id for job in claimed}) == 450
    assert {job.fence for job in claimed} == {1}


async def test_the_same_keys_at_once_make_one_job_each(ledgers: list[SqlLedger]) -> None:
    """SV-5: Enqueue is idempotent, also for a tenant that is new to both processes."""
    jobs = [new(f"k{n}", f"a{n % 3}") for n in range(20)]
    found = await asyncio.gather(*(ledgers[n % 2].enqueue("acme", jobs, 5, T0) for n in range(8)))
    assert len({tuple(ids) for ids in found}) == 1
    assert (await ledgers[0].counts(ACME))[JobState.QUEUED] == 20


@pytest.mark.parametrize("limit", [1, 64])
async def test_a_small_tenant_is_done_in_twice_its_time_beside_a_huge_one(
    ledgers: list[SqlLedger], limit: int
) -> None:
    """J-4: 10 jobs beside 10,000, counted in jobs claimed: at most 2 × solo + 1 claim."""
    await fill(ledgers[0], "huge", 10_000)
    small = [new(f"s{n}") for n in range(10)]
    await ledgers[0].enqueue("small", small, 5, T0)
    solo = -(-10 // limit)
    left, claims = 10, 0
    while left:
        jobs = await ledgers[claims % 2].claim("w", limit, LEASE, T0)
        claims += 1
        left -= sum(job.tenant == "small" for job in jobs)
        await ledgers[0].settle([succeeded(job) for job in jobs], T0)
    assert claims <= 2 * solo + 1


async def test_many_small_tenants_take_turns(ledgers: list[SqlLedger]) -> None:
    """J-4: in each round, everybody once."""
    names = [f"t{n}" for n in range(7)]
    for name in names:
        await fill(ledgers[0], name, 3)
    turns = [(await ledgers[n % 2].claim("w", 1, LEASE, T0))[0].tenant for n in range(21)]
    for start in range(0, 21, 7):
        assert sorted(turns[start : start + 7]) == names


async def test_a_newcomer_gets_its_turn_and_no_more(ledgers: list[SqlLedger]) -> None:
    """J-4: having waited for nothing, it owes nothing and is owed nothing."""
    await fill(ledgers[0], "old", 40)
    for _ in range(20):
        await ledgers[0].claim("w", 1, LEASE, T0)
    await fill(ledgers[1], "new", 20)
    turns = [(await ledgers[n % 2].claim("w", 1, LEASE, T0))[0].tenant for n in range(8)]
    assert turns == ["new", "old"] * 4


async def test_a_tenant_has_so_many_claims_and_no_more(compactor_sql_pair: Pair) -> None:
    """J-4: over all processes; what is settled, or whose lease ended, makes room."""
    ledgers = [SqlLedger(database, tenant_slots=2) for database in compactor_sql_pair]
    await fill(ledgers[0], "big", 20, agents=4)
    await fill(ledgers[0], "small", 1)
    found = await asyncio.gather(*(ledgers[n % 2].claim(f"w{n}", 2, LEASE, T0) for n in range(8)))
    taken = [jobs for jobs in found if jobs]
    for _ in range(3):  # whoever found everybody busy asks again
        taken += [jobs for jobs in [await ledgers[0].claim("w", 2, LEASE, T0)] if jobs]
    assert Counter(jobs[0].tenant for jobs in taken) == {"big": 2, "small": 1}
    big, small = ([jobs for jobs in taken if jobs[0].tenant == name] for name in ("big", "small"))
    await ledgers[1].settle([succeeded(job) for job in (*big[0], *small[0])], T0)
    assert len(await ledgers[0].claim("w", 2, LEASE, T0)) == 2
    assert await ledgers[1].claim("w", 2, LEASE, T0) == []
    later = T0 + LEASE
    assert len(await ledgers[1].claim("w", 2, LEASE, later)) == 2, "no lease holds any more"


async def test_who_follows_the_changes_of_many_writers_misses_none(ledgers: list[SqlLedger]) -> None:
    """J-2: revisions become visible in their order, whoever commits first."""
    dice = random.Random(4)
    writing = True

    async def write(number: int) -> None:
        ledger = ledgers[number % 2]
        for step in range(12):
            await ledger.enqueue("acme", [new(f"{number}/{step}/{n}", f"a{n}") for n in range(3)], 5, T0)
            jobs = await ledger.claim(f"w{number}", 2, LEASE, T0)
            if dice.random() < 0.5:
                await ledger.settle([succeeded(job) for job in jobs], T0)
            else:
                await ledger.release(jobs, T0)
            try:
                for job in jobs:
                    await ledger.cancel(ACME.reach, job.id, T0)
            except JobStateConflict:
                continue

    async def follow(ledger: SqlLedger) -> Watcher:
        watcher, cursor, last = Watcher(), Cursor(), False
        while True:
            changes = await ledger.changes(ACME, cursor, 5)
            cursor = changes.cursor
            watcher.told(changes.jobs)
            if changes.complete and last:
                return watcher
            last = not writing

    followers = [asyncio.create_task(follow(ledgers[n % 2])) for n in range(4)]
    await asyncio.gather(*(write(n) for n in range(6)))
    writing = False
    present = await ledgers[0].page(ACME, None, 1_000)
    assert len(present) == 6 * 12 * 3
    for follower in followers:
        (await follower).check(present)


async def test_a_lease_that_ends_while_its_worker_settles_has_one_end(ledgers: list[SqlLedger]) -> None:
    """J-2: whoever comes first; the other is told that its claim does not hold."""
    for n in range(20):
        await ledgers[0].enqueue("acme", [new(f"k{n}")], 5, T0)
        (job,) = await ledgers[0].claim("w1", 1, LEASE, T0)
        settled, taken = await asyncio.gather(
            ledgers[0].settle([succeeded(job)], T0 + LEASE), ledgers[1].claim("w2", 1, LEASE, T0 + LEASE)
        )
        assert bool(settled) != bool(taken)
        if taken:
            assert await ledgers[1].settle([succeeded(taken[0])], T0 + LEASE) == {job.id}
    assert (await ledgers[0].counts(ACME))[JobState.SUCCEEDED] == 20


async def test_housekeeping_leaves_what_is_retried_meanwhile(ledgers: list[SqlLedger]) -> None:
    """J-15."""
    ids = await ledgers[0].enqueue("acme", [new(f"k{n}") for n in range(20)], 5, T0)
    for id_ in ids:
        await ledgers[0].cancel(ACME.reach, id_, T0)
    later = T0 + SECOND
    deleted, *retried = await asyncio.gather(
        ledgers[0].delete_finished(later, later, 100),
        *(ledgers[1].retry(ACME.reach, id_, T0) for id_ in ids[:10]),
        return_exceptions=True,
    )
    kept = [job for job in retried if isinstance(job, Job)]
    counts = await ledgers[0].counts(ACME)
    assert deleted == 20 - len(kept)
    assert counts[JobState.QUEUED] == sum(counts.values()) == len(kept)
