"""Comparing an agent's stores on demand, and having repaired what drifted apart (SPEC J-15, SV-2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from services.kit.ids import new_id
from services.kit.times import Clock
from services.memory.semantic.app.item_ports import Registered
from services.memory.semantic.app.ports import MemoryStore
from services.memory.semantic.app.reconciling import PAGE, Reconciler
from services.memory.semantic.app.upkeep_ports import UpkeepStore
from services.memory.semantic.domain.vectors import Bucket, ContentClass


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """What was missing, each with a job that puts it right, and what was too much and is taken out."""

    messages: int
    memories: int
    vectors: int
    strangers: int
    documents: int = 0


class DriftCheck:
    """Rows against registry, registry against vectors and words; `wake` tells the relay of jobs."""

    def __init__(
        self,
        *,
        store: MemoryStore,
        upkeep: UpkeepStore,
        items: Registered,
        reconciler: Reconciler,
        wake: Callable[[], None],
        clock: Clock,
    ) -> None:
        self._store = store
        self._upkeep = upkeep
        self._items = items
        self._reconciler = reconciler
        self._wake = wake
        self._clock = clock

    async def check(self, tenant: str, agent_id: str, request_id: str = "") -> Drift:
        """Of one agent; the same `request_id` again asks for no second job. Raises DependencyDown."""
        suffix = f":drift:{request_id or new_id()}"
        messages = await self._messages(tenant, agent_id, suffix)
        memories = await self._memories(tenant, agent_id, suffix)
        compared = [
            await self._reconciler.compare(Bucket(tenant=tenant, agent=agent_id, content=content), suffix)
            for content in ContentClass
        ]
        documents = await self._reconciler.lost_documents(suffix, tenant, agent_id)
        drift = Drift(
            messages=messages,
            memories=memories,
            documents=documents,
            vectors=sum(one.lost for one in compared),
            strangers=sum(one.strangers for one in compared),
        )
        if drift.messages or drift.memories or drift.documents or drift.vectors:
            self._wake()
        return drift

    async def _messages(self, tenant: str, agent_id: str, suffix: str) -> int:
        count = 0
        for known in await self._upkeep.known_of(tenant, agent_id):
            missing = await self._items.missing(
                tenant, agent_id, known.conversation_id, known.highest, limit=known.highest
            )
            if missing:
                await self._store.enqueue_messages(known, missing, suffix)
                count += len(missing)
        return count

    async def _memories(self, tenant: str, agent_id: str, suffix: str) -> int:
        count, after = 0, ""
        while page := await self._upkeep.kept_of(tenant, agent_id, after, PAGE, self._clock()):
            after = page[-1].memory_id
            count += await self._reconciler.lost_of(page, suffix)
        return count
