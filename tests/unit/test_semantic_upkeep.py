"""Sweeping what ended by itself, comparing stores, finding what is similar (SPEC J-10, J-15)."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

import pytest

from services.memory.semantic.app.drift import Drift, DriftCheck
from services.memory.semantic.app.item_ports import MemoryDocument
from services.memory.semantic.app.judging import DeterministicJudge
from services.memory.semantic.app.reconciling import Reconciler
from services.memory.semantic.app.strangers import Strangers
from services.memory.semantic.app.sweeping import Sweeper
from services.memory.semantic.app.upkeep import Upkeep
from services.memory.semantic.app.upkeep_ports import Member
from services.memory.semantic.domain.memory import FactType, Memory, Scope
from services.memory.semantic.domain.vectors import Bucket, ContentClass, VectorPoint
from tests.unit.semantic_parts import AGENT, NOW, TENANT, Parts, vector

DAY = timedelta(days=1)
MEMORIES = Bucket(tenant=TENANT, agent=AGENT, content=ContentClass.MEMORY)
PAST = MEMORIES.of(ContentClass.PAST)
ANN = Scope(agent_id=AGENT, contact_ids=("ann",))


@pytest.fixture
def parts() -> Parts:
    return Parts()


async def known(parts: Parts, *memories: Memory) -> None:
    await parts.index_memories(*memories)
    parts.outbox.clear()


# Ends


def sweeper(parts: Parts, woken: list[None] | None = None) -> Sweeper:
    told = [] if woken is None else woken
    return Sweeper(
        store=parts.store,
        upkeep=parts.upkeep,
        items=parts.items,
        wake=lambda: told.append(None),
        clock=lambda: parts.now,
    )


async def test_what_ended_by_itself_is_moved_among_what_is_past(parts: Parts) -> None:
    """J-15, S-8: by the job that the sweep asks for; recall as of then finds it there."""
    plan = await parts.remember("p", "a heron", valid_to=NOW + DAY)
    task = await parts.remember("t", "buy rope", fact_type=FactType.TASK)
    stays = await parts.remember("s", "a stork")
    await known(parts, plan, task, stays)
    woken: list[None] = []
    assert await sweeper(parts, woken).sweep() == 0
    parts.now = NOW + 8 * DAY
    assert await sweeper(parts, woken).sweep() == 2
    assert len(woken) == 1
    jobs = list(parts.outbox)
    assert {key.split(":")[0] for key in jobs} == {
        f"index_memory/{AGENT}/{memory.id}/{memory.revision}" for memory in (plan, task)
    }
    await parts.index_memories(plan, task)
    assert await parts.items.known_memories(MEMORIES, [plan.id, task.id, stays.id]) == {stays.id}
    assert await parts.items.known_memories(PAST, [plan.id, task.id]) == {plan.id, task.id}


async def test_a_second_sweep_asks_for_the_same_jobs_or_none(parts: Parts) -> None:
    plan = await parts.remember("p", "a heron", valid_to=NOW + DAY)
    await known(parts, plan)
    parts.now = NOW + DAY + timedelta(minutes=1)
    await sweeper(parts).sweep()
    await sweeper(parts).sweep()
    assert len(list(parts.outbox)) == 2
    assert len(set(parts.outbox)) == 1, "the ledger takes it once"
    parts.outbox.clear()
    await parts.index_memories(plan)
    assert await sweeper(parts).sweep() == 0


async def test_a_sweep_goes_on_where_the_last_one_stopped(parts: Parts) -> None:
    plan = await parts.remember("p", "a heron", valid_to=NOW + DAY)
    await known(parts, plan)
    await parts.upkeep.set_swept(NOW + 3 * DAY)
    parts.now = NOW + 4 * DAY
    assert await sweeper(parts).sweep() == 0
    late = await parts.remember("q", "a crane", valid_to=parts.now + DAY)
    await known(parts, late)
    parts.now += 2 * DAY
    assert await sweeper(parts).sweep() == 1


async def test_the_sweeper_sweeps_until_it_is_cancelled(parts: Parts) -> None:
    plan = await parts.remember("p", "a heron", valid_to=NOW + DAY)
    await known(parts, plan)
    parts.now = NOW + 2 * DAY
    run = asyncio.ensure_future(sweeper(parts).run(0.01))
    async with asyncio.timeout(10):
        while not list(parts.outbox):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    run.cancel()


# Drift


class AlwaysOurs:
    """The only replica."""

    async def take(self, lease: str) -> bool:
        return True

    async def give(self, lease: str) -> None:
        pass


def drift_check(parts: Parts) -> DriftCheck:
    def clock() -> datetime:
        return parts.now

    reconciler = Reconciler(
        store=parts.store,
        items=parts.items,
        generations=parts.generations,
        strangers=Strangers(store=parts.store, items=parts.items, generations=parts.generations, clock=clock),
        turns=AlwaysOurs(),
        wake=lambda: None,
        clock=clock,
        lease_seconds=30.0,
    )
    return DriftCheck(
        store=parts.store,
        upkeep=parts.upkeep,
        items=parts.items,
        reconciler=reconciler,
        wake=lambda: None,
        clock=clock,
    )


async def test_stores_that_agree_have_not_drifted(parts: Parts) -> None:
    parts.episodes.add("c", "a heron")
    await parts.index_messages("c", 1)
    await known(parts, await parts.remember("bird", "a stork"))
    found = await drift_check(parts).check(TENANT, AGENT)
    assert found == Drift(messages=0, memories=0, vectors=0, strangers=0)
    assert list(parts.outbox) == []


async def test_what_drifted_apart_is_counted_and_put_right(parts: Parts) -> None:
    """J-15."""
    parts.episodes.add("c", "a heron", "a stork")
    await parts.index_messages("c", 1)
    await parts.store.note_messages(TENANT, AGENT, {"c": 2})
    unregistered = await parts.remember("a", "a gull")
    unvectored = await parts.remember("b", "a crane")
    await known(parts, unvectored)
    await parts.vectors.delete(MEMORIES, [unvectored.id])
    await parts.items.put_memories(
        PAST, [MemoryDocument(memory_id="gone", contact_id="", terms="x", begins=NOW)]
    )
    await parts.vectors.upsert([VectorPoint(bucket=MEMORIES, item_id="also gone", vector=vector("x"))])
    parts.outbox.clear()
    found = await drift_check(parts).check(TENANT, AGENT)
    assert found == Drift(messages=1, memories=1, vectors=1, strangers=2)
    keys = sorted(key.split(":drift:")[0] for key in parts.outbox)
    assert keys == sorted(
        [
            f"index_memory/{AGENT}/{unregistered.id}/1",
            f"index_memory/{AGENT}/{unvectored.id}/1",
            f"index_message/{AGENT}/c/2",
        ]
    )
    await parts.index_messages("c", 2)
    await known(parts, unregistered, unvectored)
    assert await drift_check(parts).check(TENANT, AGENT) == Drift(
        messages=0, memories=0, vectors=0, strangers=0
    )


async def test_another_agents_drift_is_left(parts: Parts) -> None:
    await parts.remember("a", "a gull")
    assert (await drift_check(parts).check(TENANT, "bea")).memories == 0
    assert (await drift_check(parts).check(TENANT, AGENT)).memories == 1


# What is similar


def upkeep(parts: Parts) -> Upkeep:
    return Upkeep(
        store=parts.upkeep,
        generations=parts.generations,
        judge=DeterministicJudge(),
        wake=lambda: None,
        clock=lambda: parts.now,
    )


async def test_similar_memories_are_paired_within_a_scope_and_kind(parts: Parts) -> None:
    """J-10."""
    old = await parts.remember("a", "Likes jazz")
    new = await parts.remember("b", "likes jazz")
    anns = await parts.remember("c", "Likes jazz", ANN)
    event = await parts.remember("d", "Likes jazz", fact_type=FactType.EVENT)
    unindexed = await parts.remember("e", "Likes jazz")
    await known(parts, old, new, anns, event)
    found, pairs = await upkeep(parts).similar(TENANT, AGENT, 30, 0.85)
    assert [memory.id for memory in found] == [m.id for m in (unindexed, event, anns, new, old)]
    named = {(pair.memory_id, pair.other_id): pair for pair in pairs}
    pair = named[new.id, old.id]
    assert (pair.covers, pair.covered, pair.barred) == (True, True, False)
    assert pair.cosine == pytest.approx(1.0)
    assert not {anns.id, event.id} & {id_ for names in named for id_ in names}


async def test_what_is_less_similar_is_no_pair(parts: Parts) -> None:
    one, other = await parts.remember("a", "Likes jazz"), await parts.remember("b", "Owns a boat")
    await known(parts, one, other)
    _, pairs = await upkeep(parts).similar(TENANT, AGENT, 30, 0.85)
    assert pairs == []
    _, pairs = await upkeep(parts).similar(TENANT, AGENT, 30, -1.0)
    assert [(pair.covers, pair.covered) for pair in pairs] == [(False, False)]


async def test_a_merge_and_its_undoing_ask_for_index_jobs(parts: Parts) -> None:
    one, other = await parts.remember("a", "Likes jazz"), await parts.remember("b", "likes jazz")
    await known(parts, one, other)
    members = [Member(memory_id=memory.id, edits=memory.edits) for memory in (one, other)]
    merged = await upkeep(parts).merge(TENANT, AGENT, "m", members)
    assert len(list(parts.outbox)) == 3
    parts.outbox.clear()
    await parts.index_memories(merged, one, other)
    assert await parts.items.known_memories(MEMORIES, [merged.id, one.id, other.id]) == {"m"}
    await upkeep(parts).undo_merge(TENANT, AGENT, "m")
    assert len([key for key in parts.outbox if key.startswith("index_memory/")]) == 3
    assert len(list(parts.outbox)) == 4, "and one for what was derived from the merged one (J-17)"
    await parts.index_memories(merged, one, other)
    assert await parts.items.known_memories(MEMORIES, [merged.id, one.id, other.id]) == {one.id, other.id}


async def test_a_check_that_is_repeated_finds_the_jobs_that_it_asked_for(parts: Parts) -> None:
    """J-2: their keys are the request's; another request has keys of its own."""
    await parts.remember("a", "a gull")
    parts.outbox.clear()
    for request in ("job-1", "job-1", "job-2"):
        assert (await drift_check(parts).check(TENANT, AGENT, request)).memories == 1
    first, again, other = parts.outbox
    assert first == again
    assert first.endswith(":drift:job-1")
    assert other.endswith(":drift:job-2")
