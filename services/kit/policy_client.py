"""The gateway's settings as other services read them, and the refusals that they report to it (SPEC S-15).

Services start and work without the gateway: what is not known lets nothing leave.
"""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextvars import Context
from dataclasses import dataclass, replace
from types import MappingProxyType

import grpc
import structlog
from palimpsest.common.v1 import recall_pb2
from palimpsest.settings.v1 import policy_pb2 as pb
from palimpsest.settings.v1 import policy_pb2_grpc, settings_pb2
from prometheus_client import Counter

from services.kit.context import act_as
from services.kit.errors import PalimpsestError
from services.kit.identity import Principal, Role
from services.kit.ids import new_id
from services.kit.policy import (
    CLOSED,
    DataFlow,
    EffectiveSettings,
    FusionChoice,
    FusionKind,
    Provider,
    RefusalTally,
    Totals,
)
from services.kit.times import Clock, now

FRESH_SECONDS = 3.0
"""S-15: for how long settings are used before they are asked for again."""
STALE_SECONDS = 60.0
"""S-15: for how long they are used while the gateway does not answer; after that nothing leaves."""
ASK_AGAIN_SECONDS = 3.0
"""How long the gateway is left alone after it did not answer."""
ASK_SECONDS = 1.0
"""How long it may take."""
CACHED = 10_000
FLUSH_SECONDS = 2.0
"""S-15: how often refusals are reported; a process that dies loses those since."""
REPORT_SECONDS = 5.0
MAX_TOTALS = 1000  # of a report

CHANNEL_NAMES: Mapping[int, str] = MappingProxyType(
    {
        recall_pb2.CHANNEL_VECTOR: "vector",
        recall_pb2.CHANNEL_KEYWORD: "keyword",
        recall_pb2.CHANNEL_KEY: "key",
        recall_pb2.CHANNEL_MESSAGES: "messages",
        recall_pb2.CHANNEL_HYDE: "hyde",
        recall_pb2.CHANNEL_REMOTE: "remote",
    }
)

_FLOWS = {
    settings_pb2.DATA_FLOW_LOCAL_ONLY: DataFlow.LOCAL_ONLY,
    settings_pb2.DATA_FLOW_ALLOW_PARTNER: DataFlow.ALLOW_PARTNER,
}
_PROVIDERS = {
    settings_pb2.PROVIDER_LOCAL: Provider.LOCAL,
    settings_pb2.PROVIDER_REMOTE: Provider.REMOTE,
}


@dataclass(slots=True)
class _Known:
    """Settings, when they were read, and before when they are not asked for again."""

    settings: EffectiveSettings
    read: float
    ask_from: float


