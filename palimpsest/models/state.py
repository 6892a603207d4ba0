"""State documents, collections of records, and filters over records."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from palimpsest.models.names import FieldType

FilterValue = str | float | bool | datetime
"""A value of a filter; its type must be that of the field: text, number, bool, or an aware time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateDocument:
    """A state document as stored, byte for byte; `created` if the read that returned it stored it."""

    json: str
    version: int
    update_time: datetime | None
    created: bool = False

    @property
    def value(self) -> dict[str, Any]:
        """The document, parsed."""
        return _parsed(self.json)


@dataclass(frozen=True, slots=True, kw_only=True)
class StateVersion:
    """A version of a state document that was stored."""

    version: int
    update_time: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StateChange:
    """One change of a state document; `skipped` if changes before it are no longer kept."""

    version: int
    json: str
    deleted: bool
    time: datetime | None
    skipped: bool

    @property
    def value(self) -> dict[str, Any] | None:
        """The document, parsed; None when it was deleted."""
        return None if self.deleted else _parsed(self.json)


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedField:
    """A field that records can be found and ordered by, e.g. "address.city"."""

    path: str
    type: FieldType


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """A named set of records of an agent."""

    name: str
    fields: tuple[IndexedField, ...]
    create_time: datetime | None
    update_time: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A record as stored, byte for byte."""

    id: str
    json: str
    version: int
    create_time: datetime | None
    update_time: datetime | None

    @property
    def value(self) -> dict[str, Any]:
        """The record, parsed."""
        return _parsed(self.json)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRecord:
    """What became of a record that was put."""

    record_id: str
    version: int
    create_time: datetime | None
    update_time: datetime | None


class Filter:
    """Which records are wanted. Filters are made by `Field` and combined with & and |."""

    __slots__ = ()

    def __and__(self, other: Filter) -> AllOf:
        return AllOf(filters=(*_parts(self, AllOf), *_parts(other, AllOf)))

    def __or__(self, other: Filter) -> AnyOf:
        return AnyOf(filters=(*_parts(self, AnyOf), *_parts(other, AnyOf)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Equals(Filter):
    """The field has the value."""

    field: str
    value: FilterValue


@dataclass(frozen=True, slots=True, kw_only=True)
class InRange(Filter):
    """The field lies between the bounds; `from_open` and `to_open` leave the bound itself out."""

    field: str
    lower: FilterValue | None = None
    upper: FilterValue | None = None
    from_open: bool = False
    to_open: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StartsWith(Filter):
    """The field's text begins so."""

    field: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AllOf(Filter):
    """All of the filters match."""

    filters: tuple[Filter, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyOf(Filter):
    """One of the filters matches, or more."""

    filters: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class Field:
    """An indexed field of records: Field("age").at_least(3) & Field("city").equals("Oslo")."""

    path: str

    def equals(self, value: FilterValue) -> Filter:
        """It has the value."""
        return Equals(field=self.path, value=value)

    def at_least(self, value: FilterValue) -> Filter:
        """It is the value or more."""
        return InRange(field=self.path, lower=value)

    def more_than(self, value: FilterValue) -> Filter:
        """It is more than the value."""
        return InRange(field=self.path, lower=value, from_open=True)

    def at_most(self, value: FilterValue) -> Filter:
        """It is the value or less."""
        return InRange(field=self.path, upper=value)

    def less_than(self, value: FilterValue) -> Filter:
        """It is less than the value."""
        return InRange(field=self.path, upper=value, to_open=True)

    def between(self, lower: FilterValue, upper: FilterValue) -> Filter:
        """It is one of the values or between them."""
        return InRange(field=self.path, lower=lower, upper=upper)

    def starts_with(self, text: str) -> Filter:
        """Its text begins so."""
        return StartsWith(field=self.path, text=text)


def _parts(filter_: Filter, kind: type[AllOf] | type[AnyOf]) -> tuple[Filter, ...]:
    """The filters that stand together already, so that a chain of & is one level deep."""
    return filter_.filters if isinstance(filter_, kind) else (filter_,)


def _parsed(text: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(text)
    return value
