"""Work that comes round (SPEC J-5, J-10, J-11): what a schedule is, and what it asks for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from services.kit import tenants

SYSTEM_TENANT: Final = tenants.SYSTEM_TENANT
"""The tenant of the jobs that schedules ask for by themselves: their selectors choose among all tenants.
A job under any other tenant, which somebody asked for, is about that tenant alone."""
ALL_AGENTS: Final = "*"
"""The agent of such a job: its selector chooses among the agents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """A schedule as it is built in: it asks for a job of this type, by this time table (cron, in UTC)."""

    name: str
    job_type: str
    cron: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What is remembered of a schedule.

    `cron` is "" while the built-in one holds. `last_tick` is the newest moment that needs no run any more,
    `last_run` when a job was last asked for.
    """

    cron: str
    enabled: bool
    last_tick: datetime
    last_run: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """A schedule as people see it."""

    spec: Spec
    cron: str
    enabled: bool
    last_run: datetime | None
    next_run: datetime | None


def is_due(standing: Standing, tick: datetime | None) -> bool:
    """Whether `tick`, the newest moment of the time table that has come, needs a run.

    However many moments were missed before it, it is one run.
    """
    return standing.enabled and tick is not None and tick > standing.last_tick


def key_of_tick(name: str, tick: datetime) -> str:
    """The idempotency key of a moment's job: should a clock go back, a moment is run once all the same."""
    return f"schedule/{name}/{tick.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def key_of_request(name: str, request_id: str) -> str:
    """The idempotency key of a job that somebody asked for."""
    return f"schedule/{name}/request/{request_id}"
