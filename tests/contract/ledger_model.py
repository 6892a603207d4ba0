"""What a ledger should hold, said plainly: the model that random lives of jobs are held to."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from services.compactor.domain.ledger import (
    FINAL,
    UNCOUNTED,
    Event,
    Job,
    JobState,
    NewJob,
    Settlement,
    target,
)

Key = tuple[str, str]  # tenant, key


@dataclass(slots=True, kw_only=True)
class Entry:
    """A job: `due` as in the ledger, `claim` the number of the claim that it was last in."""

    id: str
    tenant: str
    agent: str
    due: datetime | None
    state: JobState = JobState.QUEUED
    attempt: int = 0
    fence: int = 0
    owner: str = ""
    claim: int = 0
    finished: datetime | None = None


@dataclass(slots=True)
class Model:
    """Jobs by tenant and key; every change is told to it, and must be one that the table allows."""

    attempts: int
    slots: int
    jobs: dict[Key, Entry] = field(default_factory=dict)
    paused: dict[tuple[str, str], datetime] = field(default_factory=dict)
    claims: int = 0

    def enqueued(self, tenant: str, new: Sequence[NewJob], ids: Sequence[str], now: datetime) -> None:
        """A known key keeps its job."""
        for job, id_ in zip(new, ids, strict=True):
            entry = Entry(id=id_, tenant=tenant, agent=job.agent_id, due=job.not_before or now)
            assert self.jobs.setdefault((tenant, job.key), entry).id == id_

    def claimed(self, jobs: Sequence[Job], owner: str, lease: timedelta, now: datetime) -> None:
        """What a claim gave: of one group, due, and within the tenant's limit."""
        assert len({job.group for job in jobs}) <= 1
        self.claims += 1
        for job in jobs:
            entry = self.jobs[job.tenant, job.key]
            assert self.claimable(entry, now), (entry, now)
            self._move(entry, Event.CLAIM, now + lease, now)
            entry.attempt, entry.fence = entry.attempt + 1, entry.fence + 1
            entry.owner, entry.claim = owner, self.claims
        for job in jobs:
            assert self.live_claims(job.tenant, now) <= self.slots

    def claimable(self, entry: Entry, now: datetime) -> bool:
        """Whether a worker may take it."""
        paused = self.paused.get((entry.tenant, entry.agent), now)
        return entry.due is not None and entry.due <= now and paused <= now and not self.is_lost(entry, now)

    def is_lost(self, entry: Entry, now: datetime) -> bool:
        """Whether nothing is left of it but to be buried."""
        running = entry.state is JobState.RUNNING and entry.due is not None and entry.due <= now
        return running and entry.attempt >= self.attempts

    def live_claims(self, tenant: str, now: datetime) -> int:
        """How many claims of a tenant hold."""
        running = [e for e in self.jobs.values() if e.state is JobState.RUNNING and e.tenant == tenant]
        return len({e.claim for e in running if e.due is not None and e.due > now})

    def left(self, now: datetime) -> list[Entry]:
        """What a worker could take now."""
        return [
            entry
            for entry in self.jobs.values()
            if self.claimable(entry, now) and self.live_claims(entry.tenant, now) < self.slots
        ]

    def buried(self, dead: Iterable[Job], now: datetime) -> None:
        """Those that a claim found lost, and ended."""
        for job in dead:
            entry = self.jobs[job.tenant, job.key]
            if entry.state is JobState.RUNNING and self.is_lost(entry, now):
                self._move(entry, Event.LOSE, None, now)

    def holds(self, claim: Job) -> bool:
        """Whether a claim still holds."""
        entry = self.jobs.get((claim.tenant, claim.key))
        return (
            entry is not None
            and entry.id == claim.id
            and entry.state is JobState.RUNNING
            and entry.fence == claim.fence
        )

    def settled(self, job: Job, verdict: Settlement, now: datetime) -> None:
        """A verdict on a claim that holds."""
        entry = self.jobs[job.tenant, job.key]
        self._move(entry, verdict.event, verdict.not_before, now)
        entry.attempt -= verdict.event in UNCOUNTED
        if verdict.event is Event.DEFER and verdict.not_before is not None:
            group = (entry.tenant, entry.agent)
            self.paused[group] = max(verdict.not_before, self.paused.get(group, verdict.not_before))

    def renewed(self, job: Job, until: datetime) -> None:
        """A claim that holds goes on."""
        self.jobs[job.tenant, job.key].due = until

    def released(self, job: Job, now: datetime) -> None:
        """A claim that holds was given back."""
        entry = self.jobs[job.tenant, job.key]
        self._move(entry, Event.RELEASE, now, now)
        entry.attempt -= 1

    def restarted(self, owner: str, now: datetime) -> int:
        """All claims of an owner ended; how many."""
        theirs = [e for e in self.jobs.values() if e.state is JobState.RUNNING and e.owner == owner]
        for entry in theirs:
            last = entry.attempt >= self.attempts
            self._move(entry, Event.LOSE if last else Event.FREE, None if last else now, now)
        return len(theirs)

    def changed(self, key: Key, event: Event, now: datetime) -> bool:
        """Somebody cancels or retries; whether the table allows it."""
        entry = self.jobs[key]
        after = target(event, entry.state)
        if after is None:
            return False
        if after is not entry.state:
            self._move(entry, event, now if event is Event.RETRY else None, now)
            entry.attempt = 0 if event is Event.RETRY else entry.attempt
        return True

    def deleted(self, finished_before: datetime, dead_before: datetime) -> int:
        """Old ends are gone; how many."""
        old = [
            key
            for key, entry in self.jobs.items()
            if entry.finished is not None
            and entry.finished < (dead_before if entry.state is JobState.DEAD else finished_before)
        ]
        for key in old:
            del self.jobs[key]
        groups = {(entry.tenant, entry.agent) for entry in self.jobs.values()}
        for group in self.paused.keys() - groups:
            del self.paused[group]  # a pause ends with its group
        return len(old)

    def counts(self, tenant: str) -> Mapping[JobState, int]:
        """By state, zeros included."""
        found = Counter(entry.state for entry in self.jobs.values() if entry.tenant == tenant)
        return {state: found[state] for state in JobState}

    def check(self, jobs: Sequence[Job]) -> None:
        """The ledger holds these jobs, no others, each as it should be."""
        found = {(job.tenant, job.key): job for job in jobs}
        assert len(found) == len(jobs)
        assert found.keys() == self.jobs.keys(), "none is lost, none appears"
        for key, entry in self.jobs.items():
            job = found[key]
            assert (job.id, job.state, job.attempt, job.fence, job.due, job.finished) == (
                entry.id,
                entry.state,
                entry.attempt,
                entry.fence,
                entry.due,
                entry.finished,
            ), key
            assert (job.due is None) == (job.finished is not None) == (job.state in FINAL)
            assert 0 <= job.attempt <= job.max_attempts

    def _move(self, entry: Entry, event: Event, due: datetime | None, now: datetime) -> None:
        after = target(event, entry.state)
        assert after is not None, f"{event} of a job that is {entry.state}"
        entry.state, entry.due = after, due
        entry.finished = now if after in FINAL else None


@dataclass(slots=True)
class Watcher:
    """What somebody knows who has followed all changes."""

    view: dict[str, tuple[JobState, int]] = field(default_factory=dict)
    seen: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))  # newest revision

    def told(self, jobs: Sequence[Job]) -> None:
        """Changes, which never go back."""
        for job in jobs:
            assert job.revision > self.seen[job.id]
            self.seen[job.id] = job.revision
            self.view[job.id] = (job.state, job.revision)

    def check(self, jobs: Sequence[Job]) -> None:
        """Nothing was missed; deletions are not told."""
        present = {job.id: (job.state, job.revision) for job in jobs}
        assert {id_: known for id_, known in self.view.items() if id_ in present} == present
