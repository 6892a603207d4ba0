"""Reading and changing settings; who may, and what holds (SPEC G-12, S-15)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from services.gateway.app.settings_ports import Agents, SettingsStore
from services.gateway.domain.budgets import NO_BUDGETS, Budgets, raised
from services.gateway.domain.settings import (
    TENANT,
    Change,
    RefusedTexts,
    Settings,
    Stored,
    effective,
    names_budgets,
)
from services.kit.errors import InvalidField, NotAllowed
from services.kit.identity import Principal, Role
from services.kit.times import Clock

DEFAULT_REPORT_DAYS = 30
MAX_REPORT_DAYS = 366  # of which a process may report, and a report tells


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What is set at one level, and what holds there."""

    stored: Stored
    effective: Settings


class TenantSettings:
    """Use cases; the callers' agents were checked before, for requests that name one."""

    def __init__(
        self, *, store: SettingsStore, agents: Agents, clock: Clock, deployment: Budgets = NO_BUDGETS
    ) -> None:
        """`deployment` are the budgets above which only an operator may go."""
        self._store = store
        self._deployment = deployment
        self._told: list[Callable[[str], None]] = []
        self._agents = agents
        self._clock = clock

    def tell(self, told: Callable[[str], None]) -> None:
        """Calls `told` with the tenant after each change that is made here, not in another process."""
        self._told.append(told)

    async def get(self, by: Principal, agent_id: str) -> Found:
        """Raises NotAllowed, NotFound."""
        await self._check(by, agent_id)
        return await self._found(by.tenant, agent_id)

    async def update(
        self,
        by: Principal,
        agent_id: str,
        new: Settings,
        paths: Sequence[str],
        *,
        expected_revision: int | None = None,
    ) -> Found:
        """Raises NotAllowed, NotFound, InvalidField, VersionConflict."""
        await self._check(by, agent_id)
        if agent_id != TENANT and names_budgets(paths):
            raise InvalidField("update_mask", "an agent has no budgets: they are its tenant's")

        def may(old: Settings, made: Settings) -> None:
            name = raised(old.budgets, made.budgets, self._deployment)
            if name and by.role < Role.OPERATOR:
                raise NotAllowed(f"only an operator may raise {name} above the deployment's")

        await self._store.update(
            by.tenant,
            agent_id,
            new,
            paths,
            subject=by.subject,
            now=self._clock(),
            expected_revision=expected_revision,
            may=may,
        )
        for told in self._told:
            told(by.tenant)
        return await self._found(by.tenant, agent_id)

    async def changes(self, by: Principal, agent_id: str, before: int | None, limit: int) -> list[Change]:
        """Newest first. Raises NotAllowed."""
        _check_reach(by, agent_id)
        return await self._store.changes(by.tenant, agent_id, before, limit)

    async def report(self, by: Principal, days: int) -> list[RefusedTexts]:
        """Of so many days, today included. Raises NotAllowed."""
        _check_reach(by, TENANT)
        since = self._clock().date() - timedelta(days=(days or DEFAULT_REPORT_DAYS) - 1)
        return await self._store.refusals(by.tenant, since)

    async def in_force(self, tenant: str, agent_id: str) -> Settings:
        """For other services: also for agents that Episodic does not know (yet)."""
        return (await self._found(tenant, agent_id)).effective

    async def record(self, tenant: str, reporter_id: str, totals: Sequence[RefusedTexts]) -> None:
        """For other services. Raises InvalidField for days that cannot be."""
        today = self._clock().date()
        for total in totals:
            if abs((today - total.day).days) > MAX_REPORT_DAYS:
                raise InvalidField("totals", "a day that is too far away")
        await self._store.report_refusals(tenant, reporter_id, totals)

    async def _check(self, by: Principal, agent_id: str) -> None:
        _check_reach(by, agent_id)
        if agent_id != TENANT:
            await self._agents.check(agent_id)

    async def _found(self, tenant: str, agent_id: str) -> Found:
        known = await self._store.get(tenant, list(dict.fromkeys([agent_id, TENANT])))
        own, shared = known.get(agent_id, Stored()), known.get(TENANT, Stored())
        if agent_id == TENANT:
            return Found(stored=own, effective=own.settings)
        return Found(stored=own, effective=effective(own.settings, shared.settings))


def _check_reach(by: Principal, agent_id: str) -> None:
    """The tenant's are for keys of the whole tenant."""
    if agent_id == TENANT and by.agents is not None:
        raise NotAllowed("a key that is limited to agents does not reach the tenant's settings")
