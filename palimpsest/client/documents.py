"""StateService's messages and the client's values of them, both ways."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from palimpsest import models
from palimpsest.client import names
from palimpsest.client.incoming import time_of
from palimpsest.client.outgoing import timestamp
from palimpsest.state.v1 import records_pb2, state_pb2


def as_json(value: Mapping[str, Any] | str) -> str:
    """The text to be stored; a string is JSON already. Raises ValueError for what JSON can't say."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(dict(value), ensure_ascii=False, allow_nan=False)
    except TypeError as error:
        raise ValueError(f"no JSON: {error}") from error


def document(proto: state_pb2.StateDocument, *, created: bool = False) -> models.StateDocument:
    """A state document."""
    return models.StateDocument(
        json=proto.json,
        version=proto.version,
        update_time=time_of(proto, "update_time"),
        created=created,
    )


def change(proto: state_pb2.WatchStateResponse) -> models.StateChange:
    """A change of a state document."""
    return models.StateChange(
        version=proto.version,
        json=proto.json,
        deleted=proto.deleted,
        time=time_of(proto, "time"),
        skipped=proto.skipped,
    )


def collection(proto: records_pb2.Collection) -> models.Collection:
    """A collection."""
    return models.Collection(
        name=proto.name,
        fields=tuple(
            models.IndexedField(path=one.path, type=names.FIELDS.name(one.type)) for one in proto.fields
        ),
        create_time=time_of(proto, "create_time"),
        update_time=time_of(proto, "update_time"),
    )


def record(proto: records_pb2.Record) -> models.Record:
    """A record."""
    return models.Record(
        id=proto.id,
        json=proto.json,
        version=proto.version,
        create_time=time_of(proto, "create_time"),
        update_time=time_of(proto, "update_time"),
    )


def stored_record(proto: records_pb2.PutRecordResponse) -> models.StoredRecord:
    """What became of a record."""
    return models.StoredRecord(
        record_id=proto.record_id,
        version=proto.version,
        create_time=time_of(proto, "create_time"),
        update_time=time_of(proto, "update_time"),
    )


def indexed_fields(fields: Mapping[str, models.FieldType]) -> list[records_pb2.IndexedField]:
    """Declared fields: paths with their types."""
    return [
        records_pb2.IndexedField(path=path, type=names.FIELDS.number(kind)) for path, kind in fields.items()
    ]


def filter_proto(value: models.Filter) -> records_pb2.Filter:
    """A filter; TypeError for one that `Field` didn't make."""
    match value:
        case models.Equals():
            equals = records_pb2.Equals(field=value.field, value=_value(value.value))
            return records_pb2.Filter(equals=equals)
        case models.InRange():
            return records_pb2.Filter(range=_range(value))
        case models.StartsWith():
            return records_pb2.Filter(prefix=records_pb2.Prefix(field=value.field, text=value.text))
        case models.AllOf():
            return records_pb2.Filter(all=_list(value.filters))
        case models.AnyOf():
            return records_pb2.Filter(any=_list(value.filters))
    raise TypeError(f"no filter: {type(value).__name__}")


def _list(filters: tuple[models.Filter, ...]) -> records_pb2.FilterList:
    return records_pb2.FilterList(filters=map(filter_proto, filters))


def _range(value: models.InRange) -> records_pb2.Range:
    made = records_pb2.Range(field=value.field)
    if value.lower is not None:
        (made.more_than if value.from_open else made.at_least).CopyFrom(_value(value.lower))
    if value.upper is not None:
        (made.less_than if value.to_open else made.at_most).CopyFrom(_value(value.upper))
    return made


def _value(value: models.FilterValue) -> records_pb2.FilterValue:
    match value:
        case bool():  # before numbers: it is one in Python
            return records_pb2.FilterValue(flag=value)
        case str():
            return records_pb2.FilterValue(text=value)
        case datetime():
            return records_pb2.FilterValue(time=timestamp(value))
        case _:
            return records_pb2.FilterValue(number=value)
