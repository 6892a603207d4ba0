"""The indexer and the verifier over real stores, with a judge that a test scripts (SPEC S-7)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from services.kit.errors import DependencyDown
from services.memory.semantic.adapters.memory_items import MemoryItemIndex
from services.memory.semantic.adapters.sql.judgements import SqlJudgements
from services.memory.semantic.adapters.sql.memories import SqlMemories
from services.memory.semantic.adapters.sql.memories_writing import WriteRules
from services.memory.semantic.adapters.vectors_memory import MemoryVectorIndex
from services.memory.semantic.app.generations import Generation, Generations
from services.memory.semantic.app.indexing import Indexer, MemoryItem
from services.memory.semantic.app.judging import Judged
from services.memory.semantic.app.ports import ContradictionQuery
from services.memory.semantic.app.verification_jobs import VerificationJobs
from services.memory.semantic.app.verifying import (
    Outcome,
    Verifier,
    VerifySettings,
)
from services.memory.semantic.domain.judging_types import Statement, Verdict
from services.memory.semantic.domain.memory import (
    FactType,
    Memory,
    NewMemory,
    Scope,
    Source,
)
from services.memory.semantic.domain.vectors import (
    NO_FILTERS,
    Bucket,
    Filters,
    VectorHit,
    VectorModel,
    pack,
)
from tests.unit.semantic_parts import AGENT, AGENT_WIDE, NOW, TENANT, Episodes, Hashing, Outbox, Sql

DAY = timedelta(days=1)
ANN, BOB = Scope(agent_id=AGENT, contact_ids=("ann",)), Scope(agent_id=AGENT, contact_ids=("bob",))
DIMENSION = 2
SAME = (1.0, 0.0)
Rule = Callable[[Statement, Statement], Verdict]


def nothing(_old: Statement, _new: Statement) -> Verdict:
    return Verdict(replaces=0.74, contradicts=0.74, reason="test")


def replaces(_old: Statement, _new: Statement) -> Verdict:
    return Verdict(replaces=0.75, contradicts=0.9, reason="test")


def contradicts(_old: Statement, _new: Statement) -> Verdict:
    return Verdict(replaces=0.74, contradicts=0.75, reason="test")


class Scripted:
    """A judge that says what a test tells it to, when it may."""

    def __init__(self) -> None:
        self.slow = False
        """Whether it has to be waited for, but for what replaces these values or contradicts them:"""
        self.quick: set[str] = set()
        self.names: list[str] = []
        """Its names in turn, before "scripted"."""
        self.until: list[float | None] = []
        self.rule: Rule = nothing
        self.asked: list[tuple[str, str]] = []
        self.of: set[tuple[str, str]] = set()
        self.gate = asyncio.Event()
        self.gate.set()

    async def at_once(self, old: Statement, new: Statement, /) -> Judged | None:
        return None if self.slow and old.value not in self.quick else await self._said(old, new)

    async def judge(
        self, tenant: str, agent_id: str, old: Statement, new: Statement, /, *, until: float | None = None
    ) -> Judged:
        self.of.add((tenant, agent_id))
        self.until.append(until)
        return await self._said(old, new)

    async def _said(self, old: Statement, new: Statement) -> Judged:
        self.asked.append((old.value, new.value))
        await self.gate.wait()
        name = self.names.pop(0) if self.names else "scripted"
        return Judged(verdict=self.rule(old, new), judge=name)


class Vectors(MemoryVectorIndex):
    """Found in memory, unless its searches are down."""

    down = False

    async def search(
        self, bucket: Bucket, vector: bytes, *, filters: Filters = NO_FILTERS, limit: int
    ) -> list[VectorHit]:
        if self.down:
            raise DependencyDown
        return await super().search(bucket, vector, filters=filters, limit=limit)


class Directions(Hashing):
    """Vectors by text; one that is not set points where SAME does."""

    def __init__(self) -> None:
        super().__init__()
        self.of: dict[str, tuple[float, float]] = {}

    async def documents(self, texts: Sequence[str]) -> list[bytes]:
        return [pack(self.of.get(text, SAME)) for text in texts]


class Parts:
    """The indexer and the verifier over real stores, with a scripted judge."""

    def __init__(self) -> None:
        self.now = NOW
        sql = Sql()
        self.store = SqlMemories(sql, WriteRules(task_lifetime=timedelta(days=7)))
        self.judgements = SqlJudgements(sql)
        self.outbox = Outbox(sql)
        self.vectors = Vectors(VectorModel(revision="r", dimension=DIMENSION))
        self.texts = Directions()
        self.judge = Scripted()
        self.counted: list[Outcome] = []
        self.woken: list[None] = []
        self.wanted = True
        self.verifier = Verifier(
            store=self.store,
            judgements=self.judgements,
            vectors=self.vectors,
            judge=self.judge,
            settings=VerifySettings(),
            count=self.counted.append,
            wake=lambda: self.woken.append(None),
            clock=lambda: self.now,
            wanted=self._is_wanted,
        )
        self.generations = Generations(Generation(vectors=self.vectors, texts=self.texts))
        self.jobs = VerificationJobs(
            store=self.store, generations=self.generations, verifier_of=lambda _: self.verifier
        )
        self.indexer = Indexer(
            store=self.store,
            items=MemoryItemIndex(),
            generations=self.generations,
            conversations=Episodes(),
            observe_lag=lambda _: None,
            clock=lambda: self.now,
            verifier_of=lambda _: self.verifier,
        )

    async def _is_wanted(self, _tenant: str, _agent_id: str) -> bool:
        return self.wanted

    async def remember(
        self, value: str, scope: Scope = AGENT_WIDE, key: str = "", tenant: str = TENANT, **fields: Any
    ) -> Memory:
        """Under a key of its own, a second after the one before."""
        self.now += timedelta(seconds=1)
        new = NewMemory(
            scope=scope,
            key=key or value,
            value=value,
            fact_type=fields.pop("fact_type", FactType.FACT),
            pinned=False,
            source=Source.EXPLICIT,
            provenance=(),
            valid_from=fields.pop("valid_from", None),
            request_id="",
            **fields,
        )
        return (await self.store.remember(tenant, new, self.now)).memory

    def asked_for(self) -> list[str]:
        """The keys of the jobs that verify, in the outbox."""
        return [key for key in self.outbox if key.startswith("verify_memory/")]

    async def verify(self, memory: Memory) -> str:
        """As a job does; who judged."""
        return await self.jobs.verify(TENANT, AGENT, memory.id)

    async def index(self, *memories: Memory, tenant: str = TENANT) -> list[str]:
        return await self.indexer.index(tenant, AGENT, [MemoryItem(memory_id=m.id) for m in memories])

    async def known(self, value: str, *place: Any, **fields: Any) -> Memory:
        """Remembered and indexed; as it is then."""
        memory = await self.remember(value, *place, **fields)
        assert await self.index(memory, tenant=fields.get("tenant", TENANT)) == [""]
        return await self.one(memory, tenant=fields.get("tenant", TENANT))

    async def one(self, memory: Memory, tenant: str = TENANT) -> Memory:
        return (await self.store.get(tenant, AGENT, [memory.id]))[memory.id]

    async def contradictions(self) -> int:
        query = ContradictionQuery(scope=AGENT_WIDE)
        return len(await self.judgements.contradictions(TENANT, query, self.now))
