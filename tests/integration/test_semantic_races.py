"""Two replicas over one PostgreSQL: writers that race leave one chain (SPEC S-6, S-8, SV-2)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from itertools import cycle
from pathlib import Path
from typing import Any

import grpc
import pytest
from palimpsest.semantic.v1 import semantic_pb2 as pb
from pydantic import SecretStr

from services.memory.semantic.adapters.sql import migrations
from tests.integration.chain_checks import Memory, assert_one_chain
from tests.integration.semantic_suite import AGENT, CODE, READER, WRITER, Episodic, Semantic, running, scope
from tests.postgres_server import SharedServer, shared_server

WRITERS = 64
REFUSALS = {CODE.NOT_FOUND, CODE.FAILED_PRECONDITION}


@pytest.fixture(scope="session")
def postgres_server(pytestconfig: pytest.Config) -> SharedServer:
    return shared_server(pytestconfig)


@pytest.fixture
async def replicas(tmp_path: Path, postgres_server: SharedServer) -> AsyncIterator[list[Semantic]]:
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(postgres_server.database(migrations("postgres")))
        yield [
            await stack.enter_async_context(
                running(tmp_path / name, Episodic(), database_url=SecretStr(url))  # type: ignore[abstract]
            )
            for name in ("one", "two")
        ]


async def chain_of(semantic: Semantic, memory_id: str) -> list[Memory]:
    request = pb.ListMemoryVersionsRequest(agent_id=AGENT, memory_id=memory_id)
    return list((await semantic.by(READER).ListMemoryVersions(request)).memories)


async def test_the_same_from_two_replicas_is_one_memory(replicas: list[Semantic]) -> None:
    """S-6: created once, and embedded once."""
    turns = cycle(replicas)
    answers = await asyncio.gather(*(next(turns).remember("k", "one value", "ann") for _ in range(WRITERS)))
    assert len({answer.memory.id for answer in answers}) == 1
    assert sum(answer.created for answer in answers) == 1
    (memory,) = await chain_of(replicas[1], answers[0].memory.id)
    assert (memory.version, memory.revision) == (1, 1)
    await asyncio.gather(*(replica.work_off(until_quiet=3.0) for replica in replicas))
    keys = [key for replica in replicas for key in replica.ledger.keys]
    # What a replica finds not indexed at its start has a key with a colon.
    ours = [key for key in keys if key.startswith("index_") and ":" not in key]
    assert ours == [f"index_memory/{AGENT}/{memory.id}/1"]


async def test_different_values_from_two_replicas_are_one_chain(replicas: list[Semantic]) -> None:
    """S-6, S-8: and each is what was valid while it was."""
    turns = cycle(replicas)
    answers = await asyncio.gather(*(next(turns).remember("k", f"v{n}", "ann") for n in range(WRITERS)))
    chains = [await chain_of(replica, answers[0].memory.id) for replica in replicas]
    assert chains[0] == chains[1]
    assert_one_chain(chains[0])
    assert {memory.value for memory in chains[0]} == {f"v{n}" for n in range(WRITERS)}
    by_key = pb.GetMemoryByKeyRequest(scope=scope("ann"), key="k")
    for replica in replicas:
        assert (await replica.by(READER).GetMemoryByKey(by_key)).memory.id == chains[0][-1].id


async def test_the_same_request_at_two_replicas_is_one_write(replicas: list[Semantic]) -> None:
    """S-6, X-1: a retry that another replica gets, while a third writes beside it."""
    turns = cycle(replicas)
    retried = [next(turns).remember("k", "a", request_id="r") for _ in range(16)]
    others = [next(turns).remember("k", f"b{n}") for n in range(16)]
    answers = await asyncio.gather(*retried, *others)
    assert len({answer.memory.id for answer in answers[:16]}) == 1
    assert_one_chain(await chain_of(replicas[0], answers[0].memory.id))


async def test_writes_forgetting_and_undoing_leave_one_chain(replicas: list[Semantic]) -> None:
    """S-6, S-8: whatever comes first, versions have no gaps, at most one is live, and none is half there."""
    semantic = replicas[0]
    known = [(await semantic.remember("k", f"first {n}", "ann")).memory.id for n in range(3)]

    def act(n: int) -> Any:
        by = replicas[n % 2].by(WRITER)
        if n % 7 == 3:
            return by.ForgetMemory(pb.ForgetMemoryRequest(agent_id=AGENT, memory_id=known[n % 3]))
        if n % 5 == 2:
            return by.UndoSupersession(pb.UndoSupersessionRequest(agent_id=AGENT, memory_id=known[n % 3]))
        return by.Remember(pb.RememberRequest(scope=scope("ann"), key="k", value=f"value {n % 4}"))

    outcomes = await asyncio.gather(*(act(n) for n in range(80)), return_exceptions=True)
    failed = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
    assert all(isinstance(one, grpc.aio.AioRpcError) and one.code() in REFUSALS for one in failed), failed
    by_key = pb.GetMemoryByKeyRequest(scope=scope("ann"), key="k")
    last = (await replicas[1].by(READER).GetMemoryByKey(by_key)).memory
    chain = await chain_of(semantic, last.id)
    assert_one_chain(chain)
    assert chain[-1].id == last.id
    listing = pb.ListMemoriesRequest(scope=scope("ann"), filter=pb.MemoryFilter(include_superseded=True))
    listed = (await replicas[1].by(READER).ListMemories(listing)).memories
    assert [memory.id for memory in listed] == [memory.id for memory in chain]
