"""Supersession, contradictions and validity through a real stub (SPEC S-1, S-6 to S-8, S-16, X-1)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.field_mask_pb2 import FieldMask
from palimpsest.common.v1 import resources_pb2
from palimpsest.semantic.v1 import semantic_pb2 as pb

from services.kit.times import to_timestamp
from tests.integration.embedded_suite import failure
from tests.integration.judged import judgements, verdict
from tests.integration.semantic_suite import (
    AGENT,
    CODE,
    NOW,
    OTHER,
    READER,
    WRITER,
    Episodic,
    Semantic,
    running,
    scope,
    values,
)

DAY = timedelta(days=1)
Judge = Callable[..., Awaitable[None]]


class Clock:
    """Stands still until it is set."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def semantic(tmp_path: Path, clock: Clock) -> AsyncIterator[Semantic]:
    async with running(tmp_path, Episodic(), clock) as made:
        yield made


@pytest.fixture
async def supersede(tmp_path: Path) -> Judge:
    async def judge(old: pb.RememberResponse, new: pb.RememberResponse) -> None:
        async with judgements(tmp_path) as store:
            assert await store.supersede("acme", AGENT, verdict(old.memory.id, new.memory.id), NOW)

    return judge


@pytest.fixture
async def contradict(tmp_path: Path) -> Judge:
    async def judge(one: pb.RememberResponse, other: pb.RememberResponse) -> None:
        async with judgements(tmp_path) as store:
            assert await store.record_contradiction(
                "acme", AGENT, verdict(one.memory.id, other.memory.id), NOW
            )

    return judge


async def undo(semantic: Semantic, memory_id: str) -> pb.UndoSupersessionResponse:
    request = pb.UndoSupersessionRequest(agent_id=AGENT, memory_id=memory_id)
    response: pb.UndoSupersessionResponse = await semantic.by(WRITER).UndoSupersession(request)
    return response


async def listed(semantic: Semantic, *contacts: str, **fields: Any) -> pb.ListContradictionsResponse:
    request = pb.ListContradictionsRequest(scope=scope(*contacts), **fields)
    response: pb.ListContradictionsResponse = await semantic.by(READER).ListContradictions(request)
    return response


async def versions(semantic: Semantic, memory_id: str) -> pb.ListMemoryVersionsResponse:
    request = pb.ListMemoryVersionsRequest(agent_id=AGENT, memory_id=memory_id)
    response: pb.ListMemoryVersionsResponse = await semantic.by(READER).ListMemoryVersions(request)
    return response


async def live(semantic: Semantic, **chosen: Any) -> list[str]:
    request = pb.ListMemoriesRequest(scope=scope(), filter=pb.MemoryFilter(**chosen))
    return [memory.value for memory in (await semantic.by(READER).ListMemories(request)).memories]


async def test_an_undone_supersession_is_recalled_again(semantic: Semantic, supersede: Judge) -> None:
    """S-8, S-16: the token says when."""
    old = await semantic.known("city", "lives in Oslo")
    new = await semantic.known("home.town", "has moved to Bergen")
    await supersede(old, new)
    await semantic.work_off()
    assert values(await semantic.recall("lives in Oslo")) == ["has moved to Bergen"]
    history = await versions(semantic, old.memory.id)
    assert [m.value for m in history.memories] == ["lives in Oslo", "has moved to Bergen"]
    (made,) = history.supersessions
    assert (made.old_memory_id, made.new_memory_id) == (old.memory.id, new.memory.id)
    assert (made.cause, made.probability, made.judge) == (
        resources_pb2.SUPERSESSION_CAUSE_JUDGED,
        0.75,
        "test",
    )
    undone = await undo(semantic, old.memory.id)
    assert (undone.memory.superseded_by, undone.memory.HasField("valid_to_time")) == ("", False)
    assert await semantic.work_off(at_least=1) > 0
    answer = await semantic.recall("lives in Oslo", wait_for=[undone.token])
    assert not answer.unindexed
    assert "lives in Oslo" in values(answer)
    (made,) = (await versions(semantic, old.memory.id)).supersessions
    assert made.HasField("undo_time")


async def test_undoing_is_refused_where_it_would_make_two_live_versions(semantic: Semantic) -> None:
    """S-6, S-8."""
    first = await semantic.remember("city", "Oslo")
    second = await semantic.remember("city", "Bergen")
    for memory in (first, second):
        request = pb.UndoSupersessionRequest(agent_id=AGENT, memory_id=memory.memory.id)
        outcome = await failure(semantic.by(WRITER).UndoSupersession(request))
        assert outcome[:2] == (CODE.FAILED_PRECONDITION, "STATE_CONFLICT")
    assert await live(semantic) == ["Bergen"]


