"""What the indexes lack of derived documents, by the canonical rows (SPEC S-13, SV-2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Sequence

from services.memory.semantic.app.document_indexing import documents_bucket
from services.memory.semantic.app.document_ports import DocumentStore, KnownDocument
from services.memory.semantic.app.item_ports import Registered
from services.memory.semantic.domain.documents import DocumentSource, item_id
from services.memory.semantic.domain.vectors import Bucket

PAGE = 500
FIRST = ("", "", "")


class DocumentUpkeep:
    """Finds documents that are to be indexed again, and enqueues jobs for them."""

    def __init__(self, store: DocumentStore, items: Registered) -> None:
        self._store = store
        self._items = items

    async def known(self, bucket: Bucket, item_ids: Sequence[str]) -> set[str]:
        """Those of the parts that a row has."""
        return set(await self._store.chunks(bucket.tenant, bucket.agent, item_ids))

    async def enqueue(self, bucket: Bucket, item_ids: Sequence[str], suffix: str) -> None:
        """Has the documents of parts indexed again; parts that no row has are left out."""
        found = await self._store.chunks(bucket.tenant, bucket.agent, item_ids)
        sources = [one.document.source for one in found.values()]
        await self._store.enqueue(bucket.tenant, bucket.agent, sources, suffix)

    async def pages(self, tenant: str = "", agent_id: str = "") -> AsyncIterator[Sequence[KnownDocument]]:
        """All documents; of a tenant, or an agent."""
        after = FIRST
        while page := await self._store.page(after, PAGE, tenant=tenant, agent_id=agent_id):
            yield page
            after = (page[-1].tenant, page[-1].agent_id, page[-1].key)

    async def lost_of(self, page: Sequence[KnownDocument], suffix: str) -> int:
        """Of these documents, those that are not settled, or not wholly registered."""
        by_agent: dict[tuple[str, str], list[KnownDocument]] = defaultdict(list)
        for one in page:
            by_agent[one.tenant, one.agent_id].append(one)
        count = 0
        for (tenant, agent_id), documents in by_agent.items():
            parts = [id_ for one in documents for id_ in _item_ids(one)]
            known = await self._items.known_memories(documents_bucket(tenant, agent_id), parts)
            lost = [one for one in documents if not (one.settled and known.issuperset(_item_ids(one)))]
            sources: set[DocumentSource] = {one.source for one in lost}
            if sources:
                await self._store.enqueue(tenant, agent_id, sorted(sources), suffix)
            count += len(lost)
        return count


def _item_ids(document: KnownDocument) -> list[str]:
    return [item_id(document.key, number) for number in range(document.chunk_count)]
