"""The things that the service keeps. Times are microseconds since 1970, UTC."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from services.memory.episodic.domain.parts import Part, decode

MAX_AUTHORS = 64  # of a conversation, in order of first appearance


class Role(IntEnum):
    """Who speaks, as model APIs name it; the numbers are the wire's."""

    SYSTEM = 1
    USER = 2
    ASSISTANT = 3
    TOOL = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """One assistant's memory space inside a tenant."""

    id: str
    display_name: str
    system_prompt: str
    create_time: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact:
    """A person known to an agent.

    `identities` and `merged_ids` count in the contacts that were merged into this one, at any depth.
    """

    id: str
    agent_id: str
    display_name: str
    create_time: int
    identities: tuple[str, ...] = ()
    merged_into: str = ""
    merged_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationKey:
    """Names a conversation."""

    tenant: str
    agent_id: str
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """An ordered series of messages; `stored_count` is also the highest sequence number."""

    id: str
    agent_id: str
    contact_id: str
    title: str
    create_time: int
    update_time: int
    stored_count: int = 0
    leaf_id: str = ""
    authors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMessage:
    """A message to be stored, as the caller gave it; `id` may be empty, `time` None for "now"."""

    id: str
    role: Role
    author: str
    session: str
    time: int | None
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A stored message; `content` is the canonical text of its parts."""

    id: str
    conversation_id: str
    sequence: int
    parent_id: str
    role: Role
    author: str
    session: str
    time: int
    create_time: int
    token_count: int
    content: str

    def parts(self) -> tuple[Part, ...]:
        """The parts."""
        return decode(self.content)


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageFilter:
    """Which messages of a conversation; an empty set means any, `end` is exclusive."""

    roles: frozenset[Role] = frozenset()
    authors: frozenset[str] = frozenset()
    start: int | None = None
    end: int | None = None

    def takes(self, message: Message) -> bool:
        """Whether this message is meant."""
        return (
            (not self.roles or message.role in self.roles)
            and (not self.authors or message.author in self.authors)
            and (self.start is None or message.time >= self.start)
            and (self.end is None or message.time < self.end)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageInContext:
    """A message and those around it, oldest first."""

    message: Message
    before: Sequence[Message] = ()
    after: Sequence[Message] = ()


def add_authors(known: tuple[str, ...], seen: Sequence[str]) -> tuple[str, ...]:
    """The authors of a conversation after more messages; `known` itself when nothing changes."""
    fresh = [author for author in dict.fromkeys(seen) if author and author not in known]
    return (*known, *fresh)[:MAX_AUTHORS] if fresh and len(known) < MAX_AUTHORS else known
