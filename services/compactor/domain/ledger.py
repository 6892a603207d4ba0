"""Jobs, their states, and the one table of how they may change (SPEC J-1, J-2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final


class JobState(StrEnum):
    """Where a job is in its life."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    DEAD = "dead"
    CANCELLED = "cancelled"


class Event(StrEnum):
    """What may happen to a job."""

    CLAIM = "claim"
    """A worker takes it, or takes it over after its lease ended."""
    SUCCEED = "succeed"
    """Its attempt did the work."""
    FAIL = "fail"
    """Its attempt failed, and another follows after a pause."""
    DEFER = "defer"
    """Something the work needs was down: another attempt follows, this one does not count."""
    GIVE_UP = "give_up"
    """Its last attempt failed, or no attempt can ever succeed."""
    RELEASE = "release"
    """Its worker stops and gives it back; the attempt does not count."""
    FREE = "free"
    """Its worker's process died and is back: the attempt counts."""
    LOSE = "lose"
    """Its last attempt ended without a word."""
    CANCEL = "cancel"
    """Somebody does not want it any more."""
    RETRY = "retry"
    """Somebody wants it again, with all its attempts."""


_Q, _R, _S, _F, _D, _C = JobState
TRANSITIONS: Final[Mapping[Event, Mapping[JobState, JobState]]] = {
    Event.CLAIM: {_Q: _R, _F: _R, _R: _R},
    Event.SUCCEED: {_R: _S},
    Event.FAIL: {_R: _F},
    Event.DEFER: {_R: _F},
    Event.GIVE_UP: {_R: _D},
    Event.RELEASE: {_R: _Q},
    Event.FREE: {_R: _Q},
    Event.LOSE: {_R: _D},
    Event.CANCEL: {_Q: _C, _R: _C, _F: _C, _C: _C},
    Event.RETRY: {_F: _Q, _D: _Q, _C: _Q},
}
"""What each event makes of each state; what is missing is refused."""

WAITING: Final = frozenset({JobState.QUEUED, JobState.FAILED})
ACTIVE: Final = WAITING | {JobState.RUNNING}
FINAL: Final = frozenset(JobState) - ACTIVE
VERDICTS: Final = frozenset({Event.SUCCEED, Event.FAIL, Event.DEFER, Event.GIVE_UP})
UNCOUNTED: Final = frozenset({Event.DEFER, Event.RELEASE})

