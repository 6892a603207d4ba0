"""`palimpsest task`: the ongoing task of a conversation."""

from __future__ import annotations

import click

from palimpsest.cli.output import say
from palimpsest.cli.session import Connection, connected, json_option, print_json
from palimpsest.client import AsyncClient
from palimpsest.errors import NotFoundError
from palimpsest.models import Task


@click.command("task")
@click.argument("conversation_id", metavar="CONVERSATION")
@click.option("--set", "text", metavar="TEXT", help="Make this the task.")
@click.option("--clear", is_flag=True, help="End the task.")
@json_option
@connected
def command(
    connection: Connection, conversation_id: str, text: str | None, clear: bool, as_json: bool
) -> None:
    """Print the ongoing task of CONVERSATION, after changing it if that is asked for."""
    if text is not None and clear:
        raise click.UsageError("give one of --set and --clear")

    async def work(client: AsyncClient) -> Task | None:
        if text is not None:
            return await client.set_task(conversation_id, text)
        if clear:
            await client.clear_task(conversation_id)
            return None
        try:
            return await client.task(conversation_id)
        except NotFoundError as error:
            if error.metadata.get("resource") == "task":
                return None
            raise

    found = connection.run(work)
    if as_json:
        print_json(found)
    elif found is not None:
        say(found.text)
