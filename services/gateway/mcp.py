"""Wires the Model Context Protocol into the HTTP face, where it is wanted and installed (SPEC G-10)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import grpc
from starlette.routing import BaseRoute, Route

from services.gateway.config import GatewaySettings, split_origins
from services.gateway.http.refusals import Refusals
from services.kit.errors import StartupError
from services.kit.identity import Authenticator

PATH = "/mcp"


def mcp_mounts(
    settings: GatewaySettings, authenticator: Authenticator, refusals: Refusals
) -> Callable[[grpc.aio.Channel], Sequence[BaseRoute]]:
    """Makes the routes, none unless they are wanted. Raises StartupError where the extra is not installed."""
    if not settings.mcp:
        return lambda _channel: ()
    try:
        from services.gateway.http.mcp_face import McpFace
    except ImportError as error:
        raise StartupError(
            f"PALIMPSEST_GATEWAY_MCP needs palimpsest[mcp] (no module {error.name})"
        ) from error
    origins = split_origins(settings.http_origins)

    def over(channel: grpc.aio.Channel) -> Sequence[BaseRoute]:
        face = McpFace(channel, authenticator=authenticator, origins=origins, refusals=refusals)
        return (Route(PATH, face),)

    return over
