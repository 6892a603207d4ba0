"""A change of the embedding model while the service runs (SPEC S-17, S-16)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from palimpsest.semantic.v1 import semantic_pb2 as pb

from services.kit.errors import StartupError
from services.kit.identity import Principal, Role
from services.memory.semantic.adapters.vectors import VECTOR_FOLDER, folder_name
from tests.integration.semantic_suite import (
    CODE,
    VECTOR,
    WRITER,
    Episodic,
    Semantic,
    running,
)
from tests.meilisearch_server import meilisearch
from tests.postgres_server import SharedServer, shared_server
from tests.qdrant_server import StandIn

OPERATOR = Principal(tenant="acme", role=Role.OPERATOR, subject="test")
OLD, NEW = 64, 96
PACE: dict[str, Any] = {
    "channel_seconds": 20.0,
    "verify": False,
    "change_step": 4,
    "change_poll_seconds": 0.1,
    "change_lease_seconds": 3.0,
}
HELD = 40
"""Memories and messages that there are before a change, each."""
SECONDS = 120.0


@pytest.fixture
def episodic() -> Episodic:
    return Episodic()


@pytest.fixture(scope="module")
def postgres_server(pytestconfig: pytest.Config) -> SharedServer:
    return shared_server(pytestconfig)


class Place:
    """Stores that outlast a service: embedded, or those of a server."""

    def __init__(self, folder: Path, stores: dict[str, Any]) -> None:
        self.folder = folder
        self.stores = stores

    @asynccontextmanager
    async def started(self, episodic: Episodic, **chosen: Any) -> AsyncIterator[Semantic]:
        """A replica; a server's has a folder of its own by nature."""
        async with running(self.folder, episodic, **(PACE | self.stores | chosen)) as semantic:
            yield semantic


@pytest.fixture(params=["embedded", "server"])
async def place(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Place]:
    """SQLite and the embedded engine; PostgreSQL and a stand-in for a Qdrant server."""
    if request.param == "embedded":
        yield Place(tmp_path, {})
        return
    server: SharedServer = request.getfixturevalue("postgres_server")
    async with server.database() as url, StandIn() as qdrant:
        stores = {
            "database_url": url,
            "qdrant_url": "http://127.0.0.1:1",
            "qdrant_grpc_port": qdrant.port,
        }
        yield Place(tmp_path, stores)


async def models(semantic: Semantic) -> tuple[int, int | None]:
    """Dimensions of the active model, and of the one that is to follow."""
    status: pb.GetIndexStatusResponse = await semantic.by(OPERATOR).GetIndexStatus(pb.GetIndexStatusRequest())
    return status.active.dimension, status.next.dimension if status.HasField("next") else None


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    """Returns once it holds."""
    async with asyncio.timeout(SECONDS):
        while True:
            if await condition():
                return
            await asyncio.sleep(0.01)


async def until_active(semantic: Semantic, dimension: int) -> None:
    async def active() -> bool:
        return (await models(semantic))[0] == dimension

    await until(active)


async def by_vector(semantic: Semantic, query: str) -> list[str]:
    """Values of memories that the vector channel found; no channel failed."""
    response = await semantic.recall(query, limit=50)
    assert not response.failures
    return [
        hit.memory.value
        for hit in response.hits
        if any(channel.channel == VECTOR for channel in hit.explanation.channels)
    ]


async def messages_by_vector(semantic: Semantic, query: str) -> list[str]:
    response = await semantic.search(query, limit=50)
    assert not response.failures
    return [
        match.ref.message_id
        for match in response.matches
        if any(channel.channel == VECTOR for channel in match.explanation.channels)
    ]


async def fill(semantic: Semantic) -> None:
    """Memories and messages, indexed by the old model."""
    written = [await semantic.remember(f"bird.{n}", f"heron number{n} stands") for n in range(HELD)]
    said = [semantic.episodic.add(f"a stork called s{n}") for n in range(HELD)]
    assert not any(await semantic.index(*written))
    assert not any(await semantic.index(*said))


