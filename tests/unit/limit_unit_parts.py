"""Budgets of one tenant, for tests of what they hold back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from services.gateway.adapters.memory_limits import MemoryLimits
from services.gateway.app.limits import Limits
from services.gateway.domain.buckets import MICROS, Level, Rate
from services.gateway.domain.budgets import NO_BUDGETS, Budgets
from services.gateway.domain.settings import Settings
from services.kit.errors import DependencyDown
from services.kit.identity import Principal, Role

BANK = Principal(tenant="bank", role=Role.READER, subject="key:1")


@dataclass
class Set:
    """Settings that a test changes; `down` for a store that does not answer."""

    budgets: dict[str, Budgets] = field(default_factory=dict)
    down: bool = False
    asked: int = 0
    gate: asyncio.Event | None = None
    """What is read is told when it opens."""

    async def in_force(self, tenant: str, agent_id: str) -> Settings:
        assert agent_id == ""
        self.asked += 1
        if self.down:
            raise DependencyDown
        found = self.budgets.get(tenant, NO_BUDGETS)
        if self.gate is not None:
            await self.gate.wait()
        return Settings(budgets=found)


@dataclass
class Time:
    """Seconds that a test lets pass."""

    now: float = 1000.0

    def __call__(self) -> float:
        return self.now

    def micros(self) -> int:
        return round(self.now * MICROS)


class Bench:
    """Limits, a store of buckets, and who was refused."""

    def __init__(self, deployment: Budgets = NO_BUDGETS) -> None:
        self.time = Time()
        self.settings = Set()
        self.limits = Limits(self.settings, deployment, monotonic=self.time)
        self.store = CountedLimits(self.time)
        self.refused: list[str] = []


class CountedLimits(MemoryLimits):
    """A store that tells how often it was asked, and may be away."""

    def __init__(self, time: Time) -> None:
        super().__init__(time.micros)
        self.calls = 0
        self.down = False
        self.meanwhile: Callable[[], Awaitable[None]] | None = None
        """What happens while a renewal is on its way."""

    async def take(self, tenant: str, name: str, rate: Rate) -> Level:
        self._asked()
        return await super().take(tenant, name, rate)

    async def charge(self, tenant: str, name: str, rate: Rate, cost: int) -> None:
        self._asked()
        await super().charge(tenant, name, rate, cost)

    async def look(self, tenant: str, name: str, rate: Rate) -> Level:
        self._asked()
        return await super().look(tenant, name, rate)

    async def hold(self, tenant: str, holder: str, most: int, seconds: float) -> bool:
        self._asked()
        return await super().hold(tenant, holder, most, seconds)

    async def renew(self, tenant: str, holders: Sequence[str], seconds: float) -> None:
        self._asked()
        if self.meanwhile is not None:
            await self.meanwhile()
        await super().renew(tenant, holders, seconds)

    async def release(self, tenant: str, holder: str) -> None:
        self._asked()
        await super().release(tenant, holder)

    async def ping(self) -> None:
        self._asked()

    def _asked(self) -> None:
        self.calls += 1
        if self.down:
            raise DependencyDown
