"""Jobs that ask a model: they end well whatever it does, and say by whom (SPEC J-16, E-11)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from palimpsest.common.v1 import jobs_pb2
from palimpsest.documents.v1 import documents_pb2, documents_pb2_grpc
from palimpsest.gateway.v1 import administration_pb2, conversations_pb2, memories_pb2
from palimpsest.history.v1 import history_pb2, history_pb2_grpc, overlays_pb2
from palimpsest.settings.v1 import settings_pb2

from services.compactor.domain import extractive
from services.compactor.domain.extraction.reading import passages
from services.compactor.domain.rolling import FIELDS
from tests.integration.embedded_suite import AGENT, Keyed, prepare, running, said
from tests.local_model import MODEL, local_model, needs_local_model
from tests.scripted_model import Asked, Reply, ScriptedModel, completion, scripted_model

ENGINE = "model/1 small"
KINDS = ("extract_messages", "cover_messages", "refresh_summary")
FACT = {
    "message": 1,
    "evidence": "I live in Oslo",
    "about": "author",
    "slot": "home",
    "type": "location",
    "statement": "Kim lives in Oslo",
}
FIGURES = {"prompt_tokens": 90, "completion_tokens": 30}
FACTS = completion(json.dumps({"facts": [FACT]}), usage=FIGURES)


def lines(text: str) -> Reply:
    found: dict[str, list[str]] = {name: [] for name in FIELDS.values()} | {"important_details": [text]}
    return completion(json.dumps(found), usage=FIGURES)


class Suite:
    """A running suite over a model."""

    def __init__(self, gateway: Any, history: Any, documents: Any) -> None:
        self.gateway = gateway
        self.history = history
        self.documents = documents

    async def say(self, *texts: str, conversation: str) -> None:
        if conversation != "c":
            await self.gateway.CreateConversation(
                conversations_pb2.CreateConversationRequest(agent_id=AGENT, conversation_id=conversation)
            )
        await self.gateway.RecordTurn(
            conversations_pb2.RecordTurnRequest(
                agent_id=AGENT,
                conversation_id=conversation,
                messages=[said(text, author="Kim") for text in texts],
            )
        )

    async def done(self, conversation: str, *kinds: str) -> dict[str, list[jobs_pb2.Job]]:
        """The jobs of a conversation by kind, once each kind has one and all have succeeded."""
        request = administration_pb2.ListJobsRequest(
            filter=administration_pb2.JobFilter(types=kinds), page_size=1000
        )
        async with asyncio.timeout(60):
            while True:
                listed = (await self.gateway.ListJobs(request)).jobs
                found = {
                    kind: [
                        job for job in listed if job.type == kind and conversation in job.subject.split("/")
                    ]
                    for kind in kinds
                }
                every = [job for jobs in found.values() for job in jobs]
                assert not any(job.state == jobs_pb2.JOB_STATE_DEAD for job in every)
                if all(found.values()) and all(job.state == jobs_pb2.JOB_STATE_SUCCEEDED for job in every):
                    return found
                await asyncio.sleep(0.05)

    async def calls(self, outside: int) -> dict[str, int]:
        """Calls of the model on record by conversation, once there are so many outside of one."""
        async with asyncio.timeout(20):
            while True:
                rows = (await self.history.GetUsage(history_pb2.GetUsageRequest(agent_id=AGENT))).rows
                assert {(row.tier, row.model, row.estimated_calls) for row in rows} == {("fast", "small", 0)}
                found = {row.conversation_id: row.calls for row in rows}
                if found.get("", 0) >= outside:
                    return found
                await asyncio.sleep(0.05)

    async def values(self) -> list[str]:
        request = memories_pb2.ListMemoriesRequest(agent_id=AGENT, page_size=1000)
        return sorted(memory.value for memory in (await self.gateway.ListMemories(request)).memories)


@asynccontextmanager
async def suite_over(
    url: str, data: Path, monkeypatch: pytest.MonkeyPatch, **fields: str
) -> AsyncIterator[Suite]:
    chosen = {"URL": url, "NAME": "small", "ATTEMPTS": "1", "PARTNER": "false", **fields}
    for name, value in chosen.items():
        monkeypatch.setenv(f"PALIMPSEST_MODEL_FAST_{name}", value)
    monkeypatch.setenv("PALIMPSEST_SEMANTIC_JUDGE_MODEL", "false")
    async with (
        running(data) as suite,
        grpc.aio.insecure_channel(f"127.0.0.1:{suite.port}") as channel,
    ):
        gateway = await suite.stub()
        await prepare(gateway)
        yield Suite(
            gateway,
            Keyed(history_pb2_grpc.HistoryServiceStub(channel), suite.operator),
            Keyed(documents_pb2_grpc.DocumentsServiceStub(channel), suite.operator),
        )


@pytest.fixture
async def model() -> AsyncIterator[ScriptedModel]:
    async with scripted_model() as made:
        yield made


def talk(count: int = 30) -> list[str]:
    """Enough for some of it to be covered (E-8), with a fact in the first message."""
    return ["I live in Oslo.", *(f"Crate {n} holds copper wire from hall {n}." for n in range(2, count + 1))]


def engines(jobs: dict[str, list[jobs_pb2.Job]]) -> dict[str, set[str]]:
    return {kind: {job.engine for job in found} for kind, found in jobs.items()}


async def test_a_model_reads_and_writes_and_everything_names_it(
    model: ScriptedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """J-6, J-8, J-9, E-11: jobs, overlays, documents; and what it cost is on record."""

    def answer(asked: Asked) -> Reply:
        system, user = (message["content"] for message in asked.body["messages"])
        if "evidence" in system:
            return FACTS if "I live in Oslo" in user else completion('{"facts": []}', usage=FIGURES)
        return lines("Kim: crates of copper wire from the hall.")

    model.otherwise = answer
    async with suite_over(model.url, tmp_path / "data", monkeypatch) as suite:
        await suite.say(*talk(), conversation="c")
        found = engines(await suite.done("c", *KINDS))
        assert found == {kind: {ENGINE} for kind in KINDS}
        assert "Kim lives in Oslo" in await suite.values()
        where: dict[str, Any] = {"agent_id": AGENT, "conversation_id": "c"}
        overlays = (await suite.history.ListOverlays(overlays_pb2.ListOverlaysRequest(**where))).overlays
        assert [one.model for one in overlays] == [ENGINE]
        assert "copper wire from the hall" in overlays[0].summary
        document = await suite.documents.GetSummary(documents_pb2.GetSummaryRequest(**where))
        assert document.summary.engine == ENGINE
        jobs_asked = len(model.asked)
        await suite.gateway.Recall(memories_pb2.RecallRequest(agent_id=AGENT, query="where is Kim at home?"))
        asked = len(model.asked) - jobs_asked  # by the channel "hyde"
        assert asked > 0
        assert await suite.calls(asked) == {"c": jobs_asked, "": asked}


BAD_OUTPUT = {
    "half JSON": (completion('{"facts": [{"evid', finish="length"), "not_json"),
    "wrong schema": (completion('{"answer": 42}'), "wrong_schema"),
    "prose": (completion("Kim seems to live in Oslo."), "not_json"),
    "empty": (completion(""), "empty"),
    "cut": (Reply(body=(b'{"choi',), cut=True), "cut"),
}


async def test_bad_output_leaves_the_work_to_other_engines_and_jobs_say_so(
    model: ScriptedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """J-16: it never counts as nothing found."""
    async with suite_over(model.url, tmp_path / "data", monkeypatch) as suite:
        for number, (name, (reply, cause)) in enumerate(BAD_OUTPUT.items()):
            model.otherwise = reply
            town = ("Oslo", "Bergen", "Turku", "Ghent", "Split")[number]
            await suite.say(f"I live in {town}.", conversation=f"c{number}")
            found = engines(await suite.done(f"c{number}", "extract_messages"))
            assert found == {"extract_messages": {f"{passages.NAME} because {cause}"}}, name
            assert await suite.values() == [f"Kim lives in {town}"], name
        await suite.say(*talk(), conversation="long")
        found = engines(await suite.done("long", *KINDS))
        assert all("because cut" in engine for names in found.values() for engine in names)
        assert found["refresh_summary"] == {f"{extractive.NAME} because cut"}


@pytest.mark.parametrize(
    ("reply", "cause"),
    [
        (Reply(status=429), "busy"),
        (Reply(status=500), "failed"),
        (Reply(silent=True), "timeout"),
    ],
)
async def test_a_model_that_is_away_holds_up_nothing(
    model: ScriptedModel,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    reply: Reply,
    cause: str,
) -> None:
    """J-16."""
    model.otherwise = reply
    limit = "0.3" if cause == "timeout" else "20"
    async with suite_over(model.url, tmp_path / "data", monkeypatch, TIMEOUT_SECONDS=limit) as suite:
        await suite.say(*talk(), conversation="c")
        found = engines(await suite.done("c", *KINDS))
        assert found["extract_messages"] == {f"{passages.NAME} because {cause}"}
        assert all(f"because {cause}" in engine for names in found.values() for engine in names)
        assert "Kim lives in Oslo" in await suite.values()


async def test_text_that_must_not_leave_does_not_and_that_is_counted(
    model: ScriptedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S-15: out of the box a model that is somebody else's is sent nothing."""
    async with suite_over(model.url, tmp_path / "data", monkeypatch, PARTNER="true") as suite:
        await suite.say(*talk(), conversation="c")
        found = engines(await suite.done("c", *KINDS))
        assert all("because data_flow" in engine for names in found.values() for engine in names)
        assert model.asked == []
        assert "Kim lives in Oslo" in await suite.values()
        request = settings_pb2.GetDataFlowReportRequest()
        async with asyncio.timeout(20):
            while True:  # reported every two seconds
                kept_in = {one.kind for one in (await suite.gateway.GetDataFlowReport(request)).refusals}
                if kept_in >= {"extraction", "summary"}:
                    break
                await asyncio.sleep(0.1)


@needs_local_model
async def test_a_real_model_reads_and_writes_or_it_is_said_that_it_did_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """J-16: one so small is no measure of quality; jobs end well with it."""
    with local_model(tmp_path) as url:
        chosen = {"NAME": MODEL, "TIMEOUT_SECONDS": "12"}
        async with suite_over(url, tmp_path / "data", monkeypatch, **chosen) as suite:
            await suite.say("I live in Oslo.", "I am allergic to walnuts.", conversation="c")
            found = engines(await suite.done("c", "extract_messages"))
            [engine] = found["extract_messages"]
            assert engine == f"model/1 {MODEL}" or engine.startswith(f"{passages.NAME} because ")
            stated = {"Kim lives in Oslo", "Kim is allergic to walnuts"}
            if not engine.startswith("model"):
                assert set(await suite.values()) == stated