async def test_contradictions_are_listed_and_resolved(semantic: Semantic, contradict: Judge) -> None:
    """S-7, S-8."""
    one = await semantic.known("diet", "eats no meat")
    other = await semantic.known("food", "loves steak")
    await contradict(one, other)
    (found,) = (await listed(semantic)).contradictions
    assert {m.value for m in found.memories} == {"eats no meat", "loves steak"}
    assert {tuple(m.contradicts) for m in found.memories} == {(one.memory.id,), (other.memory.id,)}
    request = pb.ResolveContradictionRequest(
        agent_id=AGENT, contradiction_id=found.id, kept_memory_id=one.memory.id
    )
    for _ in range(2):
        answer = await semantic.by(WRITER).ResolveContradiction(request)
        assert {m.id: m.superseded_by for m in answer.memories} == {
            one.memory.id: "",
            other.memory.id: one.memory.id,
        }
    await semantic.work_off()
    assert values(await semantic.recall("steak or no meat")) == ["eats no meat"]
    assert not (await listed(semantic)).contradictions
    request.kept_memory_id = other.memory.id
    outcome = await failure(semantic.by(WRITER).ResolveContradiction(request))
    assert outcome[:2] == (CODE.FAILED_PRECONDITION, "STATE_CONFLICT")
    request.kept_memory_id = "unknown"
    outcome = await failure(semantic.by(WRITER).ResolveContradiction(request))
    assert outcome == (CODE.INVALID_ARGUMENT, "INVALID_FIELD", ["kept_memory_id"])


async def test_pages_of_contradictions_end_and_their_tokens_are_for_one_scope(
    semantic: Semantic, contradict: Judge
) -> None:
    for n in range(5):
        one, other = [await semantic.remember(f"{key}{n}", f"v{key}") for key in "ab"]
        await contradict(one, other)
    seen: list[str] = []
    token, pages = "", 0
    while pages == 0 or token:
        page = await listed(semantic, page_size=2, page_token=token)
        seen += [found.id for found in page.contradictions]
        token, pages = page.next_page_token, pages + 1
    assert (pages, len(set(seen))) == (3, 5)
    first = await listed(semantic, page_size=2)
    request = pb.ListContradictionsRequest(scope=scope("ann"), page_token=first.next_page_token)
    outcome = await failure(semantic.by(READER).ListContradictions(request))
    assert outcome[:2] == (CODE.INVALID_ARGUMENT, "INVALID_PAGE_TOKEN")


async def test_another_tenant_finds_nothing_to_undo_or_resolve(
    semantic: Semantic, supersede: Judge, contradict: Judge
) -> None:
    """X-1."""
    old, new, third = [await semantic.remember(key, key) for key in ("old", "new", "third")]
    await supersede(old, new)
    await contradict(new, third)
    stranger = semantic.by(OTHER)
    assert not (await stranger.ListContradictions(pb.ListContradictionsRequest(scope=scope()))).contradictions
    (found,) = (await listed(semantic)).contradictions
    for call in (
        stranger.UndoSupersession(pb.UndoSupersessionRequest(agent_id=AGENT, memory_id=old.memory.id)),
        stranger.ResolveContradiction(
            pb.ResolveContradictionRequest(agent_id=AGENT, contradiction_id=found.id)
        ),
    ):
        assert (await failure(call))[:2] == (CODE.NOT_FOUND, "RESOURCE_NOT_FOUND")
    assert await live(semantic) == ["new", "third"]


async def test_a_plan_is_recalled_when_its_time_comes(semantic: Semantic, clock: Clock) -> None:
    """S-8: and what it replaces until then."""
    await semantic.known("city", "lives in Oslo")
    await semantic.known("city", "lives in Bergen", valid_from_time=to_timestamp(NOW + DAY))
    await semantic.work_off()
    assert values(await semantic.recall("where does she live: lives in")) == ["lives in Oslo"]
    clock.now = NOW + 2 * DAY
    assert values(await semantic.recall("where does she live: lives in")) == ["lives in Bergen"]
    by_key = pb.GetMemoryByKeyRequest(scope=scope(), key="city", as_of_time=to_timestamp(NOW))
    assert (await semantic.by(READER).GetMemoryByKey(by_key)).memory.value == "lives in Oslo"
    assert await live(semantic, as_of_time=to_timestamp(NOW)) == ["lives in Oslo"]
    assert await live(semantic, as_of_time=to_timestamp(NOW - DAY)) == []


async def test_an_end_before_the_beginning_is_refused_and_a_stated_one_kept(
    semantic: Semantic, clock: Clock
) -> None:
    """S-1, X-2."""
    request = pb.RememberRequest(
        scope=scope(), key="stay", value="in Oslo", valid_to_time=to_timestamp(NOW - DAY)
    )
    outcome = await failure(semantic.by(WRITER).Remember(request))
    assert outcome == (CODE.INVALID_ARGUMENT, "INVALID_FIELD", ["valid_to_time"])
    written = await semantic.remember("stay", "in Oslo", valid_to_time=to_timestamp(NOW + DAY))
    assert written.memory.valid_to_time == to_timestamp(NOW + DAY)
    assert await live(semantic) == ["in Oslo"]
    clock.now = NOW + DAY
    assert await live(semantic) == []


async def test_an_update_says_which_revision_it_is_about(semantic: Semantic) -> None:
    """X-1: VERSION_CONFLICT."""
    written = (await semantic.remember("k", "v")).memory
    assert (written.revision, written.verification) == (1, resources_pb2.VERIFICATION_PENDING)

    def change(pinned: bool, revision: int) -> Any:
        return semantic.by(WRITER).UpdateMemory(
            pb.UpdateMemoryRequest(
                agent_id=AGENT,
                memory=resources_pb2.Memory(id=written.id, pinned=pinned),
                update_mask=FieldMask(paths=["pinned"]),
                expected_revision=revision,
            )
        )

    assert (await change(True, 1)).memory.revision == 2
    assert (await change(True, 1)).memory.revision == 2, "a retry finds it as asked"
    outcome = await failure(change(False, 1))
    assert outcome[:2] == (CODE.ABORTED, "VERSION_CONFLICT")
    assert (await change(False, 0)).memory.revision == 3
