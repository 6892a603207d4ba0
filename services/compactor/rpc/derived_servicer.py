"""DerivedWorkService: how far derived work is, and what comes round."""

from __future__ import annotations

from functools import partial
from typing import Any

from palimpsest.derived.v1 import derived_pb2 as pb
from palimpsest.derived.v1 import derived_pb2_grpc

from services.compactor.app.progress import Progress
from services.compactor.app.schedules import Schedules
from services.compactor.rpc import convert
from services.kit.context import current_principal
from services.kit.serving import Face, roles_of

DESCRIPTOR = pb.DESCRIPTOR.services_by_name["DerivedWorkService"]

Context = Any


def face(progress: Progress, schedules: Schedules) -> Face:
    """DerivedWorkService over the use cases."""
    servicer = DerivedWorkServicer(progress, schedules)
    return Face(
        name=DESCRIPTOR.full_name,
        add=partial(derived_pb2_grpc.add_DerivedWorkServiceServicer_to_server, servicer),
        roles=roles_of(DESCRIPTOR),
    )


class DerivedWorkServicer(derived_pb2_grpc.DerivedWorkServiceServicer):
    """Converts, asks a use case, converts back."""

    def __init__(self, progress: Progress, schedules: Schedules) -> None:
        self._progress = progress
        self._schedules = schedules

    async def GetDerivedProgress(
        self, request: pb.GetDerivedProgressRequest, _: Context
    ) -> pb.GetDerivedProgressResponse:
        """See the proto."""
        reach = convert.reach_of(current_principal())
        found = await self._progress.derived(reach, request.agent_id, request.conversation_ids)
        return pb.GetDerivedProgressResponse(progress=map(convert.progress_message, found))

    async def ListSchedules(self, request: pb.ListSchedulesRequest, _: Context) -> pb.ListSchedulesResponse:
        """See the proto."""
        found = await self._schedules.all()
        return pb.ListSchedulesResponse(schedules=map(convert.schedule_message, found))

    async def TriggerSchedule(
        self, request: pb.TriggerScheduleRequest, _: Context
    ) -> pb.TriggerScheduleResponse:
        """See the proto."""
        reach = convert.reach_of(current_principal())
        key = await self._schedules.trigger(reach, request.name, request.request_id)
        return pb.TriggerScheduleResponse(idempotency_key=key)

    async def UpdateSchedule(
        self, request: pb.UpdateScheduleRequest, _: Context
    ) -> pb.UpdateScheduleResponse:
        """See the proto."""
        reach = convert.reach_of(current_principal())
        cron, enabled = convert.schedule_changes(request)
        changed = await self._schedules.update(reach, request.name, cron, enabled)
        return pb.UpdateScheduleResponse(schedule=convert.schedule_message(changed))
