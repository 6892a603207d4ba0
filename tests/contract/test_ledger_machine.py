"""Random lives of jobs in every ledger, against a small model (SPEC J-1, J-2, J-4, J-15).

Two workers, in two processes, two tenants, a clock that jumps. No job is lost, none is in two ends, none is
stuck; nothing settles under an old fence; counters are true; who follows the changes misses none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from services.compactor.adapters.sql.ledger import SqlLedger
from services.compactor.app.ports import Cursor, Ledger, Query, Reach
from services.compactor.domain.ledger import (
    ACTIVE,
    FINAL,
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
from services.kit.errors import JobStateConflict
from services.kit.postgres import Postgres
from services.kit.sql import Script, SqlDatabase, execute
from services.kit.sqlite import Database, SqliteScripts
from tests.contract.conftest import COMPACTOR
from tests.contract.ledger_model import Key, Model, Watcher
from tests.memory_ledger import MemoryLedger
from tests.postgres_server import SharedServer

T = TypeVar("T")
START = datetime(2026, 1, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)
LEASE = 30 * SECOND
ATTEMPTS = 3
SLOTS = 2
OWNERS = ("one", "two")
TENANTS = ("acme", "other")
TYPES = {"a": "verify_memory", "b": "t"}
"""Of each agent's jobs: a claim may leave one to others."""
POISON = "k0"
"""Takes its worker down, in the end."""
BACKOFF = Backoff(base=SECOND, cap=4 * SECOND, random=lambda: 0.5)
VERDICT_OF = {
    "succeed": lambda job, now: succeeded(job),
    "succeed_with_results": lambda job, now: succeeded(job, ("r",)),
    "fail": lambda job, now: failed(job, "INTERNAL: x", now, BACKOFF),
    "defer": lambda job, now: deferred(job, "DEPENDENCY_DOWN: x", now + 2 * SECOND),
    "give_up": lambda job, now: given_up(job, "INTERNAL: x"),
}
TABLES = ("jobs", "groups", "tenants", "progress")


@dataclass(slots=True)
class Engine:
    """A ledger as two processes see it; `fresh` empties it. Its work runs on `runner`."""

    runner: asyncio.Runner
    fresh: Callable[[], Coroutine[Any, Any, tuple[Ledger, Ledger]]]


