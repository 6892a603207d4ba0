"""Settings of tenants and agents through the whole suite (SPEC G-12, S-15)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import count
from pathlib import Path
from typing import Any

import grpc
import pytest
import pytest_asyncio
from google.protobuf.field_mask_pb2 import FieldMask
from palimpsest.common.v1 import recall_pb2
from palimpsest.gateway.v1 import conversations_pb2
from palimpsest.settings.v1 import policy_pb2, policy_pb2_grpc
from palimpsest.settings.v1 import settings_pb2 as pb

from services.kit.identity import Principal, Role, TokenSigner
from tests.integration.embedded_suite import Keyed, Running, failure, running

pytestmark = pytest.mark.asyncio(loop_scope="module")
DENIED: tuple[grpc.StatusCode, str, list[str]] = (grpc.StatusCode.PERMISSION_DENIED, "NOT_ALLOWED", [])
LOCAL, ALLOW = pb.DATA_FLOW_LOCAL_ONLY, pb.DATA_FLOW_ALLOW_PARTNER


@pytest.fixture(scope="module")
def numbers() -> count[int]:
    return count()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def suite(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    async with running(tmp_path_factory.mktemp("suite") / "data") as made:
        yield made


@pytest.fixture
def tenant(numbers: count[int]) -> str:
    return f"tenant-{next(numbers)}"


async def caller(
    suite: Running, tenant: str, role: Role = Role.ADMIN, agents: frozenset[str] | None = None
) -> Any:
    return await suite.stub(await suite.key(role, tenant, agents))


async def with_agents(suite: Running, tenant: str, *agents: str) -> Any:
    admin = await caller(suite, tenant)
    for agent in agents:
        await admin.CreateAgent(conversations_pb2.CreateAgentRequest(agent_id=agent))
    return admin


async def put(stub: Any, agent: str = "", revision: int = 0, **fields: Any) -> pb.UpdateSettingsResponse:
    request = pb.UpdateSettingsRequest(
        agent_id=agent,
        settings=pb.Settings(**{name: value for name, value in fields.items() if value is not None}),
        update_mask=FieldMask(paths=list(fields)),
        expected_revision=revision,
    )
    answer: pb.UpdateSettingsResponse = await stub.UpdateSettings(request)
    return answer


async def get(stub: Any, agent: str = "") -> pb.GetSettingsResponse:
    answer: pb.GetSettingsResponse = await stub.GetSettings(pb.GetSettingsRequest(agent_id=agent))
    return answer


async def test_an_agents_settings_fall_to_its_tenants(suite: Running, tenant: str) -> None:
    """G-12: what neither sets is the deployment's."""
    admin = await with_agents(suite, tenant, "ada", "bob")
    assert await get(admin) == pb.GetSettingsResponse(settings=pb.Settings(), effective=pb.Settings())
    await put(admin, verify=False, recall_depth=40, provider=pb.PROVIDER_REMOTE)
    await put(admin, "ada", verify=True, recall_depth=None)
    ada, bob = await get(admin, "ada"), await get(admin, "bob")
    assert ada.settings == pb.Settings(verify=True)
    assert ada.effective == pb.Settings(verify=True, recall_depth=40, provider=pb.PROVIDER_REMOTE)
    assert bob.settings == pb.Settings()
    assert bob.effective == pb.Settings(verify=False, recall_depth=40, provider=pb.PROVIDER_REMOTE)
    assert (ada.revision, bob.revision) == (1, 0)
    assert ada.HasField("update_time")
    assert not bob.HasField("update_time")


@pytest.mark.parametrize(
    ("of_tenant", "of_agent", "holds"),
    [
        (None, None, pb.DATA_FLOW_UNSPECIFIED),
        (LOCAL, ALLOW, LOCAL),
        (ALLOW, LOCAL, LOCAL),
        (ALLOW, None, ALLOW),
        (ALLOW, ALLOW, ALLOW),
        (None, ALLOW, pb.DATA_FLOW_UNSPECIFIED),
        (None, LOCAL, LOCAL),
    ],
)
async def test_an_agent_can_only_tighten_the_data_flow(
    suite: Running, tenant: str, of_tenant: Any, of_agent: Any, holds: Any
) -> None:
    """S-15: an admin of one agent cannot let the tenant's texts out."""
    admin = await with_agents(suite, tenant, "ada")
    await put(admin, data_flow=of_tenant)
    await put(admin, "ada", data_flow=of_agent)
    assert (await get(admin, "ada")).effective.data_flow == holds


async def test_fusion_comes_back_as_it_was_set(suite: Running, tenant: str) -> None:
    """G-12, S-9."""
    admin = await with_agents(suite, tenant, "ada")
    weights = [
        recall_pb2.ChannelWeight(channel=recall_pb2.CHANNEL_KEY, weight=0),
        recall_pb2.ChannelWeight(channel=recall_pb2.CHANNEL_REMOTE, weight=2.5),
    ]
    reference = recall_pb2.FusionStrategy(reference=recall_pb2.ReferenceFusion(k=0, weights=weights))
    adaptive = recall_pb2.FusionStrategy(adaptive=recall_pb2.AdaptiveFusion())
    for fusion in (reference, adaptive):
        await put(admin, fusion=fusion)
        assert (await get(admin)).settings.fusion == fusion
        assert (await get(admin, "ada")).effective.fusion == fusion


