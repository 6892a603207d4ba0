"""The gateway asks itself for the data flow, and counts in its own store what it kept in (SPEC S-15)."""

from __future__ import annotations

from datetime import date

import structlog

from services.gateway.app.settings import TenantSettings
from services.gateway.domain.settings import RefusedTexts
from services.kit.errors import PalimpsestError
from services.kit.policy import CLOSED, EffectiveSettings, Totals
from services.kit.policy_client import CountedRefusals
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


class OwnRefusals(CountedRefusals):
    """Reports to the store, and once more when the process ends: that is here until then."""

    def __init__(self, settings: TenantSettings, clock: Clock) -> None:
        super().__init__(service="gateway", clock=clock)
        self._settings = settings

    async def run(self) -> None:
        """Reports until cancelled, and then once more; what fails is reported with the next."""
        try:
            await super().run()
        finally:
            await self.flush()

    async def _report(self, tenant: str, totals: Totals) -> None:
        rows = [
            RefusedTexts(day=date.fromisoformat(day), kind=kind, count=count)
            for (day, kind), count in totals.items()
        ]
        await self._settings.record(tenant, self._reporter_id, rows)
