"""What recall knows of an indexed item, and how items are named."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceMessage:
    """A message as Episodic has it; `text` is what people said, `tool_text` what tools got and gave."""

    conversation_id: str
    contact_id: str
    sequence: int
    message_id: str
    role: int
    author: str
    session: str
    time: datetime
    created: datetime
    text: str
    tool_text: str

    @property
    def item_id(self) -> str:
        """Its name in every index."""
        return message_item_id(self.conversation_id, self.sequence)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceConversation:
    """A conversation's participants and some of its messages."""

    authors: tuple[str, ...]
    messages: tuple[SourceMessage, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedMessage:
    """The features of an indexed message."""

    conversation_id: str
    sequence: int
    message_id: str
    contact_id: str
    role: int
    author: str
    session: str
    time: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageScope:
    """Where messages are searched; None and empty mean anywhere in the agent. `end` is exclusive."""

    contact_ids: tuple[str, ...] = ()
    conversation_id: str = ""
    roles: frozenset[int] = frozenset()
    authors: frozenset[str] = frozenset()
    start: datetime | None = None
    end: datetime | None = None

    def admits(self, message: IndexedMessage) -> bool:
        """Whether a message is among them."""
        return (
            (not self.contact_ids or message.contact_id in self.contact_ids)
            and self.conversation_id in ("", message.conversation_id)
            and (not self.roles or message.role in self.roles)
            and (not self.authors or message.author in self.authors)
            and (self.start is None or message.time >= self.start)
            and (self.end is None or message.time < self.end)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a conversation is indexed: `sequence` is the last one with none missing before it."""

    conversation_id: str
    count: int
    sequence: int


def message_item_id(conversation_id: str, sequence: int) -> str:
    """Ids of a conversation's messages sort by sequence."""
    return f"{conversation_id}/{sequence:012d}"


def conversation_of(item_id: str) -> tuple[str, int]:
    """The inverse of `message_item_id`."""
    conversation_id, _, sequence = item_id.rpartition("/")
    return conversation_id, int(sequence)
