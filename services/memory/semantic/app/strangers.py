"""Memories that an index holds where they do not belong: forgotten ones, and those of the other class."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from services.kit.ids import new_id
from services.kit.times import Clock
from services.memory.semantic.app.generations import Generation, Generations
from services.memory.semantic.app.item_ports import ItemIndex
from services.memory.semantic.app.ports import MemoryStore
from services.memory.semantic.domain.vectors import MEMORY_CLASSES, Bucket, ContentClass

PAGE = 1000


class Strangers:
    """Finds them by the canonical rows and takes them out, should a removal have been lost."""

    def __init__(
        self, *, store: MemoryStore, items: ItemIndex, generations: Generations, clock: Clock
    ) -> None:
        self._store = store
        self._items = items
        self._generations = generations
        self._clock = clock

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
        """All that a generation holds of a class of memories and should not."""
        after = ""
        while True:
            page = await generation.vectors.ids(bucket, after=after, limit=PAGE)
            await self.take_out(bucket, page.item_ids)
            after = page.next
            if not after:
                return

    async def take_out(self, bucket: Bucket, memory_ids: Sequence[str]) -> set[str]:
        """Those of the memories that do not belong there, which are in no index then.

        One that came to belong there meanwhile, and may have been put in before it was taken out, gets a job.
        """
        strangers: set[str] = set()
        for start in range(0, len(memory_ids), PAGE):
            some = memory_ids[start : start + PAGE]
            lasting = await self._store.lasting(bucket.tenant, bucket.agent, some, self._clock())
            belongs = bucket.content is ContentClass.MEMORY
            gone = [id_ for id_ in some if lasting.get(id_) is not belongs]
            if gone:
                for generation in self._generations.written:
                    await generation.vectors.delete(bucket, gone)
                await self._items.remove_memories(bucket, gone)
                strangers.update(gone)
                await self._bring_back(bucket, gone)
        return strangers

    async def _bring_back(self, bucket: Bucket, memory_ids: Sequence[str]) -> None:
        lasting = await self._store.lasting(bucket.tenant, bucket.agent, memory_ids, self._clock())
        belongs = bucket.content is ContentClass.MEMORY
        back = [id_ for id_ in memory_ids if lasting.get(id_) is belongs]
        if back:
            await self._store.enqueue_memories(bucket.tenant, bucket.agent, back, f":back:{new_id()}")
