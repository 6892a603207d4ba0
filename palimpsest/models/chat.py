"""What happens in a chat, and answers with their evidence."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from palimpsest.models.conversations import (
    Interruption,
    Message,
    MessageRef,
    MessageToken,
    ToolCall,
)
from palimpsest.models.documents import DocumentHit
from palimpsest.models.memories import ChannelFailure, Explanation, Memory, Unindexed
from palimpsest.models.names import NoTextReason


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelUsage:
    """What was taken of a model; `estimated_calls` of `calls` have estimated tokens."""

    calls: int
    estimated_calls: int
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStarted:
    """The user's message is stored, and the model is asked.

    `memory_ids` and `messages` are what the prompt shows of memory; `replayed` says that the turn had
    finished before, and its answer follows as it is stored.
    """

    user_message_id: str
    system_prompt_revision: int
    unindexed: tuple[Unindexed, ...]
    failures: tuple[ChannelFailure, ...]
    memory_ids: tuple[str, ...]
    messages: tuple[MessageRef, ...]
    replayed: bool


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCallStarted:
    """The model calls a tool."""

    call: ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallFinished:
    """A tool has returned; `reused` says that an earlier attempt at the turn ran it."""

    call_id: str
    is_error: bool
    preview: str
    reused: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnFinished:
    """The answer is stored; `interruption` says that it broke off, and why."""

    assistant_message_id: str
    token: MessageToken | None
    usage: ModelUsage
    model: str
    truncated: bool
    interruption: Interruption | None
    first_token: timedelta | None
    rounds: int


ChatEvent = TurnStarted | TextDelta | ToolCallStarted | ToolCallFinished | TurnFinished


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A memory, a message or a document that bears on a question, by its number in citations."""

    number: int
    source: Memory | Message | DocumentHit
    explanation: Explanation


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Evidence, best first, and a text that cites it by number; without a text, why there is none."""

    evidence: tuple[Evidence, ...]
    text: str
    cited: tuple[int, ...]
    no_text_reason: NoTextReason | None
    usage: ModelUsage
    model: str
    failures: tuple[ChannelFailure, ...]
    unindexed: tuple[Unindexed, ...]
