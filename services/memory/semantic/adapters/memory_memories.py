"""The canonical rows of memories in this process's memory; nothing is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from services.kit.errors import Exists
from services.kit.ids import new_id
from services.kit.outbox import NewJob
from services.memory.semantic.adapters.index_jobs import index_job, message_job
from services.memory.semantic.app.ports import KnownConversation, LiveMemory, MemoryQuery, Remembered
from services.memory.semantic.domain.memory import (
    CONFIDENCE,
    REQUEST_LIFETIME,
    Kind,
    Memory,
    MessageRef,
    NewMemory,
    Scope,
    key_segments,
    kind_of,
)

MAX_VERSIONS = 1000
STANDING_CANDIDATES = 200

Row = tuple[str, Memory]  # tenant, memory
Content = tuple[str, str, int, str]


class InMemoryMemoryStore:
    """`MemoryStore` over dictionaries; `outbox` holds (tenant, job) in order of writing."""

    def __init__(self, task_lifetime: timedelta) -> None:
        self.outbox: list[tuple[str, NewJob]] = []
        self._task_lifetime = task_lifetime
        self._rows: dict[int, Row] = {}
        self._next = 1
        self._answers: dict[tuple[str, str, str], tuple[Content, str, bool]] = {}
        self._answered_at: dict[tuple[str, str, str], datetime] = {}
        self._known: dict[tuple[str, str, str], int] = {}

    async def remember(self, tenant: str, new: NewMemory, now: datetime) -> Remembered:
        """See the port."""
        asked = (tenant, new.scope.agent_id, new.request_id)
        content = (new.key, new.value, int(new.fact_type), new.scope.write_bucket)
        if new.request_id and asked in self._answers:
            return await self._answered(*asked[:2], content, self._answers[asked])
        buckets = new.scope.contact_ids or ("",)
        heads = [
            (number, memory)
            for number, memory in self._of(tenant, new.scope.agent_id)
            if memory.key == new.key and memory.contact_id in buckets and not memory.superseded_by
        ]
        heads.sort(key=lambda head: head[1].live(now))
        live = [memory for _, memory in heads if memory.live(now)]
        if len(live) == 1 and (live[0].value, live[0].fact_type) == (new.value, new.fact_type):
            result = Remembered(memory=live[0], created=False)
        else:
            result = Remembered(memory=self._insert(tenant, new, heads, now), created=True)
        if new.request_id:
            self._answers[asked] = (content, result.memory.id, result.created)
            self._answered_at[asked] = now
            for old in [id_ for id_, at in self._answered_at.items() if at < now - REQUEST_LIFETIME]:
                del self._answered_at[old], self._answers[old]
        return result

    async def _answered(
        self, tenant: str, agent_id: str, content: Content, answer: tuple[Content, str, bool]
    ) -> Remembered:
        known, memory_id, created = answer
        found = await self.get(tenant, agent_id, [memory_id])
        if known != content or memory_id not in found:
            raise Exists("this request_id was used for another memory")
        return Remembered(memory=found[memory_id], created=created)

    def _insert(
        self, tenant: str, new: NewMemory, heads: Sequence[tuple[int, Memory]], now: datetime
    ) -> Memory:
        agent, bucket, valid_from = new.scope.agent_id, new.scope.write_bucket, new.valid_from or now
        memory_id = new_id()
        for number, old in heads:
            ended = replace(
                old,
                superseded_by=memory_id,
                valid_to=max(valid_from, old.valid_from),
                updated=now,
                revision=old.revision + 1,
            )
            self._rows[number] = (tenant, ended)
            self.outbox.append((tenant, index_job(agent, old.id, ended.revision)))
        versions = [
            m.version for _, m in self._of(tenant, agent) if (m.contact_id, m.key) == (bucket, new.key)
        ]
        task = kind_of(new.fact_type) is Kind.TASK
        memory = Memory(
            id=memory_id,
            agent_id=agent,
            key=new.key,
            value=new.value,
            fact_type=new.fact_type,
            contact_id=bucket,
            pinned=new.pinned or any(old.pinned for _, old in heads),
            confidence=CONFIDENCE[new.source],
            source=new.source,
            provenance=new.provenance,
            created=now,
            updated=now,
            accessed=None,
            access_count=0,
            valid_from=valid_from,
            valid_to=None,
            superseded_by="",
            supersedes=heads[-1][1].id if heads else "",
            version=max(versions, default=0) + 1,
            expires=now + self._task_lifetime if task else None,
            revision=1,
            indexed_revision=0,
        )
        self._rows[self._next] = (tenant, memory)
        self._next += 1
        self.outbox.append((tenant, index_job(agent, memory_id, 1)))
        return memory

    async def get(self, tenant: str, agent_id: str, memory_ids: Sequence[str]) -> dict[str, Memory]:
        """See the port."""
        return {memory.id: memory for _, memory in self._of(tenant, agent_id) if memory.id in memory_ids}

    async def live_of_key(self, tenant: str, scope: Scope, key: str, now: datetime) -> Memory | None:
        """See the port."""
        found = [(number, m) for number, m in self._live(tenant, scope, now) if m.key == key]
        return max(found, key=lambda pair: (pair[1].contact_id != "", pair[0]), default=(0, None))[1]

    async def page(self, tenant: str, query: MemoryQuery, now: datetime) -> list[tuple[int, Memory]]:
        """See the port."""
        return [
            (number, memory)
            for number, memory in self._of(tenant, query.scope.agent_id)
            if memory.contact_id in query.scope.read_buckets
            and number > query.after
            and (query.include_superseded or memory.live(now))
            and (not query.kinds or memory.kind in query.kinds)
            and memory.key.startswith(query.key_prefix)
        ][: query.limit]

    async def versions(self, tenant: str, agent_id: str, memory_id: str) -> list[Memory]:
        """See the port."""
        chosen = (await self.get(tenant, agent_id, [memory_id])).get(memory_id)
        if chosen is None:
            return []
        where = (chosen.contact_id, chosen.key)
        chain = [m for _, m in self._of(tenant, agent_id) if (m.contact_id, m.key) == where]
        return sorted(chain, key=lambda memory: memory.version)[-MAX_VERSIONS:]

    async def set_pinned(
        self, tenant: str, agent_id: str, memory_id: str, pinned: bool, now: datetime
    ) -> Memory | None:
        """See the port."""
        for number, memory in self._of(tenant, agent_id):
            if memory.id == memory_id:
                changed = replace(memory, pinned=pinned, updated=now)
                self._rows[number] = (tenant, changed)
                return changed
        return None

    async def forget(self, tenant: str, agent_id: str, memory_id: str) -> list[str]:
        """See the port."""
        chosen = (await self.get(tenant, agent_id, [memory_id])).get(memory_id)
        if chosen is None:
            return []
        gone: dict[str, int] = {}
        for number, memory in reversed(self._of(tenant, agent_id)):
            if memory.key == chosen.key and (
                memory.contact_id == chosen.contact_id or memory.superseded_by in gone
            ):
                gone[memory.id] = memory.revision
                del self._rows[number]
        self.outbox += [(tenant, index_job(agent_id, id_, revision + 1)) for id_, revision in gone.items()]
        return list(gone)

    async def candidates_by_key(
        self,
        tenant: str,
        scope: Scope,
        words: Sequence[str],
        limit: int,
        now: datetime,
        kinds: frozenset[Kind] = frozenset(),
    ) -> list[tuple[str, float]]:
        """See the port."""
        hits = {
            memory.id: float(len(set(words) & set(key_segments(memory.key))))
            for _, memory in self._live(tenant, scope, now)
            if not kinds or memory.kind in kinds
        }
        found = [(id_, score) for id_, score in hits.items() if score]
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))[:limit]

    async def of_messages(
        self, tenant: str, scope: Scope, refs: Sequence[MessageRef], now: datetime
    ) -> dict[MessageRef, list[str]]:
        """See the port."""
        live = [memory for _, memory in self._live(tenant, scope, now)]
        found = {ref: sorted(m.id for m in live if ref in m.provenance) for ref in refs}
        return {ref: ids for ref, ids in found.items() if ids}

    async def standing(
        self, tenant: str, scope: Scope, now: datetime, kinds: frozenset[Kind] = frozenset()
    ) -> list[Memory]:
        """See the port."""
        wanted = (kinds or frozenset(Kind)) - {Kind.TASK}
        found = [memory for _, memory in self._live(tenant, scope, now) if memory.kind in wanted]
        found.sort(key=lambda m: (m.pinned, m.accessed or m.created), reverse=True)
        return found[:STANDING_CANDIDATES]

    async def count_access(
        self, tenant: str, agent_id: str, memory_ids: Sequence[str], now: datetime
    ) -> None:
        """See the port."""
        for number, memory in self._of(tenant, agent_id):
            if memory.id in memory_ids:
                self._rows[number] = (
                    tenant,
                    replace(memory, accessed=now, access_count=memory.access_count + 1),
                )

    async def mark_indexed(self, tenant: str, agent_id: str, revisions: Mapping[str, int]) -> None:
        """See the port."""
        for number, memory in self._of(tenant, agent_id):
            reached = max(memory.indexed_revision, revisions.get(memory.id, 0))
            self._rows[number] = (tenant, replace(memory, indexed_revision=reached))

    async def note_messages(self, tenant: str, agent_id: str, highest: Mapping[str, int]) -> None:
        """See the port."""
        for conversation_id, top in highest.items():
            place = (tenant, agent_id, conversation_id)
            self._known[place] = max(self._known.get(place, 0), top)

    async def known_conversations(self) -> list[KnownConversation]:
        """See the port."""
        return [
            KnownConversation(tenant=tenant, agent_id=agent_id, conversation_id=conversation_id, highest=top)
            for (tenant, agent_id, conversation_id), top in self._known.items()
        ]

    async def enqueue_messages(self, known: KnownConversation, sequences: Sequence[int], suffix: str) -> None:
        """See the port."""
        self.outbox += [(known.tenant, message_job(known, sequence, suffix)) for sequence in sequences]

    async def enqueue_memories(
        self, tenant: str, agent_id: str, memory_ids: Sequence[str], suffix: str
    ) -> None:
        """See the port."""
        found = await self.get(tenant, agent_id, memory_ids)
        self.outbox += [(tenant, index_job(agent_id, m.id, m.revision, suffix)) for m in found.values()]

    async def live_ids(self, after: int, limit: int) -> list[LiveMemory]:
        """See the port."""
        return [
            LiveMemory(number=number, tenant=tenant, agent_id=memory.agent_id, memory_id=memory.id)
            for number, (tenant, memory) in sorted(self._rows.items())
            if number > after and not memory.superseded_by
        ][:limit]

    def _of(self, tenant: str, agent_id: str) -> list[tuple[int, Memory]]:
        return [
            (number, memory)
            for number, (owner, memory) in sorted(self._rows.items())
            if owner == tenant and memory.agent_id == agent_id
        ]

    def _live(self, tenant: str, scope: Scope, now: datetime) -> list[tuple[int, Memory]]:
        return [
            (number, memory)
            for number, memory in self._of(tenant, scope.agent_id)
            if memory.contact_id in scope.read_buckets and memory.live(now)
        ]
