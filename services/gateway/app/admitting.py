"""Calls of a tenant within its budgets of requests and of open streams (SPEC G-5)."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import Final

import structlog

from services.gateway.app.budget_ports import LimitStore
from services.gateway.app.limits import Limits
from services.gateway.domain.buckets import Rate
from services.gateway.domain.budgets import NO_BUDGETS, REQUESTS, STREAMS, Budgets
from services.kit.errors import PalimpsestError, RateLimited
from services.kit.identity import Principal, Role
from services.kit.ids import new_id

LEASE_SECONDS: Final = 30.0
"""G-5: for how long a stream counts whose process has died."""
RENEW_SECONDS: Final = 10.0
STREAM_RETRY_SECONDS: Final = 1.0
"""When a stream ends nobody knows: when to ask again."""

Limited = Callable[[str], None]
"""Is told the name of a budget at each refusal."""


def rate_of(budgets: Budgets) -> Rate | None:
    """Of requests; None without a limit."""
    minute = budgets.requests_per_minute
    return None if minute is None else Rate(per_minute=minute, capacity=budgets.request_burst or minute)


class TenantAdmission:
    """An Admission. Calls of other services are not limited.

    It knows the streams that are open here, limited or not, so that they count once there is a limit.
    """

    def __init__(self, limits: Limits, store: LimitStore, limited: Limited) -> None:
        self._limits = limits
        self._store = store
        self._limited = limited
        self._open: defaultdict[str, set[str]] = defaultdict(set)
        self._free = nullcontext()
        self._leaving: set[asyncio.Task[None]] = set()
        self._log = structlog.get_logger("limits")

    def enter(self, principal: Principal, *, streaming: bool) -> AbstractAsyncContextManager[None]:
        """See the port."""
        if principal.role is Role.SERVICE:
            return self._free
        if not streaming and self._limits.at_hand(principal.tenant) is NO_BUDGETS:
            return self._free
        return self._entered(principal.tenant, streaming)

    async def run(self) -> None:
        """Keeps the streams that are open here counted, until cancelled."""
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            await self.renew()

    async def renew(self) -> None:
        """Counts the streams that are open here, where they are limited."""
        for tenant in list(self._open):
            try:
                if (await self._limits.of(tenant)).concurrent_streams is not None:
                    await self._renew(tenant)
            except PalimpsestError as error:
                self._log.warning("streams_uncounted", reason=error.reason)

    async def _renew(self, tenant: str) -> None:
        holders = sorted(self._open.get(tenant, ()))
        if holders:
            await self._store.renew(tenant, holders, LEASE_SECONDS)
        for holder in holders:  # the renewal may have come after the release of one that ended meanwhile
            if holder not in self._open.get(tenant, ()):
                await self._store.release(tenant, holder)

    @asynccontextmanager
    async def _entered(self, tenant: str, streaming: bool) -> AsyncIterator[None]:
        budgets = await self._limits.of(tenant)
        await self._take(tenant, budgets)
        if not streaming:
            yield
            return
        holder = new_id()
        await self._hold(tenant, holder, budgets.concurrent_streams)
        self._open[tenant].add(holder)
        try:
            yield
        finally:
            await self._leave(tenant, holder)

    async def _take(self, tenant: str, budgets: Budgets) -> None:
        rate = rate_of(budgets)
        if rate is None:
            return
        level = await self._store.take(tenant, REQUESTS, rate)
        if level.wait:
            raise self._refusal(REQUESTS, level.wait)

    async def _hold(self, tenant: str, holder: str, most: int | None) -> None:
        if most is None:
            return
        if most == 0:
            raise self._refusal(STREAMS, None)
        if not await self._store.hold(tenant, holder, most, LEASE_SECONDS):
            raise self._refusal(STREAMS, STREAM_RETRY_SECONDS)

    async def _leave(self, tenant: str, holder: str) -> None:
        held = self._open[tenant]
        held.discard(holder)
        if not held:
            del self._open[tenant]
        budgets = self._limits.at_hand(tenant)
        if budgets is None or budgets.concurrent_streams is not None:
            # A caller that leaves cancels this too: it is done all the same.
            task = asyncio.create_task(self._release(tenant, holder))
            self._leaving.add(task)
            task.add_done_callback(self._leaving.discard)
            await asyncio.shield(task)

    async def _release(self, tenant: str, holder: str) -> None:
        try:
            await self._store.release(tenant, holder)
        except PalimpsestError as error:  # it ends by itself, when its time is over
            self._log.warning("stream_unreleased", reason=error.reason)

    def _refusal(self, name: str, wait: float | None) -> RateLimited:
        self._limited(name)
        return RateLimited(name, wait)
