"""Basins between the domain's types and protos."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from palimpsest.documents.v1 import documents_pb2 as pb

from services.compactor.app.basins import Listed, Named
from services.compactor.app.documents import Choice
from services.compactor.domain.attractor import Change, ChangeKind
from services.compactor.domain.attractor_document import Brief
from services.compactor.rpc.documents_convert import state_proto
from services.kit.times import to_timestamp

_KINDS: Final[Mapping[ChangeKind, pb.BasinChangeKind.ValueType]] = MappingProxyType(
    {
        ChangeKind.BORN: pb.BASIN_CHANGE_KIND_BORN,
        ChangeKind.DIED: pb.BASIN_CHANGE_KIND_DIED,
        ChangeKind.SPLIT: pb.BASIN_CHANGE_KIND_SPLIT,
        ChangeKind.MERGED: pb.BASIN_CHANGE_KIND_MERGED,
        ChangeKind.MOVED: pb.BASIN_CHANGE_KIND_MOVED,
        ChangeKind.RENAMED: pb.BASIN_CHANGE_KIND_RENAMED,
    }
)


def basins_choice(request: pb.ListBasinsRequest) -> Choice:
    """Which version."""
    return Choice(version=request.version, newest=request.newest)


def basin_proto(basin: Brief) -> pb.Basin:
    """As on the wire."""
    return pb.Basin(
        id=basin.id,
        name=basin.name,
        label=basin.label,
        weight=basin.weight,
        member_count=basin.members,
        last_visit_time=to_timestamp(basin.last_visit),
    )


def basins_response(listed: Listed) -> pb.ListBasinsResponse:
    """As on the wire."""
    document = listed.served.document
    return pb.ListBasinsResponse(
        basins=map(basin_proto, listed.basins),
        version=document.version,
        create_time=to_timestamp(document.created),
        conversation_count=listed.conversations,
        drift=listed.drift,
        state=state_proto(listed.served.head),
    )


def named_response(named: Named) -> pb.NameBasinResponse:
    """As on the wire."""
    return pb.NameBasinResponse(basin=basin_proto(named.basin), version=named.version)


def basin_change_proto(change: Change) -> pb.BasinChange:
    """As on the wire."""
    return pb.BasinChange(
        kind=_KINDS[change.kind],
        basin_id=change.basin,
        other_ids=change.others,
        distance=change.distance or 0.0,
    )
