"""Filling the indexes from the canonical stores (SPEC S-3, S-18, J-3)."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from services.kit.errors import InvalidRequest, NotFound, TextTooLong
from services.kit.times import Clock
from services.memory.semantic.app.item_ports import ItemIndex, MemoryDocument, MessageDocument
from services.memory.semantic.app.ports import Conversations, MemoryStore, Texts
from services.memory.semantic.app.vectors import VectorIndex
from services.memory.semantic.app.verifying import Fresh, Verifier
from services.memory.semantic.domain.analysis import analyse
from services.memory.semantic.domain.items import SourceConversation, SourceMessage
from services.memory.semantic.domain.memory import Kind, Memory
from services.memory.semantic.domain.names import strip_names
from services.memory.semantic.domain.roles import role_name
from services.memory.semantic.domain.vectors import Bucket, ContentClass, VectorPoint

GONE = "RESOURCE_NOT_FOUND: the message does not exist"
UNUSABLE = "INVALID_FIELD: the embedder refused the text"


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageItem:
    """A message to be indexed."""

    conversation_id: str
    sequence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryItem:
    """A memory to be indexed, or taken out if it is no longer live."""

    memory_id: str


Item = MessageItem | MemoryItem


class Indexer:
    """Indexes items; each has an outcome of its own. Running an item twice changes nothing.

    A memory is verified after it was indexed, unless there is no `verifier`: the setting is off (S-7).
    """

    def __init__(
        self,
        *,
        store: MemoryStore,
        items: ItemIndex,
        vectors: VectorIndex,
        texts: Texts,
        conversations: Conversations,
        observe_lag: Callable[[float], None],
        clock: Clock,
        verifier: Verifier | None = None,
    ) -> None:
        self._store = store
        self._items = items
        self._vectors = vectors
        self._texts = texts
        self._conversations = conversations
        self._observe_lag = observe_lag
        self._clock = clock
        self._verifier = verifier
        self._changed = asyncio.Event()

    async def changed(self) -> None:
        """Returns when something was indexed after the call."""
        await self._changed.wait()

    async def index(self, tenant: str, agent_id: str, batch: Sequence[Item]) -> list[str]:
        """An error for each item, "" where it went well. Raises DependencyDown when nothing could be done."""
        errors: dict[Item, str] = {}
        by_conversation: dict[str, set[int]] = defaultdict(set)
        memory_ids: list[str] = []
        fresh: list[Fresh] = []
        for item in batch:
            if isinstance(item, MessageItem):
                by_conversation[item.conversation_id].add(item.sequence)
            else:
                memory_ids.append(item.memory_id)
        if by_conversation:
            errors |= await self._messages(tenant, agent_id, by_conversation)
        if memory_ids:
            refused, fresh = await self._memories(tenant, agent_id, memory_ids)
            errors |= {MemoryItem(memory_id=memory_id): UNUSABLE for memory_id in refused}
        # Those who wait are told first: to be indexed is all that they wait for (S-16).
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()
        if fresh and self._verifier is not None:
            failed = await self._verifier.verify(tenant, agent_id, fresh)
            errors |= {MemoryItem(memory_id=memory_id): error for memory_id, error in failed.items()}
        return [errors.get(item, "") for item in batch]

    async def _messages(
        self, tenant: str, agent_id: str, wanted: Mapping[str, Collection[int]]
    ) -> dict[Item, str]:
        """Indexes sequence numbers by conversation, all in one go: one embedding, one write to each index."""
        sources = await asyncio.gather(
            *(self._source(agent_id, conversation_id, wanted[conversation_id]) for conversation_id in wanted)
        )
        errors: dict[Item, str] = {
            MessageItem(conversation_id=conversation_id, sequence=sequence): GONE
            for conversation_id, source in zip(wanted, sources, strict=True)
            for sequence in set(wanted[conversation_id]) - {message.sequence for message in source.messages}
        }
        texts = [(m.item_id, _embedded_text(m, source)) for source in sources for m in source.messages]
        vectors, refused = await self._embed(texts)
        accepted: list[SourceMessage] = []
        for message in (m for source in sources for m in source.messages):
            if message.item_id in refused:
                item = MessageItem(conversation_id=message.conversation_id, sequence=message.sequence)
                errors[item] = UNUSABLE
            else:
                accepted.append(message)
        if accepted:
            await self._store_messages(tenant, agent_id, accepted, vectors)
        return errors

    async def _source(
        self, agent_id: str, conversation_id: str, sequences: Collection[int]
    ) -> SourceConversation:
        try:
            return await self._conversations.messages(agent_id, conversation_id, sorted(sequences))
        except NotFound:
            return SourceConversation(authors=(), messages=())

    async def _store_messages(
        self, tenant: str, agent_id: str, messages: Sequence[SourceMessage], vectors: Mapping[str, bytes]
    ) -> None:
        """Vectors first, the registry last: what the registry names is in every index."""
        points = [
            _message_point(tenant, agent_id, message, vectors[message.item_id])
            for message in messages
            if message.item_id in vectors
        ]
        if points:
            await self._vectors.upsert(points)
        highest: dict[str, int] = defaultdict(int)
        for message in messages:
            highest[message.conversation_id] = max(highest[message.conversation_id], message.sequence)
        # Known before it is registered, so that a registry that loses its tail is missed (SV-2).
        await self._store.note_messages(tenant, agent_id, highest)
        documents = [
            MessageDocument(message=m, terms=" ".join(analyse(f"{m.author} {m.text} {m.tool_text}")))
            for m in messages
        ]
        await self._items.put_messages(tenant, agent_id, documents)
        now = self._clock()
        for message in messages:
            self._observe_lag((now - message.created).total_seconds())

    async def _memories(
        self, tenant: str, agent_id: str, memory_ids: Sequence[str]
    ) -> tuple[set[str], list[Fresh]]:
        """Puts in those that are live or will be, takes out the others; what was refused, what was put in."""
        bucket = Bucket(tenant=tenant, agent=agent_id, content=ContentClass.MEMORY)
        found = await self._store.get(tenant, agent_id, memory_ids)
        live = self._live(found, memory_ids)
        await self._take_out(bucket, [memory_id for memory_id in memory_ids if memory_id not in live])
        vectors, refused = await self._embed(
            [(m.id, m.value) for m in live.values() if m.kind is not Kind.TASK]
        )
        accepted = [memory for memory in live.values() if memory.id not in refused]
        if accepted:
            await self._store_memories(bucket, accepted, vectors)
        done = {memory.id: memory.revision for memory in found.values() if memory.id not in refused}
        if done:
            await self._store.mark_indexed(tenant, agent_id, done)
        now = self._clock()
        for memory in accepted:
            self._observe_lag((now - memory.updated).total_seconds())
        return refused, [Fresh(memory=memory, vector=vectors.get(memory.id)) for memory in accepted]

    async def _store_memories(
        self, bucket: Bucket, memories: Sequence[Memory], vectors: Mapping[str, bytes]
    ) -> None:
        points = [
            _memory_point(bucket, memory, vectors[memory.id]) for memory in memories if memory.id in vectors
        ]
        if points:
            await self._vectors.upsert(points)
        documents = [
            MemoryDocument(
                memory_id=m.id,
                contact_id=m.contact_id,
                terms=" ".join(analyse(f"{m.key} {m.value}")),
                kind=m.kind,
            )
            for m in memories
        ]
        await self._items.put_memories(bucket.tenant, bucket.agent, documents)
        # One that was superseded or forgotten meanwhile may have been taken out before it was put in.
        ids = [memory.id for memory in memories]
        live = self._live(await self._store.get(bucket.tenant, bucket.agent, ids), ids)
        await self._take_out(bucket, [memory_id for memory_id in ids if memory_id not in live])

    def _live(self, found: Mapping[str, Memory], memory_ids: Sequence[str]) -> dict[str, Memory]:
        now = self._clock()
        return {
            id_: found[id_] for id_ in dict.fromkeys(memory_ids) if id_ in found and found[id_].lasts(now)
        }

    async def _take_out(self, bucket: Bucket, memory_ids: Sequence[str]) -> None:
        if memory_ids:
            await self._vectors.delete(bucket, memory_ids)
            await self._items.remove_memories(bucket.tenant, bucket.agent, memory_ids)

    async def _embed(self, wanted: Sequence[tuple[str, str]]) -> tuple[dict[str, bytes], set[str]]:
        """Vectors by id; and the ids whose text the embedder refuses, found by halving."""
        texts = [(id_, text) for id_, text in wanted if text.strip()]
        if not texts:
            return {}, set()
        try:
            vectors = await self._texts.documents([text for _, text in texts])
        except (InvalidRequest, TextTooLong):
            if len(texts) == 1:
                return {}, {texts[0][0]}
            half = len(texts) // 2
            left, right = await self._embed(texts[:half]), await self._embed(texts[half:])
            return left[0] | right[0], left[1] | right[1]
        return {id_: vector for (id_, _), vector in zip(texts, vectors, strict=True)}, set()


def _embedded_text(message: SourceMessage, source: SourceConversation) -> str:
    """What of a message is embedded: its words without the participants' names, else what its tools said."""
    stripped = strip_names(message.text, source.authors)
    if stripped.strip():
        return stripped
    return message.text if message.text.strip() else message.tool_text


def _message_point(tenant: str, agent_id: str, message: SourceMessage, vector: bytes) -> VectorPoint:
    return VectorPoint(
        bucket=Bucket(tenant=tenant, agent=agent_id, content=ContentClass.MESSAGE),
        item_id=message.item_id,
        vector=vector,
        contact_id=message.contact_id,
        conversation_id=message.conversation_id,
        role=role_name(message.role),
        author=message.author,
        time=message.time.timestamp(),
        sequence=message.sequence,
        session=message.session,
    )


def _memory_point(bucket: Bucket, memory: Memory, vector: bytes) -> VectorPoint:
    return VectorPoint(
        bucket=bucket,
        item_id=memory.id,
        vector=vector,
        contact_id=memory.contact_id,
        kind=memory.kind.name.lower(),
        time=memory.created.timestamp(),
    )
