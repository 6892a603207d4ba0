"""`palimpsest state`: an application's state documents."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from typing import Any, TypeVar

import click

from palimpsest.cli.output import say
from palimpsest.cli.session import Connection, connected, json_option, print_json
from palimpsest.client import AsyncClient

CommandT = TypeVar("CommandT", bound=Callable[..., Any])


def _document(function: CommandT) -> CommandT:
    for option in (
        click.option("--name", default="", help='Which document.  [default: "default"]'),
        click.option(
            "--conversation",
            "conversation_id",
            default="",
            help="The conversation that it belongs to.  [default: the agent]",
        ),
    ):
        function = option(function)
    return function


_expected = click.option(
    "--expect", "expected_version", type=click.IntRange(0), help="Only if this is the version; 0 for none."
)


@click.group("state")
def command() -> None:
    """Read, write and watch state documents."""


@command.command("get")
@_document
@json_option
@connected
def get_state(connection: Connection, name: str, conversation_id: str, as_json: bool) -> None:
    """Print a document; with --json its version and time too."""
    found = connection.run(lambda client: client.state(name, conversation_id=conversation_id))
    if as_json:
        print_json({"version": found.version, "update_time": found.update_time, "value": found.value})
    else:
        say(found.json)


@command.command("set")
@click.argument("json_text", metavar="JSON")
@_expected
@_document
@connected
def set_state(
    connection: Connection, json_text: str, expected_version: int | None, name: str, conversation_id: str
) -> None:
    """Replace a document with the object JSON, or create it."""

    async def work(client: AsyncClient) -> int:
        stored = await client.set_state(
            json_text, name, conversation_id=conversation_id, expected_version=expected_version
        )
        return stored.version

    say(f"stored: version {connection.run(work)}")


@command.command("delete")
@_expected
@_document
@connected
def delete_state(
    connection: Connection, expected_version: int | None, name: str, conversation_id: str
) -> None:
    """Delete a document."""

    async def work(client: AsyncClient) -> int:
        return await client.delete_state(
            name, conversation_id=conversation_id, expected_version=expected_version
        )

    say(f"deleted: version {connection.run(work)}")


@command.command("watch")
@click.option("--after", type=click.IntRange(0), default=0, help="Begin after this version.")
@click.option("--count", "limit", type=click.IntRange(1), help="End after so many changes.")
@_document
@json_option
@connected
def watch_state(
    connection: Connection, after: int, limit: int | None, name: str, conversation_id: str, as_json: bool
) -> None:
    """Print every version of a document as it comes, until interrupted. --json prints a line for each."""

    async def work(client: AsyncClient) -> None:
        seen = 0
        changes = client.watch_state(name, conversation_id=conversation_id, after_version=after)
        async with aclosing(changes):
            async for change in changes:
                if as_json:
                    print_json(change, line=True)
                else:
                    say(f"{change.version}  {'deleted' if change.deleted else change.json}")
                seen += 1
                if seen == limit:
                    return

    connection.run(work)
