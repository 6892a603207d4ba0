"""The torture: load, kills, restarts, and a check of everything that was acknowledged."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from services.kit.context import act_as
from services.kit.identity import Principal, Role
from tests.torture.callers import Caller, Crowd, Stubs, make_agent
from tests.torture.checks import check
from tests.torture.episodic import Episodic
from tests.torture.journal import Journal

TENANT = Principal(tenant="acme", role=Role.WRITER, subject="torture")
CALLERS = 6
CROWD = 6
UP_SECONDS = (0.2, 1.5)  # how long the service is left alone
DOWN_SECONDS = (0.0, 0.3)
OUTAGE_SECONDS = (0.3, 1.5)
OUTAGES = 0.4  # share of the blows that hit the store instead of the service
DRAIN_SECONDS = 90.0


class Store(Protocol):
    """A store that can be stopped as if it had crashed."""

    def stop(self) -> None:
        """At once."""

    def start(self) -> None:
        """Returns once it takes connections again."""


@dataclass(slots=True)
class Report:
    """What was done."""

    kills: int = 0
    outages: int = 0
    messages: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    outcomes_in_outages: dict[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        return (
            f"{self.kills} kills, {self.outages} outages of the store, {self.messages} messages;"
            f" calls by outcome: {self.outcomes}; during outages: {self.outcomes_in_outages}"
        )


class Torture:
    """Rounds of load and blows over one store; `crashing` is the store where it can be stopped too."""

    def __init__(self, served: Episodic, seed: int, crashing: Store | None = None) -> None:
        self._served = served
        self._dice = random.Random(seed)
        self._crashing = crashing
        self._journals: list[Journal] = []
        self._crowds: list[Crowd] = []
        self.report = Report()

    async def run(self, rounds: int, blows: int, *, until: float = float("inf")) -> Report:
        """At most `rounds` rounds of `blows` blows each, none begun after `until` on the monotonic clock.

        Raises AssertionError when something acknowledged is not as it was told.
        """
        self._served.start()
        await self._served.until_ready()
        with act_as(TENANT):
            async with self._served.channel() as channel:
                stubs = Stubs(channel)
                await make_agent(stubs)
                for number in range(rounds):
                    if time.monotonic() > until:
                        break
                    await self._round(stubs, number, blows)
                self.report.outcomes = dict(stubs.outcomes)
        return self.report

    async def check_again(self) -> None:
        """Starts the service and checks everything once more."""
        self._served.start()
        await self._served.until_ready()
        with act_as(TENANT):
            async with self._served.channel() as channel:
                await check(Stubs(channel), self._served, self._journals, self._crowds)

    def stop(self) -> None:
        """Ends the service."""
        self._served.stop()

    async def _round(self, stubs: Stubs, number: int, blows: int) -> None:
        callers = [
            Caller(stubs, f"c{number}.{one}", random.Random(self._dice.random())) for one in range(CALLERS)
        ]
        crowd = Crowd(stubs, f"crowd{number}", CROWD)
        self._journals += [caller.journal for caller in callers]
        self._crowds.append(crowd)
        stop = asyncio.Event()
        load = asyncio.gather(crowd.run(stop), *(caller.run(stop) for caller in callers))
        try:
            for _ in range(blows):
                await self._apart(load, self._dice.uniform(*UP_SECONDS))
                await self._blow(stubs, load)
            await self._apart(load, self._dice.uniform(*UP_SECONDS))
            stop.set()
            async with asyncio.timeout(DRAIN_SECONDS):
                await load
        finally:
            load.cancel()
            await asyncio.gather(load, return_exceptions=True)
        await check(stubs, self._served, self._journals, self._crowds)
        self.report.messages = sum(len(journal.messages) for journal in self._journals)
        self.report.messages += sum(len(one.told) for one in self._crowds)

    async def _apart(self, load: asyncio.Future[Any], seconds: float) -> None:
        """Lets the load go on for a while; raises what it raised."""
        await asyncio.wait([load], timeout=seconds)
        if load.done():
            await load

    async def _blow(self, stubs: Stubs, load: asyncio.Future[Any]) -> None:
        if self._crashing is not None and self._dice.random() < OUTAGES:
            await self._outage(stubs, load, self._crashing)
            return
        self._served.kill()
        self.report.kills += 1
        await asyncio.sleep(self._dice.uniform(*DOWN_SECONDS))
        self._served.start()
        await self._served.until_ready()

    async def _outage(self, stubs: Stubs, load: asyncio.Future[Any], store: Store) -> None:
        """The store is gone for a while; the service is not touched, and goes on when the store is back."""
        pid = self._served.pid
        before = stubs.outcomes.copy()
        await asyncio.to_thread(store.stop)
        self.report.outages += 1
        await self._apart(load, self._dice.uniform(*OUTAGE_SECONDS))
        await asyncio.to_thread(store.start)
        during = stubs.outcomes - before
        for name, count in during.items():
            self.report.outcomes_in_outages[name] = self.report.outcomes_in_outages.get(name, 0) + count
        assert during["DEPENDENCY_DOWN"] > 0, "callers did not notice that the store was gone"
        answered = stubs.outcomes["OK"]
        await _until(lambda: _later(stubs, answered), load)
        assert self._served.pid == pid


async def _later(stubs: Stubs, answered: int) -> bool:
    return stubs.outcomes["OK"] > answered


async def _until(condition: Callable[[], Awaitable[bool]], load: asyncio.Future[Any]) -> None:
    async with asyncio.timeout(DRAIN_SECONDS):
        while not await condition():
            if load.done():
                await load
            await asyncio.sleep(0.05)
