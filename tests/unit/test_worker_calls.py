"""The worker over the in-memory ledger: blame, outages, stops (SPEC J-1 to J-3)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

import pytest

from services.compactor.app.calls import HANDLER_FAULT, TOO_SLOW, UNKNOWN_TYPE, Calls, Rules
from services.compactor.app.ports import Done, Failed, Handler, Outcome, Query, Reach
from services.compactor.app.wake import LocalWake
from services.compactor.app.worker import Worker, WorkerRules
from services.compactor.domain.ledger import ACTIVE, Backoff, Job, JobState, NewJob
from services.kit.errors import DependencyDown, InvalidField, Overloaded
from tests.memory_ledger import MemoryLedger

TYPE, SLOW = "index_message", "verify_memory"
SECOND = timedelta(seconds=1)
REACH = Reach(tenant="acme")
ALL = Query(reach=REACH)


class Time:
    """A clock that tests move; each reading is a little later than the one before."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(microseconds=1)
        return self.now


class Script:
    """A handler that does what `act` says, and remembers its calls."""

    def __init__(self, act: Callable[[Sequence[Job]], Sequence[Outcome]]) -> None:
        self._act = act
        self.calls: list[list[str]] = []

    async def run(self, tenant: str, agent_id: str, jobs: Sequence[Job]) -> Sequence[Outcome]:
        self.calls.append([job.key for job in jobs])
        return self._act(jobs)


class Blocking:
    """A handler that waits until it is let go."""

    def __init__(self) -> None:
        self.started, self.go = asyncio.Event(), asyncio.Event()

    async def run(self, tenant: str, agent_id: str, jobs: Sequence[Job]) -> Sequence[Outcome]:
        self.started.set()
        await self.go.wait()
        return done(jobs)


def done(jobs: Sequence[Job]) -> list[Outcome]:
    return [Done() for _ in jobs]


async def until(bench: Bench, holds: Callable[[Job], bool]) -> None:
    """Waits until it holds for the job "x"."""
    async with asyncio.timeout(5):
        while not holds((await bench.jobs())["x"]):  # noqa: ASYNC110 - the ledger has no event for this
            await asyncio.sleep(0.001)


class Bench:
    """A ledger, a clock and a worker."""

    def __init__(
        self,
        handler: Script | Blocking,
        *,
        call_seconds: float = 60,
        heartbeat: float = 60,
        alone: frozenset[str] = frozenset(),
        slow: Handler | None = None,
        slots: int = 2,
    ) -> None:
        """`slow` does jobs of the type SLOW, which may wait for a model."""
        self.time = Time()
        self.ledger = MemoryLedger()
        self.wake = LocalWake()
        backoff = Backoff(base=SECOND, cap=60 * SECOND, random=lambda: 1.0)
        rules = Rules(backoff=backoff, patience=1000, call_seconds=call_seconds, alone=alone)
        self.worker = Worker(
            self.ledger,
            Calls({TYPE: handler} | ({SLOW: slow} if slow else {}), rules, self.time),
            self.wake,
            WorkerRules(
                owner="me",
                slots=slots,
                batch_size=64,
                lease=60 * SECOND,
                heartbeat_seconds=heartbeat,
                poll_seconds=60,
                slow=frozenset({SLOW}),
            ),
            self.time,
        )

    async def enqueue(self, *keys: str, type_: str = TYPE, agent: str = "a") -> None:
        jobs = [NewJob(type=type_, agent_id=agent, subject=key, key=key) for key in keys]
        await self.ledger.enqueue("acme", jobs, 5, self.time())

    async def drain(self, most: int = 2_000) -> None:
        """Works, moving the clock to what is due next, until nothing is left to be done."""
        for _ in range(most):
            if not await self.worker.run_once():
                counts = await self.ledger.counts(ALL)
                if not any(counts[state] for state in ACTIVE):
                    return
                self.time.now += SECOND
        raise AssertionError("not drained")

    async def jobs(self) -> dict[str, Job]:
        return {job.key: job for job in await self.ledger.page(ALL, None, 1_000)}

    async def states(self) -> dict[str, JobState]:
        return {key: job.state for key, job in (await self.jobs()).items()}


def numbered(count: int) -> list[str]:
    return [f"k{i:02}" for i in range(count)]


async def test_a_good_batch_is_one_call() -> None:
    bench = Bench(handler := Script(lambda jobs: [Done(result_ids=(job.key,)) for job in jobs]))
    await bench.enqueue(*numbered(64))
    assert await bench.worker.run_once() == 64
    assert handler.calls == [numbered(64)]
    assert {key: job.result_ids for key, job in (await bench.jobs()).items()} == {
        k: (k,) for k in numbered(64)
    }


