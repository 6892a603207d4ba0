"""What a tenant may spend on models, and what it has spent (SPEC G-5, E-11)."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

import structlog

from services.gateway.app.admitting import Limited
from services.gateway.app.budget_ports import LimitStore, SpendStore
from services.gateway.app.limits import Limits
from services.gateway.domain.buckets import Rate
from services.gateway.domain.budgets import SPEND, TOKENS, ModelSpend, Prices
from services.kit.context import current_principal
from services.kit.errors import PalimpsestError, RateLimited
from services.kit.ids import new_id
from services.kit.models.texts import clean
from services.kit.models.types import Tier, Usage
from services.kit.times import Clock

FLUSH_SECONDS: Final = 2.0
"""How often it is tried again to keep what could not be kept."""
MAX_MODEL: Final = 128
"""Characters of a model's name that are kept."""
UNNAMED: Final = "unnamed"

Key = tuple[date, str, str]  # day, tier, model


class SpendTally:
    """What this process has spent: totals of a day by tenant, and how much of them is kept.

    Totals, not differences: what is reported twice is no change.
    """

    def __init__(self, store: SpendStore) -> None:
        self._store = store
        self._reporter_id = new_id()
        self._totals: defaultdict[str, dict[Key, ModelSpend]] = defaultdict(dict)
        self._kept: defaultdict[str, dict[Key, ModelSpend]] = defaultdict(dict)
        self._log = structlog.get_logger("limits")

    def add(self, tenant: str, spent: ModelSpend) -> None:
        """One more call, or several."""
        key = (spent.day, spent.tier, spent.model)
        known = self._totals[tenant].get(key)
        self._totals[tenant][key] = spent if known is None else known + spent

    def unkept(self, tenant: str, day: date) -> int:
        """Millionths of the currency of a day that the store may not know yet."""
        kept = self._kept.get(tenant, {})
        return sum(
            total.micros - (kept[key].micros if key in kept else 0)
            for key, total in self._totals.get(tenant, {}).items()
            if key[0] == day
        )

    async def flush(self, tenant: str) -> None:
        """Keeps what is not; what fails is for the next time."""
        totals, kept = self._totals[tenant], self._kept[tenant]
        changed = {key: total for key, total in totals.items() if kept.get(key) != total}
        if not changed:
            return
        try:
            await self._store.report(tenant, self._reporter_id, list(changed.values()))
        except PalimpsestError as error:
            self._log.warning("spend_unkept", reason=error.reason, calls=len(changed))
            return
        for key, total in changed.items():
            if key not in kept or kept[key].calls < total.calls:
                kept[key] = total
        self._forget_past(tenant)

    async def run(self) -> None:
        """Keeps what failed before, until cancelled, and then once more."""
        try:
            while True:
                await asyncio.sleep(FLUSH_SECONDS)
                await self._flush_all()
        finally:
            await self._flush_all()

    async def _flush_all(self) -> None:
        for tenant in list(self._totals):
            await self.flush(tenant)

    def _forget_past(self, tenant: str) -> None:
        """Totals of days that are over grow no more, once they are kept; yesterday's may: clocks go back."""
        totals, kept = self._totals[tenant], self._kept[tenant]
        yesterday = max(key[0] for key in totals) - timedelta(days=1)
        for key in [key for key in totals if key[0] < yesterday and kept.get(key) == totals[key]]:
            del totals[key], kept[key]


class TenantModelBudget:
    """A ModelBudget: tokens in a bucket, what they cost in a table that outlives every process."""

    def __init__(
        self,
        limits: Limits,
        store: LimitStore,
        tally: SpendTally,
        spend: SpendStore,
        *,
        models: Mapping[Tier, str],
        prices: Prices,
        clock: Clock,
        limited: Limited,
    ) -> None:
        """`models` are the names that the settings give to tiers: what an endpoint calls itself neither makes
        a row nor finds a price."""
        self._limits = limits
        self._store = store
        self._tally = tally
        self._spend = spend
        self._models = models
        self._prices = prices
        self._clock = clock
        self._limited = limited
        self._charging: set[asyncio.Task[None]] = set()

    async def check(self) -> None:
        """See the port. Raises DependencyDown where it cannot be told what was spent."""
        tenant = current_principal().tenant
        budgets = await self._limits.of(tenant)
        if budgets.tokens_per_minute is not None:
            await self._check_tokens(tenant, budgets.tokens_per_minute)
        if budgets.spend_per_day_micros is not None:
            await self._check_spend(tenant, budgets.spend_per_day_micros)

    async def charge(self, tier: Tier, usage: Usage) -> None:
        """See the port. A caller that is cancelled is charged all the same."""
        if not usage.calls:
            return
        tenant = current_principal().tenant
        self._tally.add(tenant, self._spent(tier, usage))
        task = asyncio.create_task(self._keep(tenant, usage.input_tokens + usage.output_tokens))
        self._charging.add(task)
        task.add_done_callback(self._charging.discard)
        await asyncio.shield(task)

    async def spent_today(self, tenant: str) -> int:
        """Millionths of the currency. Raises DependencyDown."""
        today = self._today()
        return await self._spend.micros(tenant, today) + self._tally.unkept(tenant, today)

    def until_tomorrow(self) -> float:
        """Seconds until the next day (UTC) begins."""
        tomorrow = datetime.combine(self._today() + timedelta(days=1), time(), UTC)
        return (tomorrow - self._clock()).total_seconds()

    async def _keep(self, tenant: str, tokens: int) -> None:
        await self._tally.flush(tenant)
        minute = (await self._limits.of(tenant)).tokens_per_minute
        if minute and tokens:
            try:
                await self._store.charge(tenant, TOKENS, token_rate(minute), tokens)
            except PalimpsestError as error:
                structlog.get_logger("limits").warning("tokens_uncharged", reason=error.reason)

    async def _check_tokens(self, tenant: str, minute: int) -> None:
        if minute == 0:
            raise self._refusal(TOKENS, None)
        level = await self._store.look(tenant, TOKENS, token_rate(minute))
        if level.wait:
            raise self._refusal(TOKENS, level.wait)

    async def _check_spend(self, tenant: str, most: int) -> None:
        if most == 0:
            raise self._refusal(SPEND, None)
        if await self.spent_today(tenant) >= most:
            raise self._refusal(SPEND, self.until_tomorrow())

    def _refusal(self, name: str, wait: float | None) -> RateLimited:
        self._limited(name)
        return RateLimited(name, wait)

    def _spent(self, tier: Tier, usage: Usage) -> ModelSpend:
        name = self._models.get(tier, "")
        return ModelSpend(
            day=self._today(),
            tier=tier.value,
            model=clean(name)[:MAX_MODEL] or UNNAMED,
            calls=usage.calls,
            estimated_calls=usage.estimated_calls,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            micros=self._prices.micros(
                tier.value, name, input_tokens=usage.input_tokens, output_tokens=usage.output_tokens
            ),
        )

    def _today(self) -> date:
        return self._clock().astimezone(UTC).date()


def token_rate(minute: int) -> Rate:
    """Of tokens: what a minute allows may come at once."""
    return Rate(per_minute=minute, capacity=minute)