class Life:
    """Recalls and writes that go on while something happens."""

    def __init__(self, semantic: Semantic, name: str = "w") -> None:
        self._semantic = semantic
        self._name = name
        self.recalled = 0
        self.written: list[str] = []
        self.forgotten: list[str] = []

    async def recall(self) -> None:
        """No recall fails, and none finds nothing; what was written is found at once."""
        while True:
            assert await by_vector(self._semantic, "heron number7 stands")
            assert await messages_by_vector(self._semantic, "a stork called s7")
            if self.written:
                assert self.written[-1] in await by_vector(self._semantic, self.written[-1])
            self.recalled += 1
            await asyncio.sleep(0.02)

    async def write(self) -> None:
        """Writes memories, supersedes some and forgets others."""
        n = 0
        while True:
            n += 1
            value = f"{self._name}fresh{n} gull"
            written = await self._semantic.remember(f"fresh.{self._name}.{n}", value)
            assert await self._semantic.index(written) == [""]
            self.written.append(value)
            if n % 5 == 0:
                gone = await self._semantic.remember(f"gone.{self._name}.{n}", f"{self._name}gone{n} gull")
                await self._semantic.index(gone)
                forget = pb.ForgetMemoryRequest(agent_id="ada", memory_id=gone.memory.id)
                await self._semantic.by(WRITER).ForgetMemory(forget)
                await self._semantic.index(gone)
                self.forgotten.append(f"{self._name}gone{n} gull")
            await asyncio.sleep(0.02)


