"""Decay, merging, ends that come by themselves: the suite of the UpkeepStore port (S-14, J-10, J-15)."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

import pytest

from services.kit.errors import StateConflict
from services.kit.sql import SqlDatabase
from services.memory.semantic.adapters.sql.upkeep import SqlUpkeep
from services.memory.semantic.app.ports import Verdict
from services.memory.semantic.app.upkeep_ports import ActiveAgent, Member, UpkeepStore
from services.memory.semantic.domain.memory import Cause, FactType, Memory, MessageRef, Source, Verification
from tests.contract.memory_parts import AGENT, ANN, BOB, DAY, NOW, TENANT, Canonical

MONTH = timedelta(days=31)
LATER = NOW + MONTH
MERGED = "merged-1"


@pytest.fixture
def canonical(semantic_sql_pair: tuple[SqlDatabase, SqlDatabase]) -> Canonical:
    return Canonical(semantic_sql_pair)


@pytest.fixture
def upkeep(semantic_sql_pair: tuple[SqlDatabase, SqlDatabase]) -> UpkeepStore:
    return SqlUpkeep(semantic_sql_pair[1])


def members(*memories: Memory) -> list[Member]:
    return [Member(memory_id=memory.id, edits=memory.edits) for memory in memories]


async def merge(upkeep: UpkeepStore, *memories: Memory, now: datetime = LATER, id_: str = MERGED) -> Memory:
    return await upkeep.merge(TENANT, AGENT, id_, members(*memories), now)


async def two(canonical: Canonical) -> tuple[Memory, Memory]:
    """A statement, and one under another key that says less."""
    refs = [MessageRef(conversation_id="c", message_id=id_) for id_ in ("m1", "m2")]
    less = await canonical.remember(
        "city", "Lives in Oslo", ANN, provenance=(refs[0],), source=Source.TURN, pinned=True
    )
    more = await canonical.remember("home.town", "Lives in Oslo, by the sea", ANN, provenance=(refs[1],))
    return more.memory, less.memory


async def confidence(canonical: Canonical, memory: Memory) -> float:
    return (await canonical.one(memory.id)).confidence


# Decay


async def test_what_nobody_used_for_a_month_loses_a_fifth_once_a_day(
    canonical: Canonical, upkeep: UpkeepStore
) -> None:
    """S-14."""
    memory = (await canonical.remember("a", "1")).memory
    assert await upkeep.decay(TENANT, AGENT, NOW + timedelta(days=29), dry=False) == 0
    assert await upkeep.decay(TENANT, AGENT, LATER, dry=True) == 1
    assert await confidence(canonical, memory) == 0.9
    assert await upkeep.decay(TENANT, AGENT, LATER, dry=False) == 1
    assert await confidence(canonical, memory) == pytest.approx(0.72)
    assert await upkeep.decay(TENANT, AGENT, LATER + timedelta(hours=11), dry=False) == 0, "the same day"
    assert await upkeep.decay(TENANT, AGENT, LATER + DAY, dry=False) == 1
    assert await confidence(canonical, memory) == pytest.approx(0.576)
    assert (await canonical.one(memory.id)).edits == memory.edits + 2


async def test_confidence_stops_at_the_floor(canonical: Canonical, upkeep: UpkeepStore) -> None:
    """S-14."""
    memory = (await canonical.remember("a", "1")).memory
    counts = [await upkeep.decay(TENANT, AGENT, LATER + n * DAY, dry=False) for n in range(12)]
    assert counts == [1] * 10 + [0, 0]
    assert await confidence(canonical, memory) == 0.1


async def test_what_is_pinned_used_or_over_does_not_decay(canonical: Canonical, upkeep: UpkeepStore) -> None:
    """S-14; the positive control decays beside them."""
    pinned = (await canonical.remember("p", "1", pinned=True)).memory
    used = (await canonical.remember("u", "1")).memory
    over = (await canonical.remember("o", "1")).memory
    await canonical.remember("o", "2", now=LATER)
    control = (await canonical.remember("c", "1")).memory
    await canonical.store.count_access(TENANT, AGENT, [used.id], LATER - DAY)
    assert await upkeep.decay(TENANT, AGENT, LATER, dry=False) == 1
    kept = [await confidence(canonical, memory) for memory in (pinned, used, over, control)]
    assert kept == pytest.approx([0.9, 0.9, 0.9, 0.72])


async def test_the_decay_of_a_day_is_taken_back_once(canonical: Canonical, upkeep: UpkeepStore) -> None:
    """J-10."""
    memory = (await canonical.remember("a", "1")).memory
    await upkeep.decay(TENANT, AGENT, LATER, dry=False)
    assert await upkeep.undo_decay(TENANT, AGENT, LATER, LATER) == 1
    assert await confidence(canonical, memory) == 0.9
    assert await upkeep.undo_decay(TENANT, AGENT, LATER, LATER) == 0
    assert await upkeep.decay(TENANT, AGENT, LATER, dry=False) == 0, "it stays taken back on that day"
    assert await upkeep.decay(TENANT, AGENT, LATER + DAY, dry=False) == 1
    assert await upkeep.undo_decay(TENANT, AGENT, LATER, LATER + DAY) == 0, "it decayed on a later day"


async def test_two_runs_at_once_decay_each_memory_once(
    canonical: Canonical, semantic_sql_pair: tuple[SqlDatabase, SqlDatabase]
) -> None:
    """J-2, S-14: a job that is taken over, or a run that somebody asks for beside the schedule's."""
    count = 40
    made = [(await canonical.remember(f"k{n}", "1")).memory for n in range(count)]
    both = [SqlUpkeep(database) for database in semantic_sql_pair]
    runs = [one.decay(TENANT, AGENT, LATER, dry=False) for one in both * 2]
    assert sum(await asyncio.gather(*runs)) == count
    assert [await confidence(canonical, one) for one in made] == pytest.approx([0.72] * count)
    undone = [one.undo_decay(TENANT, AGENT, LATER, LATER) for one in both * 2]
    assert sum(await asyncio.gather(*undone)) == count
    assert [await confidence(canonical, one) for one in made] == [0.9] * count


