"""CompactorService over the use cases."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Final

import grpc
from palimpsest.compactor.v1 import compactor_pb2 as pb
from palimpsest.compactor.v1 import compactor_pb2_grpc

from services.compactor.app.jobs import Jobs
from services.compactor.rpc import convert
from services.kit.context import current_principal

DESCRIPTOR: Final = pb.DESCRIPTOR.services_by_name["CompactorService"]

Context = grpc.aio.ServicerContext[Any, Any]


class CompactorServicer(compactor_pb2_grpc.CompactorServiceServicer):
    """Converts, asks a use case, converts back."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs

    async def Enqueue(self, request: pb.EnqueueRequest, _: Context) -> pb.EnqueueResponse:
        """See the proto."""
        ids = await self._jobs.enqueue(convert.reach_of(current_principal()), convert.new_jobs(request))
        return pb.EnqueueResponse(job_ids=ids)

    async def LookupJobs(self, request: pb.LookupJobsRequest, _: Context) -> pb.LookupJobsResponse:
        """See the proto."""
        found = await self._jobs.lookup(convert.reach_of(current_principal()), request.idempotency_keys)
        return pb.LookupJobsResponse(jobs=convert.keyed_jobs(found))

    async def GetJob(self, request: pb.GetJobRequest, _: Context) -> pb.GetJobResponse:
        """See the proto."""
        job = await self._jobs.get(convert.reach_of(current_principal()), request.job_id)
        return pb.GetJobResponse(job=convert.job_message(job))

    async def ListJobs(self, request: pb.ListJobsRequest, _: Context) -> pb.ListJobsResponse:
        """See the proto."""
        query = convert.query_of(current_principal(), request.filter)
        page = await self._jobs.page(query, request.page_size, request.page_token)
        return pb.ListJobsResponse(jobs=map(convert.job_message, page.jobs), next_page_token=page.next_token)

    async def WatchJobs(
        self, request: pb.WatchJobsRequest, _: Context
    ) -> AsyncIterator[pb.WatchJobsResponse]:
        """See the proto."""
        query = convert.query_of(current_principal(), request.filter)
        updates = self._jobs.watch(
            query, interval=convert.interval_of(request), until_idle=request.until_idle
        )
        async for update in updates:
            yield pb.WatchJobsResponse(
                jobs=map(convert.job_message, update.jobs), counts=convert.counts_message(update.counts)
            )

    async def RetryJob(self, request: pb.RetryJobRequest, _: Context) -> pb.RetryJobResponse:
        """See the proto."""
        job = await self._jobs.retry(convert.reach_of(current_principal()), request.job_id)
        return pb.RetryJobResponse(job=convert.job_message(job))

    async def CancelJob(self, request: pb.CancelJobRequest, _: Context) -> pb.CancelJobResponse:
        """See the proto."""
        job = await self._jobs.cancel(convert.reach_of(current_principal()), request.job_id)
        return pb.CancelJobResponse(job=convert.job_message(job))

    async def CountJobs(self, request: pb.CountJobsRequest, _: Context) -> pb.CountJobsResponse:
        """See the proto."""
        counts = await self._jobs.counts(convert.query_of(current_principal(), request.filter))
        return pb.CountJobsResponse(counts=convert.counts_message(counts))
