"""Stores of what tenants use, whose time a test can turn (SPEC G-5)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

from services.gateway.adapters.memory_limits import MemoryLimits
from services.gateway.app.budget_ports import LimitStore
from services.gateway.domain.buckets import MICROS, Rate

NAME = "requests"


class Timed(Protocol):
    """A store as two replicas have it."""

    @property
    def replicas(self) -> list[LimitStore]: ...

    async def pass_time(self, tenant: str, seconds: float) -> None:
        """As if so much time had passed since the bucket was used; less than 0 for a clock that went back."""


@dataclass
class TurnedMemory:
    """One process, whose clock a test turns."""

    now: int = 1_000_000 * MICROS
    replicas: list[LimitStore] = field(default_factory=list)

    def __post_init__(self) -> None:
        store = MemoryLimits(lambda: self.now)
        self.replicas = [store, store]

    async def pass_time(self, tenant: str, seconds: float) -> None:
        self.now += round(seconds * MICROS)


@dataclass
class TurnedRedis:
    """A server, whose clock cannot be turned: what it wrote down of it is."""

    replicas: list[LimitStore]
    client: Any
    prefix: str

    async def pass_time(self, tenant: str, seconds: float) -> None:
        key, streams = self.key(tenant, NAME), self.key(tenant, "streams")
        if await self.client.exists(key):
            await self.client.hincrby(key, "at", -round(seconds * MICROS))
        for holder in await self.client.zrange(streams, 0, -1):
            await self.client.zincrby(streams, -round(seconds * MICROS), holder)

    def key(self, tenant: str, name: str) -> str:
        return f"{self.prefix}limits:{{{tenant}}}:{name}"


class Model:
    """A bucket as the specification has it: no clamps of ours, no whole parts, time as a number."""

    def __init__(self, rate: Rate) -> None:
        self.rate = rate
        self.level = Fraction(rate.capacity)

    def pass_time(self, seconds: int) -> None:
        self.level = min(
            Fraction(self.rate.capacity), self.level + Fraction(seconds * self.rate.per_minute, 60)
        )

    def take(self) -> float:
        if self.level >= 1:
            self.level -= 1
            return 0.0
        return float((1 - self.level) * 60 / self.rate.per_minute)

    def charge(self, cost: int) -> None:
        self.level -= cost


async def at_once(stores: list[LimitStore], tenant: str, rate: Rate, callers: int) -> int:
    """How many of so many callers over all replicas got a token."""
    levels = await asyncio.gather(*(stores[n % len(stores)].take(tenant, NAME, rate) for n in range(callers)))
    return sum(not level.wait for level in levels)
