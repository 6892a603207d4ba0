"""Verification by a model, as jobs ask Semantic for it, over a socket on real stores (SPEC S-7, J-16)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from palimpsest.common.v1 import resources_pb2
from palimpsest.semantic.v1 import semantic_pb2 as pb
from palimpsest.semantic.v1 import upkeep_pb2

from services.kit.identity import Principal, Role
from services.kit.models.settings import ModelSettings, TierSettings
from services.memory.semantic.app.judging import RULES
from tests.integration.semantic_suite import (
    AGENT,
    CODE,
    OTHER,
    SERVICE,
    WRITER,
    Episodic,
    Semantic,
    running,
    values,
)
from tests.scripted_model import Reply, ScriptedModel, completion, scripted_model

LIVES, MOVED = "Ada lives in Göteborg", "Ada has moved to Oslo"
QUESTION = "where does Ada live"
LOW = 0.2  # the vectors of the tests know words only
ENGINE = "model/1 small"
REPLACES = completion('{"replaces": 0.9, "contradicts": 0.1}')
PENDING, VERIFIED = resources_pb2.VERIFICATION_PENDING, resources_pb2.VERIFICATION_VERIFIED
ONLY_BEA = Principal(tenant="acme", role=Role.SERVICE, agents=frozenset({"bea"}), subject="test")


@pytest.fixture
async def model() -> AsyncIterator[ScriptedModel]:
    async with scripted_model() as made:
        made.otherwise = REPLACES
        yield made


@asynccontextmanager
async def judged_by(model: ScriptedModel, folder: Path, **chosen: Any) -> AsyncIterator[Semantic]:
    own = {"partner": False, "attempts": 1} | chosen.pop("tier", {})
    models = ModelSettings(fast=TierSettings(url=model.url, name="small", **own))
    async with running(
        folder, Episodic(), answers_by=models, verify_cosine=LOW, hyde=False, **chosen
    ) as semantic:
        yield semantic


async def verify(
    semantic: Semantic, written: pb.RememberResponse, by: Principal = SERVICE, timeout: float = 20
) -> str:
    request = upkeep_pb2.VerifyMemoryRequest(agent_id=AGENT, memory_id=written.memory.id)
    return str((await semantic.by(by).VerifyMemory(request, timeout=timeout)).engine)


async def as_it_is(semantic: Semantic, written: pb.RememberResponse) -> resources_pb2.Memory:
    request = pb.GetMemoryRequest(agent_id=AGENT, memory_id=written.memory.id)
    memory: resources_pb2.Memory = (await semantic.by(SERVICE).GetMemory(request)).memory
    return memory


async def both(semantic: Semantic) -> tuple[pb.RememberResponse, pb.RememberResponse]:
    return await semantic.known("home.city", LIVES), await semantic.known("home.move", MOVED)


async def asked_for(semantic: Semantic) -> set[str]:
    """The keys of the jobs that verify, once all of the outbox has come."""
    await semantic.work_off()
    return {key for key in semantic.ledger.keys if key.startswith("verify_memory/")}


async def test_indexing_asks_no_model_and_the_job_does(model: ScriptedModel, tmp_path: Path) -> None:
    """S-7, S-12, S-16: recallable meanwhile, and seen to be unverified."""
    model.otherwise = Reply(silent=True)
    async with judged_by(model, tmp_path) as semantic:
        old, new = await both(semantic)
        answer = await semantic.recall(QUESTION, wait_for=[new.token])
        assert (set(values(answer)), list(answer.unindexed)) == ({LIVES, MOVED}, [])
        assert [(await as_it_is(semantic, one)).verification for one in (old, new)] == [VERIFIED, PENDING]
        assert model.asked == []
        assert await asked_for(semantic) == {f"verify_memory/{AGENT}/{new.memory.id}/1"}
        model.otherwise = REPLACES
        assert await verify(semantic, new) == ENGINE
        assert (await as_it_is(semantic, new)).verification == VERIFIED
        assert (await as_it_is(semantic, old)).superseded_by == new.memory.id
        assert await semantic.work_off(at_least=1) > 0
        assert values(await semantic.recall(QUESTION)) == [MOVED]
        versions = pb.ListMemoryVersionsRequest(agent_id=AGENT, memory_id=old.memory.id)
        (made,) = (await semantic.by(SERVICE).ListMemoryVersions(versions)).supersessions
        assert (made.judge, made.probability) == (ENGINE, pytest.approx(0.9))
        assert await verify(semantic, new) == "", "once"
        assert len(model.asked) == 1


async def test_what_nobody_is_asked_about_needs_no_job(model: ScriptedModel, tmp_path: Path) -> None:
    """S-7: the guard keeps it from the model."""
    async with judged_by(model, tmp_path) as semantic:
        await semantic.known("ada.city", LIVES)
        other = await semantic.known("bo.city", "Bo lives in Göteborg")
        assert (await as_it_is(semantic, other)).verification == VERIFIED
        assert (await asked_for(semantic), model.asked) == (set(), [])


@pytest.mark.parametrize(
    ("reply", "timeout", "cause"),
    [
        (Reply(silent=True), 1.0, "timeout"),
        (Reply(drip=b" "), 1.0, "timeout"),
        (Reply(status=500), 20, "failed"),
        (completion("Surely."), 20, "not_json"),
    ],
)
async def test_the_rules_take_over_within_the_call(
    model: ScriptedModel, tmp_path: Path, reply: Reply, timeout: float, cause: str
) -> None:
    """J-16: and the job says why; a model has three quarters of the call's time."""
    model.otherwise = reply
    async with judged_by(model, tmp_path) as semantic:
        old, new = await both(semantic)
        assert await verify(semantic, new, timeout=timeout) == f"{RULES} because {cause}"
        assert (await as_it_is(semantic, old)).superseded_by == new.memory.id


