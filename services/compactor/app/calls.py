"""One claimed group through its handler: which jobs are to blame for a call that fails (SPEC J-3).

A call that raises is halved until single jobs remain. A call that says "a dependency is down" is not
halved: its jobs wait, together with their group, and the attempt does not count, except for a job that
`refusal_counts` holds to be the cause.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from services.compactor.app.ports import Done, Handler, Outcome
from services.compactor.domain.ledger import (
    Backoff,
    Group,
    Job,
    Settlement,
    deferred,
    failed,
    given_up,
    refusal_counts,
    succeeded,
)
from services.kit.errors import DependencyDown, Overloaded, PalimpsestError
from services.kit.times import Clock

UNKNOWN_TYPE = "UNKNOWN_METHOD: this version has no worker for this type of job"
HANDLER_FAULT = "INTERNAL: the worker failed"
TOO_SLOW = "DEADLINE: the work took too long"
MAX_ERROR = 500
MAX_STRIKES = 32

Settle = Callable[[Sequence[Settlement]], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The figures of J-2 and J-3."""

    backoff: Backoff
    patience: int
    call_seconds: float
    alone: frozenset[str] = frozenset()
    """Types whose jobs each have a call of their own, as a model may take its time for each (J-16)."""


class Calls:
    """Runs handlers.

    Remembers how often in a row a dependency was down for a group, and when each type last worked: enough
    for pauses and for `refusal_counts`, and no loss when the process ends.
    """

    def __init__(self, handlers: Mapping[str, Handler], rules: Rules, clock: Clock) -> None:
        self._handlers = handlers
        self._rules = rules
        self._clock = clock
        self._strikes: dict[Group, int] = {}
        self._last_success: dict[str, datetime] = {}
        self._log = structlog.get_logger("worker")

    async def run(self, jobs: Sequence[Job], settle: Settle) -> None:
        """Does the jobs of one group and settles each, as soon as its verdict is known."""
        handler = self._handlers.get(jobs[0].type)
        if handler is None:
            self._log.error("job_type_unknown", type=jobs[0].type, jobs=len(jobs))
            await settle([given_up(job, UNKNOWN_TYPE) for job in jobs])
            return
        # A list of calls still to be made; halves of a failed one come next, in order.
        alone = jobs[0].type in self._rules.alone
        calls = [[job] for job in reversed(jobs)] if alone else [list(jobs)]
        while calls:
            batch = calls.pop()
            try:
                outcomes = await self._call(handler, batch)
            except (DependencyDown, Overloaded) as error:
                refused = [*batch, *(job for waiting in calls for job in waiting)]
                await settle(self._refused(refused, error, alone=len(batch) == 1))
                return
            except Exception as error:  # noqa: BLE001 - whatever a handler raises is its jobs' failure
                if len(batch) == 1:
                    await settle([self._blame(batch[0], error)])
                else:
                    middle = len(batch) // 2
                    calls += [batch[middle:], batch[:middle]]
                continue
            self._worked(batch[0].group)
            await settle([self._judge(job, outcome) for job, outcome in zip(batch, outcomes, strict=True)])

    async def _call(self, handler: Handler, batch: Sequence[Job]) -> Sequence[Outcome]:
        async with asyncio.timeout(self._rules.call_seconds):
            outcomes = await handler.run(batch[0].tenant, batch[0].agent_id, batch)
        if len(outcomes) != len(batch):
            raise ValueError("a handler gave another number of outcomes than it had jobs")
        return outcomes

    def _judge(self, job: Job, outcome: Outcome) -> Settlement:
        if isinstance(outcome, Done):
            return succeeded(job, outcome.result_ids, outcome.engine)
        error = outcome.error[:MAX_ERROR]
        if outcome.hopeless:
            return given_up(job, error)
        return failed(job, error, self._clock(), self._rules.backoff)

    def _blame(self, job: Job, error: Exception) -> Settlement:
        self._log.warning(
            "job_failed", type=job.type, job=job.id, attempt=job.attempt, error=type(error).__name__
        )
        return failed(job, describe(error), self._clock(), self._rules.backoff)

    def _refused(self, jobs: Sequence[Job], error: PalimpsestError, *, alone: bool) -> list[Settlement]:
        """Verdicts after a refusal; `alone`: the first was alone in its call, the others weren't tried."""
        now = self._clock()
        counted = {
            job.id
            for place, job in enumerate(jobs)
            if refusal_counts(
                job,
                alone=alone and place == 0,
                last_success=self._last_success.get(job.type),
                patience=self._rules.patience,
            )
        }
        until = now + self._pause(jobs[0].group, error)
        self._log.warning("dependency_down", type=jobs[0].type, jobs=len(jobs), held_against=len(counted))
        return [
            failed(job, describe(error), now, self._rules.backoff, refused=True)
            if job.id in counted
            else deferred(job, describe(error), until)
            for job in jobs
        ]

    def _pause(self, group: Group, error: PalimpsestError) -> timedelta:
        strikes = min(self._strikes.get(group, 0) + 1, MAX_STRIKES)
        self._strikes[group] = strikes
        return max(self._rules.backoff.pause(strikes), timedelta(seconds=error.retry_after or 0))

    def _worked(self, group: Group) -> None:
        self._strikes.pop(group, None)
        self._last_success[group.type] = self._clock()


def describe(error: Exception) -> str:
    """A reason's name and a constant sentence (X-3): never the text of a foreign exception."""
    if isinstance(error, PalimpsestError):
        return f"{error.reason}: {error.message}"[:MAX_ERROR]
    return TOO_SLOW if isinstance(error, TimeoutError) else HANDLER_FAULT
