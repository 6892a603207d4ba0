"""Holding new memories against similar ones, once they are indexed (SPEC S-7).

Each is put into the indexes before it looks for others, so of two that are written at once one at the least
finds the other. Rounds of one scope, of whatever subject, go one after the other within a process: what is
about one subject is for the judge to say. Between processes nothing is locked for long: both find the same
order of two memories, and the store decides under its own locks, by the rows as they are then. It ends a
memory once, never by one that has ended, and never again by a verdict that was taken back.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from weakref import WeakValueDictionary

import structlog

from services.kit.errors import DependencyDown, Overloaded, Reason
from services.kit.times import Clock
from services.memory.semantic.app.judging import Judge, statement_of
from services.memory.semantic.app.ports import JudgementStore, MemoryStore, Verdict
from services.memory.semantic.app.vectors import VectorIndex
from services.memory.semantic.domain.judging_types import CONTRADICTS_FROM, REPLACES_FROM, Statement
from services.memory.semantic.domain.memory import FactType, Kind, Memory, Verification
from services.memory.semantic.domain.vectors import Bucket, ContentClass, Filters

JUDGED_CHARACTERS = 2000
"""Of each statement, from its beginning."""
SEARCHED = 32
"""Hits asked of the index, which may still hold some that have ended."""
SEARCHES_AT_ONCE = 16
MODEL_SECONDS = 10.0
"""J-16: how long models are waited for in one call, however many memories it has. The rules judge the rest:
whoever indexes has few places for all tenants, and a slow model must not hold them."""

NOT_VERIFIED = f"{Reason.INTERNAL}: the memory is indexed, but its verification failed"
PASSED_ON = (DependencyDown, Overloaded)


class Outcome(StrEnum):
    """What became of one verdict, as it is counted."""

    REPLACED = "replaced"
    CONTRADICTS = "contradicts"
    NEITHER = "neither"
    MOOT = "moot"
    """Nothing changed: it was known, was taken back before, or one of the two ended meanwhile."""
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifySettings:
    """How many memories one is held against, how similar they are at the least (S-7), and the time of models.

    S-7 has 0.6. With the guard in place less suffices, and finds a sixth more (docs/memory-model.md).
    """

    candidates: int = 3
    cosine: float = 0.5
    model_seconds: float = MODEL_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Fresh:
    """A memory that was just indexed, with its vector; None if its text has none."""

    memory: Memory
    vector: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Similar:
    """A memory's id, and those of similar ones, nearest first."""

    memory_id: str
    others: tuple[str, ...]


