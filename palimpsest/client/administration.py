"""Calls about jobs, the server and API keys."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from datetime import timedelta

from palimpsest import models
from palimpsest.client import incoming_administration as incoming
from palimpsest.client import names, outgoing
from palimpsest.client.base import Calls
from palimpsest.gateway.v1 import administration_pb2 as pb


class AdministrationCalls(Calls):
    """Jobs, status and keys. Jobs are those of all agents that the key may see, unless one is named."""

    async def job(self, job_id: str) -> models.Job:
        """Reads a job."""
        request = pb.GetJobRequest(job_id=job_id)
        return incoming.job((await self._transport.call(self._transport.stub.GetJob, request)).job)

    async def jobs(
        self,
        *,
        agent_id: str = "",
        states: Sequence[models.JobState] = (),
        types: Sequence[str] = (),
        page_size: int = 0,
    ) -> AsyncIterator[models.Job]:
        """Jobs, newest first."""
        request = pb.ListJobsRequest(filter=_filter(agent_id, states, types), page_size=page_size)
        async for page in self._pages(self._transport.stub.ListJobs, request):
            for proto in page.jobs:
                yield incoming.job(proto)

    async def watch_jobs(
        self,
        *,
        agent_id: str = "",
        states: Sequence[models.JobState] = (),
        types: Sequence[str] = (),
        until_idle: bool = False,
        interval: timedelta | None = None,
    ) -> AsyncGenerator[models.JobUpdate, None]:
        """Jobs as they change. A stream that breaks is opened again; it may then repeat jobs."""
        request = pb.WatchJobsRequest(
            filter=_filter(agent_id, states, types),
            until_idle=until_idle,
            interval=outgoing.duration(interval),
        )
        updates = self._transport.resumed(self._transport.stub.WatchJobs, lambda: request)
        async with aclosing(updates):
            async for update in updates:
                yield incoming.job_update(update)

    async def retry_job(self, job_id: str) -> models.Job:
        """Queues a dead, failed or cancelled job again."""
        request = pb.RetryJobRequest(job_id=job_id)
        return incoming.job((await self._transport.call(self._transport.stub.RetryJob, request)).job)

    async def cancel_job(self, job_id: str) -> models.Job:
        """Cancels a job that is not done."""
        request = pb.CancelJobRequest(job_id=job_id)
        return incoming.job((await self._transport.call(self._transport.stub.CancelJob, request)).job)

    async def status(self) -> models.Status:
        """What the server is, and how its jobs stand."""
        return incoming.status(
            await self._transport.call(self._transport.stub.GetStatus, pb.GetStatusRequest())
        )

    async def create_key(
        self,
        role: models.KeyRole,
        *,
        display_name: str = "",
        agent_ids: Sequence[str] = (),
        lifetime: timedelta | None = None,
    ) -> models.CreatedKey:
        """Makes an API key; its secret is in this answer and nowhere else. Never retried: see `keys`."""
        request = pb.CreateApiKeyRequest(
            display_name=display_name,
            role=names.KEY_ROLES.number(role),
            agent_ids=agent_ids,
            lifetime=outgoing.duration(lifetime),
        )
        answer = await self._transport.call(self._transport.stub.CreateApiKey, request, retry=False)
        return models.CreatedKey(key=incoming.api_key(answer.key), secret=answer.secret)

    async def key(self, key_id: str) -> models.ApiKey:
        """A key without its secret."""
        request = pb.GetApiKeyRequest(key_id=key_id)
        return incoming.api_key((await self._transport.call(self._transport.stub.GetApiKey, request)).key)

    async def rotate_key(
        self, key_id: str, *, overlap: timedelta | None = None, lifetime: timedelta | None = None
    ) -> models.CreatedKey:
        """Gives a key a new secret, which is in this answer and nowhere else; never retried.

        The secret before it works for the `overlap`, at most 30 days; without one it ends at once. The key
        works for the `lifetime` then, or as long as it did before.
        """
        request = pb.RotateApiKeyRequest(
            key_id=key_id, overlap=outgoing.duration(overlap), lifetime=outgoing.duration(lifetime)
        )
        answer = await self._transport.call(self._transport.stub.RotateApiKey, request, retry=False)
        return models.CreatedKey(key=incoming.api_key(answer.key), secret=answer.secret)

    async def keys(self, *, page_size: int = 0) -> AsyncIterator[models.ApiKey]:
        """Keys without their secrets, revoked and expired ones too, oldest first."""
        request = pb.ListApiKeysRequest(page_size=page_size)
        async for page in self._pages(self._transport.stub.ListApiKeys, request):
            for proto in page.keys:
                yield incoming.api_key(proto)

    async def revoke_key(self, key_id: str) -> models.ApiKey:
        """Revokes a key, at once and for good; not the last operator's key of the tenant."""
        request = pb.RevokeApiKeyRequest(key_id=key_id)
        return incoming.api_key((await self._transport.call(self._transport.stub.RevokeApiKey, request)).key)

    async def key_changes(self, *, key_id: str = "", page_size: int = 0) -> AsyncIterator[models.KeyChange]:
        """Who did what to a key, or to all of the tenant, newest first."""
        request = pb.ListApiKeyChangesRequest(key_id=key_id, page_size=page_size)
        async for page in self._pages(self._transport.stub.ListApiKeyChanges, request):
            for proto in page.changes:
                yield incoming.key_change(proto)


def _filter(agent_id: str, states: Sequence[models.JobState], types: Sequence[str]) -> pb.JobFilter:
    return pb.JobFilter(
        agent_id=agent_id, states=[names.JOB_STATES.number(state) for state in states], types=types
    )
