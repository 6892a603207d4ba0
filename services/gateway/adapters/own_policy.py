"""The gateway asks itself for the data flow, and counts in its own store what it kept in (SPEC S-15)."""

from __future__ import annotations

import asyncio
from datetime import date

import structlog
from prometheus_client import Counter

from services.gateway.app.settings import TenantSettings
from services.gateway.domain.settings import RefusedTexts
from services.kit.errors import PalimpsestError
from services.kit.ids import new_id
from services.kit.policy import CLOSED, EffectiveSettings, RefusalTally
from services.kit.policy_client import FLUSH_SECONDS
from services.kit.times import Clock


class OwnPolicies:
    """Policies, read each time: they are here."""

    def __init__(self, settings: TenantSettings) -> None:
        self._settings = settings

    async def of(self, tenant: str, agent_id: str = "") -> EffectiveSettings:
        """See the port."""
        try:
            found = await self._settings.in_force(tenant, agent_id)
        except PalimpsestError as error:
            structlog.get_logger("policy").warning("policy_unknown", error=type(error).__name__)
            return CLOSED
        return EffectiveSettings(
            data_flow=found.data_flow,
            provider=found.provider,
            verify=found.verify,
            fusion=found.fusion,
            recall_depth=found.recall_depth,
        )


class OwnRefusals:
    """A Refused: for Prometheus at once, for the tenant's report in batches."""

    def __init__(self, settings: TenantSettings, clock: Clock) -> None:
        self._settings = settings
        self._reporter_id = new_id()
        self._tally = RefusalTally(clock)
        self.counter = Counter(
            "palimpsest_gateway_texts_kept_in",
            "Texts that a tenant's data flow kept from leaving.",
            ["destination"],
            registry=None,
        )

    def __call__(self, tenant: str, kind: str) -> None:
        """See the port."""
        self.counter.labels(kind).inc()
        self._tally.add(tenant, kind)

    async def run(self) -> None:
        """Reports until cancelled, and then once more; what fails is reported with the next."""
        try:
            while True:
                await asyncio.sleep(FLUSH_SECONDS)
                await self.flush()
        finally:
            await self.flush()

    async def flush(self) -> None:
        """Reports what was counted since the last report."""
        for tenant, totals in self._tally.take().items():
            rows = [
                RefusedTexts(day=date.fromisoformat(day), kind=kind, count=count)
                for (day, kind), count in totals.items()
            ]
            try:
                await self._settings.record(tenant, self._reporter_id, rows)
            except PalimpsestError as error:
                self._tally.give_back(tenant, totals)
                structlog.get_logger("policy").warning("refusals_unreported", reason=error.reason)
