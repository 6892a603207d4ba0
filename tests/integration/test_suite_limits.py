"""Budgets of tenants through the whole suite: who may set them, what they hold back (SPEC G-5, G-12)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from itertools import count
from typing import Any

import grpc
import pytest
import pytest_asyncio
from google.protobuf.field_mask_pb2 import FieldMask
from google.rpc.error_details_pb2 import ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status
from grpc_health.v1 import health_pb2, health_pb2_grpc
from palimpsest.chat.v1 import chat_pb2
from palimpsest.gateway.v1 import administration_pb2, conversations_pb2
from palimpsest.history.v1 import history_pb2
from palimpsest.settings.v1 import settings_pb2 as pb

from services.gateway.chats import ChatChoices
from services.kit.identity import Role
from services.kit.models.settings import ModelSettings
from tests.integration.chat_suite import events_of, tier
from tests.integration.embedded_suite import AGENT, Running, failure, prepare, running, said
from tests.scripted_model import ScriptedModel, scripted_model, stream

pytestmark = pytest.mark.asyncio(loop_scope="module")
NUMBERS = count()
CODE = grpc.StatusCode
PATIENCE = 20.0  # seconds
DEPLOYMENT = {
    "PALIMPSEST_GATEWAY_LIMIT_CONCURRENT_STREAMS": "50",
    "PALIMPSEST_GATEWAY_LIMIT_PRICES": '{"standard": {"input": 2, "output": 10}}',
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def model() -> AsyncIterator[ScriptedModel]:
    async with scripted_model() as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def suite(tmp_path_factory: pytest.TempPathFactory, model: ScriptedModel) -> AsyncIterator[Running]:
    with pytest.MonkeyPatch.context() as environment:
        for name, value in DEPLOYMENT.items():
            environment.setenv(name, value)
        chat = ChatChoices(models=ModelSettings(standard=tier(model)))
        async with running(tmp_path_factory.mktemp("suite") / "data", chat=chat) as made:
            yield made


@pytest.fixture
def tenant() -> str:
    return f"tenant-{next(NUMBERS)}"


async def limited(suite: Running, tenant: str, role: Role = Role.ADMIN, **budgets: Any) -> Any:
    """Calls of a tenant under these budgets."""
    stub = await suite.stub(await suite.key(role, tenant))
    if budgets:
        await put(stub, **budgets)
    return stub


async def put(stub: Any, *, agent: str = "", **budgets: Any) -> Any:
    return await stub.UpdateSettings(
        pb.UpdateSettingsRequest(
            agent_id=agent,
            settings=pb.Settings(budgets=pb.Budgets(**budgets)),
            update_mask=FieldMask(paths=[f"budgets.{name}" for name in budgets]),
        )
    )


async def limits(stub: Any) -> dict[str, pb.Limit]:
    answer = await stub.GetLimits(pb.GetLimitsRequest())
    return {one.name: one for one in answer.limits}


async def until(stub: Any, name: str, left: int) -> None:
    """Returns when so much of a budget is left."""
    async with asyncio.timeout(PATIENCE):
        while True:
            if (await limits(stub))[name].left == left:
                return
            await asyncio.sleep(0.02)


async def refusal(call: Any) -> tuple[str, str, float | None]:
    """Of a call over a budget: its reason, the budget, and seconds to wait."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    assert caught.value.code() is CODE.RESOURCE_EXHAUSTED
    trailing = dict(caught.value.trailing_metadata() or ())
    status = Status.FromString(trailing["grpc-status-details-bin"])
    info, retry = ErrorInfo(), RetryInfo()
    for detail in status.details:
        for target in (info, retry):
            detail.Unpack(target)
    wait = retry.retry_delay.ToNanoseconds() / 1e9 if retry.HasField("retry_delay") else None
    return info.reason, info.metadata["limit"], wait


async def test_calls_over_the_budget_are_refused_whatever_they_are(suite: Running, tenant: str) -> None:
    """G-5: with the reason, the budget, and the time until the next; other tenants and health go on."""
    stub = await limited(suite, tenant)
    await prepare(stub)
    batch = conversations_pb2.IngestRequest(
        agent_id=AGENT, conversation_id="c", messages=[said(f"message {n}") for n in range(500)]
    )
    await put(stub, requests_per_minute=2, request_burst=3)  # holds at once in the process that took it
    await stub.Ingest(batch)
    for _ in range(2):
        await stub.GetSettings(pb.GetSettingsRequest())
    reason, limit, wait = await refusal(stub.GetSettings(pb.GetSettingsRequest()))
    assert (reason, limit) == ("ERROR_REASON_RATE_LIMITED", "requests_per_minute")
    assert wait is not None
    assert 0 < wait <= 30
    other = await limited(suite, f"{tenant}-other")
    await other.GetSettings(pb.GetSettingsRequest())
    async with grpc.aio.insecure_channel(f"127.0.0.1:{suite.port}") as channel:
        for _ in range(10):
            await health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest())


async def test_a_call_that_is_refused_for_its_key_costs_nothing(suite: Running, tenant: str) -> None:
    """G-5: who has no key has no budget to use up."""
    stub = await limited(suite, tenant, requests_per_minute=1, request_burst=5)
    nobody = await suite.stub("pk_0123456789abcdef_wrong")
    for _ in range(10):
        assert (await failure(nobody.GetSettings(pb.GetSettingsRequest())))[0] is CODE.UNAUTHENTICATED
    await stub.GetSettings(pb.GetSettingsRequest())


