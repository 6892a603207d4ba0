"""What the remote memory holds: the suite of the RemoteCopies port (SPEC S-15)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest

from services.kit.sql import SqlDatabase, fetch
from services.memory.semantic.adapters.sql.remote_copies import SqlRemoteCopies
from services.memory.semantic.app.syncing import Claim
from services.memory.semantic.domain.memory import FactType
from tests.contract.memory_parts import AGENT, ANN, DAY, NOW, TENANT, Canonical

MINUTE = timedelta(minutes=1)


class Parts:
    """Memories and their copies, as two replicas see them."""

    def __init__(self, pair: tuple[SqlDatabase, SqlDatabase]) -> None:
        self.canonical = Canonical(pair)
        self.copies, self.other = (SqlRemoteCopies(sql) for sql in pair)

    async def memory(self, key: str, value: str = "x", now: datetime = NOW) -> str:
        return (await self.canonical.remember(key, value, now=now)).memory.id

    async def claim(self, new: Sequence[str] = (), known: Sequence[str] = (), now: datetime = NOW) -> Claim:
        return await self.copies.claim(TENANT, AGENT, known, new, now=now, until=now + MINUTE)

    async def copy(self, memory_id: str, revision: int = 1) -> None:
        claim = await self.claim([memory_id])
        await self.copies.settle(TENANT, AGENT, {memory_id: revision}, claim.until)

    async def behind(self, now: datetime = NOW, after: str = "", limit: int = 10) -> list[str]:
        return await self.copies.behind(TENANT, AGENT, after, limit, now)

    async def lapsed(self, now: datetime = NOW, after: str = "", limit: int = 10) -> list[str]:
        return await self.copies.lapsed(TENANT, AGENT, after, limit, now)

    async def sync_jobs(self) -> list[str]:
        return [key for _, key in await self.canonical.jobs() if key.startswith("sync_memory/")]


@pytest.fixture
def parts(semantic_sql_pair: tuple[SqlDatabase, SqlDatabase]) -> Parts:
    return Parts(semantic_sql_pair)


async def test_a_row_is_held_by_one_at_a_time_and_until_its_time_is_over(parts: Parts) -> None:
    """S-15: so that requests about one memory never overlap."""
    assert await parts.claim(["m"]) == Claim(held={"m": 0}, busy=frozenset(), until=NOW + MINUTE)
    later = NOW + MINUTE / 2
    other = await parts.other.claim(TENANT, AGENT, ["m"], ["n"], now=later, until=later + MINUTE)
    assert other == Claim(held={"n": 0}, busy=frozenset({"m"}), until=later + MINUTE)
    again = await parts.claim(["m"], now=NOW + MINUTE)
    assert again.held == {"m": 0}, "the first one's time is over"
    await parts.copies.release(TENANT, AGENT, ["m"], again.until)
    assert (await parts.claim(["m"], now=NOW + MINUTE)).held == {"m": 0}, "it was let go"


async def test_who_is_late_changes_nothing_that_somebody_else_holds_by_then(parts: Parts) -> None:
    """S-15: a request that outlived its claim neither acknowledges, nor lets go, nor deletes the row."""
    late = (await parts.claim(["m"])).until
    await parts.claim(["m"], now=NOW + MINUTE)
    await parts.copies.settle(TENANT, AGENT, {"m": 7}, late)
    await parts.copies.release(TENANT, AGENT, ["m"], late)
    await parts.copies.drop(TENANT, AGENT, ["m"], late)
    held = await parts.other.claim(TENANT, AGENT, ["m"], (), now=NOW + MINUTE, until=NOW + 2 * MINUTE)
    assert (held.held, held.busy) == ({}, {"m"})
    assert (await parts.claim(["m"], now=NOW + 2 * MINUTE)).held == {"m": 0}


async def test_of_callers_that_race_one_holds_each_row(parts: Parts) -> None:
    """S-15."""
    ids = [f"m{n}" for n in range(8)]
    claims = await asyncio.gather(
        *(
            copies.claim(TENANT, AGENT, (), ids, now=NOW, until=NOW + MINUTE)
            for copies in (parts.copies, parts.other) * 4
        )
    )
    held = [id_ for claim in claims for id_ in claim.held]
    assert sorted(held) == ids
    assert all(set(claim.held) | claim.busy == set(ids) for claim in claims)


async def test_an_unknown_row_is_made_only_for_what_is_sent(parts: Parts) -> None:
    """S-15: what was never sent needs no deletion."""
    assert await parts.claim(known=["m"]) == Claim(held={}, busy=frozenset(), until=NOW + MINUTE)
    await parts.copy("m", revision=3)
    claim = await parts.claim(known=["m"])
    assert claim.held == {"m": 3}
    await parts.copies.drop(TENANT, AGENT, ["m"], claim.until)
    assert (await parts.claim(known=["m"])).held == {}


async def test_what_was_not_acknowledged_as_it_is_is_behind(parts: Parts) -> None:
    """S-15: new ones, and those that changed since."""
    one, two = sorted([await parts.memory("one"), await parts.memory("two")])
    assert await parts.behind() == [one, two]
    assert await parts.behind(limit=1) == [one]
    assert await parts.behind(after=one) == [two]
    claim = await parts.claim([one])
    assert await parts.behind() == [one, two], "held is not acknowledged"
    await parts.copies.settle(TENANT, AGENT, {one: 1}, claim.until)
    assert await parts.behind() == [two]
    assert await parts.copies.behind("other", AGENT, "", 10, NOW) == []
    assert await parts.copies.behind(TENANT, "other", "", 10, NOW) == []


async def test_copies_of_what_is_superseded_forgotten_or_expired_lapse(parts: Parts) -> None:
    """S-8, S-15, D-2."""
    old, kept = await parts.memory("city", "Oslo"), await parts.memory("name", "Ada")
    task = (await parts.canonical.remember("todo", "x", fact_type=FactType.TASK)).memory.id
    for memory_id in (old, kept, task):
        await parts.copy(memory_id)
    assert await parts.lapsed() == []
    new = await parts.memory("city", "Bergen", NOW + DAY)
    assert await parts.lapsed(NOW + DAY) == [old]
    assert await parts.behind(NOW + DAY) == [new]
    assert sorted(await parts.lapsed(NOW + 8 * DAY)) == sorted([old, task]), "S-3: the task has expired"
    await parts.canonical.store.forget(TENANT, AGENT, kept)
    assert set(await parts.lapsed(NOW + DAY)) == {old, kept}


async def test_agents_are_those_with_memories_or_copies(parts: Parts) -> None:
    """S-15: also when the last memory is forgotten."""
    assert await parts.copies.agents() == []
    memory_id = await parts.memory("one")
    await parts.canonical.remember("two", "x", ANN, tenant="zeta")
    assert await parts.copies.agents() == [(TENANT, AGENT), ("zeta", AGENT)]
    await parts.copy(memory_id)
    await parts.canonical.store.forget(TENANT, AGENT, memory_id)
    assert (TENANT, AGENT) in await parts.copies.agents()
    claim = await parts.claim(known=[memory_id])
    await parts.copies.drop(TENANT, AGENT, [memory_id], claim.until)
    assert await parts.copies.agents() == [("zeta", AGENT)]


async def test_jobs_are_of_a_revision_or_of_a_deletion(parts: Parts) -> None:
    """S-15: the same change has the same job."""
    one, two = await parts.memory("one"), await parts.memory("two")
    await parts.copies.enqueue(TENANT, AGENT, [one, one], copies_only=False)
    assert await parts.sync_jobs() == [f"sync_memory/{AGENT}/{one}/1"]
    await parts.copies.enqueue(TENANT, AGENT, [one, two], copies_only=True)
    assert len(await parts.sync_jobs()) == 1, "neither has a copy"
    await parts.copy(two)
    await parts.canonical.store.forget(TENANT, AGENT, two)
    await parts.copies.enqueue(TENANT, AGENT, [one, two], copies_only=True)
    assert (await parts.sync_jobs())[1:] == [f"sync_memory/{AGENT}/{two}/gone"]


async def test_no_row_holds_a_text(parts: Parts) -> None:
    """D-2: what is kept of a forgotten memory is its id, until the remote memory has deleted it."""
    memory_id = await parts.memory("secret.key", "the secret value")
    await parts.copy(memory_id)
    rows = await parts.canonical.database.read(lambda: fetch("SELECT * FROM remote_copies"))
    assert [dict(row)["memory_id"] for row in rows] == [memory_id]
    assert "secret" not in str([dict(row) for row in rows])
