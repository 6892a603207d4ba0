"""The settings in force as a service learns them, and the texts that they kept in (SPEC S-15, G-12)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from palimpsest.common.v1 import recall_pb2
from palimpsest.settings.v1 import policy_pb2, policy_pb2_grpc, settings_pb2
from prometheus_client import CollectorRegistry

from services.kit.context import CallInfo, current_principal, serving
from services.kit.errors import DataFlowRefused, DependencyDown
from services.kit.identity import Principal, Role, TokenSigner, TokenVerifier
from services.kit.inprocess import InProcessServer
from services.kit.interceptors import CallInterceptor
from services.kit.metrics import Metrics
from services.kit.policy import (
    CLOSED,
    Bounded,
    DataFlow,
    EffectiveSettings,
    FusionChoice,
    FusionKind,
    Gate,
    Provider,
    RefusalTally,
)
from services.kit.policy_client import (
    ASK_AGAIN_SECONDS,
    FRESH_SECONDS,
    STALE_SECONDS,
    GatewayPolicies,
    Refusals,
    effective,
)
from services.kit.serving import outgoing

SECRET = b"x" * 32
METHODS = ("GetEffectiveSettings", "ReportRefusals")
SERVICE = "/palimpsest.settings.v1.PolicyService"
OPEN = settings_pb2.Settings(data_flow=settings_pb2.DATA_FLOW_ALLOW_PARTNER)
SHUT = settings_pb2.Settings(data_flow=settings_pb2.DATA_FLOW_LOCAL_ONLY)


@dataclass
class Gateway(policy_pb2_grpc.PolicyServiceServicer):
    """Answers as it is told to."""

    settings: settings_pb2.Settings = field(default_factory=lambda: OPEN)
    down: bool = False
    slow_seconds: float = 0.0
    asked: list[tuple[str, str]] = field(default_factory=list)
    reports: list[tuple[str, str, dict[tuple[str, str], int]]] = field(default_factory=list)

    async def GetEffectiveSettings(
        self, request: policy_pb2.GetEffectiveSettingsRequest, context: Any
    ) -> policy_pb2.GetEffectiveSettingsResponse:
        self.asked.append((current_principal().tenant, request.agent_id))
        await asyncio.sleep(self.slow_seconds)
        if self.down:
            raise DependencyDown
        return policy_pb2.GetEffectiveSettingsResponse(settings=self.settings)

    async def ReportRefusals(
        self, request: policy_pb2.ReportRefusalsRequest, context: Any
    ) -> policy_pb2.ReportRefusalsResponse:
        if self.down:
            raise DependencyDown
        totals = {(one.day, one.kind): one.count for one in request.totals}
        self.reports.append((current_principal().tenant, request.reporter_id, totals))
        return policy_pb2.ReportRefusalsResponse()


@dataclass
class Time:
    seconds: float = 1000.0

    def __call__(self) -> float:
        return self.seconds


@dataclass
class Day:
    now: datetime = datetime(2026, 3, 1, 9, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@asynccontextmanager
async def channel_to(gateway: Gateway) -> AsyncIterator[Any]:
    server: Any = InProcessServer()
    server.add_interceptor(
        CallInterceptor(
            authenticator=TokenVerifier(SECRET, "gateway"),
            roles={
                f"{SERVICE}/{method}": Role.SERVICE for method in ("GetEffectiveSettings", "ReportRefusals")
            },
            timeouts={},
            metrics=Metrics(),
        )
    )
    policy_pb2_grpc.add_PolicyServiceServicer_to_server(gateway, server)
    yield outgoing(server.channel(), "gateway", TokenSigner(SECRET))


async def test_settings_are_asked_for_as_the_tenant_and_used_for_a_while() -> None:
    """S-15: at the time of use, and not with each call."""
    gateway, time = Gateway(), Time()
    async with channel_to(gateway) as channel:
        policies = GatewayPolicies(channel, service="semantic", monotonic=time)
        found = await asyncio.gather(*(policies.of("acme", "ada") for _ in range(5)))
        assert all(one.may_leave for one in found)
        assert gateway.asked == [("acme", "ada")], "together they ask once"
        time.seconds += FRESH_SECONDS / 2
        await policies.of("acme", "ada")
        assert len(gateway.asked) == 1
        gateway.settings = SHUT
        time.seconds += FRESH_SECONDS
        assert not (await policies.of("acme", "ada")).may_leave
        await policies.of("acme")
        await policies.of("bank", "ada")
        assert gateway.asked[-2:] == [("acme", ""), ("bank", "ada")]


async def test_without_the_gateway_what_was_known_holds_for_a_minute_and_then_nothing_leaves() -> None:
    """S-15: fail closed."""
    gateway, time = Gateway(), Time()
    async with channel_to(gateway) as channel:
        policies = GatewayPolicies(channel, service="semantic", monotonic=time)
        assert (await policies.of("acme")).may_leave
        gateway.down = True
        time.seconds += STALE_SECONDS - 1
        assert (await policies.of("acme")).may_leave
        asked = len(gateway.asked)
        await policies.of("acme")
        assert len(gateway.asked) == asked, "it is left alone for a moment"
        time.seconds += 1
        assert await policies.of("acme") == CLOSED
        assert await policies.of("bank") == CLOSED, "of others nothing was ever known"
        gateway.down = False
        time.seconds += ASK_AGAIN_SECONDS
        assert (await policies.of("acme")).may_leave


async def test_a_policy_of_a_later_version_lets_nothing_leave() -> None:
    """S-15."""
    gateway = Gateway()
    gateway.settings = settings_pb2.Settings.FromString(b"\x08\x63")
    async with channel_to(gateway) as channel:
        assert await GatewayPolicies(channel, service="semantic").of("acme") == CLOSED


async def test_a_callers_deadline_is_not_the_others() -> None:
    """S-15: the answer is shared, the impatience of one is not."""
    gateway = Gateway(slow_seconds=0.05)
    async with channel_to(gateway) as channel:
        policies = GatewayPolicies(channel, service="semantic")
        hurried = CallInfo(request_id="r", principal=Principal(tenant="acme", role=Role.READER), deadline=0.0)
        with serving(hurried):
            first = asyncio.create_task(policies.of("acme"))
            await asyncio.sleep(0)
        second = asyncio.create_task(policies.of("acme"))
        await asyncio.sleep(0.01)
        first.cancel()
        assert (await second).may_leave
        assert len(gateway.asked) == 1


@dataclass
class Fixed:
    settings: EffectiveSettings

    async def of(self, tenant: str, agent_id: str = "") -> EffectiveSettings:
        return self.settings


ALLOW, LOCAL = DataFlow.ALLOW_PARTNER, DataFlow.LOCAL_ONLY


@pytest.mark.parametrize(
    ("deployment", "chosen", "known", "leaves"),
    [
        (ALLOW, None, True, True),
        (ALLOW, ALLOW, True, True),
        (ALLOW, LOCAL, True, False),
        (LOCAL, None, True, False),
        (LOCAL, ALLOW, True, False),
        (LOCAL, LOCAL, True, False),
        (ALLOW, None, False, False),
        (ALLOW, ALLOW, False, False),
    ],
)
async def test_a_deployments_data_flow_is_the_default_and_cannot_be_loosened(
    deployment: DataFlow, chosen: DataFlow | None, known: bool, leaves: bool
) -> None:
    """S-15."""
    refused: list[tuple[str, str]] = []
    settings = EffectiveSettings(data_flow=chosen, known=known, recall_depth=20)
    policies = Bounded(policies=Fixed(settings), deployment=deployment)
    gate = Gate(policies, lambda tenant, kind: refused.append((tenant, kind)), "hyde")
    assert (await policies.of("acme")).recall_depth == 20, "the rest is as it was chosen"
    if leaves:
        await gate.check("acme", "ada")
        assert refused == []
        return
    with pytest.raises(DataFlowRefused):
        await gate.check("acme", "ada")
    assert refused == [("acme", "hyde")]


@pytest.mark.parametrize(
    ("deployment", "chosen", "known", "waits"),
    [
        (ALLOW, LOCAL, False, True),
        (ALLOW, None, False, True),
        (LOCAL, ALLOW, False, False),
        (ALLOW, LOCAL, True, False),
    ],
)
async def test_a_text_that_can_wait_is_refused_by_what_is_known_alone(
    deployment: DataFlow, chosen: DataFlow | None, known: bool, waits: bool
) -> None:
    """S-15: nothing leaves meanwhile, and it is no refusal to be counted."""
    refused: list[tuple[str, str]] = []
    policies = Bounded(
        policies=Fixed(EffectiveSettings(data_flow=chosen, known=known)), deployment=deployment
    )
    gate = Gate(policies, lambda tenant, kind: refused.append((tenant, kind)), "embedding")
    with pytest.raises(DependencyDown if waits else DataFlowRefused):
        await gate.check("acme", "ada", can_wait=True)
    assert refused == ([] if waits else [("acme", "embedding")])


def test_settings_come_from_the_wire_whole() -> None:
    """G-12: what is not set stays so."""
    assert effective(settings_pb2.Settings()) == EffectiveSettings()
    reference = recall_pb2.ReferenceFusion(
        k=0, weights=[recall_pb2.ChannelWeight(channel=recall_pb2.CHANNEL_HYDE, weight=0)]
    )
    message = settings_pb2.Settings(
        data_flow=settings_pb2.DATA_FLOW_LOCAL_ONLY,
        provider=settings_pb2.PROVIDER_REMOTE,
        verify=False,
        fusion=recall_pb2.FusionStrategy(reference=reference),
        recall_depth=15,
    )
    assert effective(message) == EffectiveSettings(
        data_flow=DataFlow.LOCAL_ONLY,
        provider=Provider.REMOTE,
        verify=False,
        fusion=FusionChoice(kind=FusionKind.REFERENCE, k=0, weights={"hyde": 0}),
        recall_depth=15,
    )


def test_totals_of_a_day_grow_and_are_taken_once() -> None:
    """S-15: a day that is over is not kept."""
    clock = Day()
    tally = RefusalTally(clock)
    for _ in range(3):
        tally.add("acme", "hyde")
    tally.add("bank", "embedding")
    assert tally.take() == {
        "acme": {("2026-03-01", "hyde"): 3},
        "bank": {("2026-03-01", "embedding"): 1},
    }
    assert tally.take() == {}
    tally.add("acme", "hyde")
    taken = tally.take()
    assert taken == {"acme": {("2026-03-01", "hyde"): 4}}
    tally.add("acme", "hyde")
    tally.give_back("acme", taken["acme"])
    assert tally.take() == {"acme": {("2026-03-01", "hyde"): 5}}, "the newer total stands"
    clock.now += timedelta(days=1)
    tally.add("acme", "hyde")
    assert tally.take() == {"acme": {("2026-03-02", "hyde"): 1}}


def test_what_was_given_back_outlives_the_day() -> None:
    """S-15: a gateway that was away over midnight learns of it."""
    clock = Day()
    tally = RefusalTally(clock)
    tally.add("acme", "hyde")
    taken = tally.take()
    clock.now += timedelta(days=1)
    tally.take()
    tally.give_back("acme", taken["acme"])
    tally.add("acme", "hyde")
    assert tally.take() == {"acme": {("2026-03-01", "hyde"): 1, ("2026-03-02", "hyde"): 1}}


async def test_refusals_are_counted_at_once_and_reported_when_the_gateway_is_there() -> None:
    """S-15: no text goes along, only counts."""
    gateway, registry = Gateway(down=True), CollectorRegistry()
    async with channel_to(gateway) as channel:
        refusals = Refusals(channel, service="semantic", clock=Day())
        registry.register(refusals.counter)
        refusals("acme", "hyde")
        refusals("bank", "hyde")
        name = "palimpsest_semantic_texts_kept_in_total"
        assert registry.get_sample_value(name, {"destination": "hyde"}) == 2
        await refusals.flush()
        assert gateway.reports == []
        gateway.down = False
        refusals("acme", "hyde")
        await refusals.flush()
        assert {(tenant, *totals.items()) for tenant, _, totals in gateway.reports} == {
            ("acme", (("2026-03-01", "hyde"), 2)),
            ("bank", (("2026-03-01", "hyde"), 1)),
        }
        assert len({reporter for _, reporter, _ in gateway.reports}) == 1
        await refusals.flush()
        assert len(gateway.reports) == 2
