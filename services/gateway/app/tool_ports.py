"""Tools that a model may call, as chat, tool calls and MCP use them (SPEC G-6, W-6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDefinition:
    """What a model is told of a tool; `input_schema` is a JSON Schema (draft 2020-12) of type object."""

    name: str
    description: str
    input_schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutcome:
    """What a tool gives back, as text for the model; `is_error` where it could not do what was asked."""

    content: str
    is_error: bool = False


class Tools(Protocol):
    """The tools of one conversation, for the caller that is being served.

    The conversation decides the contact and the agent; no argument reaches another (G-6).
    """

    async def definitions(self, agent_id: str, conversation_id: str) -> Sequence[ToolDefinition]:
        """Those that the caller's role and the conversation's context blocks give. Raises NotFound."""

    async def call(
        self, agent_id: str, conversation_id: str, name: str, arguments: Mapping[str, Any]
    ) -> ToolOutcome:
        """Bad arguments, an unknown tool and refusals are outcomes with `is_error`, to be read by the model.

        Raises NotFound for the agent or conversation, DependencyDown, DeadlineExceeded.
        """
