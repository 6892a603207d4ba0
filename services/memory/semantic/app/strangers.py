"""What an index holds and should not: forgotten memories, those of another class, parts of documents gone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from services.kit.ids import new_id
from services.kit.times import Clock
from services.memory.semantic.app.document_upkeep import DocumentUpkeep
from services.memory.semantic.app.generations import Generation, Generations
from services.memory.semantic.app.item_ports import ItemIndex
from services.memory.semantic.app.ports import MemoryStore
from services.memory.semantic.domain.vectors import MEMORY_CLASSES, Bucket, ContentClass

PAGE = 1000


class Strangers:
    """Finds them by the canonical rows and takes them out, should a removal have been lost."""

    def __init__(
        self,
        *,
        store: MemoryStore,
        items: ItemIndex,
        generations: Generations,
        clock: Clock,
        documents: DocumentUpkeep | None = None,
    ) -> None:
        """Without `documents` their parts are let alone."""
        self._store = store
        self._documents = documents
        self._items = items
        self._generations = generations
        self._clock = clock

    def sees_to(self, content: ContentClass) -> bool:
        """Whether a class may hold strangers that can be told."""
        return content in MEMORY_CLASSES or (content is ContentClass.DOCUMENT and self._documents is not None)

    async def buckets(self) -> list[Bucket]:
        """Those with registered items; of memories both classes: one may hold what only the other names."""
        classes: dict[tuple[str, str], set[ContentClass]] = defaultdict(set)
        for tenant, agent_id, class_ in await self._items.buckets():
            content = ContentClass(class_)
            classes[tenant, agent_id] |= set(MEMORY_CLASSES) if content in MEMORY_CLASSES else {content}
        return [
            Bucket(tenant=tenant, agent=agent_id, content=content)
            for (tenant, agent_id), found in classes.items()
            for content in sorted(found)
        ]

    async def take_out_of(self, generation: Generation, bucket: Bucket) -> None:
        """All that a generation holds of a class that is seen to, and should not."""
        after = ""
        while True:
            page = await generation.vectors.ids(bucket, after=after, limit=PAGE)
            await self.take_out(bucket, page.item_ids)
            after = page.next
            if not after:
                return

    async def take_out(self, bucket: Bucket, item_ids: Sequence[str]) -> set[str]:
        """Those of the items that do not belong there, which are in no index then.

        One that came to belong there meanwhile, and may have been put in before it was taken out, gets a job.
        """
        strangers: set[str] = set()
        for start in range(0, len(item_ids), PAGE):
            some = item_ids[start : start + PAGE]
            belonging = await self._belonging(bucket, some)
            gone = [id_ for id_ in some if id_ not in belonging]
            if gone:
                for generation in self._generations.written:
                    await generation.vectors.delete(bucket, gone)
                await self._items.remove_memories(bucket, gone)
                strangers.update(gone)
                await self._bring_back(bucket, gone)
        return strangers

    async def _belonging(self, bucket: Bucket, item_ids: Sequence[str]) -> set[str]:
        if bucket.content is ContentClass.DOCUMENT:
            assert self._documents is not None, "not seen to"
            return await self._documents.known(bucket, item_ids)
        lasting = await self._store.lasting(bucket.tenant, bucket.agent, item_ids, self._clock())
        belongs = bucket.content is ContentClass.MEMORY
        return {id_ for id_ in item_ids if lasting.get(id_) is belongs}

    async def _bring_back(self, bucket: Bucket, item_ids: Sequence[str]) -> None:
        belonging = await self._belonging(bucket, item_ids)
        back = [id_ for id_ in item_ids if id_ in belonging]
        if not back:
            return
        suffix = f":back:{new_id()}"
        if bucket.content is ContentClass.DOCUMENT and self._documents is not None:
            await self._documents.enqueue(bucket, back, suffix)
        else:
            await self._store.enqueue_memories(bucket.tenant, bucket.agent, back, suffix)
