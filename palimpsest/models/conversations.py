"""Agents, contacts, conversations, messages, and what became of stored ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from palimpsest.models.names import InterruptionCause, Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """One assistant's memory space."""

    id: str
    display_name: str
    system_prompt: str
    create_time: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact:
    """A person known to an agent; `merged_into` names the contact that it became part of, or is empty."""

    id: str
    agent_id: str
    display_name: str
    identities: tuple[str, ...]
    create_time: datetime | None
    merged_into: str
    merged_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A tree of messages; `indexed_count` of its `stored_count` messages can be recalled.

    The active path ends with `leaf_id` and has `depth` messages, of which `covered_count` are under overlays.
    """

    id: str
    agent_id: str
    contact_id: str
    title: str
    create_time: datetime | None
    update_time: datetime | None
    stored_count: int
    indexed_count: int
    leaf_id: str
    authors: tuple[str, ...]
    depth: int
    covered_count: int
    forked_from: MessageRef | None


@dataclass(frozen=True, slots=True)
class TextPart:
    """Text."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call of a tool, made by the model. Numbers among the arguments come back as floats."""

    call_id: str
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a tool returned."""

    call_id: str
    content: str
    is_error: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A reference to a file whose bytes are kept elsewhere; the caption is searched like text."""

    uri: str
    media_type: str = ""
    caption: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interruption:
    """That the message broke off here, and why; None where that is not known."""

    cause: InterruptionCause | None = None


Part = TextPart | ToolCall | ToolResult | Attachment | Interruption


@dataclass(frozen=True, slots=True)
class NewMessage:
    """A message to be stored; without `time` it was said now, without `id` the server derives one."""

    role: Role
    content: str | Sequence[Part]
    author: str = field(default="", kw_only=True)
    session: str = field(default="", kw_only=True)
    time: datetime | None = field(default=None, kw_only=True)
    id: str = field(default="", kw_only=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message as it is stored, never changed afterwards; `depth` is its place on its path, from 1."""

    id: str
    conversation_id: str
    sequence: int
    parent_id: str
    role: Role
    author: str
    session: str
    time: datetime | None
    create_time: datetime | None
    parts: tuple[Part, ...]
    token_count: int
    depth: int

    @property
    def text(self) -> str:
        """Its text parts, joined by line breaks."""
        return "\n".join(part.text for part in self.parts if isinstance(part, TextPart))


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRef:
    """Names one message."""

    conversation_id: str
    message_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageToken:
    """The messages of a conversation up to a sequence number: what a later read can wait for."""

    agent_id: str
    conversation_id: str
    sequence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryToken:
    """A memory at a version: what a later read can wait for."""

    agent_id: str
    memory_id: str
    version: int


FreshnessToken = MessageToken | MemoryToken


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMessage:
    """What became of one message; `created` is False when it was there already."""

    message_id: str
    sequence: int
    created: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedTurn:
    """The messages of a turn, in the order given."""

    messages: tuple[StoredMessage, ...]
    token: FreshnessToken | None


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestChunk:
    """Messages of a transcript, 1 to 500, each the parent of the next.

    In a stream, a chunk without `parent_id` follows the previous chunk of its conversation. With `branch` it
    may part from what is stored, and the path to it becomes the active one.
    """

    conversation_id: str
    messages: Sequence[NewMessage]
    parent_id: str = ""
    branch: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestAck:
    """A chunk that is stored for good."""

    conversation_id: str
    messages: tuple[StoredMessage, ...]
    created_count: int
    token: FreshnessToken | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingested:
    """A whole transcript; `last_message_id` is the parent of what comes next."""

    conversation_id: str
    message_count: int
    created_count: int
    last_message_id: str
    token: FreshnessToken | None
