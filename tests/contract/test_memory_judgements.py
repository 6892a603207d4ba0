"""What replaced what, and contradictions: the suite of the JudgementStore port (SPEC S-7, S-8)."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any

import pytest

from services.kit.errors import InvalidField, NotFound, StateConflict
from services.kit.sql import SqlDatabase
from services.memory.semantic.app.ports import ContradictionQuery, Supersession, Verdict
from services.memory.semantic.domain.memory import (
    Cause,
    Contradiction,
    FactType,
    Memory,
    MessageRef,
    Scope,
    Verification,
)
from tests.contract.memory_parts import (
    AGENT,
    AGENT_WIDE,
    ANN,
    ANN_TOO,
    BOB,
    DAY,
    MERGED,
    NOW,
    RACERS,
    TENANT,
    Canonical,
)

JUDGE = "rules-1"


@pytest.fixture
def canonical(semantic_sql_pair: tuple[SqlDatabase, SqlDatabase]) -> Canonical:
    return Canonical(semantic_sql_pair)


def verdict(old: Memory, new: Memory, probability: float = 0.8) -> Verdict:
    return Verdict(old_id=old.id, new_id=new.id, probability=probability, judge=JUDGE)


async def supersede(canonical: Canonical, old: Memory, new: Memory, now: datetime = NOW + DAY) -> bool:
    return await canonical.judgements.supersede(TENANT, AGENT, verdict(old, new), now)


async def undo(canonical: Canonical, memory: Memory, now: datetime = NOW + 2 * DAY) -> Memory:
    return await canonical.judgements.undo_supersession(TENANT, AGENT, memory.id, now)


async def contradict(canonical: Canonical, one: Memory, other: Memory) -> bool:
    return await canonical.judgements.record_contradiction(TENANT, AGENT, verdict(one, other), NOW)


async def contradictions(
    canonical: Canonical, scope: Scope = AGENT_WIDE, now: datetime = NOW + DAY, **fields: Any
) -> list[Contradiction]:
    query = ContradictionQuery(scope=scope, **fields)
    return await canonical.judgements.contradictions(TENANT, query, now)


async def made(canonical: Canonical, memory: Memory) -> list[Supersession]:
    history = await canonical.store.history(TENANT, AGENT, memory.id)
    return [one for one in history.supersessions if one.old_id == memory.id]


async def two(canonical: Canonical, scope: Scope = AGENT_WIDE) -> tuple[Memory, Memory]:
    """An old memory, and one under another key that says something newer, from a day later on."""
    ref = MessageRef(conversation_id="c", message_id="m")
    old = (await canonical.remember("city", "Oslo", scope, pinned=True, provenance=(ref,))).memory
    new = (await canonical.remember("home.town", "Bergen", scope, now=NOW + DAY)).memory
    return old, new


# Supersession


async def test_a_judged_supersession_ends_the_old_one_where_the_new_one_begins(canonical: Canonical) -> None:
    """S-7, S-8."""
    old, new = await two(canonical)
    jobs = len(await canonical.index_jobs())
    assert await supersede(canonical, old, new)
    ended = await canonical.one(old.id)
    assert (ended.superseded_by, ended.valid_to, ended.edits) == (new.id, new.valid_from, old.edits + 1)
    assert (await canonical.index_jobs())[jobs:] == [(TENANT, f"index_memory/{AGENT}/{old.id}/2")]
    assert await canonical.live(now=NOW + DAY) == ["Bergen"]
    assert await canonical.live(as_of=NOW) == ["Oslo"], "S-8: what was valid then"
    assert await made(canonical, old) == [
        Supersession(
            old_id=old.id,
            new_id=new.id,
            cause=Cause.JUDGED,
            probability=0.8,
            judge=JUDGE,
            created=NOW + DAY,
            undone=None,
        )
    ]


async def test_a_superseded_memory_leaves_every_read_of_live_ones(canonical: Canonical) -> None:
    """S-8; and as_of brings each back."""
    old, new = await two(canonical)
    ref = old.provenance[0]
    store = canonical.store

    async def seen(as_of: datetime | None = None) -> list[bool]:
        now = NOW + DAY
        key = await store.live_of_key(TENANT, AGENT_WIDE, "city", now, as_of=as_of)
        words = await store.candidates_by_key(TENANT, AGENT_WIDE, ["city"], 9, now, as_of=as_of)
        sources = await store.of_messages(TENANT, AGENT_WIDE, [ref], now, as_of=as_of)
        standing = await store.standing(TENANT, AGENT_WIDE, now, as_of=as_of)
        return [key is not None, bool(words), bool(sources), old.id in {m.id for m in standing}]

    assert await seen() == [True] * 4
    await supersede(canonical, old, new)
    assert await seen() == [False] * 4
    assert await seen(NOW) == [True] * 4
    assert (await canonical.one(old.id)).value == "Oslo", "it stays readable by id"


async def test_the_same_verdict_again_changes_nothing(canonical: Canonical) -> None:
    """S-7: a job runs at least once."""
    old, new = await two(canonical)
    answers = await asyncio.gather(*(supersede(canonical, old, new) for _ in range(8)))
    assert answers == [True] * 8
    assert len(await made(canonical, old)) == 1
    assert (await canonical.one(old.id)).revision == 2


async def test_what_was_replaced_meanwhile_is_left_alone(canonical: Canonical) -> None:
    """S-7: the verdict was about memories that are live."""
    old, new = await two(canonical)
    newer = (await canonical.remember("city", "Trondheim", now=NOW + DAY)).memory
    assert not await supersede(canonical, old, new), "the old one has another successor"
    after = (await canonical.remember("home.town", "Molde", now=NOW + DAY)).memory
    assert not await supersede(canonical, newer, new), "the new one has a successor"
    assert await supersede(canonical, newer, after)


async def test_two_that_would_replace_each_other_leave_one(canonical: Canonical) -> None:
    """S-7."""
    for n in range(8):
        a = (await canonical.remember(f"a{n}", "x")).memory
        b = (await canonical.remember(f"b{n}", "y")).memory
        answers = await asyncio.gather(supersede(canonical, a, b), supersede(canonical, b, a))
        assert sorted(answers) == [False, True]


async def test_verdicts_and_writers_of_both_keys_leave_one_live_version_of_each_at_most(
    canonical: Canonical,
) -> None:
    """S-6, S-7."""
    old, new = await two(canonical)
    writes = [canonical.remember(key, f"v{n}") for n in range(RACERS // 4) for key in ("city", "home.town")]
    await asyncio.gather(*writes, supersede(canonical, old, new), supersede(canonical, new, old))
    by_key = await canonical.live(now=NOW + 2 * DAY)
    assert len(by_key) == 2
    chain = await canonical.chain(new.id)
    versions = [m.version for m in chain if m.key == "home.town"]
    assert versions == list(range(1, len(versions) + 1))


async def test_nothing_is_done_for_unknown_or_foreign_memories(canonical: Canonical) -> None:
    """X-1."""
    old, new = await two(canonical)
    store = canonical.judgements
    for tenant, agent in (("other", AGENT), (TENANT, "bea")):
        assert not await store.supersede(tenant, agent, verdict(old, new), NOW)
        assert not await store.record_contradiction(tenant, agent, verdict(old, new), NOW)
        assert not await store.set_verification(tenant, agent, old.id, Verification.VERIFIED, NOW)
        with pytest.raises(NotFound):
            await store.undo_supersession(tenant, agent, old.id, NOW)
    assert not await supersede(canonical, old, old)
    assert await canonical.one(old.id) == old
    assert await supersede(canonical, old, new)


async def test_a_contacts_memory_cannot_replace_an_agent_wide_one(canonical: Canonical) -> None:
    """S-5: it would take it from everybody."""
    everyones = (await canonical.remember("office", "Oslo")).memory
    anns = (await canonical.remember("desk", "Bergen", ANN)).memory
    for old, new in ((everyones, anns), (anns, everyones)):
        with pytest.raises(StateConflict):
            await supersede(canonical, old, new)
        with pytest.raises(StateConflict):
            await contradict(canonical, old, new)


async def test_an_end_that_lies_before_the_new_ones_beginning_stays(canonical: Canonical) -> None:
    """S-8."""
    old = (await canonical.remember("office", "Oslo", valid_to=NOW + DAY)).memory
    new = (await canonical.remember("desk", "Bergen", valid_from=NOW + 3 * DAY)).memory
    assert await supersede(canonical, old, new, NOW)
    assert (await canonical.one(old.id)).valid_to == NOW + DAY
    assert (await undo(canonical, old, NOW)).valid_to == NOW + DAY


# Undoing


async def test_an_undone_supersession_leaves_the_memory_as_it_was(canonical: Canonical) -> None:
    """S-8."""
    old, new = await two(canonical)
    await supersede(canonical, old, new)
    restored = await undo(canonical, old)
    unlike = {"revision", "edits", "updated"}
    assert {f: getattr(restored, f) for f in Memory.__slots__ if f not in unlike} == {
        f: getattr(old, f) for f in Memory.__slots__ if f not in unlike
    }
    assert await canonical.live(now=NOW + 2 * DAY) == ["Oslo", "Bergen"]
    assert (await canonical.index_jobs())[-1] == (TENANT, f"index_memory/{AGENT}/{old.id}/3")
    assert [one.undone for one in await made(canonical, old)] == [NOW + 2 * DAY]


async def test_a_verdict_that_was_undone_is_not_made_again(canonical: Canonical) -> None:
    """S-8: a job that runs again must not overrule a person; another verdict may."""
    old, new = await two(canonical)
    await supersede(canonical, old, new)
    await undo(canonical, old)
    assert not await supersede(canonical, old, new)
    assert (await canonical.one(old.id)).live(NOW + DAY)
    other = (await canonical.remember("town", "Molde", now=NOW + DAY)).memory
    assert await supersede(canonical, old, other)


async def test_undoing_is_refused_while_another_version_of_the_key_is_live(canonical: Canonical) -> None:
    """S-6, S-8."""
    first = (await canonical.remember("city", "Oslo")).memory
    second = (await canonical.remember("city", "Bergen", now=NOW + DAY)).memory
    with pytest.raises(StateConflict):
        await undo(canonical, first)
    elsewhere = (await canonical.remember("home.town", "Molde", now=NOW + DAY)).memory
    await supersede(canonical, second, elsewhere)
    assert (await undo(canonical, first)).live(NOW + 2 * DAY)
    with pytest.raises(StateConflict):
        await undo(canonical, second)
    assert await canonical.live(now=NOW + 2 * DAY) == ["Oslo", "Molde"]


async def test_what_is_not_superseded_cannot_be_undone(canonical: Canonical) -> None:
    old, new = await two(canonical)
    with pytest.raises(StateConflict):
        await undo(canonical, old)
    await supersede(canonical, old, new)
    answers = await asyncio.gather(*(undo(canonical, old) for _ in range(8)), return_exceptions=True)
    assert sorted(type(answer).__name__ for answer in answers) == ["Memory", *["StateConflict"] * 7]


async def test_undoing_races_with_writers_of_the_key(canonical: Canonical) -> None:
    """S-6: whoever comes first, one version of the key is live."""
    for n in range(8):
        old = (await canonical.remember(f"k{n}", "old")).memory
        new = (await canonical.remember(f"other{n}", "new")).memory
        await supersede(canonical, old, new)
        await asyncio.gather(
            undo(canonical, old), canonical.remember(f"k{n}", "third", now=NOW + DAY), return_exceptions=True
        )
        assert len(await canonical.live(key_prefix=f"k{n}", now=NOW + 3 * DAY)) == 1


async def test_a_supersession_by_something_forgotten_can_be_undone(canonical: Canonical) -> None:
    """S-8."""
    old, new = await two(canonical)
    await supersede(canonical, old, new)
    await canonical.store.forget(TENANT, AGENT, new.id)
    assert [m.id for m in await canonical.chain(old.id)] == [old.id]
    assert (await undo(canonical, old)).live(NOW + 2 * DAY)


# History


async def test_a_history_holds_what_replaced_a_memory_under_another_key(canonical: Canonical) -> None:
    """S-8."""
    first = (await canonical.remember("city", "Oslo")).memory
    old = (await canonical.remember("city", "Drammen")).memory
    new = (await canonical.remember("home.town", "Bergen")).memory
    await canonical.remember("home.town", "Molde")
    await canonical.remember("pet", "Mia")
    await supersede(canonical, old, new)
    for memory in (first, old):
        values = [m.value for m in await canonical.chain(memory.id)]
        assert values == ["Oslo", "Drammen"], "a replaced one replaces nothing"
    newest = (await canonical.remember("home.city", "Voss")).memory
    assert await supersede(canonical, old, newest)
    (last,) = [m for m in await canonical.chain(first.id) if m.key == "home.city"]
    assert last == newest
    assert [m.value for m in await canonical.chain(newest.id)] == ["Voss"]


@pytest.mark.parametrize("asked", [0, 1, 2, 3])
async def test_a_history_spans_the_buckets_of_merged_contacts(canonical: Canonical, asked: int) -> None:
    """S-5, S-8: whichever version is asked for."""
    chain = [
        (await canonical.remember("city", value, scope, now=NOW + n * DAY)).memory
        for n, (value, scope) in enumerate(
            [("Oslo", ANN_TOO), ("Bergen", ANN_TOO), ("Molde", MERGED), ("Voss", MERGED)]
        )
    ]
    await canonical.remember("city", "Bob's", BOB)
    assert [m.id for m in await canonical.chain(chain[asked].id)] == [m.id for m in chain]


# Contradictions


async def test_a_contradiction_is_listed_and_shown_on_both_and_not_acted_on(canonical: Canonical) -> None:
    """S-7."""
    one, other = await two(canonical)
    plain = (await canonical.remember("pet", "Mia")).memory
    assert await contradict(canonical, one, other)
    (found,) = await contradictions(canonical)
    assert {m.id for m in found.memories} == {one.id, other.id}
    assert (found.probability, found.judge, found.created) == (0.8, JUDGE, NOW)
    assert (await canonical.one(one.id)).contradicts == (other.id,)
    assert (await canonical.one(other.id)).contradicts == (one.id,)
    assert (await canonical.one(plain.id)).contradicts == ()
    assert await canonical.live(now=NOW + DAY) == ["Oslo", "Bergen", "Mia"]


async def test_a_contradiction_is_recorded_once(canonical: Canonical) -> None:
    one, other = await two(canonical)
    pairs = [(one, other), (other, one)] * 4
    answers = await asyncio.gather(*(contradict(canonical, *pair) for pair in pairs))
    assert sorted(answers) == [False] * 7 + [True]
    assert len(await contradictions(canonical)) == 1


async def test_contradictions_are_listed_by_scope_and_page(canonical: Canonical) -> None:
    """S-5."""
    pairs = {}
    for name, scope in (("all", AGENT_WIDE), ("ann", ANN), ("bob", BOB)):
        one = (await canonical.remember(f"{name}.one", "a", scope)).memory
        other = (await canonical.remember(f"{name}.other", "b", scope)).memory
        await contradict(canonical, one, other)
        pairs[name] = {one.id, other.id}

    async def listed(scope: Scope) -> list[set[str]]:
        return [{m.id for m in found.memories} for found in await contradictions(canonical, scope)]

    assert await listed(AGENT_WIDE) == [pairs["all"]]
    anns = await listed(ANN)
    assert len(anns) == 2
    assert all(pair in anns for pair in (pairs["all"], pairs["ann"]))
    (first,) = await contradictions(canonical, ANN, limit=1)
    (second,) = await contradictions(canonical, ANN, after=first.id)
    assert {first.id, second.id} == {c.id for c in await contradictions(canonical, ANN)}
    assert await contradictions(canonical, Scope(agent_id="bea")) == []


async def test_a_contradiction_ends_with_the_life_of_either(canonical: Canonical) -> None:
    """S-7, S-8: and comes back with it."""
    one, other = await two(canonical)
    await contradict(canonical, one, other)
    third = (await canonical.remember("town", "Voss", now=NOW + DAY)).memory
    await supersede(canonical, one, third)
    assert await contradictions(canonical) == []
    assert (await canonical.one(other.id)).contradicts == ()
    await undo(canonical, one)
    assert len(await contradictions(canonical)) == 1
    assert (await canonical.one(other.id)).contradicts == (one.id,)
    await canonical.store.forget(TENANT, AGENT, one.id)
    assert await contradictions(canonical) == []
    assert (await canonical.one(other.id)).contradicts == ()
    assert not await contradict(canonical, one, other)


async def test_a_contradiction_is_settled_by_keeping_one(canonical: Canonical) -> None:
    """S-8: the other is superseded, which can be undone; then they contradict each other again."""
    one, other = await two(canonical)
    await contradict(canonical, one, other)
    (found,) = await contradictions(canonical)
    store = canonical.judgements
    settled = await store.resolve_contradiction(TENANT, AGENT, found.id, one.id, NOW + DAY)
    assert await store.resolve_contradiction(TENANT, AGENT, found.id, one.id, NOW + 2 * DAY) == settled
    assert await canonical.live(now=NOW + DAY) == ["Oslo"]
    assert [one.cause for one in await made(canonical, other)] == [Cause.RESOLVED]
    assert await contradictions(canonical) == []
    with pytest.raises(StateConflict):
        await store.resolve_contradiction(TENANT, AGENT, found.id, other.id, NOW + DAY)
    await undo(canonical, other)
    assert [c.id for c in await contradictions(canonical)] == [found.id]
    settled = await store.resolve_contradiction(TENANT, AGENT, found.id, other.id, NOW + 2 * DAY)
    assert await canonical.live(now=NOW + 2 * DAY) == ["Bergen"]


async def test_a_contradiction_is_settled_by_keeping_both_for_good(canonical: Canonical) -> None:
    """S-7: a job that runs again does not open it."""
    one, other = await two(canonical)
    await contradict(canonical, one, other)
    (found,) = await contradictions(canonical)
    await canonical.judgements.resolve_contradiction(TENANT, AGENT, found.id, "", NOW + DAY)
    assert await contradictions(canonical) == []
    assert (await canonical.one(one.id)).contradicts == ()
    assert not await contradict(canonical, one, other)
    assert await contradictions(canonical) == []
    assert await canonical.live(now=NOW + DAY) == ["Oslo", "Bergen"]


async def test_a_contradiction_can_only_be_settled_between_its_own(canonical: Canonical) -> None:
    one, other = await two(canonical)
    third = (await canonical.remember("pet", "Mia")).memory
    await contradict(canonical, one, other)
    (found,) = await contradictions(canonical)
    resolve = canonical.judgements.resolve_contradiction
    with pytest.raises(InvalidField):
        await resolve(TENANT, AGENT, found.id, third.id, NOW)
    for place in (("other", AGENT, found.id), (TENANT, "bea", found.id), (TENANT, AGENT, "unknown")):
        with pytest.raises(NotFound):
            await resolve(*place, one.id, NOW)
    await canonical.remember("city", "Voss", now=NOW + DAY)
    with pytest.raises(StateConflict):
        await resolve(TENANT, AGENT, found.id, one.id, NOW + DAY)
    assert await canonical.live(now=NOW + DAY) == ["Bergen", "Mia", "Voss"]


# Verification


async def test_memories_are_to_be_verified_but_tasks_are_not(canonical: Canonical) -> None:
    """S-7."""
    fact = (await canonical.remember("city", "Oslo")).memory
    task = (await canonical.remember("todo", "pay", fact_type=FactType.TASK)).memory
    assert (fact.verification, task.verification) == (Verification.PENDING, Verification.NOT_NEEDED)
    jobs = await canonical.jobs()
    assert await canonical.judgements.set_verification(
        TENANT, AGENT, fact.id, Verification.VERIFIED, NOW + DAY
    )
    verified = await canonical.one(fact.id)
    assert (verified.verification, verified.revision) == (Verification.VERIFIED, fact.revision)
    assert await canonical.jobs() == jobs, "the indexes hold nothing of it"
    assert not await canonical.judgements.set_verification(TENANT, AGENT, "x", Verification.VERIFIED, NOW)
