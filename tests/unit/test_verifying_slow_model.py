"""A model that is slow to judge does not hold up who indexes (SPEC S-7, J-16)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta

import httpx
import pytest

from services.kit.models.client import ModelClient
from services.kit.models.settings import ModelSettings, TierSettings
from services.memory.semantic.adapters.judge_model import MODEL, OUT_OF_TIME, ModelJudge
from services.memory.semantic.adapters.memory_items import MemoryItemIndex
from services.memory.semantic.adapters.sql.judgements import SqlJudgements
from services.memory.semantic.adapters.sql.memories import SqlMemories
from services.memory.semantic.adapters.sql.memories_writing import WriteRules
from services.memory.semantic.adapters.vectors_memory import MemoryVectorIndex
from services.memory.semantic.app.generations import Generation, Generations
from services.memory.semantic.app.indexing import Indexer, MemoryItem
from services.memory.semantic.app.judging import RULES, Judged
from services.memory.semantic.app.verifying import Verifier, VerifySettings
from services.memory.semantic.domain.judging_types import Statement
from services.memory.semantic.domain.memory import FactType, NewMemory, Scope, Source, Verification
from services.memory.semantic.domain.vectors import VectorModel, pack
from tests.scripted_model import Reply, ScriptedModel, completion, scripted_model
from tests.unit.semantic_parts import AGENT, NOW, TENANT, Episodes, Hashing, Sql

SHORT, LONG = 0.5, 60.0
"""Seconds for models: too few for one that is slow, and more than one that is not takes."""
MEMORIES = 6
CANDIDATES = 3
UNSURE = completion('{"replaces": 0.1, "contradicts": 0.1}')
PEOPLE = tuple(f"c{number}" for number in range(2))


class OneDirection(Hashing):
    """All texts are near each other."""

    async def documents(self, texts: Sequence[str]) -> list[bytes]:
        return [pack((1.0, 0.0)) for _ in texts]


class Told:
    """A judge that notes who gave each verdict."""

    def __init__(self, inner: ModelJudge) -> None:
        self._inner = inner
        self.by: list[str] = []

    async def judge(
        self, tenant: str, agent_id: str, old: Statement, new: Statement, /, *, until: float | None = None
    ) -> Judged:
        assert until is not None
        judged = await self._inner.judge(tenant, agent_id, old, new, until=until)
        self.by.append(judged.judge)
        return judged


async def _stays(_tenant: str, _agent_id: str) -> None:
    return


@asynccontextmanager
async def judging() -> AsyncIterator[tuple[ScriptedModel, Told]]:
    async with scripted_model() as model, httpx.AsyncClient() as http:
        settings = ModelSettings(fast=TierSettings(url=model.url, name="small", attempts=1))
        client = ModelClient(settings, http)
        yield model, Told(ModelJudge(client, name="small", seconds=20.0, leave=_stays, used=lambda *_: None))


async def indexed_at_once(judge: Told, seconds: float) -> list[Verification]:
    """Memories of two people under keys of their own, all in one call; how each was left."""
    sql = Sql()
    store = SqlMemories(sql, WriteRules(task_lifetime=timedelta(days=7)))
    vectors = MemoryVectorIndex(VectorModel(revision="r", dimension=2))
    verifier = Verifier(
        store=store,
        judgements=SqlJudgements(sql),
        vectors=vectors,
        judge=judge,
        settings=VerifySettings(candidates=CANDIDATES, model_seconds=seconds),
        count=lambda _: None,
        wake=lambda: None,
        clock=lambda: NOW + timedelta(hours=1),
    )
    indexer = Indexer(
        store=store,
        items=MemoryItemIndex(),
        generations=Generations(Generation(vectors=vectors, texts=OneDirection())),
        conversations=Episodes(),
        observe_lag=lambda _: None,
        clock=lambda: NOW + timedelta(hours=1),
        verifier_of=lambda _: verifier,
    )
    made = [
        (await store.remember(TENANT, _new(number, person), NOW + timedelta(seconds=number))).memory
        for person in PEOPLE
        for number in range(MEMORIES)
    ]
    errors = await indexer.index(TENANT, AGENT, [MemoryItem(memory_id=memory.id) for memory in made])
    assert errors == [""] * len(made)
    rows = await store.get(TENANT, AGENT, [memory.id for memory in made])
    return [row.verification for row in rows.values()]


def _new(number: int, person: str) -> NewMemory:
    return NewMemory(
        scope=Scope(agent_id=AGENT, contact_ids=(person,)),
        key=f"likes.{number}",
        value=f"Likes {'abcdefghij'[number] * 5} with tea",
        fact_type=FactType.FACT,
        pinned=False,
        source=Source.EXPLICIT,
        provenance=(),
        valid_from=None,
        request_id="",
    )


@pytest.mark.parametrize("reply", [Reply(hang=True), Reply(drip=b" ")])
async def test_what_is_beyond_the_models_time_in_a_call_is_judged_by_the_rules(reply: Reply) -> None:
    """J-16: one budget for all memories of the call, whoever they are about, and the verdicts say so."""
    async with judging() as (model, judge):
        model.otherwise = reply
        assert set(await indexed_at_once(judge, SHORT)) == {Verification.VERIFIED}
        assert set(judge.by) == {f"{RULES} {OUT_OF_TIME}"}
        assert len(judge.by) == len(PEOPLE) * MEMORIES * CANDIDATES
        assert len(model.asked) <= len(PEOPLE), "one question of each round at the most"


async def test_a_model_that_answers_in_time_gives_all_verdicts() -> None:
    """The control: the same memories, and a model that is not slow."""
    async with judging() as (model, judge):
        model.otherwise = UNSURE
        assert set(await indexed_at_once(judge, LONG)) == {Verification.VERIFIED}
        assert judge.by.count(f"{MODEL} small") == len(model.asked) > len(PEOPLE)
