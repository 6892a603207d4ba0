"""Records and their indexed fields (SPEC W-8). Times are microseconds since 1970, UTC."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from typing import Any, TypeAlias

from services.kit.errors import InvalidField, LimitExceeded, StateConflict
from services.kit.times import to_micros
from services.memory.episodic.domain.checks import utf8_length
from services.memory.episodic.domain.state import JsonObject

MAX_COLLECTIONS = 1_000  # of an agent, W-8
MAX_FIELDS = 16  # of a collection
MAX_INDEXED_BYTES = 1_024  # of a text; PostgreSQL's index entries hold 2,704 with all keys
MAX_REINDEXED_RECORDS = 10_000  # in one transaction
MAX_REINDEXED_BYTES = 268_435_456
TIME_OFFSET = 10**18  # makes the microseconds of all years from 1 to 9999 positive
TIME_DIGITS = 19

# RFC 3339; the digits after the sixth of a fraction are cut.
TIME = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:(\.\d{1,6})\d*)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)


class FieldType(IntEnum):
    """What an indexed field holds; the numbers are the wire's."""

    STRING = 1
    NUMBER = 2
    BOOL = 3
    TIME = 4

    @property
    def is_text(self) -> bool:
        """Whether its values are kept as text; else they are kept as doubles."""
        return self in (FieldType.STRING, FieldType.TIME)


Stored: TypeAlias = "str | float"  # a value as it is indexed; those of one field compare as values do


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedField:
    """A field of records, at a path of names joined by dots."""

    path: str
    type: FieldType


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionKey:
    """Names a collection."""

    tenant: str
    agent_id: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """A set of records; `fields` are in order of their paths."""

    name: str
    fields: tuple[IndexedField, ...]
    create_time: int
    update_time: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A record's content: the text as it was given, and what it says."""

    json: str
    value: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """A record without its content."""

    id: str
    version: int
    create_time: int
    update_time: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A record."""

    stamp: Stamp
    json: str


def in_order(fields: Sequence[IndexedField]) -> tuple[IndexedField, ...]:
    """By path. Raises InvalidField for a path that is named twice."""
    seen: set[str] = set()
    for index, field in enumerate(fields):
        if field.path in seen:
            raise InvalidField(f"fields[{index}].path", "named twice")
        seen.add(field.path)
    return tuple(sorted(fields, key=lambda field: field.path))


def check_collection_count(count: int) -> None:
    """Raises LimitExceeded when an agent that has `count` collections may have no more."""
    if count >= MAX_COLLECTIONS:
        raise LimitExceeded(
            "the agent has too many collections",
            metadata={"limit": str(MAX_COLLECTIONS), "actual": str(count + 1)},
        )


def check_reindexing(count: int, total_bytes: int) -> None:
    """Raises StateConflict when so many records are too many to index anew."""
    for limit, actual in ((MAX_REINDEXED_RECORDS, count), (MAX_REINDEXED_BYTES, total_bytes)):
        if actual > limit:
            raise StateConflict(
                "the collection is too large for a change of its fields",
                metadata={"limit": str(limit), "actual": str(actual)},
            )


def indexed_values(document: JsonObject, fields: Sequence[IndexedField]) -> dict[str, Stored]:
    """The values of a record by path; a field that is missing or of another type has none.

    Raises InvalidField for a text that is too long.
    """
    values = {field.path: stored_value(field.type, _at(document, field.path)) for field in fields}
    for path, value in values.items():
        if isinstance(value, str) and utf8_length(value) > MAX_INDEXED_BYTES:
            raise InvalidField("json", f"the text at {path} is indexed, so at most {MAX_INDEXED_BYTES} bytes")
    return {path: value for path, value in values.items() if value is not None}


def stored_value(kind: FieldType, value: Any) -> Stored | None:
    """How a JSON value is indexed; None if it is not of this type."""
    match kind:
        case FieldType.STRING:
            return value if isinstance(value, str) else None
        case FieldType.NUMBER:
            return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
        case FieldType.BOOL:
            return float(value) if isinstance(value, bool) else None
        case FieldType.TIME:
            moment = parse_time(value) if isinstance(value, str) else None
            return None if moment is None else time_key(moment)


def parse_time(text: str) -> int | None:
    """Microseconds of a time of RFC 3339; None for any other text."""
    found = TIME.fullmatch(text)
    if found is None:
        return None
    day, clock, fraction, offset = found.groups(default="")
    try:
        return to_micros(datetime.fromisoformat(f"{day}T{clock}{fraction}{offset.upper()}"))
    except ValueError:
        return None


def time_key(micros: int) -> str:
    """A moment as a text that sorts as moments do."""
    return f"{micros + TIME_OFFSET:0{TIME_DIGITS}d}"


def _at(document: JsonObject, path: str) -> Any:
    value: Any = document
    for name in path.split("."):
        if not isinstance(value, Mapping) or name not in value:
            return None
        value = value[name]
    return value
