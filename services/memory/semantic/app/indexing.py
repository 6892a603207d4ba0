"""Filling the indexes from the canonical stores (SPEC S-3, S-18, J-3)."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from services.kit.errors import NotFound
from services.kit.times import Clock
from services.memory.semantic.app.document_indexing import DocumentIndexer, documents_bucket
from services.memory.semantic.app.entries import (
    embedded_text,
    memory_document,
    memory_point,
    message_document,
    message_point,
)
from services.memory.semantic.app.generations import Generation, Generations
from services.memory.semantic.app.item_ports import ItemIndex
from services.memory.semantic.app.ports import Conversations, MemoryStore
from services.memory.semantic.app.vector_writing import Vectors, VectorWriter
from services.memory.semantic.app.verifying import Fresh, Verifier
from services.memory.semantic.domain.documents import DocumentSource
from services.memory.semantic.domain.items import SourceConversation, SourceMessage
from services.memory.semantic.domain.memory import Kind, Memory
from services.memory.semantic.domain.vectors import (
    MEMORY_CLASSES,
    Bucket,
    ContentClass,
    class_of,
)

GONE = "RESOURCE_NOT_FOUND: the message does not exist"
UNUSABLE = "INVALID_FIELD: the embedder refused the text"


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageItem:
    """A message to be indexed."""

    conversation_id: str
    sequence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryItem:
    """A memory to be indexed among what is live or what is past, or taken out if it was forgotten."""

    memory_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkItem:
    """A part of an indexed document, whose vectors are to be made."""

    item_id: str


Item = MessageItem | MemoryItem | DocumentSource | ChunkItem
"""What is indexed; a source of documents is brought to its newest version, or taken out if it is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Placed:
    """A memory as it was read, and the class that it belonged to then."""

    memory: Memory
    content: ContentClass

    @property
    def state(self) -> tuple[ContentClass, int]:
        """Differs when the indexes must learn something new."""
        return self.content, self.memory.revision


@dataclass(frozen=True, slots=True, kw_only=True)
class _Round:
    """One batch: whose it is (`bucket` is that of live memories), and what is written of it."""

    bucket: Bucket
    into: tuple[Generation, ...]
    """Whose vectors; the last one decides what can be indexed."""
    again: bool = False
    vectors_only: bool = False


