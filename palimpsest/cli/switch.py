"""`palimpsest switch`: makes another path of a conversation the active one."""

from __future__ import annotations

import click

from palimpsest.cli.output import say
from palimpsest.cli.session import Connection, connected, json_option, print_json


@click.command("switch")
@click.argument("conversation_id", metavar="CONVERSATION")
@click.argument("message_id", metavar="MESSAGE")
@json_option
@connected
def command(connection: Connection, conversation_id: str, message_id: str, as_json: bool) -> None:
    """Make the path to MESSAGE the active one; where others follow it, to the newest leaf below."""
    conversation = connection.run(lambda client: client.switch_leaf(conversation_id, message_id))
    if as_json:
        print_json(conversation)
    else:
        say(f"{conversation.id} ends with {conversation.leaf_id}, {conversation.depth} messages")
