"""A ledger in memory: the plainest form of the port's rules, for tests and comparison."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from services.compactor.app.ports import Changes, Counts, Cursor, Query, Reach
from services.compactor.domain.ledger import (
    FINAL,
    LOST_ERROR,
    SUSPECT_AFTER,
    UNCOUNTED,
    Event,
    Group,
    Job,
    JobState,
    NewJob,
    Settlement,
    most_at_once,
    target,
    turn_after,
)
from services.kit.errors import JobStateConflict, NotFound
from services.kit.ids import new_id


class MemoryLedger:
    """Keeps jobs in dictionaries; each method runs without a suspension, so it is atomic."""

    def __init__(self, *, tenant_slots: int = 0) -> None:
        """`tenant_slots`: most claims of a tenant at once; 0 for any."""
        self._slots = tenant_slots
        self._claims: dict[str, int] = {}  # by job, the newest claim
        self._jobs: dict[str, Job] = {}
        self._place: dict[str, int] = {}
        self._keys: dict[tuple[str, str], str] = {}
        self._tenant_served: dict[str, int] = {}
        self._group_served: dict[Group, int] = {}
        self._paused: dict[Group, datetime] = {}
        self._revision = 0

    async def enqueue(
        self, tenant: str, jobs: Sequence[NewJob], max_attempts: int, now: datetime
    ) -> list[str]:
        """See Ledger."""
        self._revision += 1
        for new in jobs:
            if (tenant, new.key) not in self._keys:
                self._add(tenant, new, max_attempts, now)
        return [self._keys[tenant, new.key] for new in jobs]

    def _add(self, tenant: str, new: NewJob, max_attempts: int, now: datetime) -> None:
        job = Job(
            id=new_id(),
            tenant=tenant,
            agent_id=new.agent_id,
            type=new.type,
            subject=new.subject,
            key=new.key,
            payload=new.payload,
            state=JobState.QUEUED,
            max_attempts=max_attempts,
            created=now,
            updated=now,
            due=new.not_before or now,
            revision=self._revision,
        )
        self._jobs[job.id] = job
        self._place[job.id] = len(self._place) + 1
        self._keys[tenant, new.key] = job.id

    async def claim(
        self, owner: str, limit: int, lease: timedelta, now: datetime, *, but: frozenset[str] = frozenset()
    ) -> list[Job]:
        """See Ledger."""
        self._revision += 1
        for job in self._due(now):
            if job.state is JobState.RUNNING and job.last_attempt:
                self._change(job, Event.LOSE, now)
        due = [job for job in self._due(now) if job.type not in but and self._has_slot(job.tenant, now)]
        if not due:
            return []
        group = min(due, key=self._turn).group
        self._tenant_served[group.tenant] = self._revision
        self._group_served[group] = turn_after(group.type, self._revision)
        most = most_at_once(group.type, limit)
        chosen = self._choose([job for job in due if job.group == group], most)
        self._claims.update((job.id, self._revision) for job in chosen)
        return [self._change(job, Event.CLAIM, now, owner=owner, due=now + lease) for job in chosen]

    def _due(self, now: datetime) -> list[Job]:
        return [
            job
            for job in self._jobs.values()
            if job.due is not None and job.due <= now and self._paused.get(job.group, now) <= now
        ]

    def _has_slot(self, tenant: str, now: datetime) -> bool:
        live = {
            self._claims[job.id]
            for job in self._jobs.values()
            if job.tenant == tenant
            and job.state is JobState.RUNNING
            and job.due is not None
            and job.due > now
        }
        return not self._slots or len(live) < self._slots

    def _turn(self, job: Job) -> tuple[int, str, int, str, str]:
        group = job.group
        return (
            self._tenant_served.get(group.tenant, 0),
            group.tenant,
            self._group_served.get(group, 0),
            group.agent_id,
            group.type,
        )

    def _choose(self, due: list[Job], limit: int) -> list[Job]:
        """In order of enqueueing; a suspect at the head goes alone."""
        due.sort(key=lambda job: (job.due, self._place[job.id]))
        if _suspect(due[0]):
            return due[:1]
        chosen = [job for job in due if not _suspect(job)][:limit]
        return sorted(chosen, key=lambda job: self._place[job.id])

    async def heartbeat(self, jobs: Sequence[Job], lease: timedelta, now: datetime) -> set[str]:
        """See Ledger."""
        held = [job for job in map(self._held, jobs) if job is not None]
        for job in held:
            self._jobs[job.id] = replace(job, due=now + lease)
        return {job.id for job in held}

    async def settle(self, settlements: Sequence[Settlement], now: datetime) -> set[str]:
        """See Ledger."""
        self._revision += 1
        counted: set[str] = set()
        for verdict in settlements:
            job = self._jobs.get(verdict.job_id)
            if job is None or not _runs(job, verdict.tenant, verdict.fence):
                continue
            changed = self._change(
                job,
                verdict.event,
                now,
                error=verdict.error,
                due=verdict.not_before,
                result_ids=verdict.result_ids,
                engine=verdict.engine,
            )
            if verdict.refused:
                self._jobs[job.id] = replace(changed, deferred=now)
            if verdict.event is Event.DEFER and verdict.not_before is not None:
                self._paused[job.group] = max(
                    verdict.not_before, self._paused.get(job.group, verdict.not_before)
                )
            counted.add(job.id)
        return counted

    async def release(self, jobs: Sequence[Job], now: datetime) -> set[str]:
        """See Ledger."""
        self._revision += 1
        held = [job for job in map(self._held, jobs) if job is not None]
        for job in held:
            self._change(job, Event.RELEASE, now, due=now)
        return {job.id for job in held}

    async def free_leases(self, owner: str, now: datetime) -> int:
        """See Ledger."""
        self._revision += 1
        theirs = [job for job in self._jobs.values() if job.state is JobState.RUNNING and job.owner == owner]
        for job in theirs:
            if job.last_attempt:
                self._change(job, Event.LOSE, now)
            else:
                self._change(job, Event.FREE, now, due=now)
        return len(theirs)

    async def cancel(self, reach: Reach, job_id: str, now: datetime) -> Job:
        """See Ledger."""
        job = await self.get(reach, job_id)
        return job if job.state is JobState.CANCELLED else self._demand(job, Event.CANCEL, now)

    async def retry(self, reach: Reach, job_id: str, now: datetime) -> Job:
        """See Ledger."""
        return self._demand(await self.get(reach, job_id), Event.RETRY, now, due=now)

    async def get(self, reach: Reach, job_id: str) -> Job:
        """See Ledger."""
        job = self._jobs.get(job_id)
        if job is None or not reach.holds(job):
            raise NotFound("job", job_id)
        return job

    async def lookup(self, reach: Reach, keys: Sequence[str]) -> list[Job]:
        """See Ledger."""
        ids = {self._keys.get((reach.tenant, key)) for key in keys}
        found = [self._jobs[id_] for id_ in ids if id_ is not None]
        return [job for job in found if reach.holds(job)]

    async def page(self, query: Query, before: str | None, limit: int) -> list[Job]:
        """See Ledger."""
        found = [
            job for job in self._jobs.values() if query.takes(job) and (before is None or job.id < before)
        ]
        return sorted(found, key=lambda job: job.id, reverse=True)[:limit]

    async def counts(self, query: Query) -> Counts:
        """See Ledger."""
        return self._count(query)

    async def changes(self, query: Query, since: Cursor, limit: int) -> Changes:
        """See Ledger."""
        found = sorted(
            self._cursor(job) for job in self._jobs.values() if query.takes(job) and self._cursor(job) > since
        )
        by_place = {place: id_ for id_, place in self._place.items()}
        taken = found[:limit]
        complete = len(found) <= limit
        return Changes(
            jobs=[self._jobs[by_place[cursor.place]] for cursor in taken],
            cursor=max(since, Cursor(self._revision, len(self._place))) if complete else taken[-1],
            complete=complete,
            counts=self._count(query),
        )

    async def delete_finished(self, finished_before: datetime, dead_before: datetime, limit: int) -> int:
        """See Ledger."""
        old = list(_ended(self._jobs.values(), finished_before, dead_before))[:limit]
        for job in old:
            del self._jobs[job.id]
            del self._keys[job.tenant, job.key]
        for group in self._paused.keys() - {job.group for job in self._jobs.values()}:
            del self._paused[group]
        return len(old)

    def _cursor(self, job: Job) -> Cursor:
        return Cursor(job.revision, self._place[job.id])

    def _count(self, query: Query) -> Counts:
        query = replace(query, states=frozenset())
        present = Counter(job.state for job in self._jobs.values() if query.takes(job))
        return {state: present[state] for state in JobState}

    def _held(self, claim: Job) -> Job | None:
        job = self._jobs.get(claim.id)
        return job if job is not None and _runs(job, claim.tenant, claim.fence) else None

    def _demand(self, job: Job, event: Event, now: datetime, due: datetime | None = None) -> Job:
        if target(event, job.state) is None:
            raise JobStateConflict(f"a job that is {job.state} allows no {event}")
        self._revision += 1
        return self._change(job, event, now, due=due)

    def _change(
        self,
        job: Job,
        event: Event,
        now: datetime,
        *,
        due: datetime | None = None,
        owner: str | None = None,
        error: str = "",
        result_ids: tuple[str, ...] = (),
        engine: str = "",
    ) -> Job:
        state = target(event, job.state)
        if state is None:
            raise AssertionError(f"{event} of a job that is {job.state}")
        changed = replace(
            _EFFECTS.get(event, _same)(job, now),
            state=state,
            due=due,
            updated=now,
            finished=now if state in FINAL else None,
            revision=self._revision,
        )
        if owner is not None:
            changed = replace(changed, owner=owner)
        if event in (Event.FAIL, Event.DEFER, Event.GIVE_UP):
            changed = replace(changed, error=error)
        if event is Event.SUCCEED:
            changed = replace(changed, error="", result_ids=result_ids, engine=engine, progress=1.0)
        if event in UNCOUNTED:
            changed = replace(changed, attempt=job.attempt - 1)
        self._jobs[job.id] = changed
        return changed


def _claimed(job: Job, _: datetime) -> Job:
    lost = job.state is JobState.RUNNING
    return replace(job, attempt=job.attempt + 1, fence=job.fence + 1, suspicion=job.suspicion + lost)


def _doubted(job: Job, _: datetime) -> Job:
    return replace(job, suspicion=job.suspicion + 1)


def _lost(job: Job, _: datetime) -> Job:
    return replace(job, error=LOST_ERROR)


def _renewed(job: Job, _: datetime) -> Job:
    return replace(job, attempt=0, suspicion=0, deferred=None, error="", progress=0.0)


def _same(job: Job, _: datetime) -> Job:
    return job


_EFFECTS: dict[Event, Callable[[Job, datetime], Job]] = {
    Event.CLAIM: _claimed,
    Event.DEFER: _doubted,
    Event.FREE: _doubted,
    Event.LOSE: _lost,
    Event.RETRY: _renewed,
}


def _suspect(job: Job) -> bool:
    return job.suspicion + (job.state is JobState.RUNNING) >= SUSPECT_AFTER


def _runs(job: Job, tenant: str, fence: int) -> bool:
    return job.state is JobState.RUNNING and job.tenant == tenant and job.fence == fence


def _ended(jobs: Iterable[Job], finished_before: datetime, dead_before: datetime) -> Iterable[Job]:
    for job in jobs:
        limit = dead_before if job.state is JobState.DEAD else finished_before
        if job.finished is not None and job.finished < limit:
            yield job
