"""Working memory: notes, the ongoing task, open turns, context blocks, and the frozen system prompt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from palimpsest.models.conversations import ToolCall
from palimpsest.models.names import ContextKind, ContextWriter


@dataclass(frozen=True, slots=True, kw_only=True)
class Notes:
    """The scratchpad of a conversation; empty when it was cleared, or never written."""

    text: str
    token_count: int
    version: int
    update_time: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What a conversation is about to get done."""

    text: str
    token_count: int
    update_time: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultPreview:
    """What became of a tool call, at most 3,000 characters as stored (`cut` if it was longer)."""

    content: str
    is_error: bool = False
    cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointedCall:
    """A tool call of an open turn; without a result it is pending. The server gives `round`.

    `said` is what the assistant said right before it.
    """

    call: ToolCall
    result: ResultPreview | None = None
    round: int = 0
    said: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionHandle:
    """Something that a tool keeps open between calls, and how to reach it again."""

    name: str
    handle: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """The record of a turn that has no assistant message yet; `stale` when it was left alone for a while."""

    turn_id: str
    round: int
    calls: tuple[CheckpointedCall, ...]
    handles: tuple[SessionHandle, ...]
    create_time: datetime | None
    update_time: datetime | None
    expire_time: datetime | None
    stale: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextBlock:
    """A part of the system prompt with a budget of its own. Lists leave its content out."""

    label: str
    description: str
    kind: ContextKind
    max_tokens: int
    content: str
    token_count: int
    entry_count: int
    written_by: ContextWriter
    create_time: datetime | None
    update_time: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextEntry:
    """A piece of a searchable or loadable block. Lists leave its content out."""

    label: str
    key: str
    title: str
    content: str
    token_count: int
    update_time: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextHit:
    """An entry that a search found; scores compare hits of one answer only."""

    label: str
    key: str
    title: str
    excerpt: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDefinition:
    """A tool as model APIs describe it; `input_schema` is JSON Schema."""

    name: str
    description: str
    input_schema: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemPrompt:
    """A system prompt as it was written down; `revision` counts how often."""

    text: str
    token_count: int
    revision: int
    create_time: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingMemory:
    """What the next prompt shows: notes, the ongoing task, a stale turn, loaded entries."""

    notes: Notes
    task: Task | None
    stale_turn: Checkpoint | None
    loaded: tuple[ContextEntry, ...]
