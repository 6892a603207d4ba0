"""Who keeps what models cost, by tenant, agent and conversation (SPEC E-11)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

import structlog
from palimpsest.history.v1 import history_pb2 as pb
from palimpsest.history.v1 import history_pb2_grpc
from prometheus_client import Counter

from services.kit.context import CallInfo, current_call, serving
from services.kit.errors import PalimpsestError
from services.kit.identity import Principal, Role
from services.kit.ids import new_id
from services.kit.models.metrics import ModelMetrics
from services.kit.models.texts import clean
from services.kit.models.types import Tier, Usage

RECORD_SECONDS = 5.0
"""How long Episodic may take for a record."""
MAX_MODEL = 128
"""E-11: characters of a model's name that are kept."""
UNNAMED = "unnamed"
MAX_WAITING = 1000
"""Records under way; while Episodic is away, more are lost at once."""


Used = Callable[[str, Tier, str, Usage], None]
"""Is told what a call cost: agent, tier, model, usage. Takes no time."""


class UsageRecorder(Protocol):
    """Keeps what calls of models cost."""

    async def record(self, agent_id: str, conversation_id: str, tier: Tier, model: str, usage: Usage) -> None:
        """Adds to the figures of the current caller's tenant; "" for a conversation is none.

        Never raises: usage that can't be kept is logged and counted, and the work that it is of goes on.
        """


class EpisodicUsage:
    """Keeps usage in Episodic, as a service of the caller's tenant: what a reader's call costs counts too."""

    def __init__(self, history: history_pb2_grpc.HistoryServiceAsyncStub, *, service: str) -> None:
        """`service` is who records: in Episodic's log, and in the metric's name."""
        self._history = history
        self._service = service
        self._running: set[asyncio.Task[None]] = set()
        self._log = structlog.get_logger("models")
        self.lost = Counter(
            f"palimpsest_{service}_model_calls_unrecorded",
            "Calls of models that are missing in the usage.",
            registry=None,
        )
        """For the service's registry."""

    async def record(self, agent_id: str, conversation_id: str, tier: Tier, model: str, usage: Usage) -> None:
        """See UsageRecorder. A caller that is cancelled loses no record: it is written all the same."""
        task = self.later(agent_id, conversation_id, tier, model, usage)
        if task is not None:
            await asyncio.shield(task)

    def later(
        self, agent_id: str, conversation_id: str, tier: Tier, model: str, usage: Usage
    ) -> asyncio.Task[None] | None:
        """The same for a caller that has no time to wait; None where there is nothing to wait for."""
        if not usage.calls:
            return None
        call = current_call()
        if call is None or call.principal is None or len(self._running) >= MAX_WAITING:
            self._lose(tier, usage, "nobody" if call is None or call.principal is None else "too_many")
            return None
        request = pb.RecordUsageRequest(
            agent_id=agent_id,
            conversation_id=conversation_id,
            tier=tier.value,
            model=clean(model)[:MAX_MODEL] or UNNAMED,
            sum=pb.CallSum(
                calls=usage.calls,
                estimated_calls=usage.estimated_calls,
                tokens=pb.CallTokens(input=usage.input_tokens, output=usage.output_tokens),
            ),
        )
        task = asyncio.create_task(self._write(call.principal.tenant, request, tier, usage))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    def beside(self, metrics: ModelMetrics) -> Used:
        """For callers with no time and no conversation: counted in the metrics, and kept by and by."""

        def used(agent_id: str, tier: Tier, model: str, usage: Usage) -> None:
            metrics.used(tier, usage)
            self.later(agent_id, "", tier, model, usage)

        return used

    async def close(self) -> None:
        """Waits for what is under way, which takes RECORD_SECONDS at most."""
        await asyncio.gather(*self._running)

    async def _write(self, tenant: str, request: pb.RecordUsageRequest, tier: Tier, usage: Usage) -> None:
        agents = frozenset({request.agent_id})
        service = Principal(tenant=tenant, role=Role.SERVICE, agents=agents, subject=self._service)
        call = current_call()
        # Without the deadline of the call that it was for: that one may be over.
        with serving(CallInfo(request_id=call.request_id if call else new_id(), principal=service)):
            try:
                await self._history.RecordUsage(request, timeout=RECORD_SECONDS)
            except PalimpsestError as error:
                self._lose(tier, usage, error.reason)

    def _lose(self, tier: Tier, usage: Usage, reason: str) -> None:
        self.lost.inc(usage.calls)
        self._log.warning("usage_unrecorded", reason=reason, tier=tier.value, calls=usage.calls)
