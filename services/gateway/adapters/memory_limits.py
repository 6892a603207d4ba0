"""What tenants use, in this process: where there is no other, and where Redis is away (SPEC G-5)."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Final

from services.gateway.domain.buckets import (
    MICROS,
    MINUTE,
    Bucket,
    Level,
    Rate,
    charged,
    level_of,
    refilled,
    taken,
)

MOST_BUCKETS: Final = 10_000
"""From so many on, full ones are dropped: those that are not known are full too."""

Micros = Callable[[], int]


def monotonic_micros() -> int:
    """A clock that does not jump."""
    return time.monotonic_ns() // 1000


class MemoryLimits:
    """A LimitStore."""

    def __init__(self, micros: Micros = monotonic_micros) -> None:
        self._micros = micros
        self._buckets: dict[tuple[str, str], tuple[Bucket, Rate]] = {}
        self._sweep_at = MOST_BUCKETS
        self._streams: defaultdict[str, dict[str, int]] = defaultdict(dict)

    async def take(self, tenant: str, name: str, rate: Rate) -> Level:
        """See the port."""
        bucket, level = taken(self._bucket(tenant, name, rate), rate, 1)
        self._keep(tenant, name, bucket, rate)
        return level

    async def charge(self, tenant: str, name: str, rate: Rate, cost: int) -> None:
        """See the port."""
        self._keep(tenant, name, charged(self._bucket(tenant, name, rate), cost), rate)

    async def look(self, tenant: str, name: str, rate: Rate) -> Level:
        """See the port."""
        return level_of(self._bucket(tenant, name, rate), rate, 1)

    async def hold(self, tenant: str, holder: str, most: int, seconds: float) -> bool:
        """See the port."""
        if await self.held(tenant) >= most:
            return False
        await self.renew(tenant, [holder], seconds)
        return True

    async def renew(self, tenant: str, holders: Sequence[str], seconds: float) -> None:
        """See the port."""
        until = self._micros() + round(seconds * MICROS)
        self._streams[tenant].update(dict.fromkeys(holders, until))

    async def release(self, tenant: str, holder: str) -> None:
        """See the port."""
        self._streams[tenant].pop(holder, None)
        self._drop_ended(tenant)

    async def held(self, tenant: str) -> int:
        """See the port."""
        self._drop_ended(tenant)
        return len(self._streams[tenant]) if tenant in self._streams else 0

    def _bucket(self, tenant: str, name: str, rate: Rate) -> Bucket:
        known = self._buckets.get((tenant, name))
        return refilled(None if known is None else known[0], rate, self._micros())

    def _keep(self, tenant: str, name: str, bucket: Bucket, rate: Rate) -> None:
        self._buckets[tenant, name] = (bucket, rate)
        if len(self._buckets) >= self._sweep_at:
            now = self._micros()
            self._buckets = {
                key: (known, rate)
                for key, (known, rate) in self._buckets.items()
                if refilled(known, rate, now).level < rate.capacity * MINUTE
            }
            self._sweep_at = max(MOST_BUCKETS, 2 * len(self._buckets))

    def _drop_ended(self, tenant: str) -> None:
        now = self._micros()
        alive = {holder: until for holder, until in self._streams[tenant].items() if until > now}
        if alive:
            self._streams[tenant] = alive
        else:
            del self._streams[tenant]
