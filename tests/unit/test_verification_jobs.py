"""Verification by a judge that has to be waited for, which is a job of its own (SPEC S-7)."""

from __future__ import annotations

import asyncio

import pytest

from services.kit.errors import DependencyDown
from services.memory.semantic.app.ports import Verdict as Found
from services.memory.semantic.app.verification_jobs import VerificationJobs
from services.memory.semantic.app.verifying import Outcome
from services.memory.semantic.domain.judging_types import Statement, Verdict
from services.memory.semantic.domain.memory import Memory, Verification
from tests.unit.semantic_parts import AGENT, TENANT
from tests.unit.verifying_parts import Parts, contradicts, nothing, replaces

PENDING, VERIFIED = Verification.PENDING, Verification.VERIFIED


@pytest.fixture
def parts() -> Parts:
    made = Parts()
    made.judge.slow = True
    return made


async def verification(parts: Parts, memory: Memory) -> Verification:
    return (await parts.one(memory)).verification


def key(memory: Memory, revision: int = 1) -> str:
    return f"verify_memory/{AGENT}/{memory.id}/{revision}"


async def test_who_indexes_asks_nobody_and_leaves_a_job(parts: Parts) -> None:
    """S-7, S-16: recallable, unverified, and the job in the outbox once the call returns."""
    first, new = await parts.known("a"), await parts.known("b")
    assert (first.verification, new.verification) == (VERIFIED, PENDING), "the first has nothing beside it"
    assert new.indexed
    assert new.live(parts.now)
    assert (parts.asked_for(), parts.judge.asked) == ([key(new)], [])
    assert len(parts.woken) == 1
    assert parts.counted == []


async def test_the_job_applies_verdicts_and_says_whose_they_are(parts: Parts) -> None:
    """S-7, J-16."""
    old, new = await parts.known("a"), await parts.known("b")
    parts.judge.rule = replaces
    assert await parts.verify(new) == "scripted"
    ended = await parts.one(old)
    assert (ended.superseded_by, await verification(parts, new)) == (new.id, VERIFIED)
    assert (parts.counted, parts.judge.of) == ([Outcome.REPLACED], {(TENANT, AGENT)})
    assert f"index_memory/{AGENT}/{old.id}/{ended.revision}" in list(parts.outbox)


async def test_a_contradiction_by_a_job_is_recorded(parts: Parts) -> None:
    """S-7."""
    one, other = await parts.known("a"), await parts.known("b")
    parts.judge.rule = contradicts
    await parts.verify(other)
    assert (await parts.one(other)).contradicts == (one.id,)
    assert await parts.contradictions() == 1


async def test_what_is_done_is_not_done_again(parts: Parts) -> None:
    """J-3: neither by the job once more, nor by indexing; and one revision has one job."""
    await parts.known("a")
    new = await parts.known("b")
    assert await parts.index(new) == [""]
    assert parts.asked_for() == [key(new)] * 2, "one key"
    parts.judge.rule = contradicts
    await parts.verify(new)
    parts.outbox.clear()
    edits = (await parts.one(new)).edits
    assert await parts.verify(new) == ""
    assert await parts.index(new) == [""]
    assert parts.asked_for() == []
    assert (len(parts.judge.asked), parts.counted) == (1, [Outcome.CONTRADICTS])
    assert (await parts.one(new)).edits == edits


async def test_nothing_is_judged_in_part(parts: Parts) -> None:
    """S-7: what rules could say of one of the similar ones waits for what a model says of the other."""
    for value in ("a", "b"):
        await parts.verify(await parts.known(value))
    parts.judge.asked.clear()
    parts.judge.quick = {"a"}
    new = await parts.known("c")
    assert (new.verification, parts.counted) == (PENDING, [Outcome.NEITHER])
    await parts.verify(new)
    assert await verification(parts, new) is VERIFIED
    assert parts.counted == [Outcome.NEITHER] * 3


async def test_one_that_went_or_ended_or_is_not_to_be_verified_is_left(parts: Parts) -> None:
    """S-7, G-12: between being indexed and its job."""
    await parts.known("a")
    gone, ended, unwanted = [await parts.known(value, key=value) for value in ("b", "c", "d")]
    await parts.store.forget(TENANT, AGENT, gone.id)
    await parts.remember("newer", key="c")
    assert [await parts.verify(one) for one in (gone, ended)] == ["", ""]
    assert await verification(parts, ended) is PENDING
    parts.wanted = False
    assert await parts.verify(unwanted) == ""
    assert await verification(parts, unwanted) is Verification.NOT_NEEDED
    assert parts.judge.asked == []


async def test_without_the_setting_jobs_leave_memories_as_they_are(parts: Parts) -> None:
    """S-7: jobs may be there from before."""
    await parts.known("a")
    new = await parts.known("b")
    off = VerificationJobs(store=parts.store, generations=parts.generations)
    assert await off.verify(TENANT, AGENT, new.id) == ""
    assert (await verification(parts, new), parts.judge.asked) == (PENDING, [])


