"""Reflection (SPEC J-11): from an agent's day (UTC) to reflections, goals and learnings.

Evidence is taken per contact and never mixed, so that what is told of one person is not told under another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Final, Protocol

from services.compactor.domain.insights import Change, Draft, GoalState, Insight, Kind
from services.compactor.domain.reflecting import Evidence, reflect
from services.kit.errors import InvalidField, NotFound
from services.kit.ids import new_id
from services.kit.outbox import NewJob
from services.kit.times import Clock

REFLECT_AGENT: Final = "reflect_agent"
DAY: Final = timedelta(days=1)
"""J-11: what is reflected upon, from its beginning at 00:00 UTC."""
MOST_DAYS: Final = 31
"""That one run reflects upon, of those that were missed: the newest."""
KNOWN_GOALS: Final = 500
"""Goals of a contact that evidence is held against: the newest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InsightQuery:
    """Which rows a listing returns, newest first: only ids less than `before`."""

    kind: Kind
    contact_id: str | None = None
    states: frozenset[GoalState] = frozenset()
    before: str | None = None
    limit: int = 100


class Insights(Protocol):
    """The rows. All may raise DependencyDown."""

    async def put(self, tenant: str, agent_id: str, drafts: Sequence[Draft], now: datetime) -> list[Insight]:
        """Writes what was found: a new row, or what `merged` makes of that of its kind, contact and slug."""

    async def stale(self, tenant: str, agent_id: str, day: str) -> list[Insight]:
        """The rows of a day that something was changed of which they came from (J-17)."""

    async def settle(
        self, tenant: str, seen: Sequence[tuple[Insight, Draft | None]], now: datetime
    ) -> list[Insight]:
        """What `derived_again` makes of stale rows as they were seen; those with None go, but for what
        somebody changed. Which are left. A row that was marked again meanwhile stays stale."""

    async def set_memory(self, tenant: str, agent_id: str, insight_id: str, memory_id: str) -> None:
        """Names the memory that tells of it."""

    async def get(self, tenant: str, agent_id: str, insight_id: str) -> Insight | None:
        """None for an unknown one."""

    async def page(self, tenant: str, agent_id: str, query: InsightQuery) -> list[Insight]:
        """Newest (greatest id) first."""

    async def update(
        self, tenant: str, agent_id: str, insight_id: str, change: Change, now: datetime
    ) -> Insight | None:
        """See `changed`. None for an unknown one. Raises VersionConflict, InvalidField."""


class Days(Protocol):
    """What was recorded lately, and where a reflection is remembered. All may raise DependencyDown."""

    async def evidence(
        self, tenant: str, agent_id: str, since: datetime, until: datetime
    ) -> Mapping[str, Sequence[Evidence]]:
        """By contact ("" for agent-wide): memories written from `since` on and before `until`, what was said
        then, and what summaries say of those days."""

    async def remember(self, tenant: str, agent_id: str, reflection: Insight, key: str) -> str:
        """Writes a reflective memory under a key; its id."""

    async def forget(self, tenant: str, agent_id: str, memory_id: str) -> None:
        """Forgets a reflective memory; again is no error."""


def reflect_again(agent_id: str, day: str, until: datetime) -> NewJob:
    """Has a day reflected upon again, of which rows were marked as stale: put down with the mark."""
    return NewJob(
        type=REFLECT_AGENT,
        agent_id=agent_id,
        subject=f"agents/{agent_id}",
        key=f"{REFLECT_AGENT}/{agent_id}/again/{day}/{new_id()}",
        payload={"day": until.isoformat(), "again": True},
    )


def end_of(day: date) -> datetime:
    """The beginning of the next."""
    return datetime.combine(day, time(), UTC) + DAY


def ends_of(asked: datetime, *, since: datetime | None = None, by_hand: bool = False) -> list[datetime]:
    """The ends of the days to be reflected upon, the newest first, so that many missed ones keep none from
    it: that before the one of asking, which is over, and those before it from the one of `since` on, when it
    was done last; where somebody asked `by_hand`, also the one of asking as far as it went."""
    today = end_of(asked.astimezone(UTC).date())
    missed = 1 if since is None else (today - end_of(since.astimezone(UTC).date())) // DAY
    days = min(max(missed, 1), MOST_DAYS)
    return [today - number * DAY for number in range(0 if by_hand else 1, days + 1)]


