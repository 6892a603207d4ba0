"""Between ToolService's messages and tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.struct_pb2 import Struct
from palimpsest.tools.v1 import tools_pb2 as pb

from services.gateway.app.tool_calls import ToolResult
from services.gateway.app.tools import whole
from services.gateway.domain import tool_shapes
from services.gateway.domain.tool_texts import told
from services.gateway.domain.tools import ToolSpec
from services.kit.errors import InvalidField

SHAPES: Mapping[int, Callable[[ToolSpec], dict[str, Any]]] = {
    pb.TOOL_FORMAT_OPENAI: tool_shapes.openai,
    pb.TOOL_FORMAT_ANTHROPIC: tool_shapes.anthropic,
    pb.TOOL_FORMAT_MCP: tool_shapes.mcp,
}


def tool(spec: ToolSpec, wanted: int) -> pb.Tool:
    """On the wire, with its definition in the shape that is wanted, if any."""
    shape = SHAPES.get(wanted)
    return pb.Tool(
        name=spec.name,
        description=spec.description,
        input_schema=_struct(spec.schema),
        read_only=spec.read_only,
        definition=_struct(shape(spec)) if shape else None,
    )


def arguments(request: pb.CallToolRequest) -> dict[str, Any]:
    """As JSON has them. Raises InvalidField for NaN and infinity, which a Struct holds and JSON has not."""
    try:
        made: dict[str, Any] = whole(MessageToDict(request.arguments))
    except ValueError as error:
        raise InvalidField("arguments", "holds a number that is not finite") from error
    return made


def result(made: ToolResult) -> pb.CallToolResponse:
    """On the wire; what was found or stored stands in a fence (G-3)."""
    return pb.CallToolResponse(
        content=told(made.content, is_error=made.is_error),
        is_error=made.is_error,
        structured=None if made.structured is None else _struct(made.structured),
    )


def _struct(value: Mapping[str, Any]) -> Struct:
    return ParseDict(dict(value), Struct())
