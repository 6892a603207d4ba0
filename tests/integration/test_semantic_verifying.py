"""Verification by index jobs, through a real stub and on real stores (SPEC S-7, S-8)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from palimpsest.common.v1 import resources_pb2
from palimpsest.semantic.v1 import semantic_pb2 as pb

from services.kit.sql import SqlDatabase, fetch
from services.kit.sqlite import Database, SqliteScripts
from services.memory.semantic.adapters.sql import migrations
from services.memory.semantic.adapters.sql.judgements import SqlJudgements
from services.memory.semantic.adapters.sql.memories import SqlMemories
from services.memory.semantic.adapters.sql.memories_writing import WriteRules
from services.memory.semantic.adapters.vectors_memory import MemoryVectorIndex
from services.memory.semantic.app.judging import RULES, DeterministicJudge, Judge, Judged
from services.memory.semantic.app.verifying import Fresh, Outcome, Verifier, VerifySettings
from services.memory.semantic.domain.judging_types import Statement
from services.memory.semantic.domain.memory import FactType, Memory, NewMemory, Scope, Source, Verification
from services.memory.semantic.domain.vectors import Bucket, ContentClass, VectorModel, VectorPoint, pack
from tests.integration.semantic_suite import (
    AGENT,
    NOW,
    READER,
    SERVICE,
    TASK,
    WRITER,
    Episodic,
    Semantic,
    running,
    scope,
    values,
)
from tests.postgres_server import SharedServer, shared_server

LIVES, MOVED = "Ada lives in Göteborg", "Ada has moved to Oslo"
QUESTION = "where does Ada live"
LOW = 0.2  # the vectors of the tests know words only
NOT_NEEDED = resources_pb2.VERIFICATION_NOT_NEEDED
PENDING, VERIFIED = resources_pb2.VERIFICATION_PENDING, resources_pb2.VERIFICATION_VERIFIED
VECTOR = pack([1.0, 0.0])


class Clock:
    """A second later with every look."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@pytest.fixture
async def semantic(tmp_path: Path) -> AsyncIterator[Semantic]:
    async with running(tmp_path, Episodic(), Clock(), verify_cosine=LOW) as made:
        yield made


async def as_it_is(semantic: Semantic, written: pb.RememberResponse) -> resources_pb2.Memory:
    request = pb.GetMemoryRequest(agent_id=AGENT, memory_id=written.memory.id)
    memory: resources_pb2.Memory = (await semantic.by(READER).GetMemory(request)).memory
    return memory


async def contradictions(semantic: Semantic) -> list[set[str]]:
    request = pb.ListContradictionsRequest(scope=scope())
    found = (await semantic.by(READER).ListContradictions(request)).contradictions
    return [{memory.value for memory in one.memories} for one in found]


async def test_a_move_supersedes_the_old_home_until_that_is_undone(semantic: Semantic) -> None:
    """S-7, S-8: gone from recall, in the history; a repeated job doesn't bring the verdict back."""
    old = await semantic.known("home.city", LIVES)
    assert values(await semantic.recall(QUESTION)) == [LIVES]
    new = await semantic.known("home.move", MOVED)
    assert await semantic.work_off(at_least=1) > 0, "what it superseded is taken out"
    assert values(await semantic.recall(QUESTION)) == [MOVED]
    ended = await as_it_is(semantic, old)
    assert (ended.superseded_by, ended.valid_to_time) == (new.memory.id, new.memory.valid_from_time)
    versions = pb.ListMemoryVersionsRequest(agent_id=AGENT, memory_id=old.memory.id)
    (made,) = (await semantic.by(READER).ListMemoryVersions(versions)).supersessions
    assert (made.cause, made.judge) == (resources_pb2.SUPERSESSION_CAUSE_JUDGED, RULES)
    assert made.probability >= 0.75

    undo = pb.UndoSupersessionRequest(agent_id=AGENT, memory_id=old.memory.id)
    undone = await semantic.by(WRITER).UndoSupersession(undo)
    assert await semantic.work_off(at_least=1) > 0
    assert await semantic.index(old, new) == ["", ""]
    assert await semantic.work_off() == 0, "nothing was changed"
    answer = await semantic.recall(QUESTION, wait_for=[undone.token])
    assert not answer.unindexed
    assert set(values(answer)) == {LIVES, MOVED}


async def test_jobs_end_whatever_the_order_in_which_they_run(semantic: Semantic) -> None:
    """S-7: the newer one supersedes, though its job ran first; and no job makes another without end."""
    old, new = await semantic.remember("home.city", LIVES), await semantic.remember("home.move", MOVED)
    assert await semantic.index(new) == [""]
    assert await semantic.index(old) == [""]
    assert 0 < await semantic.work_off(at_least=1) < 10
    found = [await as_it_is(semantic, written) for written in (old, new)]
    assert [memory.superseded_by for memory in found] == [new.memory.id, ""]
    assert [memory.verification for memory in found] == [VERIFIED, VERIFIED]


