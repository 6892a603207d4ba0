"""A corrected source reaches whatever was derived from it, by itself, through the gateway (SPEC J-17)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.json_format import MessageToDict
from palimpsest.common.v1 import jobs_pb2, resources_pb2
from palimpsest.derived.v1 import derived_pb2
from palimpsest.documents.v1 import documents_pb2
from palimpsest.gateway.v1 import administration_pb2, conversations_pb2, memories_pb2
from palimpsest.graph.v1 import graph_pb2
from palimpsest.history.v1 import overlays_pb2
from palimpsest.insight.v1 import insight_pb2

from services.compactor.domain.graph import ESTABLISHED_AT
from tests.integration.embedded_suite import AGENT, Running, failure, prepare, running, said
from tests.waiting import until

PATIENT = 90.0
WRONG, RIGHT = "Porto", "Setubal"
OTHERS = ["barley", "copper", "linen", "salt", "wool", "tin", "paper", "rope"]


class World:
    """A running suite, called as an operator."""

    def __init__(self, suite: Running, stub: Any) -> None:
        self.suite, self.stub = suite, stub

    async def talk(self, conversation: str, *texts: str, first: int = 1) -> None:
        await self.stub.RecordTurn(
            conversations_pb2.RecordTurnRequest(
                agent_id=AGENT,
                conversation_id=conversation,
                messages=[said(text, id=f"m{n}", author="Ann") for n, text in enumerate(texts, first)],
            )
        )

    async def begin(self, *conversations: str) -> None:
        for name in conversations:
            await self.stub.CreateConversation(
                conversations_pb2.CreateConversationRequest(agent_id=AGENT, conversation_id=name)
            )

    async def trigger(self, schedule: str, job_type: str) -> None:
        """Returns when its jobs have ended, and what follows them."""
        before = len(await self.jobs(job_type))
        await self.stub.TriggerSchedule(derived_pb2.TriggerScheduleRequest(name=schedule))

        async def begun() -> bool:
            return len(await self.jobs(job_type)) > before

        await until(begun)
        await self.rest()

    async def jobs(self, *types: str) -> list[jobs_pb2.Job]:
        request = administration_pb2.ListJobsRequest(
            filter=administration_pb2.JobFilter(types=types), page_size=1000
        )
        return list((await self.stub.ListJobs(request)).jobs)

    async def rest(self) -> None:
        """Returns when nothing is left to be done, twice in a row: an outbox is handed over in between."""
        quiet = 0
        async with asyncio.timeout(PATIENT):
            while quiet < 3:
                jobs = await self.jobs()
                assert not [job.error for job in jobs if job.state == jobs_pb2.JOB_STATE_DEAD]
                busy = [job for job in jobs if job.state not in DONE and job.type != "update_attractor"]
                quiet = 0 if busy else quiet + 1
                await asyncio.sleep(0.1)

    async def summary(self, conversation: str) -> documents_pb2.GetSummaryResponse:
        request = documents_pb2.GetSummaryRequest(agent_id=AGENT, conversation_id=conversation)
        found: documents_pb2.GetSummaryResponse = await self.stub.GetSummary(request)
        return found

    async def correct(self, conversation: str, version: int, **sections: Any) -> Any:
        return await self.stub.CorrectSummary(
            documents_pb2.CorrectSummaryRequest(
                agent_id=AGENT,
                conversation_id=conversation,
                version=version,
                sections=documents_pb2.SummarySections(**sections),
            )
        )

    async def page(self) -> graph_pb2.GetWikiPageResponse:
        request = graph_pb2.GetWikiPageRequest(agent_id=AGENT, branch="harbour")
        found: graph_pb2.GetWikiPageResponse = await self.stub.GetWikiPage(request)
        return found

    async def insights(self) -> list[insight_pb2.Insight]:
        listed = [
            await self.stub.ListReflections(insight_pb2.ListReflectionsRequest(agent_id=AGENT)),
            await self.stub.ListGoals(insight_pb2.ListGoalsRequest(agent_id=AGENT)),
            await self.stub.ListLearnings(insight_pb2.ListLearningsRequest(agent_id=AGENT)),
        ]
        return [*listed[0].reflections, *listed[1].goals, *listed[2].learnings]

    async def of_summary(self, conversation: str) -> list[str]:
        """The texts of insights that came from a conversation's summary."""
        source = f"summary/{conversation}"
        return [one.text for one in await self.insights() if source in one.source_ids]

    async def remember(self, key: str, value: str, **fields: Any) -> str:
        request = memories_pb2.RememberRequest(agent_id=AGENT, key=key, value=value, **fields)
        return str((await self.stub.Remember(request)).memory.id)

    async def memories(self) -> dict[str, str]:
        listed = await self.stub.ListMemories(memories_pb2.ListMemoriesRequest(agent_id=AGENT))
        return {one.id: one.value for one in listed.memories}


DONE = (
    jobs_pb2.JOB_STATE_SUCCEEDED,
    jobs_pb2.JOB_STATE_CANCELLED,
)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with running(tmp_path / "data") as suite:
        stub = await suite.stub()
        await prepare(stub)
        yield World(suite, stub)


def texts(goods: str, town: str) -> list[str]:
    return [
        f"We decided to ship the {goods} by way of {town} in spring.",
        f"The harbour master of {town} wants the {goods} papers by Friday.",
        f"I filed the {goods} list for the harbour.",
        f"The {goods} crates are stuck at the harbour gate.",
    ]


