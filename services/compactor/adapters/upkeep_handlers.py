"""Jobs that keep an agent's memories in order, and those that ask for them (SPEC J-10, J-11, J-15).

A schedule asks for one job, a *selector*, which enqueues one job for each agent (J-3): so one agent whose
work fails costs no other agent's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime
from typing import Final

import structlog

from services.compactor.adapters.upkeep_calls import SemanticUpkeep
from services.compactor.app.consolidation import Consolidation
from services.compactor.app.jobs import Jobs
from services.compactor.app.ports import Done, Outcome, Reach
from services.compactor.app.reflection import Reflection, end_of, ends_of
from services.compactor.domain import payloads
from services.compactor.domain.ledger import Job, NewJob
from services.compactor.domain.schedules import SYSTEM_TENANT

CONSOLIDATE: Final = "consolidate"
CONSOLIDATE_AGENT: Final = "consolidate_agent"
REFLECT: Final = "reflect"
CHECK_DRIFT: Final = "check_drift"
CHECK_DRIFT_AGENT: Final = "check_drift_agent"
YEARS: Final = range(2, 9999)
"""Of whose every day there is a day before, and one after."""
PAGES_AT_ONCE: Final = 4
"""Pages of agents for which one selector enqueues jobs."""
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
"""The one form that names a day. ISO 8601 has more, "20310503" and "2031-W18-6" among them."""
_MOMENT: Final = re.compile(r"\d{4}-\d{2}-\d{2}T", re.ASCII)
"""How what names a moment begins."""

Agents = Callable[[str, str], Awaitable[tuple[list[tuple[str, str]], str]]]
"""A page of (tenant, agent) for a tenant ("system": of all), after a token, and the token of the next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a selector is: the job that began it, the moment that it is for, how many went before, the next
    page; and where days were missed, the moment that was run last."""

    root: str
    day: str
    number: int
    token: str
    since: str = ""

    def said(self) -> dict[str, object]:
        """As a payload; what is usual is left out, as earlier versions know no `since`."""
        return {name: value for name, value in asdict(self).items() if name != "since" or value}


class FanOut:
    """A selector: one job of `job_type` for each agent. A selector that runs again asks for the same jobs.

    After PAGES_AT_ONCE pages it leaves the rest to a job of its own type, so that no call takes longer the
    more agents there are.
    """

    def __init__(self, jobs: Jobs, agents: Agents, job_type: str) -> None:
        self._jobs = jobs
        self._agents = agents
        self._job_type = job_type

    async def run(self, tenant: str, agent_id: str, jobs: Sequence[Job]) -> Sequence[Outcome]:  # noqa: ARG002
        """See Handler; `agent_id` is that of all agents."""
        for job in jobs:
            await self._spread(tenant, job, _place_of(job))
        return [Done() for _ in jobs]

    async def _spread(self, tenant: str, job: Job, place: Place) -> None:
        token = place.token
        for _ in range(PAGES_AT_ONCE):
            page, token = await self._agents(tenant, token)
            await self._enqueue(place, page, by_hand=tenant != SYSTEM_TENANT)
            if not token:
                return
        following = replace(place, number=place.number + 1, token=token)
        new = NewJob(
            type=job.type,
            agent_id=job.agent_id,
            subject=job.subject,
            key=f"{job.type}/{place.root}/{following.number}",
            payload=json.dumps(following.said()).encode("utf-8"),
        )
        await self._jobs.enqueue(Reach(tenant=tenant), [new])

    async def _enqueue(self, place: Place, page: Sequence[tuple[str, str]], *, by_hand: bool) -> None:
        since = {"since": place.since} if place.since else {}
        asked = json.dumps({"day": place.day, **since, **({"by_hand": True} if by_hand else {})}).encode(
            "utf-8"
        )
        for tenant in dict.fromkeys(tenant for tenant, _ in page):
            new = [
                NewJob(
                    type=self._job_type,
                    agent_id=agent_id,
                    subject=f"agents/{agent_id}",
                    key=f"{self._job_type}/{agent_id}/{place.root}",
                    payload=asked,
                )
                for of, agent_id in page
                if of == tenant
            ]
            await self._jobs.enqueue(Reach(tenant=tenant), new)


def _place_of(job: Job) -> Place:
    """What a selector left in the payload; the beginning, where it says nothing."""
    try:
        return Place(**payloads.said(job.payload))  # type: ignore[arg-type]
    except (ValueError, TypeError):
        moment, before = _moment(job, "moment") or job.created, _moment(job, "before")
        missed = before is not None and len(ends_of(moment, since=before)) > 1
        since = before.isoformat() if before is not None and missed else ""
        return Place(root=job.id, day=moment.isoformat(), number=0, token="", since=since)


class ConsolidateHandler:
    """Consolidates an agent's memories; a job that runs again goes on with its run, whose id is the job's."""

    def __init__(self, consolidation: Consolidation) -> None:
        self._consolidation = consolidation

    async def run(self, tenant: str, agent_id: str, jobs: Sequence[Job]) -> Sequence[Outcome]:
        """See Handler."""
        outcomes = []
        for job in jobs:
            run = await self._consolidation.run(tenant, agent_id, dry=False, run_id=job.id)
            outcomes.append(Done(result_ids=(run.id, *(merge.memory_id for merge in run.merges))))
        return outcomes


class ReflectHandler:
    """Reflects on an agent's days."""

    def __init__(self, reflection: Reflection) -> None:
        self._reflection = reflection

    async def run(self, tenant: str, agent_id: str, jobs: Sequence[Job]) -> Sequence[Outcome]:
        """See Handler. The day that the payload names as a date; else that before the moment that it names,
        those that were missed "since" another, and where somebody asked "by_hand" the day so far; with
        "again" only what is stale of the one that ends at that moment."""
        outcomes = []
        for job in jobs:
            written: list[str] = []
            if payloads.said(job.payload).get("again") is True:
                written += await self._reflection.reflect_again(tenant, agent_id, _asked(job))
            else:
                for until in _days(job):
                    written += await self._reflection.reflect(tenant, agent_id, until)
            outcomes.append(Done(result_ids=tuple(dict.fromkeys(written))))
        return outcomes


