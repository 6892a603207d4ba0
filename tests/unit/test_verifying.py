"""Holding new memories against similar ones (SPEC S-7)."""

from __future__ import annotations

import asyncio

import pytest

from services.kit.errors import DependencyDown
from services.kit.policy import CLOSED, EffectiveSettings
from services.memory.semantic.app.judging import RULES, DeterministicJudge
from services.memory.semantic.app.verifying import (
    JUDGED_CHARACTERS,
    NOT_VERIFIED,
    Fresh,
    Outcome,
)
from services.memory.semantic.bootstrap import verifies
from services.memory.semantic.domain.judging_types import Statement, Verdict
from services.memory.semantic.domain.memory import (
    FactType,
    Memory,
    Verification,
)
from services.memory.semantic.domain.vectors import (
    MEMORY_CLASSES,
    Bucket,
    ContentClass,
    pack,
)
from tests.unit.semantic_parts import AGENT, AGENT_WIDE, NOW, TENANT
from tests.unit.verifying_parts import ANN, BOB, DAY, SAME, Parts, contradicts, nothing, replaces


@pytest.fixture
def parts() -> Parts:
    return Parts()


async def test_what_is_replaced_ends_and_its_index_job_is_announced(parts: Parts) -> None:
    """S-7; of two probabilities that suffice, the replacement counts."""
    old = await parts.known("a")
    parts.judge.rule = replaces
    parts.outbox.clear()
    new = await parts.remember("b")
    parts.outbox.clear()
    assert await parts.index(new) == [""]
    ended, kept = await parts.one(old), await parts.one(new)
    assert (ended.superseded_by, ended.valid_to) == (new.id, new.valid_from)
    assert (kept.superseded_by, kept.verification) == ("", Verification.VERIFIED)
    assert await parts.contradictions() == 0
    indexed = [key for key in parts.outbox if key.startswith("index_memory/")]
    assert indexed == [f"index_memory/{AGENT}/{old.id}/{ended.revision}"]
    assert len(list(parts.outbox)) == 2, "and what was derived from it follows (J-17)"
    assert (parts.counted, len(parts.woken)) == ([Outcome.REPLACED], 1)
    (made,) = (await parts.store.history(TENANT, AGENT, old.id)).supersessions
    assert (made.probability, made.judge) == (0.75, "scripted")


async def test_the_job_that_a_supersession_makes_makes_no_other(parts: Parts) -> None:
    """S-7."""
    old = await parts.known("a")
    parts.judge.rule = replaces
    await parts.known("b")
    parts.outbox.clear()
    asked = len(parts.judge.asked)
    assert await parts.index(old) == [""]
    assert list(parts.outbox) == []
    assert len(parts.judge.asked) == asked
    live = Bucket(tenant=TENANT, agent=AGENT, content=ContentClass.MEMORY)
    assert [await parts.vectors.count(live.of(content)) for content in MEMORY_CLASSES] == [1, 1]


async def test_a_contradiction_is_recorded_and_both_stay(parts: Parts) -> None:
    """S-7."""
    one = await parts.known("a")
    parts.judge.rule = contradicts
    other = await parts.known("b")
    assert other.contradicts == (one.id,)
    assert not other.superseded_by
    assert not (await parts.one(one)).superseded_by
    assert (await parts.contradictions(), parts.counted) == (1, [Outcome.CONTRADICTS])


async def test_below_the_thresholds_nothing_is_done(parts: Parts) -> None:
    """S-7: 0.74 is not enough."""
    one, other = await parts.known("a"), await parts.known("b")
    assert (other.verification, other.contradicts) == (Verification.VERIFIED, ())
    assert not (await parts.one(one)).superseded_by
    assert parts.counted == [Outcome.NEITHER]


async def test_the_nearest_three_that_are_near_enough_are_judged_in_order_of_writing(parts: Parts) -> None:
    """S-7: by a cosine that is enough."""
    parts.texts.of = {
        "far": (0.49, 0.872),
        "near": (0.51, 0.86),
        "nearer": (0.8, 0.6),
        "nearest": (0.9, 0.43),
    }
    for value in ("nearer", "nearest", "far", "near"):
        await parts.remember(value)
    for value in ("near", "far", "nearest", "nearer"):
        await parts.index(await _by_key(parts, value))
    parts.judge.asked.clear()
    await parts.known("new")
    assert parts.judge.asked == [(value, "new") for value in ("nearer", "nearest", "near")]
    parts.judge.asked.clear()
    await parts.known("newer")
    assert parts.judge.asked == [("nearer", "newer"), ("nearest", "newer"), ("new", "newer")]


