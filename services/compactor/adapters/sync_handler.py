"""Jobs of the type "sync_memory": the Semantic service does them (SPEC S-15)."""

from __future__ import annotations

from collections.abc import Sequence

from palimpsest.semantic.v1 import semantic_pb2, semantic_pb2_grpc

from services.compactor.adapters.acting import as_service
from services.compactor.app.ports import Done, Failed, Outcome
from services.compactor.domain import payloads
from services.compactor.domain.ledger import Job
from services.kit.errors import DependencyDown, Reason

SYNC_MEMORY = "sync_memory"
BAD_PAYLOAD = f"{Reason.INVALID_FIELD}: the payload does not name a memory"
NO_REASON = f"{Reason.INTERNAL}: the memory was not synced"


class SyncHandler:
    """Hands a batch to Semantic.SyncMemories, as the agent that it belongs to."""

    def __init__(self, semantic: semantic_pb2_grpc.SemanticServiceAsyncStub) -> None:
        self._semantic = semantic

    async def run(self, tenant: str, agent_id: str, jobs: Sequence[Job]) -> Sequence[Outcome]:
        """See Handler. Raises DependencyDown also when that is what became of every memory."""
        ids = [payloads.text(job.payload, "memory_id") for job in jobs]
        readable = [id_ for id_ in ids if id_]
        outcomes = iter(await self._sync(tenant, agent_id, readable) if readable else ())
        return [_outcome(next(outcomes)) if id_ else Failed(error=BAD_PAYLOAD, hopeless=True) for id_ in ids]

    async def _sync(
        self, tenant: str, agent_id: str, memory_ids: Sequence[str]
    ) -> Sequence[semantic_pb2.SyncOutcome]:
        with as_service(tenant, agent_id):
            request = semantic_pb2.SyncMemoriesRequest(agent_id=agent_id, memory_ids=memory_ids)
            response = await self._semantic.SyncMemories(request)
        if len(response.outcomes) != len(memory_ids):
            raise ValueError("SyncMemories answered for another number of memories")
        if all(not one.ok and one.error.startswith(Reason.DEPENDENCY_DOWN) for one in response.outcomes):
            raise DependencyDown
        return response.outcomes


def _outcome(outcome: semantic_pb2.SyncOutcome) -> Outcome:
    if outcome.ok:
        return Done()
    return Failed(error=outcome.error or NO_REASON, hopeless=outcome.refused)
