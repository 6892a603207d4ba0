"""Indexes that are lost while the service runs are made again and filled without a restart (SPEC SV-2)."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from qdrant_client import AsyncQdrantClient

from services.memory.semantic.adapters.vectors import VECTOR_FOLDER
from tests.fake_meilisearch import FakeMeilisearch
from tests.integration.semantic_suite import (
    CODE,
    KEYWORD,
    VECTOR,
    Episodic,
    Semantic,
    running,
)
from tests.integration.test_model_change import CHANGING, PACE, following_count, models
from tests.meilisearch_server import meilisearch
from tests.qdrant_server import StandIn
from tests.waiting import until


@pytest.fixture
def episodic() -> Episodic:
    return Episodic()


@pytest.fixture
async def qdrant() -> AsyncIterator[StandIn]:
    async with StandIn() as server:
        yield server


@asynccontextmanager
async def over(
    folder: Path, episodic: Episodic, server: StandIn | None = None, **chosen: Any
) -> AsyncIterator[Semantic]:
    stores: dict[str, Any] = {}
    if server is not None:
        stores = {"qdrant_url": "http://127.0.0.1:1", "qdrant_grpc_port": server.port}
    async with running(folder, episodic, **({"verify": False} | stores | chosen)) as semantic:
        yield semantic


async def found_by(semantic: Semantic, channel: int) -> bool:
    """Whether a memory and a message are found by a channel."""
    memories = (await semantic.recall("the lighthouse plan")).hits
    messages = (await semantic.search("the lighthouse")).matches
    return all(
        any(each.channel == channel for hit in hits for each in hit.explanation.channels)
        for hits in (memories, messages)
    )


async def fill(semantic: Semantic) -> None:
    await semantic.known("plan.lighthouse", "paint the lighthouse")
    await semantic.said("we repaint the lighthouse in June")
    assert await found_by(semantic, VECTOR)
    assert await found_by(semantic, KEYWORD)
    await semantic.work_off(at_least=1)


async def recovers(semantic: Semantic, channel: int, *, jobs: int = 2) -> None:
    """Jobs come, and when they are done the channel finds everything again; no channel fails then."""

    async def enqueued() -> bool:
        return semantic.ledger.waiting.qsize() >= jobs

    await until(enqueued)
    assert await semantic.work_off(at_least=jobs) >= jobs
    assert await found_by(semantic, channel)
    assert not (await semantic.recall("the lighthouse plan")).failures


@pytest.mark.parametrize("lost", ["one collection", "all of them", "the server's disk"])
async def test_qdrant_collections_are_made_again(
    qdrant: StandIn, tmp_path: Path, episodic: Episodic, lost: str
) -> None:
    async with over(tmp_path, episodic, qdrant) as semantic:
        await fill(semantic)
        assert await semantic.work_off() == 0
        names = [one.name for one in (await qdrant.engine.get_collections()).collections]
        if lost == "the server's disk":
            await qdrant.stop()
            qdrant.engine = AsyncQdrantClient(":memory:")
            qdrant.indexes.clear()
            await qdrant.start()
        else:
            for name in names if lost == "all of them" else [n for n in names if "-memory-" in n]:
                await qdrant.engine.delete_collection(name)
                qdrant.indexes.pop(name, None)
        response = await semantic.recall("the lighthouse plan")
        assert [failure.channel for failure in response.failures] == [VECTOR], "not answered with nothing"
        assert [hit.memory.value for hit in response.hits] == ["paint the lighthouse"]
        await recovers(semantic, VECTOR, jobs=1)
    async with over(tmp_path, episodic, qdrant) as semantic:
        assert await semantic.work_off() == 0
        assert await found_by(semantic, VECTOR)


async def test_a_write_that_meets_with_the_loss_is_not_acknowledged(
    qdrant: StandIn, tmp_path: Path, episodic: Episodic
) -> None:
    """S-16: its job is done again, and finds the index there."""
    async with over(tmp_path, episodic, qdrant) as semantic:
        await fill(semantic)
        for one in (await qdrant.engine.get_collections()).collections:
            await qdrant.engine.delete_collection(one.name)
        late = await semantic.remember("plan.harbour", "dredge the lighthouse harbour")
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await semantic.index(late)
        assert caught.value.code() is CODE.UNAVAILABLE
        await recovers(semantic, VECTOR, jobs=4)  # with that of the write, which comes twice
        assert await semantic.index(late) == [""]


@pytest.fixture
async def fake() -> AsyncIterator[tuple[FakeMeilisearch, dict[str, Any]]]:
    async with meilisearch(fake=True) as place:
        assert place.fake is not None
        yield (
            place.fake,
            {
                "meilisearch_url": place.url,
                "meilisearch_api_key": place.api_key,
                "meilisearch_prefix": place.prefix,
            },
        )


@pytest.mark.parametrize("first", ["search", "write"])
async def test_meilisearch_indexes_are_made_again(
    fake: tuple[FakeMeilisearch, dict[str, Any]], tmp_path: Path, episodic: Episodic, first: str
) -> None:
    """A write would make an index anew, without our settings: it is not acknowledged."""
    server, settings = fake
    async with over(tmp_path, episodic, **settings) as semantic:
        await fill(semantic)
        made = {uid: index.settings for uid, index in server.indexes.items()}
        server.indexes.clear()
        if first == "search":
            response = await semantic.recall("the lighthouse plan")
            assert KEYWORD in [failure.channel for failure in response.failures]
            assert [hit.memory.value for hit in response.hits] == ["paint the lighthouse"]
        else:
            late = await semantic.remember("plan.harbour", "dredge the lighthouse harbour")
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await semantic.index(late)
            assert caught.value.code() is CODE.UNAVAILABLE
        await recovers(semantic, KEYWORD, jobs=2 if first == "search" else 4)
        assert {uid: index.settings for uid, index in server.indexes.items()} == made
    async with over(tmp_path, episodic, **settings) as semantic:
        assert await semantic.work_off() == 0
        assert await found_by(semantic, KEYWORD)


def child_of(folder: Path) -> int:
    """The process that has a model's folder open."""
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                command = (process / "cmdline").read_bytes()
            except OSError:
                continue
            if b"vectors_edge_child" in command and str(folder).encode() in command:
                return int(process.name)
    raise AssertionError("no process has the folder open")