async def test_one_that_comes_back_has_another_job(parts: Parts) -> None:
    """S-8: its job came while it was ended."""
    await parts.known("a")
    memory, newer = await parts.known("b"), await parts.known("c")
    found = Found(old_id=memory.id, new_id=newer.id, probability=1.0, judge="test")
    assert await parts.judgements.supersede(TENANT, AGENT, found, parts.now)
    assert await parts.verify(memory) == ""
    parts.outbox.clear()
    back = await parts.judgements.undo_supersession(TENANT, AGENT, memory.id, parts.now)
    assert await parts.index(back) == [""]
    assert parts.asked_for() == [key(back, back.revision)]
    assert back.revision > memory.revision


async def test_indexing_does_not_wait_for_a_job_that_waits(parts: Parts) -> None:
    """S-16: of the same scope, whatever the judge does meanwhile."""
    await parts.known("a")
    new = await parts.known("b")
    parts.judge.gate.clear()
    job = asyncio.ensure_future(parts.verify(new))
    await _until_asked(parts, 1)
    later = await asyncio.wait_for(parts.known("c"), 5)
    assert (later.indexed, parts.asked_for()) == (True, [key(new), key(later)])
    assert not job.done()
    parts.judge.gate.set()
    assert await job == "scripted"


async def _until_asked(parts: Parts, count: int) -> None:
    async with asyncio.timeout(5):
        while len(parts.judge.asked) < count:  # noqa: ASYNC110 - the judge has no event for this
            await asyncio.sleep(0.001)


async def test_a_verdict_that_comes_late_is_held_to_the_rows(parts: Parts) -> None:
    """S-7: what ended while the judge thought is neither ended again nor ends anything."""
    old = await parts.known("a", key="k")
    new = await parts.known("b")
    parts.judge.rule = replaces
    parts.judge.gate.clear()
    job = asyncio.ensure_future(parts.verify(new))
    await _until_asked(parts, 1)
    other = await parts.remember("c", key="k")
    parts.judge.gate.set()
    await job
    assert (await parts.one(old)).superseded_by == other.id
    assert (await verification(parts, new), parts.counted) == (VERIFIED, [])


async def test_a_job_done_twice_at_once_ends_a_memory_once(parts: Parts) -> None:
    """J-2: by two workers, of which one has lost its lease."""
    old, new = await parts.known("a"), await parts.known("b")
    parts.judge.rule = replaces
    parts.judge.gate.clear()
    jobs = [asyncio.ensure_future(parts.verify(new)) for _ in range(2)]
    await _until_asked(parts, 2)
    parts.judge.gate.set()
    assert await asyncio.gather(*jobs) == ["scripted"] * 2
    assert len((await parts.store.history(TENANT, AGENT, old.id)).supersessions) == 1
    assert parts.counted == [Outcome.REPLACED], "the other found it verified"


async def test_a_judge_or_an_index_that_fails_fails_the_attempt(parts: Parts) -> None:
    """J-3: the memory is live and pending, and the next attempt verifies it."""
    await parts.known("a")
    new = await parts.known("b")

    def fails(_old: Statement, _new: Statement) -> Verdict:
        raise RuntimeError("a judge's own words")

    parts.judge.rule = fails
    with pytest.raises(RuntimeError):
        await parts.verify(new)
    assert (await verification(parts, new), parts.counted) == (PENDING, [Outcome.FAILED])
    parts.judge.rule = nothing
    parts.vectors.down = True
    with pytest.raises(DependencyDown):
        await parts.verify(new)
    assert await verification(parts, new) is PENDING
    parts.vectors.down = False
    await parts.verify(new)
    assert await verification(parts, new) is VERIFIED


async def test_an_outbox_that_fails_fails_the_call_that_indexes(
    parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SV-5: what asks for the job is then done again; no memory stays pending without one."""
    await parts.known("a")
    new = await parts.remember("b")

    async def down(*_: object) -> None:
        raise DependencyDown

    with monkeypatch.context() as patched:
        patched.setattr(parts.judgements, "ask_verification", down)
        with pytest.raises(DependencyDown):
            await parts.index(new)
    assert parts.asked_for() == []
    assert await parts.index(new) == [""]
    assert parts.asked_for() == [key(new)]


async def test_who_judged_is_named_once_and_models_are_given_a_time(parts: Parts) -> None:
    """J-16: three quarters of the call's time; of one without an end, a minute and a half."""
    for value in ("a", "b", "c"):
        await parts.known(value)
    new = await parts.known("d")
    parts.judge.names = ["rules/4", "model/1 small", "rules/4"]
    now = asyncio.get_running_loop().time()
    assert await parts.verify(new) == "rules/4; model/1 small"
    assert len(parts.judge.until) == 3
    assert all(until is not None and now + 89 < until < now + 95 for until in parts.judge.until)
