"""What budgets a tenant has, what is left of them, and what models took (SPEC G-5, E-11)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from services.gateway.app.admitting import rate_of
from services.gateway.app.budget_ports import LimitStore, SpendStore
from services.gateway.app.limits import Limits
from services.gateway.app.model_budget import TenantModelBudget, token_rate
from services.gateway.domain.buckets import Level
from services.gateway.domain.budgets import REQUESTS, SPEND, STREAMS, TOKENS, Budgets, ModelSpend
from services.kit.errors import NotAllowed
from services.kit.identity import Principal
from services.kit.times import Clock

DEFAULT_DAYS = 30
MAX_ROWS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldLimit:
    """A budget, what is left of it, and seconds until something is: None where that cannot be told."""

    name: str
    most: int
    left: int
    wait: float | None
    own: bool


class TenantUsage:
    """Use cases for applications."""

    def __init__(
        self, limits: Limits, store: LimitStore, spend: SpendStore, budget: TenantModelBudget, clock: Clock
    ) -> None:
        self._limits = limits
        self._store = store
        self._spend = spend
        self._budget = budget
        self._clock = clock

    async def limits(self, by: Principal) -> list[HeldLimit]:
        """What holds. Raises NotAllowed, DependencyDown."""
        _check_reach(by)
        held, own = await self._limits.of(by.tenant), await self._limits.own(by.tenant)
        found = []
        for name, left in (
            (REQUESTS, self._requests),
            (TOKENS, self._tokens),
            (SPEND, self._money),
            (STREAMS, self._streams),
        ):
            most: int | None = getattr(held, name)
            if most is not None:
                level = await left(by.tenant, held, most)
                is_own = getattr(own, name) is not None
                wait = None if most == 0 else level.wait
                found.append(HeldLimit(name=name, most=most, left=level.left, wait=wait, own=is_own))
        return found

    async def spend(self, by: Principal, days: int) -> list[ModelSpend]:
        """Of so many days, today included. Raises NotAllowed."""
        _check_reach(by)
        since = self._clock().date() - timedelta(days=(days or DEFAULT_DAYS) - 1)
        return await self._spend.rows(by.tenant, since, MAX_ROWS)

    async def _requests(self, tenant: str, held: Budgets, _most: int) -> Level:
        rate = rate_of(held)
        assert rate is not None
        return await self._store.look(tenant, REQUESTS, rate)

    async def _tokens(self, tenant: str, _held: Budgets, most: int) -> Level:
        return await self._store.look(tenant, TOKENS, token_rate(most)) if most else Level(left=0)

    async def _money(self, tenant: str, _held: Budgets, most: int) -> Level:
        left = most - await self._budget.spent_today(tenant)
        return Level(left=left, wait=0.0 if left > 0 else self._budget.until_tomorrow())

    async def _streams(self, tenant: str, _held: Budgets, most: int) -> Level:
        return Level(left=most - await self._store.held(tenant))


def _check_reach(by: Principal) -> None:
    if by.agents is not None:
        raise NotAllowed("a key that is limited to agents does not reach the tenant's budgets")