async def test_jobs_that_take_their_time_have_a_call_each_and_tell_their_engine() -> None:
    """J-16: one after the other, and each is settled before the next."""

    def act(jobs: Sequence[Job]) -> list[Outcome]:
        if jobs[0].key == "k01":
            raise DependencyDown
        return [Done(engine=f"by {job.key}") for job in jobs]

    bench = Bench(handler := Script(act), alone=frozenset({TYPE}))
    await bench.enqueue(*numbered(3))
    assert await bench.worker.run_once() == 3
    assert handler.calls == [["k00"], ["k01"]]
    found = await bench.jobs()
    assert (found["k00"].engine, found["k00"].state) == ("by k00", JobState.SUCCEEDED)
    assert found["k01"].state is found["k02"].state is JobState.FAILED


async def test_a_call_that_raises_is_bisected_to_the_bad_item() -> None:
    """J-3: one bad item costs one item, and few calls."""

    def act(jobs: Sequence[Job]) -> list[Outcome]:
        if any(job.key == "k37" for job in jobs):
            raise RuntimeError("text that must not be shown")
        return done(jobs)

    bench = Bench(handler := Script(act))
    await bench.enqueue(*numbered(64))
    await bench.worker.run_once()
    jobs = await bench.jobs()
    bad = jobs.pop("k37")
    assert (bad.state, bad.attempt, bad.error) == (JobState.FAILED, 1, HANDLER_FAULT)
    assert {job.state for job in jobs.values()} == {JobState.SUCCEEDED}
    assert len(handler.calls) == 1 + 2 * 6
    await bench.drain()
    bad = (await bench.jobs())["k37"]
    assert (bad.state, bad.attempt) == (JobState.DEAD, 5)


async def test_an_outage_in_the_middle_of_a_bisection_leaves_no_job_behind() -> None:
    """J-3: what was not tried yet waits too, and nothing stays claimed."""

    def act(jobs: Sequence[Job]) -> list[Outcome]:
        if len(jobs) == 8:
            raise RuntimeError
        if "k04" in [job.key for job in jobs]:
            raise DependencyDown
        return done(jobs)

    bench = Bench(Script(act))
    await bench.enqueue(*numbered(8))
    await bench.worker.run_once()
    states = await bench.states()
    assert states == {key: JobState.SUCCEEDED if key < "k04" else JobState.FAILED for key in numbered(8)}
    assert {job.attempt for job in (await bench.jobs()).values() if job.state is JobState.FAILED} == {0}


async def test_an_outage_at_the_start_of_a_bisection_leaves_no_job_behind() -> None:
    def act(jobs: Sequence[Job]) -> list[Outcome]:
        raise RuntimeError if len(jobs) == 8 else DependencyDown

    bench = Bench(Script(act))
    await bench.enqueue(*numbered(8))
    await bench.worker.run_once()
    assert set((await bench.states()).values()) == {JobState.FAILED}


async def test_items_fail_by_their_own_outcomes() -> None:
    outcomes: dict[str, Outcome] = {
        "good": Done(),
        "bad": Failed(error="INTERNAL: bad"),
        "hopeless": Failed(error="INVALID_FIELD: never", hopeless=True),
    }
    bench = Bench(Script(lambda jobs: [outcomes[job.key] for job in jobs]))
    await bench.enqueue(*outcomes)
    await bench.worker.run_once()
    assert await bench.states() == {
        "good": JobState.SUCCEEDED,
        "bad": JobState.FAILED,
        "hopeless": JobState.DEAD,
    }


async def test_an_unknown_type_dies_at_once_and_says_why() -> None:
    bench = Bench(Script(done))
    await bench.enqueue("x", type_="no_such_type")
    await bench.drain()
    job = (await bench.jobs())["x"]
    assert (job.state, job.error) == (JobState.DEAD, UNKNOWN_TYPE)


@pytest.mark.parametrize("error", [DependencyDown(), Overloaded("full", retry_after=5)])
async def test_an_outage_of_an_hour_kills_nothing(error: Exception) -> None:
    """J-2: a dependency that is down is not the jobs' fault; calls get rare meanwhile."""
    bench: Bench

    def act(jobs: Sequence[Job]) -> list[Outcome]:
        if bench.time.now < back:
            raise error
        return done(jobs)

    bench = Bench(handler := Script(act))
    back = bench.time.now + timedelta(hours=1)
    await bench.enqueue(*numbered(99))
    await bench.drain(10_000)
    assert set((await bench.states()).values()) == {JobState.SUCCEEDED}
    assert len(handler.calls) < 250


@pytest.mark.parametrize("others", [0, 1, 90])
async def test_an_item_that_brings_the_dependency_down_dies_alone(others: int) -> None:
    """J-3, while the dependency serves everybody else."""

    def act(jobs: Sequence[Job]) -> list[Outcome]:
        if any(job.key == "poison" for job in jobs):
            raise DependencyDown
        return done(jobs)

    bench = Bench(Script(act))
    await bench.enqueue("poison", *numbered(others))
    for round_ in range(12):
        await bench.enqueue(f"later{round_}", agent="b")
        for _ in range(40):
            bench.time.now += 2 * SECOND
            await bench.worker.run_once()
    states = await bench.states()
    assert states.pop("poison") is JobState.DEAD
    assert set(states.values()) == {JobState.SUCCEEDED}
    assert len(states) == others + 12


