"""What calls of models took, in memory, for tests."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from services.gateway.domain.budgets import ModelSpend

Key = tuple[str, date, str, str, str]  # tenant, day, tier, model, reporter


class MemorySpend:
    """A SpendStore in a dictionary."""

    def __init__(self) -> None:
        self._rows: dict[Key, ModelSpend] = {}

    async def report(self, tenant: str, reporter_id: str, totals: Sequence[ModelSpend]) -> None:
        """See the port."""
        for one in totals:
            key = (tenant, one.day, one.tier, one.model, reporter_id)
            if key not in self._rows or self._rows[key].calls < one.calls:
                self._rows[key] = one

    async def micros(self, tenant: str, day: date) -> int:
        """See the port."""
        return sum(one.micros for key, one in self._rows.items() if key[:2] == (tenant, day))

    async def rows(self, tenant: str, since: date, most: int) -> list[ModelSpend]:
        """See the port."""
        sums: dict[tuple[date, str, str], ModelSpend] = {}
        for (owner, day, tier, model, _), one in self._rows.items():
            if owner == tenant and day >= since:
                known = sums.get((day, tier, model))
                sums[day, tier, model] = one if known is None else known + one
        ordered = sorted(sums.values(), key=lambda one: (-one.day.toordinal(), one.tier, one.model))
        return ordered[:most]
