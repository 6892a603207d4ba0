"""What is said to a model and what comes back."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal


class Tier(StrEnum):
    """Which model a task is given to (J-16)."""

    FAST = "fast"
    """Summaries, extraction, judging, hypotheses."""
    STANDARD = "standard"
    """Answer and Chat."""
    DEEP = "deep"
    """What may take long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message to a model."""

    role: Literal["system", "user", "assistant"]
    text: str


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
    """A model's answer; the text is never empty and always valid Unicode without NUL."""

    text: str
    usage: Usage
    """Of this answer and of those that were thrown away before it."""
    model: str
    """As the endpoint names it, else as the settings do."""
    truncated: bool = False
    """Whether the answer ended because it reached `max_tokens`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamEnd:
    """What is known when a stream has ended as it should."""

    usage: Usage
    model: str
    truncated: bool
    first_token_seconds: float
    """From sending the request that was answered to its first text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """The next piece of a streamed answer; the last one has no text but an `end`."""

    text: str = ""
    end: StreamEnd | None = None
