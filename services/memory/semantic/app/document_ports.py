"""What indexing and searching derived documents needs (SPEC S-13)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from services.memory.semantic.domain.documents import (
    DocumentSource,
    FoundChunk,
    IndexedDocument,
    SourceDocument,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownDocument:
    """A document that is indexed, or is about to be, without its parts; `settled` once every index has it."""

    tenant: str
    agent_id: str
    key: str
    source: DocumentSource
    version: int
    digest: str
    settled: bool
    chunk_count: int


class DerivedDocuments(Protocol):
    """The newest versions of documents (Compactor)."""

    async def read(self, agent_id: str, sources: Sequence[DocumentSource]) -> list[SourceDocument]:
        """Those that are there."""


class Contacts(Protocol):
    """With whom conversations are (Episodic)."""

    async def of(self, agent_id: str, conversation_ids: Sequence[str]) -> dict[str, str]:
        """The contact of each conversation, "" for nobody; unknown ones are left out."""


class DocumentStore(Protocol):
    """The canonical rows: what is indexed of each document, and whose it is. All raise DependencyDown.

    A part that an index names and no row has, is not shown.
    """

    async def known(
        self, tenant: str, agent_id: str, sources: Sequence[DocumentSource]
    ) -> list[KnownDocument]:
        """The documents of sources, by key."""

    async def write(
        self, tenant: str, agent_id: str, documents: Sequence[IndexedDocument], gone: Sequence[str]
    ) -> None:
        """Adds or replaces documents, not settled, with their parts, and removes others by key; as one."""

    async def settle(self, tenant: str, agent_id: str, documents: Sequence[IndexedDocument]) -> None:
        """Notes that every index has these, and their versions; rows that say something else stay."""

    async def chunks(self, tenant: str, agent_id: str, item_ids: Sequence[str]) -> dict[str, FoundChunk]:
        """Parts by item id; unknown ones are left out."""

    async def contacts(self, tenant: str, agent_id: str, conversation_ids: Sequence[str]) -> dict[str, str]:
        """The contacts of conversations whose summary is indexed; others are left out."""

    async def page(
        self, after: tuple[str, str, str], limit: int, *, tenant: str = "", agent_id: str = ""
    ) -> list[KnownDocument]:
        """Documents in the order of (tenant, agent, key), after one; of all, a tenant, or an agent."""

    async def enqueue(
        self, tenant: str, agent_id: str, sources: Sequence[DocumentSource], suffix: str
    ) -> None:
        """Has sources indexed again, by jobs under keys ending in `suffix`."""
