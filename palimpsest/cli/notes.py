"""`palimpsest notes`: the scratchpad of a conversation."""

from __future__ import annotations

import click

from palimpsest.cli.output import say
from palimpsest.cli.session import Connection, connected, json_option, print_json
from palimpsest.client import AsyncClient
from palimpsest.models import Notes


@click.command("notes")
@click.argument("conversation_id", metavar="CONVERSATION")
@click.option("--set", "replace", metavar="TEXT", help="Put this in their place.")
@click.option("--append", metavar="TEXT", help="Add this, on a line of its own.")
@click.option("--clear", is_flag=True, help="Remove them.")
@json_option
@connected
def command(
    connection: Connection,
    conversation_id: str,
    replace: str | None,
    append: str | None,
    clear: bool,
    as_json: bool,
) -> None:
    """Print the notes of CONVERSATION, after changing them if that is asked for."""
    if sum((replace is not None, append is not None, clear)) > 1:
        raise click.UsageError("give one of --set, --append and --clear")

    async def work(client: AsyncClient) -> Notes:
        if append is not None:
            return await client.append_notes(conversation_id, append)
        if replace is not None or clear:
            return await client.set_notes(conversation_id, replace or "")
        return await client.notes(conversation_id)

    found = connection.run(work)
    if as_json:
        print_json(found)
    elif found.text:
        say(found.text)
