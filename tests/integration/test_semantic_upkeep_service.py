"""UpkeepService through a real stub over a socket, on real stores (SPEC S-14, J-10, J-15, SV-6)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest
from palimpsest.common.v1 import resources_pb2
from palimpsest.semantic.v1 import semantic_pb2
from palimpsest.semantic.v1 import upkeep_pb2 as pb

from services.kit.identity import Principal, Role
from services.kit.times import to_timestamp
from tests.integration.semantic_suite import (
    AGENT,
    CODE,
    NOW,
    OTHER,
    SERVICE,
    TASK,
    WRITER,
    Episodic,
    Semantic,
    running,
    values,
)

SYSTEM = Principal(tenant="system", role=Role.SERVICE, subject="test")
ONLY_BEA = Principal(tenant="acme", role=Role.SERVICE, agents=frozenset({"bea"}), subject="test")
OTHERS = Principal(tenant="other", role=Role.WRITER, subject="test")
DAY = timedelta(days=1)


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def semantic(tmp_path: Path, clock: Clock) -> AsyncIterator[Semantic]:
    async with running(tmp_path, Episodic(), clock, sweep_seconds=0.05) as made:
        yield made


async def refused(call: Any) -> grpc.StatusCode:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    return caught.value.code()


async def merge(semantic: Semantic, *written: semantic_pb2.RememberResponse) -> pb.MergeMemoriesResponse:
    current = [
        (
            await semantic.by(SERVICE).GetMemory(
                semantic_pb2.GetMemoryRequest(agent_id=AGENT, memory_id=one.memory.id)
            )
        ).memory
        for one in written
    ]
    request = pb.MergeMemoriesRequest(
        agent_id=AGENT,
        memory_id="merged",
        members=[pb.MergeMember(memory_id=one.id, revision=one.revision) for one in current],
    )
    answer: pb.MergeMemoriesResponse = await semantic.by(SERVICE).MergeMemories(request)
    return answer


async def test_only_services_are_let_in(semantic: Semantic) -> None:
    """SV-6: and those only to the agents that their tokens name."""
    request = pb.DecayMemoriesRequest(agent_id=AGENT)
    assert await refused(semantic.by(WRITER).DecayMemories(request)) is CODE.PERMISSION_DENIED
    assert await refused(semantic.by(ONLY_BEA).DecayMemories(request)) is CODE.PERMISSION_DENIED
    assert (await semantic.by(SERVICE).DecayMemories(request)).decayed_count == 0


async def test_agents_of_all_tenants_are_listed_for_the_system_alone(semantic: Semantic) -> None:
    await semantic.remember("a", "x")
    await semantic.remember("a", "x", agent="bea")
    await semantic.remember("a", "x", by=OTHERS)

    async def listed(by: Principal) -> list[tuple[str, str]]:
        found, token = [], ""
        while True:
            request = pb.ListActiveAgentsRequest(page_size=2, page_token=token)
            page = await semantic.by(by).ListActiveAgents(request)
            found += [(one.tenant, one.agent_id) for one in page.agents]
            token = page.next_page_token
            if not token:
                return found

    ours = [("acme", AGENT), ("acme", "bea")]
    assert await listed(SERVICE) == ours
    assert await listed(OTHER) == [("other", AGENT)]
    assert await listed(SYSTEM) == [*ours, ("other", AGENT)]
    bad = pb.ListActiveAgentsRequest(page_token="nonsense")
    assert await refused(semantic.by(SERVICE).ListActiveAgents(bad)) is CODE.INVALID_ARGUMENT


async def test_unused_memories_decay_and_recover(semantic: Semantic, clock: Clock) -> None:
    """S-14."""
    written = await semantic.remember("a", "x")
    clock.now = NOW + 40 * DAY

    async def confidence() -> float:
        request = semantic_pb2.GetMemoryRequest(agent_id=AGENT, memory_id=written.memory.id)
        return float((await semantic.by(SERVICE).GetMemory(request)).memory.confidence)

    async def decay(**fields: Any) -> int:
        request = pb.DecayMemoriesRequest(agent_id=AGENT, **fields)
        return int((await semantic.by(SERVICE).DecayMemories(request)).decayed_count)

    assert await decay(dry_run=True) == 1
    assert await confidence() == pytest.approx(0.9)
    assert [await decay(), await decay()] == [1, 0]
    assert await confidence() == pytest.approx(0.72)
    undo = pb.UndoDecayRequest(agent_id=AGENT, day_time=to_timestamp(clock.now))
    assert (await semantic.by(SERVICE).UndoDecay(undo)).restored_count == 1
    assert await confidence() == pytest.approx(0.9)


async def test_similar_memories_are_merged_and_taken_apart(semantic: Semantic) -> None:
    """J-10: recall follows."""
    first = await semantic.known("a", "The user saw a grey heron")
    second = await semantic.known("b", "the user saw a grey heron")
    await semantic.known("c", "The user bakes bread")
    found = await semantic.by(SERVICE).FindSimilarMemories(pb.FindSimilarMemoriesRequest(agent_id=AGENT))
    assert len(found.memories) == 3
    (pair,) = found.pairs
    assert {pair.memory_id, pair.other_id} == {first.memory.id, second.memory.id}
    assert (pair.covers, pair.covered, pair.barred) == (True, True, False)
    merged = (await merge(semantic, first, second)).memory
    assert merged.source == resources_pb2.MEMORY_SOURCE_CONSOLIDATION
    await semantic.work_off()
    assert values(await semantic.recall("heron"))[0] == "The user saw a grey heron"
    hits = [hit.memory.id for hit in (await semantic.recall("heron")).hits]
    assert "merged" in hits
    assert not {first.memory.id, second.memory.id} & set(hits)
    undo = pb.UndoMergeRequest(agent_id=AGENT, memory_id="merged")
    restored = await semantic.by(SERVICE).UndoMerge(undo)
    assert set(restored.memory_ids) == {first.memory.id, second.memory.id}
    await semantic.work_off()
    hits = [hit.memory.id for hit in (await semantic.recall("heron")).hits]
    assert {first.memory.id, second.memory.id} <= set(hits)
    assert "merged" not in hits
    assert list((await semantic.by(SERVICE).UndoMerge(undo)).memory_ids) == []


async def test_a_merge_by_what_is_not_so_any_more_is_refused(semantic: Semantic) -> None:
    first, second = await semantic.known("a", "x y z"), await semantic.known("b", "x y z")
    members = [pb.MergeMember(memory_id=one.memory.id, revision=99) for one in (first, second)]
    request = pb.MergeMemoriesRequest(agent_id=AGENT, memory_id="m", members=members)
    assert await refused(semantic.by(SERVICE).MergeMemories(request)) is CODE.FAILED_PRECONDITION
    twice = pb.MergeMemoriesRequest(agent_id=AGENT, memory_id="m", members=[members[0]] * 2)
    assert await refused(semantic.by(SERVICE).MergeMemories(twice)) is CODE.INVALID_ARGUMENT
    assert await refused(semantic.by(OTHER).MergeMemories(request)) is CODE.FAILED_PRECONDITION


async def test_recent_memories_are_listed_for_services(semantic: Semantic, clock: Clock) -> None:
    await semantic.remember("a", "old")
    clock.now = NOW + DAY
    await semantic.remember("b", "new", "ann")
    request = pb.ListRecentMemoriesRequest(agent_id=AGENT, since_time=to_timestamp(NOW + DAY))
    found = await semantic.by(SERVICE).ListRecentMemories(request)
    assert [(one.value, one.contact_id) for one in found.memories] == [("new", "ann")]


async def test_a_reflection_is_a_services_and_not_verified(semantic: Semantic) -> None:
    """S-4, S-7: what repeats others replaces none."""
    written = await semantic.remember(
        "reflection:2031-05-03:heron",
        "On 2031-05-03, heron came up 3 times",
        by=SERVICE,
        fact_type=resources_pb2.FACT_TYPE_REFLECTION,
        source=resources_pb2.MEMORY_SOURCE_REFLECTION,
    )
    assert written.memory.confidence == pytest.approx(0.85)
    assert written.memory.verification == resources_pb2.VERIFICATION_NOT_NEEDED


async def test_what_expired_leaves_the_index_by_itself(semantic: Semantic, clock: Clock) -> None:
    """J-15: the service asks for the job; the vectors and words are moved by it."""
    await semantic.known("t", "buy a heron", fact_type=TASK)
    await semantic.work_off()
    clock.now = NOW + 8 * DAY
    assert await semantic.work_off(at_least=1, until_quiet=1.0) >= 1
    drift = await semantic.by(SERVICE).CheckDrift(pb.CheckDriftRequest(agent_id=AGENT))
    assert (drift.lost_memories, drift.strangers) == (0, 0)


async def test_drift_is_found_and_put_right(semantic: Semantic) -> None:
    """J-15."""
    await semantic.remember("a", "a heron")
    check = pb.CheckDriftRequest(agent_id=AGENT)
    while not semantic.ledger.waiting.empty():
        semantic.ledger.waiting.get_nowait()
    found = await semantic.by(SERVICE).CheckDrift(check)
    assert (found.lost_memories, found.lost_messages) == (1, 0)
    assert await semantic.work_off(at_least=1) >= 1
    assert (await semantic.by(SERVICE).CheckDrift(check)).lost_memories == 0
