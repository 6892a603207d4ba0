"""What a service forgets by itself: request ids and checkpoints whose time is over (SPEC E-2, W-3, J-15)."""

from __future__ import annotations

import asyncio
from typing import Protocol

import structlog

from services.kit.errors import PalimpsestError
from services.kit.times import Clock, to_micros

STEP = 1000  # rows of one transaction, so that others aren't held up


class Expiring(Protocol):
    """Something whose old rows are deleted in steps."""

    async def delete_expired(self, now: int, limit: int) -> int:
        """Deletes up to `limit` rows whose time is over; how many it were."""


async def keep_house(parts: list[Expiring], clock: Clock, every: float) -> None:
    """Deletes what has expired, every so many seconds, until cancelled."""
    log = structlog.get_logger("housekeeping")
    while True:
        await asyncio.sleep(every)
        for part in parts:
            try:
                while await part.delete_expired(to_micros(clock()), STEP) == STEP:
                    pass
            except PalimpsestError as error:
                log.warning("housekeeping_failed", reason=error.reason)
