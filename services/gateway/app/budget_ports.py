"""Where it is kept what tenants use (SPEC G-5)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Protocol

from services.gateway.domain.buckets import Level, Rate
from services.gateway.domain.budgets import ModelSpend


class LimitStore(Protocol):
    """Buckets and open streams by tenant; a bucket that nobody used is full.

    Every method may raise DependencyDown.
    """

    async def take(self, tenant: str, name: str, rate: Rate) -> Level:
        """Takes one token if it is there; then there is no wait."""

    async def charge(self, tenant: str, name: str, rate: Rate, cost: int) -> None:
        """Takes so many, there or not."""

    async def look(self, tenant: str, name: str, rate: Rate) -> Level:
        """What is left, and the wait for one token."""

    async def hold(self, tenant: str, holder: str, most: int, seconds: float) -> bool:
        """Counts a stream for so long, unless `most` are open."""

    async def renew(self, tenant: str, holders: Sequence[str], seconds: float) -> None:
        """Counts these streams for so long from now on, however many are open."""

    async def release(self, tenant: str, holder: str) -> None:
        """Counts a stream no more."""

    async def held(self, tenant: str) -> int:
        """How many streams are open."""


class SpendStore(Protocol):
    """What calls of models took, for good."""

    async def report(self, tenant: str, reporter_id: str, totals: Sequence[ModelSpend]) -> None:
        """Keeps a process's totals of a day; smaller ones than are known change nothing."""

    async def micros(self, tenant: str, day: date) -> int:
        """What all calls of a day cost."""

    async def rows(self, tenant: str, since: date, most: int) -> list[ModelSpend]:
        """Summed over processes, newest day first, then by tier and model."""
