"""`palimpsest show`: a conversation with its overlays over the originals."""

from __future__ import annotations

import click

from palimpsest.cli.output import say
from palimpsest.cli.session import Connection, connected, json_option, print_json
from palimpsest.cli.texts import print_message
from palimpsest.client import AsyncClient
from palimpsest.models import Message, RenderedPage


@click.command("show")
@click.argument("conversation_id", metavar="CONVERSATION")
@click.option(
    "--leaf", "leaf_id", default="", help="The message that ends the path.  [default: the active leaf]"
)
@click.option("--path", "plain", is_flag=True, help="Only the messages, without what lies over them.")
@json_option
@connected
def command(connection: Connection, conversation_id: str, leaf_id: str, plain: bool, as_json: bool) -> None:
    """Show CONVERSATION along a path, its summaries over the messages that they cover."""

    async def messages(client: AsyncClient) -> list[Message]:
        return [message async for message in client.path(conversation_id, leaf_id=leaf_id)]

    async def pages(client: AsyncClient) -> list[RenderedPage]:
        return [page async for page in client.render(conversation_id, leaf_id=leaf_id)]

    if plain:
        found = connection.run(messages)
        if as_json:
            print_json(found)
        else:
            for message in found:
                print_message(message)
        return
    shown = connection.run(pages)
    if as_json:
        print_json([one for page in shown for one in page.ranges])
    else:
        for page in shown:
            if page.text:
                say(page.text)
