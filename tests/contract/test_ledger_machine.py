"""Random lives of jobs in every ledger, against the table (SPEC J-1, J-2).

No job is lost, none is in two ends, none is stuck; counters are true; every change is one that the table
allows, and nothing settles under an old fence.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from services.compactor.adapters.memory import MemoryLedger
from services.compactor.adapters.sqlite import SqliteLedger, open_database
from services.compactor.app.ports import Cursor, Ledger, Query, Reach
from services.compactor.domain.ledger import (
    ACTIVE,
    FINAL,
    TRANSITIONS,
    Backoff,
    Event,
    Job,
    JobState,
    NewJob,
    Settlement,
    deferred,
    failed,
    given_up,
    succeeded,
    target,
)
from services.kit.errors import JobStateConflict

T = TypeVar("T")
START = datetime(2026, 1, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)
LEASE = 30 * SECOND
ATTEMPTS = 3
OWNERS = ("one", "two")
TENANTS = ("acme", "other")
BACKOFF = Backoff(base=SECOND, cap=4 * SECOND, random=lambda: 0.5)
VERDICT_OF = {
    "succeed": lambda job, now: succeeded(job, ("r",)),
    "fail": lambda job, now: failed(job, "INTERNAL: x", now, BACKOFF),
    "defer": lambda job, now: deferred(job, "DEPENDENCY_DOWN: x", now + 2 * SECOND),
    "give_up": lambda job, now: given_up(job, "INTERNAL: x"),
}
# One step may stand for two events: a claim buries jobs of its group, freeing ends last attempts.
REACHABLE = {(before, after) for moves in TRANSITIONS.values() for before, after in moves.items()}


class LedgerMachine(RuleBasedStateMachine):
    """Two workers, two tenants, and a clock that may jump back."""

    def make(self, stack: AsyncExitStack) -> Coroutine[Any, Any, Ledger]:
        raise NotImplementedError

    @initialize()
    def begin(self) -> None:
        self.runner = asyncio.Runner()
        self.stack = AsyncExitStack()
        self.ledger = self.run(self.make(self.stack))
        self.now = START
        self.keys: dict[tuple[str, str], str] = {}
        self.seen: dict[str, Job] = {}
        self.claims: list[Job] = []

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    def teardown(self) -> None:
        if not hasattr(self, "runner"):
            return
        try:
            self.finish()
        finally:
            self.run(self.stack.aclose())
            self.runner.close()

    def finish(self) -> None:
        """None is stuck: a patient worker brings every job to an end."""
        for _ in range(400):
            self.now += SECOND
            jobs = self.run(self.ledger.claim("last", 64, LEASE, self.now))
            if jobs:
                assert self.run(self.ledger.settle([succeeded(job) for job in jobs], self.now))
        assert {job.state for job in self.all()} <= FINAL

    def all(self) -> list[Job]:
        return [job for tenant in TENANTS for job in self.run(self.ledger.page(query(tenant), None, 1_000))]

    @rule(
        tenant=st.sampled_from(TENANTS),
        agent=st.sampled_from("ab"),
        numbers=st.lists(st.integers(0, 12), min_size=1, max_size=5),
        delay=st.integers(0, 3),
    )
    def enqueue(self, tenant: str, agent: str, numbers: list[int], delay: int) -> None:
        due = self.now + delay * SECOND if delay else None
        jobs = [NewJob(type="t", agent_id=agent, subject="s", key=f"k{n}", not_before=due) for n in numbers]
        ids = self.run(self.ledger.enqueue(tenant, jobs, ATTEMPTS, self.now))
        for number, id_ in zip(numbers, ids, strict=True):
            assert self.keys.setdefault((tenant, f"k{number}"), id_) == id_

    @rule(owner=st.sampled_from(OWNERS), limit=st.integers(1, 4))
    def claim(self, owner: str, limit: int) -> None:
        before = {job.id: job for job in self.all()}
        jobs = self.run(self.ledger.claim(owner, limit, LEASE, self.now))
        assert len({job.group for job in jobs}) <= 1
        assert len(jobs) <= limit
        for job in jobs:
            old = before[job.id]
            assert old.due is not None
            assert old.due <= self.now
            assert (job.fence, job.attempt) == (old.fence + 1, old.attempt + 1)
            assert job.attempt <= job.max_attempts
        self.claims += jobs

    @precondition(lambda self: self.claims)
    @rule(data=st.data(), kind=st.sampled_from(sorted(VERDICT_OF)))
    def settle(self, data: st.DataObject, kind: str) -> None:
        chosen = data.draw(
            st.lists(st.sampled_from(self.claims), min_size=1, max_size=4, unique_by=lambda j: j.id)
        )
        present = {job.id: job for job in self.all()}
        verdicts: list[Settlement] = [VERDICT_OF[kind](job, self.now) for job in chosen]
        counted = self.run(self.ledger.settle(verdicts, self.now))
        assert counted == {job.id for job in chosen if holds(job, present)}

    @precondition(lambda self: self.claims)
    @rule(data=st.data(), heartbeat=st.booleans())
    def release_or_renew(self, data: st.DataObject, heartbeat: bool) -> None:
        job = data.draw(st.sampled_from(self.claims))
        expected = {job.id} if holds(job, {j.id: j for j in self.all()}) else set()
        if heartbeat:
            assert self.run(self.ledger.heartbeat([job], LEASE, self.now)) == expected
        else:
            assert self.run(self.ledger.release([job], self.now)) == expected

    @precondition(lambda self: self.keys)
    @rule(data=st.data(), event=st.sampled_from([Event.CANCEL, Event.RETRY]))
    def change(self, data: st.DataObject, event: Event) -> None:
        (tenant, _), id_ = data.draw(st.sampled_from(sorted(self.keys.items())))
        reach = Reach(tenant=tenant)
        before = self.run(self.ledger.get(reach, id_)).state
        call = self.ledger.cancel if event is Event.CANCEL else self.ledger.retry
        try:
            after = self.run(call(reach, id_, self.now)).state
        except JobStateConflict:
            assert target(event, before) is None
        else:
            assert after is target(event, before)

    @rule(owner=st.sampled_from(OWNERS))
    def restart(self, owner: str) -> None:
        theirs = [job for job in self.all() if job.state is JobState.RUNNING and job.owner == owner]
        assert self.run(self.ledger.free_leases(owner, self.now)) == len(theirs)

    @rule(seconds=st.sampled_from([-20, 1, 2, 5, 31]))
    def pass_time(self, seconds: int) -> None:
        self.now += seconds * SECOND

    @invariant()
    def every_job_is_where_the_table_lets_it_be(self) -> None:
        if not hasattr(self, "ledger"):
            return
        jobs = {job.id: job for job in self.all()}
        assert set(self.keys.values()) == set(jobs), "none is lost, none appears"
        for job in jobs.values():
            assert (job.due is None) == (job.finished is not None) == (job.state in FINAL)
            assert 0 <= job.attempt <= job.max_attempts
            old = self.seen.get(job.id)
            if old is not None and old.state is not job.state:
                assert (old.state, job.state) in REACHABLE
                assert job.revision > old.revision
                assert job.fence >= old.fence
        self.seen = jobs

    @invariant()
    def counters_and_changes_are_true(self) -> None:
        if not hasattr(self, "ledger"):
            return
        for tenant in TENANTS:
            jobs = [job for job in self.all() if job.tenant == tenant]
            changes = self.run(self.ledger.changes(query(tenant), Cursor(), 1_000))
            assert sorted(job.id for job in changes.jobs) == sorted(job.id for job in jobs)
            states = Counter(job.state for job in jobs)
            assert dict(changes.counts) == {state: states[state] for state in JobState}


def query(tenant: str) -> Query:
    return Query(reach=Reach(tenant=tenant))


def holds(claim: Job, present: dict[str, Job]) -> bool:
    job = present[claim.id]
    return job.state is JobState.RUNNING and job.fence == claim.fence


class MemoryMachine(LedgerMachine):
    async def make(self, stack: AsyncExitStack) -> Ledger:
        return MemoryLedger()


class SqliteMachine(LedgerMachine):
    async def make(self, stack: AsyncExitStack) -> Ledger:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        database = await open_database(Path(folder) / "compactor.db")
        stack.push_async_callback(database.close)
        return SqliteLedger(database)


assert set(JobState) == ACTIVE | FINAL
RULES = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
TestMemoryLedger = MemoryMachine.TestCase
TestMemoryLedger.settings = settings(max_examples=40, stateful_step_count=30, **RULES)
TestSqliteLedger = SqliteMachine.TestCase
TestSqliteLedger.settings = settings(max_examples=20, stateful_step_count=30, **RULES)