async def test_so_many_streams_are_open_and_one_that_ends_makes_room(suite: Running, tenant: str) -> None:
    """G-5: also one whose caller just leaves."""
    stub = await limited(suite, tenant)
    await prepare(stub)
    await put(stub, concurrent_streams=2)
    request = history_pb2.WatchConversationRequest(agent_id=AGENT, conversation_id="c")
    open_ones = [stub.WatchConversation(request) for _ in range(2)]
    await until(stub, "concurrent_streams", 0)
    reason, limit, wait = await refusal(stub.WatchConversation(request).read())
    assert (reason, limit) == ("ERROR_REASON_RATE_LIMITED", "concurrent_streams")
    assert wait
    open_ones[0].cancel()
    await until(stub, "concurrent_streams", 1)
    await events_of(stub.WatchJobs(administration_pb2.WatchJobsRequest(until_idle=True)))
    open_ones[1].cancel()


async def test_an_admin_may_lower_and_an_operator_raise(suite: Running, tenant: str) -> None:
    """G-5, G-12: the deployment allows 50 streams."""
    admin = await limited(suite, tenant)
    operator = await limited(suite, tenant, Role.OPERATOR)
    writer = await limited(suite, tenant, Role.WRITER)
    denied: Any = (CODE.PERMISSION_DENIED, "NOT_ALLOWED", [])
    assert await failure(put(writer, concurrent_streams=5)) == denied
    await put(admin, concurrent_streams=5)
    assert await failure(put(admin, concurrent_streams=51)) == denied
    await put(operator, concurrent_streams=70)
    await put(admin, tokens_per_minute=10**9)
    await put(admin, concurrent_streams=60)
    assert await failure(put(admin, concurrent_streams=61)) == denied
    answer = await admin.GetSettings(pb.GetSettingsRequest())
    assert answer.effective.budgets == pb.Budgets(tokens_per_minute=10**9, concurrent_streams=60)
    changes = await admin.ListSettingsChanges(pb.ListSettingsChangesRequest())
    assert [list(change.paths) for change in changes.changes] == [
        ["budgets.concurrent_streams"],
        ["budgets.tokens_per_minute"],
        ["budgets.concurrent_streams"],
        ["budgets.concurrent_streams"],
    ]
    assert changes.changes[0].before.budgets.concurrent_streams == 70


async def test_an_agent_has_no_budgets_and_values_have_bounds(suite: Running, tenant: str) -> None:
    stub = await limited(suite, tenant)
    await prepare(stub)
    invalid = CODE.INVALID_ARGUMENT
    assert await failure(put(stub, agent=AGENT, tokens_per_minute=5)) == (
        invalid,
        "INVALID_FIELD",
        ["update_mask"],
    )
    for call in (put(stub, requests_per_minute=0), put(stub, tokens_per_minute=-1)):
        assert (await failure(call))[:2] == (invalid, "INVALID_FIELD")
    await put(stub, tokens_per_minute=5)
    answer = await stub.GetSettings(pb.GetSettingsRequest(agent_id=AGENT))
    assert answer.effective.budgets == pb.Budgets(tokens_per_minute=5)
    assert not answer.settings.HasField("budgets")


async def test_limits_are_told_to_who_has_the_tenants_keys(suite: Running, tenant: str) -> None:
    """G-5: with what is left."""
    stub = await limited(suite, tenant, tokens_per_minute=7)
    found = await limits(stub)
    assert {name: (one.most, one.left, one.own) for name, one in found.items()} == {
        "tokens_per_minute": (7, 7, True),
        "concurrent_streams": (50, 50, False),
    }
    narrow = await suite.stub(await suite.key(Role.ADMIN, tenant, frozenset({AGENT})))
    for call in (narrow.GetLimits(pb.GetLimitsRequest()), narrow.GetModelSpend(pb.GetModelSpendRequest())):
        assert (await failure(call))[1] == "NOT_ALLOWED"


async def test_chats_spend_and_end_where_the_budget_does(
    suite: Running, model: ScriptedModel, tenant: str
) -> None:
    """G-5, E-11: what a day's chats cost is known by model, and the next one is refused."""
    stub = await limited(suite, tenant, spend_per_day_micros=100)
    await prepare(stub)
    model.script = [stream("fish", usage={"prompt_tokens": 40, "completion_tokens": 5})]
    request = chat_pb2.ChatRequest(
        agent_id=AGENT, conversation_id="c", message=chat_pb2.UserMessage(text="What does it eat?")
    )
    told = await events_of(stub.Chat(request))
    assert told[-1].finished.usage.input_tokens == 40
    rows = (await stub.GetModelSpend(pb.GetModelSpendRequest())).rows
    assert [(row.tier, row.model, row.calls, row.input_tokens, row.spend_micros) for row in rows] == [
        ("standard", "asked-1", 1, 40, 130)
    ], "by the name in the settings: what the endpoint calls itself is the endpoint's to say"
    assert rows[0].day == time.strftime("%Y-%m-%d", time.gmtime())
    left = (await limits(stub))["spend_per_day_micros"]
    assert left.left == -30
    assert 0 < left.wait.ToSeconds() <= 86_400
    reason, limit, wait = await refusal(events_of(stub.Chat(request)))
    assert (reason, limit) == ("ERROR_REASON_RATE_LIMITED", "spend_per_day_micros")
    assert wait
    assert len(model.asked) == 1
