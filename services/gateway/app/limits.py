"""What holds for a tenant, known well enough to be asked at every call (SPEC G-5, G-12)."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from contextvars import Context
from dataclasses import dataclass, replace
from typing import Final, Protocol

import structlog

from services.gateway.domain.budgets import NO_BUDGETS, Budgets, in_force
from services.gateway.domain.settings import TENANT, Settings
from services.kit.errors import PalimpsestError

FRESH_SECONDS: Final = 3.0
"""G-5: for how long budgets are used before settings are read again."""
CACHED: Final = 10_000


class InForce(Protocol):
    """Where a tenant's settings are read."""

    async def in_force(self, tenant: str, agent_id: str) -> Settings:
        """What is set."""


@dataclass(frozen=True, slots=True)
class _Known:
    own: Budgets
    held: Budgets
    until: float


class Limits:
    """Budgets of tenants over the deployment's. Settings that cannot be read are as they were."""

    def __init__(
        self, settings: InForce, deployment: Budgets, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._settings = settings
        self._deployment = deployment
        self._monotonic = monotonic
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._asking: dict[str, asyncio.Task[_Known]] = {}

    async def of(self, tenant: str) -> Budgets:
        """What holds."""
        return (await self._get(tenant)).held

    async def own(self, tenant: str) -> Budgets:
        """What the tenant set."""
        return (await self._get(tenant)).own

    def at_hand(self, tenant: str) -> Budgets | None:
        """What holds, where nothing has to be read for it; NO_BUDGETS itself where nothing is limited."""
        known = self._known.get(tenant)
        return known.held if known is not None and self._monotonic() < known.until else None

    def changed(self, tenant: str) -> None:
        """The next call reads its settings anew."""
        self._asking.pop(tenant, None)
        known = self._known.get(tenant)
        if known is not None:
            self._known[tenant] = replace(known, until=0.0)

    async def _get(self, tenant: str) -> _Known:
        """Callers that come together share one question."""
        known = self._known.get(tenant)
        if known is not None and self._monotonic() < known.until:
            return known
        task = self._asking.get(tenant)
        if task is None:
            # In a context of its own: one caller's deadline is not the others'.
            task = self._asking[tenant] = asyncio.create_task(self._read(tenant), context=Context())
            task.add_done_callback(lambda done: self._asked(tenant, done))
        return await asyncio.shield(task)

    def _asked(self, tenant: str, task: asyncio.Task[_Known]) -> None:
        """What was read before the last change that is known here is not kept."""
        if self._asking.get(tenant) is not task:
            return
        del self._asking[tenant]
        if task.cancelled() or task.exception():
            return
        self._known[tenant] = task.result()
        self._known.move_to_end(tenant)
        if len(self._known) > CACHED:
            self._known.popitem(last=False)

    async def _read(self, tenant: str) -> _Known:
        try:
            own = (await self._settings.in_force(tenant, TENANT)).budgets
        except PalimpsestError as error:
            structlog.get_logger("limits").warning("budgets_unknown", reason=error.reason)
            before = self._known.get(tenant)
            own = NO_BUDGETS if before is None else before.own
        held = in_force(own, self._deployment)
        # One object for no limits: each call asks whether it is that.
        held = NO_BUDGETS if held == NO_BUDGETS else held
        return _Known(own, held, self._monotonic() + FRESH_SECONDS)
