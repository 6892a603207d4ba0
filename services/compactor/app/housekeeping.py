"""Deleting jobs that ended long ago (SPEC J-15)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta

import structlog

from services.compactor.app.ports import Ledger
from services.kit.errors import PalimpsestError
from services.kit.times import Clock

STEP_PAUSE_SECONDS = 0.05
"""Between two steps, so that the ledger's other writers come in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """How long ends are kept, and how many go at once."""

    finished: timedelta
    dead: timedelta
    step: int


async def delete_old(ledger: Ledger, retention: Retention, clock: Clock) -> int:
    """Deletes all that is old enough, step by step; how many there were."""
    total = 0
    while True:
        now = clock()
        deleted = await ledger.delete_finished(now - retention.finished, now - retention.dead, retention.step)
        total += deleted
        if deleted < retention.step:
            return total
        await asyncio.sleep(STEP_PAUSE_SECONDS)


async def keep_house(ledger: Ledger, retention: Retention, clock: Clock, every_seconds: float) -> None:
    """Deletes old jobs now and then, until cancelled."""
    log = structlog.get_logger("housekeeping")
    while True:
        try:
            deleted = await delete_old(ledger, retention, clock)
            if deleted:
                log.info("old_jobs_deleted", jobs=deleted)
        except PalimpsestError as error:
            log.warning("housekeeping_failed", reason=error.reason)
        await asyncio.sleep(every_seconds)
