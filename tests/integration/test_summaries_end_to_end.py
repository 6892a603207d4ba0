"""Summaries come by themselves: appends and schedules make jobs, jobs documents, prompts show them (J-5)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.json_format import MessageToDict
from palimpsest.common.v1 import jobs_pb2
from palimpsest.derived.v1 import derived_pb2, derived_pb2_grpc
from palimpsest.documents.v1 import documents_pb2, documents_pb2_grpc
from palimpsest.gateway.v1 import administration_pb2, conversations_pb2, prompt_pb2
from palimpsest.history.v1 import history_pb2

from services.compactor.adapters.summary_handler import (
    BATCHES,
    LEAST_MESSAGES,
    SUMMARIZE_BATCH,
    SUMMARIZE_CONVERSATION,
)
from services.compactor.app.conversation_summaries import REFRESH_SUMMARY
from services.compactor.domain.extractive import NAME
from tests.integration.embedded_suite import AGENT, Keyed, failure, prepare, running, said
from tests.waiting import until

MOST_UNCOVERED = 25  # E-8
TOWNS = ["Bergen", "Porto", "Leith", "Turku", "Ghent", "Split", "Varna"]
GOODS = ["barley", "copper wire", "oak boards", "linen", "salt", "lamp glass", "wool", "tin", "paper", "rope"]


class Talks:
    """Conversations of a running suite."""

    def __init__(self, gateway: Any, documents: Any, derived: Any) -> None:
        self.gateway = gateway
        self.derived = derived
        self.documents = documents

    async def begin(self, conversation: str) -> None:
        await self.gateway.CreateConversation(
            conversations_pb2.CreateConversationRequest(agent_id=AGENT, conversation_id=conversation)
        )

    async def send(self, conversation: str, first: int, last: int) -> None:
        """Messages with these numbers."""
        await self.gateway.RecordTurn(
            conversations_pb2.RecordTurnRequest(
                agent_id=AGENT,
                conversation_id=conversation,
                messages=[said(text(n), id=f"m{n}", author="Ann") for n in range(first, last + 1)],
            )
        )

    async def jobs(self, *types: str) -> list[jobs_pb2.Job]:
        request = administration_pb2.ListJobsRequest(
            filter=administration_pb2.JobFilter(types=types), page_size=1000
        )
        return list((await self.gateway.ListJobs(request)).jobs)

    async def summary(self, conversation: str, version: int = 0) -> dict[str, Any]:
        """The body of a version, the newest for 0; with "version" and "engine"."""
        request = documents_pb2.GetSummaryRequest(agent_id=AGENT, conversation_id=conversation)
        if version:
            request.version = version
        found = (await self.documents.GetSummary(request)).summary
        return {**MessageToDict(found.body), "version": found.version, "engine": found.engine}

    async def reaches(self, conversation: str, sequence: int) -> dict[str, Any]:
        """The summary, once it holds that message."""
        found: dict[str, Any] = {}

        async def holds() -> bool:
            nonlocal found
            try:
                found = await self.summary(conversation)
            except grpc.aio.AioRpcError:
                return False
            return bool(found["up_to"]["sequence"] == sequence)

        await until(holds)
        return found

    async def all_well(self, *types: str) -> list[jobs_pb2.Job]:
        """The jobs of these types, once all of them have ended well, and there is one."""
        found: list[jobs_pb2.Job] = []

        async def holds() -> bool:
            nonlocal found
            found = await self.jobs(*types)
            return bool(found) and all(job.state == jobs_pb2.JOB_STATE_SUCCEEDED for job in found)

        await until(holds)
        return found


def text(number: int) -> str:
    town, goods = TOWNS[number % len(TOWNS)], GOODS[number % len(GOODS)]
    return (
        f"The harbour of {town} took {number * 17} crates of {goods} on day {number}."
        f" The clerk filed it under manifests/{goods[:2]}-{number}.csv, which nobody has read."
    )


@pytest.fixture
async def talks(tmp_path: Path) -> AsyncIterator[Talks]:
    async with (
        running(tmp_path / "data") as suite,
        grpc.aio.insecure_channel(f"127.0.0.1:{suite.port}") as channel,
    ):
        gateway = await suite.stub()
        await prepare(gateway)
        documents = Keyed(documents_pb2_grpc.DocumentsServiceStub(channel), suite.operator)
        derived = Keyed(derived_pb2_grpc.DerivedWorkServiceStub(channel), suite.operator)
        yield Talks(gateway, documents, derived)


async def test_more_uncovered_messages_than_may_be_refresh_the_rolling_summary(talks: Talks) -> None:
    """E-8, J-6: each trigger of an overlay also writes the next version; the one before is archived."""
    await talks.send("c", 1, MOST_UNCOVERED)
    absent = documents_pb2.GetSummaryRequest(agent_id=AGENT, conversation_id="c")
    code, reason, _ = await failure(talks.documents.GetSummary(absent))
    assert (code, reason) == (grpc.StatusCode.NOT_FOUND, "RESOURCE_NOT_FOUND"), "25 uncovered ask for nothing"
    await talks.send("c", MOST_UNCOVERED + 1, MOST_UNCOVERED + 1)
    first = await talks.reaches("c", MOST_UNCOVERED + 1)
    assert (first["version"], first["engine"], first["message_count"]) == (1, NAME, MOST_UNCOVERED + 1)
    paths = [item["text"] for item in first["sections"]["relevant_files"]]
    assert paths
    assert set(paths) <= {f"manifests/{GOODS[n % 10][:2]}-{n}.csv" for n in range(1, 27)}
    assert all(f"`{path}`" in first["text"] for path in paths)
    assert {"harbour", "crates"} & {word for one in first["concepts"] for word in one["name"].split()}

    await talks.send("c", MOST_UNCOVERED + 2, 80)
    second = await talks.reaches("c", 80)
    assert second["version"] > 1
    assert second["message_count"] == 80
    assert await talks.summary("c", 1) == first, "the earlier version is kept as it was"
    await talks.all_well(REFRESH_SUMMARY)


async def test_a_batch_sums_up_what_is_new_and_long_enough(talks: Talks) -> None:
    """J-5: one job for each conversation of 4 messages or more; what has nothing new gets none again."""
    for name, count in (("long", 9), ("enough", LEAST_MESSAGES), ("short", LEAST_MESSAGES - 1)):
        await talks.begin(name)
        await talks.send(name, 1, count)
    await indexed(talks, 9 + 2 * LEAST_MESSAGES - 1)
    trigger = derived_pb2.TriggerScheduleRequest(name=BATCHES.name)
    await talks.derived.TriggerSchedule(trigger)
    assert (await talks.reaches("long", 9))["message_count"] == 9
    assert (await talks.reaches("enough", LEAST_MESSAGES))["message_count"] == LEAST_MESSAGES
    await talks.all_well(SUMMARIZE_BATCH)
    done = await talks.all_well(SUMMARIZE_CONVERSATION)
    assert {job.subject for job in done} == {"conversations/long", "conversations/enough"}

    await talks.send("enough", LEAST_MESSAGES + 1, LEAST_MESSAGES + 2)
    await indexed(talks, 9 + 2 * LEAST_MESSAGES + 1)
    await talks.derived.TriggerSchedule(trigger)
    again = await talks.reaches("enough", LEAST_MESSAGES + 2)
    assert again["version"] == 2
    await talks.all_well(SUMMARIZE_BATCH)
    assert len(await talks.all_well(SUMMARIZE_CONVERSATION)) == 3, "the others have nothing new"


async def test_a_prompt_shows_the_rolling_summary_where_there_are_no_overlays(talks: Talks) -> None:
    """E-5: it takes their place."""
    await talks.send("c", 1, 24)
    await indexed(talks, 24)
    request = prompt_pb2.AssemblePromptRequest(
        agent_id=AGENT, conversation_id="c", message="hello", budget_tokens=1000
    )
    before = await talks.gateway.AssemblePrompt(request)
    assert "summary of messages" not in before.text
    await talks.derived.TriggerSchedule(derived_pb2.TriggerScheduleRequest(name=BATCHES.name))
    await talks.reaches("c", 24)
    after = await talks.gateway.AssemblePrompt(request)
    assert "summary of messages 1 to 24" in after.text
    assert after.text.index("summary of messages") < after.text.index("on day 24.")
    assert not [layer for layer in after.layers if layer.overlay_ids], "it is no overlay"
    assert after.token_count <= 1000


async def test_on_another_branch_the_summary_is_of_that_branch(talks: Talks) -> None:
    """E-3, J-17: what was said on the branch that was left is not carried over."""
    await talks.send("c", 1, 30)
    await talks.reaches("c", 30)
    branched = conversations_pb2.RecordTurnRequest(
        agent_id=AGENT,
        conversation_id="c",
        messages=[said("The harbour of Lisbon took the rest.", id="b1", author="Ann")],
        parent_id="m5",
        branch=True,
    )
    await talks.gateway.RecordTurn(branched)
    found = await talks.reaches("c", 31)
    assert found["message_count"] == 6
    assert "Lisbon" in found["text"]
    assert "on day 30." not in found["text"]
    await talks.gateway.SwitchLeaf(
        history_pb2.SwitchLeafRequest(agent_id=AGENT, conversation_id="c", message_id="m30")
    )
    back = await talks.reaches("c", 30)
    assert back["message_count"] == 30
    assert "Lisbon" not in back["text"]


async def indexed(talks: Talks, count: int) -> None:
    async def holds() -> bool:
        jobs = await talks.jobs("index_message")
        return len(jobs) == count and all(job.state == jobs_pb2.JOB_STATE_SUCCEEDED for job in jobs)

    await until(holds)
