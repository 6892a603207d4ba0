"""`palimpsest fork`: begins a new conversation with the messages up to one of another."""

from __future__ import annotations

import click

from palimpsest.cli.output import say
from palimpsest.cli.session import Connection, connected, json_option, print_json


@click.command("fork")
@click.argument("conversation_id", metavar="CONVERSATION")
@click.argument("message_id", metavar="MESSAGE")
@click.option("--as", "new_id", help="The new conversation's id.  [default: one that is free]")
@click.option("--title", default="", help="Its title.")
@json_option
@connected
def command(
    connection: Connection,
    conversation_id: str,
    message_id: str,
    new_id: str | None,
    title: str,
    as_json: bool,
) -> None:
    """Begin a new conversation with copies of the messages of CONVERSATION up to MESSAGE."""
    made = connection.run(lambda client: client.fork(conversation_id, message_id, new_id, title=title))
    if as_json:
        print_json(made)
    else:
        say(f"{made.id}: {made.depth} messages of {conversation_id}")
