"""SQL that is written once and runs on SQLite and on PostgreSQL.

A script is a generator: it yields statements, gets their rows, and returns its result. It does no I/O of its
own, so the same script runs in SQLite's threads (`sqlite.SqliteScripts`) and over asyncpg
(`postgres.Postgres`), inside one transaction. A runner may run a script again from its start (a
serialisation failure), so a script changes nothing but the database.

Statements keep to what both engines understand, with three marks of ours:

- `?` stands for an argument (so none may stand in a literal);
- `IN ??` for one argument that is a list;
- `FOR UPDATE [OF x] [SKIP LOCKED]` locks rows in PostgreSQL; SQLite has a single writer and does without.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol, TypeAlias, TypeVar

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
Value: TypeAlias = "str | int | float | bytes | Sequence[str] | Sequence[int] | None"

ARGUMENT = "?"
LIST = "IN ??"
LOCK = re.compile(r" FOR UPDATE( OF \w+)?( SKIP LOCKED)?")
CACHED_STATEMENTS = 1024


class Row(Protocol):
    """A row: its columns by name."""

    def __getitem__(self, name: str) -> Any:
        """One column."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement; with `many`, each item of `arguments` is the arguments of one run, and no rows come."""

    text: str
    arguments: Sequence[Any]
    many: bool = False


Script: TypeAlias = Generator[Statement, Sequence[Row], T]


def fetch(text: str, *arguments: Value) -> Script[Sequence[Row]]:
    """All rows."""
    return (yield Statement(text, arguments))


def first(text: str, *arguments: Value) -> Script[Row | None]:
    """The first row, None without one."""
    rows = yield Statement(text, arguments)
    return rows[0] if rows else None


def execute(text: str, *arguments: Value) -> Script[None]:
    """Runs a statement for its effect."""
    yield Statement(text, arguments)


def execute_many(text: str, arguments: Sequence[Sequence[Value]]) -> Script[None]:
    """Runs a statement once for each item, for its effect; nothing for no items."""
    if arguments:
        yield Statement(text, arguments, many=True)


class SqlDatabase(Protocol):
    """Where scripts run. Both calls raise what the script raises, and DependencyDown when the store fails."""

    async def write(self, script: Callable[[], Script[T]]) -> T:
        """Runs a script in a transaction; returns once it is committed and synced.

        An exception undoes all of it.
        """

    async def read(self, script: Callable[[], Script[T]]) -> T:
        """Runs a script that only reads, within one snapshot."""


@lru_cache(maxsize=CACHED_STATEMENTS)
def for_sqlite(text: str) -> str:
    """The statement as SQLite takes it; a list goes as JSON text."""
    return LOCK.sub("", text).replace(LIST, "IN (SELECT value FROM json_each(?))")


def arguments_for_sqlite(arguments: Sequence[Value]) -> Sequence[Any]:
    """Lists as JSON text."""
    if any(isinstance(argument, list) for argument in arguments):
        return [json.dumps(a, ensure_ascii=False) if isinstance(a, list) else a for a in arguments]
    return arguments


@lru_cache(maxsize=CACHED_STATEMENTS)
def for_postgres(text: str) -> str:
    """The statement as PostgreSQL takes it: numbered arguments, lists as arrays."""
    pieces = text.replace(LIST, "= ANY(?)").split(ARGUMENT)
    numbered = [piece + f"${number}" for number, piece in enumerate(pieces[:-1], 1)]
    return "".join([*numbered, pieces[-1]])
