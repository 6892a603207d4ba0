"""Between protos and the domain's types."""

from __future__ import annotations

from collections.abc import Sequence

from palimpsest.common.v1 import jobs_pb2
from palimpsest.compactor.v1 import compactor_pb2
from palimpsest.derived.v1 import derived_pb2

from services.compactor.app.ports import Counts, Query, Reach
from services.compactor.domain.ledger import Job, JobState, NewJob
from services.compactor.domain.progress import Derived
from services.compactor.domain.schedules import Schedule
from services.kit.errors import InvalidField
from services.kit.identity import Principal
from services.kit.times import from_timestamp, to_timestamp

DEFAULT_INTERVAL_SECONDS = 0.2
NO_ARGUMENTS = b"{}"

_STATES = {state: jobs_pb2.JobState.Value(f"JOB_STATE_{state.name}") for state in JobState}
_STATES_BACK = {number: state for state, number in _STATES.items()}


def reach_of(principal: Principal) -> Reach:
    """What the caller may see."""
    return Reach(tenant=principal.tenant, agents=principal.agents)


def query_of(principal: Principal, chosen: compactor_pb2.JobFilter) -> Query:
    """The filter, within the caller's reach."""
    reach = reach_of(principal)
    if chosen.agent_id:
        # The interceptor has refused agents out of reach; were one to slip through, nothing would match.
        agents = frozenset({chosen.agent_id} if principal.may_use(chosen.agent_id) else ())
        reach = Reach(tenant=principal.tenant, agents=agents)
    return Query(
        reach=reach,
        states=frozenset(_STATES_BACK[number] for number in chosen.states),
        types=frozenset(chosen.types),
    )


def new_jobs(request: compactor_pb2.EnqueueRequest) -> list[NewJob]:
    """Raises InvalidField for a time that is none."""
    return [_new_job(place, job) for place, job in enumerate(request.jobs)]


def _new_job(place: int, job: compactor_pb2.NewJob) -> NewJob:
    not_before = None
    if job.HasField("not_before_time"):
        try:
            not_before = from_timestamp(job.not_before_time)
        except ValueError as error:
            raise InvalidField(f"jobs[{place}].not_before_time", "outside the years 1 to 9999") from error
    return NewJob(
        type=job.type,
        agent_id=job.agent_id,
        subject=job.subject,
        key=job.idempotency_key,
        payload=job.payload or NO_ARGUMENTS,
        not_before=not_before,
    )


def job_message(job: Job) -> jobs_pb2.Job:
    """A job as callers see it."""
    return jobs_pb2.Job(
        id=job.id,
        type=job.type,
        agent_id=job.agent_id,
        subject=job.subject,
        state=_STATES[job.state],
        attempt=job.attempt,
        max_attempts=job.max_attempts,
        progress=job.progress,
        error=job.error,
        create_time=to_timestamp(job.created),
        update_time=to_timestamp(job.updated),
        finish_time=to_timestamp(job.finished),
        not_before_time=to_timestamp(job.not_before),
        lease_expire_time=to_timestamp(job.lease_end),
        result_ids=job.result_ids,
        revision=job.revision,
        engine=job.engine,
    )


def keyed_jobs(jobs: Sequence[Job]) -> list[compactor_pb2.KeyedJob]:
    """Jobs under their keys."""
    return [compactor_pb2.KeyedJob(idempotency_key=job.key, job=job_message(job)) for job in jobs]


def counts_message(counts: Counts) -> jobs_pb2.JobCounts:
    """Counts by state."""
    return jobs_pb2.JobCounts(**{state.value: counts[state] for state in JobState})


def progress_message(derived: Derived) -> derived_pb2.DerivedProgress:
    """How far one kind of work is done."""
    return derived_pb2.DerivedProgress(
        conversation_id=derived.conversation_id,
        kind=derived.kind,
        up_to_sequence=derived.upto,
        waiting_count=derived.waiting,
        dead_count=derived.dead,
        dead_job_id=derived.dead_job_id,
    )


def schedule_message(schedule: Schedule) -> derived_pb2.Schedule:
    """A schedule as callers see it."""
    return derived_pb2.Schedule(
        name=schedule.spec.name,
        job_type=schedule.spec.job_type,
        cron=schedule.cron,
        enabled=schedule.enabled,
        last_run_time=to_timestamp(schedule.last_run),
        next_run_time=to_timestamp(schedule.next_run),
    )


def schedule_changes(request: derived_pb2.UpdateScheduleRequest) -> tuple[str | None, bool | None]:
    """The new time table and whether it is enabled, None for what stays. Raises InvalidField."""
    paths = set(request.update_mask.paths)
    if not paths or paths - {"cron", "enabled"}:
        raise InvalidField("update_mask", 'names "cron", "enabled" or both')
    return (
        request.schedule.cron if "cron" in paths else None,
        request.schedule.enabled if "enabled" in paths else None,
    )


def interval_of(request: compactor_pb2.WatchJobsRequest) -> float:
    """Seconds between updates."""
    if not request.HasField("interval"):
        return DEFAULT_INTERVAL_SECONDS
    return request.interval.ToNanoseconds() / 1e9
