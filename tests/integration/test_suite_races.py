"""Writers that race through the gateway leave a chain for each key, and indexes follow (SPEC S-6, S-8, SV-2).

Programs of random rounds run on one suite, each for an agent of its own; acts of a round are made at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from itertools import count
from typing import Any

import grpc
import pytest
import pytest_asyncio
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from palimpsest.common.v1 import recall_pb2, resources_pb2
from palimpsest.gateway.v1 import conversations_pb2
from palimpsest.gateway.v1 import memories_pb2 as pb

from services.kit.errors import NotFound, StateConflict
from services.kit.times import now, to_timestamp
from tests.integration.chain_checks import Memory, assert_one_chain, live
from tests.integration.embedded_suite import Running, running
from tests.integration.judged import judgements, verdict
from tests.integration.scope_world import COMMON

pytestmark = pytest.mark.asyncio(loop_scope="module")
CODE = grpc.StatusCode
WRITERS = 64
REFUSALS = {CODE.NOT_FOUND, CODE.FAILED_PRECONDITION}
KEYS = (f"{COMMON}.a", f"{COMMON}.b")
INDEXED = {recall_pb2.CHANNEL_VECTOR, recall_pb2.CHANNEL_KEYWORD}

Act = tuple[str, int, int]
numbers = st.integers(0, 3)
acts = st.one_of(
    st.tuples(st.just("remember"), st.integers(0, 1), numbers),
    st.tuples(st.just("remember"), st.integers(0, 1), numbers),
    st.tuples(st.just("forget"), numbers, numbers),
    st.tuples(st.just("undo"), numbers, numbers),
    st.tuples(st.just("judge"), numbers, numbers),
)
EVERYTHING: list[list[Act]] = [
    [("remember", 0, 0), ("remember", 1, 0)],
    [("judge", 0, 1), ("remember", 0, 1), ("remember", 1, 1)],
    [("undo", 0, 0), ("undo", 1, 0), ("forget", 1, 0), ("remember", 0, 2), ("remember", 0, 3)],
    [("judge", 2, 3), ("undo", 0, 0), ("remember", 1, 2), ("remember", 1, 2), ("forget", 0, 0)],
    [("remember", 0, 0), ("remember", 1, 0), ("undo", 3, 0), ("judge", 1, 0)],
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def suite(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    async with running(tmp_path_factory.mktemp("races") / "data") as made:
        yield made


@pytest.fixture(scope="module")
def agents() -> Iterator[str]:
    return (f"agent-{n}" for n in count())


class Writers:
    """Everybody who writes for one agent, and the ids that they have seen."""

    def __init__(self, suite: Running, stub: Any, agent: str) -> None:
        self.suite, self.stub, self.agent = suite, stub, agent
        self.ids: list[str] = []
        self.tokens: list[Any] = []

    async def remember(self, key: str, value: str) -> pb.RememberResponse:
        written: pb.RememberResponse = await self.stub.Remember(
            pb.RememberRequest(agent_id=self.agent, key=key, value=value)
        )
        if written.memory.id not in self.ids:
            self.ids.append(written.memory.id)
        self.tokens.append(written.token)
        return written

    async def act(self, name: str, first: int, second: int) -> None:
        """One act; one that comes too late is refused, and changes nothing."""
        if name == "remember":
            await self.remember(KEYS[first], f"{COMMON} {'abcd'[second] * 5}")
        elif self.ids:
            one, other = self.ids[first % len(self.ids)], self.ids[second % len(self.ids)]
            try:
                await self._change(name, one, other)
            except grpc.aio.AioRpcError as error:
                if error.code() not in REFUSALS:
                    raise
            except (NotFound, StateConflict):  # the judge's hand is in the store itself
                return

    async def _change(self, name: str, one: str, other: str) -> None:
        if name == "forget":
            await self.stub.ForgetMemory(pb.ForgetMemoryRequest(agent_id=self.agent, memory_id=one))
        elif name == "undo":
            request = pb.UndoSupersessionRequest(agent_id=self.agent, memory_id=one)
            self.tokens.append((await self.stub.UndoSupersession(request)).token)
        elif one != other:
            async with judgements(self.suite.data) as store:
                await store.supersede("default", self.agent, verdict(one, other, 0.9), now())

    async def memories(self) -> list[Memory]:
        """All that there are."""
        request = pb.ListMemoriesRequest(agent_id=self.agent, include_superseded=True)
        return list((await self.stub.ListMemories(request)).memories)

    async def check(self) -> None:
        """S-6, S-8: chains, one live memory of a key, and whose successors are told."""
        memories = await self.memories()
        by_id = {memory.id: memory for memory in memories}
        for key in KEYS:
            chain = [memory for memory in memories if memory.key == key]
            assert_one_chain(chain, whole=False)
            asked = self.stub.GetMemoryByKey(pb.GetMemoryByKeyRequest(agent_id=self.agent, key=key))
            if holding := live(chain):
                assert (await asked).memory.id == holding[0].id
            else:
                with pytest.raises(grpc.aio.AioRpcError, match="NOT_FOUND"):
                    await asked
        for memory in memories:
            assert memory.superseded_by != memory.id
            assert memory.HasField("valid_to_time") == bool(memory.superseded_by)
            before = by_id.get(memory.supersedes)
            if before is not None and before.key == memory.key and before.superseded_by:
                assert before.superseded_by == memory.id

    async def found(self, **fields: Any) -> dict[str, set[int]]:
        """The channels by id of what recall finds, once the indexes have all that was written."""
        request = pb.RecallRequest(
            agent_id=self.agent, query=COMMON, limit=100, wait_for=self.tokens[-100:], **fields
        )
        answer = await self.stub.Recall(request)
        assert not answer.unindexed
        assert not answer.failures
        return {hit.memory.id: {place.channel for place in hit.explanation.channels} for hit in answer.hits}


async def writers_of(suite: Running, agent: str) -> Writers:
    stub = await suite.stub()
    await stub.CreateAgent(conversations_pb2.CreateAgentRequest(agent_id=agent))
    return Writers(suite, stub, agent)


async def test_the_same_from_many_is_one_memory(suite: Running, agents: Iterator[str]) -> None:
    """S-6: created once, one version, one revision."""
    writers = await writers_of(suite, next(agents))
    same = await asyncio.gather(*(writers.remember("k", COMMON) for _ in range(WRITERS)))
    assert len({answer.memory.id for answer in same}) == 1
    assert sum(answer.created for answer in same) == 1
    (memory,) = await writers.memories()
    verified = memory.verification != resources_pb2.VERIFICATION_PENDING  # its job may be done by now
    assert (memory.version, memory.revision) == (1, 2 if verified else 1)


async def test_different_values_from_many_are_one_chain(suite: Running, agents: Iterator[str]) -> None:
    """S-6, S-8: the last is live, and alone among what is found."""
    writers = await writers_of(suite, next(agents))
    await asyncio.gather(*(writers.remember("k", f"{COMMON} {n}") for n in range(WRITERS)))
    chain = await writers.memories()
    assert_one_chain(chain)
    assert {memory.value for memory in chain} == {f"{COMMON} {n}" for n in range(WRITERS)}
    assert (await writers.found()).keys() == {chain[-1].id}
    past = await writers.found(as_of_time=chain[0].valid_from_time)
    assert past.keys() <= {memory.id for memory in chain}


@example(rounds=EVERYTHING)
@settings(max_examples=10, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(rounds=st.lists(st.lists(acts, min_size=2, max_size=6), min_size=1, max_size=5))
async def test_whatever_races_there_is_one_chain_and_the_indexes_follow(
    suite: Running, agents: Iterator[str], rounds: Sequence[Sequence[Act]]
) -> None:
    """S-6, S-8, SV-2: what is live is found by every channel, and nothing else; now, and as of now."""
    writers = await writers_of(suite, next(agents))
    for acts_ in rounds:
        await asyncio.gather(*(writers.act(*one) for one in acts_))
        await writers.check()
    memories = await writers.memories()
    for fields in ({}, {"as_of_time": to_timestamp(now())}):
        found = await writers.found(**fields)
        assert found.keys() == {memory.id for memory in live(memories)}
        assert all(channels >= INDEXED for channels in found.values())
