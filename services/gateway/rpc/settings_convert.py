"""Between the messages of settings and their domain."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from palimpsest.common.v1 import recall_pb2
from palimpsest.settings.v1 import policy_pb2
from palimpsest.settings.v1 import settings_pb2 as pb

from services.gateway.app.settings import Found
from services.gateway.domain.budgets import NO_BUDGETS, Budgets
from services.gateway.domain.settings import Change, RefusedTexts, Settings
from services.kit import paging
from services.kit.errors import InvalidField
from services.kit.policy import DataFlow, FusionChoice, FusionKind, Provider
from services.kit.policy_client import CHANNEL_NAMES, effective
from services.kit.times import to_timestamp

CHANNELS = {name: number for number, name in CHANNEL_NAMES.items()}
FLOWS = {
    None: pb.DATA_FLOW_UNSPECIFIED,
    DataFlow.LOCAL_ONLY: pb.DATA_FLOW_LOCAL_ONLY,
    DataFlow.ALLOW_PARTNER: pb.DATA_FLOW_ALLOW_PARTNER,
}
PROVIDERS = {
    None: pb.PROVIDER_UNSPECIFIED,
    Provider.LOCAL: pb.PROVIDER_LOCAL,
    Provider.REMOTE: pb.PROVIDER_REMOTE,
}


def settings(message: pb.Settings) -> Settings:
    """From the wire."""
    found = effective(message)
    return Settings(
        data_flow=found.data_flow,
        provider=found.provider,
        verify=found.verify,
        fusion=found.fusion,
        recall_depth=found.recall_depth,
        budgets=_budgets(message.budgets),
    )


def message(value: Settings) -> pb.Settings:
    """To the wire."""
    return pb.Settings(
        data_flow=FLOWS[value.data_flow],
        provider=PROVIDERS[value.provider],
        verify=value.verify,
        fusion=None if value.fusion is None else _fusion(value.fusion),
        recall_depth=value.recall_depth,
        budgets=pb.Budgets(**dict(value.budgets.items())) if value.budgets != NO_BUDGETS else None,
    )


def _budgets(message: pb.Budgets) -> Budgets:
    return Budgets(**{each.name: value for each, value in message.ListFields()})


def _fusion(choice: FusionChoice) -> recall_pb2.FusionStrategy:
    if choice.kind is FusionKind.ADAPTIVE:
        return recall_pb2.FusionStrategy(adaptive=recall_pb2.AdaptiveFusion())
    weights = [
        recall_pb2.ChannelWeight(channel=CHANNELS[name], weight=weight)  # type: ignore[arg-type]
        for name, weight in sorted(choice.weights.items())
    ]
    return recall_pb2.FusionStrategy(reference=recall_pb2.ReferenceFusion(k=choice.k, weights=weights))


def found(value: Found) -> pb.GetSettingsResponse:
    """What is set, and what holds."""
    return pb.GetSettingsResponse(
        settings=message(value.stored.settings),
        effective=message(value.effective),
        revision=value.stored.revision,
        update_time=to_timestamp(value.stored.updated),
    )


def updated(value: Found) -> pb.UpdateSettingsResponse:
    """The same, after a change."""
    return pb.UpdateSettingsResponse(
        settings=message(value.stored.settings),
        effective=message(value.effective),
        revision=value.stored.revision,
    )


def before(request: pb.ListSettingsChangesRequest) -> int | None:
    """The revision that the page begins below."""
    return paging.number_position(_listing(request), request.page_token)


def change_page(
    request: pb.ListSettingsChangesRequest, rows: Sequence[Change]
) -> pb.ListSettingsChangesResponse:
    """One more row than the page holds says that there is a next one."""
    size = paging.page_size(request.page_size)
    return pb.ListSettingsChangesResponse(
        changes=[_change(row) for row in rows[:size]],
        next_page_token=paging.next_token(
            _listing(request), rows[size - 1].revision if len(rows) > size else None
        ),
    )


def _listing(request: pb.ListSettingsChangesRequest) -> str:
    return f"ListSettingsChanges/{request.agent_id}"


def _change(value: Change) -> pb.SettingsChange:
    return pb.SettingsChange(
        agent_id=value.agent_id,
        revision=value.revision,
        subject=value.subject,
        time=to_timestamp(value.time),
        paths=value.paths,
        before=message(value.before),
        after=message(value.after),
    )


def report(rows: Sequence[RefusedTexts]) -> pb.GetDataFlowReportResponse:
    """In the order given."""
    return pb.GetDataFlowReportResponse(
        refusals=[
            pb.DataFlowRefusals(day=row.day.isoformat(), kind=row.kind, count=row.count) for row in rows
        ]
    )


def totals(request: policy_pb2.ReportRefusalsRequest) -> list[RefusedTexts]:
    """Raises InvalidField for a day that is in no calendar."""
    try:
        return [
            RefusedTexts(day=date.fromisoformat(one.day), kind=one.kind, count=one.count)
            for one in request.totals
        ]
    except ValueError as error:
        raise InvalidField("totals", "a day that is in no calendar") from error