# Merging


async def test_a_merge_puts_one_memory_in_the_place_of_several(
    canonical: Canonical, upkeep: UpkeepStore
) -> None:
    """J-10, S-4."""
    more, less = await two(canonical)
    made = await merge(upkeep, more, less)
    assert (made.id, made.key, made.value, made.contact_id) == (MERGED, more.key, more.value, "ann")
    assert (made.source, made.confidence, made.pinned) == (Source.CONSOLIDATION, 0.9, True)
    assert [ref.message_id for ref in made.provenance] == ["m2", "m1"]
    assert (made.supersedes, made.version, made.valid_from) == (more.id, 2, LATER)
    assert made.verification is Verification.PENDING
    assert await canonical.live(ANN, LATER) == [more.value]
    for old in (more, less):
        history = await canonical.store.history(TENANT, AGENT, old.id)
        (told,) = [one for one in history.supersessions if one.old_id == old.id]
        assert (told.new_id, told.cause, told.undone) == (MERGED, Cause.CONSOLIDATED, None)
        assert (await canonical.one(old.id)).valid_to == LATER
    jobs = [key for _, key in await canonical.jobs()]
    assert f"index_memory/{AGENT}/{MERGED}/1" in jobs
    assert f"index_memory/{AGENT}/{less.id}/{less.revision + 1}" in jobs
    found = await canonical.store.of_messages(TENANT, ANN, made.provenance, LATER)
    assert set(map(tuple, found.values())) == {(MERGED,)}


async def test_the_same_merge_again_changes_nothing(canonical: Canonical, upkeep: UpkeepStore) -> None:
    more, less = await two(canonical)
    made = await merge(upkeep, more, less)
    jobs = await canonical.jobs()
    assert await merge(upkeep, more, less, now=LATER + DAY) == made
    assert await canonical.jobs() == jobs


async def test_the_same_merge_at_once_is_one(
    canonical: Canonical, semantic_sql_pair: tuple[SqlDatabase, SqlDatabase]
) -> None:
    """J-2: a job that was taken over is done by two workers; neither is told that the members changed."""
    more, less = await two(canonical)
    both = [SqlUpkeep(database) for database in semantic_sql_pair]
    made = await asyncio.gather(*(merge(one, more, less) for one in both * 4))
    assert made == [made[0]] * 8
    assert await canonical.live(ANN, LATER) == [more.value]


async def test_what_changed_meanwhile_is_not_merged(canonical: Canonical, upkeep: UpkeepStore) -> None:
    """X-1: nothing is half done."""
    more, less = await two(canonical)
    await canonical.remember("city", "Lives in Bergen", ANN, now=NOW + DAY)
    jobs = await canonical.jobs()
    with pytest.raises(StateConflict):
        await merge(upkeep, more, less)
    assert await canonical.jobs() == jobs
    assert await canonical.live(ANN, LATER) == [more.value, "Lives in Bergen"]