class Indexer:
    """Indexes items; each has an outcome of its own. Running an item twice changes nothing.

    Vectors go to every generation that is written (S-17); whether a text can be indexed is for the active one
    to say. A memory is verified after it was indexed, by the verifier of the active generation, unless there
    is no `verifier_of`: the setting is off (S-7).
    """

    def __init__(
        self,
        *,
        store: MemoryStore,
        items: ItemIndex,
        generations: Generations,
        conversations: Conversations,
        observe_lag: Callable[[float], None],
        clock: Clock,
        verifier_of: Callable[[Generation], Verifier] | None = None,
        documents: DocumentIndexer | None = None,
    ) -> None:
        """Without `documents`, items that are such cannot be indexed."""
        self._store = store
        self._items = items
        self._generations = generations
        self._writer = VectorWriter(generations)
        self._conversations = conversations
        self._observe_lag = observe_lag
        self._clock = clock
        self._verifier_of = verifier_of
        self._documents = documents
        self._changed = asyncio.Event()

    async def changed(self) -> None:
        """Returns when something was indexed after the call."""
        await self._changed.wait()

    async def index(
        self, tenant: str, agent_id: str, batch: Sequence[Item], *, again: bool = False
    ) -> list[str]:
        """An error for each item, "" where it went well. Raises DependencyDown when nothing could be done.

        With `again`, what is written is nothing new: it says nothing of how far indexing lags behind.
        """
        round_ = _Round(bucket=_memories(tenant, agent_id), into=self._generations.written, again=again)
        errors, fresh = await self._indexed(round_, batch)
        # Those who wait are told first: to be indexed is all that they wait for (S-16).
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()
        if fresh and self._verifier_of is not None:
            failed = await self._verifier_of(round_.into[-1]).verify(tenant, agent_id, fresh)
            errors |= {MemoryItem(memory_id=memory_id): error for memory_id, error in failed.items()}
        return [errors.get(item, "") for item in batch]

    async def fill(
        self, tenant: str, agent_id: str, batch: Sequence[Item], generation: Generation
    ) -> list[str]:
        """Makes the vectors of indexed items in one generation and nothing else; errors as of `index`."""
        round_ = _Round(bucket=_memories(tenant, agent_id), into=(generation,), again=True, vectors_only=True)
        errors, _ = await self._indexed(round_, batch)
        return [errors.get(item, "") for item in batch]

    async def _indexed(self, round_: _Round, batch: Sequence[Item]) -> tuple[dict[Item, str], list[Fresh]]:
        """Errors by item, and the memories that are live."""
        errors: dict[Item, str] = {}
        by_conversation: dict[str, set[int]] = defaultdict(set)
        memory_ids: list[str] = []
        derived: set[DocumentSource] = set()
        parts: list[str] = []
        fresh: list[Fresh] = []
        for item in batch:
            match item:
                case MessageItem():
                    by_conversation[item.conversation_id].add(item.sequence)
                case MemoryItem():
                    memory_ids.append(item.memory_id)
                case ChunkItem():
                    parts.append(item.item_id)
                case _:
                    derived.add(item)
        if by_conversation:
            errors |= await self._messages(round_, by_conversation)
        if memory_ids:
            refused, fresh = await self._memories(round_, memory_ids)
            errors |= {MemoryItem(memory_id=memory_id): UNUSABLE for memory_id in refused}
        if derived or parts:
            errors |= dict.fromkeys(await self._derived(round_, derived, parts), UNUSABLE)
        return errors, fresh

    async def _derived(
        self, round_: _Round, sources: Collection[DocumentSource], parts: Sequence[str]
    ) -> set[Item]:
        """Indexes documents, or makes vectors of their parts; what was refused."""
        tenant, agent_id, documents = round_.bucket.tenant, round_.bucket.agent, self._documents
        assert documents is not None, "made without what indexes documents"
        refused: set[Item] = set()
        if sources:
            refused |= await documents.index(tenant, agent_id, sources, round_.into, again=round_.again)
        if parts:
            bucket = documents_bucket(tenant, agent_id)
            ids = await documents.fill(bucket, parts, round_.into[-1])
            refused |= {ChunkItem(item_id=id_) for id_ in ids}
        return refused

    async def _messages(self, round_: _Round, wanted: Mapping[str, Collection[int]]) -> dict[Item, str]:
        """Indexes sequence numbers by conversation, all in one go: one embedding, one write to each index."""
        agent_id = round_.bucket.agent
        sources = await asyncio.gather(
            *(self._source(agent_id, conversation_id, wanted[conversation_id]) for conversation_id in wanted)
        )
        errors: dict[Item, str] = {
            MessageItem(conversation_id=conversation_id, sequence=sequence): GONE
            for conversation_id, source in zip(wanted, sources, strict=True)
            for sequence in set(wanted[conversation_id]) - {message.sequence for message in source.messages}
        }
        made = await self._writer.embed(
            round_.into,
            [(m.item_id, embedded_text(m, source)) for source in sources for m in source.messages],
            vectors_only=round_.vectors_only,
        )
        accepted: list[SourceMessage] = []
        for message in (m for source in sources for m in source.messages):
            if message.item_id in made.refused:
                item = MessageItem(conversation_id=message.conversation_id, sequence=message.sequence)
                errors[item] = UNUSABLE
            else:
                accepted.append(message)
        if accepted:
            await self._store_messages(round_, accepted, made)
        return errors

    async def _source(
        self, agent_id: str, conversation_id: str, sequences: Collection[int]
    ) -> SourceConversation:
        try:
            return await self._conversations.messages(agent_id, conversation_id, sorted(sequences))
        except NotFound:
            return SourceConversation(authors=(), messages=())

    async def _store_messages(self, round_: _Round, messages: Sequence[SourceMessage], made: Vectors) -> None:
        """Vectors first, the registry last: what the registry names is in every index."""
        tenant, agent_id = round_.bucket.tenant, round_.bucket.agent
        await self._writer.upsert(
            made, {m.item_id: partial(message_point, tenant, agent_id, m) for m in messages}
        )
        if round_.vectors_only:
            return
        highest: dict[str, int] = defaultdict(int)
        for message in messages:
            highest[message.conversation_id] = max(highest[message.conversation_id], message.sequence)
        # Known before it is registered, so that a registry that loses its tail is missed (SV-2).
        await self._store.note_messages(tenant, agent_id, highest)
        documents = [message_document(m) for m in messages]
        await self._items.put_messages(tenant, agent_id, documents)
        self._observe(round_, [message.created for message in messages])

    async def _memories(self, round_: _Round, memory_ids: Sequence[str]) -> tuple[set[str], list[Fresh]]:
        """Puts each where it belongs, once it is out of where it does not; what was refused, what is live."""
        bucket = round_.bucket
        found = await self._store.get(bucket.tenant, bucket.agent, memory_ids)
        placed = self._placed(found)
        for content in MEMORY_CLASSES:
            strangers = [id_ for id_ in dict.fromkeys(memory_ids) if _may_hold(content, placed.get(id_))]
            await self._take_out(bucket.of(content), strangers)
        made = await self._writer.embed(
            round_.into,
            [(m.id, m.value) for m in found.values() if m.kind is not Kind.TASK],
            vectors_only=round_.vectors_only,
        )
        accepted = {id_: one for id_, one in placed.items() if id_ not in made.refused}
        await self._put_in(round_, accepted, made)
        done = {id_: one.memory.revision for id_, one in accepted.items()}
        if done and not round_.vectors_only:
            await self._store.mark_indexed(bucket.tenant, bucket.agent, done)
        self._observe(round_, [one.memory.updated for one in accepted.values()])
        return made.refused, [
            Fresh(memory=one.memory, vector=made.deciding.get(id_))
            for id_, one in accepted.items()
            if one.content is ContentClass.MEMORY
        ]

    async def _put_in(self, round_: _Round, placed: Mapping[str, _Placed], made: Vectors) -> None:
        """Puts memories where they belong, and sees afterwards that they still do.

        The job of a change that came meanwhile may have run before it was put in here, as it was; and one
        that ended by itself has no job.
        """
        bucket = round_.bucket
        while placed:
            await self._writer.upsert(
                made,
                {
                    id_: partial(memory_point, bucket.of(one.content), one.memory)
                    for id_, one in placed.items()
                },
            )
            for content in MEMORY_CLASSES:
                documents = [memory_document(one.memory) for one in placed.values() if one.content is content]
                if documents and not round_.vectors_only:
                    await self._items.put_memories(bucket.of(content), documents)
            afterwards = self._placed(await self._store.get(bucket.tenant, bucket.agent, list(placed)))
            for content in MEMORY_CLASSES:
                leaving = [
                    id_
                    for id_, one in placed.items()
                    if one.content is content
                    and (id_ not in afterwards or afterwards[id_].content != content)
                ]
                await self._take_out(bucket.of(content), leaving)
            placed = {id_: one for id_, one in afterwards.items() if one.state != placed[id_].state}

    def _placed(self, found: Mapping[str, Memory]) -> dict[str, _Placed]:
        now = self._clock()
        return {id_: _Placed(memory=memory, content=class_of(memory, now)) for id_, memory in found.items()}

    async def _take_out(self, bucket: Bucket, memory_ids: Sequence[str]) -> None:
        """Out of every generation that is written, the active one last."""
        if memory_ids:
            await self._writer.delete(bucket, memory_ids)
            await self._items.remove_memories(bucket, memory_ids)

    def _observe(self, round_: _Round, since: Sequence[datetime]) -> None:
        if not round_.again:
            now = self._clock()
            for moment in since:
                self._observe_lag((now - moment).total_seconds())


def _memories(tenant: str, agent_id: str) -> Bucket:
    return Bucket(tenant=tenant, agent=agent_id, content=ContentClass.MEMORY)


def _may_hold(content: ContentClass, placed: _Placed | None) -> bool:
    """Whether a class may hold a memory that does not belong there: a first revision never was past."""
    if placed is None:
        return True
    never_was = content is ContentClass.PAST and placed.memory.revision == 1
    return placed.content is not content and not never_was
