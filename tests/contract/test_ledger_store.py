"""The Ledger port over its adapters (SPEC J-1, J-2, J-3, J-4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from services.compactor.adapters.sql.ledger import SqlLedger
from services.compactor.app.ports import Cursor, Ledger, Query, Reach
from services.compactor.domain.ledger import (
    MOST_LONG,
    STEPS_BEHIND,
    TRANSITIONS,
    Backoff,
    Event,
    Job,
    JobState,
    NewJob,
    deferred,
    failed,
    given_up,
    succeeded,
)
from services.kit.errors import JobStateConflict, NotFound
from tests.contract.conftest import COMPACTOR, pair_of
from tests.memory_ledger import MemoryLedger

T0 = datetime(2026, 1, 1, 12, tzinfo=UTC)
LEASE = timedelta(seconds=60)
SECOND = timedelta(seconds=1)
BACKOFF = Backoff(base=SECOND, cap=60 * SECOND, random=lambda: 0.5)
ACME = Reach(tenant="acme")
ALL = Query(reach=ACME)
ATTEMPTS = 5


@pytest.fixture(params=["memory", "sqlite", "postgres"])
async def ledgers(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[Ledger, Ledger]]:
    """One ledger as two processes see it."""
    if request.param == "memory":
        yield (ledger := MemoryLedger()), ledger
        return
    async with pair_of(request, COMPACTOR, tmp_path / "compactor.db") as (one, other):
        yield SqlLedger(one), SqlLedger(other)


@pytest.fixture
def ledger(ledgers: tuple[Ledger, Ledger]) -> Ledger:
    return ledgers[0]


def new(
    key: str, *, agent: str = "a", type_: str = "index_message", after: timedelta | None = None
) -> NewJob:
    return NewJob(
        type=type_,
        agent_id=agent,
        subject=f"things/{key}",
        key=key,
        payload=b'{"n":1}',
        not_before=None if after is None else T0 + after,
    )


async def enqueue(ledger: Ledger, *jobs: NewJob, tenant: str = "acme", attempts: int = ATTEMPTS) -> list[str]:
    return await ledger.enqueue(tenant, jobs, attempts, T0)


async def claim(ledger: Ledger, now: datetime = T0, *, owner: str = "w1", limit: int = 64) -> list[Job]:
    return await ledger.claim(owner, limit, LEASE, now)


async def one_running(ledger: Ledger, attempts: int = ATTEMPTS) -> Job:
    await enqueue(ledger, new("k"), attempts=attempts)
    (job,) = await claim(ledger)
    return job


async def state(ledger: Ledger, job: Job) -> JobState:
    return (await ledger.get(ACME, job.id)).state


async def test_a_known_key_gives_the_same_job_unchanged(ledger: Ledger) -> None:
    """J-1: enqueueing is idempotent, within a call and between calls."""
    first = await enqueue(ledger, new("x"), new("y"), new("x"))
    assert first[0] == first[2] != first[1]
    (before,) = await claim(ledger, limit=1)
    again = await enqueue(ledger, new("z"), replace(new("x"), payload=b"{}", type="other"))
    assert again[1] == first[0]
    assert await ledger.get(ACME, first[0]) == before
    assert (await ledger.counts(ALL))[JobState.QUEUED] == 2


async def test_the_same_key_in_two_tenants_is_two_jobs(ledger: Ledger) -> None:
    (ours,) = await enqueue(ledger, new("x"))
    (theirs,) = await enqueue(ledger, new("x"), tenant="other")
    assert ours != theirs
    assert [job.id for job in await ledger.lookup(ACME, ["x", "unknown", "x"])] == [ours]


async def test_jobs_keep_what_they_were_made_of(ledger: Ledger) -> None:
    (id_,) = await enqueue(ledger, new("x", after=SECOND))
    job = await ledger.get(ACME, id_)
    assert (job.type, job.agent_id, job.subject, job.payload) == (
        "index_message",
        "a",
        "things/x",
        b'{"n":1}',
    )
    assert (job.state, job.attempt, job.max_attempts) == (JobState.QUEUED, 0, ATTEMPTS)
    assert (job.created, job.not_before, job.lease_end, job.finished) == (T0, T0 + SECOND, None, None)


async def test_a_claim_takes_one_group_and_no_more_than_asked(ledger: Ledger) -> None:
    """J-3: one call of a handler has jobs of one tenant, agent and type."""
    await enqueue(
        ledger, *(new(f"m{i}") for i in range(3)), new("n", type_="index_memory"), new("b", agent="b")
    )
    batches = [await claim(ledger, limit=2) for _ in range(5)]
    assert all(len({job.group for job in batch}) == 1 for batch in batches if batch)
    assert sorted(len(batch) for batch in batches) == [0, 1, 1, 1, 2]
    keys = [job.key for batch in batches for job in batch]
    assert sorted(keys) == ["b", "m0", "m1", "m2", "n"]


async def test_a_claim_counts_an_attempt_and_holds_a_lease(ledger: Ledger) -> None:
    job = await one_running(ledger)
    assert (job.state, job.attempt, job.owner, job.lease_end) == (JobState.RUNNING, 1, "w1", T0 + LEASE)
    assert job == await ledger.get(ACME, job.id)
    assert await claim(ledger, T0 + LEASE - SECOND) == []


async def test_jobs_of_a_group_are_claimed_in_the_order_of_their_enqueueing(ledger: Ledger) -> None:
    await enqueue(ledger, *(new(f"{i:03}") for i in range(100)))
    keys = [job.key for job in (*await claim(ledger), *await claim(ledger))]
    assert keys == sorted(keys)
    assert len(keys) == 100


async def test_a_delayed_job_waits_for_its_time(ledger: Ledger) -> None:
    await enqueue(ledger, new("later", after=10 * SECOND))
    assert await claim(ledger, T0 + 9 * SECOND) == []
    assert [job.key for job in await claim(ledger, T0 + 10 * SECOND)] == ["later"]


async def test_an_expired_lease_is_taken_over_by_anybody(ledger: Ledger) -> None:
    """J-2: whatever the old worker was called, and whether it ever returns; the old one cannot settle."""
    old = await one_running(ledger)
    (taken,) = await claim(ledger, T0 + LEASE, owner="w2")
    assert (taken.id, taken.attempt, taken.owner) == (old.id, 2, "w2")
    late = T0 + LEASE + SECOND
    assert await ledger.settle([succeeded(old)], late) == set()
    assert await ledger.heartbeat([old], LEASE, late) == set()
    assert await ledger.release([old], late) == set()
    assert await ledger.get(ACME, old.id) == taken
    assert await ledger.settle([succeeded(taken)], late) == {taken.id}


async def test_a_late_verdict_counts_while_nobody_took_over(ledger: Ledger) -> None:
    job = await one_running(ledger)
    assert await ledger.settle([succeeded(job)], T0 + 10 * LEASE) == {job.id}
    assert await state(ledger, job) is JobState.SUCCEEDED


async def test_a_heartbeat_keeps_the_claim(ledger: Ledger) -> None:
    job = await one_running(ledger)
    assert await ledger.heartbeat([job], LEASE, T0 + 40 * SECOND) == {job.id}
    assert await claim(ledger, T0 + LEASE) == []
    assert [again.id for again in await claim(ledger, T0 + 40 * SECOND + LEASE)] == [job.id]


async def test_a_lease_renewed_by_a_clock_that_went_back_ends_by_that_clock(ledger: Ledger) -> None:
    """J-2: nobody waits for the day that the clock had been ahead."""
    await ledger.enqueue("acme", [new("k")], ATTEMPTS, T0)
    (job,) = await ledger.claim("one", 8, LEASE, T0)
    yesterday = T0 - timedelta(days=1)
    assert await ledger.heartbeat([job], LEASE, yesterday) == {job.id}
    assert await ledger.claim("two", 8, LEASE, yesterday + LEASE - SECOND) == []
    (taken,) = await ledger.claim("two", 8, LEASE, yesterday + LEASE)
    assert taken.id == job.id


async def test_success_is_final_and_keeps_results(ledger: Ledger) -> None:
    job = await one_running(ledger)
    await ledger.settle([succeeded(job, ("r1", "r2"), "grammar-1 because timeout")], T0 + SECOND)
    done = await ledger.get(ACME, job.id)
    assert (done.state, done.progress, done.result_ids) == (JobState.SUCCEEDED, 1.0, ("r1", "r2"))
    assert done.engine == "grammar-1 because timeout"
    assert (done.finished, done.due, done.error) == (T0 + SECOND, None, "")
    for change in (ledger.cancel, ledger.retry):
        with pytest.raises(JobStateConflict):
            await change(ACME, job.id, T0)
    assert await ledger.settle([failed(job, "X", T0, BACKOFF)], T0) == set()


async def test_five_failures_kill_and_pauses_double(ledger: Ledger) -> None:
    """J-2: exponential backoff, 5 attempts, then dead."""
    await enqueue(ledger, new("k"))
    now, pauses = T0, []
    for attempt in range(1, ATTEMPTS + 1):
        (job,) = await claim(ledger, now)
        assert job.attempt == attempt
        await ledger.settle([failed(job, "INTERNAL: no", now, BACKOFF)], now)
        after = await ledger.get(ACME, job.id)
        assert after.error == "INTERNAL: no"
        if after.not_before is not None:
            pauses.append((after.not_before - now).total_seconds())
            assert await claim(ledger, after.not_before - timedelta(microseconds=1)) == []
            now = after.not_before
    assert pauses == [0.5, 1, 2, 4]
    assert await state(ledger, job) is JobState.DEAD
    assert await claim(ledger, T0 + 1000 * LEASE) == []


async def test_items_of_a_batch_are_settled_each_by_its_own(ledger: Ledger) -> None:
    await enqueue(ledger, *(new(f"k{i}") for i in range(4)))
    a, b, c, _ = await claim(ledger)
    verdicts = [succeeded(a), failed(b, "X: x", T0, BACKOFF), given_up(c, "Y: y")]
    assert await ledger.settle(verdicts, T0) == {a.id, b.id, c.id}
    assert dict(await ledger.counts(ALL)) == {
        JobState.QUEUED: 0,
        JobState.RUNNING: 1,
        JobState.SUCCEEDED: 1,
        JobState.FAILED: 1,
        JobState.DEAD: 1,
        JobState.CANCELLED: 0,
    }


async def test_a_deferred_attempt_does_not_count_and_its_group_pauses(ledger: Ledger) -> None:
    await enqueue(ledger, new("k1"), new("k2"), new("other", agent="b"))
    until = T0 + 10 * SECOND
    first, *_ = await claim(ledger, limit=1)
    await ledger.settle([deferred(first, "DEPENDENCY_DOWN: down", until)], T0)
    after = await ledger.get(ACME, first.id)
    assert (after.state, after.attempt, after.suspicion, after.deferred) == (JobState.FAILED, 0, 1, T0)
    assert [job.agent_id for job in await claim(ledger)] == ["b"], "other groups go on"
    await enqueue(ledger, new("k3"))
    assert await claim(ledger, until - SECOND) == []
    assert [job.key for job in await claim(ledger, until)] == ["k1", "k2", "k3"]


async def test_released_jobs_are_due_at_once_and_lose_no_attempt(ledger: Ledger) -> None:
    job = await one_running(ledger)
    assert await ledger.release([job], T0) == {job.id}
    (again,) = await claim(ledger, owner="w2")
    assert (again.attempt, again.suspicion) == (1, 0)
    assert await ledger.settle([succeeded(job)], T0) == set(), "same attempt number, but not the same claim"
    assert await state(ledger, job) is JobState.RUNNING


async def test_a_process_frees_the_leases_of_its_former_self_only(ledger: Ledger) -> None:
    """J-1. The attempt counts, or a job that kills its process would live for ever."""
    await enqueue(ledger, new("mine"), new("theirs", agent="b"))
    (mine,), (theirs,) = await claim(ledger, owner="me"), await claim(ledger, owner="them")
    assert await ledger.free_leases("me", T0 + SECOND) == 1
    assert await state(ledger, theirs) is JobState.RUNNING
    (again,) = await claim(ledger, T0 + SECOND, owner="me")
    assert (again.id, again.attempt) == (mine.id, 2)
    assert await ledger.free_leases("nobody", T0) == 0


@pytest.mark.parametrize("way", ["expiry", "restart"])
async def test_a_job_that_takes_its_worker_down_dies_alone(ledger: Ledger, way: str) -> None:
    """J-3: one bad item costs one item, even when it kills the process every time."""
    await enqueue(ledger, *(new(f"k{i}") for i in range(64)))
    now, rounds = T0, 0
    while True:
        rounds += 1
        assert rounds < 200
        batch = await claim(ledger, now)
        if not batch:
            break
        if any(job.key == "k3" for job in batch):
            now += LEASE if way == "expiry" else SECOND
            if way == "restart":
                await ledger.free_leases("w1", now)
        else:
            await ledger.settle([succeeded(job) for job in batch], now)
    states = {job.key: job.state for job in await ledger.page(ALL, None, 100)}
    assert states.pop("k3") is JobState.DEAD
    assert set(states.values()) == {JobState.SUCCEEDED}


async def test_a_cancelled_running_job_discards_its_verdict(ledger: Ledger) -> None:
    job = await one_running(ledger)
    cancelled = await ledger.cancel(ACME, job.id, T0)
    assert (cancelled.state, cancelled.finished, cancelled.due) == (JobState.CANCELLED, T0, None)
    assert await ledger.cancel(ACME, job.id, T0 + SECOND) == cancelled, "again is no change"
    assert await ledger.settle([succeeded(job, ("r",))], T0) == set()
    assert await ledger.get(ACME, job.id) == cancelled


async def test_a_stale_verdict_does_not_reach_a_retried_job(ledger: Ledger) -> None:
    """J-1: the fence never goes back, though a retry gives all attempts again."""
    old = await one_running(ledger)
    await ledger.cancel(ACME, old.id, T0)
    assert (await ledger.retry(ACME, old.id, T0)).state is JobState.QUEUED
    (fresh,) = await claim(ledger)
    assert fresh.attempt == old.attempt
    assert await ledger.settle([given_up(old, "X: x")], T0) == set()
    assert await ledger.settle([succeeded(fresh)], T0) == {fresh.id}


async def test_a_dead_job_can_be_retried_with_all_its_attempts(ledger: Ledger) -> None:
    job = await one_running(ledger, attempts=1)
    await ledger.settle([failed(job, "X: x", T0, BACKOFF)], T0)
    assert await state(ledger, job) is JobState.DEAD
    with pytest.raises(JobStateConflict):
        await ledger.cancel(ACME, job.id, T0)
    queued = await ledger.retry(ACME, job.id, T0 + SECOND)
    assert (queued.state, queued.attempt, queued.error, queued.finished) == (JobState.QUEUED, 0, "", None)
    assert len(await claim(ledger, T0 + SECOND)) == 1


async def test_every_transition_is_as_the_table_says(ledger: Ledger) -> None:
    """J-2: cancel and retry in every state, against the written table."""
    await enqueue(ledger, new("failed"), new("dead"), new("succeeded"), new("cancelled"), new("running"))
    jobs = {job.key: job for job in await claim(ledger)}
    await ledger.settle(
        [
            failed(jobs["failed"], "X", T0, BACKOFF),
            given_up(jobs["dead"], "X"),
            succeeded(jobs["succeeded"]),
        ],
        T0,
    )
    await ledger.cancel(ACME, jobs["cancelled"].id, T0)
    await enqueue(ledger, new("queued"))
    found = {job.state: job.id for job in await ledger.page(ALL, None, 10)}
    assert set(found) == set(JobState)
    for before, id_ in found.items():
        for event, change in ((Event.RETRY, ledger.retry), (Event.CANCEL, ledger.cancel)):
            at = (await ledger.get(ACME, id_)).state
            expected = TRANSITIONS[event].get(at)
            if expected is None:
                with pytest.raises(JobStateConflict):
                    await change(ACME, id_, T0)
            else:
                assert (await change(ACME, id_, T0)).state is expected, (before, event)


async def test_claims_rotate_over_tenants_then_agents(ledger: Ledger) -> None:
    """J-4: a tenant with few jobs does not wait behind another's many."""
    await enqueue(ledger, *(new(f"m{i}") for i in range(300)), tenant="big")
    await enqueue(
        ledger, *(new(f"a{i}", agent="a") for i in range(4)), *(new(f"b{i}", agent="b") for i in range(2))
    )
    turns = [(await claim(ledger, limit=2))[0].group for _ in range(6)]
    assert [group.tenant for group in turns].count("acme") == 3
    assert [(g.tenant, g.agent_id) for g in turns if g.tenant == "acme"][:2] == [("acme", "a"), ("acme", "b")]
    assert all(one.tenant != two.tenant for one, two in pairwise(turns))


