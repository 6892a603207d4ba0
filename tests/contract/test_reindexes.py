"""Runs that build indexes again: the suite of the Reindexes and Canonical ports (SPEC SV-2)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from services.kit.sql import SqlDatabase
from services.memory.semantic.adapters.sql.models import SqlLeases
from services.memory.semantic.adapters.sql.reindexes import SqlCanonical, SqlReindexes
from services.memory.semantic.app.reindex_ports import (
    Position,
    Reindexes,
    ReindexState,
    lease_of,
)
from services.memory.semantic.domain.memory import Scope
from tests.contract.memory_parts import AGENT, NOW, TENANT, Canonical

LATER = NOW + timedelta(seconds=30)


@pytest.fixture
def runs(semantic_sql_pair: tuple[SqlDatabase, SqlDatabase]) -> Reindexes:
    return SqlReindexes(semantic_sql_pair[0])


@pytest.fixture
async def canonical(semantic_sql_pair: tuple[SqlDatabase, SqlDatabase]) -> Canonical:
    """Two agents of a tenant, and one of another."""
    made = Canonical(semantic_sql_pair)
    for n in range(3):
        await made.remember(f"k.{n}", "v")
    await made.remember("k.0", "w")  # supersedes
    await made.remember("k", "v", Scope(agent_id="bea"))
    await made.remember("k", "v", tenant="other")
    await made.store.note_messages(TENANT, AGENT, {"c": 5, "d": 2})
    await made.store.note_messages(TENANT, "cleo", {"c": 1})
    await made.store.note_messages("other", AGENT, {"x": 9})
    return made


async def test_everything_is_listed_past_versions_too(
    semantic_sql_pair: tuple[SqlDatabase, SqlDatabase], canonical: Canonical
) -> None:
    listed = SqlCanonical(semantic_sql_pair[1])
    assert await listed.agents(TENANT) == [AGENT, "bea", "cleo"]
    assert await listed.agents("nobody") == []
    assert await listed.conversations(TENANT, AGENT, "", 10) == [("c", 5), ("d", 2)]
    assert await listed.conversations(TENANT, AGENT, "c", 1) == [("c", 5)]
    assert await listed.conversations(TENANT, AGENT, "cc", 10) == [("d", 2)]
    first = await listed.memories(TENANT, AGENT, 0, 3)
    rest = await listed.memories(TENANT, AGENT, first[-1][0], 3)
    assert [len(first), len(rest)] == [3, 1]
    assert [n for n, _ in [*first, *rest]] == sorted(n for n, _ in [*first, *rest])


async def test_a_run_counts_what_is_there(runs: Reindexes, canonical: Canonical) -> None:
    run = await runs.start(TENANT, "", NOW)
    assert (run.tenant, run.agent_id, run.state, run.done) == (TENANT, "", ReindexState.RUNNING, 0)
    assert run.total == 5 + 8
    assert run.position == Position()
    assert await runs.get(TENANT) == run
    assert await runs.get(TENANT, run.id) == run
    assert await runs.get(TENANT, "another") is None
    assert await runs.get("other", run.id) is None
    assert (await runs.start("other", AGENT, NOW)).total == 1 + 9
    assert [(one.tenant, one.agent_id) for one in await runs.running()] == [(TENANT, ""), ("other", AGENT)]


async def test_of_many_who_start_one_run_comes(
    semantic_sql_pair: tuple[SqlDatabase, SqlDatabase], canonical: Canonical
) -> None:
    stores = [SqlReindexes(sql) for sql in semantic_sql_pair]
    started = await asyncio.gather(*(stores[n % 2].start(TENANT, f"a{n % 3}", NOW) for n in range(24)))
    assert len({run.id for run in started}) == 1
    assert len(await stores[0].running()) == 1


async def test_how_far_a_run_is_is_kept_by_who_has_its_lease(
    semantic_sql_pair: tuple[SqlDatabase, SqlDatabase], runs: Reindexes, canonical: Canonical
) -> None:
    leases, other = SqlLeases(semantic_sql_pair[1]), SqlReindexes(semantic_sql_pair[1])
    run = await runs.start(TENANT, AGENT, NOW)
    assert run.total == 4 + 7
    half = replace(run, done=6, position=Position(agent_id=AGENT, messages_done=True, number=2))
    assert not await runs.advance(half, "a", NOW)
    assert await leases.take(lease_of(TENANT), "a", NOW, LATER)
    assert await runs.advance(half, "a", NOW)
    assert await other.get(TENANT) == half
    assert not await other.advance(replace(half, done=1), "b", NOW)
    assert not await runs.advance(replace(half, done=1), "a", LATER)
    assert await leases.take(lease_of(TENANT), "b", LATER, LATER + timedelta(seconds=30))
    assert not await runs.advance(replace(half, done=1), "a", LATER)
    done = replace(half, done=11, state=ReindexState.DONE, finished=LATER)
    assert await other.advance(done, "b", LATER)
    assert await runs.get(TENANT) == done
    assert await runs.running() == []
    assert not await other.advance(half, "b", LATER)


async def test_after_the_end_another_run_may_start(
    semantic_sql_pair: tuple[SqlDatabase, SqlDatabase], runs: Reindexes
) -> None:
    run = await runs.start(TENANT, AGENT, NOW)
    await SqlLeases(semantic_sql_pair[0]).take(lease_of(TENANT), "a", NOW, LATER)
    assert (await runs.start(TENANT, "", NOW)).id == run.id
    assert await runs.advance(replace(run, state=ReindexState.DONE, finished=NOW), "a", NOW)
    again = await runs.start(TENANT, "", NOW)
    assert again.id != run.id
    assert await runs.get(TENANT) == again
