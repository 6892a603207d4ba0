"""What models cost is kept in Episodic, whatever becomes of the call that it was for (SPEC E-11)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

from palimpsest.history.v1 import history_pb2 as pb

from services.kit.context import CallInfo, act_as, current_call, serving
from services.kit.errors import DependencyDown, NotFound, PalimpsestError
from services.kit.identity import Principal, Role
from services.kit.models.recording import MAX_MODEL, MAX_WAITING, UNNAMED, EpisodicUsage
from services.kit.models.types import Tier, Usage

if TYPE_CHECKING:
    from palimpsest.history.v1 import history_pb2_grpc

READER = Principal(tenant="t", role=Role.READER, subject="somebody")
USAGE = Usage(calls=3, estimated_calls=1, input_tokens=20, output_tokens=5)


class History:
    """Notes what it is asked, by whom, with which deadline."""

    def __init__(self, error: PalimpsestError | None = None) -> None:
        self.requests: list[pb.RecordUsageRequest] = []
        self.callers: list[CallInfo | None] = []
        self.error = error
        self.open = asyncio.Event()
        self.open.set()

    async def RecordUsage(self, request: pb.RecordUsageRequest, *, timeout: float) -> pb.RecordUsageResponse:
        assert timeout > 0
        await self.open.wait()
        self.requests.append(request)
        self.callers.append(current_call())
        if self.error:
            raise self.error
        return pb.RecordUsageResponse()

    def usage(self) -> EpisodicUsage:
        return EpisodicUsage(cast("history_pb2_grpc.HistoryServiceAsyncStub", self), service="tests")


def lost(usage: EpisodicUsage) -> float:
    [metric] = usage.lost.collect()
    return metric.samples[0].value


async def test_several_calls_are_one_record_by_a_service_of_the_callers_tenant() -> None:
    """E-11: what a reader's recall costs is counted though a reader may not write."""
    history = History()
    with act_as(READER):
        await history.usage().record("a", "c", Tier.FAST, "small", USAGE)
    [request], [caller] = history.requests, history.callers
    assert (request.agent_id, request.conversation_id, request.tier, request.model) == (
        "a",
        "c",
        "fast",
        "small",
    )
    assert (request.sum.calls, request.sum.estimated_calls) == (3, 1)
    assert request.sum.tokens == pb.CallTokens(input=20, output=5)
    assert caller is not None
    assert caller.principal == Principal(
        tenant="t", role=Role.SERVICE, agents=frozenset({"a"}), subject="tests"
    )


async def test_no_call_is_no_record() -> None:
    history = History()
    with act_as(READER):
        await history.usage().record("a", "", Tier.FAST, "small", Usage())
    assert history.requests == []


async def test_the_name_of_a_model_is_made_to_fit() -> None:
    history = History()
    with act_as(READER):
        for name in ("m" * 1000, ""):
            await history.usage().record("a", "", Tier.FAST, name, USAGE)
    assert [one.model for one in history.requests] == ["m" * MAX_MODEL, UNNAMED]


async def test_usage_that_cannot_be_kept_is_counted_and_stops_nothing() -> None:
    for error in (DependencyDown(), NotFound("agent", "a")):
        usage = History(error).usage()
        with act_as(READER):
            await usage.record("a", "", Tier.FAST, "small", USAGE)
        assert lost(usage) == 3


async def test_usage_on_nobodys_behalf_is_counted_as_lost() -> None:
    history = History()
    usage = history.usage()
    await usage.record("a", "", Tier.FAST, "small", USAGE)
    assert (history.requests, lost(usage)) == ([], 3)


async def test_a_caller_that_is_cancelled_or_late_loses_no_record() -> None:
    history = History()
    history.open.clear()
    usage = history.usage()
    with serving(CallInfo(request_id="r", principal=READER, deadline=0.0)):
        task = asyncio.create_task(usage.record("a", "", Tier.FAST, "small", USAGE))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    history.open.set()
    await usage.close()
    assert len(history.requests) == 1
    [caller] = history.callers
    assert caller is not None
    assert (caller.request_id, caller.deadline) == ("r", None)


async def test_records_that_wait_are_bounded() -> None:
    history = History()
    history.open.clear()
    usage = history.usage()
    with act_as(READER):
        for _ in range(MAX_WAITING + 1):
            usage.later("a", "", Tier.FAST, "small", Usage(calls=1))
    assert lost(usage) == 1
    history.open.set()
    await usage.close()
    assert len(history.requests) == MAX_WAITING
