"""How far conversations are derived: the ProgressStore over both engines (SPEC J-1)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.compactor.adapters.sql.ledger import SqlLedger
from services.compactor.adapters.sql.progress import SqlProgress
from services.compactor.app.ports import Reach
from services.compactor.domain.ledger import Backoff, Job, NewJob, failed, given_up, succeeded
from services.compactor.domain.progress import Derived, Span, span_of, upto
from services.kit.sql import SqlDatabase

T0 = datetime(2026, 1, 1, tzinfo=UTC)
LEASE = timedelta(seconds=60)
REACH = Reach(tenant="acme")


class Bench:
    """A ledger, and what it says of conversation "c"."""

    def __init__(self, database: SqlDatabase) -> None:
        self.ledger, self.progress = SqlLedger(database), SqlProgress(database)

    async def enqueue(
        self, *sequences: int, conversation: str = "c", agent: str = "a", type_: str = "index_message"
    ) -> list[str]:
        jobs = [
            NewJob(
                type=type_,
                agent_id=agent,
                subject="s",
                key=f"{agent}/{conversation}/{type_}/{n}",
                payload=b'{"conversation_id":"%s","sequence":%d}' % (conversation.encode(), n),
            )
            for n in sequences
        ]
        return await self.ledger.enqueue("acme", jobs, 5, T0)

    async def claim(self) -> dict[int, Job]:
        jobs = await self.ledger.claim("w", 64, LEASE, T0)
        return {int(job.key.rsplit("/", 1)[1]): job for job in jobs}

    async def die(self, number: int) -> None:
        await self.ledger.settle([given_up((await self.claim())[number], "X: x")], T0)

    async def enqueue_plain(
        self, type_: str, number: int, payload: bytes = b'{"conversation_id":"c"}'
    ) -> list[str]:
        """A job that names no messages."""
        key = f"plain/{type_}/{number}"
        job = NewJob(type=type_, agent_id="a", subject="c", key=key, payload=payload)
        return await self.ledger.enqueue("acme", [job], 5, T0)

    async def succeed(self, *result_ids: str) -> None:
        """All that is due, with these results."""
        while jobs := await self.ledger.claim("w", 64, LEASE, T0):
            await self.ledger.settle([succeeded(job, result_ids) for job in jobs], T0)

    async def one(self, kind: str) -> Derived:
        found = {one.kind: one for one in await self.progress.derived("acme", "a", ["c"])}
        return found[kind]

    async def upto(self, conversation: str = "c", agent: str = "a", tenant: str = "acme") -> dict[str, int]:
        found = await self.progress.derived(tenant, agent, [conversation])
        return {one.kind: one.upto for one in found}


@pytest.fixture
def bench(compactor_sql: SqlDatabase) -> Bench:
    return Bench(compactor_sql)


async def test_a_conversation_is_derived_as_far_as_nothing_is_left_below(bench: Bench) -> None:
    await bench.enqueue(1, 2, 3, 4, 5)
    assert await bench.upto() == {"index": 0}
    jobs = await bench.claim()
    await bench.ledger.settle([succeeded(jobs[n]) for n in (1, 2, 4, 5)], T0)
    assert await bench.upto() == {"index": 2}, "3 runs"
    backoff = Backoff(base=LEASE, cap=LEASE, random=lambda: 0.0)
    await bench.ledger.settle([failed(jobs[3], "X: x", T0, backoff)], T0)
    assert await bench.upto() == {"index": 2}, "3 waits for its next attempt"
    again = await bench.claim()
    await bench.ledger.settle([given_up(again[3], "X: x")], T0)
    assert await bench.upto() == {"index": 2}, "3 is dead"
    await bench.ledger.retry(REACH, jobs[3].id, T0)
    await bench.ledger.settle([succeeded((await bench.claim())[3])], T0)
    assert await bench.upto() == {"index": 5}


async def test_what_is_cancelled_holds_nothing_back_until_it_is_retried(bench: Bench) -> None:
    ids = await bench.enqueue(1, 2)
    await bench.ledger.cancel(REACH, ids[0], T0)
    await bench.ledger.settle([succeeded(job) for job in (await bench.claim()).values()], T0)
    assert await bench.upto() == {"index": 2}
    await bench.ledger.retry(REACH, ids[0], T0)
    assert await bench.upto() == {"index": 0}


async def test_progress_outlives_its_jobs_and_never_goes_back(bench: Bench) -> None:
    """J-15."""
    await bench.enqueue(1, 2, 3)
    await bench.ledger.settle([succeeded(job) for job in (await bench.claim()).values()], T0)
    assert await bench.ledger.delete_finished(T0 + LEASE, T0 + LEASE, 100) == 3
    assert await bench.upto() == {"index": 3}
    await bench.enqueue(2)
    assert await bench.upto() == {"index": 1}, "it is to be derived again"
    await bench.ledger.settle([succeeded(job) for job in (await bench.claim()).values()], T0)
    assert await bench.upto() == {"index": 3}


async def test_conversations_agents_and_tenants_do_not_meet(bench: Bench) -> None:
    await bench.enqueue(7)
    await bench.ledger.settle([succeeded(job) for job in (await bench.claim()).values()], T0)
    await bench.enqueue(7, conversation="d")
    await bench.enqueue(7, agent="b")
    assert await bench.upto() == {"index": 7}
    assert await bench.upto("d") == {"index": 0}
    assert await bench.upto(agent="b") == {"index": 0}
    assert await bench.upto("unknown") == await bench.upto(tenant="other") == {}


async def test_what_waits_and_what_is_dead_is_counted(bench: Bench) -> None:
    ids = await bench.enqueue(1, 2, 3, 4)
    jobs = await bench.claim()
    await bench.ledger.settle([given_up(jobs[2], "X: x"), given_up(jobs[3], "X: x")], T0)
    await bench.ledger.settle([succeeded(jobs[1])], T0)
    found = await bench.one("index")
    assert (found.upto, found.waiting, found.dead, found.dead_job_id) == (1, 1, 2, ids[2])
    await bench.ledger.settle([succeeded(jobs[4])], T0)
    await bench.ledger.retry(REACH, ids[2], T0)
    found = await bench.one("index")
    assert (found.waiting, found.dead, found.dead_job_id) == (1, 1, ids[1])


@pytest.mark.parametrize(
    ("type_", "kind"),
    [
        ("cover_messages", "cover"),
        ("fold_overlays", "cover"),
        ("refresh_summary", "summarize"),
        ("summarize_conversation", "summarize"),
        ("grow_graph", "graph"),
        ("update_attractor", "attractor"),
    ],
)
async def test_who_does_what_is_due_makes_up_for_the_dead_before(bench: Bench, type_: str, kind: str) -> None:
    ids = await bench.enqueue(30, type_=type_)
    await bench.die(30)
    assert (await bench.one(kind)).dead == 1
    await bench.enqueue(60, type_=type_)
    assert (await bench.one(kind)).upto == 0
    await bench.succeed()
    found = await bench.one(kind)
    assert (found.upto, found.waiting, found.dead, found.dead_job_id) == (60, 0, 0, "")
    await bench.ledger.retry(REACH, ids[0], T0)
    found = await bench.one(kind)
    assert (found.upto, found.waiting) == (29, 1), "it is to be derived again"


async def test_a_success_makes_up_for_no_messages_but_those_it_read(bench: Bench) -> None:
    """Each message is indexed by a job of its own; and what is dead beyond a success is not made up for."""
    await bench.enqueue(1)
    await bench.die(1)
    await bench.enqueue(2)
    await bench.succeed()
    assert ((await bench.one("index")).upto, (await bench.one("index")).dead) == (0, 1)
    await bench.enqueue(60, type_="cover_messages")
    await bench.die(60)
    await bench.enqueue(30, type_="cover_messages")
    await bench.succeed()
    assert ((await bench.one("cover")).upto, (await bench.one("cover")).dead) == (30, 1)


@pytest.mark.parametrize(
    ("type_", "kind"),
    [("grow_graph", "graph"), ("update_attractor", "attractor"), ("refresh_derived", "refresh")],
)
async def test_a_job_without_messages_is_among_those_that_wait(bench: Bench, type_: str, kind: str) -> None:
    await bench.enqueue_plain(type_, 1)
    assert (await bench.one(kind)).waiting == 1
    await bench.succeed()
    found = await bench.one(kind)
    assert (found.upto, found.waiting, found.dead) == (0, 0, 0)


async def test_no_refresh_makes_up_for_another(bench: Bench) -> None:
    """J-17: each is about a change of its own."""
    [dead] = await bench.enqueue_plain("refresh_derived", 1)
    await bench.die(1)
    await bench.enqueue_plain("refresh_derived", 2)
    await bench.succeed()
    found = await bench.one("refresh")
    assert (found.waiting, found.dead, found.dead_job_id) == (0, 1, dead)
    await bench.enqueue_plain("grow_graph", 1)
    await bench.die(1)
    await bench.enqueue_plain("grow_graph", 2)
    await bench.succeed()
    assert (await bench.one("graph")).dead == 0, "what is due is done"


async def test_what_was_put_off_is_reached_by_a_later_job_of_its_agent(bench: Bench) -> None:
    """J-12: an update that takes many summaries names no conversation."""

    async def attractors() -> dict[str, tuple[int, int]]:
        found = await bench.progress.derived("acme", "a", ["c", "d"])
        return {one.conversation_id: (one.upto, one.waiting) for one in found if one.kind == "attractor"}

    await bench.enqueue(30, type_="update_attractor")
    await bench.succeed()
    await bench.enqueue(60, type_="update_attractor")
    await bench.enqueue(12, type_="update_attractor", conversation="d")
    await bench.enqueue(9, type_="update_attractor", agent="b")
    await bench.succeed("postponed/j1")
    assert await attractors() == {"c": (30, 1), "d": (0, 1)}
    await bench.enqueue_plain("grow_graph", 1)
    await bench.succeed()
    assert await attractors() == {"c": (30, 1), "d": (0, 1)}
    await bench.enqueue_plain("update_attractor", 1, b'{"due":true}')
    await bench.succeed("attractor/2", "postponed/rest")
    assert await attractors() == {"c": (30, 1), "d": (0, 1)}, "some were left"
    await bench.enqueue_plain("update_attractor", 2, b'{"due":true}')
    await bench.succeed("attractor/3")
    assert await attractors() == {"c": (60, 0), "d": (12, 0)}
    assert (await bench.upto(agent="b"))["attractor"] == 0, "another agent's waits for its own"


@pytest.mark.parametrize(
    ("type_", "payload", "span"),
    [
        (
            "index_message",
            b'{"conversation_id":"c","sequence":4}',
            Span(conversation_id="c", first=4, last=4),
        ),
        (
            "extract_messages",
            b'{"conversation_id":"c","from_sequence":2,"to_sequence":9}',
            Span(conversation_id="c", first=2, last=9),
        ),
        (
            "extract_messages",
            b'{"conversation_id":"c","to_sequence":9}',
            Span(conversation_id="c", first=9, last=9),
        ),
        ("cover_messages", b'{"conversation_id":"c"}', Span(conversation_id="c", first=0, last=0)),
        (
            "refresh_summary",
            b'{"conversation_id":"c","to_sequence":9}',
            Span(conversation_id="c", first=9, last=9),
        ),
        ("update_attractor", b'{"due":true}', None),
        ("refresh_derived", b'{"source":"memories","ids":["m"]}', None),
        (
            "refresh_derived",
            b'{"source":"path","conversation_id":"c"}',
            Span(conversation_id="c", first=0, last=0),
        ),
        ("grow_graph", b'{"conversation_id":"c","to_sequence":"9"}', None),
        ("index_message", b'{"conversation_id":"c"}', None),
        ("index_memory", b'{"conversation_id":"c","sequence":4}', None),
        ("index_message", b'{"conversation_id":"c","sequence":true}', None),
        ("index_message", b'{"conversation_id":"c","sequence":0}', None),
        ("index_message", b'{"conversation_id":"c\\u0000","sequence":1}', None),
        ("index_message", b'{"conversation_id":"\\ud800","sequence":1}', None),
        ("index_message", b"[", None),
        ("index_message", b"[" * 100_000, None),
    ],
)
def test_a_payload_names_its_messages_or_nothing(type_: str, payload: bytes, span: Span | None) -> None:
    assert span_of(type_, payload) == span


@given(reached=st.integers(0, 99), blocking=st.none() | st.integers(1, 99))
def test_nothing_at_or_below_the_answer_is_left(reached: int, blocking: int | None) -> None:
    found = upto(reached, blocking)
    assert 0 <= found <= reached
    assert blocking is None or found < blocking
    assert found == reached or blocking == found + 1 or found == 0