async def test_indexing_goes_first_and_never_keeps_the_rest_from_its_turn(ledger: Ledger) -> None:
    """J-4, S-16: callers wait for what is indexed."""
    await enqueue(ledger, *(new(f"i{i}") for i in range(200)))
    await enqueue(ledger, *(new(f"e{i}", type_="extract_messages") for i in range(3)))
    types = [job.type for _ in range(203) for job in await claim(ledger, limit=1)]
    assert Counter(types) == {"index_message": 200, "extract_messages": 3}
    turns = [place for place, type_ in enumerate(types) if type_ == "extract_messages"]
    assert all(STEPS_BEHIND - 2 < two - one < STEPS_BEHIND + 2 for one, two in pairwise(turns))


async def test_long_jobs_are_claimed_a_few_at_a_time(ledger: Ledger) -> None:
    """S-16: what callers wait for gets its turn in between."""
    await enqueue(ledger, *(new(f"r{i}", type_="refresh_summary") for i in range(MOST_LONG + 1)))
    first = await claim(ledger)
    await enqueue(ledger, *(new(f"i{i}") for i in range(MOST_LONG + 1)))
    claims = [first, await claim(ledger), await claim(ledger)]
    assert [(jobs[0].type, len(jobs)) for jobs in claims] == [
        ("refresh_summary", MOST_LONG),
        ("index_message", MOST_LONG + 1),
        ("refresh_summary", 1),
    ]


