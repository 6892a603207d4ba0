"""What jobs that keep memories in order ask of Semantic, by its stubs, as a service for one agent."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from palimpsest.semantic.v1 import upkeep_pb2 as pb
from palimpsest.semantic.v1 import upkeep_pb2_grpc

from services.compactor.adapters.acting import as_service
from services.compactor.domain.consolidation import Candidate, Merge, Similar
from services.kit.times import to_timestamp

PAGE = 500


class SemanticUpkeep:
    """`MemoryUpkeep` over UpkeepService."""

    def __init__(self, stub: upkeep_pb2_grpc.UpkeepServiceAsyncStub) -> None:
        self._stub = stub

    async def agents(self, tenant: str, token: str = "") -> tuple[list[tuple[str, str]], str]:
        """A page of (tenant, agent) and the token of the next; of every tenant for the tenant "system"."""
        with as_service(tenant):
            request = pb.ListActiveAgentsRequest(page_size=PAGE, page_token=token)
            answer = await self._stub.ListActiveAgents(request)
        return [(one.tenant, one.agent_id) for one in answer.agents], answer.next_page_token

    async def decay(self, tenant: str, agent_id: str, day: datetime, *, dry: bool) -> int:
        """See the port."""
        with as_service(tenant, agent_id):
            request = pb.DecayMemoriesRequest(agent_id=agent_id, day_time=to_timestamp(day), dry_run=dry)
            return (await self._stub.DecayMemories(request)).decayed_count

    async def undo_decay(self, tenant: str, agent_id: str, day: datetime) -> int:
        """See the port."""
        with as_service(tenant, agent_id):
            request = pb.UndoDecayRequest(agent_id=agent_id, day_time=to_timestamp(day))
            return (await self._stub.UndoDecay(request)).restored_count

    async def similar(
        self, tenant: str, agent_id: str, limit: int, cosine: float
    ) -> tuple[Sequence[Candidate], Sequence[Similar]]:
        """See the port."""
        with as_service(tenant, agent_id):
            request = pb.FindSimilarMemoriesRequest(agent_id=agent_id, limit=limit, cosine=cosine)
            answer = await self._stub.FindSimilarMemories(request)
        candidates = [
            Candidate(
                memory_id=one.id,
                revision=one.revision,
                contact_id=one.contact_id,
                key=one.key,
                size=len(one.value),
            )
            for one in answer.memories
        ]
        pairs = [
            Similar(
                memory_id=one.memory_id,
                other_id=one.other_id,
                cosine=one.cosine,
                covers=one.covers,
                covered=one.covered,
                barred=one.barred,
            )
            for one in answer.pairs
        ]
        return candidates, pairs

    async def merge(self, tenant: str, agent_id: str, merge: Merge) -> None:
        """See the port."""
        with as_service(tenant, agent_id):
            request = pb.MergeMemoriesRequest(
                agent_id=agent_id,
                memory_id=merge.memory_id,
                members=[pb.MergeMember(memory_id=id_, revision=edits) for id_, edits in merge.members],
            )
            await self._stub.MergeMemories(request)

    async def undo_merge(self, tenant: str, agent_id: str, memory_id: str) -> None:
        """See the port."""
        with as_service(tenant, agent_id):
            await self._stub.UndoMerge(pb.UndoMergeRequest(agent_id=agent_id, memory_id=memory_id))

    async def check_drift(self, tenant: str, agent_id: str, request_id: str) -> pb.CheckDriftResponse:
        """Compares an agent's stores, and has repaired what drifted apart, once for each `request_id`."""
        with as_service(tenant, agent_id):
            request = pb.CheckDriftRequest(agent_id=agent_id, request_id=request_id)
            return await self._stub.CheckDrift(request)

    async def verify(self, tenant: str, agent_id: str, memory_id: str, seconds: float) -> str:
        """Verifies a memory, within `seconds`; who judged."""
        with as_service(tenant, agent_id):
            request = pb.VerifyMemoryRequest(agent_id=agent_id, memory_id=memory_id)
            return (await self._stub.VerifyMemory(request, timeout=seconds)).engine
