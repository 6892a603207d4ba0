"""Recall of what was valid at a moment (SPEC S-8, S-9, S-10)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.memory.semantic.app.indexing import MemoryItem
from services.memory.semantic.app.ports import Verdict
from services.memory.semantic.app.recall import MemoryHit
from services.memory.semantic.domain.fusion import Default, Reference
from services.memory.semantic.domain.memory import FactType, Kind, Memory, MessageRef, Scope
from services.memory.semantic.domain.vectors import Bucket, ContentClass
from tests.unit.semantic_parts import AGENT, AGENT_WIDE, NOW, TENANT, Parts

ALL = {"vector", "keyword", "key", "messages"}
DAY, TICK = timedelta(days=1), timedelta(microseconds=1)
SOURCE = MessageRef(conversation_id="c", message_id="c-1")
CITIES = ("lives in Oslo", "lives in Bergen", "lives in Tromsø")


@pytest.fixture
async def parts() -> Parts:
    """Somebody moved twice: on the third day and on the fifth; indexed as a worker does."""
    made = Parts()
    made.episodes.add("c", "where does he live, in which city?")
    await made.index_messages("c", 1)
    for day, value in zip((0, 3, 5), CITIES, strict=True):
        made.now = NOW + day * DAY
        await written(made, "user.city", value, provenance=(SOURCE,))
    made.now = NOW + 9 * DAY
    return made


async def written(parts: Parts, key: str, value: str, scope: Scope = AGENT_WIDE, **fields: Any) -> Memory:
    """A memory, with the jobs that it makes done."""
    memory = await parts.remember(key, value, scope, **fields)
    await work_off(parts)
    return memory


async def work_off(parts: Parts) -> None:
    jobs = [MemoryItem(memory_id=key.split("/")[2]) for key in parts.outbox]
    parts.outbox.clear()
    assert set(await parts.indexer.index(TENANT, AGENT, jobs)) <= {""}


async def recall(
    parts: Parts,
    as_of: datetime | None,
    query: str = "which city does he live in",
    scope: Scope = AGENT_WIDE,
    **fields: Any,
) -> list[MemoryHit]:
    chosen = {"limit": 10, "kinds": frozenset(), "strategy": Reference(), "fill": False} | fields
    hits, failures = await parts.recall.memories(TENANT, scope, query, as_of=as_of, **chosen)
    assert failures == {}
    return hits


async def values(parts: Parts, as_of: datetime | None, *arguments: Any, **fields: Any) -> set[str]:
    return {hit.memory.value for hit in await recall(parts, as_of, *arguments, **fields)}


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (0 * DAY, 0),
        (3 * DAY - TICK, 0),
        (3 * DAY, 1),
        (5 * DAY, 2),
        (9 * DAY, 2),
        (400 * DAY, 2),
        (-TICK, None),
    ],
)
async def test_every_channel_finds_what_was_valid_then_and_nothing_else(
    parts: Parts, after: timedelta, expected: int | None
) -> None:
    """S-8, S-9: from its first moment on, until the next one's."""
    hits = await recall(parts, NOW + after)
    if expected is None:
        assert hits == []
        return
    (hit,) = hits
    assert hit.memory.value == CITIES[expected]
    assert hit.hit is not None
    assert set(hit.hit.channels) == ALL
    assert {found.rank for found in hit.hit.channels.values()} == {1}, "no place is kept for the others"


@pytest.mark.parametrize("channel", sorted(ALL))
async def test_one_channel_is_enough(parts: Parts, channel: str) -> None:
    """S-8, S-11: each knows the past by itself."""
    weights = {name: float(name == channel) for name in ALL}
    for day, value in ((1, CITIES[0]), (4, CITIES[1]), (6, CITIES[2])):
        (hit,) = await recall(parts, NOW + day * DAY, strategy=Reference(weights=weights))
        assert hit.memory.value == value
        assert hit.hit is not None
        assert {name for name, part in hit.hit.contributions.items() if part} == {channel}