async def test_a_claim_leaves_types_to_others(ledger: Ledger) -> None:
    """S-16: of every tenant, whatever its turn; and what is left is there for whoever takes it."""
    left = frozenset({"verify_memory", "extract_messages"})
    for tenant in ("acme", "big"):
        await enqueue(ledger, *(new(f"v{i}", type_="verify_memory") for i in range(3)), tenant=tenant)
    await enqueue(ledger, new("e", type_="extract_messages"), new("r", type_="reflect_agent"), tenant="big")
    jobs = await ledger.claim("w", 64, LEASE, T0, but=left)
    assert [(job.tenant, job.key) for job in jobs] == [("big", "r")]
    assert await ledger.claim("w", 64, LEASE, T0, but=left) == []
    await enqueue(ledger, new("i"))
    assert [job.key for job in await ledger.claim("w", 64, LEASE, T0, but=left)] == ["i"]
    rest = [job.key for _ in range(3) for job in await claim(ledger)]
    assert sorted(rest) == ["e", "v0", "v0", "v1", "v1", "v2", "v2"]


async def test_a_tenant_and_a_limited_credential_see_their_own_only(ledger: Ledger) -> None:
    (ours,) = await enqueue(ledger, new("x"))
    (other_agent,) = await enqueue(ledger, new("y", agent="b"))
    (theirs,) = await enqueue(ledger, new("x"), tenant="other")
    limited = Reach(tenant="acme", agents=frozenset({"a"}))
    query = Query(reach=limited)
    assert [job.id for job in await ledger.page(query, None, 10)] == [ours]
    assert [job.id for job in await ledger.lookup(limited, ["x", "y"])] == [ours]
    assert [job.id for job in (await ledger.changes(query, Cursor(), 10)).jobs] == [ours]
    assert (await ledger.counts(query))[JobState.QUEUED] == 1
    assert (await ledger.get(limited, ours)).key == "x"
    for hidden in (other_agent, theirs):
        for read in (
            ledger.get(limited, hidden),
            ledger.cancel(limited, hidden, T0),
            ledger.retry(limited, hidden, T0),
        ):
            with pytest.raises(NotFound):
                await read
    nothing = Query(reach=Reach(tenant="acme", agents=frozenset()))
    assert await ledger.page(nothing, None, 10) == []


