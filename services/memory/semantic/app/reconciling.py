"""Making the indexes whole again after they were lost, in whole or in part (SPEC SV-2)."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol, TypeVar

import structlog

from services.kit.errors import DependencyDown
from services.kit.ids import new_id
from services.kit.times import Clock
from services.memory.semantic.app.document_upkeep import DocumentUpkeep
from services.memory.semantic.app.generation_ports import RESTORE
from services.memory.semantic.app.generations import Generations
from services.memory.semantic.app.item_ports import ItemIndex
from services.memory.semantic.app.ports import KeptMemory, KnownConversation, MemoryStore
from services.memory.semantic.app.strangers import Strangers
from services.memory.semantic.domain.items import conversation_of
from services.memory.semantic.domain.vectors import MEMORY_CLASSES, Bucket, ContentClass

T = TypeVar("T")

PAGE = 1000
FIRST_PAUSE_SECONDS = 0.5
MAX_PAUSE_SECONDS = 30.0
LOSS_POLL_SECONDS = 1.0
RENEWALS = 6
"""How often the lease is renewed within its time by work that may take longer."""


class Turns(Protocol):
    """What one replica does at a time."""

    async def take(self, lease: str) -> bool:
        """Takes a lease, or renews it; False while it is another's."""

    async def give(self, lease: str) -> None:
        """Gives it back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Of a bucket, how many items lack a vector and were enqueued, and how many did not belong there."""

    lost: int
    strangers: int


