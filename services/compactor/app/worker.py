"""The worker: claims groups of due jobs and has them done (SPEC J-1, J-2)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

import structlog

from services.compactor.app.calls import Calls
from services.compactor.app.ports import Ledger
from services.compactor.app.wake import Wake
from services.compactor.domain.ledger import Job, Settlement
from services.kit.errors import PalimpsestError
from services.kit.times import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerRules:
    """How a worker works; see CompactorSettings for what each means."""

    owner: str
    slots: int
    batch_size: int
    lease: timedelta
    heartbeat_seconds: float
    poll_seconds: float
    slow: frozenset[str] = frozenset()
    """Types of jobs that may wait for a model: of several slots the first does none of them, so that those
    that callers wait for always have one (S-16)."""


class Worker:
    """A few slots, each of which does one group at a time."""

    def __init__(self, ledger: Ledger, calls: Calls, wake: Wake, rules: WorkerRules, clock: Clock) -> None:
        self._ledger = ledger
        self._calls = calls
        self._wake = wake
        self._rules = rules
        self._clock = clock
        self._stopping = False
        self._slots: list[asyncio.Task[None]] = []
        self._log = structlog.get_logger("worker")

    async def start(self) -> None:
        """Frees the leases of the former self, then begins. Raises DependencyDown."""
        freed = await self._ledger.free_leases(self._rules.owner, self._clock())
        if freed:
            self._log.info("leases_freed", jobs=freed)
        self._slots = [
            asyncio.create_task(self._slot(self._left_to_others(place))) for place in range(self._rules.slots)
        ]

    async def stop(self, grace: float) -> None:
        """Takes no more; lets calls end for `grace` seconds, then gives their jobs back."""
        self._stopping = True
        self._wake.set()
        if self._slots:
            _, running = await asyncio.wait(self._slots, timeout=grace)
            for slot in running:
                slot.cancel()
            await asyncio.gather(*self._slots, return_exceptions=True)

    def _left_to_others(self, place: int) -> frozenset[str]:
        return self._rules.slow if place == 0 and self._rules.slots > 1 else frozenset()

    async def run_once(self, *, but: frozenset[str] = frozenset()) -> int:
        """Does one group, if any is due that is not of the types `but`; how many jobs it had."""
        jobs = await self._claim(but)
        if jobs:
            await self._do(jobs)
        return len(jobs)

    async def _claim(self, but: frozenset[str]) -> list[Job]:
        rules = self._rules
        claim = self._ledger.claim(rules.owner, rules.batch_size, rules.lease, self._clock(), but=but)
        claiming = asyncio.ensure_future(claim)
        try:
            return await asyncio.shield(claiming)
        except asyncio.CancelledError:
            await self._give_back(await claiming)  # it may have gone through already
            raise

    async def _give_back(self, jobs: Sequence[Job]) -> None:
        if jobs:
            await asyncio.shield(self._ledger.release(jobs, self._clock()))

    async def _slot(self, but: frozenset[str]) -> None:
        while not self._stopping:
            self._wake.clear()
            try:
                found = await self.run_once(but=but)
            except PalimpsestError as error:
                self._log.warning("ledger_failed", reason=error.reason)
                found = 0
            except Exception as error:  # noqa: BLE001 - a slot outlives any fault; leases bring the jobs back
                self._log.error("worker_fault", error=type(error).__name__)
                found = 0
            if not found and not self._stopping:
                await self._wake.wait(self._rules.poll_seconds)

    async def _do(self, jobs: Sequence[Job]) -> None:
        held = {job.id: job for job in jobs}

        async def settle(verdicts: Sequence[Settlement]) -> None:
            # Off the list first: a verdict must not be followed by a release.
            for verdict in verdicts:
                held.pop(verdict.job_id, None)
            await asyncio.shield(self._ledger.settle(verdicts, self._clock()))

        heartbeat = asyncio.create_task(self._keep(held))
        try:
            await self._calls.run(jobs, settle)
        except asyncio.CancelledError:
            await self._give_back(list(held.values()))
            raise
        finally:
            heartbeat.cancel()
            with suppress(asyncio.CancelledError):
                await heartbeat

    async def _keep(self, held: dict[str, Job]) -> None:
        """Renews the leases of what is held until cancelled."""
        while True:
            await asyncio.sleep(self._rules.heartbeat_seconds)
            if not held:
                continue
            asked = list(held.values())
            try:
                kept = await self._ledger.heartbeat(asked, self._rules.lease, self._clock())
            except PalimpsestError as error:
                self._log.warning("heartbeat_failed", reason=error.reason)
                continue
            lost = [job.id for job in asked if job.id not in kept and job.id in held]
            for id_ in lost:
                del held[id_]
            if lost:
                self._log.info("claims_lost", jobs=len(lost))  # taken over or cancelled