async def test_pages_go_from_new_to_old_without_gaps(ledger: Ledger) -> None:
    ids = await enqueue(ledger, *(new(f"k{i}") for i in range(7)))
    seen: list[str] = []
    before: str | None = None
    while page := await ledger.page(ALL, before, 3):
        seen += [job.id for job in page]
        before = page[-1].id
    assert seen == sorted(ids, reverse=True)


async def test_filters_by_state_and_type(ledger: Ledger) -> None:
    await enqueue(ledger, new("m"), new("n", type_="index_memory"), new("o", type_="index_memory"))
    batch = await claim(ledger, limit=1)
    await ledger.settle([given_up(job, "X: x") for job in batch], T0)

    async def keys(**filters: frozenset[JobState] | frozenset[str]) -> set[str]:
        query = replace(ALL, **filters)  # type: ignore[arg-type]
        page = await ledger.page(query, None, 10)
        changes = await ledger.changes(query, Cursor(), 10)
        assert {job.id for job in page} == {job.id for job in changes.jobs}
        return {job.key for job in page}

    dead = {job.key for job in batch}
    assert await keys(types=frozenset({"index_memory"})) == {"n", "o"}
    assert await keys(states=frozenset({JobState.DEAD})) == dead
    assert await keys(states=frozenset({JobState.DEAD, JobState.QUEUED})) == {"m", "n", "o"}
    assert await keys(states=frozenset({JobState.RUNNING})) == set()
    counts = await ledger.counts(replace(ALL, types=frozenset({"index_memory"})))
    assert sum(counts.values()) == 2


