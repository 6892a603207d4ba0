"""`palimpsest branches`: the continuations of a message."""

from __future__ import annotations

import click

from palimpsest.cli.output import say
from palimpsest.cli.session import Connection, connected, json_option, print_json
from palimpsest.cli.texts import print_message


@click.command("branches")
@click.argument("conversation_id", metavar="CONVERSATION")
@click.argument("message_id", metavar="[MESSAGE]", default="")
@json_option
@connected
def command(connection: Connection, conversation_id: str, message_id: str, as_json: bool) -> None:
    """List the continuations of MESSAGE in CONVERSATION, by default the ways in which it begins."""
    found = connection.run(lambda client: client.branches(conversation_id, message_id))
    if as_json:
        print_json(found)
        return
    for branch in found:
        print_message(branch.first_message, "  (active)" if branch.active else "")
        say(f"    {branch.depth} messages to {branch.leaf_id}")
