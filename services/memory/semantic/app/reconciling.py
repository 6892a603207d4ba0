"""Making the indexes whole again after they were lost, in whole or in part (SPEC SV-2)."""

from __future__ import annotations

from collections.abc import Callable

import structlog

from services.kit.ids import new_id
from services.memory.semantic.app.ports import ItemIndex, KnownConversation, MemoryStore
from services.memory.semantic.app.vectors import VectorIndex
from services.memory.semantic.domain.items import conversation_of
from services.memory.semantic.domain.vectors import Bucket, ContentClass

PAGE = 1000


class Reconciler:
    """Finds what the indexes lack and enqueues jobs for it; recall serves what is there meanwhile."""

    def __init__(
        self, *, store: MemoryStore, items: ItemIndex, vectors: VectorIndex, wake: Callable[[], None]
    ) -> None:
        self._store = store
        self._items = items
        self._vectors = vectors
        self._wake = wake
        self._log = structlog.get_logger("reconcile")

    async def run(self, *, items_lost: bool) -> None:
        """Enqueues jobs for all that was known, if the item index is new; else for gaps only."""
        suffix = f":{new_id()}"
        count = await self._store.enqueue_all_memories(suffix) if items_lost else 0
        count += await self._gaps(suffix)
        if not self._vectors.opened_clean:
            count += await self._lost_vectors(suffix)
        if count:
            self._log.info("reconciling", jobs=count)
            self._wake()

    async def _gaps(self, suffix: str) -> int:
        """Messages that were indexed once and are not now."""
        count = 0
        for known in await self._store.known_conversations():
            missing = await self._items.missing(
                known.tenant, known.agent_id, known.conversation_id, known.highest, limit=known.highest
            )
            if missing:
                await self._store.enqueue_messages(known, missing, suffix)
                count += len(missing)
        return count

    async def _lost_vectors(self, suffix: str) -> int:
        """Items whose vectors are gone (or that never had one: they are merely indexed again)."""
        count = 0
        for tenant, agent_id, class_ in await self._items.buckets():
            held = await self._held(Bucket(tenant=tenant, agent=agent_id, content=ContentClass(class_)))
            after = ""
            while page := await self._items.item_ids(tenant, agent_id, class_, after, PAGE):
                after = page[-1]
                lost = [item_id for item_id in page if item_id not in held]
                await self._enqueue(tenant, agent_id, class_, lost, suffix)
                count += len(lost)
        return count

    async def _held(self, bucket: Bucket) -> set[str]:
        held: set[str] = set()
        after = ""
        while True:
            page = await self._vectors.ids(bucket, after=after, limit=PAGE)
            held.update(page.item_ids)
            after = page.next
            if not after:
                return held

    async def _enqueue(self, tenant: str, agent_id: str, class_: str, lost: list[str], suffix: str) -> None:
        if class_ == ContentClass.MEMORY:
            await self._store.enqueue_memories(tenant, agent_id, lost, suffix)
            return
        for item_id in lost:
            conversation_id, sequence = conversation_of(item_id)
            known = KnownConversation(
                tenant=tenant, agent_id=agent_id, conversation_id=conversation_id, highest=sequence
            )
            await self._store.enqueue_messages(known, [sequence], suffix)
