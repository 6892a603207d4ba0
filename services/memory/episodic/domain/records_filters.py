"""Filters and orders of records (SPEC W-8), held against the fields that a collection declares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from services.kit.errors import InvalidField
from services.memory.episodic.domain.records import FieldType, Stored

MAX_FILTER_DEPTH = 8
MAX_FILTERS = 64
LAST_CHARACTER = chr(0x10FFFF)
LAST_BEFORE_SURROGATES = "\ud7ff"
FIRST_AFTER_SURROGATES = "\ue000"

Types: TypeAlias = "Mapping[str, FieldType]"


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterValue:
    """A value to compare with, as values of its type are indexed."""

    type: FieldType
    stored: Stored


@dataclass(frozen=True, slots=True, kw_only=True)
class Equals:
    """The field has the value."""

    field: str
    value: FilterValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """An end of a range."""

    value: FilterValue
    inclusive: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """The field lies between the bounds; None is no bound."""

    field: str
    lower: Bound | None
    upper: Bound | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefix:
    """The field begins with the text."""

    field: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class All:
    """Every one of the filters matches."""

    filters: tuple[Filter, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyOf:
    """One of the filters matches, or more."""

    filters: tuple[Filter, ...]


Filter: TypeAlias = "Equals | Range | Prefix | All | AnyOf"


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """By a field, then by id; an empty `field` is by id alone."""

    field: str = ""
    descending: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """Where a page ended; `value` is None in an order by id, and where the field doesn't match."""

    value: Stored | None
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """Which records, in which order, after which position, and how many at most."""

    filter: Filter | None
    order: Order
    after: Position | None
    limit: int


def check_shape(filter_: Filter) -> None:
    """Raises InvalidField for a filter that is too deep, too large or says nothing."""
    for count, (depth, path, node) in enumerate(_walk(filter_), 1):
        if depth > MAX_FILTER_DEPTH:
            raise InvalidField("filter", f"nested more than {MAX_FILTER_DEPTH} deep")
        if count > MAX_FILTERS:
            raise InvalidField("filter", f"more than {MAX_FILTERS} filters")
        match node:
            case Range(lower=None, upper=None):
                raise InvalidField(f"{path}.range", "needs a bound")
            case All(filters=()) | AnyOf(filters=()):
                raise InvalidField(path, "needs a filter")


def check_types(filter_: Filter, types: Types) -> None:
    """Raises InvalidField for a field that isn't declared, or a value of another type."""
    for _, path, node in _walk(filter_):
        match node:
            case Equals(field=field, value=value):
                _check_type(f"{path}.equals", field, value, types)
            case Range(field=field, lower=lower, upper=upper):
                for name, bound in (("lower", lower), ("upper", upper)):
                    if bound is not None:
                        _check_type(f"{path}.range", field, bound.value, types, name)
            case Prefix(field=field):
                if _declared(f"{path}.prefix.field", field, types) is not FieldType.STRING:
                    raise InvalidField(f"{path}.prefix.field", f"{field} is not declared as a string")


def check_order(order: Order, after: Position | None, types: Types) -> FieldType | None:
    """The type of the field that orders, None in an order by id.

    Raises InvalidField for a field that isn't declared, or when the type changed since the page before.
    """
    if not order.field:
        return None
    kind = _declared("order_by.field", order.field, types)
    if after is not None and after.value is not None and isinstance(after.value, str) != kind.is_text:
        raise InvalidField("page_token", f"the type of {order.field} has changed since")
    return kind


def prefix_end(prefix: str) -> str | None:
    """The smallest text, by code points, above all that begin with `prefix`; None if there is none."""
    kept = prefix.rstrip(LAST_CHARACTER)
    if not kept:
        return None
    last = kept[-1]
    after = FIRST_AFTER_SURROGATES if last == LAST_BEFORE_SURROGATES else chr(ord(last) + 1)
    return kept[:-1] + after


def _walk(filter_: Filter) -> Iterator[tuple[int, str, Filter]]:
    """Every filter of the tree with its depth, from 1, and its path."""
    pending = [(1, "filter", filter_)]
    while pending:
        depth, path, node = pending.pop()
        yield depth, path, node
        if isinstance(node, All | AnyOf):
            name = "all" if isinstance(node, All) else "any"
            for index in reversed(range(len(node.filters))):
                pending.append((depth + 1, f"{path}.{name}.filters[{index}]", node.filters[index]))


def _check_type(path: str, field: str, value: FilterValue, types: Types, part: str = "value") -> None:
    declared = _declared(f"{path}.field", field, types)
    if value.type is not declared:
        raise InvalidField(f"{path}.{part}", f"{field} is declared as {declared.name}")


def _declared(path: str, field: str, types: Types) -> FieldType:
    kind = types.get(field)
    if kind is None:
        raise InvalidField(path, f"not an indexed field of the collection: {field}")
    return kind
