"""The Semantic service with its vectors on a Qdrant server (SPEC S-9, S-11, SV-2)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import grpc
import pytest
from palimpsest.semantic.v1 import semantic_pb2 as pb

from tests.integration.semantic_suite import CODE, VECTOR, Episodic, Semantic, running, values
from tests.qdrant_server import StandIn


@pytest.fixture
async def server() -> AsyncIterator[StandIn]:
    async with StandIn() as started:
        yield started


@pytest.fixture
def episodic() -> Episodic:
    return Episodic()  # type: ignore[abstract]


def on(server: StandIn, folder: Path, episodic: Episodic) -> AbstractAsyncContextManager[Semantic]:
    return running(
        folder,
        episodic,
        qdrant_url="http://127.0.0.1:6333",
        qdrant_grpc_port=server.port,
        qdrant_wait_seconds=0.0,
    )


async def retried(semantic: Semantic, written: pb.RememberResponse) -> list[str]:
    """Indexes as a ledger has it done: again and again, as long as a store is not available."""
    async with asyncio.timeout(60):
        while True:
            try:
                return await semantic.index(written)
            except grpc.aio.AioRpcError as error:
                if error.code() is not CODE.UNAVAILABLE:
                    raise
            await asyncio.sleep(0.05)


async def by_vector(semantic: Semantic, query: str) -> list[str]:
    """Values of the memories that the vector channel found, best first by fused score."""
    response = await semantic.recall(query)
    assert not response.failures
    return [
        hit.memory.value
        for hit in response.hits
        if any(channel.channel == VECTOR for channel in hit.explanation.channels)
    ]


async def test_what_was_indexed_is_found_on_the_server(
    server: StandIn, tmp_path: Path, episodic: Episodic
) -> None:
    """S-9; and after a restart, without indexing anything again."""
    async with on(server, tmp_path, episodic) as semantic:
        await semantic.known("plan.lighthouse", "paint the tower")
        assert await semantic.work_off(at_least=1) == 1, "what asked for indexing has reached the ledger"
        assert await by_vector(semantic, "the lighthouse plan") == ["paint the tower"]
    async with on(server, tmp_path, episodic) as semantic:
        assert await semantic.work_off() == 0
        assert await by_vector(semantic, "the lighthouse plan") == ["paint the tower"]


async def test_recall_goes_on_while_the_server_is_down(
    server: StandIn, tmp_path: Path, episodic: Episodic
) -> None:
    """S-11: the vector channel is named as failed; what is written meanwhile is indexed later."""
    async with on(server, tmp_path, episodic) as semantic:
        await semantic.known("plan.lighthouse", "paint the tower")
        await server.stop()
        response = await semantic.recall("the lighthouse plan")
        assert [hit.memory.value for hit in response.hits] == ["paint the tower"]
        assert [failure.channel for failure in response.failures] == [VECTOR]
        late = await semantic.remember("plan.harbour", "dredge the lighthouse harbour")
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await semantic.index(late)
        assert caught.value.code() is CODE.UNAVAILABLE
        await server.start()
        assert await retried(semantic, late) == [""]
        assert "dredge the lighthouse harbour" in await by_vector(semantic, "lighthouse harbour")


async def test_a_server_that_lost_everything_is_filled_again(
    server: StandIn, tmp_path: Path, episodic: Episodic
) -> None:
    """SV-2: losing the vectors loses nothing."""
    async with on(server, tmp_path, episodic) as semantic:
        await semantic.known("plan.lighthouse", "paint the tower")
        await semantic.said("we repaint the lighthouse in June")
    async with StandIn() as fresh, on(fresh, tmp_path, episodic) as semantic:
        assert await semantic.work_off(at_least=1, until_quiet=2.0) >= 1
        assert await by_vector(semantic, "the lighthouse plan") == ["paint the tower"]
        assert values(await semantic.recall("the lighthouse plan")) == ["paint the tower"]
