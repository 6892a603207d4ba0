"""`palimpsest mcp`: memory for a host of the Model Context Protocol, over standard streams."""

from __future__ import annotations

import click

from palimpsest.cli.failure import Failure
from palimpsest.cli.session import Connection, connected
from palimpsest.client import AsyncClient
from palimpsest.mcp.place import DEFAULT_CONVERSATION, Place


@click.command("mcp")
@click.option(
    "--conversation",
    default=DEFAULT_CONVERSATION,
    show_default=True,
    envvar="PALIMPSEST_CONVERSATION",
    help="Whose tools are served; made if missing. Its contact decides whose memories they reach.",
)
@connected
def command(connection: Connection, conversation: str) -> None:
    """Serve memory to a host of the Model Context Protocol, over standard input and output.

    For the configuration of the host: it starts this command and ends it.
    """
    try:
        from palimpsest.mcp.stdio import serve
    except ImportError as error:
        raise Failure(f"MCP is not installed (no module {error.name}); install palimpsest[mcp]") from error

    async def work(client: AsyncClient) -> None:
        await serve(Place(client=client, conversation_id=conversation))

    connection.run(work)
