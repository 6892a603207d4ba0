"""State documents and records between the wire and the domain."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from palimpsest.state.v1 import records_pb2, state_pb2

from services.kit import paging
from services.kit.errors import InvalidField, InvalidPageToken
from services.memory.episodic.app.records import RecordPage
from services.memory.episodic.domain.records import (
    Collection,
    CollectionKey,
    FieldType,
    IndexedField,
    Record,
    Stamp,
    Stored,
    time_key,
)
from services.memory.episodic.domain.records_filters import (
    All,
    AnyOf,
    Bound,
    Equals,
    Filter,
    FilterValue,
    Order,
    Position,
    Prefix,
    Query,
    Range,
)
from services.memory.episodic.domain.state import DEFAULT_NAME, StateKey, StateVersion, fits_double
from services.memory.episodic.rpc.convert import micros, stamp_of


def state_key(tenant: str, request: Any) -> StateKey:
    """The document that a request names."""
    return StateKey(
        tenant=tenant,
        agent_id=request.agent_id,
        conversation_id=request.conversation_id,
        name=request.name or DEFAULT_NAME,
    )


def expected_version(request: Any) -> int | None:
    """None when the request doesn't say."""
    return request.expected_version if request.HasField("expected_version") else None


def get_state_response(found: StateVersion, created: bool) -> state_pb2.GetStateResponse:
    """As on the wire."""
    document = state_pb2.StateDocument(
        json=found.json or "", version=found.version, update_time=stamp_of(found.time)
    )
    return state_pb2.GetStateResponse(document=document, created=created)


def watch_response(change: StateVersion) -> state_pb2.WatchStateResponse:
    """As on the wire."""
    return state_pb2.WatchStateResponse(
        version=change.version,
        json=change.json or "",
        deleted=change.json is None,
        time=stamp_of(change.time),
        skipped=change.skipped,
    )


def collection_key(tenant: str, request: Any) -> CollectionKey:
    """The collection that a request names."""
    return CollectionKey(tenant=tenant, agent_id=request.agent_id, name=request.collection)


def indexed_fields(fields: Iterable[records_pb2.IndexedField]) -> list[IndexedField]:
    """As the domain has them."""
    return [IndexedField(path=field.path, type=FieldType(field.type)) for field in fields]


def collection_proto(collection: Collection) -> records_pb2.Collection:
    """As on the wire."""
    return records_pb2.Collection(
        name=collection.name,
        fields=[
            records_pb2.IndexedField(path=field.path, type=int(field.type))  # type: ignore[arg-type]
            for field in collection.fields
        ],
        create_time=stamp_of(collection.create_time),
        update_time=stamp_of(collection.update_time),
    )


def record_proto(record: Record) -> records_pb2.Record:
    """As on the wire."""
    return records_pb2.Record(
        id=record.stamp.id,
        json=record.json,
        version=record.stamp.version,
        create_time=stamp_of(record.stamp.create_time),
        update_time=stamp_of(record.stamp.update_time),
    )


def put_response(stamp: Stamp) -> records_pb2.PutRecordResponse:
    """As on the wire."""
    return records_pb2.PutRecordResponse(
        record_id=stamp.id,
        version=stamp.version,
        create_time=stamp_of(stamp.create_time),
        update_time=stamp_of(stamp.update_time),
    )


def query_of(request: records_pb2.QueryRecordsRequest) -> Query:
    """Raises InvalidField, InvalidPageToken."""
    return Query(
        filter=_filter("filter", request.filter) if request.HasField("filter") else None,
        order=Order(field=request.order_by.field, descending=request.order_by.descending),
        after=_position(request),
        limit=paging.page_size(request.page_size),
    )


def query_response(
    request: records_pb2.QueryRecordsRequest, page: RecordPage
) -> records_pb2.QueryRecordsResponse:
    """As on the wire."""
    token = ""
    if page.last is not None:
        value, last = page.last.value, page.last.id
        token = paging.encode(_listing(request), (last,) if value is None else (last, value))
    return records_pb2.QueryRecordsResponse(records=map(record_proto, page.records), next_page_token=token)


def _listing(request: records_pb2.QueryRecordsRequest) -> str:
    """Names a query with all that its pages must have in common."""
    filters = request.filter.SerializeToString(deterministic=True).hex()
    order = f"{request.order_by.field} {request.order_by.descending}"
    return f"QueryRecords {request.agent_id} {request.collection} {order} {filters}"


def _position(request: records_pb2.QueryRecordsRequest) -> Position | None:
    match paging.decode(_listing(request), request.page_token):
        case None:
            return None
        case (str(last),) if _storable(last):
            return Position(value=None, id=last)
        case (str(last), str(text)) if request.order_by.field and _storable(last) and _storable(text):
            return Position(value=text, id=last)
        case (str(last), int(number) | float(number)) if (
            request.order_by.field and _storable(last) and fits_double(number)
        ):
            return Position(value=float(number), id=last)
    raise InvalidPageToken


def _storable(text: str) -> bool:
    """Whether a store can compare with the text: no NUL, no lone surrogates."""
    return "\x00" not in text and text.encode("utf-8", "ignore").decode("utf-8") == text


def _filter(path: str, filter_: records_pb2.Filter) -> Filter:
    match filter_.WhichOneof("kind"):
        case "equals":
            value = _value(f"{path}.equals.value", filter_.equals.value)
            return Equals(field=filter_.equals.field, value=value)
        case "range":
            return _range(f"{path}.range", filter_.range)
        case "prefix":
            _check_storable(f"{path}.prefix.text", filter_.prefix.text)
            return Prefix(field=filter_.prefix.field, text=filter_.prefix.text)
        case "all":
            return All(filters=_filters(f"{path}.all", filter_.all))
        case "any":
            return AnyOf(filters=_filters(f"{path}.any", filter_.any))
        case _:
            raise InvalidField(path, "holds no condition")


def _filters(path: str, listed: records_pb2.FilterList) -> tuple[Filter, ...]:
    return tuple(_filter(f"{path}.filters[{index}]", one) for index, one in enumerate(listed.filters))


def _range(path: str, range_: records_pb2.Range) -> Range:
    return Range(
        field=range_.field,
        lower=_bound(path, range_, range_.WhichOneof("lower")),
        upper=_bound(path, range_, range_.WhichOneof("upper")),
    )


def _bound(path: str, range_: records_pb2.Range, name: str | None) -> Bound | None:
    if name is None:
        return None
    value = _value(f"{path}.{name}", getattr(range_, name))
    return Bound(value=value, inclusive=name in ("at_least", "at_most"))


def _value(path: str, value: records_pb2.FilterValue) -> FilterValue:
    stored: Stored
    match value.WhichOneof("kind"):
        case "text":
            _check_storable(f"{path}.text", value.text)
            kind, stored = FieldType.STRING, value.text
        case "number":
            if not math.isfinite(value.number):
                raise InvalidField(f"{path}.number", "not finite")
            kind, stored = FieldType.NUMBER, value.number
        case "flag":
            kind, stored = FieldType.BOOL, float(value.flag)
        case "time":
            kind, stored = FieldType.TIME, time_key(micros(f"{path}.time", value.time))
        case _:
            raise InvalidField(path, "holds no value")
    return FilterValue(type=kind, stored=stored)


def _check_storable(path: str, text: str) -> None:
    if not _storable(text):
        raise InvalidField(path, "holds a NUL character")