async def test_without_a_moment_the_past_is_not_even_asked_for(parts: Parts) -> None:
    """S-8: it is in no index that recall searches."""
    live = Bucket(tenant=TENANT, agent=AGENT, content=ContentClass.MEMORY)
    assert [await parts.vectors.count(live.of(c)) for c in (ContentClass.MEMORY, ContentClass.PAST)] == [1, 2]
    assert await values(parts, None) == {CITIES[2]}
    assert await values(parts, None, fill=True) == {CITIES[2]}


async def test_a_plan_is_found_as_of_its_time(parts: Parts) -> None:
    """S-8: a moment may lie in the future."""
    plan = await written(parts, "user.city", "moves to Paris", valid_from=parts.now + 2 * DAY)
    assert await values(parts, None) == await values(parts, parts.now) == {CITIES[2]}
    assert await values(parts, plan.valid_from - TICK) == {CITIES[2]}
    assert await values(parts, plan.valid_from) == {plan.value}
    assert await values(parts, NOW + 1000 * DAY) == {plan.value}


async def test_an_end_that_passed_by_itself_needs_no_job(parts: Parts) -> None:
    """S-8: it is found as of its time whichever class the index has it in."""
    lease = await written(parts, "user.flat", "rents a flat in the city", valid_to=parts.now + DAY)
    held_on = parts.now
    parts.now += 2 * DAY
    for _ in range(2):
        assert lease.value not in await values(parts, None)
        assert lease.value in await values(parts, held_on)
        assert lease.value not in await values(parts, held_on + DAY)
        await parts.index_memories(lease)


async def test_what_was_undone_is_found_again_and_no_longer_doubled(parts: Parts) -> None:
    """S-8."""
    one = await written(parts, "a", "keeps bees")
    other = await written(parts, "b", "keeps goats", valid_from=parts.now + DAY)
    parts.now += 3 * DAY
    verdict = Verdict(old_id=one.id, new_id=other.id, probability=1.0, judge="test")
    await parts.judgements.supersede(TENANT, AGENT, verdict, parts.now)
    await work_off(parts)
    before, after = other.valid_from - TICK, other.valid_from
    query = {"query": "keeps", "strategy": Default()}
    assert await values(parts, before, **query) >= {one.value}
    assert not await values(parts, after, **query) & {one.value}
    await parts.judgements.undo_supersession(TENANT, AGENT, one.id, parts.now)
    await work_off(parts)
    for moment in (after, None):
        found = [hit.memory.id for hit in await recall(parts, moment, **query)]
        assert found.count(one.id) == found.count(other.id) == 1


async def test_no_moment_leaves_the_scope(parts: Parts) -> None:
    """S-5, S-8: two people, each with a past."""
    ann, bob = (Scope(agent_id=AGENT, contact_ids=(who,)) for who in ("ann", "bob"))
    for scope, drinks in ((ann, ("tea", "water")), (bob, ("wine", "milk"))):
        for day, drink in enumerate(drinks):
            begins = NOW + day * DAY
            await written(parts, "drink", f"drinks {drink}", scope, valid_from=begins)
    query = "drinks what"
    for day, anns, bobs in ((0, "tea", "wine"), (1, "water", "milk")):
        moment = NOW + day * DAY
        for scope, mine, theirs in ((ann, anns, bobs), (bob, bobs, anns)):
            found = await values(parts, moment, query, scope)
            assert f"drinks {mine}" in found
            assert f"drinks {theirs}" not in found
        assert not {value for value in await values(parts, moment, query) if value.startswith("drinks")}
    assert await recall(parts, NOW, query, Scope(agent_id="another")) == []


