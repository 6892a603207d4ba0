"""What a message says, as the prompt shows it."""

from __future__ import annotations

from google.protobuf.json_format import MessageToJson
from palimpsest.common.v1 import resources_pb2

from services.gateway.domain.layers import one_line


def shown_text(message: resources_pb2.Message) -> tuple[str, str]:
    """What is said, and what tools returned: all parts, one a line. Of a tool's message all is said."""
    said: list[str] = []
    returned: list[str] = []
    for part in message.parts:
        result = part.WhichOneof("kind") == "tool_result" and message.role != resources_pb2.ROLE_TOOL
        (returned if result else said).append(_part(part))
    return "\n".join(said), "\n".join(returned)


def arguments_text(call: resources_pb2.ToolCall) -> str:
    """A call's arguments as JSON on one line."""
    return MessageToJson(call.arguments, indent=None, ensure_ascii=False)


def _part(part: resources_pb2.Part) -> str:
    match part.WhichOneof("kind"):
        case "tool_call":
            return f"(calls {one_line(part.tool_call.name)} {arguments_text(part.tool_call)})"
        case "tool_result":
            return ("error: " if part.tool_result.is_error else "") + part.tool_result.content
        case "attachment":
            what = one_line(part.attachment.media_type) or "a file"
            return f"(sends {what}: {one_line(part.attachment.caption or part.attachment.uri)})"
        case "interruption":
            return "(broken off here)"
        case _:
            return part.text
