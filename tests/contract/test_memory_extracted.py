"""What is read from messages is written late, out of order and more than once (SPEC J-8, J-9, S-4, S-6)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from services.kit.errors import Exists
from services.kit.sql import SqlDatabase
from services.memory.semantic.app.ports import Remembered
from services.memory.semantic.domain.memory import MessageRef, Source
from tests.contract.memory_parts import AGENT, AGENT_WIDE, ANN, BOB, DAY, NOW, RACERS, TENANT, Canonical


@pytest.fixture
def canonical(semantic_sql_pair: tuple[SqlDatabase, SqlDatabase]) -> Canonical:
    return Canonical(semantic_sql_pair)


def said(message: str) -> tuple[MessageRef, ...]:
    return (MessageRef(conversation_id="c", message_id=message),)


async def told(canonical: Canonical, message: str, key: str, value: str, **fields: Any) -> Remembered:
    chosen: dict[str, Any] = {"source": Source.TURN, "provenance": said(message)} | fields
    return await canonical.remember(key, value, **chosen)


async def test_the_source_decides_the_confidence(canonical: Canonical) -> None:
    """S-4."""
    turn = await told(canonical, "m1", "home", "lives in Oslo")
    flush = await told(canonical, "m2", "diet", "is vegan", source=Source.PRE_COMPACTION)
    assert (turn.memory.confidence, flush.memory.confidence) == (0.5, 0.6)


async def test_what_was_said_earlier_does_not_replace_what_holds_from_later_on(canonical: Canonical) -> None:
    """Two jobs may be done in any order; what the application writes replaces it in any case (S-6)."""
    late = await told(canonical, "m2", "home", "lives in Bergen", valid_from=NOW - DAY)
    early = await told(canonical, "m1", "home", "lives in Oslo", valid_from=NOW - 2 * DAY)
    assert (early.created, early.memory.id) == (False, late.memory.id)
    assert await canonical.live() == ["lives in Bergen"]
    await told(canonical, "m3", "home", "lives in Turku", valid_from=NOW)
    assert await canonical.live() == ["lives in Turku"]
    explicit = await canonical.remember("home", "lives in Rome", valid_from=NOW - 2 * DAY)
    assert explicit.created


async def test_a_message_tells_of_a_key_once(canonical: Canonical) -> None:
    """Also when what it told has been replaced since, under the same key or another's."""
    first = await told(canonical, "m1", "home", "lives in Oslo")
    await canonical.remember("home", "lives in Rome", now=NOW + DAY)
    for source in (Source.TURN, Source.PRE_COMPACTION):
        with pytest.raises(Exists):
            await told(canonical, "m1", "home", "lives in Oslo", source=source)
    assert await canonical.live(now=NOW + DAY) == ["lives in Rome"]
    other = await told(canonical, "m1", "diet", "is vegan")
    assert other.created
    assert first.memory.value == "lives in Oslo"


async def test_what_was_forgotten_comes_back_only_when_it_is_said_again(canonical: Canonical) -> None:
    """D-2: neither by a repeated job nor by a flush of its range."""
    first = await told(canonical, "m1", "home", "lives in Oslo")
    await canonical.store.forget(TENANT, AGENT, first.memory.id)
    with pytest.raises(Exists):
        await told(canonical, "m1", "home", "lives in Oslo", source=Source.PRE_COMPACTION)
    assert await canonical.live() == []
    assert (await told(canonical, "m2", "home", "lives in Oslo")).created
    assert await canonical.live() == ["lives in Oslo"]


async def test_a_retry_gets_the_first_answer(canonical: Canonical) -> None:
    first = await told(canonical, "m1", "home", "lives in Oslo", request_id="r")
    again = await told(canonical, "m1", "home", "lives in Oslo", request_id="r")
    assert again == first


async def test_the_same_statement_of_another_message_changes_nothing(canonical: Canonical) -> None:
    """S-6."""
    first = await told(canonical, "m1", "home", "lives in Oslo")
    again = await told(canonical, "m2", "home", "lives in Oslo")
    assert (again.created, again.memory.id) == (False, first.memory.id)


async def test_agents_tenants_and_contacts_are_apart(canonical: Canonical) -> None:
    await told(canonical, "m1", "home", "lives in Oslo", scope=ANN)
    elsewhere = await told(canonical, "m1", "home", "lives in Oslo", tenant="other")
    assert elsewhere.created
    assert await canonical.live(ANN) == ["lives in Oslo"]
    assert await canonical.live(BOB) == await canonical.live(AGENT_WIDE) == []


async def test_of_many_that_tell_at_once_one_writes(canonical: Canonical) -> None:
    answers = await asyncio.gather(
        *(told(canonical, "m1", "home", f"lives in {n}") for n in range(RACERS)), return_exceptions=True
    )
    written = [one for one in answers if isinstance(one, Remembered)]
    assert len(written) == 1
    assert sum(isinstance(one, Exists) for one in answers) == RACERS - 1
    assert await canonical.live() == [written[0].memory.value]