LOST_ERROR: Final = "INTERNAL: the worker was lost during the last attempt"
WAITED_FOR: Final = frozenset({"index_memory", "index_message"})
"""Types whose ends callers wait for (S-16): within a tenant their groups come first."""
STEPS_BEHIND: Final = 64
"""How many steps of the tenant the others stay behind those; then it is their turn all the same."""
LONG: Final = frozenset(
    {"cover_messages", "fold_overlays", "refresh_summary", "summarize_conversation", "verify_memory"}
)
"""Types each job of which may take seconds: many in one claim would keep those that callers wait for away."""
MOST_LONG: Final = 8
"""Jobs of such a type in a claim."""
SUSPECT_AFTER: Final = 2
"""A job in this many calls that ended without a verdict on it is claimed alone from then on (J-3)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Jobs that one call of a handler may take together."""

    tenant: str
    agent_id: str
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJob:
    """A job to be enqueued; `payload` is JSON, `key` its idempotency key, unique in the tenant."""

    type: str
    agent_id: str
    subject: str
    key: str
    payload: bytes = b"{}"
    not_before: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job as it stands.

    `attempt` counts the attempts that were started and count; `fence` counts all claims ever made and is
    what conditional updates compare, because it never goes back. `due` is when a worker may take it: not
    before its time while it waits, the end of its lease while it runs, None in a final state. `suspicion`
    counts calls that ended without a verdict on it, `deferred` is when the last such refusal was.
    """

    id: str
    tenant: str
    agent_id: str
    type: str
    subject: str
    key: str
    payload: bytes
    state: JobState
    attempt: int = 0
    max_attempts: int
    fence: int = 0
    suspicion: int = 0
    progress: float = 0.0
    error: str = ""
    result_ids: tuple[str, ...] = ()
    engine: str = ""
    owner: str = ""
    created: datetime
    updated: datetime
    finished: datetime | None = None
    due: datetime | None
    deferred: datetime | None = None
    revision: int

    @property
    def group(self) -> Group:
        """The jobs that it may be done with."""
        return Group(tenant=self.tenant, agent_id=self.agent_id, type=self.type)

    @property
    def not_before(self) -> datetime | None:
        """When its next attempt may start; None unless it waits."""
        return self.due if self.state in WAITING else None

    @property
    def lease_end(self) -> datetime | None:
        """When its lease ends; None unless it runs."""
        return self.due if self.state is JobState.RUNNING else None

    @property
    def last_attempt(self) -> bool:
        """Whether no attempt is left after the present one."""
        return self.attempt >= self.max_attempts


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """The verdict on one attempt; applied only if the job still runs under the same fence.

    `event` is one of VERDICTS. `not_before` is needed for FAIL and DEFER; a DEFER also keeps the whole
    group from being claimed before it. `refused` says that a dependency was down; a DEFER always is.
    """

    job_id: str
    tenant: str
    fence: int
    event: Event
    error: str = ""
    not_before: datetime | None = None
    refused: bool = False
    result_ids: tuple[str, ...] = ()
    engine: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """Exponential backoff with full jitter: uniform between 0 and min(cap, base × 2^(n − 1)).

    Source: Marc Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
    `random` gives numbers in [0, 1).
    """

    base: timedelta
    cap: timedelta
    random: Callable[[], float]

    def pause(self, failures: int) -> timedelta:
        """How long to wait after the n-th failure in a row (n from 1)."""
        return self.longest(failures) * self.random()

    def longest(self, failures: int) -> timedelta:
        """The upper end of that wait."""
        doublings = min(max(failures, 1) - 1, 32)  # beyond, the cap rules and the number would only grow
        return min(self.cap, self.base * (1 << doublings))


def target(event: Event, state: JobState) -> JobState | None:
    """The state after `event`; None where it is refused."""
    return TRANSITIONS[event].get(state)


def sources(event: Event) -> frozenset[JobState]:
    """The states in which `event` is allowed."""
    return frozenset(TRANSITIONS[event])


def succeeded(job: Job, result_ids: tuple[str, ...] = (), engine: str = "") -> Settlement:
    """The work is done; `engine` names what did it, where there is a choice (J-16)."""
    return Settlement(
        job_id=job.id,
        tenant=job.tenant,
        fence=job.fence,
        event=Event.SUCCEED,
        result_ids=result_ids,
        engine=engine,
    )


def failed(job: Job, error: str, now: datetime, backoff: Backoff, *, refused: bool = False) -> Settlement:
    """The attempt failed: another after a pause, or none if this was the last."""
    verdict = given_up(job, error)
    if job.last_attempt:
        return verdict
    return replace(verdict, event=Event.FAIL, not_before=now + backoff.pause(job.attempt), refused=refused)


def given_up(job: Job, error: str) -> Settlement:
    """No further attempt makes sense."""
    return Settlement(job_id=job.id, tenant=job.tenant, fence=job.fence, event=Event.GIVE_UP, error=error)


def deferred(job: Job, error: str, until: datetime) -> Settlement:
    """The attempt does not count; neither this job nor its group is tried before `until`."""
    return replace(given_up(job, error), event=Event.DEFER, not_before=until, refused=True)


def turn_after(type_: str, step: int) -> int:
    """The turn of a group that was served in this step: of a tenant's, the one with the least is the next."""
    return step if type_ in WAITED_FOR else step + STEPS_BEHIND


def most_at_once(type_: str, limit: int) -> int:
    """How many jobs of a type a claim takes where it may take `limit`."""
    return min(limit, MOST_LONG) if type_ in LONG else limit


def refusal_counts(job: Job, *, alone: bool, last_success: datetime | None, patience: int) -> bool:
    """Whether "a dependency is down" is held against this job.

    Never unless the job was alone in its call. Then it is when, since its previous refusal, another job of
    its type got through: it is this job that brings the dependency down. It also is after `patience`
    refusals. Otherwise an outage is assumed, however long.
    """
    if not alone:
        return False
    if job.suspicion >= patience:
        return True
    return job.deferred is not None and last_success is not None and last_success > job.deferred