class LedgerMachine(RuleBasedStateMachine):
    """See the module."""

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self.engine = engine
        self.now = START
        self.model = Model(attempts=ATTEMPTS, slots=SLOTS)
        self.claims: list[Job] = []
        self.watchers = {tenant: Watcher() for tenant in TENANTS}
        self.cursors = dict.fromkeys(TENANTS, Cursor())
        self.ledgers: dict[str, Ledger] = {}

    @initialize()
    def begin(self) -> None:
        self.ledgers = dict(zip(OWNERS, self.run(self.engine.fresh()), strict=True))
        for tenant in TENANTS:
            for first, agent in enumerate("ab"):
                self.enqueue(OWNERS[0], tenant, agent, [first, first + 2, first + 4], 0)
        self.claims += self.take(OWNERS[0], 2)

    @property
    def ledger(self) -> Ledger:
        return self.ledgers[OWNERS[0]]

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.engine.runner.run(work)

    def teardown(self) -> None:
        if self.ledgers:
            self.finish()

    def finish(self) -> None:
        """None is stuck: a patient worker brings every job to an end, but for one that takes it down."""
        self.now = max(self.now, *(entry.due for entry in self.model.jobs.values() if entry.due), START)
        for _ in range(500):
            jobs = self.take("last", 64)
            if jobs and POISON not in {job.key for job in jobs}:
                assert self.run(self.ledger.settle([succeeded(job) for job in jobs], self.now))
                for job in jobs:
                    self.model.settled(job, succeeded(job), self.now)
            elif jobs:
                self.now += LEASE
            elif not any(entry.state in ACTIVE for entry in self.model.jobs.values()):
                break
            else:
                self.now += SECOND
        jobs = self.all()
        self.model.check(jobs)
        assert {job.state for job in jobs} <= FINAL
        for tenant in TENANTS:
            self.watch(tenant, 1_000)

    def all(self) -> list[Job]:
        return [job for tenant in TENANTS for job in self.run(self.ledger.page(query(tenant), None, 1_000))]

    @rule(
        owner=st.sampled_from(OWNERS),
        tenant=st.sampled_from(TENANTS),
        agent=st.sampled_from("ab"),
        numbers=st.lists(st.integers(0, 12), min_size=1, max_size=5),
        delay=st.integers(0, 3),
    )
    def enqueue(self, owner: str, tenant: str, agent: str, numbers: list[int], delay: int) -> None:
        due = self.now + delay * SECOND if delay else None
        jobs = [
            NewJob(type=TYPES[agent], agent_id=agent, subject="s", key=f"k{n}", not_before=due)
            for n in numbers
        ]
        ids = self.run(self.ledgers[owner].enqueue(tenant, jobs, ATTEMPTS, self.now))
        self.model.enqueued(tenant, jobs, ids, self.now)

    @rule(
        owner=st.sampled_from(OWNERS),
        limit=st.integers(1, 4),
        but=st.sampled_from(["", *TYPES.values()]),
    )
    def claim(self, owner: str, limit: int, but: str) -> None:
        self.claims += self.take(owner, limit, frozenset({but} - {""}))

    def take(self, owner: str, limit: int, but: frozenset[str] = frozenset()) -> list[Job]:
        ledger = self.ledgers.get(owner, self.ledger)
        jobs = self.run(ledger.claim(owner, limit, LEASE, self.now, but=but))
        assert len(jobs) <= limit
        assert not any(job.type in but for job in jobs)
        self.model.claimed(jobs, owner, LEASE, self.now)
        self.model.buried((job for job in self.all() if job.state is JobState.DEAD), self.now)
        left = [entry for entry in self.model.left(self.now) if TYPES[entry.agent] not in but]
        assert jobs or not left, "what is due is given to whoever asks"
        return jobs

    @rule(limit=st.integers(1, 3))
    def claim_as_much_as_may_be(self, limit: int) -> None:
        for _ in range(len(TENANTS) * SLOTS + 1):
            self.claims += self.take(OWNERS[0], limit)

    @precondition(lambda self: self.claims)
    @rule()
    def take_over(self) -> None:
        self.now += LEASE
        self.claims += self.take(OWNERS[1], 4)

    @precondition(lambda self: self.stale())
    @rule(data=st.data(), kind=st.sampled_from(sorted(VERDICT_OF)), way=st.integers(0, 2))
    def act_under_an_old_fence(self, data: st.DataObject, kind: str, way: int) -> None:
        """Of a job that runs, under a newer one."""
        job, ledger = data.draw(st.sampled_from(self.stale())), self.ledgers[OWNERS[0]]
        calls = (
            lambda: ledger.settle([VERDICT_OF[kind](job, self.now)], self.now),
            lambda: ledger.heartbeat([job], LEASE, self.now),
            lambda: ledger.release([job], self.now),
        )
        assert self.run(calls[way]()) == set()

    def stale(self) -> list[Job]:
        """Claims of jobs that run, but not under them."""
        running = {entry.id for entry in self.model.jobs.values() if entry.state is JobState.RUNNING}
        return [job for job in self.claims if job.id in running and not self.model.holds(job)]

    @precondition(lambda self: self.claims)
    @rule(data=st.data(), owner=st.sampled_from(OWNERS), kind=st.sampled_from(sorted(VERDICT_OF)))
    def settle(self, data: st.DataObject, owner: str, kind: str) -> None:
        one_of = st.sampled_from(self.claims)
        chosen = data.draw(st.lists(one_of, min_size=1, max_size=4, unique_by=lambda job: job.id))
        verdicts = [VERDICT_OF[kind](job, self.now) for job in chosen]
        counted = self.run(self.ledgers[owner].settle(verdicts, self.now))
        assert counted == {job.id for job in chosen if self.model.holds(job)}
        for job, verdict in zip(chosen, verdicts, strict=True):
            if job.id in counted:
                self.model.settled(job, verdict, self.now)

    @precondition(lambda self: self.claims)
    @rule(data=st.data(), owner=st.sampled_from(OWNERS), heartbeat=st.booleans())
    def release_or_renew(self, data: st.DataObject, owner: str, heartbeat: bool) -> None:
        job = data.draw(st.sampled_from(self.claims))
        ledger, held = self.ledgers[owner], {job.id} if self.model.holds(job) else set()
        if heartbeat:
            assert self.run(ledger.heartbeat([job], LEASE, self.now)) == held
            if held:
                self.model.renewed(job, self.now + LEASE)
        else:
            assert self.run(ledger.release([job], self.now)) == held
            if held:
                self.model.released(job, self.now)

    @precondition(lambda self: self.model.jobs)
    @rule(data=st.data(), owner=st.sampled_from(OWNERS), event=st.sampled_from([Event.CANCEL, Event.RETRY]))
    def change(self, data: st.DataObject, owner: str, event: Event) -> None:
        key: Key = data.draw(st.sampled_from(sorted(self.model.jobs)))
        ledger, id_ = self.ledgers[owner], self.model.jobs[key].id
        call = ledger.cancel if event is Event.CANCEL else ledger.retry
        try:
            self.run(call(Reach(tenant=key[0]), id_, self.now))
        except JobStateConflict:
            assert not self.model.changed(key, event, self.now)
        else:
            assert self.model.changed(key, event, self.now)
        self.watch(key[0], 1_000)

    @rule(owner=st.sampled_from(OWNERS))
    def restart(self, owner: str) -> None:
        freed = self.run(self.ledgers[owner].free_leases(owner, self.now))
        assert freed == self.model.restarted(owner, self.now)

    @rule(seconds=st.sampled_from([-86_400, -20, 1, 2, 5, 31, 86_400]))
    def pass_time(self, seconds: int) -> None:
        self.now += seconds * SECOND

    @rule(owner=st.sampled_from(OWNERS), seconds=st.integers(0, 60), dead_seconds=st.integers(0, 60))
    def keep_house(self, owner: str, seconds: int, dead_seconds: int) -> None:
        before, dead_before = self.now - seconds * SECOND, self.now - dead_seconds * SECOND
        deleted = self.run(self.ledgers[owner].delete_finished(before, dead_before, 1_000))
        assert deleted == self.model.deleted(before, dead_before)

    @rule(tenant=st.sampled_from(TENANTS), limit=st.integers(1, 5))
    def watch(self, tenant: str, limit: int) -> None:
        changes = self.run(self.ledger.changes(query(tenant), self.cursors[tenant], limit))
        self.cursors[tenant] = changes.cursor
        self.watchers[tenant].told(changes.jobs)
        assert dict(changes.counts) == self.model.counts(tenant)
        if changes.complete:
            self.watchers[tenant].check([job for job in self.all() if job.tenant == tenant])

    @invariant()
    def every_job_is_as_the_model_says(self) -> None:
        if self.ledgers:
            self.model.check(self.all())


