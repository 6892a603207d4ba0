"""Schedules over both engines: time tables, one leader, one run for each moment (SPEC J-5, J-10, J-11)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from services.compactor.adapters.cron import CronTables
from services.compactor.adapters.sql.schedules import SqlSchedules
from services.compactor.app.ports import Reach
from services.compactor.app.schedules import Leadership, Schedules
from services.compactor.domain.schedules import ALL_AGENTS, SYSTEM_TENANT, Spec
from services.kit.errors import InvalidField, NotAllowed, NotFound
from services.kit.outbox import OutboxRow, SqlOutbox
from services.kit.sql import SqlDatabase

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
ACME = Reach(tenant="acme")
DAILY = Spec(name="consolidate", job_type="consolidate", cron="0 4 * * *")
SIX_HOURLY = Spec(name="summarize", job_type="summarize_batch", cron="0 */6 * * *")
LEASE = timedelta(seconds=30)
Pair = tuple[SqlDatabase, SqlDatabase]


class Replica:
    """A process that may lead."""

    def __init__(self, database: SqlDatabase, name: str, specs: Sequence[Spec] = (DAILY, SIX_HOURLY)) -> None:
        self.now = NOON
        self.woken = 0
        self.outbox = SqlOutbox(database)
        self.leadership = Leadership(owner=name, lease=LEASE, every=1)
        self.schedules = Schedules(specs, SqlSchedules(database), CronTables(), self._wake, lambda: self.now)

    def _wake(self) -> None:
        self.woken += 1

    async def look(self, now: datetime | None = None) -> int:
        self.now = self.now if now is None else now
        return await self.schedules.look(self.leadership)

    async def asked(self) -> list[OutboxRow]:
        """What was put into the outbox since the last look."""
        rows = await self.outbox.claim(100)
        await self.outbox.settle(rows)
        return rows


@pytest.fixture
async def replicas(compactor_sql_pair: Pair) -> tuple[Replica, Replica]:
    one, two = (
        Replica(database, name) for database, name in zip(compactor_sql_pair, ("one", "two"), strict=True)
    )
    assert await one.look() == 0, "what came before the first start needs no run"
    return one, two


@pytest.fixture
def one(replicas: tuple[Replica, Replica]) -> Replica:
    return replicas[0]


async def test_a_moment_asks_for_one_job_once(one: Replica) -> None:
    assert await one.look(NOON + 6 * HOUR - MINUTE) == 0
    assert await one.look(NOON + 6 * HOUR) == 1
    assert await one.look(NOON + 6 * HOUR + MINUTE) == 0
    (row,) = await one.asked()
    assert (row.tenant, row.job.type, row.job.agent_id) == (SYSTEM_TENANT, "summarize_batch", ALL_AGENTS)
    assert (row.job.key, row.job.payload) == (
        "schedule/summarize/2026-01-01T18:00:00Z",
        {"schedule": "summarize", "moment": (NOON + 6 * HOUR).isoformat(), "before": NOON.isoformat()},
    )
    assert one.woken == 1


async def test_after_a_week_of_silence_each_runs_once(one: Replica) -> None:
    assert await one.look(NOON + 7 * DAY) == 2
    assert await one.look(NOON + 7 * DAY) == 0
    assert sorted(row.job.key for row in await one.asked()) == [
        "schedule/consolidate/2026-01-08T04:00:00Z",
        "schedule/summarize/2026-01-08T12:00:00Z",
    ]


async def test_one_leads_and_another_takes_over_in_time(replicas: tuple[Replica, Replica]) -> None:
    one, two = replicas
    then = NOON + DAY
    assert await one.look(then - timedelta(seconds=1)) == 2
    assert await two.look(then) == 0, "it does not lead"
    assert await two.look(then + LEASE) == 1
    assert await one.look(then + LEASE) == 0, "nor does the former leader now"
    assert await one.look(then + 3 * LEASE) == 0, "each moment was run"


async def test_replicas_at_once_ask_once(replicas: tuple[Replica, Replica]) -> None:
    found = await asyncio.gather(*(one.look(NOON + DAY + n * LEASE) for n in range(4) for one in replicas))
    assert sum(found) == 2
    assert len(await replicas[0].asked()) == 2


async def test_a_clock_that_was_ahead_delays_nothing(replicas: tuple[Replica, Replica]) -> None:
    """Neither the moments that it recorded nor its lease hold once it is right again; keys repeat no run."""
    one, two = replicas
    await one.look(NOON + 365 * DAY)
    await one.asked()
    assert await two.look(NOON + MINUTE) == 0
    assert await two.look(NOON + 6 * HOUR) == 1
    await two.asked()
    await two.look(NOON + 6 * HOUR - MINUTE)
    await two.look(NOON + 6 * HOUR + LEASE)
    assert {row.job.key for row in await two.asked()} <= {"schedule/summarize/2026-01-01T18:00:00Z"}


async def test_a_disabled_one_does_not_run_and_does_not_catch_up(one: Replica) -> None:
    changed = await one.schedules.update(ACME, "summarize", None, False)
    assert (changed.enabled, changed.next_run) == (False, None)
    assert await one.look(NOON + 12 * HOUR) == 0
    changed = await one.schedules.update(ACME, "summarize", None, True)
    assert changed.next_run == NOON + 18 * HOUR
    assert await one.look() == 0
    assert await one.look(NOON + 18 * HOUR) == 2


async def test_a_time_table_is_changed_and_brought_back(one: Replica) -> None:
    changed = await one.schedules.update(ACME, "consolidate", "30 12 * * *", None)
    assert (changed.cron, changed.next_run) == ("30 12 * * *", NOON + 30 * MINUTE)
    assert await one.look(NOON + 30 * MINUTE) == 1
    back = await one.schedules.update(ACME, "consolidate", "", None)
    assert (back.cron, back.last_run) == (DAILY.cron, NOON + 30 * MINUTE)


@pytest.mark.parametrize(
    "cron", ["x", "* * * *", "* * * * * *", "61 * * * *", "0 0 30 2 *", "0 0 31 4,6 *", "@daily", " "]
)
async def test_a_time_table_that_never_comes_is_refused(one: Replica, cron: str) -> None:
    with pytest.raises(InvalidField) as caught:
        await one.schedules.update(ACME, "consolidate", cron, None)
    assert [problem.field for problem in caught.value.fields] == ["schedule.cron"]
    assert (await one.schedules.all())[0].cron == DAILY.cron


async def test_somebody_asks_for_a_run_of_their_own(one: Replica) -> None:
    await one.schedules.update(ACME, "consolidate", None, False)
    keys = [await one.schedules.trigger(ACME, "consolidate", request) for request in ("r", "r", "", "")]
    assert keys[0] == keys[1] == "schedule/consolidate/request/r"
    assert len(set(keys)) == 3
    rows = await one.asked()
    assert {(row.tenant, row.job.key) for row in rows} == {("acme", key) for key in keys}
    assert rows[0].job.payload == {"schedule": "consolidate", "moment": NOON.isoformat()}
    with pytest.raises(NotFound):
        await one.schedules.trigger(ACME, "nothing", "")


async def test_whoever_reaches_some_agents_alone_neither_asks_nor_changes(one: Replica) -> None:
    some = Reach(tenant="acme", agents=frozenset({"a"}))
    with pytest.raises(NotAllowed):
        await one.schedules.trigger(some, "consolidate", "")
    with pytest.raises(NotAllowed):
        await one.schedules.update(some, "consolidate", None, False)
    assert await one.asked() == []
    assert (await one.schedules.all())[0].enabled


async def test_schedules_are_listed_by_name(one: Replica) -> None:
    found = await one.schedules.all()
    assert [(each.spec.name, each.next_run) for each in found] == [
        ("consolidate", NOON + 16 * HOUR),
        ("summarize", NOON + 6 * HOUR),
    ]


def test_the_newest_moment_may_be_now() -> None:
    tables = CronTables()
    for now in (NOON, NOON + timedelta(microseconds=1), NOON + timedelta(seconds=59)):
        assert tables.newest("0 12 * * *", now) == NOON
        assert tables.following("0 12 * * *", now) == NOON + DAY
    assert tables.newest("0 12 * * *", NOON - timedelta(microseconds=1)) == NOON - DAY