async def test_a_slow_model_judges_all_the_same(model: ScriptedModel, tmp_path: Path) -> None:
    """S-7: what it says counts, though rules would have been quicker."""
    model.otherwise = Reply(body=completion('{"replaces": 0, "contradicts": 0}').body, after=1.0)
    async with judged_by(model, tmp_path) as semantic:
        old, new = await both(semantic)
        assert await verify(semantic, new) == ENGINE
        assert (await as_it_is(semantic, old)).superseded_by == "", "the rules would have ended it"
        assert (await as_it_is(semantic, new)).verification == VERIFIED


async def test_texts_that_stay_are_judged_by_the_rules(model: ScriptedModel, tmp_path: Path) -> None:
    """S-15: out of the box a model that is somebody else's is sent nothing."""
    async with judged_by(model, tmp_path, tier={"partner": True}) as semantic:
        old, new = await both(semantic)
        assert await verify(semantic, new) == f"{RULES} because data_flow"
        assert (await as_it_is(semantic, old)).superseded_by == new.memory.id
        assert model.asked == []


async def test_without_a_model_there_are_no_jobs_and_those_from_before_are_done(
    model: ScriptedModel, tmp_path: Path
) -> None:
    """J-16: as when the model is taken out of the settings."""
    async with judged_by(model, tmp_path) as semantic:
        old, new = await both(semantic)
    async with judged_by(model, tmp_path, judge_model=False) as semantic:
        assert await verify(semantic, new) == RULES
        assert (await as_it_is(semantic, old)).superseded_by == new.memory.id
        later = await semantic.known("home.next", "Ada has moved to Turku")
        assert (await as_it_is(semantic, later)).verification == VERIFIED
        assert await asked_for(semantic) == set()
        assert model.asked == []


async def test_only_workers_verify_and_each_for_its_own(model: ScriptedModel, tmp_path: Path) -> None:
    """SV-6."""
    async with judged_by(model, tmp_path) as semantic:
        _, new = await both(semantic)
        for caller, code in ((WRITER, CODE.PERMISSION_DENIED), (ONLY_BEA, CODE.PERMISSION_DENIED)):
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await verify(semantic, new, by=caller)
            assert caught.value.code() is code
        assert await verify(semantic, new, by=OTHER) == "", "another tenant has no such memory"
        assert (await as_it_is(semantic, new)).verification == PENDING
        assert model.asked == []
        assert await verify(semantic, new) == ENGINE, "the control"
