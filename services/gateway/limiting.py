"""Wires budgets: the part of the gateway's bootstrap that chooses where it is kept what tenants use."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import dataclass

from prometheus_client import Counter
from prometheus_client.registry import Collector

from services.gateway.adapters.limits_without import LimitsWithout, Without
from services.gateway.adapters.memory_limits import MemoryLimits
from services.gateway.adapters.sql.spend import SqlSpend
from services.gateway.app.admitting import TenantAdmission
from services.gateway.app.budget_ports import LimitStore
from services.gateway.app.limit_ports import ModelBudget
from services.gateway.app.limits import Limits
from services.gateway.app.model_budget import SpendTally, TenantModelBudget
from services.gateway.app.settings import TenantSettings
from services.gateway.app.usage import TenantUsage
from services.gateway.config import GatewaySettings
from services.gateway.domain.budgets import NO_BUDGETS, Budgets, Price, Prices
from services.kit.admission import Admission
from services.kit.models.settings import ModelSettings
from services.kit.serving import background
from services.kit.sql import SqlDatabase
from services.kit.times import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Limiting:
    """What admits calls, what models may cost, what applications may ask about both, and metrics."""

    admission: Admission
    budget: ModelBudget
    usage: TenantUsage
    collectors: tuple[Collector, ...]


def deployment_budgets(settings: GatewaySettings) -> Budgets:
    """What holds for tenants that chose nothing."""
    return Budgets(**{name: getattr(settings, f"limit_{name}") for name, _ in NO_BUDGETS.items()})


def wire_limits(
    settings: GatewaySettings,
    database: SqlDatabase,
    stack: AsyncExitStack,
    *,
    tenants: TenantSettings,
    models: ModelSettings,
    clock: Clock,
) -> Limiting:
    """What was spent is kept until `stack` is left, and then for good. Raises StartupError."""
    counter = Counter(
        "palimpsest_gateway_limited",
        "Calls, and calls of models, that were refused because a tenant was over a budget.",
        ["limit"],
        registry=None,
    )

    def limited(name: str) -> None:
        counter.labels(name).inc()

    limits = Limits(tenants, deployment_budgets(settings))
    tenants.tell(limits.changed)
    store = _store(settings, stack)
    spend = SqlSpend(database)
    tally = SpendTally(spend)
    admission = TenantAdmission(limits, store, limited)
    prices = Prices(
        of={name: Price(input=one.input, output=one.output) for name, one in settings.limit_prices.items()}
    )
    budget = TenantModelBudget(
        limits,
        store,
        tally,
        spend,
        models={tier: one.name for tier, one in models.tiers().items()},
        prices=prices,
        clock=clock,
        limited=limited,
    )
    background(stack, [tally.run(), admission.run()])
    return Limiting(
        admission=admission,
        budget=budget,
        usage=TenantUsage(limits, store, spend, budget, clock),
        collectors=(counter,),
    )


def _store(settings: GatewaySettings, stack: AsyncExitStack) -> LimitStore:
    url = settings.redis_url.get_secret_value()
    if not url:
        return MemoryLimits()
    # Imported here: the embedded profile is installed without the driver.
    from services.gateway.adapters.redis_limits import RedisLimits
    from services.kit.redis import RedisOptions

    shared = RedisLimits.open(
        RedisOptions(
            url=url,
            cluster=settings.redis_cluster,
            timeout_seconds=settings.limit_redis_seconds,
            prefix=f"{settings.redis_prefix}:",
        )
    )
    stack.push_async_callback(shared.close)
    store = LimitsWithout(shared, Without(settings.limit_without_redis))
    stack.push_async_callback(store.close)
    return store
