"""Calls about the tools of a conversation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from google.protobuf.json_format import MessageToDict, ParseDict, ParseError
from google.protobuf.struct_pb2 import Struct

from palimpsest import models
from palimpsest.client import names
from palimpsest.client.base import Calls
from palimpsest.client.transport import new_request_id
from palimpsest.tools.v1 import tools_pb2 as pb


class ToolCalls(Calls):
    """What a model may call, and calling it on the model's behalf."""

    async def list_tools(
        self,
        conversation_id: str,
        *,
        format: models.ToolFormat | None = None,
    ) -> list[models.Tool]:
        """The tools that this key may call in a conversation, by name.

        With a format each has its whole `definition` as that API takes it: `[t.definition for t in …]`.
        """
        request = pb.ListToolsRequest(
            agent_id=self._agent,
            conversation_id=conversation_id,
            format=names.TOOL_FORMATS.optional(format),
        )
        answer = await self._transport.call(self._transport.stubs.tools.ListTools, request)
        return [_tool(proto) for proto in answer.tools]

    async def call_tool(
        self,
        conversation_id: str,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> models.ToolOutcome:
        """Runs a tool with the arguments that a model gave. An append is never retried.

        What the model can put right is an outcome with `is_error`. Raises NotFoundError for the conversation,
        ValueError for arguments that are no JSON.
        """
        given = dict(arguments or {})
        request = pb.CallToolRequest(
            agent_id=self._agent,
            conversation_id=conversation_id,
            name=name,
            arguments=_struct(given),
            request_id=request_id or new_request_id(),
        )
        answer = await self._transport.call(
            self._transport.stubs.tools.CallTool,
            request,
            timeout=timeout,
            retry=given.get("action") != "append",
        )
        return models.ToolOutcome(
            content=answer.content,
            is_error=answer.is_error,
            structured=_json(answer.structured) if answer.HasField("structured") else None,
        )


def _tool(proto: pb.Tool) -> models.Tool:
    return models.Tool(
        name=proto.name,
        description=proto.description,
        input_schema=_json(proto.input_schema),
        read_only=proto.read_only,
        definition=_json(proto.definition) if proto.HasField("definition") else None,
    )


def _struct(value: Mapping[str, Any]) -> Struct:
    """Raises ValueError for what is no JSON, nested too deeply, or a number beyond what a float holds."""
    try:
        return ParseDict(dict(value), Struct())
    except (ParseError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise ValueError("the arguments are no JSON object") from error


def _json(value: Struct) -> dict[str, Any]:
    made: dict[str, Any] = _whole(MessageToDict(value))
    return made


def _whole(value: Any) -> Any:
    """A Struct has floats only: those that are whole become integers, as schemas have them.

    It has no order either: names are sorted, so that a definition is the same text each time, by which
    models' prompts are cached.
    """
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _whole(each) for key, each in sorted(value.items())}
    if isinstance(value, list):
        return [_whole(each) for each in value]
    return value
