"""Building indexes again while they serve (SPEC SV-2)."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import grpc
import pytest
from palimpsest.common.v1 import indexes_pb2
from palimpsest.semantic.v1 import semantic_pb2 as pb

from services.kit.identity import Principal, Role
from services.memory.semantic.adapters.words import INDEX_FILE
from tests.integration.semantic_suite import (
    CODE,
    KEYWORD,
    VECTOR,
    WRITER,
    Episodic,
    Semantic,
    found,
    running,
    values,
)

ADMIN = Principal(tenant="acme", role=Role.ADMIN, subject="test")
STRANGER = Principal(tenant="other", role=Role.ADMIN, subject="test")
OF_BEA = Principal(tenant="acme", role=Role.ADMIN, agents=frozenset({"bea"}), subject="test")
RUNNING, DONE = indexes_pb2.REINDEX_STATE_RUNNING, indexes_pb2.REINDEX_STATE_DONE
MANY = 150


@pytest.fixture
def episodic() -> Episodic:
    return Episodic()


@pytest.fixture
async def semantic(tmp_path: Path, episodic: Episodic) -> AsyncIterator[Semantic]:
    async with running(tmp_path, episodic, verify=False) as made:
        yield made


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(60):
        while True:
            if await condition():
                return
            await asyncio.sleep(0.01)


async def reindexed(semantic: Semantic, agent_id: str = "", by: Principal = ADMIN) -> Any:
    """Starts a run, waits for its end, and returns it."""
    started = (await semantic.by(by).Reindex(pb.ReindexRequest(agent_id=agent_id))).run
    assert started.agent_id == agent_id

    async def run() -> Any:
        return (await semantic.by(by).GetReindex(pb.GetReindexRequest(reindex_id=started.id))).run

    async def done() -> bool:
        return bool((await run()).state == DONE)

    await until(done)
    return await run()


async def filled(semantic: Semantic, agent: str = "ada", count: int = 3) -> list[pb.RememberResponse]:
    written = [await semantic.remember(f"bird.{n}", f"heron{n} stands", agent=agent) for n in range(count)]
    for start in range(0, count, 64):
        await semantic.index(*written[start : start + 64], agent=agent)
    said = [semantic.episodic.add(f"a stork{n} flies", agent_id=agent) for n in range(count)]
    for start in range(0, count, 64):
        await semantic.index(*said[start : start + 64], agent=agent)
    return written


def channels(response: Any) -> set[int]:
    hits = getattr(response, "hits", None) or response.matches
    return {channel.channel for hit in hits for channel in hit.explanation.channels}


@asynccontextmanager
async def index_file(folder: Path) -> AsyncIterator[sqlite3.Connection]:
    with closing(sqlite3.connect(folder / INDEX_FILE, timeout=10)) as connection, connection:
        yield connection


async def test_words_and_registry_that_were_lost_are_built_again(semantic: Semantic, tmp_path: Path) -> None:
    await filled(semantic)
    await filled(semantic, "bea")
    async with index_file(tmp_path) as file:
        file.execute("DELETE FROM keywords")
        file.execute("DELETE FROM items WHERE class = 'memory'")
    assert KEYWORD not in channels(await semantic.recall("heron1 stands"))
    run = await reindexed(semantic, "ada")
    assert (run.done_count, run.total_count) == (6, 6)
    assert run.finish_time.ToDatetime() >= run.create_time.ToDatetime()
    assert channels(await semantic.recall("heron1 stands")) >= {VECTOR, KEYWORD}
    assert KEYWORD in channels(await semantic.search("stork1 flies"))
    assert KEYWORD not in channels(await semantic.recall("heron1 stands", agent="bea")), "another agent's"
    run = await reindexed(semantic)
    assert (run.done_count, run.total_count) == (12, 12)
    assert KEYWORD in channels(await semantic.recall("heron1 stands", agent="bea"))


async def test_recall_serves_and_writes_are_indexed_meanwhile(semantic: Semantic) -> None:
    await filled(semantic, count=MANY)
    run = asyncio.ensure_future(reindexed(semantic))
    n = 0
    while not run.done():
        assert values(await semantic.recall("heron7 stands"))[0] == "heron7 stands"
        assert found(await semantic.search("stork7 flies"))[0] == "c-8"
        await semantic.known(f"fresh.{n}", f"gull{n}")
        assert f"gull{n}" in values(await semantic.recall(f"gull{n}"))
        n += 1
    done = await run
    assert n > 0
    assert done.total_count == 2 * MANY
    assert done.done_count >= done.total_count
    assert values(await semantic.recall("heron7 stands"))[0] == "heron7 stands"


async def test_memories_whose_removal_was_lost_are_taken_out(semantic: Semantic) -> None:
    written = await filled(semantic)
    gone = pb.ForgetMemoryRequest(agent_id="ada", memory_id=written[0].memory.id)
    await semantic.by(WRITER).ForgetMemory(gone)  # its job is never done
    await semantic.remember("bird.1", "a crane stands")  # nor that of what is superseded
    operator = Principal(tenant="acme", role=Role.OPERATOR, subject="test")

    async def vectors() -> int:
        status = await semantic.by(operator).GetIndexStatus(pb.GetIndexStatusRequest())
        return int(status.active.vector_count)

    assert await vectors() == 6
    await reindexed(semantic)
    assert await vectors() == 3 + 2 + 1, "messages, live memories, the past one"
    assert sorted(values(await semantic.recall("stands"))) == ["a crane stands", "heron2 stands"]


async def test_one_run_of_a_tenant_at_a_time(semantic: Semantic) -> None:
    await filled(semantic, count=MANY)
    semantic.embedder.down = True
    first = (await semantic.by(ADMIN).Reindex(pb.ReindexRequest())).run
    again = (await semantic.by(ADMIN).Reindex(pb.ReindexRequest(agent_id="ada"))).run
    assert again.id == first.id
    assert first.state == RUNNING
    other = (await semantic.by(STRANGER).Reindex(pb.ReindexRequest())).run
    assert other.id != first.id
    newest = (await semantic.by(ADMIN).GetReindex(pb.GetReindexRequest())).run
    assert newest.id == first.id
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await semantic.by(STRANGER).GetReindex(pb.GetReindexRequest(reindex_id=first.id))
    assert caught.value.code() is CODE.NOT_FOUND
    semantic.embedder.down = False

    async def done() -> bool:
        run = (await semantic.by(ADMIN).GetReindex(pb.GetReindexRequest())).run
        return bool(run.state == DONE)

    await until(done)
    assert (await semantic.by(ADMIN).Reindex(pb.ReindexRequest())).run.id != first.id


async def test_a_limited_credential_rebuilds_its_agents_alone(semantic: Semantic) -> None:
    await filled(semantic, "bea")
    for agent_id in ("", "ada"):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await semantic.by(OF_BEA).Reindex(pb.ReindexRequest(agent_id=agent_id))
        assert caught.value.code() is CODE.PERMISSION_DENIED
    await reindexed(semantic, "bea", OF_BEA)
    await reindexed(semantic, "")
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await semantic.by(OF_BEA).GetReindex(pb.GetReindexRequest())
    assert caught.value.code() is CODE.PERMISSION_DENIED


async def test_a_run_goes_on_after_a_restart_where_it_was(tmp_path: Path, episodic: Episodic) -> None:
    async with running(tmp_path, episodic, verify=False) as semantic:
        await filled(semantic, count=MANY)
        run = (await semantic.by(ADMIN).Reindex(pb.ReindexRequest())).run

        async def begun() -> bool:
            return bool((await semantic.by(ADMIN).GetReindex(pb.GetReindexRequest())).run.done_count)

        await until(begun)
    async with running(tmp_path, episodic, verify=False) as semantic:

        async def done() -> bool:
            return bool((await semantic.by(ADMIN).GetReindex(pb.GetReindexRequest())).run.state == DONE)

        await until(done)
        finished = (await semantic.by(ADMIN).GetReindex(pb.GetReindexRequest())).run
        assert finished.id == run.id
        assert finished.done_count == 2 * MANY, "no step was done twice"


async def test_an_empty_tenant_is_done_at_once(semantic: Semantic) -> None:
    run = await reindexed(semantic)
    assert (run.done_count, run.total_count) == (0, 0)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await semantic.by(STRANGER).GetReindex(pb.GetReindexRequest())
    assert caught.value.code() is CODE.NOT_FOUND
