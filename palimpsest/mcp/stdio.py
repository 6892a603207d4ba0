"""MCP over the standard streams of this process."""

from __future__ import annotations

from mcp.server.stdio import stdio_server

from palimpsest.mcp.place import Place
from palimpsest.mcp.server import make_server


async def serve(place: Place) -> None:
    """Serves one host until it closes its end; standard output is the protocol's."""
    server = make_server(lambda _context: place)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
