"""Documents between the domain's types and protos."""

from __future__ import annotations

from typing import Any

from google.protobuf.json_format import ParseDict
from google.protobuf.struct_pb2 import Struct, Value
from palimpsest.documents.v1 import documents_pb2 as pb

from services.compactor.app.documents import Choice, Comparison, Place, Position
from services.compactor.domain.documents import Document, FieldChange, Head, VersionInfo
from services.compactor.domain.rolling import FIELDS
from services.compactor.domain.summaries import Section
from services.kit import paging
from services.kit.errors import InvalidField, InvalidPageToken
from services.kit.times import from_timestamp, to_timestamp

MAX_VERSION = 2**62

_PLACES = {
    Place.CACHE: pb.DocumentPlace.DOCUMENT_PLACE_CACHE,
    Place.STORE: pb.DocumentPlace.DOCUMENT_PLACE_STORE,
}


def attractor_choice(request: pb.GetAttractorRequest) -> Choice:
    """Which version."""
    return Choice(version=request.version, newest=request.newest)


def summary_choice(request: pb.GetSummaryRequest) -> Choice:
    """Which version. Raises InvalidField for a time that is none."""
    if not request.HasField("create_time"):
        return Choice(version=request.version)
    try:
        return Choice(created=from_timestamp(request.create_time))
    except ValueError as error:
        raise InvalidField("create_time", "outside the years 1 to 9999") from error


def sections(said: pb.SummarySections) -> dict[Section, list[str]]:
    """As in the domain."""
    return {section: list(getattr(said, name)) for section, name in FIELDS.items()}


def document_proto(document: Document) -> pb.Document:
    """As on the wire."""
    return pb.Document(
        version=document.version,
        create_time=to_timestamp(document.created),
        schema=document.schema.name,
        schema_version=document.schema.version,
        engine=document.engine,
        source_ids=document.source_ids,
        body=ParseDict(dict(document.body), Struct()),
    )


def state_proto(head: Head) -> pb.DocumentState:
    """As on the wire."""
    return pb.DocumentState(
        newest_version=head.version,
        pinned_version=head.pinned,
        frozen_versions=head.frozen,
        stale=head.stale,
    )


def place_proto(place: Place) -> pb.DocumentPlace.ValueType:
    """As on the wire."""
    return _PLACES[place]


def version_proto(head: Head, info: VersionInfo) -> pb.DocumentVersion:
    """As on the wire."""
    return pb.DocumentVersion(
        version=info.version,
        create_time=to_timestamp(info.created),
        schema=info.schema.name,
        schema_version=info.schema.version,
        engine=info.engine,
        size_bytes=info.size,
        frozen=info.version in head.frozen,
        pinned=info.version == head.pinned,
    )


def comparison_response(compared: Comparison) -> pb.CompareAttractorVersionsResponse:
    """As on the wire."""
    return pb.CompareAttractorVersionsResponse(
        before_version=compared.before.document.version,
        after_version=compared.after.document.version,
        changes=map(_change_proto, compared.changes),
    )


def _change_proto(change: FieldChange) -> pb.FieldChange:
    there_before, there_after = change.present
    return pb.FieldChange(
        field=change.name,
        before=_value(change.before) if there_before else None,
        after=_value(change.after) if there_after else None,
    )


def _value(value: Any) -> Value:
    return ParseDict(value, Value())


def version_position(listing: str, token: str) -> int | None:
    """Where a listing of versions goes on. Raises InvalidPageToken."""
    match paging.decode(listing, token):
        case None:
            return None
        case (int(last),) if 0 < last < MAX_VERSION:
            return last
    raise InvalidPageToken


def document_position(listing: str, token: str) -> Position | None:
    """Where a listing of documents goes on. Raises InvalidPageToken."""
    match paging.decode(listing, token):
        case None:
            return None
        case (str(agent_id), str(kind), str(subject)):
            return agent_id, kind, subject
    raise InvalidPageToken
