"""The things that the service keeps. Times are microseconds since 1970, UTC."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from services.memory.episodic.domain.parts import Part, ToolCall, decode

DepthRange = tuple[int, int]  # first and last depth of a stretch of a path, both included
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
class Leaf:
    """Where a path ends: a message without a child (E-3); depth 0 for the path without messages.

    `depth` counts the messages of the path, `path_tokens` their estimated tokens.
    """

    id: str = ""
    sequence: int = 0
    depth: int = 0
    path_tokens: int = 0


NO_LEAF = Leaf()


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """An ordered tree of messages; `stored_count` is also the highest sequence number.

    `leaf` ends the active path, of which `covered_count` messages lie under live overlays. `forked_from`
    names the conversation and message that it was forked at.
    """

    id: str
    agent_id: str
    contact_id: str
    title: str
    create_time: int
    update_time: int
    stored_count: int = 0
    leaf: Leaf = NO_LEAF
    authors: tuple[str, ...] = ()
    covered_count: int = 0
    forked_from: tuple[str, str] | None = None

    @property
    def leaf_id(self) -> str:
        """Id of the message that ends the active path; empty while there is none."""
        return self.leaf.id


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
    """A stored message; `content` is the canonical text of its parts.

    `sequence` orders the conversation's messages as they were stored; `depth` counts the messages from the
    root down to it, itself included. In a conversation that never forked the two are equal.
    """

    id: str
    conversation_id: str
    sequence: int
    depth: int
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
class Fold:
    """An overlay that another was folded into, by its id and its last message."""

    id: str
    to_sequence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlay:
    """A stored summary over an unbroken range of a path, both ends included (E-7). The messages stay.

    `source_ids` are the messages that it was written from, or the overlays that were folded into it; `folds`
    are the overlays that it was folded into itself, one for each branch on which that was done. It is shown
    on the paths that hold its last message and that of none of its folds (domain/coverage.py). `revision`
    orders the changes of a conversation's overlays.
    """

    id: str
    conversation_id: str
    from_id: str
    to_id: str
    from_sequence: int
    to_sequence: int
    from_depth: int
    to_depth: int
    message_tokens: int
    summary: str
    token_count: int
    source_ids: tuple[str, ...]
    model: str
    create_time: int
    folds: tuple[Fold, ...] = ()
    revision: int = 0

    @property
    def superseded_by(self) -> tuple[str, ...]:
        """Ids of the overlays that it was folded into."""
        return tuple(fold.id for fold in self.folds)

    @property
    def message_count(self) -> int:
        """How many messages it covers."""
        return self.to_depth - self.from_depth + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationFilter:
    """Which conversations of an agent: those with a contact, or one merged with it, unless ""; those that
    changed at a moment or later, unless None."""

    contact_id: str = ""
    changed_since: int | None = None


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
    """A message and those around it on a path, oldest first; `active` when that is the active path."""

    message: Message
    active: bool
    before: Sequence[Message] = ()
    after: Sequence[Message] = ()


def add_authors(known: tuple[str, ...], seen: Sequence[str]) -> tuple[str, ...]:
    """The authors of a conversation after more messages; `known` itself when nothing changes."""
    fresh = [author for author in dict.fromkeys(seen) if author and author not in known]
    return (*known, *fresh)[:MAX_AUTHORS] if fresh and len(known) < MAX_AUTHORS else known


def ends_turn(message: Message) -> bool:
    """Whether a message is an assistant's answer, rather than a call of a tool on the way to it (W-3)."""
    if message.role is not Role.ASSISTANT:
        return False
    return not any(isinstance(part, ToolCall) for part in message.parts())
