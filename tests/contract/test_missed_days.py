"""Every day is reflected upon once, though nothing ran at its end (SPEC J-5, J-11)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from services.compactor.adapters.upkeep_handlers import PAGES_AT_ONCE, FanOut, ReflectHandler
from services.compactor.app.ports import Reach
from services.compactor.domain.ledger import Job, JobState, NewJob
from services.compactor.domain.schedules import SYSTEM_TENANT, Spec
from services.kit.outbox import OutboxRow
from services.kit.sql import SqlDatabase
from tests.contract.test_schedules import Replica

REFLECT = Spec(name="reflect", job_type="reflect", cron="0 3 * * *")


def at(day: int, hour: int, minute: int = 0) -> datetime:
    return datetime(2031, 5, day, hour, minute, tzinfo=UTC)


def made(new: NewJob, tenant: str, created: datetime) -> Job:
    return Job(
        id=new.key,
        tenant=tenant,
        agent_id=new.agent_id,
        type=new.type,
        subject=new.subject,
        key=new.key,
        payload=new.payload,
        state=JobState.RUNNING,
        max_attempts=5,
        created=created,
        updated=created,
        due=None,
        revision=1,
    )


class Selected:
    """Jobs that selectors asked for."""

    def __init__(self, pages: int = 1) -> None:
        self.agents: list[NewJob] = []
        self.following: list[NewJob] = []
        self.pages = pages

    async def enqueue(self, reach: Reach, new: Sequence[NewJob]) -> list[str]:
        kept = self.following if reach.tenant == SYSTEM_TENANT else self.agents
        kept += new
        return [one.key for one in new]

    async def page(self, tenant: str, token: str) -> tuple[list[tuple[str, str]], str]:
        number = int(token or 0)
        return [("acme", f"ada{number}")], str(number + 1) if number + 1 < self.pages else ""

    def selector(self) -> FanOut:
        return FanOut(cast("Any", self), self.page, "reflect_agent")


class Reflected:
    """The days that were reflected upon."""

    def __init__(self) -> None:
        self.days: list[str] = []

    async def reflect(self, tenant: str, agent_id: str, until: datetime) -> list[str]:
        self.days.append((until - timedelta(days=1)).date().isoformat())
        return []


async def days_of(rows: Sequence[OutboxRow], created: datetime) -> list[str]:
    """What is reflected upon for these rows, whose jobs are made at a moment."""
    reflected = Reflected()
    for row in rows:
        selected = Selected()
        new = NewJob(
            type=row.job.type,
            agent_id=row.job.agent_id,
            subject=row.job.subject,
            key=row.job.key,
            payload=json.dumps(dict(row.job.payload)).encode(),
        )
        await selected.selector().run(row.tenant, "*", [made(new, row.tenant, created)])
        jobs = [made(one, "acme", created) for one in selected.agents]
        await ReflectHandler(cast("Any", reflected)).run("acme", "ada0", jobs)
    return reflected.days


@pytest.mark.parametrize(
    ("looks", "days"),
    [
        ([at(2, 3), at(3, 3)], [1, 2]),
        ([at(2, 3), at(5, 9), at(6, 3)], [1, 4, 3, 2, 5]),
        ([at(5, 9), at(6, 3)], [4, 3, 2, 1, 5]),
    ],
    ids=["running", "stopped from Friday to Monday", "stopped at once"],
)
async def test_each_day_is_reflected_upon_once(
    compactor_sql: SqlDatabase, looks: list[datetime], days: list[int]
) -> None:
    """The first start is on 1 May at 10:00; of missed days the newest comes first."""
    replica = Replica(compactor_sql, "one", [REFLECT])
    await replica.look(at(1, 10))
    found = []
    for moment in looks:
        assert await replica.look(moment) == 1
        found += await days_of(await replica.asked(), moment)
    assert found == [f"2031-05-0{day}" for day in days]


async def test_a_job_that_is_made_late_is_for_the_moment_that_asked(compactor_sql: SqlDatabase) -> None:
    replica = Replica(compactor_sql, "one", [REFLECT])
    await replica.look(at(2, 10))
    found = []
    for moment, created in ((at(3, 3), at(4, 0, 10)), (at(4, 3), at(4, 3))):
        await replica.look(moment)
        found += await days_of(await replica.asked(), created)
    assert found == ["2031-05-02", "2031-05-03"]


async def test_what_somebody_asked_for_is_of_the_moment_of_asking(compactor_sql: SqlDatabase) -> None:
    replica = Replica(compactor_sql, "one", [REFLECT])
    await replica.look(at(2, 10))
    replica.now = at(3, 23, 59)
    await replica.schedules.trigger(Reach(tenant="acme"), "reflect", "")
    assert await days_of(await replica.asked(), at(4, 0, 10)) == ["2031-05-03", "2031-05-02"]


@pytest.mark.parametrize(
    ("before", "since"),
    [(at(4, 3), {}), (at(2, 3), {"since": at(2, 3).isoformat()})],
    ids=["none was missed", "days were missed"],
)
async def test_a_selector_hands_on_what_was_missed(before: datetime, since: dict[str, str]) -> None:
    """To all agents; where nothing was, its successor's payload is as earlier versions know it."""
    payload = {"schedule": "reflect", "moment": at(5, 3).isoformat(), "before": before.isoformat()}
    selected = Selected(pages=PAGES_AT_ONCE + 1)
    new = NewJob(type="reflect", agent_id="*", subject="s", key="k", payload=json.dumps(payload).encode())
    await selected.selector().run(SYSTEM_TENANT, "*", [made(new, SYSTEM_TENANT, at(6, 1))])
    (following,) = selected.following
    place = {"root": "k", "day": at(5, 3).isoformat(), "number": 1, "token": str(PAGES_AT_ONCE)}
    assert json.loads(following.payload) == place | since
    await selected.selector().run(SYSTEM_TENANT, "*", [made(following, SYSTEM_TENANT, at(6, 2))])
    assert len(selected.agents) == PAGES_AT_ONCE + 1
    payloads = [json.loads(one.payload) for one in selected.agents]
    assert payloads == [{"day": at(5, 3).isoformat()} | since] * len(payloads)