async def test_only_one_of_two_merges_of_a_memory_takes_place(
    canonical: Canonical, upkeep: UpkeepStore
) -> None:
    more, less = await two(canonical)
    outcomes = await asyncio.gather(
        *(merge(upkeep, more, less, id_=f"m-{n}") for n in range(8)), return_exceptions=True
    )
    assert sum(isinstance(one, Memory) for one in outcomes) == 1
    assert all(isinstance(one, Memory | StateConflict) for one in outcomes)
    assert len(await canonical.live(ANN, LATER)) == 1


@pytest.mark.parametrize("which", ["scope", "kind", "gone"])
async def test_what_does_not_belong_together_is_not_merged(
    canonical: Canonical, upkeep: UpkeepStore, which: str
) -> None:
    more, _ = await two(canonical)
    others = {
        "scope": (await canonical.remember("b", "Lives in Oslo", BOB)).memory,
        "kind": (await canonical.remember("e", "Oslo", ANN, fact_type=FactType.EVENT)).memory,
    }
    gone = (await canonical.remember("g", "Lives in Oslo", ANN)).memory
    await canonical.store.forget(TENANT, AGENT, gone.id)
    with pytest.raises(StateConflict):
        await merge(upkeep, more, others.get(which, gone))


async def test_an_undone_merge_leaves_things_as_they_were(canonical: Canonical, upkeep: UpkeepStore) -> None:
    """J-10."""
    more, less = await two(canonical)
    await merge(upkeep, more, less)
    restored = await upkeep.undo_merge(TENANT, AGENT, MERGED, LATER + DAY)
    assert {memory.id for memory in restored} == {more.id, less.id}
    assert sorted(await canonical.live(ANN, LATER + DAY)) == sorted([more.value, less.value])
    for old in (more, less):
        now = await canonical.one(old.id)
        assert (now.superseded_by, now.valid_to, now.confidence) == ("", None, old.confidence)
    assert await canonical.store.get(TENANT, AGENT, [MERGED]) == {}
    assert await upkeep.undo_merge(TENANT, AGENT, MERGED, LATER + DAY) == []


async def test_a_merge_that_was_undone_is_not_proposed_again(
    canonical: Canonical, upkeep: UpkeepStore
) -> None:
    more, less = await two(canonical)

    async def proposed() -> list[str]:
        return [one.id for one in await upkeep.candidates(TENANT, AGENT, 10, LATER + DAY)]

    assert await proposed() == [less.id, more.id][::-1]
    await merge(upkeep, more, less)
    assert await proposed() == [MERGED]
    await upkeep.undo_merge(TENANT, AGENT, MERGED, LATER + DAY)
    assert await proposed() == []


async def test_a_merge_stays_once_something_newer_took_its_place(
    canonical: Canonical, upkeep: UpkeepStore
) -> None:
    more, less = await two(canonical)
    await merge(upkeep, more, less)
    await canonical.remember(more.key, "Lives in Bergen", ANN, now=LATER + DAY)
    with pytest.raises(StateConflict):
        await upkeep.undo_merge(TENANT, AGENT, MERGED, LATER + 2 * DAY)
    assert await canonical.live(ANN, LATER + DAY) == ["Lives in Bergen"]


async def test_a_merge_stays_while_a_members_place_is_taken(
    canonical: Canonical, upkeep: UpkeepStore
) -> None:
    """S-6: of a key and bucket one version is live."""
    more, less = await two(canonical)
    await merge(upkeep, more, less)
    await canonical.remember(less.key, "Lives in Bergen", ANN, now=LATER + DAY)
    with pytest.raises(StateConflict):
        await upkeep.undo_merge(TENANT, AGENT, MERGED, LATER + 2 * DAY)
    assert sorted(await canonical.live(ANN, LATER + DAY)) == ["Lives in Bergen", more.value]


async def test_another_memory_is_no_merge(canonical: Canonical, upkeep: UpkeepStore) -> None:
    more, _ = await two(canonical)
    with pytest.raises(StateConflict):
        await upkeep.undo_merge(TENANT, AGENT, more.id, LATER)


