"""How goals stand, in whatever order days are reflected upon (SPEC J-11, J-17)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from services.compactor.adapters.sql.insights import SqlInsights
from services.compactor.app.reflection import InsightQuery, Reflection, end_of
from services.compactor.domain.insights import GoalState, Insight, Kind
from services.compactor.domain.reflecting import Evidence
from services.kit.sql import SqlDatabase, execute
from services.kit.times import to_micros
from tests.contract.test_document_follow_ups import upgraded

NOW = datetime(2031, 5, 9, 3, tzinfo=UTC)
TENANT, AGENT = "acme", "ada"
WANTS = "Ann wants to run the Oslo marathon"
FINISHED = "Ann finished the Oslo marathon run"
PLANS = "Ann plans to run the Oslo marathon"


class Told:
    """Statements by the day of May on which they were told."""

    def __init__(self, told: Mapping[int, str]) -> None:
        self.told = dict(told)

    async def evidence(
        self, tenant: str, agent_id: str, since: datetime, until: datetime
    ) -> Mapping[str, Sequence[Evidence]]:
        return {
            "": [
                Evidence(source_id=f"m{day}", text=text, refs=(("c", f"m{day}"),), day=f"2031-05-0{day}")
                for day, text in self.told.items()
                if since <= datetime(2031, 5, day, 12, tzinfo=UTC) < until
            ]
        }

    async def remember(self, tenant: str, agent_id: str, reflection: Insight, key: str) -> str:
        return "m"

    async def forget(self, tenant: str, agent_id: str, memory_id: str) -> None: ...


def end(day: int) -> datetime:
    return end_of(date(2031, 5, day))


async def goal(insights: SqlInsights) -> Insight:
    (row,) = await insights.page(TENANT, AGENT, InsightQuery(kind=Kind.GOAL))
    return row


@pytest.mark.parametrize(
    ("told", "days", "states"),
    [
        ({2: WANTS, 3: FINISHED}, [2, 3, 2], ["open", "achieved", "achieved"]),
        ({2: WANTS, 3: FINISHED}, [2, 3, 2, 3], ["open", "achieved", "achieved", "achieved"]),
        ({2: WANTS, 3: FINISHED, 5: PLANS}, [2, 3, 5, 3], ["open", "achieved", "open", "open"]),
        ({2: WANTS, 3: FINISHED, 5: PLANS}, [2, 5, 3, 5], ["open", "open", "open", "open"]),
    ],
    ids=["reached", "each again", "wanted again", "a day in between, late"],
)
async def test_a_goal_stands_as_the_latest_day_told(
    compactor_sql: SqlDatabase, told: dict[int, str], days: list[int], states: list[str]
) -> None:
    insights = SqlInsights(compactor_sql)
    reflection = Reflection(Told(told), insights, lambda: NOW)
    found = []
    for day in days:
        await reflection.reflect(TENANT, AGENT, end(day))
        found.append((await goal(insights)).state.value)
    assert found == states


async def test_an_earlier_day_again_changes_nothing(compactor_sql: SqlDatabase) -> None:
    insights = SqlInsights(compactor_sql)
    reflection = Reflection(Told({2: WANTS, 3: FINISHED}), insights, lambda: NOW)
    for day in (2, 3):
        await reflection.reflect(TENANT, AGENT, end(day))
    before = await goal(insights)
    assert (before.state_day, before.source_ids) == ("2031-05-03", ("m2", "m3"))
    await reflection.reflect(TENANT, AGENT, end(2))
    assert await goal(insights) == before


async def test_a_stale_goal_is_derived_in_the_order_of_the_days(compactor_sql: SqlDatabase) -> None:
    """J-17: what was wanted again after it was reached is open; an earlier day again does not close it."""
    insights = SqlInsights(compactor_sql)
    days = Told({2: WANTS, 3: FINISHED, 5: PLANS})
    reflection = Reflection(days, insights, lambda: NOW)
    for day in (2, 3, 5):
        await reflection.reflect(TENANT, AGENT, end(day))
    for state, changed in ((GoalState.OPEN, "m2"), (GoalState.ACHIEVED, "m5")):
        await insights.mark_stale(TENANT, AGENT, [changed])
        await reflection.reflect_again(TENANT, AGENT, end(2))
        assert (await goal(insights)).state is state
        await reflection.reflect(TENANT, AGENT, end(3))
        assert (await goal(insights)).state is state
        days.told.pop(5, None)


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
async def test_goals_closed_before_days_were_kept_are_not_opened_by_earlier_ones(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    closed = NOW - timedelta(days=2)

    async def fill(database: SqlDatabase) -> None:
        await database.write(
            lambda: execute(
                "INSERT INTO insights (tenant, agent_id, insight_id, kind, contact_id, slug, topic, text,"
                " state, day, provenance, sources, memory_id, kept, revision, created, updated)"
                " VALUES (?, ?, 'i', 'goal', '', 'run-oslo-marathon', 't', ?, 'achieved', '2031-05-02', '[]',"
                " '[]', '', FALSE, 2, ?, ?)",
                TENANT,
                AGENT,
                WANTS,
                to_micros(closed),
                to_micros(closed),
            )
        )

    async def look(database: SqlDatabase) -> None:
        insights = SqlInsights(database)
        assert (await goal(insights)).state_day == "2031-05-07"
        reflection = Reflection(Told({6: WANTS, 8: PLANS}), insights, lambda: NOW)
        await reflection.reflect(TENANT, AGENT, end(6))
        assert (await goal(insights)).state is GoalState.ACHIEVED
        await reflection.reflect(TENANT, AGENT, end(8))
        assert (await goal(insights)).state is GoalState.OPEN

    await upgraded(engine, tmp_path, request, "0110_goal_state_day.sql", fill, look)
