"""The tools of a conversation, for the caller that is being served (SPEC G-6, G-7, W-6).

Who may do what is decided here, for each call and argument: the conversation decides the contact and the
agent, and no argument names another. The services behind judge the caller's role once more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from google.protobuf.json_format import MessageToDict
from palimpsest.episodic.v1 import episodic_pb2
from palimpsest.working.v1 import context_pb2

from services.gateway.app import tool_calls
from services.gateway.app.backends import Backends
from services.gateway.app.tool_calls import ToolCall, ToolResult
from services.gateway.app.tool_ports import ToolDefinition
from services.gateway.domain.tools import CONTEXT_LEAST, ToolSpec, own_tools
from services.kit.context import current_principal
from services.kit.errors import PalimpsestError, Reason

Problems = Callable[[Mapping[str, Any], Mapping[str, Any]], list[str]]
"""What is wrong with arguments by a JSON Schema, a line each."""

OUTCOMES = frozenset(
    {
        Reason.INVALID_FIELD,
        Reason.INVALID_PAGE_TOKEN,
        Reason.TEXT_TOO_LONG,
        Reason.RESOURCE_NOT_FOUND,
        Reason.RESOURCE_EXISTS,
        Reason.STATE_CONFLICT,
        Reason.VERSION_CONFLICT,
        Reason.LIMIT_EXCEEDED,
        Reason.NOT_ALLOWED,
    }
)
"""Errors that a model can act on; all others are the call's."""

UNKNOWN = "There is no tool of this name here. The tools are: {}."
REFUSED = "The application's credential does not allow {}: it may only read."


class GatewayTools:
    """Implements the port Tools over the services behind."""

    def __init__(self, backends: Backends, problems: Problems) -> None:
        self._backends = backends
        self._problems = problems

    async def specs(self, agent_id: str, conversation_id: str) -> list[ToolSpec]:
        """The tools that the caller's role may call, by name. Raises NotFound, DependencyDown."""
        contact_id = await self._contact(agent_id, conversation_id)
        role = current_principal().role
        return [spec for spec in await self._all(agent_id, conversation_id, contact_id) if spec.least <= role]

    async def definitions(self, agent_id: str, conversation_id: str) -> Sequence[ToolDefinition]:
        """See the port."""
        return [
            ToolDefinition(name=spec.name, description=spec.description, input_schema=spec.schema)
            for spec in await self.specs(agent_id, conversation_id)
        ]

    async def call(
        self,
        agent_id: str,
        conversation_id: str,
        name: str,
        arguments: Mapping[str, Any],
        request_id: str = "",
    ) -> ToolResult:
        """See the port; a `request_id` makes a retry of `remember` return the first answer."""
        contact_id = await self._contact(agent_id, conversation_id)
        specs = {spec.name: spec for spec in own_tools(with_contact=bool(contact_id))}
        if name not in specs:  # only then is it worth a call to ask for those of blocks
            specs = {spec.name: spec for spec in await self._all(agent_id, conversation_id, contact_id)}
        role = current_principal().role
        spec = specs.get(name)
        if spec is None:
            return _failed(UNKNOWN.format(", ".join(one for one in specs if specs[one].least <= role)))
        if spec.least > role:
            return _failed(REFUSED.format(spec.name))
        given = {key: value for key, value in arguments.items() if value is not None}
        if found := self._problems(spec.schema, given):
            return _failed("\n".join(found))
        call = ToolCall(
            backends=self._backends,
            agent_id=agent_id,
            conversation_id=conversation_id,
            contact_id=contact_id,
            arguments=given,
            request_id=request_id,
        )
        try:
            return await tool_calls.HANDLERS[spec.name](call)
        except PalimpsestError as error:
            if error.reason not in OUTCOMES:
                raise
            return _failed(_words(error, spec))

    async def _contact(self, agent_id: str, conversation_id: str) -> str:
        """The conversation's contact; "" for nobody. Raises NotFound."""
        asked = episodic_pb2.GetConversationRequest(agent_id=agent_id, conversation_id=conversation_id)
        return (await self._backends.episodic.GetConversation(asked)).conversation.contact_id

    async def _all(self, agent_id: str, conversation_id: str, contact_id: str) -> list[ToolSpec]:
        """Whatever the role, by name."""
        asked = context_pb2.ListContextToolsRequest(agent_id=agent_id, conversation_id=conversation_id)
        context = (await self._backends.working.ListContextTools(asked)).tools
        made = [_context_tool(one) for one in context if one.name in CONTEXT_LEAST]
        return sorted((*own_tools(with_contact=bool(contact_id)), *made), key=lambda spec: spec.name)


def _context_tool(proto: context_pb2.ToolDefinition) -> ToolSpec:
    schema = whole(MessageToDict(proto.input_schema))
    return ToolSpec(
        name=proto.name,
        description=proto.description,
        properties=schema["properties"],
        required=tuple(schema["required"]),
        least=CONTEXT_LEAST[proto.name],
    )


def whole(value: Any) -> Any:
    """JSON out of a Struct, in which each number is a float: those that are whole become integers.

    A Struct keeps no order, but a definition should always be the same text, by which models' prompts are
    cached: names are sorted.
    """
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: whole(each) for key, each in sorted(value.items())}
    if isinstance(value, list):
        return [whole(each) for each in value]
    return value


def _failed(content: str) -> ToolResult:
    return ToolResult(content=content, is_error=True)


def _words(error: PalimpsestError, spec: ToolSpec) -> str:
    """What is wrong, by the arguments' names; nothing about the calls behind."""
    if error.reason is Reason.NOT_ALLOWED:
        return REFUSED.format(spec.name)
    if error.reason is Reason.INVALID_PAGE_TOKEN:
        return "page_token: is not one of this list; leave it out to begin anew"
    named = [f"{one.field}: {one.description}" for one in error.fields if one.field in spec.properties]
    return "; ".join(named) or error.message
