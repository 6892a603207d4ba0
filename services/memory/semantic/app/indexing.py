"""Filling the indexes from the canonical stores (SPEC S-3, S-18, J-3)."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from services.kit.errors import DataFlowRefused, DependencyDown, InvalidRequest, NotFound, TextTooLong
from services.kit.times import Clock
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
from services.memory.semantic.app.verifying import Fresh, Verifier
from services.memory.semantic.domain.items import SourceConversation, SourceMessage
from services.memory.semantic.domain.memory import Kind, Memory
from services.memory.semantic.domain.vectors import (
    MEMORY_CLASSES,
    Bucket,
    ContentClass,
    VectorPoint,
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


Item = MessageItem | MemoryItem


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Vectors:
    """Vectors by item id in each generation, and the ids that the last generation refused."""

    by_generation: Sequence[tuple[Generation, Mapping[str, bytes]]]
    refused: set[str]

    @property
    def deciding(self) -> Mapping[str, bytes]:
        """Those of the last generation."""
        return self.by_generation[-1][1]


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
    ) -> None:
        self._store = store
        self._items = items
        self._generations = generations
        self._conversations = conversations
        self._observe_lag = observe_lag
        self._clock = clock
        self._verifier_of = verifier_of
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
        fresh: list[Fresh] = []
        for item in batch:
            if isinstance(item, MessageItem):
                by_conversation[item.conversation_id].add(item.sequence)
            else:
                memory_ids.append(item.memory_id)
        if by_conversation:
            errors |= await self._messages(round_, by_conversation)
        if memory_ids:
            refused, fresh = await self._memories(round_, memory_ids)
            errors |= {MemoryItem(memory_id=memory_id): UNUSABLE for memory_id in refused}
        return errors, fresh

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
        made = await self._embed(
            round_, [(m.item_id, embedded_text(m, source)) for source in sources for m in source.messages]
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

    async def _store_messages(
        self, round_: _Round, messages: Sequence[SourceMessage], made: _Vectors
    ) -> None:
        """Vectors first, the registry last: what the registry names is in every index."""
        tenant, agent_id = round_.bucket.tenant, round_.bucket.agent
        await self._upsert(made, {m.item_id: partial(message_point, tenant, agent_id, m) for m in messages})
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
        made = await self._embed(round_, [(m.id, m.value) for m in found.values() if m.kind is not Kind.TASK])
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

    async def _put_in(self, round_: _Round, placed: Mapping[str, _Placed], made: _Vectors) -> None:
        """Puts memories where they belong, and sees afterwards that they still do.

        The job of a change that came meanwhile may have run before it was put in here, as it was; and one
        that ended by itself has no job.
        """
        bucket = round_.bucket
        while placed:
            await self._upsert(
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
            for generation in self._generations.written:
                with self._unless_former(generation):
                    await generation.vectors.delete(bucket, memory_ids)
            await self._items.remove_memories(bucket, memory_ids)

    async def _upsert(self, made: _Vectors, points: Mapping[str, Callable[[bytes], VectorPoint]]) -> None:
        """Of items that have vectors, the points that are made of them; the active generation last."""
        for generation, vectors in made.by_generation:
            known = [make(vectors[item_id]) for item_id, make in points.items() if item_id in vectors]
            if known:
                with self._unless_former(generation):
                    await generation.vectors.upsert(known)

    async def _embed(self, round_: _Round, wanted: Sequence[tuple[str, str]]) -> _Vectors:
        """By every generation of the round; no vector there where a text is refused."""
        texts = [(id_, text) for id_, text in wanted if text.strip()]
        *others, deciding = round_.into
        made = await asyncio.gather(
            *(self._where_possible(generation, texts) for generation in others),
            self._decisive(round_, deciding, texts),
        )
        return _Vectors(
            by_generation=[(one, vectors) for one, (vectors, _) in zip(round_.into, made, strict=True)],
            refused=made[-1][1],
        )

    async def _decisive(
        self, round_: _Round, generation: Generation, texts: Sequence[tuple[str, str]]
    ) -> tuple[dict[str, bytes], set[str]]:
        """As `_embedded`; texts that must not leave for the model are indexed by their words alone (S-15).

        Raises DataFlowRefused where there are no words to be indexed.
        """
        try:
            return await _embedded(generation, texts)
        except DataFlowRefused:
            if round_.vectors_only:
                raise
            return {}, set()

    async def _where_possible(
        self, generation: Generation, texts: Sequence[tuple[str, str]]
    ) -> tuple[dict[str, bytes], set[str]]:
        """As `_embedded`; none where the texts must not leave for the model (S-15), or nobody needs them."""
        with suppress(DataFlowRefused), self._unless_former(generation):
            return await _embedded(generation, texts)
        return {}, {id_ for id_, _ in texts}

    @contextmanager
    def _unless_former(self, generation: Generation) -> Iterator[None]:
        """What was active before may be gone, and its model with it: that is no fault of what is written."""
        try:
            yield
        except DependencyDown:
            if generation is not self._generations.former:
                raise

    def _observe(self, round_: _Round, since: Sequence[datetime]) -> None:
        if not round_.again:
            now = self._clock()
            for moment in since:
                self._observe_lag((now - moment).total_seconds())


async def _embedded(
    generation: Generation, texts: Sequence[tuple[str, str]]
) -> tuple[dict[str, bytes], set[str]]:
    """Vectors by id; and the ids whose text the embedder refuses, found by halving."""
    if not texts:
        return {}, set()
    try:
        vectors = await generation.documents([text for _, text in texts])
    except (InvalidRequest, TextTooLong):
        if len(texts) == 1:
            return {}, {texts[0][0]}
        half = len(texts) // 2
        left = await _embedded(generation, texts[:half])
        right = await _embedded(generation, texts[half:])
        return left[0] | right[0], left[1] | right[1]
    return {id_: vector for (id_, _), vector in zip(texts, vectors, strict=True)}, set()


def _memories(tenant: str, agent_id: str) -> Bucket:
    return Bucket(tenant=tenant, agent=agent_id, content=ContentClass.MEMORY)


def _may_hold(content: ContentClass, placed: _Placed | None) -> bool:
    """Whether a class may hold a memory that does not belong there: a first revision never was past."""
    if placed is None:
        return True
    never_was = content is ContentClass.PAST and placed.memory.revision == 1
    return placed.content is not content and not never_was
