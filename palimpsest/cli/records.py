"""`palimpsest records`: collections of JSON records."""

from __future__ import annotations

import json
import re
from typing import Any, get_args

import click

from palimpsest.cli.output import say
from palimpsest.cli.session import Connection, connected, first, json_option, print_json, print_rows
from palimpsest.client import AsyncClient
from palimpsest.models import Collection, Field, FieldType, Filter, Record

LIMIT = 100
_CONDITION = re.compile(r"\s*([A-Za-z0-9_.-]+)\s*(\^=|>=|<=|=|>|<)\s*(.*)", re.DOTALL)


@click.group("records")
def command() -> None:
    """List collections; put, find and delete records."""


@command.command("collections")
@json_option
@connected
def list_collections(connection: Connection, as_json: bool) -> None:
    """List the agent's collections by name."""

    async def work(client: AsyncClient) -> list[Collection]:
        return [one async for one in client.collections()]

    print_rows(connection.run(work), _line, as_json=as_json)


@command.command("create")
@click.argument("collection")
@click.option(
    "--field", "fields", multiple=True, metavar="PATH:TYPE", help="An indexed field, e.g. age:number."
)
@connected
def create_collection(connection: Connection, collection: str, fields: tuple[str, ...]) -> None:
    """Create COLLECTION, or give it other indexed fields."""
    declared = dict(_declared(field) for field in fields)
    made = connection.run(lambda client: client.put_collection(collection, declared))
    say(f"{made.name}: {len(made.fields)} indexed fields")


@command.command("drop")
@click.argument("collection")
@connected
def drop_collection(connection: Connection, collection: str) -> None:
    """Delete COLLECTION with its records."""
    connection.run(lambda client: client.delete_collection(collection))
    say(f"deleted: {collection}")


@command.command("put")
@click.argument("collection")
@click.argument("json_text", metavar="JSON")
@click.option("--id", "record_id", help="Its id.  [default: one that is free]")
@click.option(
    "--expect", "expected_version", type=click.IntRange(0), help="Only if this is the version; 0 for none."
)
@connected
def put_record(
    connection: Connection,
    collection: str,
    json_text: str,
    record_id: str | None,
    expected_version: int | None,
) -> None:
    """Store the object JSON as a record, in the place of the one with its id."""

    async def work(client: AsyncClient) -> Any:
        return await client.put_record(collection, json_text, record_id, expected_version=expected_version)

    stored = connection.run(work)
    say(f"stored: {stored.record_id} (version {stored.version})")


@command.command("get")
@click.argument("collection")
@click.argument("record_id", metavar="RECORD")
@json_option
@connected
def get_record(connection: Connection, collection: str, record_id: str, as_json: bool) -> None:
    """Print a record; with --json its version and times too."""
    found = connection.run(lambda client: client.record(collection, record_id))
    if as_json:
        print_json(_plain(found))
    else:
        say(found.json)


@command.command("delete")
@click.argument("collection")
@click.argument("record_id", metavar="RECORD")
@connected
def delete_record(connection: Connection, collection: str, record_id: str) -> None:
    """Delete a record."""
    connection.run(lambda client: client.delete_record(collection, record_id))
    say(f"deleted: {record_id}")


@command.command("find")
@click.argument("collection")
@click.argument("conditions", metavar="[CONDITION]...", nargs=-1)
@click.option("--order", "order_by", default="", help="An indexed field to order by.  [default: the id]")
@click.option("--descending", is_flag=True, help="From the greatest.")
@click.option("--limit", type=click.IntRange(1), default=LIMIT, show_default=True, help="Most records.")
@json_option
@connected
def find_records(
    connection: Connection,
    collection: str,
    conditions: tuple[str, ...],
    order_by: str,
    descending: bool,
    limit: int,
    as_json: bool,
) -> None:
    """Find the records that meet every CONDITION, such as age>=3, city=Oslo or name^=A (begins with).

    A value is read as JSON; what is no JSON is text.
    """
    where = _filter(conditions)

    async def work(client: AsyncClient) -> list[Record]:
        rows = client.records(collection, where, order_by=order_by, descending=descending)
        return await first(rows, limit)

    records = connection.run(work)
    if as_json:
        print_json([_plain(record) for record in records])
        return
    for record in records:
        say(f"{record.id}  {record.json}")


def _line(one: Collection) -> str:
    fields = ", ".join(f"{field.path}:{field.type}" for field in one.fields)
    return f"{one.name}  {fields}".rstrip()


def _plain(record: Record) -> dict[str, Any]:
    return {
        "id": record.id,
        "version": record.version,
        "create_time": record.create_time,
        "update_time": record.update_time,
        "value": record.value,
    }


def _declared(field: str) -> tuple[str, FieldType]:
    path, _, kind = field.partition(":")
    known: tuple[FieldType, ...] = get_args(FieldType)
    for name in known:
        if name == kind:
            return path, name
    raise click.UsageError(f"{field}: a field is PATH:TYPE with a type of {', '.join(known)}")


def _filter(conditions: tuple[str, ...]) -> Filter | None:
    """All conditions together; None without any."""
    where: Filter | None = None
    for text in conditions:
        condition = _condition(text)
        where = condition if where is None else where & condition
    return where


def _condition(text: str) -> Filter:
    parts = _CONDITION.fullmatch(text)
    if parts is None:
        raise click.UsageError(f"{text}: a condition is FIELD and one of = > >= < <= ^= and a value")
    field, value = Field(parts[1]), _value(parts[3])
    match parts[2]:
        case "=":
            return field.equals(value)
        case "^=":
            return field.starts_with(value if isinstance(value, str) else parts[3])
        case ">=":
            return field.at_least(value)
        case "<=":
            return field.at_most(value)
        case ">":
            return field.more_than(value)
        case _:
            return field.less_than(value)


def _value(text: str) -> str | float | bool:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, str | float | int | bool) else text
