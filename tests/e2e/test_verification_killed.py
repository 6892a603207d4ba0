"""Memories are verified by a model although the suite is killed in between (SPEC S-7, SV-5, J-1)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from palimpsest.common.v1 import jobs_pb2, resources_pb2
from palimpsest.gateway.v1 import administration_pb2, conversations_pb2, memories_pb2

from tests.e2e.suite import AGENT, Suite, until
from tests.scripted_model import Reply, ScriptedModel, completion, scripted_model

ENGINE = "model/1 small"
REPLACED = completion('{"replaces": 0.9, "contradicts": 0.1}')
VERIFIED = resources_pb2.VERIFICATION_VERIFIED
PEOPLE = ("Ann", "Ben", "Cyd", "Dan", "Eve", "Fay")
KILLS = 3
SLOTS = 2
"""Of a worker, that ask a model."""


@pytest.fixture
async def model() -> AsyncIterator[ScriptedModel]:
    async with scripted_model() as made:
        yield made


@pytest.fixture
def suite(model: ScriptedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Suite]:
    chosen = {"URL": model.url, "NAME": "small", "ATTEMPTS": "1", "PARTNER": "false"}
    for name, value in chosen.items():
        monkeypatch.setenv(f"PALIMPSEST_MODEL_FAST_{name}", value)
    monkeypatch.setenv("PALIMPSEST_SEMANTIC_HYDE", "false")
    monkeypatch.setenv("PALIMPSEST_SEMANTIC_VERIFY_COSINE", "0.2")
    monkeypatch.setenv("PALIMPSEST_SEMANTIC_VERIFY_CANDIDATES", str(2 * len(PEOPLE)))
    monkeypatch.setenv("PALIMPSEST_SEMANTIC_JUDGE_SECONDS", "600")
    made = Suite(tmp_path / "data")
    made.data.mkdir()
    made.start()
    yield made
    made.stop()


async def remember(stub: Any, key: str, value: str) -> str:
    request = memories_pb2.RememberRequest(agent_id=AGENT, key=key, value=value)
    return str((await stub.Remember(request)).memory.id)


async def verified(stub: Any, *memory_ids: str) -> bool:
    requests = [memories_pb2.GetMemoryRequest(agent_id=AGENT, memory_id=id_) for id_ in memory_ids]
    return all([(await stub.GetMemory(one)).memory.verification == VERIFIED for one in requests])


async def jobs(stub: Any) -> list[jobs_pb2.Job]:
    chosen = administration_pb2.JobFilter(types=["verify_memory"])
    return list((await stub.ListJobs(administration_pb2.ListJobsRequest(filter=chosen, page_size=100))).jobs)


async def test_a_kill_while_the_model_is_asked_loses_no_verdict(suite: Suite, model: ScriptedModel) -> None:
    """J-1: the question is asked again, and its answer counts once."""
    model.otherwise = Reply(silent=True)
    async with suite.client() as stub:
        await stub.CreateAgent(conversations_pb2.CreateAgentRequest(agent_id=AGENT))
        old = await remember(stub, "home.city", "Ann lives in Porto")
        await until(lambda: verified(stub, old))
        new = await remember(stub, "home.move", "Ann has moved to Oslo")
        await asyncio.wait_for(model.received.wait(), 60)
        assert not await verified(stub, new)
    suite.kill()
    model.otherwise = REPLACED
    suite.start()
    async with suite.client() as stub:
        await until(lambda: verified(stub, new))
        versions = memories_pb2.ListMemoryVersionsRequest(agent_id=AGENT, memory_id=old)
        (made,) = (await stub.ListMemoryVersions(versions)).supersessions
        assert (made.new_memory_id, made.judge) == (new, ENGINE)

        async def succeeded() -> bool:
            return all(job.state == jobs_pb2.JOB_STATE_SUCCEEDED for job in await jobs(stub))

        await until(succeeded)
        (job,) = await jobs(stub)
        assert (job.attempt, job.engine) == (2, ENGINE)
        assert len(model.asked) == 2


async def test_every_memory_gets_its_verdict_however_often_the_suite_dies(
    suite: Suite, model: ScriptedModel
) -> None:
    """SV-5: between being indexed, the outbox, the job, the verdict and its being settled."""
    model.otherwise = Reply(body=REPLACED.body, after=0.15)
    olds, news = [], []
    async with suite.client() as stub:
        await stub.CreateAgent(conversations_pb2.CreateAgentRequest(agent_id=AGENT))
        for name in PEOPLE:
            olds.append(await remember(stub, f"{name.lower()}.city", f"{name} lives in Porto"))
        await until(lambda: verified(stub, *olds))
        for name in PEOPLE:
            news.append(await remember(stub, f"{name.lower()}.move", f"{name} has moved to Oslo"))
    for pause in range(KILLS):
        await asyncio.sleep(0.15 * pause)  # each life ends a little later in its work
        suite.kill()
        suite.start()
    async with suite.client() as stub:
        await until(lambda: verified(stub, *news))
        for old, new in zip(olds, news, strict=True):
            versions = memories_pb2.ListMemoryVersionsRequest(agent_id=AGENT, memory_id=old)
            (made,) = (await stub.ListMemoryVersions(versions)).supersessions
            assert (made.new_memory_id, made.judge) == (new, ENGINE)

        async def settled() -> bool:
            return {job.state for job in await jobs(stub)} == {jobs_pb2.JOB_STATE_SUCCEEDED}

        await until(settled)
        assert len(model.asked) <= len(PEOPLE) + KILLS * SLOTS, "again is asked what was being asked, at most"
        assert {job.subject for job in await jobs(stub)} >= {f"memories/{id_}" for id_ in news}
