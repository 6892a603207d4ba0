"""Overlays come by themselves: appends make jobs, jobs overlays, windows show them (SPEC E-5, E-7, E-8)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import grpc
import pytest
from palimpsest.common.v1 import jobs_pb2, resources_pb2
from palimpsest.gateway.v1 import administration_pb2, conversations_pb2, memories_pb2
from palimpsest.history.v1 import history_pb2_grpc, overlays_pb2, windows_pb2

from services.compactor.adapters.cover_handler import (
    COVER_MESSAGES,
    FOLD_OVERLAYS,
    CoverHandler,
    FoldHandler,
)
from services.compactor.app.ports import Done, Outcome
from services.compactor.app.summarising import Extractive
from services.compactor.domain.covering import Lengths
from services.compactor.domain.extractive import NAME
from services.compactor.domain.ledger import Job, JobState
from services.kit.tokens import estimate_tokens
from services.memory.episodic.domain.coverage import MOST_COVERED
from tests.integration.embedded_suite import AGENT, Keyed, prepare, running, said

TOWNS = ["Bergen", "Porto", "Leith", "Turku", "Ghent", "Split", "Varna"]
GOODS = ["barley", "copper wire", "oak boards", "linen", "salt", "lamp glass", "wool", "tin", "paper", "rope"]
MOST_UNCOVERED = 25  # E-8
BUDGET = 4800
"""Tokens of a window: history's part of a prompt of 8,000."""


class Talk:
    """One conversation of a running suite."""

    def __init__(self, gateway: Any, history: Any) -> None:
        self.gateway = gateway
        self.history = history
        self.sent = 0

    async def send(self, count: int) -> None:
        """Appends that many messages, each with a number of its own."""
        numbers = range(self.sent + 1, self.sent + count + 1)
        self.sent += count
        await self.gateway.RecordTurn(
            conversations_pb2.RecordTurnRequest(
                agent_id=AGENT,
                conversation_id="c",
                messages=[said(text(n), id=f"m{n}", author="Ann") for n in numbers],
            )
        )

    async def coverage(self) -> overlays_pb2.GetCoverageResponse:
        request = overlays_pb2.GetCoverageRequest(agent_id=AGENT, conversation_id="c")
        response: overlays_pb2.GetCoverageResponse = await self.history.GetCoverage(request)
        return response

    async def overlays(self, *, superseded: bool = False) -> list[overlays_pb2.Overlay]:
        request = overlays_pb2.ListOverlaysRequest(
            agent_id=AGENT, conversation_id="c", include_superseded=superseded, page_size=1000
        )
        found = (await self.history.ListOverlays(request)).overlays
        return sorted(found, key=lambda one: one.from_depth)

    async def window(self, tokens: int = BUDGET) -> windows_pb2.GetWindowResponse:
        request = windows_pb2.GetWindowRequest(
            agent_id=AGENT, conversation_id="c", budget=windows_pb2.BudgetWindow(tokens=tokens)
        )
        response: windows_pb2.GetWindowResponse = await self.history.GetWindow(request)
        return response

    async def jobs(self, type_: str) -> list[jobs_pb2.Job]:
        request = administration_pb2.ListJobsRequest(
            filter=administration_pb2.JobFilter(types=[type_]), page_size=1000
        )
        return list((await self.gateway.ListJobs(request)).jobs)

    async def settled(self) -> None:
        """Waits until no more messages are uncovered than may be, overlays are within their share, and every
        job on them has ended well, no other having come since the look before."""
        request = conversations_pb2.GetConversationRequest(agent_id=AGENT, conversation_id="c")

        seen: set[str] = set()

        async def idle() -> bool:
            conversation = (await self.gateway.GetConversation(request)).conversation
            jobs = [*await self.jobs(COVER_MESSAGES), *await self.jobs(FOLD_OVERLAYS)]
            fresh = {job.id for job in jobs} - seen
            seen.update(fresh)
            return (
                not fresh
                and conversation.depth - conversation.covered_count <= MOST_UNCOVERED
                and not (await self.coverage()).over_share
                and all(job.state == jobs_pb2.JOB_STATE_SUCCEEDED for job in jobs)
            )

        await until(idle)


def text(number: int) -> str:
    """Of some 30 tokens; no two have the same number, and neighbours speak of other things."""
    town, goods = TOWNS[number % len(TOWNS)], GOODS[number % len(GOODS)]
    return (
        f"The harbour of {town} took {number * 17} crates of {goods} on day {number}."
        f" The clerk filed it as order {goods[:2].upper()}-{number}, which nobody has paid for yet."
    )


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(60):
        while not await holds():  # noqa: ASYNC110 - several services have to come to rest
            await asyncio.sleep(0.05)


@pytest.fixture
async def talk(tmp_path: Path) -> AsyncIterator[Talk]:
    async with (
        running(tmp_path / "data") as suite,
        grpc.aio.insecure_channel(f"127.0.0.1:{suite.port}") as channel,
    ):
        gateway = await suite.stub()
        await prepare(gateway)
        yield Talk(gateway, Keyed(history_pb2_grpc.HistoryServiceStub(channel), suite.operator))


