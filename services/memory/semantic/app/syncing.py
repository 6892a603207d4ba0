"""Keeping the remote memory like the canonical store (SPEC S-15, D-2).

Each change of a memory has a job, which runs at least once; what jobs lost (the policy forbade it, the remote
memory was away for longer than they try) is found by a sweep that compares what was acknowledged with what
there is. Requests about one memory never overlap: each holds the memory's row, for longer than a request may
take, so that a deletion is not overtaken by the memory that it deletes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

import structlog

from services.kit.errors import PalimpsestError, Reason
from services.kit.pauses import backoff
from services.kit.times import Clock
from services.memory.semantic.app.ports import MemoryStore
from services.memory.semantic.app.providers import SENT, MemoryProvider, Rejected, RemotePolicy, Unanswered
from services.memory.semantic.domain.memory import Memory

BATCH = 64
DELETIONS_AT_ONCE = 8
FIRST_PAUSE_SECONDS = 1.0
MAX_PAUSE_SECONDS = 60.0

BUSY = f"{Reason.DEPENDENCY_DOWN}: another request about the memory is under way"
UNKNOWN = f"{Reason.DEPENDENCY_DOWN}: the data-flow policy is not known"
NO_REMOTE = f"{Reason.UNKNOWN_METHOD}: no remote memory is configured"
KEPT = f"{Reason.DATA_FLOW_REFUSED}: the data flow lets no memory leave"


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncOutcome:
    """What became of one memory: an error, "" for none; whether another attempt is of no use."""

    error: str = ""
    refused: bool = False


DONE = SyncOutcome()


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Rows that are held until a moment, with the revision that was acknowledged (0: none), and ids of those
    that somebody else holds.

    The moment tells this claim from a later one: who is late changes nothing that somebody else holds.
    """

    held: Mapping[str, int]
    busy: frozenset[str]
    until: datetime


class RemoteCopies(Protocol):
    """What the remote memory holds, or may hold."""

    async def claim(
        self,
        tenant: str,
        agent_id: str,
        known: Sequence[str],
        new: Sequence[str],
        *,
        now: datetime,
        until: datetime,
    ) -> Claim:
        """Holds rows until a moment: of `known` those that are there, of `new` all, made if need be."""

    async def settle(self, tenant: str, agent_id: str, revisions: Mapping[str, int], held: datetime) -> None:
        """Acknowledges revisions of rows that are held until that moment, and lets them go."""

    async def release(self, tenant: str, agent_id: str, memory_ids: Sequence[str], held: datetime) -> None:
        """Lets rows go as they are, as far as they are held until that moment."""

    async def drop(self, tenant: str, agent_id: str, memory_ids: Sequence[str], held: datetime) -> None:
        """Deletes rows that are held until that moment: the remote memory has these no more."""

    async def agents(self) -> list[tuple[str, str]]:
        """Tenants and agents that have memories or copies."""

    async def behind(self, tenant: str, agent_id: str, after: str, limit: int, now: datetime) -> list[str]:
        """Memories that last and were not acknowledged as they are, by id, after one."""

    async def lapsed(self, tenant: str, agent_id: str, after: str, limit: int, now: datetime) -> list[str]:
        """Copies of memories that are gone or last no more, by id, after one."""

    async def enqueue(
        self, tenant: str, agent_id: str, memory_ids: Sequence[str], *, copies_only: bool
    ) -> None:
        """Jobs for memories; with `copies_only` for those that have a row here."""


class Syncs(Protocol):
    """What the compactor's workers ask for."""

    async def sync(self, tenant: str, agent_id: str, memory_ids: Sequence[str]) -> list[SyncOutcome]:
        """An outcome for each. Raises DependencyDown."""


class NoRemote:
    """Where no remote memory is configured: jobs of a time when there was one are of no use."""

    async def sync(self, _tenant: str, _agent_id: str, memory_ids: Sequence[str]) -> list[SyncOutcome]:
        """Nothing can be done."""
        return [SyncOutcome(error=NO_REMOTE, refused=True) for _ in memory_ids]


Page = Callable[[str, str, str, int, datetime], Awaitable[list[str]]]