def emptied(folder: Path) -> None:
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def corrupted(folder: Path) -> None:
    for file in folder.glob("shard/segments/*/segment.json"):
        file.write_text("{")


def removed(folder: Path) -> None:
    shutil.rmtree(folder)


@pytest.mark.parametrize("damage", [emptied, corrupted, removed])
async def test_embedded_vectors_are_begun_anew(
    tmp_path: Path, episodic: Episodic, damage: Callable[[Path], None]
) -> None:
    async with over(tmp_path, episodic) as semantic:
        await fill(semantic)
        (folder,) = (tmp_path / VECTOR_FOLDER).iterdir()
        pid = child_of(folder)
        damage(folder)
        os.kill(pid, signal.SIGKILL)
        await recovers(semantic, VECTOR)
    async with over(tmp_path, episodic) as semantic:
        assert await semantic.work_off() == 0
        assert await found_by(semantic, VECTOR)


async def test_a_process_that_merely_died_has_lost_nothing(tmp_path: Path, episodic: Episodic) -> None:
    async with over(tmp_path, episodic) as semantic:
        await fill(semantic)
        (folder,) = (tmp_path / VECTOR_FOLDER).iterdir()
        os.kill(child_of(folder), signal.SIGKILL)

        async def back() -> bool:
            return await found_by(semantic, VECTOR)

        await until(back)
        assert await semantic.work_off(until_quiet=2.0) == 0


async def test_vectors_that_are_lost_while_they_are_filled_are_filled_again(
    qdrant: StandIn, tmp_path: Path, episodic: Episodic
) -> None:
    """S-17."""
    async with over(tmp_path, episodic, qdrant) as semantic:
        await fill(semantic)
        written = [await semantic.remember(f"bird.{n}", f"heron{n}") for n in range(20)]
        await semantic.index(*written)
    slow = PACE | {"change_step": 1, "change_poll_seconds": 0.2} | CHANGING
    async with AsyncExitStack() as stack:
        semantic = await stack.enter_async_context(over(tmp_path, episodic, qdrant, **slow))

        async def begun() -> bool:
            return await following_count(semantic) > 0

        await until(begun)
        for one in (await qdrant.engine.get_collections()).collections:
            if "hashing_96" in one.name:
                await qdrant.engine.delete_collection(one.name)
                qdrant.indexes.pop(one.name, None)

        async def active() -> bool:
            try:
                return (await models(semantic))[0] == 96
            except grpc.aio.AioRpcError:  # the next vectors can't be counted while they are lost
                return False

        await until(active)
        assert await found_by(semantic, VECTOR)
        assert not (await semantic.recall("heron7")).failures
