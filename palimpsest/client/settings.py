"""Calls about settings, and about texts that they kept in."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, fields
from datetime import date
from typing import Literal

from google.protobuf.field_mask_pb2 import FieldMask

from palimpsest import models
from palimpsest.client import incoming, names, outgoing
from palimpsest.client.base import Calls
from palimpsest.common.v1 import recall_pb2
from palimpsest.settings.v1 import settings_pb2 as pb


class SettingsCalls(Calls):
    """Settings of the client's agent; of its tenant with `tenant`."""

    async def settings(self, *, tenant: bool = False) -> models.SettingsState:
        """What is set, and what holds."""
        request = pb.GetSettingsRequest(agent_id=self._level(tenant))
        answer = await self._transport.call(self._transport.stubs.settings.GetSettings, request)
        return models.SettingsState(
            settings=_settings(answer.settings),
            effective=_settings(answer.effective),
            revision=answer.revision,
            update_time=incoming.time_of(answer, "update_time"),
        )

    async def update_settings(
        self,
        settings: models.Settings,
        paths: Sequence[str] | None = None,
        *,
        tenant: bool = False,
        expected_revision: int = 0,
    ) -> models.SettingsState:
        """Changes the fields that `paths` name, those that are set without it; a named None clears one. One
        budget is named as budgets.tokens_per_minute.

        With an `expected_revision`, only if that is the current one: raises VersionConflictError.
        """
        if paths is None:
            paths = [one.name for one in fields(settings) if getattr(settings, one.name) is not None]
        request = pb.UpdateSettingsRequest(
            agent_id=self._level(tenant),
            settings=_message(settings),
            update_mask=FieldMask(paths=paths),
            expected_revision=expected_revision,
        )
        answer = await self._transport.call(self._transport.stubs.settings.UpdateSettings, request)
        return models.SettingsState(
            settings=_settings(answer.settings),
            effective=_settings(answer.effective),
            revision=answer.revision,
        )

    async def settings_changes(
        self, *, tenant: bool = False, page_size: int = 0
    ) -> AsyncIterator[models.SettingsChange]:
        """Who changed what, newest first."""
        request = pb.ListSettingsChangesRequest(agent_id=self._level(tenant), page_size=page_size)
        async for page in self._pages(self._transport.stubs.settings.ListSettingsChanges, request):
            for proto in page.changes:
                yield _change(proto)

    async def data_flow_report(self, *, days: int = 0) -> list[models.DataFlowRefusals]:
        """Texts of the tenant that were kept in, by day and kind, newest first; of 30 days unless said."""
        request = pb.GetDataFlowReportRequest(days=days)
        answer = await self._transport.call(self._transport.stubs.settings.GetDataFlowReport, request)
        return [
            models.DataFlowRefusals(day=date.fromisoformat(one.day), kind=one.kind, count=one.count)
            for one in answer.refusals
        ]

    async def limits(self) -> list[models.Limit]:
        """The tenant's budgets that hold, and what is left of them now."""
        answer = await self._transport.call(self._transport.stubs.settings.GetLimits, pb.GetLimitsRequest())
        return [
            models.Limit(
                name=one.name,
                most=one.most,
                left=one.left,
                wait=one.wait.ToNanoseconds() / 1e9 if one.HasField("wait") else None,
                own=one.own,
            )
            for one in answer.limits
        ]

    async def model_spend(self, *, days: int = 0) -> list[models.ModelSpend]:
        """What calls of models by Chat and Answer took and cost the tenant, newest day first; of 30
        days unless said."""
        request = pb.GetModelSpendRequest(days=days)
        answer = await self._transport.call(self._transport.stubs.settings.GetModelSpend, request)
        return [
            models.ModelSpend(
                day=date.fromisoformat(one.day),
                tier=one.tier,
                model=one.model,
                calls=one.calls,
                estimated_calls=one.estimated_calls,
                input_tokens=one.input_tokens,
                output_tokens=one.output_tokens,
                spend_micros=one.spend_micros,
            )
            for one in answer.rows
        ]

    def _level(self, tenant: bool) -> str:
        return "" if tenant else self._agent


def _message(value: models.Settings) -> pb.Settings:
    fusion = (
        recall_pb2.FusionStrategy(adaptive=recall_pb2.AdaptiveFusion())
        if isinstance(value.fusion, str)
        else outgoing.fusion(value.fusion)
    )
    return pb.Settings(
        data_flow=names.DATA_FLOWS.optional(value.data_flow),
        provider=names.PROVIDERS.optional(value.provider),
        verify=value.verify,
        fusion=fusion,
        recall_depth=value.recall_depth,
        budgets=None if value.budgets is None else pb.Budgets(**asdict(value.budgets)),
    )


def _settings(proto: pb.Settings) -> models.Settings:
    return models.Settings(
        data_flow=names.DATA_FLOWS.name(proto.data_flow) if proto.data_flow else None,
        provider=names.PROVIDERS.name(proto.provider) if proto.provider else None,
        verify=proto.verify if proto.HasField("verify") else None,
        fusion=_fusion(proto.fusion) if proto.HasField("fusion") else None,
        recall_depth=proto.recall_depth if proto.HasField("recall_depth") else None,
        budgets=_budgets(proto.budgets) if proto.HasField("budgets") else None,
    )


def _budgets(proto: pb.Budgets) -> models.Budgets:
    return models.Budgets(**{each.name: value for each, value in proto.ListFields()})


def _fusion(proto: recall_pb2.FusionStrategy) -> models.ReciprocalRank | Literal["adaptive"]:
    if proto.WhichOneof("strategy") != "reference":
        return "adaptive"
    return models.ReciprocalRank(
        k=proto.reference.k if proto.reference.HasField("k") else None,
        weights={names.CHANNELS.name(one.channel): one.weight for one in proto.reference.weights},
    )


def _change(proto: pb.SettingsChange) -> models.SettingsChange:
    return models.SettingsChange(
        agent_id=proto.agent_id,
        revision=proto.revision,
        subject=proto.subject,
        time=incoming.time_of(proto, "time"),
        paths=tuple(proto.paths),
        before=_settings(proto.before),
        after=_settings(proto.after),
    )
