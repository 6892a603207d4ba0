"""The choice of memories that prompts show at any rate, and when it is made anew (SPEC G-1, S-10)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import pytest

from services.kit.sql import SqlDatabase
from services.memory.semantic.app.ports import Verdict
from services.memory.semantic.domain.memory import FactType, Memory, by_relevance
from tests.contract.memory_parts import AGENT, AGENT_WIDE, ANN, BOB, DAY, NOW, TENANT, Canonical

WEEKS = 60 * DAY
SECOND = timedelta(seconds=1)


@pytest.fixture
def canonical(semantic_sql_pair: tuple[SqlDatabase, SqlDatabase]) -> Canonical:
    return Canonical(semantic_sql_pair)


class Chooser:
    """Asks for the choice of a scope at a moment, and counts how often one was made."""

    def __init__(self, canonical: Canonical, limit: int = 3) -> None:
        self.store = canonical.store
        self.limit = limit
        self.made = 0

    async def values(self, scope: object = ANN, now: object = NOW) -> list[str]:
        def choose(memories: Sequence[Memory]) -> Sequence[Memory]:
            self.made += 1
            return by_relevance(memories, now)  # type: ignore[arg-type]

        found = await self.store.standing_choice(TENANT, scope, self.limit, now, choose)  # type: ignore[arg-type]
        return [memory.value for memory in found]


async def test_accesses_and_days_leave_the_choice_as_it_is(canonical: Canonical) -> None:
    """Positive control: by relevance of that day others would be chosen."""
    ids = [(await canonical.remember(f"k{n}", f"v{n}", now=NOW + n * SECOND)).memory.id for n in range(5)]
    chooser = Chooser(canonical)
    later = NOW + DAY
    first = await chooser.values(now=later)
    assert first == ["v4", "v3", "v2"]
    for day in range(3):
        await canonical.store.count_access(TENANT, AGENT, ids[:2], later + day * DAY)
    assert await chooser.values(now=later + WEEKS) == first
    assert chooser.made == 1
    now = later + WEEKS
    fresh = by_relevance(await canonical.store.standing(TENANT, ANN, now), now)
    assert {memory.value for memory in fresh[:2]} == {"v0", "v1"}


async def test_each_change_of_memories_makes_it_anew(canonical: Canonical) -> None:
    first = (await canonical.remember("a", "a1", ANN)).memory
    chooser = Chooser(canonical, 10)
    assert await chooser.values() == ["a1"]
    await canonical.remember("b", "b1", now=NOW + SECOND)
    assert set(await chooser.values(now=NOW + SECOND)) == {"a1", "b1"}
    await canonical.store.set_pinned(TENANT, AGENT, first.id, True, NOW + 2 * SECOND)
    assert await chooser.values(now=NOW + 2 * SECOND) == ["a1", "b1"]
    await canonical.store.set_pinned(TENANT, AGENT, first.id, False, NOW + 3 * SECOND)
    await canonical.remember("a", "a2", ANN, now=NOW + 4 * SECOND)
    assert set(await chooser.values(now=NOW + 5 * SECOND)) == {"a2", "b1"}
    await canonical.store.forget(TENANT, AGENT, first.id)
    assert await chooser.values(now=NOW + 6 * SECOND) == ["b1"]
    assert chooser.made == 5


async def test_a_forgotten_memory_is_gone_however_old_it_is(canonical: Canonical) -> None:
    """It is not among the newest changes by which a choice is recognised."""
    old = (await canonical.remember("name", "Ann", pinned=True, now=NOW - 900 * DAY)).memory
    await asyncio.gather(*(canonical.remember(f"k{n}", "v") for n in range(60)))
    chooser = Chooser(canonical)
    assert (await chooser.values())[0] == "Ann"
    await canonical.store.forget(TENANT, AGENT, old.id)
    assert "Ann" not in await chooser.values()


async def test_a_memory_that_is_brought_back_makes_it_anew(canonical: Canonical) -> None:
    old = (await canonical.remember("city", "Rome")).memory
    new = (await canonical.remember("town", "Oslo", now=NOW + SECOND)).memory
    verdict = Verdict(old_id=old.id, new_id=new.id, probability=0.9, judge="test")
    await canonical.judgements.supersede(TENANT, AGENT, verdict, NOW + 2 * SECOND)
    chooser = Chooser(canonical)
    assert await chooser.values(now=NOW + 3 * SECOND) == ["Oslo"]
    await canonical.judgements.undo_supersession(TENANT, AGENT, old.id, NOW + 4 * SECOND)
    assert set(await chooser.values(now=NOW + 5 * SECOND)) == {"Oslo", "Rome"}


async def test_what_ends_or_begins_by_itself_makes_it_anew(canonical: Canonical) -> None:
    await canonical.remember("trip", "Rome", valid_to=NOW + DAY)
    await canonical.remember("job", "baker", valid_from=NOW + 2 * DAY)
    await canonical.remember("todo", "renew", fact_type=FactType.TASK)
    chooser = Chooser(canonical)
    assert await chooser.values(now=NOW + SECOND) == ["Rome"]
    assert await chooser.values(now=NOW + DAY + SECOND) == []
    assert await chooser.values(now=NOW + DAY + 2 * SECOND) == []
    assert chooser.made == 2
    assert await chooser.values(now=NOW + 2 * DAY + SECOND) == ["baker"]


async def test_scopes_and_limits_have_choices_of_their_own(canonical: Canonical) -> None:
    await canonical.remember("a", "Ann's", ANN)
    await canonical.remember("b", "Bob's", BOB)
    await canonical.remember("c", "everybody's", AGENT_WIDE)
    chooser = Chooser(canonical, 10)
    for _ in range(2):
        assert set(await chooser.values(ANN)) == {"Ann's", "everybody's"}
        assert set(await chooser.values(BOB)) == {"Bob's", "everybody's"}
        assert await chooser.values(AGENT_WIDE) == ["everybody's"]
    assert chooser.made == 3
    await canonical.remember("b", "Bob's new one", BOB, now=NOW + SECOND)
    assert set(await chooser.values(ANN, NOW + SECOND)) == {"Ann's", "everybody's"}
    assert chooser.made == 3, "what a person's scope doesn't hold changes nothing for it"


async def test_choosers_at_the_same_time_are_given_the_same(canonical: Canonical) -> None:
    for number in range(6):
        await canonical.remember(f"k{number}", f"v{number}")
    orders = [Chooser(canonical) for _ in range(8)]
    moments = [NOW + number * SECOND for number in range(8)]
    found = await asyncio.gather(
        *(chooser.values(now=now) for chooser, now in zip(orders, moments, strict=True))
    )
    assert len({tuple(one) for one in found}) == 1