async def test_what_two_people_say_stands(semantic: Semantic) -> None:
    """S-7: the guard."""
    both = [
        await semantic.known(key, value)
        for key, value in (("ada", LIVES), ("bob", "Bob has moved to Göteborg"))
    ]
    for written in both:
        memory = await as_it_is(semantic, written)
        assert (memory.superseded_by, memory.verification) == ("", VERIFIED)


async def test_a_contradiction_is_listed_and_both_are_recalled(semantic: Semantic) -> None:
    """S-7."""
    both = {"Ada was born in 1990", "Ada was born in 1991"}
    for n, value in enumerate(sorted(both)):
        await semantic.known(f"birth{n}", value)
    await semantic.work_off()
    assert await contradictions(semantic) == [both]
    assert set(values(await semantic.recall("when was Ada born"))) == both


async def test_contacts_and_the_agent_are_not_held_against_each_other(semantic: Semantic) -> None:
    """S-5, S-7: one bucket at a time; tasks never."""
    old = [await semantic.known("home.city", LIVES, *place) for place in ((), ("ann",), ("bob",))]
    task = await semantic.known("todo", MOVED, "ann", fact_type=TASK)
    assert (await as_it_is(semantic, task)).verification == NOT_NEEDED
    assert [(await as_it_is(semantic, one)).superseded_by for one in old] == ["", "", ""]
    new = await semantic.known("home.move", MOVED, "ann")
    assert [(await as_it_is(semantic, one)).superseded_by for one in old] == ["", new.memory.id, ""]


async def test_without_the_setting_nothing_is_verified(tmp_path: Path) -> None:
    """S-7: what was pending before stays so."""
    async with running(tmp_path, Episodic(), Clock()) as semantic:
        before = await semantic.remember("home.city", LIVES)
    async with running(tmp_path, Episodic(), Clock(), verify=False, verify_cosine=LOW) as semantic:
        after = await semantic.remember("home.move", MOVED)
        assert await semantic.index(before, after) == ["", ""]
        found = [await as_it_is(semantic, written) for written in (before, after)]
        assert [memory.verification for memory in found] == [PENDING, NOT_NEEDED]
        assert [memory.superseded_by for memory in found] == ["", ""]


async def test_many_that_are_written_at_once_are_all_verified(semantic: Semantic) -> None:
    """S-7: in calls that run side by side."""
    written = await asyncio.gather(
        *(semantic.remember(f"thing.{n}", f"Ada keeps a red box number {n} on shelf {n}") for n in range(64))
    )
    batches = [written[n::4] for n in range(4)]
    outcomes = await asyncio.gather(*(semantic.index(*batch, by=SERVICE) for batch in batches))
    assert [error for batch in outcomes for error in batch] == [""] * 64
    found = [await as_it_is(semantic, one) for one in written]
    assert {memory.verification for memory in found} == {VERIFIED}


@pytest.fixture(scope="session")
def postgres_server(pytestconfig: pytest.Config) -> SharedServer:
    return shared_server(pytestconfig)


