"""Jobs of the type "update_attractor": an agent's attractor follows its summaries (SPEC J-12)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from services.compactor.adapters.acting import as_service
from services.compactor.app.attractors import UPDATE_ATTRACTOR, Attractors, Result, Updated
from services.compactor.app.calls import describe
from services.compactor.app.jobs import Jobs
from services.compactor.app.ports import Done, Failed, Outcome, Reach
from services.compactor.domain import payloads
from services.compactor.domain.ledger import Job, NewJob
from services.compactor.domain.progress import POSTPONED
from services.kit.errors import DataFlowRefused, DependencyDown, Overloaded, PalimpsestError

REST = f"{POSTPONED}rest"
"""The second result of an update that left some."""


class AttractorHandler:
    """Does all jobs of a call by one update: each of them asks for the same."""

    def __init__(self, attractors: Attractors) -> None:
        self._attractors = attractors

    async def run(self, tenant: str, agent_id: str, jobs: Sequence[Job]) -> Sequence[Outcome]:
        """See Handler. The result of a job says what was done: "attractor/{version}", "unchanged/{version}",
        "no_summaries", or "postponed/{job}", which names the job that will do it. A second one says
        "postponed/rest" where the next job does what an update left."""
        with as_service(tenant, agent_id):
            outcome = await self._do(tenant, agent_id, jobs)
        return [outcome] * len(jobs)

    async def _do(self, tenant: str, agent_id: str, jobs: Sequence[Job]) -> Outcome:
        due = not all(tells_of_summary(job.payload) for job in jobs)
        work = self._attractors.update if due else self._attractors.follow
        try:
            return Done(result_ids=said(await work(tenant, agent_id)))
        except (DependencyDown, Overloaded):
            raise
        except DataFlowRefused as error:
            return Failed(error=describe(error), hopeless=True)  # a later summary asks again
        except PalimpsestError as error:
            return Failed(error=describe(error))


def tells_of_summary(payload: bytes) -> bool:
    """Whether a job says that a summary changed, {"conversation_id"}, which may wait; others are due."""
    return "conversation_id" in payloads.said(payload)


def said(updated: Updated) -> tuple[str, ...]:
    """A job's results."""
    match updated.result:
        case Result.WRITTEN:
            written = f"attractor/{updated.version}"
            return (written, REST) if updated.left else (written,)
        case Result.POSTPONED:
            return (f"{POSTPONED}{updated.job_id}",)
        case Result.UNCHANGED:
            return (f"{updated.result}/{updated.version}",)
        case Result.NO_SUMMARIES:
            return (updated.result.value,)


class JobsLater:
    """Asks for an update by a job of its own that is due at a moment."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs

    async def __call__(self, tenant: str, agent_id: str, key: str, not_before: datetime) -> str:
        """See Later."""
        job = NewJob(
            type=UPDATE_ATTRACTOR,
            agent_id=agent_id,
            subject=agent_id,
            key=key,
            payload=b'{"due":true}',
            not_before=not_before,
        )
        return (await self._jobs.enqueue(Reach(tenant=tenant, agents=frozenset({agent_id})), [job]))[0]
