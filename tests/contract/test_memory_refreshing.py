"""What a changed memory asks to be derived again, on SQLite and PostgreSQL (SPEC J-17, SV-5)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from services.kit.sql import SqlDatabase
from services.memory.semantic.adapters.sql.upkeep import SqlUpkeep
from services.memory.semantic.app.ports import Verdict
from services.memory.semantic.app.upkeep_ports import Member
from services.memory.semantic.domain.memory import Memory
from tests.contract.memory_parts import AGENT, NOW, TENANT, Canonical

LATER = NOW + timedelta(days=1)


@pytest.fixture
def canonical(semantic_sql_pair: tuple[SqlDatabase, SqlDatabase]) -> Canonical:
    return Canonical(semantic_sql_pair)


@pytest.fixture
def upkeep(semantic_sql_pair: tuple[SqlDatabase, SqlDatabase]) -> SqlUpkeep:
    return SqlUpkeep(semantic_sql_pair[0])


async def told(canonical: Canonical) -> list[dict[str, Any]]:
    """What was said of changes since the beginning, without its constant parts."""
    rows = [payload for _, key, payload in await canonical.outbox() if key.startswith("refresh_derived/")]
    assert all(row.pop("source") == "memories" for row in rows)
    return rows


async def two(canonical: Canonical) -> tuple[Memory, Memory]:
    one = (await canonical.remember("home", "Lives in Oslo, near the fjord")).memory
    return one, (await canonical.remember("town", "Lives in Oslo")).memory


async def merge(upkeep: SqlUpkeep, *memories: Memory) -> None:
    members = [Member(memory_id=one.id, edits=one.edits) for one in memories]
    await upkeep.merge(TENANT, AGENT, "m", members, LATER)


async def test_what_held_for_a_while_was_replaced(canonical: Canonical) -> None:
    old = (await canonical.remember("home", "Oslo")).memory
    assert await told(canonical) == [], "what is new replaces nothing"
    await canonical.remember("home", "Oslo")
    assert await told(canonical) == []
    await canonical.remember("home", "Bergen", now=LATER)
    assert await told(canonical) == [{"replaced": [old.id]}]


async def test_what_never_held_was_wrong(canonical: Canonical) -> None:
    """S-8: the newer version is valid from the same moment on."""
    old = (await canonical.remember("home", "Oslo", valid_from=NOW)).memory
    await canonical.remember("home", "Bergen", now=LATER, valid_from=NOW)
    assert await told(canonical) == [{"ids": [old.id]}]


async def test_a_judgement_and_taking_it_back_are_told(canonical: Canonical) -> None:
    """S-7."""
    old = (await canonical.remember("home", "Lives in Oslo")).memory
    new = (await canonical.remember("town", "Lives in Bergen", now=LATER)).memory
    verdict = Verdict(old_id=old.id, new_id=new.id, probability=0.9, judge="test")
    assert await canonical.judgements.supersede(TENANT, AGENT, verdict, LATER)
    assert await told(canonical) == [{"replaced": [old.id]}]
    await canonical.judgements.undo_supersession(TENANT, AGENT, old.id, LATER)
    assert (await told(canonical))[1:] == [{"ids": [old.id]}]


async def test_what_is_forgotten_is_told_with_all_its_versions(canonical: Canonical) -> None:
    """S-1."""
    ids = [(await canonical.remember("home", value)).memory.id for value in ("Oslo", "Bergen")]
    before = len(await told(canonical))
    await canonical.store.forget(TENANT, AGENT, ids[0])
    assert [sorted(row["ids"]) for row in (await told(canonical))[before:]] == [sorted(ids)]
    await canonical.store.forget(TENANT, AGENT, ids[0])
    assert len(await told(canonical)) == before + 1


async def test_what_only_gets_another_pin_is_not(canonical: Canonical) -> None:
    one = (await canonical.remember("home", "Oslo")).memory
    await canonical.store.set_pinned(TENANT, AGENT, one.id, True, LATER)
    assert await told(canonical) == []


async def test_a_merge_says_nothing_new(canonical: Canonical, upkeep: SqlUpkeep) -> None:
    """J-10; when it is taken back, what came from the merged memory follows."""
    await merge(upkeep, *await two(canonical))
    assert await told(canonical) == []
    await upkeep.undo_merge(TENANT, AGENT, "m", LATER)
    assert await told(canonical) == [{"ids": ["m"]}]


async def test_a_merge_does_not_outlive_what_it_was_made_of(canonical: Canonical, upkeep: SqlUpkeep) -> None:
    chosen, other = await two(canonical)
    await merge(upkeep, chosen, other)
    await canonical.store.forget(TENANT, AGENT, other.id)
    assert await told(canonical) == [{"ids": [other.id]}, {"merged": ["m"]}]
    await upkeep.undo_merge(TENANT, AGENT, "m", LATER)
    assert await canonical.live(now=LATER) == [chosen.value]


async def test_a_merge_falls_apart_when_a_part_is_taken_out(canonical: Canonical, upkeep: SqlUpkeep) -> None:
    chosen, other = await two(canonical)
    await merge(upkeep, chosen, other)
    await canonical.judgements.undo_supersession(TENANT, AGENT, other.id, LATER)
    assert await told(canonical) == [{"merged": ["m"]}]
    await upkeep.undo_merge(TENANT, AGENT, "m", LATER)
    assert sorted(await canonical.live(now=LATER)) == sorted([chosen.value, other.value])


async def test_a_merged_memory_that_is_forgotten_is_not_taken_apart(
    canonical: Canonical, upkeep: SqlUpkeep
) -> None:
    chosen, other = await two(canonical)
    await merge(upkeep, chosen, other)
    await canonical.store.forget(TENANT, AGENT, "m")
    assert [sorted(row["ids"]) for row in await told(canonical)] == [sorted([chosen.id, "m"])]
