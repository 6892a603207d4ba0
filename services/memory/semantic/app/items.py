"""What is indexed, as one: the registry, and the engine that finds items by words (SPEC S-3, S-9, SV-2)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from services.memory.semantic.app.item_ports import MemoryDocument, MessageDocument, Registry, Words
from services.memory.semantic.domain.documents import DocumentScope
from services.memory.semantic.domain.items import IndexedMessage, MessageScope, Progress
from services.memory.semantic.domain.keywords import WordDocument, WordFilters, filters_of
from services.memory.semantic.domain.memory import Kind
from services.memory.semantic.domain.vectors import Bucket, ContentClass, classes_at


class SplitItems:
    """`ItemIndex` over a registry and a word engine that know nothing of each other.

    Words are put first and removed first: the registry names no message without its words, and what a crash
    leaves between the two is put again, or taken out again, by the job or by reconciling (SV-2).
    """

    def __init__(self, *, registry: Registry, words: Words) -> None:
        self._registry = registry
        self._words = words

    @property
    def lost(self) -> bool:
        """Whether words were lost."""
        return self._words.lost

    async def restore(self) -> bool:
        """Makes the words again; the registry forgets what it named, unless another replica saw to that."""
        await self._words.restore()
        return bool(self._words.identity) and await self._registry.adopt(self._words.identity)

    async def put_messages(self, tenant: str, agent_id: str, documents: Sequence[MessageDocument]) -> None:
        """Adds or replaces."""
        words = [message_words(document) for document in documents]
        await self._words.put(_bucket(tenant, agent_id, ContentClass.MESSAGE), words)
        await self._registry.put_messages(tenant, agent_id, [document.message for document in documents])

    async def put_memories(self, bucket: Bucket, documents: Sequence[MemoryDocument]) -> None:
        """Adds or replaces."""
        await self._words.put(bucket, [memory_words(document) for document in documents])
        await self._registry.put_memories(bucket, documents)

    async def remove_memories(self, bucket: Bucket, memory_ids: Sequence[str]) -> None:
        """Removes."""
        await self._words.remove(bucket, memory_ids)
        await self._registry.remove_memories(bucket, memory_ids)

    async def search_messages(
        self, tenant: str, agent_id: str, terms: Sequence[str], scope: MessageScope, limit: int
    ) -> list[tuple[str, float]]:
        """As the engine ranks them."""
        bucket = _bucket(tenant, agent_id, ContentClass.MESSAGE)
        return await self._words.search([bucket], terms, filters_of(scope), limit=limit)

    async def message_terms(
        self, tenant: str, agent_id: str, item_ids: Sequence[str], most: int
    ) -> dict[str, tuple[str, ...]]:
        """As the engine has them."""
        return await self._words.terms_of(
            _bucket(tenant, agent_id, ContentClass.MESSAGE), item_ids, most=most
        )

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
        """As the engine ranks them."""
        if not contact_ids:
            return []
        buckets = [_bucket(tenant, agent_id, content) for content in classes_at(valid_at)]
        filters = WordFilters(contact_ids=tuple(contact_ids), kinds=kinds, valid_at=valid_at)
        return await self._words.search(buckets, terms, filters, limit=limit)

    async def search_documents(
        self, tenant: str, agent_id: str, terms: Sequence[str], scope: DocumentScope, limit: int
    ) -> list[tuple[str, float]]:
        """As the engine ranks them."""
        filters = WordFilters(contact_ids=scope.buckets, kinds=scope.types)
        return await self._words.search(
            [_bucket(tenant, agent_id, ContentClass.DOCUMENT)], terms, filters, limit=limit
        )

    async def features(
        self, tenant: str, agent_id: str, item_ids: Sequence[str]
    ) -> dict[str, IndexedMessage]:
        """See `Registered`; likewise below."""
        return await self._registry.features(tenant, agent_id, item_ids)

    async def authors(
        self, tenant: str, agent_id: str, conversation_id: str, contact_ids: Sequence[str] = ()
    ) -> list[str]:
        """From the registry."""
        return await self._registry.authors(tenant, agent_id, conversation_id, contact_ids)

    async def progress(
        self, tenant: str, agent_id: str, conversation_ids: Sequence[str]
    ) -> dict[str, Progress]:
        """From the registry."""
        return await self._registry.progress(tenant, agent_id, conversation_ids)

    async def missing(
        self, tenant: str, agent_id: str, conversation_id: str, upto: int, *, limit: int
    ) -> list[int]:
        """From the registry."""
        return await self._registry.missing(tenant, agent_id, conversation_id, upto, limit=limit)

    async def buckets(self) -> list[tuple[str, str, str]]:
        """From the registry."""
        return await self._registry.buckets()

    async def item_ids(self, tenant: str, agent_id: str, class_: str, after: str, limit: int) -> list[str]:
        """From the registry."""
        return await self._registry.item_ids(tenant, agent_id, class_, after, limit)

    async def known_memories(self, bucket: Bucket, memory_ids: Sequence[str]) -> set[str]:
        """From the registry."""
        return await self._registry.known_memories(bucket, memory_ids)

    async def whole(self) -> bool:
        """From the registry."""
        return await self._registry.whole()

    async def set_whole(self, whole: bool) -> None:
        """In the registry."""
        await self._registry.set_whole(whole)


def message_words(document: MessageDocument) -> WordDocument:
    """A message as an engine keeps it."""
    message = document.message
    return WordDocument(
        item_id=message.item_id,
        terms=document.terms,
        contact_id=message.contact_id,
        conversation_id=message.conversation_id,
        role=message.role,
        author=message.author,
        time=message.time,
    )


def memory_words(document: MemoryDocument) -> WordDocument:
    """A memory, or a part of a document, as an engine keeps it."""
    return WordDocument(
        item_id=document.memory_id,
        terms=document.terms,
        contact_id=document.contact_id,
        time=document.begins,
        ends=document.ends,
        kind=int(document.kind),
    )


def _bucket(tenant: str, agent_id: str, content: ContentClass) -> Bucket:
    return Bucket(tenant=tenant, agent=agent_id, content=content)
