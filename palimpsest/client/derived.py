"""Calls about how far derived work has come, and about what comes round."""

from __future__ import annotations

from collections.abc import Sequence

from google.protobuf.field_mask_pb2 import FieldMask

from palimpsest import models
from palimpsest.client import incoming
from palimpsest.client.base import Calls
from palimpsest.client.transport import new_request_id
from palimpsest.derived.v1 import derived_pb2 as pb

ASKED_AT_ONCE = 100
"""Conversations of one call, as the server has it."""


class DerivedCalls(Calls):
    """Progress of the client's agent; schedules are the deployment's."""

    async def derived_progress(self, *conversation_ids: str) -> list[models.WorkProgress]:
        """By conversation and kind; a kind that there was never work of is left out."""
        found: list[models.WorkProgress] = []
        for begin in range(0, len(conversation_ids), ASKED_AT_ONCE):
            found += await self._progress(conversation_ids[begin : begin + ASKED_AT_ONCE])
        return found

    async def _progress(self, conversation_ids: Sequence[str]) -> list[models.WorkProgress]:
        request = pb.GetDerivedProgressRequest(agent_id=self._agent, conversation_ids=conversation_ids)
        answer = await self._transport.call(self._transport.stubs.derived.GetDerivedProgress, request)
        return [
            models.WorkProgress(
                conversation_id=one.conversation_id,
                kind=one.kind,
                up_to_sequence=one.up_to_sequence,
                waiting_count=one.waiting_count,
                dead_count=one.dead_count,
                dead_job_id=one.dead_job_id,
            )
            for one in answer.progress
        ]

    async def schedules(self) -> list[models.Schedule]:
        """All of the deployment, by name."""
        answer = await self._transport.call(
            self._transport.stubs.derived.ListSchedules, pb.ListSchedulesRequest()
        )
        return [_schedule(one) for one in answer.schedules]

    async def trigger_schedule(self, name: str, *, request_id: str = "") -> str:
        """Asks for a schedule's work now, for the key's tenant; the idempotency key of the job.

        Needs a key for admins that reaches every agent. The same request id again asks for nothing more.
        """
        request = pb.TriggerScheduleRequest(name=name, request_id=request_id or new_request_id())
        method = self._transport.stubs.derived.TriggerSchedule
        # Retried under the one request id, whatever became of the first attempt.
        return (await self._transport.call(method, request, retry=True)).idempotency_key

    async def update_schedule(
        self, name: str, *, cron: str | None = None, enabled: bool | None = None
    ) -> models.Schedule:
        """Changes what is not None, for the whole deployment; an empty `cron` brings back the built-in one.

        Needs a key for operators.
        """
        paths = [path for path, value in (("cron", cron), ("enabled", enabled)) if value is not None]
        request = pb.UpdateScheduleRequest(
            name=name,
            schedule=pb.Schedule(cron=cron or "", enabled=bool(enabled)),
            update_mask=FieldMask(paths=paths),
        )
        answer = await self._transport.call(self._transport.stubs.derived.UpdateSchedule, request)
        return _schedule(answer.schedule)


def _schedule(proto: pb.Schedule) -> models.Schedule:
    return models.Schedule(
        name=proto.name,
        job_type=proto.job_type,
        cron=proto.cron,
        enabled=proto.enabled,
        last_run_time=incoming.time_of(proto, "last_run_time"),
        next_run_time=incoming.time_of(proto, "next_run_time"),
    )