async def test_what_is_forgotten_stays_away_at_every_moment(parts: Parts) -> None:
    """S-8: although no index was cleaned yet, and once they are."""
    kept = await written(parts, "user.country", "the city lies in Norway", valid_from=NOW)
    newest = (await recall(parts, parts.now))[0].memory
    await parts.store.forget(TENANT, AGENT, newest.id)
    for _ in range(2):
        for day in (0, 3, 5, 9, 400):
            assert await values(parts, NOW + day * DAY) == {kept.value}
        await work_off(parts)


async def test_places_left_are_filled_by_what_held_then(parts: Parts) -> None:
    """S-8, S-10: live ones of today among them, if they held."""
    await written(parts, "pet", "has a cat", valid_from=NOW + DAY)
    hits = await recall(parts, NOW + 2 * DAY, "zebra", fill=True)
    assert {hit.memory.value for hit in hits} == {CITIES[0], "has a cat"}
    hits = await recall(parts, NOW, "zebra", fill=True)
    assert {hit.memory.value for hit in hits} == {CITIES[0]}


async def test_tasks_of_then_are_found_by_words_and_keys_alone(parts: Parts) -> None:
    """S-3, S-8."""
    task = await written(parts, "todo.passport", "renew the passport", fact_type=FactType.TASK)
    then = parts.now
    parts.now += 30 * DAY
    await parts.index_memories(task)
    (hit,) = await recall(parts, then, "passport", kinds=frozenset({Kind.TASK}))
    assert hit.hit is not None
    assert set(hit.hit.channels) == {"keyword", "key"}
    assert await values(parts, None, "passport", kinds=frozenset({Kind.TASK})) == set()
    assert await values(parts, then, "passport", fill=True, kinds=frozenset({Kind.FACT})) == {CITIES[2]}


async def test_the_moment_narrows_before_a_list_is_cut(parts: Parts) -> None:
    """S-9: better matches of another time take no place."""
    for n in range(130):
        begins = NOW + 20 * DAY if n % 2 else NOW - 20 * DAY
        ends = {} if n % 2 else {"valid_to": NOW - 10 * DAY}
        await parts.remember(f"heron.{n}", "heron heron heron", valid_from=begins, **ends)
    await parts.remember("x", "saw a heron by the river and its nest in a tree", valid_from=NOW)
    await work_off(parts)
    found = await recall(parts, NOW, "heron")
    weak = next(hit for hit in found if hit.memory.key == "x")
    assert weak.hit is not None
    assert {"keyword", "vector"} <= set(weak.hit.channels)
    assert not [hit for hit in found if hit.memory.key.startswith("heron.")]


moments = st.integers(-3, 8)
spans = st.lists(st.tuples(st.sampled_from("abcd"), moments, st.none() | st.integers(1, 6)), max_size=12)


@settings(max_examples=40, deadline=None)
@given(spans, st.lists(moments, min_size=1, max_size=4), st.integers(0, 5))
async def test_recall_as_of_a_moment_is_what_was_valid_then(
    written_spans: list[tuple[str, int, int | None]], asked: list[int], later: int
) -> None:
    """S-8: whatever was written, in whatever order, and however long ago it was indexed."""
    parts = Parts()
    for number, (key, begins, length) in enumerate(written_spans):
        begin = NOW + begins * DAY
        end = None if length is None else begin + length * DAY
        await parts.remember(key, f"heron number {number}", valid_from=begin, valid_to=end)
    ids = [kept.memory_id for kept in await parts.store.kept(0, 100, parts.now)]
    await work_off(parts)
    parts.now += later * DAY
    rows = (await parts.store.get(TENANT, AGENT, ids)).values()
    for day in asked:
        moment = NOW + day * DAY
        expected = {memory.id for memory in rows if memory.valid_at(moment)}
        hits = await recall(parts, moment, "heron", limit=50)
        assert {hit.memory.id for hit in hits} == expected
        for hit in hits:
            assert hit.hit is not None
            assert {"keyword", "vector"} <= set(hit.hit.channels)
