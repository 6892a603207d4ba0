"""Limits that go on while Redis is away (SPEC G-5)."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from enum import StrEnum
from typing import Final, Protocol, TypeVar

import structlog

from services.gateway.adapters.memory_limits import MemoryLimits
from services.gateway.app.budget_ports import LimitStore
from services.gateway.domain.buckets import Level, Rate
from services.kit.errors import DependencyDown
from services.kit.pauses import backoff

T = TypeVar("T")
FIRST_PAUSE_SECONDS: Final = 0.25
LONGEST_PAUSE_SECONDS: Final = 2.0
RETRY_SECONDS: Final = 1.0
"""What a caller is told who is refused because nothing is known."""


class Without(StrEnum):
    """What holds while the shared store is away."""

    LOCAL = "local"
    """Each process counts for itself."""
    OPEN = "open"
    """Nothing is limited."""
    CLOSED = "closed"
    """Nothing that is limited is allowed."""


class Shared(LimitStore, Protocol):
    """A store that may be away."""

    async def ping(self) -> None:
        """Raises DependencyDown where it is."""


class LimitsWithout:
    """A LimitStore over a shared one. The first call that gets no answer pays for it, within its time; until
    a look in the background finds the store again, no other call asks it."""

    def __init__(
        self, shared: Shared, without: Without, *, chance: Callable[[], float] = random.random
    ) -> None:
        self._shared = shared
        self._without = without
        self._chance = chance
        self._local = MemoryLimits()
        self._looking: asyncio.Task[None] | None = None
        self._log = structlog.get_logger("limits")

    async def take(self, tenant: str, name: str, rate: Rate) -> Level:
        """See the port."""
        return await self._either(
            lambda: self._shared.take(tenant, name, rate),
            lambda: self._local.take(tenant, name, rate),
            Level(left=rate.capacity),
        )

    async def charge(self, tenant: str, name: str, rate: Rate, cost: int) -> None:
        """See the port."""
        await self._either(
            lambda: self._shared.charge(tenant, name, rate, cost),
            lambda: self._local.charge(tenant, name, rate, cost),
            None,
        )

    async def look(self, tenant: str, name: str, rate: Rate) -> Level:
        """See the port."""
        return await self._either(
            lambda: self._shared.look(tenant, name, rate),
            lambda: self._local.look(tenant, name, rate),
            Level(left=rate.capacity),
        )

    async def hold(self, tenant: str, holder: str, most: int, seconds: float) -> bool:
        """See the port."""
        held = await self._either(
            lambda: self._shared.hold(tenant, holder, most, seconds),
            lambda: self._local.hold(tenant, holder, most, seconds),
            True,
        )
        if held:  # so that it is known here when the other goes away
            await self._local.renew(tenant, [holder], seconds)
        return held

    async def renew(self, tenant: str, holders: Sequence[str], seconds: float) -> None:
        """See the port."""
        await self._local.renew(tenant, holders, seconds)
        await self._either(lambda: self._shared.renew(tenant, holders, seconds), _nothing, None)

    async def release(self, tenant: str, holder: str) -> None:
        """See the port."""
        await self._local.release(tenant, holder)
        if self._looking is None:
            try:
                await self._shared.release(tenant, holder)
            except DependencyDown:
                self._lose()

    async def held(self, tenant: str) -> int:
        """See the port."""
        return await self._either(lambda: self._shared.held(tenant), lambda: self._local.held(tenant), 0)

    async def found(self) -> None:
        """Returns when the shared store is not away, or not any more."""
        if self._looking is not None:
            await asyncio.wait([self._looking])

    async def close(self) -> None:
        """Looks no more."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.wait([self._looking])

    async def _either(
        self, shared: Callable[[], Awaitable[T]], local: Callable[[], Awaitable[T]], free: T
    ) -> T:
        if self._looking is None:
            try:
                return await shared()
            except DependencyDown:
                self._lose()
        match self._without:
            case Without.LOCAL:
                return await local()
            case Without.OPEN:
                return free
            case Without.CLOSED:
                raise DependencyDown("what was used is not known", retry_after=RETRY_SECONDS)

    def _lose(self) -> None:
        if self._looking is None:
            self._log.warning("limits_store_away", without=self._without.value)
            self._looking = asyncio.create_task(self._look())

    async def _look(self) -> None:
        """At once for the first time: a process that was busy itself takes an answer for late."""
        attempt = 0
        while not await self._answers():
            attempt += 1
            pause = backoff(
                attempt, first=FIRST_PAUSE_SECONDS, longest=LONGEST_PAUSE_SECONDS, chance=self._chance()
            )
            await asyncio.sleep(pause)
        self._looking = None
        self._log.info("limits_store_back", attempts=attempt + 1)

    async def _answers(self) -> bool:
        try:
            await self._shared.ping()
        except DependencyDown:
            return False
        return True


async def _nothing() -> None:
    """What there is to do where it was done already."""
