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
from services.compactor.domain.progress import Span, span_of, upto
from services.kit.sql import SqlDatabase

T0 = datetime(2026, 1, 1, tzinfo=UTC)
LEASE = timedelta(seconds=60)
REACH = Reach(tenant="acme")


class Bench:
    """A ledger, and what it says of conversation "c"."""

    def __init__(self, database: SqlDatabase) -> None:
        self.ledger, self.progress = SqlLedger(database), SqlProgress(database)

    async def enqueue(self, *sequences: int, conversation: str = "c", agent: str = "a") -> list[str]:
        jobs = [
            NewJob(
                type="index_message",
                agent_id=agent,
                subject="s",
                key=f"{agent}/{conversation}/{n}",
                payload=b'{"conversation_id":"%s","sequence":%d}' % (conversation.encode(), n),
            )
            for n in sequences
        ]
        return await self.ledger.enqueue("acme", jobs, 5, T0)

    async def claim(self) -> dict[int, Job]:
        jobs = await self.ledger.claim("w", 64, LEASE, T0)
        return {int(job.key.rsplit("/", 1)[1]): job for job in jobs}

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
        ("cover_messages", b'{"conversation_id":"c"}', None),
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
