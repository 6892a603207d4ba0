"""What the use cases need from the stores. All of them raise DependencyDown when the store fails.

`after` of a listing is the key of the last item of the page before; None for the first page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from services.memory.episodic.domain.append import Append, Outcome
from services.memory.episodic.domain.model import (
    Agent,
    Contact,
    Conversation,
    ConversationFilter,
    ConversationKey,
    Leaf,
    Message,
    MessageFilter,
    MessageInContext,
    Overlay,
)

T = TypeVar("T")
K = TypeVar("K", str, int)
MessageName = tuple[str, str]  # conversation id, message id


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[T, K]):
    """Some items of a listing; `last` is the key to go on after, None on the last page."""

    items: Sequence[T]
    last: K | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PathPage(Page[Message, int]):
    """Some messages of the path to a leaf."""

    leaf_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PathView:
    """What a window is made of, as it was at one moment.

    Of the path to `leaf`: its first messages, its newest ones, its live overlays by depth.
    `cover_requested`: whether a job to cover messages is due already.
    """

    leaf: Leaf
    head: Sequence[Message]
    newest_first: Sequence[Message]
    overlays: Sequence[Overlay]
    cover_requested: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """One of several continuations of a message: its first message, and the newest leaf below that."""

    first: Message
    leaf: Leaf
    active: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NewOverlay:
    """An overlay to be stored over a range of messages; `folds` are the overlays that it is made of.

    With `replace` it takes the place of what an overlay of its id and range says.
    """

    id: str
    from_id: str
    to_id: str
    summary: str
    token_count: int
    model: str
    folds: tuple[str, ...]
    replace: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Uncovered:
    """The oldest messages that are due to be covered, in order; none when nothing is due."""

    messages: Sequence[Message]
    previous_summary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """How far a watcher has read: messages by sequence number, other changes by the revision."""

    sequence: int
    revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far derived work has come along the active path."""

    leaf: Leaf
    stored_count: int
    covered_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What came after a position, oldest first; `progress` where the revision or the path moved on."""

    messages: Sequence[Message]
    overlays: Sequence[Overlay]
    progress: Progress
    position: Position
    more: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageKey:
    """What usage is counted by; `day` counts from 1970 (UTC), `conversation_id` is "" outside of one."""

    agent_id: str
    conversation_id: str
    day: int
    tier: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Calls of models and their tokens; `estimated_calls` are those without figures of the provider."""

    calls: int
    estimated_calls: int
    input_tokens: int
    output_tokens: int


class AgentStore(Protocol):
    """The agents of tenants."""

    async def create(self, tenant: str, agent: Agent) -> Agent:
        """Adds it, or returns the one with the same id and fields. Raises Exists."""

    async def get(self, tenant: str, agent_id: str) -> Agent:
        """Raises NotFound."""

    async def list(
        self, tenant: str, among: frozenset[str] | None, *, limit: int, after: str | None
    ) -> Page[Agent, str]:
        """By id; only those in `among`, unless None."""

    async def update(
        self, tenant: str, agent_id: str, *, display_name: str | None, system_prompt: str | None
    ) -> Agent:
        """Changes what is not None. Raises NotFound."""


class ContactStore(Protocol):
    """The contacts of agents. A merged contact is answered by the one it became part of (S-5)."""

    async def resolve(self, tenant: str, identity: str, new: Contact) -> tuple[Contact, bool]:
        """The contact with the identity; else adds `new` with it, and True. Raises NotFound (agent)."""

    async def get(self, tenant: str, agent_id: str, contact_id: str) -> Contact:
        """Raises NotFound."""

    async def list(self, tenant: str, agent_id: str, *, limit: int, after: str | None) -> Page[Contact, str]:
        """By id, without merged ones. Raises NotFound (agent)."""

    async def link(self, tenant: str, agent_id: str, contact_id: str, identity: str) -> Contact:
        """Raises NotFound, StateConflict when another contact holds the identity."""

    async def merge(self, tenant: str, agent_id: str, source: str, target: str) -> Contact:
        """Raises NotFound, StateConflict (see domain/contacts.py)."""

    async def unmerge(self, tenant: str, agent_id: str, contact_id: str) -> Contact:
        """The contact on its own again. Raises NotFound, StateConflict when it is not merged."""


