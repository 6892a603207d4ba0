"""Jobs of the type "verify_memory": the Semantic service does them, and may ask a model (SPEC S-7, J-16)."""

from __future__ import annotations

from collections.abc import Sequence

from services.compactor.adapters.upkeep_calls import SemanticUpkeep
from services.compactor.app.ports import Done, Failed, Outcome
from services.compactor.domain import payloads
from services.compactor.domain.ledger import Job
from services.kit.errors import Reason

VERIFY_MEMORY = "verify_memory"
BAD_PAYLOAD = f"{Reason.INVALID_FIELD}: the payload does not name a memory"


class VerifyHandler:
    """Does jobs one by one, each as the agent that it belongs to."""

    def __init__(self, semantic: SemanticUpkeep, seconds: float) -> None:
        """`seconds` are what a call may take."""
        self._semantic = semantic
        self._seconds = seconds

    async def run(self, tenant: str, agent_id: str, jobs: Sequence[Job]) -> Sequence[Outcome]:
        """See Handler. After an outage in the middle, what was verified before it is found verified."""
        return [await self._do(tenant, agent_id, job) for job in jobs]

    async def _do(self, tenant: str, agent_id: str, job: Job) -> Outcome:
        memory_id = payloads.text(job.payload, "memory_id")
        if not memory_id:
            return Failed(error=BAD_PAYLOAD, hopeless=True)
        return Done(engine=await self._semantic.verify(tenant, agent_id, memory_id, self._seconds))
