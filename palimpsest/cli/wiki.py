"""`palimpsest wiki`: the pages of themes."""

from __future__ import annotations

import click

from palimpsest.cli.output import say
from palimpsest.cli.session import Connection, connected, json_option, print_json, print_rows
from palimpsest.cli.texts import version_line
from palimpsest.client import AsyncClient
from palimpsest.models import WikiVersion


@click.group("wiki")
def command() -> None:
    """Show the page of a theme, and its versions.

    A branch is named by its id, or by any name it ever had; it gets a page when it is established.
    """


@command.command("show")
@click.argument("branch")
@click.option("--version", type=click.IntRange(1), help="Which.  [default: the newest]")
@json_option
@connected
def show(connection: Connection, branch: str, version: int | None, as_json: bool) -> None:
    """Show a page as markdown."""
    page = connection.run(lambda client: client.wiki_page(branch, version=version or 0))
    if as_json:
        print_json(page)
    else:
        say(page.text)


@command.command("versions")
@click.argument("branch")
@json_option
@connected
def versions(connection: Connection, branch: str, as_json: bool) -> None:
    """List the versions of a page, newest first."""

    async def work(client: AsyncClient) -> list[WikiVersion]:
        return [one async for one in client.wiki_versions(branch)]

    print_rows(connection.run(work), version_line, as_json=as_json)
