"""What the use cases need from the stores. All of them raise DependencyDown when the store fails.

`after` of a listing is the key of the last item of the page before; None for the first page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from services.memory.episodic.domain.append import Append, Outcome
from services.memory.episodic.domain.model import (
    Agent,
    Contact,
    Conversation,
    ConversationKey,
    Message,
    MessageFilter,
    MessageInContext,
)

T = TypeVar("T")
K = TypeVar("K", str, int)
MessageName = tuple[str, str]  # conversation id, message id


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[T, K]):
    """Some items of a listing; `last` is the key to go on after, None on the last page."""

    items: Sequence[T]
    last: K | None


class History(Protocol):
    """One conversation, as it was at one moment; read synchronously."""

    @property
    def conversation(self) -> Conversation:
        """The conversation."""

    def first(self, limit: int) -> Sequence[Message]:
        """Its first messages."""

    def newest_first(self, page: int, most: int) -> Iterator[Message]:
        """At most `most` messages from the newest back, read in pages as they are asked for."""


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
        self, tenant: str, agent_id: str, contact_id: str, *, limit: int, after: int | None
    ) -> Page[Conversation, int]:
        """By creation; only those with the contact, or one merged with it, unless "". Raises NotFound."""


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

    async def read(self, key: ConversationKey, work: Callable[[History], T]) -> T:
        """Runs `work` over one moment of a conversation. Raises NotFound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores:
    """All stores of one backend."""

    agents: AgentStore
    contacts: ContactStore
    conversations: ConversationStore
    messages: MessageStore