async def _by_key(parts: Parts, key: str) -> Memory:
    found = await parts.store.live_of_key(TENANT, AGENT_WIDE, key, parts.now)
    assert found is not None
    return found


@pytest.mark.parametrize("late", [True, False])
async def test_what_holds_from_later_on_is_the_new_one(parts: Parts, late: bool) -> None:
    """S-7: in whatever order the two are indexed."""
    parts.judge.rule = replaces
    old, new = await parts.remember("a"), await parts.remember("b")
    for memory in (new, old) if late else (old, new):
        assert await parts.index(memory) == [""]
    assert (await parts.one(old)).superseded_by == new.id
    assert not (await parts.one(new)).superseded_by
    assert set(parts.judge.asked) == {("a", "b")}


async def test_a_memory_about_an_earlier_time_is_the_old_one(parts: Parts) -> None:
    """S-7, S-8: though it was recorded later."""
    parts.judge.rule = replaces
    recorded_first = await parts.known("b")
    earlier = await parts.known("a", valid_from=NOW - 30 * DAY)
    assert parts.judge.asked == [("a", "b")]
    assert (earlier.superseded_by, earlier.valid_to) == (recorded_first.id, recorded_first.valid_from)
    assert earlier.verification is Verification.VERIFIED


async def test_scopes_tenants_and_tasks_are_not_held_against_each_other(parts: Parts) -> None:
    """S-5, S-7: and within each scope they are."""
    parts.judge.rule = replaces
    for scope in (AGENT_WIDE, ANN, BOB):
        await parts.known("a", scope)
    await parts.known("a", tenant="other")
    task = await parts.known("task", fact_type=FactType.TASK)
    assert task.verification is Verification.NOT_NEEDED
    assert parts.judge.asked == []
    await parts.known("b", ANN)
    assert parts.judge.asked == [("a", "b")]


async def test_what_has_ended_is_not_judged(parts: Parts) -> None:
    """S-7: though its vector is still there."""
    gone, old = await parts.known("gone"), await parts.known("old", key="k")
    await parts.store.forget(TENANT, AGENT, gone.id)
    newer = await parts.remember("newer", key="k")
    parts.judge.asked.clear()
    assert await parts.index(newer) == [""]
    assert (await parts.vectors.count(), parts.judge.asked) == (3, [])
    assert (await parts.one(old)).superseded_by == newer.id
    await parts.known("last")
    assert parts.judge.asked == [("newer", "last")]


async def test_one_whose_end_is_planned_takes_no_place_and_the_plan_does(parts: Parts) -> None:
    """S-7, S-8: nothing could be done to what is replaced already."""
    await parts.known("a", key="k")
    await parts.known("plan", key="k", valid_from=NOW + DAY)
    parts.judge.asked.clear()
    await parts.known("b")
    assert parts.judge.asked == [("b", "plan")], "the plan is the newer one"


async def test_one_that_ended_before_its_job_stays_pending(parts: Parts) -> None:
    """It is verified should it come back."""
    await parts.known("a")
    memory = await parts.remember("b", key="k")
    await parts.remember("c", key="k")
    fresh = Fresh(memory=memory, vector=pack(SAME))
    assert await parts.verifier.verify(TENANT, AGENT, [fresh]) == {}
    assert parts.judge.asked == []
    assert (await parts.one(memory)).verification is Verification.PENDING


async def test_long_statements_are_judged_by_their_beginning(parts: Parts) -> None:
    await parts.known("a" * 4000, key="a")
    await parts.known("b" * 4000, key="b")
    assert parts.judge.asked == [("a" * JUDGED_CHARACTERS, "b" * JUDGED_CHARACTERS)]


async def test_a_repeated_job_asks_nobody(parts: Parts) -> None:
    parts.judge.rule = contradicts
    await parts.known("a")
    new = await parts.known("b")
    edits = new.edits
    assert await parts.index(new, new) == ["", ""]
    assert len(parts.judge.asked) == 1
    assert (await parts.one(new)).edits == edits