def _of_day(drafts: Sequence[Draft], until: datetime) -> list[Draft]:
    return [replace(draft, asked=until) for draft in drafts]


class Reflection:
    """The use cases."""

    def __init__(self, days: Days, insights: Insights, clock: Clock) -> None:
        self._days = days
        self._insights = insights
        self._clock = clock

    async def reflect(self, tenant: str, agent_id: str, until: datetime) -> list[str]:
        """The ids of the rows that the day that ends at `until` brought forth or changed; again changes
        nothing."""
        since = until - DAY
        day = since.date().isoformat()
        found = await self._days.evidence(tenant, agent_id, since, until)
        written: list[str] = []
        for contact_id in sorted(found):
            goals = await self._insights.page(
                tenant, agent_id, InsightQuery(kind=Kind.GOAL, contact_id=contact_id, limit=KNOWN_GOALS)
            )
            drafts = _of_day(reflect(found[contact_id], goals, day, contact_id), until)
            rows = await self._insights.put(tenant, agent_id, drafts, self._clock())
            for row in rows:
                if row.kind is Kind.REFLECTION:
                    await self._remember(tenant, agent_id, row)
            written += [row.id for row in rows]
        return written

    async def reflect_again(self, tenant: str, agent_id: str, until: datetime) -> list[str]:
        """Derives the stale rows of the day that ends at `until` again (J-17), of what is recorded of it now.

        What nothing tells of any more goes, and the memory that told of it; a goal is looked for until it was
        last spoken of. The ids of the rows that are left; done again it finds none stale.
        """
        since = until - DAY
        day = since.date().isoformat()
        stale = await self._insights.stale(tenant, agent_id, day)
        if not stale:
            return []
        found = await self._days.evidence(tenant, agent_id, since, until)
        last = max([until, *(row.updated for row in stale if row.kind is Kind.GOAL)])
        longer = found if last == until else await self._days.evidence(tenant, agent_id, since, last)
        drafts: dict[tuple[Kind, str, str], Draft] = {}
        for contact_id in {row.contact_id for row in stale}:
            told = reflect(found.get(contact_id, ()), (), day, contact_id)
            # Of what was told since, the newest is read: the day itself is not to be left out for it.
            since_then = [*found.get(contact_id, ()), *longer.get(contact_id, ())]
            goals = reflect(since_then, (), day, contact_id)
            for draft in [
                *(one for one in told if one.kind is not Kind.GOAL),
                *(one for one in goals if one.kind is Kind.GOAL),
            ]:
                drafts[draft.kind, contact_id, draft.slug] = draft
        seen = [(row, drafts.get((row.kind, row.contact_id, row.slug))) for row in stale]
        for row, left in seen:
            if left is None and row.memory_id and not row.kept:
                # First: whoever dies in between finds the row stale still.
                await self._days.forget(tenant, agent_id, row.memory_id)
        rows = await self._insights.settle(tenant, seen, self._clock())
        for row in rows:
            if row.kind is Kind.REFLECTION:
                await self._remember(tenant, agent_id, row)
        return [row.id for row in rows]

    async def _remember(self, tenant: str, agent_id: str, row: Insight) -> None:
        memory_id = await self._days.remember(tenant, agent_id, row, f"reflection:{row.slug}")
        if memory_id != row.memory_id:
            await self._insights.set_memory(tenant, agent_id, row.id, memory_id)

    async def get(self, tenant: str, agent_id: str, insight_id: str) -> Insight:
        """Raises NotFound."""
        row = await self._insights.get(tenant, agent_id, insight_id)
        if row is None:
            raise NotFound("insight", insight_id)
        return row

    async def page(self, tenant: str, agent_id: str, query: InsightQuery) -> list[Insight]:
        """Newest first."""
        return await self._insights.page(tenant, agent_id, query)

    async def update(
        self, tenant: str, agent_id: str, insight_id: str, change: Change, *, goal: bool
    ) -> Insight:
        """What somebody changes stays. Raises NotFound (with `goal` also for what is none), VersionConflict,
        InvalidField."""
        if not insight_id:
            raise InvalidField("id", "is required")
        if goal and (await self.get(tenant, agent_id, insight_id)).kind is not Kind.GOAL:
            raise NotFound("goal", insight_id)
        row = await self._insights.update(tenant, agent_id, insight_id, change, self._clock())
        if row is None:
            raise NotFound("insight", insight_id)
        return row
