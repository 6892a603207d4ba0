"""SettingsService for applications, PolicyService for the other services."""

from __future__ import annotations

from typing import Any

from palimpsest.settings.v1 import policy_pb2, policy_pb2_grpc, settings_pb2_grpc
from palimpsest.settings.v1 import settings_pb2 as pb

from services.gateway.app.settings import TenantSettings
from services.gateway.app.usage import TenantUsage
from services.gateway.rpc import limits_convert
from services.gateway.rpc import settings_convert as convert
from services.kit import paging
from services.kit.context import current_principal
from services.kit.serving import Face, roles_of

DESCRIPTOR = pb.DESCRIPTOR.services_by_name["SettingsService"]
POLICY = policy_pb2.DESCRIPTOR.services_by_name["PolicyService"]


class SettingsServicer(settings_pb2_grpc.SettingsServiceServicer):
    """Converts, calls, converts back."""

    def __init__(self, settings: TenantSettings, usage: TenantUsage) -> None:
        self._settings = settings
        self._usage = usage

    async def GetSettings(self, request: pb.GetSettingsRequest, context: Any) -> pb.GetSettingsResponse:
        """See the proto."""
        return convert.found(await self._settings.get(current_principal(), request.agent_id))

    async def UpdateSettings(
        self, request: pb.UpdateSettingsRequest, context: Any
    ) -> pb.UpdateSettingsResponse:
        """See the proto."""
        changed = await self._settings.update(
            current_principal(),
            request.agent_id,
            convert.settings(request.settings),
            list(request.update_mask.paths),
            expected_revision=request.expected_revision or None,
        )
        return convert.updated(changed)

    async def ListSettingsChanges(
        self, request: pb.ListSettingsChangesRequest, context: Any
    ) -> pb.ListSettingsChangesResponse:
        """See the proto."""
        limit = paging.page_size(request.page_size) + 1
        rows = await self._settings.changes(
            current_principal(), request.agent_id, convert.before(request), limit
        )
        return convert.change_page(request, rows)

    async def GetDataFlowReport(
        self, request: pb.GetDataFlowReportRequest, context: Any
    ) -> pb.GetDataFlowReportResponse:
        """See the proto."""
        return convert.report(await self._settings.report(current_principal(), request.days))

    async def GetLimits(self, request: pb.GetLimitsRequest, context: Any) -> pb.GetLimitsResponse:
        """See the proto."""
        return limits_convert.limits(await self._usage.limits(current_principal()))

    async def GetModelSpend(self, request: pb.GetModelSpendRequest, context: Any) -> pb.GetModelSpendResponse:
        """See the proto."""
        return limits_convert.spend(await self._usage.spend(current_principal(), request.days))


class PolicyServicer(policy_pb2_grpc.PolicyServiceServicer):
    """What other services ask, as the tenant that they work for."""

    def __init__(self, settings: TenantSettings) -> None:
        self._settings = settings

    async def GetEffectiveSettings(
        self, request: policy_pb2.GetEffectiveSettingsRequest, context: Any
    ) -> policy_pb2.GetEffectiveSettingsResponse:
        """See the proto."""
        found = await self._settings.in_force(current_principal().tenant, request.agent_id)
        return policy_pb2.GetEffectiveSettingsResponse(settings=convert.message(found))

    async def ReportRefusals(
        self, request: policy_pb2.ReportRefusalsRequest, context: Any
    ) -> policy_pb2.ReportRefusalsResponse:
        """See the proto."""
        await self._settings.record(current_principal().tenant, request.reporter_id, convert.totals(request))
        return policy_pb2.ReportRefusalsResponse()


def settings_faces(settings: TenantSettings, usage: TenantUsage) -> tuple[Face, ...]:
    """Both services."""
    policy, public = PolicyServicer(settings), SettingsServicer(settings, usage)
    return (
        Face(
            name=DESCRIPTOR.full_name,
            add=lambda server: settings_pb2_grpc.add_SettingsServiceServicer_to_server(public, server),
            roles=roles_of(DESCRIPTOR),
        ),
        Face(
            name=POLICY.full_name,
            add=lambda server: policy_pb2_grpc.add_PolicyServiceServicer_to_server(policy, server),
            roles=roles_of(POLICY),
            internal=True,
        ),
    )