class ConversationStore(Protocol):
    """The conversations of agents."""

    async def create(self, tenant: str, conversation: Conversation) -> Conversation:
        """Adds it, or returns the same one. Raises NotFound (agent, contact), Exists (other fields)."""

    async def get(self, key: ConversationKey) -> Conversation:
        """Raises NotFound."""

    async def list(
        self,
        tenant: str,
        agent_id: str,
        chosen: ConversationFilter,
        *,
        newest_first: bool,
        limit: int,
        after: int | None,
    ) -> Page[Conversation, int]:
        """By creation. Raises NotFound."""


class MessageStore(Protocol):
    """The messages of conversations. No answer holds more than the store's limit of bytes of content."""

    async def append(self, append: Append) -> tuple[Outcome, ...]:
        """Stores messages, and one outbox row for each new one, in one synced transaction (E-1, E-2).

        Raises NotFound, Exists, ParentConflict.
        """

    async def list(
        self,
        key: ConversationKey,
        wanted: MessageFilter,
        *,
        newest_first: bool,
        limit: int,
        after: int | None,
    ) -> Page[Message, int]:
        """By sequence number. Raises NotFound."""

    async def find(
        self, tenant: str, agent_id: str, names: Sequence[MessageName], neighbours: int
    ) -> Sequence[MessageInContext | None]:
        """For each name the message and its neighbours, or None. Raises NotFound (agent), LimitExceeded."""

    async def at(
        self, key: ConversationKey, sequences: Sequence[int]
    ) -> tuple[Conversation, Sequence[Message]]:
        """Those that exist, by sequence number. Raises NotFound, LimitExceeded."""


class HistoryStore(Protocol):
    """Paths, branches and overlays of conversations. All raise NotFound; `leaf_id` "" is the active leaf."""

    async def view(
        self, key: ConversationKey, leaf_id: str, enough: Callable[[Sequence[Message]], bool], *, most: int
    ) -> PathView:
        """Reads a path from its end in pages until `enough` or `most` rows."""

    async def path(
        self, key: ConversationKey, leaf_id: str, *, newest_first: bool, limit: int, after: int | None
    ) -> PathPage:
        """The messages of a path, by depth."""

    async def branches(
        self, key: ConversationKey, message_id: str, *, limit: int, after: int | None
    ) -> Page[Branch, int]:
        """The continuations of a message ("": the first messages), in the order they were stored."""

    async def switch(self, key: ConversationKey, message_id: str, now: int) -> Conversation:
        """Makes the newest leaf below a message the active one; asks for a job where one is due (E-8)."""

    async def fork(
        self, key: ConversationKey, message_id: str, new: Conversation, *, most: int
    ) -> Conversation:
        """A new conversation with copies of the path to a message, or the one made so before.

        Raises Exists, LimitExceeded for a path of over `most` messages.
        """

    async def put_overlay(self, key: ConversationKey, new: NewOverlay, now: int) -> Overlay:
        """Stores an overlay, or returns the one with the same id. Raises Exists, StateConflict."""

    async def overlays(
        self, key: ConversationKey, leaf_id: str, *, superseded: bool, limit: int, after: int | None
    ) -> Page[Overlay, int]:
        """The live overlays of a path by revision; those folded into others of it only when asked for."""

    async def uncovered(self, key: ConversationKey) -> Uncovered:
        """What is to be covered next on the active path (E-7)."""

    async def foldable(self, key: ConversationKey) -> Sequence[Overlay]:
        """The live overlays of the active path that can be folded, when they exceed their share (E-7)."""

    async def request_cover(self, key: ConversationKey) -> None:
        """Asks for a job that covers messages, unless one is due already."""

    async def over(self, key: ConversationKey, leaf_id: str, from_depth: int) -> Sequence[Overlay]:
        """The overlays of a path that reach to `from_depth` or beyond, folded ones too."""

    async def changes(self, key: ConversationKey, after: Position | None, *, limit: int) -> Changes:
        """At most `limit` messages, and the overlays, that changed after a position (None: after all)."""


class UsageStore(Protocol):
    """Counts of model calls (E-11)."""

    async def add(self, tenant: str, key: UsageKey, usage: Usage) -> None:
        """Counts calls. Raises NotFound (agent)."""

    async def total(
        self, tenant: str, agent_id: str, conversation_id: str, first_day: int, last_day: int
    ) -> Sequence[tuple[UsageKey, Usage]]:
        """Counts by tier, model, day and conversation. Raises NotFound (agent)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores:
    """All stores of one backend."""

    agents: AgentStore
    contacts: ContactStore
    conversations: ConversationStore
    messages: MessageStore
    history: HistoryStore
    usage: UsageStore