@asynccontextmanager
async def living(*lives: Life) -> AsyncIterator[None]:
    """Both go on within; a failure of either is a failure of the test."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(work()) for life in lives for work in (life.recall, life.write)]
        yield
        for task in tasks:
            task.cancel()


async def test_recall_and_writes_go_on_through_a_change_of_dimension(
    place: Place, episodic: Episodic
) -> None:
    async with place.started(episodic, dimension=OLD) as semantic:
        await fill(semantic)
        assert await models(semantic) == (OLD, None)
    async with place.started(episodic, dimension=OLD, next_dimension=NEW) as semantic:
        life = Life(semantic)
        assert await models(semantic) == (OLD, NEW)
        async with living(life):
            await until_active(semantic, NEW)
            before = life.recalled

            async def went_on() -> bool:
                return life.recalled >= before + 5

            await until(went_on)
        assert await models(semantic) == (NEW, None)
    async with place.started(episodic, dimension=NEW) as semantic:
        await semantic.work_off()  # what was written last may not have been indexed
        count = await active_count(semantic)
        assert 0 <= count - 2 * HELD - len(life.written) <= 2
        for n in range(HELD):
            assert f"heron number{n} stands" in await by_vector(semantic, f"heron number{n} stands")
        assert len(await messages_by_vector(semantic, "a stork called")) == HELD
        for value in life.written:
            assert value in await by_vector(semantic, value)
        for value in life.forgotten:
            assert value not in await by_vector(semantic, value)
        assert life.forgotten


async def test_a_switch_that_was_made_is_kept_with_the_same_settings(
    place: Place, episodic: Episodic
) -> None:
    async with place.started(episodic, dimension=OLD) as semantic:
        await semantic.known("bird", "heron stands")
    async with place.started(episodic, dimension=OLD, next_dimension=NEW) as semantic:
        await until_active(semantic, NEW)
    async with place.started(episodic, dimension=OLD, next_dimension=NEW) as semantic:
        assert await models(semantic) == (NEW, None)
        assert await by_vector(semantic, "heron") == ["heron stands"]
        await semantic.known("fish", "a pike")
        assert "a pike" in await by_vector(semantic, "pike")


async def test_a_model_that_is_not_the_active_one_is_a_clear_error(place: Place, episodic: Episodic) -> None:
    """S-17: before a change, and after it."""
    async with place.started(episodic, dimension=OLD) as semantic:
        await semantic.known("bird", "heron stands")
    with pytest.raises(StartupError, match=r"hashing-64 .*docs/reindex\.md"):
        async with place.started(episodic, dimension=NEW):
            pass
    async with place.started(episodic, dimension=OLD, next_dimension=NEW) as semantic:
        await until_active(semantic, NEW)
    with pytest.raises(StartupError, match=r"hashing-96 .*docs/reindex\.md"):
        async with place.started(episodic, dimension=OLD):
            pass
    async with place.started(episodic, dimension=NEW) as semantic:
        assert await by_vector(semantic, "heron") == ["heron stands"]


async def test_a_model_that_is_no_longer_to_be_had_can_be_given_up(place: Place, episodic: Episodic) -> None:
    async with place.started(episodic, dimension=OLD) as semantic:
        await fill(semantic)
    async with place.started(episodic, dimension=NEW, abandon_model="hashing-64") as semantic:
        assert await models(semantic) == (NEW, None)
        assert await semantic.work_off(at_least=2 * HELD, until_quiet=2.0) >= 2 * HELD
        assert len(await by_vector(semantic, "heron stands")) == HELD
    async with place.started(episodic, dimension=NEW, abandon_model="hashing-64") as semantic:
        assert await semantic.work_off() == 0
        assert len(await by_vector(semantic, "heron stands")) == HELD


async def test_a_filling_that_a_start_without_the_next_model_missed_begins_anew(
    place: Place, episodic: Episodic
) -> None:
    """What was superseded and forgotten meanwhile is not in the next vectors."""
    async with place.started(episodic, dimension=OLD) as semantic:
        await fill(semantic)
        doomed = await semantic.known("doomed", "heron doomed stands")
    async with place.started(
        episodic, dimension=OLD, next_dimension=NEW, change_poll_seconds=0.3, change_step=1
    ) as semantic:
        begun = semantic

        async def begins() -> bool:
            return await following_count(begun) > 0

        await until(begins)
        assert (await models(semantic))[1] == NEW
    async with place.started(episodic, dimension=OLD) as semantic:
        forget = pb.ForgetMemoryRequest(agent_id="ada", memory_id=doomed.memory.id)
        await semantic.by(WRITER).ForgetMemory(forget)
        assert await semantic.index(doomed) == [""]
        await semantic.known("late", "heron late stands")
        await semantic.known("bird.0", "heron instead stands")
    async with place.started(episodic, dimension=OLD, next_dimension=NEW) as semantic:
        await until_active(semantic, NEW)
        found = await by_vector(semantic, "heron stands")
        assert {"heron late stands", "heron instead stands"} <= set(found)
        assert "heron doomed stands" not in found
        assert "heron number0 stands" not in found
        assert len(found) == HELD + 1


async def active_count(semantic: Semantic) -> int:
    status: pb.GetIndexStatusResponse = await semantic.by(OPERATOR).GetIndexStatus(pb.GetIndexStatusRequest())
    return status.active.vector_count


async def following_count(semantic: Semantic) -> int:
    status: pb.GetIndexStatusResponse = await semantic.by(OPERATOR).GetIndexStatus(pb.GetIndexStatusRequest())
    return status.next.vector_count if status.HasField("next") else 0


async def test_an_item_that_is_gone_does_not_hold_up_the_switch(place: Place, episodic: Episodic) -> None:
    async with place.started(episodic, dimension=OLD) as semantic:
        await fill(semantic)
    episodic.conversations.clear()
    episodic.add("a stork called s0")
    async with place.started(episodic, dimension=OLD, next_dimension=NEW) as semantic:
        await until_active(semantic, NEW)
        assert await messages_by_vector(semantic, "a stork called") == ["c-1"]


async def test_an_embedder_that_is_away_holds_up_the_filling_and_no_more(
    place: Place, episodic: Episodic
) -> None:
    async with place.started(episodic, dimension=OLD) as semantic:
        await fill(semantic)
    async with place.started(episodic, dimension=OLD, next_dimension=NEW, change_step=1) as semantic:
        semantic.embedder.down = True
        await asyncio.sleep(0.5)
        assert await models(semantic) == (OLD, NEW)
        assert [hit.memory.value for hit in (await semantic.recall("heron number3")).hits]
        semantic.embedder.down = False
        await until_active(semantic, NEW)
        assert len(await by_vector(semantic, "heron stands")) == HELD


async def test_the_former_vectors_are_removed_at_a_start_with_the_new_model_alone(
    tmp_path: Path, episodic: Episodic
) -> None:
    place, folder = Place(tmp_path, {}), tmp_path / VECTOR_FOLDER
    async with place.started(episodic, dimension=OLD) as semantic:
        await semantic.known("bird", "heron stands")
    async with place.started(episodic, dimension=OLD, next_dimension=NEW) as semantic:
        await until_active(semantic, NEW)
    names = {folder_name(f"hashing-{dimension}") for dimension in (OLD, NEW)}
    assert {path.name for path in folder.iterdir()} == names
    async with place.started(episodic, dimension=NEW):
        pass
    assert [path.name for path in folder.iterdir()] == [folder_name("hashing-96")]


async def test_collections_of_the_former_model_are_removed_once_every_replica_has_followed(
    tmp_path: Path, episodic: Episodic, postgres_server: SharedServer
) -> None:
    async with postgres_server.database() as url, StandIn() as qdrant:
        stores = {"database_url": url, "qdrant_url": "http://127.0.0.1:1", "qdrant_grpc_port": qdrant.port}
        place = Place(tmp_path, stores)

        async def revisions() -> set[str]:
            listed = (await qdrant.engine.get_collections()).collections
            return {"hashing_64" if "hashing_64" in one.name else "hashing_96" for one in listed}

        async with place.started(episodic, dimension=OLD) as semantic:
            await semantic.known("bird", "heron stands")
        async with place.started(
            episodic, dimension=OLD, next_dimension=NEW, change_lease_seconds=3.0
        ) as semantic:
            await until_active(semantic, NEW)
            async with Place(tmp_path / "b", stores).started(episodic, dimension=NEW):
                assert await revisions() == {"hashing_64", "hashing_96"}
        await asyncio.sleep(3.1)  # nobody is registered any more
        async with place.started(episodic, dimension=NEW) as semantic:
            assert await revisions() == {"hashing_96"}
            assert await by_vector(semantic, "heron") == ["heron stands"]


@asynccontextmanager
async def two_replicas(
    tmp_path: Path, episodic: Episodic, server: SharedServer, first: dict[str, Any], second: dict[str, Any]
) -> AsyncIterator[tuple[Semantic, Semantic]]:
    """Over one PostgreSQL, one Qdrant and one Meilisearch, filled by the old model."""
    async with (
        server.database() as url,
        StandIn() as qdrant,
        meilisearch(fake=True) as meili,
        AsyncExitStack() as stack,
    ):
        stores = {
            "database_url": url,
            "qdrant_url": "http://127.0.0.1:1",
            "qdrant_grpc_port": qdrant.port,
            "meilisearch_url": meili.url,
            "meilisearch_api_key": meili.api_key,
            "meilisearch_prefix": meili.prefix,
        }
        async with Place(tmp_path / "a", stores).started(episodic, dimension=OLD) as semantic:
            await fill(semantic)
        one = await stack.enter_async_context(Place(tmp_path / "a", stores).started(episodic, **first))
        two = await stack.enter_async_context(Place(tmp_path / "a2", stores).started(episodic, **second))
        yield one, two


CHANGING = {"dimension": OLD, "next_dimension": NEW}


async def test_two_replicas_write_throughout_and_both_switch(
    tmp_path: Path, episodic: Episodic, postgres_server: SharedServer
) -> None:
    async with two_replicas(tmp_path, episodic, postgres_server, CHANGING, CHANGING) as (one, two):
        lives = [Life(one, "one"), Life(two, "two")]
        async with living(*lives):
            await asyncio.gather(until_active(one, NEW), until_active(two, NEW))
        for life in lives:
            for value in life.written[-3:]:
                assert value in await by_vector(one, value)
                assert value in await by_vector(two, value)


async def test_nothing_is_filled_until_every_replica_writes_the_next_vectors(
    tmp_path: Path, episodic: Episodic, postgres_server: SharedServer
) -> None:
    async with two_replicas(tmp_path, episodic, postgres_server, CHANGING, {"dimension": OLD}) as (one, two):
        late = await two.remember("late", "heron late stands")
        assert await two.index(late) == [""]
        await asyncio.sleep(2.5)
        assert await models(one) == (OLD, NEW)
        assert await models(two) == (OLD, None)


async def test_what_the_operator_alone_may_know_is_refused_to_others(
    tmp_path: Path, episodic: Episodic
) -> None:
    async with running(tmp_path, episodic) as semantic:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await semantic.by(WRITER).GetIndexStatus(pb.GetIndexStatusRequest())
        assert caught.value.code() is CODE.PERMISSION_DENIED
