"""What the use cases need of stores and of other services."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from services.memory.semantic.domain.items import (
    IndexedMessage,
    MessageScope,
    Progress,
    SourceConversation,
    SourceMessage,
)
from services.memory.semantic.domain.memory import Kind, Memory, MessageRef, NewMemory, Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What became of a write."""

    memory: Memory
    created: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryQuery:
    """Which memories a listing returns; `after` is the number of the last one seen."""

    scope: Scope
    kinds: frozenset[Kind] = frozenset()
    key_prefix: str = ""
    include_superseded: bool = False
    after: int = 0
    limit: int = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownConversation:
    """A conversation that was indexed up to a sequence number at the least."""

    tenant: str
    agent_id: str
    conversation_id: str
    highest: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveMemory:
    """A memory that is not superseded; numbers grow in the order of writing."""

    number: int
    tenant: str
    agent_id: str
    memory_id: str


class MemoryStore(Protocol):
    """The canonical rows. Writes put their index jobs into the outbox in the same transaction."""

    async def remember(self, tenant: str, new: NewMemory, now: datetime) -> Remembered:
        """Writes a version, or finds that nothing changed (S-6).

        Raises Exists for a request_id that came with another memory.
        """

    async def get(self, tenant: str, agent_id: str, memory_ids: Sequence[str]) -> dict[str, Memory]:
        """Memories by id; unknown ids are left out."""

    async def live_of_key(self, tenant: str, scope: Scope, key: str, now: datetime) -> Memory | None:
        """The contact's live memory of a key, else the agent-wide one."""

    async def page(self, tenant: str, query: MemoryQuery, now: datetime) -> list[tuple[int, Memory]]:
        """A page, in order of writing, with the numbers that a next page begins after."""

    async def versions(self, tenant: str, agent_id: str, memory_id: str) -> list[Memory]:
        """All versions of the memory's key and bucket, oldest first; empty if it is unknown."""

    async def set_pinned(
        self, tenant: str, agent_id: str, memory_id: str, pinned: bool, now: datetime
    ) -> Memory | None:
        """Pins or unpins; None if it is unknown."""

    async def forget(self, tenant: str, agent_id: str, memory_id: str) -> list[str]:
        """Deletes all versions of the memory's key and bucket and returns their ids."""

    async def candidates_by_key(
        self,
        tenant: str,
        scope: Scope,
        words: Sequence[str],
        limit: int,
        now: datetime,
        kinds: frozenset[Kind] = frozenset(),
    ) -> list[tuple[str, float]]:
        """Live memories with key segments among `words`, and how many match, best first.

        Only of these kinds, if any are given; likewise elsewhere.
        """

    async def of_messages(
        self, tenant: str, scope: Scope, refs: Sequence[MessageRef], now: datetime
    ) -> dict[MessageRef, list[str]]:
        """Ids of live memories that came from messages."""

    async def standing(
        self, tenant: str, scope: Scope, now: datetime, kinds: frozenset[Kind] = frozenset()
    ) -> list[Memory]:
        """Live memories that are not tasks: pinned ones, and the most recently accessed or written."""

    async def count_access(
        self, tenant: str, agent_id: str, memory_ids: Sequence[str], now: datetime
    ) -> None:
        """Counts one access of each."""

    async def mark_indexed(self, tenant: str, agent_id: str, revisions: Mapping[str, int]) -> None:
        """Records up to which revision memories are indexed."""

    async def note_messages(self, tenant: str, agent_id: str, highest: Mapping[str, int]) -> None:
        """Records the highest sequence number indexed, by conversation."""

    async def known_conversations(self) -> list[KnownConversation]:
        """All that were ever indexed, of every tenant."""

    async def enqueue_messages(self, known: KnownConversation, sequences: Sequence[int], suffix: str) -> None:
        """Enqueues index jobs under keys ending in `suffix`."""

    async def enqueue_memories(
        self, tenant: str, agent_id: str, memory_ids: Sequence[str], suffix: str
    ) -> None:
        """Likewise; unknown ids are left out."""

    async def live_ids(self, after: int, limit: int) -> list[LiveMemory]:
        """Memories of every tenant that are not superseded, in order of their numbers, after one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageDocument:
    """A message with its terms."""

    message: SourceMessage
    terms: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryDocument:
    """A memory with its terms."""

    memory_id: str
    contact_id: str
    terms: str
    kind: Kind = Kind.FACT


class ItemIndex(Protocol):
    """Words, and the registry of what is indexed. Every call is bound to a tenant and an agent."""

    async def put_messages(self, tenant: str, agent_id: str, documents: Sequence[MessageDocument]) -> None:
        """Adds or replaces, and moves the conversations' progress."""

    async def put_memories(self, tenant: str, agent_id: str, documents: Sequence[MemoryDocument]) -> None:
        """Adds or replaces."""

    async def remove_memories(self, tenant: str, agent_id: str, memory_ids: Sequence[str]) -> None:
        """Removes; unknown ids change nothing."""

    async def search_messages(
        self, tenant: str, agent_id: str, terms: Sequence[str], scope: MessageScope, limit: int
    ) -> list[tuple[str, float]]:
        """Item ids with any of the terms, best first, with BM25 scores (higher is better)."""

    async def search_memories(
        self,
        tenant: str,
        agent_id: str,
        terms: Sequence[str],
        contact_ids: Sequence[str],
        limit: int,
        kinds: frozenset[Kind] = frozenset(),
    ) -> list[tuple[str, float]]:
        """Memory ids likewise, of these buckets ("" is agent-wide) and of any of the kinds (none: all)."""

    async def features(
        self, tenant: str, agent_id: str, item_ids: Sequence[str]
    ) -> dict[str, IndexedMessage]:
        """What is known of messages, by item id."""

    async def authors(
        self, tenant: str, agent_id: str, conversation_id: str, contact_ids: Sequence[str] = ()
    ) -> list[str]:
        """Distinct authors of indexed messages, at most 64: of a conversation ("": of any), of contacts."""

    async def progress(
        self, tenant: str, agent_id: str, conversation_ids: Sequence[str]
    ) -> dict[str, Progress]:
        """How far conversations are indexed; unknown ones are left out."""

    async def missing(
        self, tenant: str, agent_id: str, conversation_id: str, upto: int, *, limit: int
    ) -> list[int]:
        """The first `limit` sequence numbers up to `upto` that are not indexed."""

    async def buckets(self) -> list[tuple[str, str, str]]:
        """All (tenant, agent, class) with items; class is "message" or "memory"."""

    async def item_ids(self, tenant: str, agent_id: str, class_: str, after: str, limit: int) -> list[str]:
        """Ids of a bucket after an id, in order."""

    async def known_memories(self, tenant: str, agent_id: str, memory_ids: Sequence[str]) -> set[str]:
        """Those of the memories that are indexed."""

    async def whole(self) -> bool:
        """Whether nothing is known to be missing, here or among the vectors; False for a new index."""

    async def set_whole(self, whole: bool) -> None:
        """Keeps what `whole` returns, beyond a restart."""


class Texts(Protocol):
    """Vectors of texts (the embedder)."""

    async def query(self, text: str) -> bytes:
        """A query's vector, float32 little endian. A long query stands by its beginning."""

    async def documents(self, texts: Sequence[str]) -> list[bytes]:
        """Documents' vectors; a long text stands by its beginning."""


class Conversations(Protocol):
    """Texts of messages (Episodic)."""

    async def messages(
        self, agent_id: str, conversation_id: str, sequences: Sequence[int]
    ) -> SourceConversation:
        """Those of the messages that exist. Raises NotFound for an unknown conversation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobState:
    """A job's id, and whether nothing will come of it."""

    job_id: str
    dead: bool


class Jobs(Protocol):
    """The ledger of derived work (Compactor)."""

    async def lookup(self, keys: Sequence[str]) -> dict[str, JobState]:
        """Jobs by idempotency key; unknown keys are left out."""
