"""Calls about the indexes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from palimpsest import models
from palimpsest.client import incoming, names
from palimpsest.client.base import Calls
from palimpsest.common.v1 import indexes_pb2 as common
from palimpsest.gateway.v1 import indexes_pb2 as pb

WATCH_SECONDS = 0.5


class IndexCalls(Calls):
    """Building indexes again, for an admin; whose vectors they hold, for an operator."""

    async def reindex(self, *, agent_id: str = "") -> models.ReindexRun:
        """Builds the indexes of the tenant, or of one agent, again; the run that is under way, if one is."""
        request = pb.ReindexRequest(agent_id=agent_id)
        return _run((await self._transport.call(self._transport.stub.Reindex, request)).run)

    async def reindex_run(self, reindex_id: str = "") -> models.ReindexRun:
        """How far a run is; the newest without an id."""
        request = pb.GetReindexRequest(reindex_id=reindex_id)
        return _run((await self._transport.call(self._transport.stub.GetReindex, request)).run)

    async def watch_reindex(self, reindex_id: str = "") -> AsyncIterator[models.ReindexRun]:
        """A run as it goes on, until it is done; the newest without an id."""
        while True:
            run = await self.reindex_run(reindex_id)
            yield run
            if run.state != "running":
                return
            reindex_id = run.id
            await asyncio.sleep(WATCH_SECONDS)

    async def index_status(self) -> models.IndexStatus:
        """Whose vectors answer queries, and how far those of a next model are filled."""
        answer = await self._transport.call(self._transport.stub.GetIndexStatus, pb.GetIndexStatusRequest())
        return models.IndexStatus(
            active=_generation(answer.active),
            next=_generation(answer.next) if answer.HasField("next") else None,
        )


def _run(proto: common.ReindexRun) -> models.ReindexRun:
    return models.ReindexRun(
        id=proto.id,
        agent_id=proto.agent_id,
        state=names.REINDEX_STATES.name(proto.state),
        done_count=proto.done_count,
        total_count=proto.total_count,
        create_time=incoming.time_of(proto, "create_time"),
        finish_time=incoming.time_of(proto, "finish_time"),
    )


def _generation(proto: common.VectorGeneration) -> models.VectorGeneration:
    return models.VectorGeneration(
        revision=proto.revision, dimension=proto.dimension, vector_count=proto.vector_count
    )
