"""What the use cases need from the outside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from services.compactor.domain.ledger import Job, JobState, NewJob, Settlement
from services.compactor.domain.progress import Derived

Counts = Mapping[JobState, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """Whose jobs a caller may see: one tenant's, of all its agents (None) or of some."""

    tenant: str
    agents: frozenset[str] | None = None

    def holds(self, job: Job) -> bool:
        """Whether this job is within reach."""
        return job.tenant == self.tenant and (self.agents is None or job.agent_id in self.agents)


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """Which jobs; an empty set of states or types means any."""

    reach: Reach
    states: frozenset[JobState] = frozenset()
    types: frozenset[str] = frozenset()

    def takes(self, job: Job) -> bool:
        """Whether this job is meant."""
        return (
            self.reach.holds(job)
            and (not self.states or job.state in self.states)
            and (not self.types or job.type in self.types)
        )


@dataclass(frozen=True, slots=True, order=True)
class Cursor:
    """A place in the order of changes: (revision, place within the revision)."""

    revision: int = 0
    place: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """Jobs that changed after a cursor, in order of change, each as it is now.

    `complete` says that nothing was left out; `counts` are those of `Ledger.counts` at the same moment.
    """

    jobs: Sequence[Job]
    cursor: Cursor
    complete: bool
    counts: Counts


class Ledger(Protocol):
    """The queue of derived work. Every method is one atomic step (a claim: one for each tenant that it looks
    at in vain, and one that takes); time is always passed in. Steps of a tenant come one after the other.

    Methods that name jobs of a claim (`heartbeat`, `settle`, `release`) act only on those that still run
    under the claim's fence, and ignore the others: a worker whose claim was taken over, or whose job was
    cancelled, changes nothing. All may raise DependencyDown.
    """

    async def enqueue(
        self, tenant: str, jobs: Sequence[NewJob], max_attempts: int, now: datetime
    ) -> list[str]:
        """Ids in the order of `jobs`; a known key gives the id of its job, which stays as it is. Durable."""

    async def claim(
        self, owner: str, limit: int, lease: timedelta, now: datetime, *, but: frozenset[str] = frozenset()
    ) -> list[Job]:
        """Takes up to `limit` due jobs of one group until now + lease, fewer of a type whose jobs are LONG;
        none when nothing is due. Groups of the types `but` are left to others.

        The group: of the tenant that was served longest ago, the group that was served longest ago; groups of
        indexing, which callers wait for, are ahead of others by a bounded number of steps. Tenants with all
        the claims they may have are passed over, and so may one that another worker is just served from. A
        suspect (SUSPECT_AFTER) is taken alone. Running jobs whose lease ended are due, whoever held it; one
        that has no attempt left dies instead.
        """

    async def heartbeat(self, jobs: Sequence[Job], lease: timedelta, now: datetime) -> set[str]:
        """Extends claims to now + lease; the ids of those that still held."""

    async def settle(self, settlements: Sequence[Settlement], now: datetime) -> set[str]:
        """Records verdicts; the ids of those that counted."""

    async def release(self, jobs: Sequence[Job], now: datetime) -> set[str]:
        """Gives claims back unused; the ids of those that still held."""

    async def free_leases(self, owner: str, now: datetime) -> int:
        """Ends all claims of a worker that is gone; how many there were."""

    async def cancel(self, reach: Reach, job_id: str, now: datetime) -> Job:
        """Raises NotFound, JobStateConflict. A cancelled job is left as it is."""

    async def retry(self, reach: Reach, job_id: str, now: datetime) -> Job:
        """Queues it with all its attempts. Raises NotFound, JobStateConflict."""

    async def get(self, reach: Reach, job_id: str) -> Job:
        """Raises NotFound."""

    async def lookup(self, reach: Reach, keys: Sequence[str]) -> list[Job]:
        """The jobs of those keys that exist, each once."""

    async def page(self, query: Query, before: str | None, limit: int) -> list[Job]:
        """Newest (greatest id) first; only ids less than `before`."""

    async def counts(self, query: Query) -> Counts:
        """How many jobs are in each state, zeros included. `query.states` is ignored. Not a scan of jobs."""

    async def changes(self, query: Query, since: Cursor, limit: int) -> Changes:
        """The next `limit` changes after `since`; Cursor() begins with the oldest job that exists.

        Whoever goes on from each answer's cursor misses no change: revisions of a tenant become visible in
        their order.
        """

    async def delete_finished(self, finished_before: datetime, dead_before: datetime, limit: int) -> int:
        """Deletes up to `limit` jobs that ended before (dead ones: before `dead_before`); how many."""


class ProgressStore(Protocol):
    """How far conversations are derived."""

    async def derived(self, tenant: str, agent_id: str, conversation_ids: Sequence[str]) -> list[Derived]:
        """By conversation and kind, those of which the ledger has known a job; see domain.progress."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """The job's work is done; `engine` names what did it, where there is a choice (J-16)."""

    result_ids: tuple[str, ...] = ()
    engine: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """The job's work failed; `error` is a reason's name and a constant sentence, no content (X-3)."""

    error: str
    hopeless: bool = field(default=False)
    """Whether every further attempt would fail too."""


Outcome = Done | Failed


class Handler(Protocol):
    """Does the jobs of one type."""

    async def run(self, tenant: str, agent_id: str, jobs: Sequence[Job]) -> Sequence[Outcome]:
        """One outcome per job, in their order. At least once: effects are idempotent.

        Raises DependencyDown or Overloaded when nothing was done and no job is to blame; any other
        exception blames a job of the call, and the worker finds out which.
        """
