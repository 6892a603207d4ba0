"""The hand-over from the Compactor's own outbox to its own ledger: the same Enqueue, without a call."""

from __future__ import annotations

from palimpsest.compactor.v1 import compactor_pb2

from services.compactor.app.jobs import Jobs
from services.compactor.app.ports import Reach
from services.compactor.domain.ledger import NewJob
from services.kit.context import current_principal


class OwnLedger:
    """What a Relay needs of CompactorService."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs

    async def Enqueue(self, request: compactor_pb2.EnqueueRequest) -> compactor_pb2.EnqueueResponse:  # noqa: N802
        """See the proto."""
        new = [
            NewJob(
                type=job.type,
                agent_id=job.agent_id,
                subject=job.subject,
                key=job.idempotency_key,
                payload=job.payload,
            )
            for job in request.jobs
        ]
        ids = await self._jobs.enqueue(Reach(tenant=current_principal().tenant), new)
        return compactor_pb2.EnqueueResponse(job_ids=ids)