class DriftHandler:
    """Compares an agent's stores and has repaired what drifted apart; the counts are logged."""

    def __init__(self, semantic: SemanticUpkeep) -> None:
        self._semantic = semantic
        self._log = structlog.get_logger("drift")

    async def run(self, tenant: str, agent_id: str, jobs: Sequence[Job]) -> Sequence[Outcome]:
        """See Handler."""
        # All jobs of a call ask for the same; the first names it: a retry finds what it asked for before.
        found = await self._semantic.check_drift(tenant, agent_id, jobs[0].id)
        if found.lost_messages or found.lost_memories or found.lost_vectors or found.strangers:
            self._log.warning(
                "drift_found",
                messages=found.lost_messages,
                memories=found.lost_memories,
                vectors=found.lost_vectors,
                strangers=found.strangers,
            )
        return [Done() for _ in jobs]


def _days(job: Job) -> list[datetime]:
    """The ends of the days that a reflection is asked for."""
    said = payloads.said(job.payload)
    named = payloads.text(job.payload, "day")
    try:
        day = date.fromisoformat(named) if _DATE.fullmatch(named) else None
    except ValueError:  # no day of that month
        day = None
    if day is None:  # a moment, or nothing
        return ends_of(_asked(job), since=_moment(job, "since"), by_hand=said.get("by_hand") is True)
    return [end_of(day if day.year in YEARS else job.created.date())]


def _asked(job: Job) -> datetime:
    """When the work was asked for; when the job was made, if that is not told."""
    return _moment(job, "day") or job.created


def _moment(job: Job, name: str) -> datetime | None:
    """A moment that the payload names; None where it names none, or one that no day is before or after."""
    named = payloads.text(job.payload, name)
    try:
        moment = datetime.fromisoformat(named) if _MOMENT.match(named) else None
    except ValueError:
        return None
    if moment is None or moment.year not in YEARS:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