async def test_a_single_failure_is_described_without_foreign_text() -> None:
    """X-3: our own errors keep their message, others get a constant one."""

    def act(jobs: Sequence[Job]) -> list[Outcome]:
        raise InvalidField("items", "is wrong") if jobs[0].key == "ours" else ValueError("secret")

    bench = Bench(Script(act))
    await bench.enqueue("ours", "foreign")
    await bench.worker.run_once()
    errors = {key: job.error for key, job in (await bench.jobs()).items()}
    assert errors == {"ours": "INVALID_FIELD: items: is wrong", "foreign": HANDLER_FAULT}


async def test_a_handler_that_hangs_fails_its_jobs() -> None:
    bench = Bench(Blocking(), call_seconds=0.01)
    await bench.enqueue("x")
    await bench.worker.run_once()
    assert (await bench.jobs())["x"].error == TOO_SLOW


async def test_a_handler_that_miscounts_fails_its_jobs() -> None:
    bench = Bench(Script(lambda jobs: []))
    await bench.enqueue("x", "y")
    await bench.worker.run_once()
    assert {job.error for job in (await bench.jobs()).values()} == {HANDLER_FAULT}


async def test_a_wake_up_starts_work_and_a_stop_lets_it_end() -> None:
    """J-1: polling is a minute away here, so only the wake-up can have done it."""
    bench = Bench(handler := Blocking())
    await bench.worker.start()
    await bench.enqueue("x")
    bench.wake.set()
    await asyncio.wait_for(handler.started.wait(), 5)
    stopping = asyncio.create_task(bench.worker.stop(grace=5))
    await asyncio.sleep(0)
    handler.go.set()
    await stopping
    assert await bench.states() == {"x": JobState.SUCCEEDED}


async def test_a_stop_without_time_gives_jobs_back_with_their_attempt() -> None:
    bench = Bench(handler := Blocking())
    await bench.enqueue("x", "y")
    await bench.worker.start()
    await asyncio.wait_for(handler.started.wait(), 5)
    await bench.worker.stop(grace=0)
    assert {(job.state, job.attempt) for job in (await bench.jobs()).values()} == {(JobState.QUEUED, 0)}


async def test_a_long_call_keeps_its_lease() -> None:
    """J-2: the heartbeat goes on while a handler works."""
    bench = Bench(handler := Blocking(), heartbeat=0.001)
    await bench.enqueue("x")
    working = asyncio.create_task(bench.worker.run_once())
    await asyncio.wait_for(handler.started.wait(), 5)
    before = (await bench.jobs())["x"].lease_end
    bench.time.now += 59 * SECOND
    await until(bench, lambda job: job.lease_end != before)
    bench.time.now += 59 * SECOND
    assert await bench.ledger.claim("thief", 64, SECOND, bench.time()) == []
    handler.go.set()
    await working
    assert await bench.states() == {"x": JobState.SUCCEEDED}


async def test_a_start_frees_what_the_former_self_held() -> None:
    """J-1: whatever a killed process had claimed is done by its successor at once."""
    bench = Bench(Script(done))
    await bench.enqueue("x")
    await bench.ledger.claim("me", 64, 3600 * SECOND, bench.time())
    assert await bench.worker.run_once() == 0
    await bench.worker.start()
    await until(bench, lambda job: job.state is JobState.SUCCEEDED)
    await bench.worker.stop(grace=5)
    assert await bench.states() == {"x": JobState.SUCCEEDED}


async def test_two_workers_at_once_do_each_job_once() -> None:
    bench = Bench(handler := Script(done))
    for agent in "abcdefgh":
        await bench.enqueue(*(f"{agent}{i}" for i in range(100)), agent=agent)
    for _ in range(20):
        await asyncio.gather(bench.worker.run_once(), bench.worker.run_once())
    keys = [key for call in handler.calls for key in call]
    assert len(keys) == len(set(keys)) == 800


async def test_jobs_that_wait_for_a_model_leave_a_slot_to_others() -> None:
    """S-16: however many of them are due."""
    bench = Bench(quick := Script(done), slow=(slow := Blocking()))
    for agent in ("a", "b", "c"):
        await bench.enqueue(f"slow {agent}", type_=SLOW, agent=agent)
    await bench.worker.start()
    await asyncio.wait_for(slow.started.wait(), 5)
    await bench.enqueue("x")
    bench.wake.set()
    await until(bench, lambda job: job.state is JobState.SUCCEEDED)
    assert quick.calls == [["x"]]
    states = await bench.states()
    assert sorted(states[f"slow {agent}"] for agent in "abc") == ["queued", "queued", "running"]
    slow.go.set()
    await bench.worker.stop(5)


async def test_a_single_slot_does_them_too() -> None:
    bench = Bench(Script(done), slow=(slow := Blocking()), slots=1)
    await bench.enqueue("x", type_=SLOW)
    slow.go.set()
    await bench.worker.start()
    await until(bench, lambda job: job.state is JobState.SUCCEEDED)
    await bench.worker.stop(5)
