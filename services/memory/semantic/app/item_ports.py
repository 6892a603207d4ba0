"""What the use cases need of the indexes of items: words, and the registry of what is indexed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from services.memory.semantic.domain.documents import DocumentScope, DocumentType
from services.memory.semantic.domain.items import (
    IndexedMessage,
    MessageScope,
    Progress,
    SourceMessage,
)
from services.memory.semantic.domain.keywords import WordDocument, WordFilters
from services.memory.semantic.domain.memory import (
    Kind,
)
from services.memory.semantic.domain.vectors import Bucket


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageDocument:
    """A message with its terms."""

    message: SourceMessage
    terms: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryDocument:
    """A memory with its terms, and from when until when it holds (None: no end is known); or a part of a
    derived document, whose `kind` is its type."""

    memory_id: str
    contact_id: str
    terms: str
    begins: datetime
    ends: datetime | None = None
    kind: Kind | DocumentType = Kind.FACT


class Registered(Protocol):
    """What is known of indexed items. Every call about them is bound to a tenant and an agent.

    A bucket in calls about memories is of one of the MEMORY_CLASSES, or of DOCUMENT: parts of documents are
    put, known and removed like memories.
    """

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
        """All (tenant, agent, class) with items; class is the value of a ContentClass."""

    async def item_ids(self, tenant: str, agent_id: str, class_: str, after: str, limit: int) -> list[str]:
        """Ids of a bucket after an id, in order."""

    async def known_memories(self, bucket: Bucket, memory_ids: Sequence[str]) -> set[str]:
        """Those of the memories that are indexed there."""

    async def whole(self) -> bool:
        """Whether nothing is known to be missing, here or among the vectors; False for a new index."""

    async def set_whole(self, whole: bool) -> None:
        """Keeps what `whole` returns, beyond a restart."""


class Registry(Registered, Protocol):
    """The registry of what is indexed: what it names is in every index."""

    async def adopt(self, words: str) -> bool:
        """Makes it the registry of the word index of an identity; whether it forgot all that it had."""

    async def put_messages(self, tenant: str, agent_id: str, messages: Sequence[SourceMessage]) -> None:
        """Adds or replaces, and moves the conversations' progress."""

    async def put_memories(self, bucket: Bucket, documents: Sequence[MemoryDocument]) -> None:
        """Adds or replaces."""

    async def remove_memories(self, bucket: Bucket, memory_ids: Sequence[str]) -> None:
        """Removes; unknown ids change nothing."""


class Words(Protocol):
    """A word engine. A bucket names a tenant and an agent: no call is made without both."""

    async def put(self, bucket: Bucket, documents: Sequence[WordDocument]) -> None:
        """Adds or replaces; returns when a search would find them."""

    async def remove(self, bucket: Bucket, item_ids: Sequence[str]) -> None:
        """Removes; unknown ids change nothing."""

    @property
    def identity(self) -> str:
        """Another one when what was put has been lost; "" where words are not lost without the registry."""

    @property
    def lost(self) -> bool:
        """Whether a call met with the loss of what was put, and `restore` was not called since."""

    async def restore(self) -> bool:
        """Makes again, empty, what is not there; whether anything was lost."""

    async def search(
        self, buckets: Sequence[Bucket], terms: Sequence[str], filters: WordFilters = ..., *, limit: int
    ) -> list[tuple[str, float]]:
        """Ids of items with any of the terms, best first, with scores: higher is better, ties by id.

        Buckets are of one tenant and agent; an item that is in several counts once. Terms are the analyser's,
        distinct; nothing in one is syntax. Scores compare within one answer.
        """

    async def terms_of(
        self, bucket: Bucket, item_ids: Sequence[str], *, most: int
    ) -> dict[str, tuple[str, ...]]:
        """The terms of items, in order, of each at most the first `most`; unknown ids are left out.

        An engine may name a repeated term once, and one that is not of ASCII letters as it writes it.
        """


class ItemIndex(Registered, Protocol):
    """The registry and the words of what is indexed, as one."""

    @property
    def lost(self) -> bool:
        """Whether a call met with the loss of words, and `restore` was not called since."""

    async def restore(self) -> bool:
        """Makes lost words again, empty; whether what was indexed has been forgotten, here and now."""

    async def put_messages(self, tenant: str, agent_id: str, documents: Sequence[MessageDocument]) -> None:
        """Adds or replaces, and moves the conversations' progress."""

    async def put_memories(self, bucket: Bucket, documents: Sequence[MemoryDocument]) -> None:
        """Adds or replaces."""

    async def remove_memories(self, bucket: Bucket, memory_ids: Sequence[str]) -> None:
        """Removes; unknown ids change nothing."""

    async def search_messages(
        self, tenant: str, agent_id: str, terms: Sequence[str], scope: MessageScope, limit: int
    ) -> list[tuple[str, float]]:
        """Item ids with any of the terms, best first, with BM25 scores (higher is better)."""

    async def message_terms(
        self, tenant: str, agent_id: str, item_ids: Sequence[str], most: int
    ) -> dict[str, tuple[str, ...]]:
        """The first terms of messages, by item id; see `Words.terms_of`."""

    async def search_memories(
        self,
        tenant: str,
        agent_id: str,
        terms: Sequence[str],
        contact_ids: Sequence[str],
        limit: int,
        kinds: frozenset[Kind] = frozenset(),
        *,
        valid_at: datetime | None = None,
    ) -> list[tuple[str, float]]:
        """Memory ids likewise, of these contacts ("" is agent-wide) and of any of the kinds (none: all).

        With `valid_at`, what held then, past memories included; else what is live or will be.
        """

    async def search_documents(
        self, tenant: str, agent_id: str, terms: Sequence[str], scope: DocumentScope, limit: int
    ) -> list[tuple[str, float]]:
        """Ids of parts of documents likewise."""