class Reconciler:
    """Finds what the indexes lack and enqueues jobs for it; recall serves what is there meanwhile.

    Of two generations it sees to the active one: what it enqueues is written to both, and the other is seen
    to by who fills it.
    """

    def __init__(
        self,
        *,
        store: MemoryStore,
        items: ItemIndex,
        generations: Generations,
        strangers: Strangers,
        turns: Turns,
        wake: Callable[[], None],
        clock: Clock,
        lease_seconds: float,
        documents: DocumentUpkeep | None = None,
    ) -> None:
        """`lease_seconds` is how long a turn lasts unless it is renewed. Without `documents`, derived
        documents are let alone."""
        self._documents = documents
        self._renew_seconds = lease_seconds / RENEWALS
        self._store = store
        self._items = items
        self._generations = generations
        self._strangers = strangers
        self._turns = turns
        self._wake = wake
        self._clock = clock
        self._log = structlog.get_logger("reconcile")

    async def run(self) -> None:
        """At the start of the service, and whenever an index is lost while it runs, until cancelled."""
        await self.once()
        while True:
            await asyncio.sleep(LOSS_POLL_SECONDS)
            if self._generations.active.vectors.lost or self._items.lost:
                await self._patiently(self._restore)

    async def once(self) -> None:
        """As at a start: what is missing by then; returns when jobs for it are enqueued."""
        await self._patiently(self._reconcile)

    async def _patiently(self, work: Callable[[str], Awaitable[None]]) -> None:
        """Again, after a pause, while something that it needs is down."""
        suffix = f":{new_id()}"  # makes the jobs' keys new, and those of a second attempt the same
        pause = FIRST_PAUSE_SECONDS
        while True:
            try:
                return await work(suffix)
            except DependencyDown as error:
                self._log.warning("reconcile_failed", reason=error.reason)
                await asyncio.sleep(pause)
                pause = min(pause * 2, MAX_PAUSE_SECONDS)

    async def _restore(self, suffix: str) -> None:
        """Makes a lost index again and has it filled, unless another replica does, or did."""
        if not await self._turns.take(RESTORE):
            return
        try:
            async with asyncio.timeout(None) as ours:
                renewing = asyncio.create_task(self._renew(ours))
                try:
                    await self._make_again(suffix)
                finally:
                    renewing.cancel()
        except TimeoutError:
            if not ours.expired():
                raise
            self._log.warning("restore_taken_over")
            return
        await self._turns.give(RESTORE)

    async def _renew(self, ours: asyncio.Timeout) -> None:
        """Keeps the lease, however long the work takes; ends the work once the lease is another's."""
        while True:
            await asyncio.sleep(self._renew_seconds)
            with suppress(DependencyDown):
                if not await self._turns.take(RESTORE):
                    ours.reschedule(asyncio.get_running_loop().time())
                    return

    async def _make_again(self, suffix: str) -> None:
        vectors = self._generations.active.vectors
        was_whole = await self._items.whole()
        await self._items.set_whole(False)  # whoever stops from here on begins again at the next start
        made = [await vectors.restore(), await self._items.restore()]
        if any(made) or not was_whole:
            self._log.warning("index_lost", vectors=made[0], words=made[1])
            await self._reconcile(suffix)
        else:
            await self._items.set_whole(True)

    async def _reconcile(self, suffix: str) -> None:
        whole = self._generations.active.vectors.opened_clean and await self._items.whole()
        if not whole:
            # Not whole until the end is reached: whoever stops half-way, even cleanly, begins again.
            await self._items.set_whole(False)
        count = await self._lost_messages(suffix)
        if not whole:
            count += await self._lost_memories(suffix)
            count += await self.lost_documents(suffix)
            count += await self._compare_vectors(suffix)
            await self._items.set_whole(True)
        if count:
            self._log.info("reconciling", jobs=count)
            self._wake()

    async def _lost_messages(self, suffix: str) -> int:
        """Messages that were indexed once and are not registered now."""
        count = 0
        async for page in _resting(self._known()):
            for behind in await self._behind(page):
                missing = await self._items.missing(
                    behind.tenant,
                    behind.agent_id,
                    behind.conversation_id,
                    behind.highest,
                    limit=behind.highest,
                )
                if missing:
                    await self._store.enqueue_messages(behind, missing, suffix)
                    count += len(missing)
        return count

    async def _known(self) -> AsyncIterator[Sequence[KnownConversation]]:
        """Pages of all conversations."""
        after = None
        while page := await self._store.known_conversations(after, PAGE):
            yield page
            after = page[-1]

    async def _behind(self, page: Sequence[KnownConversation]) -> list[KnownConversation]:
        """Those that are not registered without a gap up to where they were indexed."""
        by_agent: dict[tuple[str, str], list[KnownConversation]] = defaultdict(list)
        for known in page:
            by_agent[known.tenant, known.agent_id].append(known)
        behind = []
        for (tenant, agent_id), those in by_agent.items():
            reached = await self._items.progress(tenant, agent_id, [known.conversation_id for known in those])
            behind += [
                known
                for known in those
                if known.conversation_id not in reached
                or reached[known.conversation_id].sequence < known.highest
            ]
        return behind

    async def _lost_memories(self, suffix: str) -> int:
        """Memories that are not registered in the class where they belong."""
        return sum([await self.lost_of(page, suffix) async for page in _resting(self._kept())])

    async def lost_documents(self, suffix: str, tenant: str = "", agent_id: str = "") -> int:
        """Documents that are not wholly registered; of all, or of an agent."""
        if self._documents is None:
            return 0
        documents = self._documents
        pages = _resting(documents.pages(tenant, agent_id))
        return sum([await documents.lost_of(page, suffix) async for page in pages])

    async def _kept(self) -> AsyncIterator[Sequence[KeptMemory]]:
        """Pages of all memories."""
        after = 0
        while page := await self._store.kept(after, PAGE, self._clock()):
            yield page
            after = page[-1].number

    async def lost_of(self, page: Sequence[KeptMemory], suffix: str) -> int:
        """Of these memories, those that are not registered in the class where they belong."""
        count = 0
        by_bucket: dict[Bucket, list[str]] = defaultdict(list)
        for kept in page:
            content = ContentClass.MEMORY if kept.lasts else ContentClass.PAST
            bucket = Bucket(tenant=kept.tenant, agent=kept.agent_id, content=content)
            by_bucket[bucket].append(kept.memory_id)
        for bucket, memory_ids in by_bucket.items():
            known = await self._items.known_memories(bucket, memory_ids)
            lost = [memory_id for memory_id in memory_ids if memory_id not in known]
            await self._enqueue(bucket, lost, suffix)
            count += len(lost)
        return count

    async def _compare_vectors(self, suffix: str) -> int:
        """Registered items without a vector (some never had one: they are merely indexed again).

        Memories that are forgotten, or in a class where they do not belong, are taken out, should a removal
        have been lost.
        """
        return sum([(await self.compare(bucket, suffix)).lost for bucket in await self._strangers.buckets()])

    async def compare(self, bucket: Bucket, suffix: str) -> Compared:
        """One class of an agent's items, as above, a page at a time. Raises DependencyDown."""
        active, seen_to = self._generations.active, self._strangers.sees_to(bucket.content)
        gone = 0
        if seen_to:  # what is taken out is registered no more: nothing counts twice
            async for page in _resting(self._held(bucket)):
                gone += len(await self._strangers.take_out(bucket, page))
        count = 0
        async for page in _resting(self._registered(bucket)):
            held = await active.held(bucket, page)
            unseen = [item_id for item_id in page if item_id not in held]
            strangers = await self._strangers.take_out(bucket, unseen) if seen_to else set()
            gone += len(strangers)
            lost = [item_id for item_id in unseen if item_id not in strangers]
            await self._enqueue(bucket, lost, suffix)
            count += len(lost)
        return Compared(lost=count, strangers=gone)

    async def _held(self, bucket: Bucket) -> AsyncIterator[Sequence[str]]:
        """Pages of what has a vector."""
        after = ""
        while True:
            page = await self._generations.active.vectors.ids(bucket, after=after, limit=PAGE)
            yield page.item_ids
            after = page.next
            if not after:
                return

    async def _registered(self, bucket: Bucket) -> AsyncIterator[Sequence[str]]:
        """Pages of what is registered."""
        tenant, agent_id, class_, after = bucket.tenant, bucket.agent, bucket.content.value, ""
        while page := await self._items.item_ids(tenant, agent_id, class_, after, PAGE):
            yield page
            after = page[-1]

    async def _enqueue(self, bucket: Bucket, lost: Sequence[str], suffix: str) -> None:
        if bucket.content in MEMORY_CLASSES:
            await self._store.enqueue_memories(bucket.tenant, bucket.agent, lost, suffix)
            return
        if bucket.content is ContentClass.DOCUMENT:
            if self._documents is not None:
                await self._documents.enqueue(bucket, lost, suffix)
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


async def _resting(pages: AsyncIterator[T]) -> AsyncIterator[T]:
    """The pages, and after the work on each as long a rest: those who ask need the same threads."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    async for page in pages:
        yield page
        await asyncio.sleep(loop.time() - began)
        began = loop.time()
