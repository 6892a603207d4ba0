"""The tools by which a model uses memory itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

ToolFormat = Literal["openai", "anthropic", "mcp"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool of a conversation.

    `input_schema` is JSON Schema; `definition` is the whole in the format that was asked for, if one was.
    """

    name: str
    description: str
    input_schema: Mapping[str, Any]
    read_only: bool
    definition: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutcome:
    """What a tool gave back: `content` in a fence for the model, `structured` as values for the application.

    With `is_error` it could not do what was asked, and the content says why.
    """

    content: str
    is_error: bool
    structured: Mapping[str, Any] | None
