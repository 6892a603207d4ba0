"""What is said to a model and what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal


class Tier(StrEnum):
    """Which model a task is given to (J-16)."""

    FAST = "fast"
    """Summaries, extraction, judging, hypotheses."""
    STANDARD = "standard"
    """Answer and Chat."""
    DEEP = "deep"
    """What may take long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool that a model may call; `schema` is a JSON Schema of type object."""

    name: str
    description: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call of a tool as the model wrote it: `arguments` is text, JSON if the model kept to its form.

    The id is unique in its answer, and made up where the model gave none.
    """

    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message to a model; a tool's answers the call that `call_id` names."""

    role: Literal["system", "user", "assistant", "tool"]
    text: str
    calls: tuple[ToolCall, ...] = ()
    """What the assistant called."""
    call_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What calls cost (E-11): answers received, tokens that went in and came out.

    `estimated_calls` counts those of `calls` whose tokens are, at least in part, an estimate (E-10) because
    the endpoint gave none.
    """

    calls: int = 0
    estimated_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def estimated(self) -> bool:
        """Whether any figure in here is an estimate."""
        return self.estimated_calls > 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            calls=self.calls + other.calls,
            estimated_calls=self.estimated_calls + other.estimated_calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """A model's answer; the text is valid Unicode without NUL, and empty only where tools are called."""

    text: str
    usage: Usage
    """Of this answer and of those that were thrown away before it."""
    model: str
    """As the endpoint names it, else as the settings do."""
    truncated: bool = False
    """Whether the answer ended because it reached `max_tokens`."""
    calls: tuple[ToolCall, ...] = ()
    """The tools that the model calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamEnd:
    """What is known when a stream has ended as it should."""

    usage: Usage
    model: str
    truncated: bool
    first_token_seconds: float
    """From sending the request that was answered to its first text, or the first piece of a call."""
    calls: tuple[ToolCall, ...] = ()
    """The tools that the model calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """The next piece of a streamed answer; the last one has no text but an `end`."""

    text: str = ""
    end: StreamEnd | None = None
