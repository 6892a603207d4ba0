"""Holding the lease of a turn (SPEC G-4)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta

import structlog

from services.gateway.app.chat_ports import TurnLeases
from services.gateway.domain.turns import Place
from services.kit.errors import PalimpsestError, TurnRunning
from services.kit.ids import new_id
from services.kit.times import Clock

ASK_AGAIN_SECONDS = 0.1  # while waiting for a turn that runs
RETRY_AFTER_SECONDS = 1.0
"""What a caller that doesn't wait is told: how long a turn takes nobody knows."""
TAKEN_OVER = "another process took this turn over"
RENEWALS = 3  # in the time that a lease lasts


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseRules:
    """Whose leases, and for how many seconds one lasts: for as long a process that died holds it."""

    leases: TurnLeases
    clock: Clock
    seconds: float


class Lease:
    """A lease that one holder has taken, or waits for."""

    def __init__(self, rules: LeaseRules, place: Place) -> None:
        self._rules = rules
        self._place = place
        self._holder = new_id()
        self._good_until = 0.0  # by the loop's clock, which goes on while the process is stopped

    async def ours(self) -> bool:
        """Whether it is held in this moment; a process that was stopped for longer than it lasts asks."""
        if asyncio.get_running_loop().time() < self._good_until:
            return True
        try:
            return await self._renew()
        except PalimpsestError:
            return False

    async def acquire(self, wait: float) -> None:
        """Raises TurnRunning when another one holds it for longer than `wait` seconds."""
        loop = asyncio.get_running_loop()
        until = loop.time() + wait
        while not await self._take():
            left = until - loop.time()
            if left <= 0:
                raise TurnRunning(retry_after=RETRY_AFTER_SECONDS)
            await asyncio.sleep(min(ASK_AGAIN_SECONDS, left))

    async def keep(self, lost: Callable[[], None]) -> None:
        """Renews it until cancelled; `lost` is called once that was in vain."""
        while True:
            await asyncio.sleep(self._rules.seconds / RENEWALS)
            begun = asyncio.get_running_loop().time()
            try:
                ours = await self._renew()
            except PalimpsestError as error:
                structlog.get_logger("chat").warning("turn_lease_not_renewed", reason=error.reason)
                ours = begun < self._good_until
            if not ours:
                structlog.get_logger("chat").warning("turn_lease_lost")
                lost()
                return

    async def release(self) -> None:
        """Ends it, if it is held."""
        with suppress(PalimpsestError):  # then it ends by itself
            await self._rules.leases.release(self._place, self._holder)

    async def _take(self) -> bool:
        rules, begun, now = self._rules, asyncio.get_running_loop().time(), self._rules.clock()
        until = now + timedelta(seconds=rules.seconds)
        return self._good(begun, await rules.leases.acquire(self._place, self._holder, now, until))

    async def _renew(self) -> bool:
        rules, begun = self._rules, asyncio.get_running_loop().time()
        until = rules.clock() + timedelta(seconds=rules.seconds)
        return self._good(begun, await rules.leases.renew(self._place, self._holder, until))

    def _good(self, begun: float, ours: bool) -> bool:
        self._good_until = begun + self._rules.seconds if ours else 0.0
        return ours


@asynccontextmanager
async def held(
    rules: LeaseRules, place: Place, wait: float, lost: Callable[[], None]
) -> AsyncIterator[Lease]:
    """The lease while within; `lost` is called once if somebody else has it, or it can't be renewed in time.

    Raises TurnRunning when another one holds it for longer than `wait` seconds.
    """
    lease = Lease(rules, place)
    try:
        await lease.acquire(wait)
    except asyncio.CancelledError:
        # It may have been got in this moment.
        await asyncio.shield(lease.release())
        raise
    keeping = asyncio.create_task(lease.keep(lost))
    try:
        yield lease
    finally:
        keeping.cancel()
        # Also when the caller is being cancelled: else the next turn would wait for the lease's end.
        await asyncio.shield(lease.release())
