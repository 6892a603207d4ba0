"""What is remembered of schedules, and who leads them; see app.schedules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from services.compactor.domain.schedules import SYSTEM_TENANT, Standing
from services.kit.outbox import NewJob, put_jobs
from services.kit.sql import Script, SqlDatabase, execute, execute_many, fetch, first
from services.kit.times import from_micros, to_micros

LEASE: Final = "schedules"
# An end further away than a lease can be was set by a clock that was wrong.
_LEAD: Final = (
    "INSERT INTO leases (tenant, name, owner, expires) VALUES (?, ?, ?, ?)"
    " ON CONFLICT (tenant, name) DO UPDATE SET owner = excluded.owner, expires = excluded.expires"
    " WHERE leases.owner = excluded.owner OR leases.expires <= ? OR leases.expires > excluded.expires"
    " RETURNING owner"
)
_TICK: Final = (
    "UPDATE schedules SET last_tick = ?, last_run = ?"
    " WHERE tenant = ? AND name = ? AND enabled = 1 AND last_tick < ? RETURNING name"
)


class SqlSchedules:
    """A ScheduleStore."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def standing(self, names: Sequence[str], now: datetime) -> Mapping[str, Standing]:
        """See ScheduleStore."""
        found = await self._database.read(_read)
        if not found.keys() >= set(names):
            await self._database.write(lambda: _begin(names, to_micros(now)))
            found = await self._database.read(_read)
        return found

    async def lead(self, owner: str, now: datetime, lease: timedelta) -> bool:
        """See ScheduleStore."""
        arguments = (SYSTEM_TENANT, LEASE, owner, to_micros(now + lease), to_micros(now))
        return await self._database.write(lambda: first(_LEAD, *arguments)) is not None

    async def tick(self, owner: str, name: str, tick: datetime, job: NewJob, now: datetime) -> bool:
        """See ScheduleStore."""
        return await self._database.write(lambda: _tick(owner, name, to_micros(tick), job, to_micros(now)))

    async def rewind(self, name: str, now: datetime) -> None:
        """See ScheduleStore."""
        text = "UPDATE schedules SET last_tick = ? WHERE tenant = ? AND name = ? AND last_tick > ?"
        await self._database.write(lambda: execute(text, to_micros(now), SYSTEM_TENANT, name, to_micros(now)))

    async def trigger(self, tenant: str, job: NewJob) -> None:
        """See ScheduleStore."""
        await self._database.write(lambda: put_jobs(tenant, [job]))

    async def update(self, name: str, cron: str | None, enabled: bool | None, now: datetime) -> None:
        """See ScheduleStore."""
        text = (
            "UPDATE schedules SET cron = COALESCE(?, cron), enabled = COALESCE(?, enabled), last_tick = ?"
            " WHERE tenant = ? AND name = ?"
        )
        flag = None if enabled is None else int(enabled)
        await self._database.write(lambda: execute(text, cron, flag, to_micros(now), SYSTEM_TENANT, name))


def _read() -> Script[dict[str, Standing]]:
    rows = yield from fetch(
        "SELECT name, cron, enabled, last_tick, last_run FROM schedules WHERE tenant = ?", SYSTEM_TENANT
    )
    return {
        row["name"]: Standing(
            cron=row["cron"],
            enabled=bool(row["enabled"]),
            last_tick=from_micros(row["last_tick"]),
            last_run=None if row["last_run"] is None else from_micros(row["last_run"]),
        )
        for row in rows
    }


def _begin(names: Sequence[str], now: int) -> Script[None]:
    yield from execute_many(
        "INSERT INTO schedules (tenant, name, last_tick) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        [(SYSTEM_TENANT, name, now) for name in sorted(names)],
    )


def _tick(owner: str, name: str, tick: int, job: NewJob, now: int) -> Script[bool]:
    leads = yield from first(
        "SELECT owner FROM leases WHERE tenant = ? AND name = ? AND owner = ? FOR UPDATE",
        SYSTEM_TENANT,
        LEASE,
        owner,
    )
    if leads is None:
        return False
    row = yield from first(_TICK, tick, now, SYSTEM_TENANT, name, tick)
    if row is None:
        return False
    yield from put_jobs(SYSTEM_TENANT, [job])
    return True
