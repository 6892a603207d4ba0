"""Schedules: one leader asks for what is due; people look, ask and change (SPEC J-5, J-10, J-11).

A schedule's work is asked for by a job, put into the outbox in the transaction that records the moment. So it
is asked for once for each moment, whoever leads and however often. After a pause of any length there is one
run, not one for each moment that was missed. Its job says which moment it is for, and which was run before
that, so that whoever does the work knows what was missed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

import structlog

from services.compactor.app.ports import Reach
from services.compactor.domain.schedules import (
    ALL_AGENTS,
    Schedule,
    Spec,
    Standing,
    is_due,
    key_of_request,
    key_of_tick,
)
from services.kit.errors import InvalidField, NotAllowed, NotFound, PalimpsestError
from services.kit.ids import new_id
from services.kit.outbox import NewJob
from services.kit.times import Clock

NO_TIME_TABLE = "is no time table in five fields, as in cron, or never comes"


class TimeTables(Protocol):
    """What a cron text means, in UTC."""

    def newest(self, text: str, now: datetime) -> datetime | None:
        """The last moment at or before `now`; None if there is none, or the text is no time table."""

    def following(self, text: str, now: datetime) -> datetime | None:
        """The first moment after `now`; likewise."""


class ScheduleStore(Protocol):
    """What is remembered of schedules. All may raise DependencyDown."""

    async def standing(self, names: Sequence[str], now: datetime) -> Mapping[str, Standing]:
        """Of each; one that is new is enabled, and needs no run for what came before `now`."""

    async def lead(self, owner: str, now: datetime, lease: timedelta) -> bool:
        """Whether `owner` leads until now + lease: nobody else does, or has not said so in time."""

    async def tick(self, owner: str, name: str, tick: datetime, job: NewJob, now: datetime) -> bool:
        """Records a moment and puts its job into the outbox, unless another leads by now, the schedule is
        disabled, or the moment needs no run any more; whether it did."""

    async def rewind(self, name: str, now: datetime) -> None:
        """Nothing after `now` was run: the clock was wrong."""

    async def trigger(self, tenant: str, job: NewJob) -> None:
        """Puts a job into the outbox."""

    async def update(self, name: str, cron: str | None, enabled: bool | None, now: datetime) -> None:
        """Changes what is not None; what came before `now` needs no run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leadership:
    """Who may lead, for how long, and how often it looks (seconds)."""

    owner: str
    lease: timedelta
    every: float


class Schedules:
    """The use cases."""

    def __init__(
        self,
        specs: Sequence[Spec],
        store: ScheduleStore,
        tables: TimeTables,
        wake: Callable[[], None],
        clock: Clock,
    ) -> None:
        """`wake` says that something was put into the outbox."""
        self._specs = {spec.name: spec for spec in sorted(specs, key=lambda spec: spec.name)}
        self._store = store
        self._tables = tables
        self._wake = wake
        self._clock = clock
        self._log = structlog.get_logger("schedules")

    async def all(self) -> list[Schedule]:
        """By name."""
        standings = await self._standings()
        return [self._schedule(spec, standings[name]) for name, spec in self._specs.items()]

    async def trigger(self, reach: Reach, name: str, request_id: str) -> str:
        """Asks for the work now, for the tenant alone; the job's key. Raises NotFound, NotAllowed."""
        _check_reach(reach)
        spec = self._spec(name)
        key = key_of_request(name, request_id or new_id())
        await self._store.trigger(reach.tenant, _job(spec, key, self._clock()))
        self._wake()
        return key

    async def update(self, reach: Reach, name: str, cron: str | None, enabled: bool | None) -> Schedule:
        """Changes what is not None; an empty `cron` brings back the built-in one.

        Raises NotFound, InvalidField, NotAllowed.
        """
        _check_reach(reach)
        spec = self._spec(name)
        now = self._clock()
        if cron and self._tables.following(cron, now) is None:
            raise InvalidField("schedule.cron", NO_TIME_TABLE)
        await self._standings()
        await self._store.update(name, cron, enabled, now)
        return self._schedule(spec, (await self._standings())[name])

    async def keep(self, leadership: Leadership) -> None:
        """Leads whenever nobody else does, until cancelled."""
        while self._specs:
            try:
                await self.look(leadership)
            except PalimpsestError as error:
                self._log.warning("schedules_failed", reason=error.reason)
            await asyncio.sleep(leadership.every)

    async def look(self, leadership: Leadership) -> int:
        """Asks for what is due, if this process leads; how many jobs it asked for."""
        now = self._clock()
        if not await self._store.lead(leadership.owner, now, leadership.lease):
            return 0
        standings = await self._standings()
        asked = 0
        for name, spec in self._specs.items():
            standing = standings[name]
            if standing.last_tick > now:
                await self._store.rewind(name, now)
                continue
            tick = self._tables.newest(standing.cron or spec.cron, now)
            if tick is not None and is_due(standing, tick):
                job = _job(spec, key_of_tick(name, tick), tick, standing.last_tick)
                if await self._store.tick(leadership.owner, name, tick, job, now):
                    self._log.info("schedule_due", schedule=name)
                    asked += 1
        if asked:
            self._wake()
        return asked

    async def _standings(self) -> Mapping[str, Standing]:
        return await self._store.standing(list(self._specs), self._clock())

    def _spec(self, name: str) -> Spec:
        spec = self._specs.get(name)
        if spec is None:
            raise NotFound("schedule", name)
        return spec

    def _schedule(self, spec: Spec, standing: Standing) -> Schedule:
        cron = standing.cron or spec.cron
        return Schedule(
            spec=spec,
            cron=cron,
            enabled=standing.enabled,
            last_run=standing.last_run,
            next_run=self._tables.following(cron, self._clock()) if standing.enabled else None,
        )


def _check_reach(reach: Reach) -> None:
    """Raises NotAllowed."""
    if reach.agents is not None:
        raise NotAllowed("a schedule's work is for all agents")


def _job(spec: Spec, key: str, moment: datetime, before: datetime | None = None) -> NewJob:
    """The job of a moment; `before` is the newest before it that was run, or needed none."""
    moments = {"moment": moment} if before is None else {"moment": moment, "before": before}
    return NewJob(
        type=spec.job_type,
        agent_id=ALL_AGENTS,
        subject=f"schedules/{spec.name}",
        key=key,
        payload={"schedule": spec.name, **{name: when.isoformat() for name, when in moments.items()}},
    )
