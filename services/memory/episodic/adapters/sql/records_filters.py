"""Filters and orders of records as SQL (SPEC W-8). What comes from a caller is an argument, never SQL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from services.kit.sql import Row, Script, Value, fetch
from services.memory.episodic.domain.records import CollectionKey, FieldType
from services.memory.episodic.domain.records_filters import (
    All,
    AnyOf,
    Bound,
    Equals,
    Filter,
    FilterValue,
    Position,
    Prefix,
    Query,
    Range,
    prefix_end,
)

TEXT = "text_value"
NUMBER = "number_value"
OF_COLLECTION = "tenant = ? AND agent_id = ? AND collection = ?"


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of SQL and its arguments."""

    text: str
    arguments: Sequence[Value] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """A record that matches: where it stands in the order, and the bytes of its content."""

    position: Position
    size: int


def find(key: CollectionKey, query: Query, kind: FieldType | None, count: int) -> Script[Sequence[Found]]:
    """The first `count` records of the query after its position, in order.

    `kind` is the type of the field that orders, None in an order by id. The filter's fields and values are
    those that the collection declares. Both scans walk an index in order, so a page costs what it passes.
    """
    finder = _Finder(key, query)
    if kind is None:
        return (yield from finder.by_id(count))
    found: list[Found] = []
    if query.after is None or query.after.value is not None:
        found += yield from finder.by_value(TEXT if kind.is_text else NUMBER, count)
    if len(found) < count:
        found += yield from finder.without_value(count - len(found))
    return found


class _Finder:
    def __init__(self, key: CollectionKey, query: Query) -> None:
        self._scope: tuple[Value, ...] = (key.tenant, key.agent_id, key.name)
        self._query = query
        self._filter = _condition(query.filter, self._scope) if query.filter else Piece("TRUE")
        self._beyond, self._direction = ("<", " DESC") if query.order.descending else (">", "")

    def by_id(self, count: int) -> Script[list[Found]]:
        after = self._query.after
        return (yield from self._by_id(Piece("TRUE"), None if after is None else after.id, count))

    def without_value(self, count: int) -> Script[list[Found]]:
        """Those that the ordering field doesn't match, by id."""
        after = self._query.after
        lacking = Piece(
            f"NOT EXISTS (SELECT 1 FROM record_fields WHERE {OF_COLLECTION} AND id = r.id AND field = ?)",
            (*self._scope, self._query.order.field),
        )
        start = after.id if after is not None and after.value is None else None
        return (yield from self._by_id(lacking, start, count))

    def _by_id(self, condition: Piece, start: str | None, count: int) -> Script[list[Found]]:
        going_on = Piece("TRUE") if start is None else Piece(f"r.id {self._beyond} ?", (start,))
        rows = yield from fetch(
            f"SELECT r.id, r.size FROM records r WHERE {_qualified('r')} AND {condition.text}"
            f" AND {going_on.text} AND {self._filter.text} ORDER BY r.id{self._direction} LIMIT ?",
            *self._scope,
            *condition.arguments,
            *going_on.arguments,
            *self._filter.arguments,
            count,
        )
        return _found(rows, lambda _: None)

    def by_value(self, column: str, count: int) -> Script[list[Found]]:
        """Those that the ordering field matches, by its value."""
        after = self._query.after
        going_on = Piece("TRUE")
        if after is not None:
            going_on = Piece(f"(f.{column}, f.id) {self._beyond} (?, ?)", (after.value, after.id))
        rows = yield from fetch(
            f"SELECT r.id, r.size, f.{column} AS value FROM record_fields f JOIN records r"
            " ON r.tenant = f.tenant AND r.agent_id = f.agent_id AND r.collection = f.collection"
            " AND r.id = f.id"
            f" WHERE {_qualified('f')} AND f.field = ? AND f.{column} IS NOT NULL AND {going_on.text}"
            f" AND {self._filter.text} ORDER BY f.{column}{self._direction}, f.id{self._direction} LIMIT ?",
            *self._scope,
            self._query.order.field,
            *going_on.arguments,
            *self._filter.arguments,
            count,
        )
        return _found(rows, lambda row: row["value"])


def _found(rows: Sequence[Row], value: Callable[[Row], str | float | None]) -> list[Found]:
    return [Found(Position(value=value(row), id=row["id"]), row["size"]) for row in rows]


def _qualified(table: str) -> str:
    return f"{table}.tenant = ? AND {table}.agent_id = ? AND {table}.collection = ?"


def _condition(filter_: Filter, scope: Sequence[Value]) -> Piece:
    """A condition on the table `r`."""
    if isinstance(filter_, All):
        return _joined(" AND ", [_condition(inner, scope) for inner in filter_.filters])
    ids = _ids(filter_, scope)
    return Piece(f"r.id IN ({ids.text})", ids.arguments)


def _ids(filter_: Filter, scope: Sequence[Value]) -> Piece:
    """A SELECT of the ids of the records that match, some perhaps twice.

    Sets of ids all the way down, so that every comparison is a range of an index.
    """
    match filter_:
        case Equals(field=field, value=value):
            return _having(field, scope, [_compare("=", value)])
        case Range(field=field, lower=lower, upper=upper):
            return _having(field, scope, [*_bound(">", lower), *_bound("<", upper)])
        case Prefix(field=field, text=text):
            return _having(field, scope, _begins(text))
        case AnyOf(filters=filters):
            return _joined(" UNION ALL ", [_ids(inner, scope) for inner in filters])
        case All(filters=filters):
            sets = [_ids(inner, scope) for inner in filters]
            rest = "".join(f" AND id IN ({one.text})" for one in sets[1:])
            arguments = [argument for one in sets for argument in one.arguments]
            return Piece(f"SELECT id FROM ({sets[0].text}) AS s WHERE TRUE{rest}", arguments)


def _joined(word: str, pieces: Sequence[Piece]) -> Piece:
    arguments = [argument for piece in pieces for argument in piece.arguments]
    return Piece(word.join(piece.text for piece in pieces), arguments)


def _having(field: str, scope: Sequence[Value], tests: Sequence[Piece]) -> Piece:
    """The ids of the records whose row for the field passes all tests."""
    passed = _joined("", [Piece(f" AND {test.text}", test.arguments) for test in tests])
    return Piece(
        f"SELECT id FROM record_fields WHERE {OF_COLLECTION} AND field = ?{passed.text}",
        [*scope, field, *passed.arguments],
    )


def _begins(prefix: str) -> list[Piece]:
    end = prefix_end(prefix)
    below = [] if end is None else [Piece(f"{TEXT} < ?", (end,))]
    return [Piece(f"{TEXT} >= ?", (prefix,)), *below]


def _bound(sign: str, bound: Bound | None) -> list[Piece]:
    if bound is None:
        return []
    return [_compare(sign + "=" if bound.inclusive else sign, bound.value)]


def _compare(sign: str, value: FilterValue) -> Piece:
    return Piece(f"{TEXT if value.type.is_text else NUMBER} {sign} ?", (value.stored,))