class GatewayPolicies:
    """Asks the gateway, as the tenant, at most every few seconds for each agent."""

    def __init__(
        self,
        channel: grpc.aio.Channel,
        *,
        service: str,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`service` names who asks, in the gateway's log."""
        self._stub = policy_pb2_grpc.PolicyServiceStub(channel)
        self._service = service
        self._monotonic = monotonic
        self._known: OrderedDict[tuple[str, str], _Known] = OrderedDict()
        self._asking: dict[tuple[str, str], asyncio.Task[EffectiveSettings]] = {}
        self._log = structlog.get_logger("policy")

    async def of(self, tenant: str, agent_id: str = "") -> EffectiveSettings:
        """See the port. Callers that come together share one question."""
        key = (tenant, agent_id)
        known = self._known.get(key)
        if known is not None and self._monotonic() < known.ask_from:
            return self._usable(known)
        task = self._asking.get(key)
        if task is None:
            # In a context of its own: one caller's deadline is not the others'.
            task = self._asking[key] = asyncio.create_task(self._ask(key), context=Context())
            task.add_done_callback(lambda _: self._asking.pop(key, None))
        # A caller that gives up does not take the answer from the others.
        return await asyncio.shield(task)

    async def _ask(self, key: tuple[str, str]) -> EffectiveSettings:
        tenant, agent_id = key
        principal = Principal(tenant=tenant, role=Role.SERVICE, subject=self._service)
        try:
            with act_as(principal):
                answer = await self._stub.GetEffectiveSettings(
                    pb.GetEffectiveSettingsRequest(agent_id=agent_id), timeout=ASK_SECONDS
                )
            found = effective(answer.settings)
        except (PalimpsestError, ValueError) as error:
            self._log.warning("policy_unknown", error=type(error).__name__)
            return self._missed(key)
        moment = self._monotonic()
        self._keep(key, _Known(found, moment, moment + FRESH_SECONDS))
        return found

    def _missed(self, key: tuple[str, str]) -> EffectiveSettings:
        """The gateway did not answer: what was known, while that is recent."""
        moment = self._monotonic()
        known = self._known.get(key) or _Known(CLOSED, moment, moment)
        self._keep(key, replace(known, ask_from=moment + ASK_AGAIN_SECONDS))
        return self._usable(known)

    def _usable(self, known: _Known) -> EffectiveSettings:
        return known.settings if self._monotonic() - known.read < STALE_SECONDS else CLOSED

    def _keep(self, key: tuple[str, str], known: _Known) -> None:
        self._known[key] = known
        self._known.move_to_end(key)
        if len(self._known) > CACHED:
            self._known.popitem(last=False)


class CountedRefusals(ABC):
    """A Refused: for Prometheus at once, for the tenant's report in batches."""

    def __init__(self, *, service: str, clock: Clock = now) -> None:
        """`service` is part of the metric's name: services of one process share a registry."""
        self._reporter_id = new_id()
        self._tally = RefusalTally(clock)
        self._log = structlog.get_logger("policy")
        self.counter = Counter(
            f"palimpsest_{service}_texts_kept_in",
            "Texts that a tenant's data flow kept from leaving.",
            ["destination"],
            registry=None,
        )

    def __call__(self, tenant: str, kind: str) -> None:
        """See the port."""
        self.counter.labels(kind).inc()
        self._tally.add(tenant, kind)

    async def run(self) -> None:
        """Reports until cancelled; what fails is reported with the next."""
        while True:
            await asyncio.sleep(FLUSH_SECONDS)
            await self.flush()

    async def flush(self) -> None:
        """Reports what was counted since the last report."""
        for tenant, totals in self._tally.take().items():
            try:
                await self._report(tenant, totals)
            except PalimpsestError as error:
                self._tally.give_back(tenant, totals)
                self._log.warning("refusals_unreported", reason=error.reason)

    @abstractmethod
    async def _report(self, tenant: str, totals: Totals) -> None:
        """Raises PalimpsestError where it is to be tried again."""


class Refusals(CountedRefusals):
    """Reports to the gateway."""

    def __init__(self, channel: grpc.aio.Channel, *, service: str, clock: Clock = now) -> None:
        super().__init__(service=service, clock=clock)
        self._stub = policy_pb2_grpc.PolicyServiceStub(channel)
        self._service = service

    async def _report(self, tenant: str, totals: Totals) -> None:
        rows = [pb.RefusalTotal(day=day, kind=kind, count=n) for (day, kind), n in totals.items()]
        with act_as(Principal(tenant=tenant, role=Role.SERVICE, subject=self._service)):
            for start in range(0, len(rows), MAX_TOTALS):
                request = pb.ReportRefusalsRequest(
                    reporter_id=self._reporter_id, totals=rows[start : start + MAX_TOTALS]
                )
                await self._stub.ReportRefusals(request, timeout=REPORT_SECONDS)


def effective(message: settings_pb2.Settings) -> EffectiveSettings:
    """From the wire. Raises ValueError for a data flow that this version does not know."""
    if message.data_flow and message.data_flow not in _FLOWS:
        raise ValueError("an unknown data flow")
    return EffectiveSettings(
        data_flow=_FLOWS.get(message.data_flow),
        provider=_PROVIDERS.get(message.provider),
        verify=message.verify if message.HasField("verify") else None,
        fusion=fusion_choice(message.fusion) if message.HasField("fusion") else None,
        recall_depth=message.recall_depth if message.HasField("recall_depth") else None,
    )


def fusion_choice(message: recall_pb2.FusionStrategy) -> FusionChoice:
    """From the wire; channels that this version does not know are left out."""
    if message.WhichOneof("strategy") != "reference":
        return FusionChoice(kind=FusionKind.ADAPTIVE)
    return FusionChoice(
        kind=FusionKind.REFERENCE,
        k=message.reference.k if message.reference.HasField("k") else None,
        weights={
            CHANNEL_NAMES[one.channel]: one.weight
            for one in message.reference.weights
            if one.channel in CHANNEL_NAMES
        },
    )