async def test_a_corrected_summary_is_what_everything_says_from_then_on(world: World) -> None:
    """Summary, page, insights; what is not there yet says that it is stale; the person's text stays."""
    names = [f"c{n}" for n in range(ESTABLISHED_AT)]
    await world.begin(*names)
    for name, goods in zip(names, OTHERS, strict=True):
        await world.talk(name, *texts(goods, WRONG if name == "c0" else "Bergen"))
    await world.trigger("summarize", "summarize_conversation")
    for name in names:
        await world.stub.LinkConversation(
            graph_pb2.LinkConversationRequest(
                agent_id=AGENT, conversation_id=name, name="Harbour", relevance=1
            )
        )
    await world.rest()
    await world.trigger("reflect", "reflect_agent")
    before = (await world.summary("c0")).summary
    assert WRONG in str(MessageToDict(before.body)["text"])
    assert WRONG in str(await world.page())
    assert any(WRONG in text for text in await world.of_summary("c0")), "an insight came from it"

    code, reason, _ = await failure(world.correct("c0", before.version + 1, objective=["x"]))
    assert (code, reason) == (grpc.StatusCode.ABORTED, "VERSION_CONFLICT")
    fixed = await world.correct(
        "c0", before.version, blocked=[f"The barley is stuck at the harbour gate of {RIGHT}."]
    )
    assert (fixed.summary.version, fixed.summary.engine) == (before.version + 1, "correction")
    page = await world.page()
    assert page.state.stale or WRONG not in str(page), "nothing old is read as current"
    await world.rest()

    now = MessageToDict((await world.summary("c0")).summary.body)
    assert RIGHT in str(now["text"])
    assert WRONG not in str(now["text"])
    page = await world.page()
    said_now = MessageToDict(page.page.body)
    assert (page.state.stale, RIGHT in str(said_now["open_questions"])) == (False, True)
    lead = [str(said_now[part]) for part in ("lead", "open_questions")]
    assert not [part for part in lead if WRONG in part]
    assert not [one for one in await world.insights() if one.stale]
    assert not [text for text in await world.of_summary("c0") if WRONG in text]

    await world.talk("c0", *[f"On day {n} nothing came of the rest." for n in range(30)], first=5)
    await world.rest()
    later = MessageToDict((await world.summary("c0")).summary.body)
    assert later["message_count"] > now["message_count"]
    assert (RIGHT in str(later["text"]), WRONG in str(later["text"])) == (True, False)


async def test_a_forgotten_memory_leaves_nothing_that_came_from_it(world: World) -> None:
    """J-10, J-11: merged memories and insights, with the memories that tell of them."""
    await world.remember("home", "The user lives in Oslo, near the fjord")
    town = await world.remember("town", "The user lives in Oslo")
    secret = await world.remember("a", "The lighthouse lamp is to be sold to Ravn")
    for key, value in (("b", "The lighthouse roof leaks"), ("c", "The lighthouse is shut on Mondays")):
        await world.remember(key, value)
    decided = await world.remember(
        "d", "The team decided to use copper", fact_type=resources_pb2.FACT_TYPE_DECISION
    )
    await world.rest()
    await world.trigger("reflect", "reflect_agent")
    run = (await world.stub.RunConsolidation(insight_pb2.RunConsolidationRequest(agent_id=AGENT))).run
    (merge,) = run.merges
    assert merge.memory_id in await world.memories()
    told = [one for one in await world.insights() if "Ravn" in one.text]
    assert [one.kind for one in told] == [insight_pb2.INSIGHT_KIND_REFLECTION]
    assert told[0].memory_id in await world.memories()
    assert any("copper" in one.text for one in await world.insights())

    for memory_id in (town, secret, decided):
        await world.stub.ForgetMemory(memories_pb2.ForgetMemoryRequest(agent_id=AGENT, memory_id=memory_id))
    await world.rest()
    left = await world.memories()
    assert merge.memory_id not in left
    assert not [value for value in left.values() if "Ravn" in value or "copper" in value]
    assert sorted(left.values()) == sorted(
        [
            "The user lives in Oslo, near the fjord",
            "The lighthouse roof leaks",
            "The lighthouse is shut on Mondays",
        ]
    ), "what it stood beside is there as before"
    assert not [one.text for one in await world.insights() if "Ravn" in one.text or "copper" in one.text]


async def test_another_path_and_a_replaced_overlay_reach_what_came_from_the_one_before(world: World) -> None:
    """E-3, E-7."""
    await world.talk("c", *[f"The {WRONG} cargo of day {n} is listed under P-{n}." for n in range(30)])
    await world.rest()
    assert WRONG in str(MessageToDict((await world.summary("c")).summary.body)["text"])
    overlays = await world.stub.ListOverlays(
        overlays_pb2.ListOverlaysRequest(agent_id=AGENT, conversation_id="c")
    )
    first = overlays.overlays[0]
    await world.stub.PutOverlay(
        overlays_pb2.PutOverlayRequest(
            agent_id=AGENT,
            conversation_id="c",
            overlay_id=first.id,
            from_message_id=first.from_message_id,
            to_message_id=first.to_message_id,
            summary=f"All of it went by way of {RIGHT}.",
            model="ann",
            replace=True,
        )
    )
    overlays = await world.stub.ListOverlays(
        overlays_pb2.ListOverlaysRequest(agent_id=AGENT, conversation_id="c", include_superseded=True)
    )
    assert RIGHT in {one.id: one.summary for one in overlays.overlays}[first.id]

    await world.stub.RecordTurn(
        conversations_pb2.RecordTurnRequest(
            agent_id=AGENT,
            conversation_id="c",
            parent_id="m1",
            branch=True,
            messages=[said(f"By way of {RIGHT}, then, on day {n}.", id=f"b{n}") for n in range(4)],
        )
    )
    await world.rest()
    found = await world.summary("c")
    body = MessageToDict(found.summary.body)
    assert (body["up_to"]["message_id"], found.state.stale) == ("b3", False)
    assert "P-7" not in str(body["text"])
