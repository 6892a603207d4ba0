"""UpkeepService on the wire: decay, merging, drift, verification, for the Compactor's workers."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp
from palimpsest.semantic.v1 import upkeep_pb2 as pb
from palimpsest.semantic.v1 import upkeep_pb2_grpc

from services.kit import paging
from services.kit.context import current_principal
from services.kit.errors import InvalidField, InvalidPageToken
from services.kit.serving import Face, roles_of
from services.kit.tenants import SYSTEM_TENANT
from services.kit.times import from_timestamp
from services.memory.semantic.app.drift import DriftCheck
from services.memory.semantic.app.upkeep import COMPARED, COSINE, Upkeep
from services.memory.semantic.app.upkeep_ports import ActiveAgent, Member
from services.memory.semantic.app.verification_jobs import VerificationJobs
from services.memory.semantic.rpc import convert

DESCRIPTOR = pb.DESCRIPTOR.services_by_name["UpkeepService"]
LISTING = "ListActiveAgents"
DEFAULT_RECENT = 100

Context = Any


def face(upkeep: Upkeep, drift: DriftCheck, verifications: VerificationJobs) -> Face:
    """UpkeepService over the use cases."""
    servicer = UpkeepServicer(upkeep, drift, verifications)
    return Face(
        name=DESCRIPTOR.full_name,
        add=partial(upkeep_pb2_grpc.add_UpkeepServiceServicer_to_server, servicer),
        roles=roles_of(DESCRIPTOR),
    )


class UpkeepServicer(upkeep_pb2_grpc.UpkeepServiceServicer):
    """Converts, calls, converts back."""

    def __init__(self, upkeep: Upkeep, drift: DriftCheck, verifications: VerificationJobs) -> None:
        self._upkeep = upkeep
        self._drift = drift
        self._verifications = verifications

    async def ListActiveAgents(
        self, request: pb.ListActiveAgentsRequest, context: Context
    ) -> pb.ListActiveAgentsResponse:
        """See the proto."""
        tenant = current_principal().tenant
        size = paging.page_size(request.page_size)
        found = await self._upkeep.agents(
            None if tenant == SYSTEM_TENANT else tenant, _position(request.page_token), size
        )
        last = found[-1] if len(found) == size else None
        return pb.ListActiveAgentsResponse(
            agents=[pb.ActiveAgent(tenant=one.tenant, agent_id=one.agent_id) for one in found],
            next_page_token="" if last is None else paging.encode(LISTING, (last.tenant, last.agent_id)),
        )

    async def ListRecentMemories(
        self, request: pb.ListRecentMemoriesRequest, context: Context
    ) -> pb.ListRecentMemoriesResponse:
        """See the proto."""
        found = await self._upkeep.recent(
            current_principal().tenant,
            request.agent_id,
            _time(request.since_time, "since_time"),
            request.limit or DEFAULT_RECENT,
            until=_time(request.until_time, "until_time") if request.HasField("until_time") else None,
        )
        return pb.ListRecentMemoriesResponse(memories=map(convert.memory, found))

    async def DecayMemories(
        self, request: pb.DecayMemoriesRequest, context: Context
    ) -> pb.DecayMemoriesResponse:
        """See the proto."""
        day = _time(request.day_time, "day_time") if request.HasField("day_time") else None
        count = await self._upkeep.decay(
            current_principal().tenant, request.agent_id, day, dry=request.dry_run
        )
        return pb.DecayMemoriesResponse(decayed_count=count)

    async def UndoDecay(self, request: pb.UndoDecayRequest, context: Context) -> pb.UndoDecayResponse:
        """See the proto."""
        day = _time(request.day_time, "day_time")
        count = await self._upkeep.undo_decay(current_principal().tenant, request.agent_id, day)
        return pb.UndoDecayResponse(restored_count=count)

    async def FindSimilarMemories(
        self, request: pb.FindSimilarMemoriesRequest, context: Context
    ) -> pb.FindSimilarMemoriesResponse:
        """See the proto."""
        found, pairs = await self._upkeep.similar(
            current_principal().tenant,
            request.agent_id,
            request.limit or COMPARED,
            request.cosine or COSINE,
        )
        return pb.FindSimilarMemoriesResponse(
            memories=map(convert.memory, found),
            pairs=[
                pb.SimilarPair(
                    memory_id=pair.memory_id,
                    other_id=pair.other_id,
                    cosine=pair.cosine,
                    covers=pair.covers,
                    covered=pair.covered,
                    barred=pair.barred,
                )
                for pair in pairs
            ],
        )

    async def MergeMemories(
        self, request: pb.MergeMemoriesRequest, context: Context
    ) -> pb.MergeMemoriesResponse:
        """See the proto."""
        members = [Member(memory_id=one.memory_id, edits=one.revision) for one in request.members]
        if len({member.memory_id for member in members}) < len(members):
            raise InvalidField("members", "names a memory twice")
        merged = await self._upkeep.merge(
            current_principal().tenant, request.agent_id, request.memory_id, members
        )
        return pb.MergeMemoriesResponse(memory=convert.memory(merged))

    async def UndoMerge(self, request: pb.UndoMergeRequest, context: Context) -> pb.UndoMergeResponse:
        """See the proto."""
        restored = await self._upkeep.undo_merge(
            current_principal().tenant, request.agent_id, request.memory_id
        )
        return pb.UndoMergeResponse(memory_ids=[memory.id for memory in restored])

    async def CheckDrift(self, request: pb.CheckDriftRequest, context: Context) -> pb.CheckDriftResponse:
        """See the proto."""
        drift = await self._drift.check(current_principal().tenant, request.agent_id, request.request_id)
        return pb.CheckDriftResponse(
            lost_messages=drift.messages,
            lost_memories=drift.memories,
            lost_vectors=drift.vectors,
            strangers=drift.strangers,
            lost_documents=drift.documents,
        )

    async def VerifyMemory(
        self, request: pb.VerifyMemoryRequest, context: Context
    ) -> pb.VerifyMemoryResponse:
        """See the proto."""
        engine = await self._verifications.verify(
            current_principal().tenant, request.agent_id, request.memory_id
        )
        return pb.VerifyMemoryResponse(engine=engine)


def _position(token: str) -> ActiveAgent | None:
    """Raises InvalidPageToken."""
    match paging.decode(LISTING, token):
        case None:
            return None
        case (str(tenant), str(agent_id)):
            return ActiveAgent(tenant=tenant, agent_id=agent_id)
    raise InvalidPageToken


def _time(stamp: Timestamp, field: str) -> datetime:
    try:
        return from_timestamp(stamp)
    except ValueError as error:
        raise InvalidField(field, str(error)) from error