@pytest.fixture(params=["sqlite", "postgres"])
async def replicas(
    request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncIterator[tuple[SqlDatabase, SqlDatabase]]:
    """One database, opened twice."""
    async with AsyncExitStack() as stack:
        made: list[SqlDatabase] = []
        if request.param == "postgres":
            from services.kit.postgres import Postgres

            server: SharedServer = request.getfixturevalue("postgres_server")
            url = await stack.enter_async_context(server.database(migrations("postgres")))
            for _ in range(2):
                postgres = await Postgres.open(url, migrations("postgres"), pool_size=4, statement_timeout=10)
                stack.push_async_callback(postgres.close)
                made.append(postgres)
        else:
            for _ in range(2):
                database = await Database.open(tmp_path / "m.db", migrations("sqlite"))
                stack.push_async_callback(database.close)
                made.append(SqliteScripts(database))
        yield made[0], made[1]


async def test_replicas_that_verify_the_same_memories_at_once_agree(
    replicas: tuple[SqlDatabase, SqlDatabase],
) -> None:
    """S-7: no lock is shared; each pair ends in one supersession, of the older by the newer."""
    vectors = MemoryVectorIndex(VectorModel(revision="r", dimension=2))
    stores = [SqlMemories(one, WriteRules(task_lifetime=timedelta(days=7))) for one in replicas]
    counted: list[Outcome] = []
    verifiers = [
        verifier(database, store, vectors, counted.append)
        for database, store in zip(replicas, stores, strict=True)
    ]
    for n in range(8):
        contact = f"c{n}"
        pair = [
            await write(stores[0], contact, key, value, NOW + timedelta(seconds=at))
            for at, (key, value) in enumerate((("home.city", LIVES), ("home.move", MOVED)))
        ]
        await vectors.upsert([point(memory) for memory in pair])
        fresh = [Fresh(memory=memory, vector=VECTOR) for memory in pair]
        answers = await asyncio.gather(*(one.verify("acme", AGENT, fresh) for one in verifiers))
        assert answers == [{}, {}]
        found = await stores[1].get("acme", AGENT, [memory.id for memory in pair])
        old, new = (found[memory.id] for memory in pair)
        assert (old.superseded_by, new.superseded_by) == (new.id, "")
        assert {old.verification, new.verification} == {Verification.VERIFIED}
        assert len((await stores[0].history("acme", AGENT, old.id)).supersessions) == 1
    assert set(counted) == {Outcome.REPLACED}


class Asking:
    """The rules, as a judge that has to be waited for."""

    async def at_once(self, _old: Statement, _new: Statement, /) -> Judged | None:
        return None

    async def judge(
        self, tenant: str, agent_id: str, old: Statement, new: Statement, /, *, until: float | None = None
    ) -> Judged:
        return await DeterministicJudge().judge(tenant, agent_id, old, new, until=until)


async def test_replicas_that_do_the_same_jobs_at_once_agree(
    replicas: tuple[SqlDatabase, SqlDatabase],
) -> None:
    """S-7, J-2: as when a lease ended before its job. And both ask for one job of each memory."""
    vectors = MemoryVectorIndex(VectorModel(revision="r", dimension=2))
    stores = [SqlMemories(one, WriteRules(task_lifetime=timedelta(days=7))) for one in replicas]
    counted: list[Outcome] = []
    verifiers = [
        verifier(database, store, vectors, counted.append, Asking())
        for database, store in zip(replicas, stores, strict=True)
    ]
    for n in range(8):
        pair = [
            await write(stores[0], f"c{n}", key, value, NOW + timedelta(seconds=at))
            for at, (key, value) in enumerate((("home.city", LIVES), ("home.move", MOVED)))
        ]
        await vectors.upsert([point(memory) for memory in pair])
        fresh = [Fresh(memory=memory, vector=VECTOR) for memory in pair]
        assert await asyncio.gather(*(one.verify("acme", AGENT, fresh) for one in verifiers)) == [{}, {}]
        assert await asked_of(replicas[0], pair) == {f"verify_memory/{AGENT}/{one.id}/1" for one in pair}
        await asyncio.gather(*(one.by_asking("acme", AGENT, each) for one in verifiers for each in fresh))
        found = await stores[1].get("acme", AGENT, [memory.id for memory in pair])
        old, new = (found[memory.id] for memory in pair)
        assert (old.superseded_by, new.superseded_by) == (new.id, "")
        assert new.verification is Verification.VERIFIED
        assert len((await stores[0].history("acme", AGENT, old.id)).supersessions) == 1
    assert set(counted) == {Outcome.REPLACED}


async def asked_of(database: SqlDatabase, memories: Sequence[Memory]) -> set[str]:
    """The keys of the jobs that verify them, in the outbox."""
    subjects = [f"memories/{memory.id}" for memory in memories]
    rows = await database.read(
        lambda: fetch("SELECT key FROM outbox WHERE type = ? AND subject IN ??", "verify_memory", subjects)
    )
    return {row["key"] for row in rows}


def verifier(
    database: SqlDatabase,
    store: SqlMemories,
    vectors: MemoryVectorIndex,
    count: Callable[[Outcome], None],
    judge: Judge | None = None,
) -> Verifier:
    return Verifier(
        store=store,
        judgements=SqlJudgements(database),
        vectors=vectors,
        judge=judge or DeterministicJudge(),
        settings=VerifySettings(),
        count=count,
        wake=lambda: None,
        clock=lambda: NOW + timedelta(minutes=1),
    )


async def write(store: SqlMemories, contact: str, key: str, value: str, now: datetime) -> Memory:
    new = NewMemory(
        scope=Scope(agent_id=AGENT, contact_ids=(contact,)),
        key=key,
        value=value,
        fact_type=FactType.FACT,
        pinned=False,
        source=Source.EXPLICIT,
        provenance=(),
        valid_from=None,
        request_id="",
    )
    return (await store.remember("acme", new, now)).memory


def point(memory: Memory) -> VectorPoint:
    bucket = Bucket(tenant="acme", agent=AGENT, content=ContentClass.MEMORY)
    return VectorPoint(
        bucket=bucket, item_id=memory.id, vector=VECTOR, contact_id=memory.contact_id, kind="fact"
    )
