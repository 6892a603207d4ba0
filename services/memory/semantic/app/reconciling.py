"""Making the indexes whole again after they were lost, in whole or in part (SPEC SV-2)."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence

import structlog

from services.kit.errors import DependencyDown
from services.kit.ids import new_id
from services.kit.times import Clock
from services.memory.semantic.app.item_ports import ItemIndex
from services.memory.semantic.app.ports import KnownConversation, MemoryStore
from services.memory.semantic.app.vectors import VectorIndex
from services.memory.semantic.domain.items import conversation_of
from services.memory.semantic.domain.vectors import Bucket, ContentClass

PAGE = 1000
FIRST_PAUSE_SECONDS = 0.5
MAX_PAUSE_SECONDS = 30.0


class Reconciler:
    """Finds what the indexes lack and enqueues jobs for it; recall serves what is there meanwhile."""

    def __init__(
        self,
        *,
        store: MemoryStore,
        items: ItemIndex,
        vectors: VectorIndex,
        wake: Callable[[], None],
        clock: Clock,
    ) -> None:
        self._store = store
        self._items = items
        self._vectors = vectors
        self._wake = wake
        self._clock = clock
        self._log = structlog.get_logger("reconcile")

    async def run(self) -> None:
        """Once, at the start of the service; again, after a pause, while something it needs is down."""
        suffix = f":{new_id()}"  # makes the jobs' keys new, and those of a second attempt the same
        pause = FIRST_PAUSE_SECONDS
        while True:
            try:
                return await self._reconcile(suffix)
            except DependencyDown as error:
                self._log.warning("reconcile_failed", reason=error.reason)
                await asyncio.sleep(pause)
                pause = min(pause * 2, MAX_PAUSE_SECONDS)

    async def _reconcile(self, suffix: str) -> None:
        count = await self._lost_messages(suffix)
        if not (self._vectors.opened_clean and await self._items.whole()):
            # Not whole until the end is reached: whoever stops half-way, even cleanly, begins again.
            await self._items.set_whole(False)
            count += await self._lost_memories(suffix)
            count += await self._compare_vectors(suffix)
            await self._items.set_whole(True)
        if count:
            self._log.info("reconciling", jobs=count)
            self._wake()

    async def _lost_messages(self, suffix: str) -> int:
        """Messages that were indexed once and are not registered now."""
        count = 0
        for known in await self._store.known_conversations():
            missing = await self._items.missing(
                known.tenant, known.agent_id, known.conversation_id, known.highest, limit=known.highest
            )
            if missing:
                await self._store.enqueue_messages(known, missing, suffix)
                count += len(missing)
        return count

    async def _lost_memories(self, suffix: str) -> int:
        """Memories that are live, or will be, and are not registered."""
        count, after = 0, 0
        while page := await self._store.live_ids(after, PAGE, self._clock()):
            after = page[-1].number
            by_agent: dict[tuple[str, str], list[str]] = defaultdict(list)
            for live in page:
                by_agent[live.tenant, live.agent_id].append(live.memory_id)
            for (tenant, agent_id), memory_ids in by_agent.items():
                known = await self._items.known_memories(tenant, agent_id, memory_ids)
                lost = [memory_id for memory_id in memory_ids if memory_id not in known]
                await self._store.enqueue_memories(tenant, agent_id, lost, suffix)
                count += len(lost)
        return count

    async def _compare_vectors(self, suffix: str) -> int:
        """Registered items without a vector (some never had one: they are merely indexed again).

        Memories that are gone are taken out, should a removal have been lost.
        """
        count = 0
        for tenant, agent_id, class_ in await self._items.buckets():
            bucket = Bucket(tenant=tenant, agent=agent_id, content=ContentClass(class_))
            held = await self._held(bucket)
            if bucket.content is ContentClass.MEMORY:
                await self._take_out_gone(bucket, sorted(held))
            after = ""
            while page := await self._items.item_ids(tenant, agent_id, class_, after, PAGE):
                after = page[-1]
                if bucket.content is ContentClass.MEMORY:
                    await self._take_out_gone(bucket, page)
                lost = [item_id for item_id in page if item_id not in held]
                await self._enqueue(bucket, lost, suffix)
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

    async def _take_out_gone(self, bucket: Bucket, memory_ids: Sequence[str]) -> None:
        for start in range(0, len(memory_ids), PAGE):
            some = memory_ids[start : start + PAGE]
            found = await self._store.get(bucket.tenant, bucket.agent, some)
            now = self._clock()
            gone = [id_ for id_ in some if id_ not in found or not found[id_].lasts(now)]
            if gone:
                await self._vectors.delete(bucket, gone)
                await self._items.remove_memories(bucket.tenant, bucket.agent, gone)

    async def _enqueue(self, bucket: Bucket, lost: Sequence[str], suffix: str) -> None:
        if bucket.content is ContentClass.MEMORY:
            await self._store.enqueue_memories(bucket.tenant, bucket.agent, lost, suffix)
            return
        by_conversation: dict[str, list[int]] = defaultdict(list)
        for item_id in lost:
            conversation_id, sequence = conversation_of(item_id)
            by_conversation[conversation_id].append(sequence)
        for conversation_id, sequences in by_conversation.items():
            known = KnownConversation(
                tenant=bucket.tenant,
                agent_id=bucket.agent,
                conversation_id=conversation_id,
                highest=max(sequences),
            )
            await self._store.enqueue_messages(known, sequences, suffix)