async def test_what_may_be_merged_is_the_newest_that_is_live(
    canonical: Canonical, upkeep: UpkeepStore
) -> None:
    """J-10: no tasks; nor what is contradicted, planned to end, or a reflection."""
    first = (await canonical.remember("a", "1")).memory
    await canonical.remember("t", "1", fact_type=FactType.TASK)
    await canonical.remember("r", "1", fact_type=FactType.REFLECTION)
    await canonical.remember("p", "1", valid_to=NOW + 2 * DAY)
    pair = [(await canonical.remember(key, "1")).memory for key in ("x", "y")]
    verdict = Verdict(old_id=pair[0].id, new_id=pair[1].id, probability=0.9, judge="rules")
    await canonical.judgements.record_contradiction(TENANT, AGENT, verdict, NOW)
    last = (await canonical.remember("z", "1", ANN)).memory
    found = await upkeep.candidates(TENANT, AGENT, 10, NOW + DAY)
    assert [memory.id for memory in found] == [last.id, first.id]
    assert [memory.id for memory in await upkeep.candidates(TENANT, AGENT, 1, NOW + DAY)] == [last.id]


# Who there is, and what is new


async def test_agents_are_listed_page_by_page(canonical: Canonical, upkeep: UpkeepStore) -> None:
    await canonical.remember("a", "1")
    await canonical.remember("a", "1", tenant="other")
    await canonical.store.note_messages(TENANT, "bea", {"c": 3})
    ours = [ActiveAgent(tenant=TENANT, agent_id=id_) for id_ in (AGENT, "bea")]
    assert await upkeep.agents(TENANT, None, 10) == ours
    assert await upkeep.agents(None, None, 10) == [*ours, ActiveAgent(tenant="other", agent_id=AGENT)]
    assert await upkeep.agents(None, ours[0], 1) == [ours[1]]


async def test_recent_memories_are_those_written_since(canonical: Canonical, upkeep: UpkeepStore) -> None:
    old = (await canonical.remember("a", "1")).memory
    new = (await canonical.remember("b", "1", ANN, now=NOW + DAY)).memory
    await canonical.store.set_pinned(TENANT, AGENT, old.id, True, NOW + DAY)
    found = await upkeep.recent(TENANT, AGENT, NOW + DAY, 10, NOW + DAY)
    assert [memory.id for memory in found] == [new.id]


# Ends


async def test_ends_that_come_by_themselves_are_found(canonical: Canonical, upkeep: UpkeepStore) -> None:
    """J-15: a planned end and an expiry, but no end that was an event."""
    planned = (await canonical.remember("p", "1", valid_to=NOW + 2 * DAY)).memory
    task = (await canonical.remember("t", "1", fact_type=FactType.TASK)).memory
    await canonical.remember("k", "1")
    await canonical.remember("k", "2", now=NOW + DAY)
    assert await upkeep.ended(NOW, NOW + DAY, None, 10) == []
    found = await upkeep.ended(NOW, NOW + 7 * DAY, None, 10)
    assert [one.memory_id for one in found] == [planned.id, task.id]
    assert [one.at for one in found] == [NOW + 2 * DAY, NOW + 7 * DAY]
    assert [one.memory_id for one in await upkeep.ended(NOW, NOW + 7 * DAY, found[0], 10)] == [task.id]
    assert await upkeep.ended(NOW + 8 * DAY, NOW + 9 * DAY, None, 10) == []


async def test_the_sweeps_place_never_goes_back(upkeep: UpkeepStore) -> None:
    assert await upkeep.swept() is None
    await upkeep.set_swept(LATER)
    await upkeep.set_swept(NOW)
    assert await upkeep.swept() == LATER


async def test_an_agents_conversations_and_memories_are_listed(
    canonical: Canonical, upkeep: UpkeepStore
) -> None:
    """J-15: what a drift check goes through."""
    await canonical.store.note_messages(TENANT, AGENT, {"c": 3})
    await canonical.store.note_messages(TENANT, "bea", {"d": 1})
    first = (await canonical.remember("a", "1")).memory
    second = (await canonical.remember("a", "2", now=NOW + DAY)).memory
    assert [(k.conversation_id, k.highest) for k in await upkeep.known_of(TENANT, AGENT)] == [("c", 3)]
    kept = await upkeep.kept_of(TENANT, AGENT, "", 10, NOW + DAY)
    # By id: two that are written in one moment may come in either order.
    assert [(one.memory_id, one.lasts) for one in kept] == sorted([(first.id, False), (second.id, True)])
    assert await upkeep.kept_of(TENANT, AGENT, kept[-1].memory_id, 10, NOW + DAY) == []
