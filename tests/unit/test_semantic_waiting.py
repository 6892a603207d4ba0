"""Waiting until what was written can be recalled (SPEC S-16)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable

import pytest

from services.kit.context import CallInfo, serving
from services.memory.semantic.app.ports import JobState
from services.memory.semantic.app.waiting import MemoryMark, MessageMark, Unindexed, Waiter
from services.memory.semantic.domain.memory import Memory
from tests.unit.semantic_parts import AGENT, TENANT, Parts

SHORT = 0.3  # a deadline, in seconds, for what is waited for in vain
PATIENT = 30.0


@pytest.fixture
def parts() -> Parts:
    made = Parts()
    made.episodes.add("c", "a heron", "a stork", "a crane")
    return made


async def wait(
    parts: Parts, *marks: MessageMark | MemoryMark, seconds: float = SHORT, past: bool = False
) -> list[Unindexed]:
    waiter = Waiter(store=parts.store, items=parts.items, jobs=parts.ledger, indexer=parts.indexer)
    with serving(CallInfo(request_id="r", deadline=time.monotonic() + seconds)):
        return await waiter.wait(TENANT, [(AGENT, mark) for mark in marks], past=past)


def upto(sequence: int) -> MessageMark:
    return MessageMark(conversation_id="c", sequence=sequence)


def at(memory: Memory) -> MemoryMark:
    return MemoryMark(memory_id=memory.id, version=memory.version)


def key(sequence: int) -> str:
    return f"index_message/{AGENT}/c/{sequence}"


async def soon(parts: Parts, work: Awaitable[object]) -> None:
    await asyncio.sleep(0.02)
    await work


async def test_what_is_indexed_is_not_waited_for(parts: Parts) -> None:
    memory = await parts.remember("k", "v")
    await parts.index_messages("c", 1, 2)
    await parts.index_memories(memory)
    assert await wait(parts, upto(2), at(memory)) == []
    assert await wait(parts) == []


async def test_a_read_goes_on_as_soon_as_everything_is_indexed(parts: Parts) -> None:
    memory = await parts.remember("k", "v")

    async def index() -> None:
        await parts.index_messages("c", 2)
        await parts.index_messages("c", 1, 3)
        await parts.index_memories(memory)

    waited, _ = await asyncio.gather(wait(parts, upto(3), at(memory), seconds=PATIENT), soon(parts, index()))
    assert waited == []


async def test_the_deadline_ends_the_wait_and_names_the_jobs(parts: Parts) -> None:
    await parts.index_messages("c", 1, 3)
    parts.ledger.states = {key(2): JobState(job_id="j2", dead=False)}
    (outcome,) = await wait(parts, upto(3))
    assert (outcome.mark, outcome.dead, outcome.job_ids) == (upto(3), False, ("j2",))


async def test_what_is_dead_is_not_waited_for(parts: Parts) -> None:
    """It ends long before the deadline."""
    await parts.index_messages("c", 1)
    parts.ledger.states = {key(n): JobState(job_id=f"j{n}", dead=True) for n in (2, 3)}
    (outcome,) = await wait(parts, upto(3), seconds=PATIENT)
    assert (outcome.dead, outcome.job_ids) == (True, ("j2", "j3"))


async def test_one_dead_item_does_not_stop_the_wait_for_the_others(parts: Parts) -> None:
    parts.ledger.states = {key(2): JobState(job_id="j2", dead=True)}
    waited, _ = await asyncio.gather(
        wait(parts, upto(3), seconds=PATIENT), soon(parts, parts.index_messages("c", 1, 3))
    )
    assert [(outcome.dead, outcome.job_ids) for outcome in waited] == [(True, ("j2",))]
    assert set(await parts.items.missing(TENANT, AGENT, "c", 3, limit=9)) == {2}


async def test_a_mark_beyond_what_is_stored_waits_until_the_deadline(parts: Parts) -> None:
    (outcome,) = await wait(parts, upto(2**62))
    assert not outcome.dead


async def test_superseded_and_forgotten_memories_are_not_waited_for(parts: Parts) -> None:
    """What they say is not to be found any more, so there is nothing to wait for."""
    old = await parts.remember("k", "a")
    gone = await parts.remember("l", "a")
    await parts.remember("k", "b")
    await parts.store.forget(TENANT, AGENT, gone.id)
    assert await wait(parts, at(old), at(gone), seconds=PATIENT) == []


async def test_a_superseded_memory_is_waited_for_as_of_a_moment(parts: Parts) -> None:
    """S-8, S-16: until it is among what is past."""
    old = await parts.remember("k", "a")
    await parts.index_memories(old)
    await parts.remember("k", "b")
    (outcome,) = await wait(parts, at(old), past=True)
    assert not outcome.dead
    waited, _ = await asyncio.gather(
        wait(parts, at(old), seconds=PATIENT, past=True), soon(parts, parts.index_memories(old))
    )
    assert waited == []


async def test_another_tenants_index_does_not_count(parts: Parts) -> None:
    await parts.index_messages("c", 1)
    assert await wait(parts, upto(1)) == []
    waiter = Waiter(store=parts.store, items=parts.items, jobs=parts.ledger, indexer=parts.indexer)
    with serving(CallInfo(request_id="r", deadline=time.monotonic() + SHORT)):
        assert len(await waiter.wait("other", [(AGENT, upto(1))])) == 1


async def test_a_ledger_that_is_down_does_not_fail_the_read(parts: Parts) -> None:
    """S-11: recall works as long as one channel does; the registry alone can satisfy the wait."""
    parts.ledger.down = True
    waited, _ = await asyncio.gather(
        wait(parts, upto(1), seconds=PATIENT), soon(parts, parts.index_messages("c", 1))
    )
    assert waited == []
    (outcome,) = await wait(parts, upto(2))
    assert (outcome.dead, outcome.job_ids) == (False, ())