class Syncing:
    """Use cases of the remote memory's contents."""

    def __init__(
        self,
        *,
        store: MemoryStore,
        copies: RemoteCopies,
        provider: MemoryProvider,
        policy: RemotePolicy,
        wake: Callable[[], None],
        clock: Clock,
        sweep_seconds: float,
        held_seconds: float,
    ) -> None:
        """`wake` is told that jobs were committed.

        A memory whose request was not answered is left alone for `held_seconds`; half of them are for the
        requests about a batch, so it is to be a good deal more than twice what one takes with its retries.
        """
        self._store = store
        self._copies = copies
        self._provider = provider
        self._policy = policy
        self._wake = wake
        self._clock = clock
        self._sweep_seconds = sweep_seconds
        self._held_seconds = held_seconds
        self._log = structlog.get_logger("syncing")

    async def follow(self, tenant: str, agent_id: str, memory_ids: Sequence[str]) -> None:
        """Has jobs made for memories that changed, where the remote memory must learn of them."""
        settings = await self._policy.of(tenant, agent_id)
        wanted = settings.remote or not settings.known
        await self._copies.enqueue(tenant, agent_id, memory_ids, copies_only=not wanted)
        self._wake()

    async def sync(self, tenant: str, agent_id: str, memory_ids: Sequence[str]) -> list[SyncOutcome]:
        """Sends memories that last, deletes the others; an outcome for each.

        Deletions are sent whatever the policy is: they hold no text. Raises DependencyDown.
        """
        ids = list(dict.fromkeys(memory_ids))
        lasting = await self._lasting(tenant, agent_id, ids)
        outcomes, leaving = await self._judge(tenant, agent_id, lasting)
        claim = await self._claim(tenant, agent_id, [id_ for id_ in ids if id_ not in lasting], leaving)
        outcomes |= {id_: SyncOutcome(error=BUSY) for id_ in claim.busy}
        if claim.held:
            await self._settle(tenant, agent_id, claim)
        return [outcomes.get(id_, DONE) for id_ in memory_ids]

    async def _settle(self, tenant: str, agent_id: str, claim: Claim) -> None:
        """Does what the rows that are held call for.

        Where a request may take effect after this, its rows are held on: it was given half of their time.
        """
        unsettled = set(claim.held)
        try:
            async with asyncio.timeout(self._held_seconds / 2):
                # Read again: now that the rows are held nobody else sends or deletes.
                fresh = await self._lasting(tenant, agent_id, list(claim.held))
                await self._send(tenant, agent_id, claim, list(fresh.values()), unsettled)
                gone = [id_ for id_ in claim.held if id_ not in fresh]
                await self._delete(tenant, agent_id, gone, unsettled, claim.until)
        except TimeoutError:
            raise Unanswered from None
        except Unanswered:
            raise
        except Exception:
            await self._copies.release(tenant, agent_id, sorted(unsettled), claim.until)
            raise

    async def run(self) -> None:
        """Sweeps every so many seconds, until cancelled; sooner or later after one that failed."""
        failures = 0
        while True:
            failures = 0 if await self.sweep() else failures + 1
            pause = self._sweep_seconds
            if failures:
                pause = backoff(failures, first=FIRST_PAUSE_SECONDS, longest=MAX_PAUSE_SECONDS, chance=1.0)
            await asyncio.sleep(pause)

    async def sweep(self) -> bool:
        """Brings the remote memory up to date, as far as policies let it; False if something failed.

        A memory that it refuses does not keep the others from being served.
        """
        well = True
        try:
            for tenant, agent_id in await self._copies.agents():
                well = await self._sweep(tenant, agent_id) and well
        except PalimpsestError as error:
            self._log.warning("sync_failed", reason=error.reason)
            return False
        return well

    async def _sweep(self, tenant: str, agent_id: str) -> bool:
        """False where the remote memory refused one."""
        count, refused = await self._drain(tenant, agent_id, self._copies.lapsed)
        settings = await self._policy.of(tenant, agent_id)
        if settings.known and settings.remote and self._policy.allows(settings):
            sent, more = await self._drain(tenant, agent_id, self._copies.behind)
            count, refused = count + sent, refused + more
        if count:
            self._log.info("synced", memories=count)
        return not refused

    async def _drain(self, tenant: str, agent_id: str, page: Page) -> tuple[int, int]:
        """How many were brought up to date, and how many the remote memory refused."""
        count, refused, after = 0, 0, ""
        while ids := await page(tenant, agent_id, after, BATCH, self._clock()):
            after = ids[-1]
            done, bad = await self._in_halves(tenant, agent_id, ids)
            count, refused = count + done, refused + bad
        return count, refused

    async def _in_halves(self, tenant: str, agent_id: str, ids: Sequence[str]) -> tuple[int, int]:
        """As `_drain`; a batch that is refused is halved until it is one memory's fault."""
        try:
            outcomes = await self.sync(tenant, agent_id, ids)
        except Rejected as error:
            if len(ids) == 1:
                self._log.warning("sync_rejected", reason=error.reason)
                return 0, 1
            middle = len(ids) // 2
            halves = [await self._in_halves(tenant, agent_id, half) for half in (ids[:middle], ids[middle:])]
            return sum(done for done, _ in halves), sum(bad for _, bad in halves)
        return sum(not outcome.error for outcome in outcomes), 0

    async def _lasting(self, tenant: str, agent_id: str, ids: Sequence[str]) -> dict[str, Memory]:
        found = await self._store.get(tenant, agent_id, ids) if ids else {}
        now = self._clock()
        return {id_: memory for id_, memory in found.items() if memory.lasts(now)}

    async def _judge(
        self, tenant: str, agent_id: str, lasting: Mapping[str, Memory]
    ) -> tuple[dict[str, SyncOutcome], list[str]]:
        """What the policy makes of memories that last: outcomes of those kept in, ids of those to send."""
        if not lasting:
            return {}, []
        settings = await self._policy.of(tenant, agent_id)
        if not settings.known:
            return {id_: SyncOutcome(error=UNKNOWN) for id_ in lasting}, []
        if not settings.remote:
            return {}, []
        if self._policy.allows(settings):
            return {}, list(lasting)
        for _ in lasting:
            self._policy.refuse(tenant, SENT)
        return {id_: SyncOutcome(error=KEPT, refused=True) for id_ in lasting}, []

    async def _claim(self, tenant: str, agent_id: str, known: Sequence[str], new: Sequence[str]) -> Claim:
        now = self._clock()
        until = now + timedelta(seconds=self._held_seconds)
        if not known and not new:
            return Claim(held={}, busy=frozenset(), until=until)
        return await self._copies.claim(tenant, agent_id, known, new, now=now, until=until)

    async def _send(
        self, tenant: str, agent_id: str, claim: Claim, fresh: Sequence[Memory], unsettled: set[str]
    ) -> None:
        """What is acknowledged can be recalled there."""
        newer = [memory for memory in fresh if claim.held[memory.id] < memory.revision]
        if newer:
            await self._provider.remember(tenant, agent_id, newer)
            await self._provider.flush(tenant, agent_id)
        revisions = {memory.id: memory.revision for memory in fresh}
        await self._copies.settle(tenant, agent_id, revisions, claim.until)
        unsettled -= revisions.keys()

    async def _delete(
        self,
        tenant: str,
        agent_id: str,
        memory_ids: Sequence[str],
        unsettled: set[str],
        held: datetime,
    ) -> None:
        for start in range(0, len(memory_ids), DELETIONS_AT_ONCE):
            some = memory_ids[start : start + DELETIONS_AT_ONCE]
            results = await asyncio.gather(
                *(self._provider.forget(tenant, agent_id, id_) for id_ in some), return_exceptions=True
            )
            gone = [id_ for id_, result in zip(some, results, strict=True) if result is None]
            await self._copies.drop(tenant, agent_id, gone, held)
            unsettled -= set(gone)
            failed = [result for result in results if isinstance(result, BaseException)]
            if failed:
                raise next((error for error in failed if isinstance(error, Unanswered)), failed[0])