async def test_a_verdict_that_was_taken_back_is_not_given_again(parts: Parts) -> None:
    """S-8: by a job that ended before it could say that it was done."""
    old = await parts.known("a")
    parts.judge.rule = replaces
    new = await parts.known("b")
    await parts.judgements.undo_supersession(TENANT, AGENT, old.id, parts.now)
    await parts.judgements.set_verification(TENANT, AGENT, new.id, Verification.PENDING, parts.now)
    assert await parts.index(old, new) == ["", ""]
    assert parts.counted == [Outcome.REPLACED, Outcome.MOOT]
    assert not (await parts.one(old)).superseded_by
    assert (await parts.one(new)).verification is Verification.VERIFIED


async def test_a_judge_that_fails_fails_the_attempt_of_that_memory_alone(parts: Parts) -> None:
    """J-3: the memory is live, and the next attempt verifies it."""
    await parts.known("a")
    await parts.known("a", ANN)

    def fails(_old: Statement, new: Statement) -> Verdict:
        if new.value == "poison":
            raise RuntimeError("a judge's own words")
        return nothing(_old, new)

    parts.judge.rule = fails
    memories = [await parts.remember("poison"), await parts.remember("b", ANN), await parts.remember("c")]
    assert await parts.index(*memories) == [NOT_VERIFIED, "", ""]
    found = [await parts.one(memory) for memory in memories]
    assert all(memory.indexed and memory.live(parts.now) for memory in found)
    pending, verified = Verification.PENDING, Verification.VERIFIED
    assert [memory.verification for memory in found] == [pending, verified, verified]
    assert parts.counted.count(Outcome.FAILED) == 1
    parts.judge.rule = nothing
    assert await parts.index(memories[0]) == [""]
    assert (await parts.one(memories[0])).verification is verified


async def test_verification_waits_while_the_vectors_are_down(parts: Parts) -> None:
    await parts.known("a")
    memory = await parts.remember("b")
    parts.vectors.down = True
    with pytest.raises(DependencyDown):
        await parts.index(memory)
    found = await parts.one(memory)
    assert (found.indexed, found.verification) == (True, Verification.PENDING)
    parts.vectors.down = False
    assert await parts.index(memory) == [""]
    assert (await parts.one(memory)).verification is Verification.VERIFIED


async def test_those_who_wait_are_told_before_the_judge_has_spoken(parts: Parts) -> None:
    """S-16."""
    await parts.known("a")
    memory = await parts.remember("b")
    parts.judge.gate.clear()
    waiting = asyncio.ensure_future(parts.indexer.changed())
    job = asyncio.ensure_future(parts.index(memory))
    await asyncio.wait_for(waiting, 5)
    assert (await parts.one(memory)).indexed
    assert not job.done()
    parts.judge.gate.set()
    assert await job == [""]


async def test_one_scope_is_judged_one_after_the_other_and_scopes_side_by_side(parts: Parts) -> None:
    """S-7: the lock."""
    for scope in (ANN, BOB):
        await parts.known("a", scope)
    parts.judge.gate.clear()
    memories = [await parts.remember(value, scope) for scope in (ANN, BOB) for value in ("b", "c")]
    jobs = [asyncio.ensure_future(parts.index(memory)) for memory in memories]
    for _ in range(200):
        await asyncio.sleep(0)
    assert len(parts.judge.asked) == 2, "one of each scope"
    parts.judge.gate.set()
    assert await asyncio.gather(*jobs) == [[""]] * 4
    assert len(parts.judge.asked) > 2


async def test_the_rules_run_in_a_thread_and_say_the_same() -> None:
    old = Statement(key="city", value="lives in Göteborg", valid_from=NOW)
    new = Statement(key="move", value="has moved to Oslo", valid_from=NOW + DAY)
    moved = await DeterministicJudge().judge(TENANT, AGENT, old, new)
    assert (moved.verdict.replaces >= 0.75, moved.judge) == (True, RULES)
    assert (await DeterministicJudge().judge(TENANT, AGENT, old, old)).verdict.replaces == 0


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        (EffectiveSettings(), True),
        (EffectiveSettings(verify=False), False),
        (EffectiveSettings(verify=True), True),
        (CLOSED, True),
    ],
)
async def test_what_is_not_known_does_not_end_verification(settings: EffectiveSettings, wanted: bool) -> None:
    """G-12: a memory that is marked as one that needs none is never verified again; nothing leaves by it."""

    class Known:
        async def of(self, tenant: str, agent_id: str = "") -> EffectiveSettings:
            return settings

    assert await verifies(Known(), TENANT, AGENT) is wanted
