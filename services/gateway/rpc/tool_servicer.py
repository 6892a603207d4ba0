"""ToolService on the wire."""

from __future__ import annotations

from typing import Any

from palimpsest.tools.v1 import tools_pb2 as pb
from palimpsest.tools.v1 import tools_pb2_grpc

from services.gateway.app.tools import GatewayTools
from services.gateway.rpc import tool_convert as convert
from services.kit.serving import Face, roles_of

DESCRIPTOR = pb.DESCRIPTOR.services_by_name["ToolService"]


class ToolServicer(tools_pb2_grpc.ToolServiceServicer):
    """Converts, calls, converts back."""

    def __init__(self, tools: GatewayTools) -> None:
        self._tools = tools

    async def ListTools(self, request: pb.ListToolsRequest, context: Any) -> pb.ListToolsResponse:
        """See the proto."""
        specs = await self._tools.specs(request.agent_id, request.conversation_id)
        return pb.ListToolsResponse(tools=[convert.tool(spec, request.format) for spec in specs])

    async def CallTool(self, request: pb.CallToolRequest, context: Any) -> pb.CallToolResponse:
        """See the proto."""
        made = await self._tools.call(
            request.agent_id,
            request.conversation_id,
            request.name,
            convert.arguments(request),
            request.request_id,
        )
        return convert.result(made)


def tool_face(tools: GatewayTools) -> Face:
    """The service."""
    servicer = ToolServicer(tools)
    return Face(
        name=DESCRIPTOR.full_name,
        add=lambda server: tools_pb2_grpc.add_ToolServiceServicer_to_server(servicer, server),
        roles=roles_of(DESCRIPTOR),
    )
