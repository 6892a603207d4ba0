"""One definition of a tool in the shapes that model APIs take (SPEC G-6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from services.gateway.domain.tools import ToolSpec

UNSUPPORTED = ("minLength", "maxLength")
"""Keywords that the strict mode of OpenAI does not take; what they say is added to the description."""


def openai(spec: ToolSpec) -> dict[str, Any]:
    """A function of OpenAI's chat completions in strict mode: all arguments required, null for left out."""
    return {
        "type": "function",
        "function": {
            "name": spec.name,
            "description": spec.description,
            "parameters": {
                "type": "object",
                "properties": {
                    name: _strict(each, optional=name not in spec.required)
                    for name, each in spec.properties.items()
                },
                "required": list(spec.properties),
                "additionalProperties": False,
            },
            "strict": True,
        },
    }


def anthropic(spec: ToolSpec) -> dict[str, Any]:
    """A tool of Anthropic's messages."""
    return {"name": spec.name, "description": spec.description, "input_schema": spec.schema}


def mcp(spec: ToolSpec) -> dict[str, Any]:
    """A tool of the Model Context Protocol, with what its hosts ask about it."""
    return {
        "name": spec.name,
        "description": spec.description,
        "inputSchema": spec.schema,
        "annotations": {"readOnlyHint": spec.read_only, "openWorldHint": False},
    }


def _strict(schema: Mapping[str, Any], *, optional: bool) -> dict[str, Any]:
    made = {key: value for key, value in schema.items() if key not in UNSUPPORTED}
    if "maxLength" in schema:
        made["description"] = f"{schema['description']} At most {schema['maxLength']} bytes."
    if optional:
        made["type"] = [schema["type"], "null"]
        if "enum" in schema:
            made["enum"] = [*schema["enum"], None]
    return made
