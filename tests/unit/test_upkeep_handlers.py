"""Selectors, and the jobs of one agent that they ask for (SPEC J-3, J-10, J-11, J-15)."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any, cast

import pytest
from palimpsest.semantic.v1 import upkeep_pb2

from services.compactor.adapters.upkeep_calls import SemanticUpkeep
from services.compactor.adapters.upkeep_handlers import (
    CONSOLIDATE_AGENT,
    PAGES_AT_ONCE,
    ConsolidateHandler,
    DriftHandler,
    FanOut,
    ReflectHandler,
)
from services.compactor.app.consolidation import Consolidation
from services.compactor.app.jobs import Jobs
from services.compactor.app.ports import Done, Query, Reach
from services.compactor.app.reflection import Reflection
from services.compactor.app.wake import LocalWake
from services.compactor.domain.consolidation import Run
from services.compactor.domain.ledger import Job, JobState
from services.compactor.domain.schedules import ALL_AGENTS, SYSTEM_TENANT
from services.kit.context import current_principal
from services.kit.errors import DependencyDown
from services.kit.identity import Role
from tests.memory_ledger import MemoryLedger

NOW = datetime(2031, 5, 4, 3, tzinfo=UTC)


def job(id_: str = "j1", tenant: str = SYSTEM_TENANT, payload: bytes = b"{}") -> Job:
    return Job(
        id=id_,
        tenant=tenant,
        agent_id=ALL_AGENTS,
        type="t",
        subject="s",
        key="k",
        payload=payload,
        state=JobState.RUNNING,
        max_attempts=5,
        created=NOW,
        updated=NOW,
        due=None,
        revision=1,
    )


class Stub:
    """UpkeepService, which notes who calls."""

    def __init__(self) -> None:
        self.agents = [("acme", "ada"), ("acme", "bea"), ("other", "ada")]
        self.callers: list[tuple[str, Role, frozenset[str] | None]] = []
        self.down_after = 99
        self.requests: list[str] = []

    def _note(self) -> None:
        caller = current_principal()
        self.callers.append((caller.tenant, caller.role, caller.agents))
        if len(self.callers) > self.down_after:
            raise DependencyDown

    async def ListActiveAgents(
        self, request: upkeep_pb2.ListActiveAgentsRequest
    ) -> upkeep_pb2.ListActiveAgentsResponse:
        """Two a page."""
        self._note()
        start = int(request.page_token or 0)
        page = self.agents[start : start + 2]
        return upkeep_pb2.ListActiveAgentsResponse(
            agents=[upkeep_pb2.ActiveAgent(tenant=tenant, agent_id=agent) for tenant, agent in page],
            next_page_token=str(start + 2) if start + 2 < len(self.agents) else "",
        )

    async def CheckDrift(self, request: upkeep_pb2.CheckDriftRequest) -> upkeep_pb2.CheckDriftResponse:
        self._note()
        self.requests.append(request.request_id)
        return upkeep_pb2.CheckDriftResponse(lost_messages=len(request.agent_id))


def fan_out(stub: Stub, ledger: MemoryLedger) -> FanOut:
    jobs = Jobs(ledger, LocalWake(), lambda: NOW, max_attempts=5)
    return FanOut(jobs, SemanticUpkeep(cast("Any", stub)).agents, CONSOLIDATE_AGENT)


async def asked(ledger: MemoryLedger, tenant: str) -> list[Job]:
    return sorted(
        await ledger.page(Query(reach=Reach(tenant=tenant)), None, 99), key=lambda one: one.agent_id
    )


async def test_a_selector_asks_for_one_job_of_each_agent() -> None:
    """J-3: of every tenant, each under its own."""
    stub, ledger = Stub(), MemoryLedger()
    assert await fan_out(stub, ledger).run(SYSTEM_TENANT, ALL_AGENTS, [job()]) == [Done()]
    ours = await asked(ledger, "acme")
    assert [(one.agent_id, one.type, one.key) for one in ours] == [
        ("ada", CONSOLIDATE_AGENT, f"{CONSOLIDATE_AGENT}/ada/j1"),
        ("bea", CONSOLIDATE_AGENT, f"{CONSOLIDATE_AGENT}/bea/j1"),
    ]
    assert json.loads(ours[0].payload) == {"day": NOW.isoformat()}
    assert [one.agent_id for one in await asked(ledger, "other")] == ["ada"]
    assert await asked(ledger, SYSTEM_TENANT) == []
    assert set(stub.callers) == {(SYSTEM_TENANT, Role.SERVICE, None)}


async def test_a_selector_that_runs_again_asks_for_nothing_more() -> None:
    stub, ledger = Stub(), MemoryLedger()
    stub.down_after = 1
    with pytest.raises(DependencyDown):
        await fan_out(stub, ledger).run(SYSTEM_TENANT, ALL_AGENTS, [job()])
    assert len(await asked(ledger, "acme")) == 2
    stub.down_after = 99
    await fan_out(stub, ledger).run(SYSTEM_TENANT, ALL_AGENTS, [job()])
    assert len(await asked(ledger, "acme")) == 2
    assert len(await asked(ledger, "other")) == 1
    await fan_out(stub, ledger).run(SYSTEM_TENANT, ALL_AGENTS, [job("j2")])
    assert len(await asked(ledger, "acme")) == 4, "another day's"


async def test_a_selector_takes_a_bounded_number_of_pages_and_leaves_the_rest_to_another() -> None:
    """J-3: a call ends in time however many agents there are; none is left out, none is asked for twice."""
    stub, ledger = Stub(), MemoryLedger()
    stub.agents = [("acme", f"a{number:02}") for number in range(2 * PAGES_AT_ONCE + 3)]
    selector = fan_out(stub, ledger)
    await selector.run(SYSTEM_TENANT, ALL_AGENTS, [job()])
    assert len(stub.callers) == PAGES_AT_ONCE
    assert len(await asked(ledger, "acme")) == 2 * PAGES_AT_ONCE
    (rest,) = await asked(ledger, SYSTEM_TENANT)
    assert (rest.type, rest.agent_id, rest.subject, rest.key) == ("t", ALL_AGENTS, "s", "t/j1/1")
    await selector.run(SYSTEM_TENANT, ALL_AGENTS, [job()])
    assert await asked(ledger, SYSTEM_TENANT) == [rest], "again asks for the same"
    await selector.run(SYSTEM_TENANT, ALL_AGENTS, [rest])
    assert await asked(ledger, SYSTEM_TENANT) == [rest], "that was the end"
    ours = await asked(ledger, "acme")
    assert [one.key for one in ours] == [f"{CONSOLIDATE_AGENT}/{name}/j1" for _, name in stub.agents]
    assert {one.payload for one in ours} == {json.dumps({"day": NOW.isoformat()}).encode()}


async def test_a_run_has_the_id_of_its_job() -> None:
    class Recorded:
        async def run(self, tenant: str, agent_id: str, *, dry: bool, run_id: str) -> Run:
            assert not dry
            return Run(id=run_id, agent_id=agent_id, dry=dry, created=NOW)

    handler = ConsolidateHandler(cast("Consolidation", Recorded()))
    assert await handler.run("acme", "ada", [job("j7")]) == [Done(result_ids=("j7",))]


class Reflected:
    """Reflections: the ends of the days that were asked for."""

    def __init__(self) -> None:
        self.until: list[datetime] = []
        self.again: list[datetime] = []

    async def reflect(self, tenant: str, agent_id: str, until: datetime) -> list[str]:
        self.until.append(until)
        return ["i1"]

    async def reflect_again(self, tenant: str, agent_id: str, until: datetime) -> list[str]:
        self.again.append(until)
        return ["i1"]


async def reflected(payload: bytes) -> Reflected:
    made = Reflected()
    outcomes = await ReflectHandler(cast("Reflection", made)).run("acme", "ada", [job(payload=payload)])
    assert outcomes == [Done(result_ids=("i1",))]
    return made


DAYS = {
    "asked for by the schedule": ({"day": "2031-05-02T03:00:00+00:00"}, ["2031-05-02"]),
    "somewhere else": ({"day": "2031-05-02T01:00:00+05:00"}, ["2031-05-01"]),
    "by somebody": ({"day": "2031-05-02T15:00:00+00:00", "by_hand": True}, ["2031-05-02", "2031-05-03"]),
    "a day": ({"day": "2031-05-02"}, ["2031-05-03"]),
    "nothing": ({}, ["2031-05-04"]),
    "no text": ({"day": 7}, ["2031-05-04"]),
    "a number that could be a date": ({"day": 20310101}, ["2031-05-04"]),
    "digits": ({"day": "20310101"}, ["2031-05-04"]),
    "a week's day": ({"day": "2031-W18-6"}, ["2031-05-04"]),
    "no day of that month": ({"day": "2031-02-30"}, ["2031-05-04"]),
    "no day": ({"day": "someday"}, ["2031-05-04"]),
    "no object": (["x"], ["2031-05-04"]),
    "the day before was done": (
        {"day": "2031-05-04T03:00:00+00:00", "since": "2031-05-03T03:00:00+00:00"},
        ["2031-05-04"],
    ),
    "days were missed": (
        {"day": "2031-05-05T03:00:00+00:00", "since": "2031-05-02T03:00:00+00:00"},
        ["2031-05-03", "2031-05-04", "2031-05-05"],
    ),
    "missed days, by hand": (
        {"day": "2031-05-04T15:00:00+00:00", "since": "2031-05-02T23:00:00-02:00", "by_hand": True},
        ["2031-05-04", "2031-05-05"],
    ),
    "done after": (
        {"day": "2031-05-04T03:00:00+00:00", "since": "2031-05-09T03:00:00+00:00"},
        ["2031-05-04"],
    ),
    "no moment since": ({"day": "2031-05-04T03:00:00+00:00", "since": 7}, ["2031-05-04"]),
    "a year was missed": (
        {"day": "2031-02-01T03:00:00+00:00", "since": "2030-02-01T03:00:00+00:00"},
        [f"2031-01-{day:02}" for day in range(2, 32)] + ["2031-02-01"],
    ),
    "the last moment": ({"day": "9999-12-31T23:59:59-12:00", "by_hand": True}, ["2031-05-04", "2031-05-05"]),
    "the last day": ({"day": "9999-12-31"}, ["2031-05-05"]),
}
"""What a payload says; when the days end that are reflected upon. The job is made at NOW."""


@pytest.mark.parametrize(("payload", "ends"), DAYS.values(), ids=DAYS)
async def test_days_are_reflected_upon_once_they_are_over(payload: Any, ends: list[str]) -> None:
    """J-11: at 03:00 that before; asked by hand also the one that is under way; or the one that is named."""
    made = await reflected(json.dumps(payload).encode())
    newest_first = [f"{end}T00:00:00+00:00" for end in reversed(ends)]
    assert [until.isoformat() for until in made.until] == newest_first


async def test_a_job_that_somebody_asked_for_says_so() -> None:
    stub, ledger = Stub(), MemoryLedger()
    await fan_out(stub, ledger).run("acme", ALL_AGENTS, [job(tenant="acme")])
    payloads = {one.payload for one in await asked(ledger, "acme") if one.agent_id != ALL_AGENTS}
    assert [json.loads(one) for one in payloads] == [{"day": NOW.isoformat(), "by_hand": True}]


async def test_the_drift_check_is_done_for_the_agent() -> None:
    stub = Stub()
    assert await DriftHandler(SemanticUpkeep(cast("Any", stub))).run("acme", "ada", [job()]) == [Done()]
    assert stub.callers == [("acme", Role.SERVICE, frozenset({"ada"}))]
    await DriftHandler(SemanticUpkeep(cast("Any", stub))).run("acme", "ada", [job("j1"), job("j2")])
    assert stub.requests == ["j1", "j1"], "a retry names the same check"


async def test_a_stale_day_is_reflected_upon_again_and_no_other_row() -> None:
    """J-17."""
    made = await reflected(json.dumps({"day": NOW.isoformat(), "again": True}).encode())
    assert (made.again, made.until) == ([NOW], [])
