"""The RPCs about the indexes themselves."""

from __future__ import annotations

from typing import Any

from palimpsest.common.v1 import indexes_pb2
from palimpsest.semantic.v1 import semantic_pb2 as pb

from services.kit.context import current_principal
from services.kit.errors import NotAllowed
from services.kit.times import to_timestamp
from services.memory.semantic.app.generations import Generation, Generations
from services.memory.semantic.app.reindex_ports import Reindexing
from services.memory.semantic.app.reindexing import Reindexer


class IndexCalls:
    """Converts, calls, converts back; a part of the servicer."""

    def __init__(self, *, reindexer: Reindexer, generations: Generations) -> None:
        self._reindexer = reindexer
        self._generations = generations

    async def Reindex(self, request: pb.ReindexRequest, context: Any) -> pb.ReindexResponse:
        """See the proto."""
        _check_reach(request.agent_id)
        run = await self._reindexer.start(current_principal().tenant, request.agent_id)
        return pb.ReindexResponse(run=_run(run))

    async def GetReindex(self, request: pb.GetReindexRequest, context: Any) -> pb.GetReindexResponse:
        """See the proto."""
        run = await self._reindexer.get(current_principal().tenant, request.reindex_id)
        _check_reach(run.agent_id)
        return pb.GetReindexResponse(run=_run(run))

    async def GetIndexStatus(
        self, request: pb.GetIndexStatusRequest, context: Any
    ) -> pb.GetIndexStatusResponse:
        """See the proto."""
        following = self._generations.following
        return pb.GetIndexStatusResponse(
            active=await _generation(self._generations.active),
            next=None if following is None else await _generation(following),
        )


def _check_reach(agent_id: str) -> None:
    """Raises NotAllowed where an agent, or all of them (""), are out of the caller's reach."""
    principal = current_principal()
    if principal.agents is not None and agent_id not in principal.agents:
        raise NotAllowed("the credential does not reach all of these agents")


def _run(run: Reindexing) -> indexes_pb2.ReindexRun:
    return indexes_pb2.ReindexRun(
        id=run.id,
        agent_id=run.agent_id,
        state=indexes_pb2.ReindexState.ValueType(run.state),
        done_count=run.done,
        total_count=run.total,
        create_time=to_timestamp(run.created),
        finish_time=to_timestamp(run.finished),
    )


async def _generation(generation: Generation) -> indexes_pb2.VectorGeneration:
    return indexes_pb2.VectorGeneration(
        revision=generation.model.revision,
        dimension=generation.model.dimension,
        vector_count=await generation.vectors.count(),
    )