def query(tenant: str) -> Query:
    return Query(reach=Reach(tenant=tenant))


def emptied() -> Script[None]:
    for table in TABLES:
        yield from execute(f"DELETE FROM {table}")


@contextmanager
def engine_of(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()

        async def databases() -> tuple[SqlDatabase, SqlDatabase]:
            if name == "sqlite":
                file = await Database.open(tmp_path / "compactor.db", COMPACTOR / name, synchronous="NORMAL")
                stack.push_async_callback(file.close)
                return (scripts := SqliteScripts(file)), scripts
            server: SharedServer = request.getfixturevalue("postgres_server")
            url = await stack.enter_async_context(server.database(COMPACTOR / name))
            replicas = [await Postgres.open(url, COMPACTOR / name, pool_size=2) for _ in range(2)]
            for replica in replicas:
                stack.push_async_callback(replica.close)
            return replicas[0], replicas[1]

        async def in_memory() -> tuple[Ledger, Ledger]:
            return (ledger := MemoryLedger(tenant_slots=SLOTS)), ledger

        if name == "memory":
            yield Engine(runner, in_memory)
            return
        pair = runner.run(databases())

        async def fresh() -> tuple[Ledger, Ledger]:
            await pair[0].write(emptied)
            return SqlLedger(pair[0], tenant_slots=SLOTS), SqlLedger(pair[1], tenant_slots=SLOTS)

        try:
            yield Engine(runner, fresh)
        finally:
            runner.run(stack.aclose())


EXAMPLES = {"memory": 30, "sqlite": 30, "postgres": 12}


@pytest.mark.parametrize("engine", EXAMPLES)
def test_random_lives_are_as_the_model_says(
    engine: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """J-1, J-2, J-4, J-15."""
    rules = settings(
        max_examples=EXAMPLES[engine],
        stateful_step_count=40,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    with engine_of(engine, request, tmp_path) as made:
        run_state_machine_as_test(lambda: LedgerMachine(made), settings=rules)  # type: ignore[no-untyped-call]