async def test_all_but_the_newest_messages_get_covered_and_stay_readable(talk: Talk) -> None:
    """E-8: with more than 25 uncovered messages, all but the newest 5 are covered; S-8: they stay found."""
    await talk.send(25)  # not enough yet: it would be the newest 5 of these that stay
    await talk.send(5)
    await talk.settled()
    (overlay,) = await talk.overlays()
    assert (overlay.id, overlay.from_message_id, overlay.to_message_id) == ("cover-1-25", "m1", "m25")
    assert (overlay.message_count, overlay.model) == (25, NAME)
    assert 0 < overlay.token_count == estimate_tokens(overlay.summary) <= 200
    assert overlay.token_count < overlay.message_tokens * 0.13
    lines = [line for line in overlay.summary.splitlines() if line.startswith("- ")]
    statements = [line.split("Ann: ", 1)[1] for line in lines]
    assert statements
    assert all(any(one in text(n) for n in range(1, 26)) for one in statements)

    (job,) = await talk.jobs(COVER_MESSAGES)
    assert list(job.result_ids) == ["cover-1-25"]

    small = await talk.window(600)
    assert [one.overlay.id for one in small.overlays] == ["cover-1-25"]
    assert small.tail[-1].message.id == "m30"
    assert small.token_count <= 600
    whole = await talk.window(100_000)
    assert not whole.overlays, "what is shown verbatim needs no summary"
    assert len(whole.head) + len(whole.tail) == 30

    for number in (1, 13, 25):
        request = conversations_pb2.GetMessageRequest(
            agent_id=AGENT, conversation_id="c", message_id=f"m{number}"
        )
        message = (await talk.gateway.GetMessage(request)).message
        assert message.parts[0].text == text(number)
    token = resources_pb2.FreshnessToken(
        agent_id=AGENT, messages=resources_pb2.MessageMark(conversation_id="c", sequence=30)
    )
    found = await talk.gateway.RecallConversation(
        memories_pb2.RecallConversationRequest(
            agent_id=AGENT, conversation_id="c", query="order PA-8", wait_for=[token]
        )
    )
    assert not found.unindexed
    assert "m8" in {hit.message.id for hit in found.hits}


async def test_a_long_conversation_is_covered_without_overlaps_and_folded(talk: Talk) -> None:
    """E-7: overlays never overlap; over their share the oldest are folded; E-5: a window fits its budget."""
    for _ in range(4):
        await talk.send(100)
    await talk.settled()
    live = await talk.overlays()
    assert live[0].from_depth == 1
    assert all(one.to_depth + 1 == after.from_depth for one, after in pairwise(live))
    assert live[-1].to_depth >= talk.sent - MOST_UNCOVERED
    share = (await talk.coverage()).share_tokens
    assert sum(one.token_count for one in live) <= share

    every = await talk.overlays(superseded=True)
    folds = [one for one in every if one.id.startswith("fold-")]
    covers = [one for one in every if one.id.startswith("cover-")]
    assert folds
    assert all(one.message_count <= MOST_COVERED for one in covers)
    assert [depth for one in covers for depth in range(one.from_depth, one.to_depth + 1)] == list(
        range(1, live[-1].to_depth + 1)
    ), "each message is covered once"
    for one in folds:
        sources = [other for other in every if one.id in other.superseded_by]
        assert len(sources) >= 2
        assert [other.id for other in sources] == list(one.source_ids)
        assert sum(other.message_count for other in sources) == one.message_count
        assert one.token_count <= share // 3
    assert {one.id for one in live} == {one.id for one in every if not one.superseded_by}

    for type_, made in ((COVER_MESSAGES, covers), (FOLD_OVERLAYS, folds)):
        results = {result for job in await talk.jobs(type_) for result in job.result_ids}
        assert results == {one.id for one in made}

    # Last, as a window may ask for more overlays.
    for tokens in (300, 1000, BUDGET):
        window = await talk.window(tokens)
        assert window.token_count <= tokens
    assert window.overlays
    assert window.overlays_left_out == 0


async def test_a_job_that_is_done_again_adds_nothing(talk: Talk) -> None:
    """J-2: at least once, effects idempotent."""
    await talk.send(400)
    await talk.settled()
    before = await talk.overlays(superseded=True)
    assert {one.id.split("-")[0] for one in before} == {"cover", "fold"}
    assert not (await talk.coverage()).uncovered

    async def again(handler: CoverHandler | FoldHandler, type_: str) -> Sequence[Outcome]:
        return await handler.run("default", AGENT, [job(type_)])

    assert await again(CoverHandler(talk.history, Extractive(), Lengths()), COVER_MESSAGES) == [Done()]
    assert await again(FoldHandler(talk.history, Extractive(), Lengths()), FOLD_OVERLAYS) == [Done()]
    # Nor does the call that the first attempt made before its process died.
    first = next(one for one in before if one.id == "cover-1-60")
    repeated = overlays_pb2.PutOverlayRequest(
        agent_id=AGENT,
        conversation_id="c",
        overlay_id=first.id,
        from_message_id=first.from_message_id,
        to_message_id=first.to_message_id,
        summary=first.summary,
        model=first.model,
    )
    assert (await talk.history.PutOverlay(repeated)).overlay == first
    assert await talk.overlays(superseded=True) == before


def job(type_: str) -> Job:
    now = datetime.now(UTC)
    return Job(
        id="again",
        tenant="default",
        agent_id=AGENT,
        type=type_,
        subject="conversations/c",
        key="again",
        payload=b'{"conversation_id":"c"}',
        state=JobState.RUNNING,
        max_attempts=5,
        created=now,
        updated=now,
        due=None,
        revision=1,
    )