class Verifier:
    """Verifies what is pending; `count` is told of each verdict, `wake` that jobs were committed."""

    def __init__(
        self,
        *,
        store: MemoryStore,
        judgements: JudgementStore,
        vectors: VectorIndex,
        judge: Judge,
        settings: VerifySettings,
        count: Callable[[Outcome], None],
        wake: Callable[[], None],
        clock: Clock,
        wanted: Callable[[str, str], Awaitable[bool]] | None = None,
    ) -> None:
        """`wanted` tells whether a tenant and agent have memories verified (G-12); without it all have."""
        self._store = store
        self._judgements = judgements
        self._vectors = vectors
        self._judge = judge
        self._settings = settings
        self._count = count
        self._wake = wake
        self._clock = clock
        self._wanted = wanted
        self._locks: WeakValueDictionary[tuple[str, str, str], asyncio.Lock] = WeakValueDictionary()
        self._log = structlog.get_logger("verifying")

    async def verify(self, tenant: str, agent_id: str, fresh: Sequence[Fresh]) -> dict[str, str]:
        """Errors by memory id, of those whose verification failed. Those that are verified stay untouched.

        Raises DependencyDown or Overloaded, after the others were done, if one met with it. A repetition
        changes nothing.
        """
        pending = [one for one in fresh if one.memory.verification is Verification.PENDING]
        if not pending:
            return {}
        if self._wanted is not None and not await self._wanted(tenant, agent_id):
            for one in pending:
                await self._mark(tenant, agent_id, one.memory.id, Verification.NOT_NEEDED)
            return {}
        bucket = Bucket(tenant=tenant, agent=agent_id, content=ContentClass.MEMORY)
        failures: dict[str, Exception] = {}
        rounds = await self._search(bucket, sorted(pending, key=lambda one: _written(one.memory)), failures)
        until = asyncio.get_running_loop().time() + self._settings.model_seconds
        await asyncio.gather(
            *(self._round(bucket, key, found, until, failures) for key, found in rounds.items())
        )
        for error in failures.values():
            if isinstance(error, PASSED_ON):
                raise error
        return dict.fromkeys(failures, NOT_VERIFIED)

    async def _search(
        self, bucket: Bucket, pending: Sequence[Fresh], failures: dict[str, Exception]
    ) -> dict[str, list[_Similar]]:
        """Those that have similar ones, by contact, in the order given; the others are verified thereby."""
        places = asyncio.Semaphore(SEARCHES_AT_ONCE)

        async def one(fresh: Fresh) -> _Similar | None:
            memory = fresh.memory
            async with places:
                try:
                    others = await self._similar(bucket, fresh)
                    if not others:
                        await self._set_verified(bucket, memory.id)
                except Exception as error:  # noqa: BLE001 - one memory's fault: logged, and its own outcome
                    self._failed(memory.id, error, failures)
                    return None
            return _Similar(memory_id=memory.id, others=others) if others else None

        rounds: dict[str, list[_Similar]] = defaultdict(list)
        for fresh, found in zip(pending, await asyncio.gather(*map(one, pending)), strict=True):
            if found is not None:
                rounds[fresh.memory.contact_id].append(found)
        return rounds

    async def _similar(self, bucket: Bucket, fresh: Fresh) -> tuple[str, ...]:
        """Ids of what the index holds in the same scope, near enough."""
        if fresh.vector is None:
            return ()
        contact_id = fresh.memory.contact_id
        filters = Filters(
            contact_ids=frozenset({contact_id} if contact_id else ()), agent_wide=not contact_id
        )
        hits = await self._vectors.search(bucket, fresh.vector, filters=filters, limit=SEARCHED)
        return tuple(
            hit.item_id
            for hit in hits
            if hit.cosine >= self._settings.cosine and hit.item_id != fresh.memory.id
        )

    async def _round(
        self,
        bucket: Bucket,
        contact_id: str,
        found: Sequence[_Similar],
        until: float,
        failures: dict[str, Exception],
    ) -> None:
        """One after the other, in order of writing, so that what replaces is itself replaced by the next."""
        lock = self._locks.setdefault((bucket.tenant, bucket.agent, contact_id), asyncio.Lock())
        for similar in found:
            async with lock:
                try:
                    await self._verify_one(bucket, similar, until)
                except Exception as error:  # noqa: BLE001 - as above
                    self._count(Outcome.FAILED)
                    self._failed(similar.memory_id, error, failures)

    async def _verify_one(self, bucket: Bucket, similar: _Similar, until: float) -> None:
        """By the rows as they are now."""
        ids = [similar.memory_id, *similar.others]
        rows = await self._store.get(bucket.tenant, bucket.agent, ids)
        now = self._clock()
        memory = rows.get(similar.memory_id)
        # One that has ended stays pending: should it be brought back, it is indexed again and verified then.
        if memory is None or memory.verification is not Verification.PENDING or not memory.lasts(now):
            return
        held = [rows[id_] for id_ in similar.others if id_ in rows and _comparable(memory, rows[id_], now)]
        for other in sorted(held[: self._settings.candidates], key=_written):
            old, new = sorted((memory, other), key=_begun)
            self._count(await self._decide(bucket, old, new, until))
        await self._set_verified(bucket, memory.id)

    async def _decide(self, bucket: Bucket, old: Memory, new: Memory, until: float) -> Outcome:
        """Asks the judge, and has the store keep what it finds."""
        tenant, agent_id = bucket.tenant, bucket.agent
        judged = await self._judge.judge(tenant, agent_id, _capped(old), _capped(new), until=until)
        found, name, now = judged.verdict, judged.judge, self._clock()
        if found.replaces >= REPLACES_FROM:
            verdict = Verdict(old_id=old.id, new_id=new.id, probability=found.replaces, judge=name)
            if await self._judgements.supersede(tenant, agent_id, verdict, now):
                self._wake()
                return Outcome.REPLACED
            return Outcome.MOOT
        if found.contradicts >= CONTRADICTS_FROM:
            verdict = Verdict(old_id=old.id, new_id=new.id, probability=found.contradicts, judge=name)
            recorded = await self._judgements.record_contradiction(tenant, agent_id, verdict, now)
            return Outcome.CONTRADICTS if recorded else Outcome.MOOT
        return Outcome.NEITHER

    async def _set_verified(self, bucket: Bucket, memory_id: str) -> None:
        await self._mark(bucket.tenant, bucket.agent, memory_id, Verification.VERIFIED)

    async def _mark(self, tenant: str, agent_id: str, memory_id: str, found: Verification) -> None:
        await self._judgements.set_verification(tenant, agent_id, memory_id, found, self._clock())

    def _failed(self, memory_id: str, error: Exception, failures: dict[str, Exception]) -> None:
        self._log.warning("verification_failed", memory=memory_id, error=type(error).__name__)
        failures[memory_id] = error


def _comparable(memory: Memory, other: Memory, now: datetime) -> bool:
    """Whether the other is of the same scope, lasts, and nothing is known to replace either."""
    return (
        other.contact_id == memory.contact_id
        and other.kind is not Kind.TASK
        and other.fact_type is not FactType.REFLECTION
        and other.lasts(now)
        and not other.superseded_by
        and not memory.superseded_by
    )


def _written(memory: Memory) -> tuple[datetime, str]:
    """The order of recording, the same for all who compare."""
    return memory.created, memory.id


def _begun(memory: Memory) -> tuple[datetime, datetime, str]:
    """What holds from later on is the new one, whichever was recorded or indexed first."""
    return memory.valid_from, *_written(memory)


def _capped(memory: Memory) -> Statement:
    statement = statement_of(memory)
    return replace(statement, value=statement.value[:JUDGED_CHARACTERS])