async def test_changes_come_once_each_as_they_are_now(ledger: Ledger) -> None:
    await enqueue(ledger, *(new(f"k{i}") for i in range(5)))
    first = await ledger.changes(ALL, Cursor(), 3)
    rest = await ledger.changes(ALL, first.cursor, 3)
    assert [job.key for job in (*first.jobs, *rest.jobs)] == [f"k{i}" for i in range(5)]
    assert (first.complete, rest.complete) == (False, True)
    none = await ledger.changes(ALL, rest.cursor, 3)
    assert (list(none.jobs), none.complete) == ([], True)
    (job,) = await claim(ledger, limit=1)
    await ledger.settle([succeeded(job)], T0)
    news = await ledger.changes(ALL, none.cursor, 3)
    assert [(j.key, j.state) for j in news.jobs] == [(job.key, JobState.SUCCEEDED)], "coalesced"
    assert news.jobs[0].revision > job.revision > rest.jobs[0].revision
    assert news.counts[JobState.SUCCEEDED] == 1


async def test_old_ends_are_deleted_in_steps_and_free_their_keys(ledger: Ledger) -> None:
    """J-15: finished jobs go first, dead ones later, others never."""
    await enqueue(ledger, *(new(f"k{i}") for i in range(6)))
    a, b, c, d, e, _ = await claim(ledger)
    await ledger.settle([succeeded(a), succeeded(b), succeeded(c), given_up(d, "X: x")], T0)
    await ledger.cancel(ACME, e.id, T0)
    assert await ledger.delete_finished(T0, T0, 10) == 0
    later = T0 + SECOND
    assert await ledger.delete_finished(later, T0, 3) == 3
    assert await ledger.delete_finished(later, T0, 3) == 1
    counts = await ledger.counts(ALL)
    assert (counts[JobState.DEAD], counts[JobState.RUNNING], sum(counts.values())) == (1, 1, 2)
    assert await ledger.delete_finished(later, later, 3) == 1
    assert (await enqueue(ledger, new("k0")))[0] != a.id


async def test_clocks_that_jump_lose_nothing(ledger: Ledger) -> None:
    """J-1: time is passed in; back or forth, a job ends once."""
    await enqueue(ledger, new("k1"), new("k2"))
    (one,) = await claim(ledger, T0, limit=1)
    assert await claim(ledger, T0 - timedelta(days=1)) == [], "not before its time on this clock"
    (two,) = await claim(ledger, T0, limit=1)
    back = T0 - timedelta(hours=1)
    assert await ledger.settle([failed(one, "X: x", back, BACKOFF)], back) == {one.id}
    forth = T0 + timedelta(days=365)
    jobs = [*await claim(ledger, forth, owner="w2"), *await claim(ledger, forth, owner="w2")]
    assert {job.id for job in jobs} == {one.id, two.id}
    assert len(await ledger.settle([succeeded(job) for job in jobs], back)) == 2
    assert (await ledger.counts(ALL))[JobState.SUCCEEDED] == 2
