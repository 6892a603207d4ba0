"""Holding new memories against similar ones, once they are indexed (SPEC S-7).

Each is put into the indexes before it looks for others, so of two that are written at once one at the least
finds the other. Whoever indexes waits for no model: a memory that one is to be asked about stays pending, and
a job of its own verifies it (`Verifier.by_asking`).

Rounds of one scope, of whatever subject, go one after the other within a process: what is about one subject
is for the judge to say. A job asks before its turn; in its turn, what it was told is held to the rows as they
are then. Between processes nothing is locked for long: both find the same order of two memories, and the
store decides under its own locks. It ends a memory once, never by one that has ended, and never again by a
verdict that was taken back.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from itertools import chain
from weakref import WeakValueDictionary

import structlog

from services.kit.errors import DependencyDown, Overloaded, Reason
from services.kit.times import Clock
from services.memory.semantic.app.judging import Judge, Judged, statement_of
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
    """How many memories one is held against, and how similar they are at the least (S-7).

    S-7 has 0.6. With the guard in place less suffices, and finds a sixth more (docs/memory-model.md).
    """

    candidates: int = 3
    cosine: float = 0.5


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    """Two memories that are held against each other: what holds from later on is the new one."""

    old: Memory
    new: Memory

    @property
    def ids(self) -> tuple[str, str]:
        return self.old.id, self.new.id


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

        Those that a model is to be asked about stay pending, and get a job each.

        Raises DependencyDown or Overloaded, after the others were done, if one met with it. A repetition
        changes nothing.
        """
        pending = [one for one in fresh if one.memory.verification is Verification.PENDING]
        if not pending or not await self._are_wanted(tenant, agent_id, pending):
            return {}
        bucket = Bucket(tenant=tenant, agent=agent_id, content=ContentClass.MEMORY)
        failures: dict[str, Exception] = {}
        rounds = await self._search(bucket, sorted(pending, key=lambda one: _written(one.memory)), failures)
        unsaid = await asyncio.gather(
            *(self._round(bucket, key, found, failures) for key, found in rounds.items())
        )
        if asked := list(chain.from_iterable(unsaid)):
            await self._judgements.ask_verification(tenant, agent_id, asked)
            self._wake()
        for error in failures.values():
            if isinstance(error, PASSED_ON):
                raise error
        return dict.fromkeys(failures, NOT_VERIFIED)

    async def by_asking(
        self, tenant: str, agent_id: str, fresh: Fresh, *, until: float | None = None
    ) -> list[str]:
        """Verifies one memory, whoever has to be asked, and until then only; the judges' names, in order.

        Raises what a judge or a store does: it stays pending then. A repetition changes nothing.
        """
        memory = fresh.memory
        if memory.verification is not Verification.PENDING:
            return []
        if not await self._are_wanted(tenant, agent_id, [fresh]):
            return []
        bucket = Bucket(tenant=tenant, agent=agent_id, content=ContentClass.MEMORY)
        similar = _Similar(memory_id=memory.id, others=await self._similar(bucket, fresh))
        try:
            verdicts = await self._asked(bucket, similar, until)
            async with self._turn(bucket, memory.contact_id):
                await self._apply_still(bucket, similar, verdicts)
        except Exception:
            self._count(Outcome.FAILED)
            raise
        return [judged.judge for judged in verdicts.values()]

    async def _asked(
        self, bucket: Bucket, similar: _Similar, until: float | None
    ) -> Mapping[tuple[str, str], Judged]:
        """Verdicts by the ids of the two."""
        verdicts: dict[tuple[str, str], Judged] = {}
        for pair in await self._pairs(bucket, similar) or ():
            old, new = _capped(pair.old), _capped(pair.new)
            verdicts[pair.ids] = await self._judge.judge(bucket.tenant, bucket.agent, old, new, until=until)
        return verdicts

    async def _apply_still(
        self, bucket: Bucket, similar: _Similar, verdicts: Mapping[tuple[str, str], Judged]
    ) -> None:
        """Of verdicts that took their time, those that are still about something."""
        pairs = await self._pairs(bucket, similar)
        if pairs is not None:
            known = [(pair, verdicts[pair.ids]) for pair in pairs if pair.ids in verdicts]
            await self._apply(bucket, similar.memory_id, known)

    async def _are_wanted(self, tenant: str, agent_id: str, pending: Sequence[Fresh]) -> bool:
        if self._wanted is None or await self._wanted(tenant, agent_id):
            return True
        for one in pending:
            await self._mark(tenant, agent_id, one.memory.id, Verification.NOT_NEEDED)
        return False

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
        failures: dict[str, Exception],
    ) -> list[str]:
        """One after the other, in order of writing, so that what replaces is itself replaced by the next.

        The ids of those that a model is to be asked about.
        """
        unsaid = []
        for similar in found:
            async with self._turn(bucket, contact_id):
                try:
                    if not await self._verify_one(bucket, similar):
                        unsaid.append(similar.memory_id)
                except Exception as error:  # noqa: BLE001 - as above
                    self._count(Outcome.FAILED)
                    self._failed(similar.memory_id, error, failures)
        return unsaid

    def _turn(self, bucket: Bucket, contact_id: str) -> asyncio.Lock:
        return self._locks.setdefault((bucket.tenant, bucket.agent, contact_id), asyncio.Lock())

    async def _verify_one(self, bucket: Bucket, similar: _Similar) -> bool:
        """Whether that is done with: False, and nothing was done, where a model is to be asked."""
        verdicts = []
        pairs = await self._pairs(bucket, similar)
        for pair in pairs or ():
            judged = await self._judge.at_once(_capped(pair.old), _capped(pair.new))
            if judged is None:
                return False
            verdicts.append((pair, judged))
        if pairs is not None:
            await self._apply(bucket, similar.memory_id, verdicts)
        return True

    async def _pairs(self, bucket: Bucket, similar: _Similar) -> list[_Pair] | None:
        """What is to be judged, by the rows as they are now; None if the memory is not to be verified now."""
        ids = [similar.memory_id, *similar.others]
        rows = await self._store.get(bucket.tenant, bucket.agent, ids)
        now = self._clock()
        memory = rows.get(similar.memory_id)
        # One that has ended stays pending: should it be brought back, it is indexed again and verified then.
        if memory is None or memory.verification is not Verification.PENDING or not memory.lasts(now):
            return None
        held = [rows[id_] for id_ in similar.others if id_ in rows and _comparable(memory, rows[id_], now)]
        both = [
            sorted((memory, other), key=_begun)
            for other in sorted(held[: self._settings.candidates], key=_written)
        ]
        return [_Pair(old=old, new=new) for old, new in both]

    async def _apply(self, bucket: Bucket, memory_id: str, verdicts: Iterable[tuple[_Pair, Judged]]) -> None:
        for pair, judged in verdicts:
            self._count(await self._keep(bucket, pair, judged))
        await self._set_verified(bucket, memory_id)

    async def _keep(self, bucket: Bucket, pair: _Pair, judged: Judged) -> Outcome:
        """Has the store keep what a judge found."""
        tenant, agent_id = bucket.tenant, bucket.agent
        (old_id, new_id), found, name, now = pair.ids, judged.verdict, judged.judge, self._clock()
        if found.replaces >= REPLACES_FROM:
            verdict = Verdict(old_id=old_id, new_id=new_id, probability=found.replaces, judge=name)
            if await self._judgements.supersede(tenant, agent_id, verdict, now):
                self._wake()
                return Outcome.REPLACED
            return Outcome.MOOT
        if found.contradicts >= CONTRADICTS_FROM:
            verdict = Verdict(old_id=old_id, new_id=new_id, probability=found.contradicts, judge=name)
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