async def test_what_is_not_a_setting_or_out_of_bounds_is_refused(suite: Running, tenant: str) -> None:
    """G-12: and nothing is changed."""
    admin = await with_agents(suite, tenant)
    bad = grpc.StatusCode.INVALID_ARGUMENT
    masks = [[], ["unknown"], ["settings.verify"]]
    for paths in masks:
        request = pb.UpdateSettingsRequest(settings=pb.Settings(), update_mask=FieldMask(paths=paths))
        assert await failure(admin.UpdateSettings(request)) == (bad, "INVALID_FIELD", ["update_mask"])
    assert (await failure(put(admin, recall_depth=14)))[2] == ["settings.recall_depth"]
    assert (await failure(put(admin, data_flow=7)))[2] == ["settings.data_flow"]
    assert (await failure(admin.UpdateSettings(pb.UpdateSettingsRequest())))[2] == ["update_mask"]
    unknown = await failure(put(admin, "nobody", verify=True))
    assert unknown[:2] == (grpc.StatusCode.NOT_FOUND, "RESOURCE_NOT_FOUND")
    assert (await get(admin)).revision == 0


async def test_a_revision_that_is_not_the_current_one_is_refused(suite: Running, tenant: str) -> None:
    """G-12."""
    admin = await with_agents(suite, tenant)
    await put(admin, verify=True)
    conflict = await failure(put(admin, revision=2, verify=False))
    assert conflict[:2] == (grpc.StatusCode.ABORTED, "VERSION_CONFLICT")
    assert (await put(admin, revision=1, verify=False)).revision == 2


async def test_every_change_is_kept_with_who_made_it(suite: Running, tenant: str) -> None:
    """G-12."""
    admin = await with_agents(suite, tenant, "ada")
    for depth in (20, 30, 40):
        await put(admin, recall_depth=depth)
    await put(admin, "ada", verify=True)
    request = pb.ListSettingsChangesRequest(page_size=2)
    first = await admin.ListSettingsChanges(request)
    assert [change.after.recall_depth for change in first.changes] == [40, 30]
    assert first.changes[0].before == pb.Settings(recall_depth=30)
    assert first.changes[0].paths == ["recall_depth"]
    assert first.changes[0].subject.startswith("key:")
    request.page_token = first.next_page_token
    rest = await admin.ListSettingsChanges(request)
    assert [change.revision for change in rest.changes] == [1]
    assert rest.next_page_token == ""
    request.agent_id = "ada"
    assert (await failure(admin.ListSettingsChanges(request)))[1] == "INVALID_PAGE_TOKEN"
    own = await admin.ListSettingsChanges(pb.ListSettingsChangesRequest(agent_id="ada"))
    assert [change.after.verify for change in own.changes] == [True]


async def test_who_may_read_and_change(suite: Running, tenant: str) -> None:
    """G-12, G-9: readers read, admins change; a key of some agents reaches those and not the tenant's."""
    admin = await with_agents(suite, tenant, "ada", "bob")
    reader, writer = await caller(suite, tenant, Role.READER), await caller(suite, tenant, Role.WRITER)
    scoped = await caller(suite, tenant, Role.ADMIN, frozenset({"ada"}))
    other = await caller(suite, tenant + "-other", Role.ADMIN)
    await put(admin, verify=False)
    for stub in (reader, writer):
        assert (await get(stub)).settings.verify is False
        assert await failure(put(stub, verify=True)) == DENIED
    await put(scoped, "ada", recall_depth=20)
    assert (await get(scoped, "ada")).effective.verify is False
    for call in (
        get(scoped),
        get(scoped, "bob"),
        put(scoped, verify=True),
        put(scoped, "bob", verify=True),
        scoped.ListSettingsChanges(pb.ListSettingsChangesRequest()),
        scoped.ListSettingsChanges(pb.ListSettingsChangesRequest(agent_id="bob")),
        scoped.GetDataFlowReport(pb.GetDataFlowReportRequest()),
    ):
        assert await failure(call) == DENIED
    assert (await get(other)).revision == 0, "another tenant sees its own"
    assert (await failure(get(await suite.stub(""))))[1] == "CREDENTIAL_INVALID"


async def test_the_face_for_services_takes_their_tokens_alone(suite: Running, tenant: str) -> None:
    """SV-6, S-15: no API key opens it, whatever its role, and no token opens the others."""
    channel = grpc.aio.insecure_channel(f"127.0.0.1:{suite.port}")
    policy = policy_pb2_grpc.PolicyServiceStub(channel)
    asked = policy_pb2.GetEffectiveSettingsRequest()
    forged = TokenSigner(b"y" * 32).mint(Principal(tenant=tenant, role=Role.SERVICE), "gateway")
    for secret in (suite.operator, await suite.key(Role.SERVICE, tenant), forged):
        assert (await failure(Keyed(policy, secret).GetEffectiveSettings(asked)))[1] == "CREDENTIAL_INVALID"
    signer = TokenSigner(suite.secret)
    token = signer.mint(Principal(tenant=tenant, role=Role.SERVICE), "gateway")
    admin = await with_agents(suite, tenant)
    await put(admin, verify=False)
    found = await Keyed(policy, token).GetEffectiveSettings(asked)
    assert found.settings == pb.Settings(verify=False)
    weak = signer.mint(Principal(tenant=tenant, role=Role.ADMIN), "gateway")
    assert await failure(Keyed(policy, weak).GetEffectiveSettings(asked)) == DENIED
    elsewhere = signer.mint(Principal(tenant=tenant, role=Role.SERVICE), "semantic")
    assert (await failure(Keyed(policy, elsewhere).GetEffectiveSettings(asked)))[1] == "CREDENTIAL_INVALID"
    assert (await failure(get(await suite.stub(token))))[1] == "CREDENTIAL_INVALID"
    await channel.close()


async def test_settings_outlive_the_process(tmp_path: Path) -> None:
    """G-12."""
    for expected in (0, 1):
        async with running(tmp_path / "data") as suite:
            stub = await suite.stub()
            assert (await get(stub)).revision == expected
            await put(stub, verify=False)
