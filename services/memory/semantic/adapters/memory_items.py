"""Words and the registry of what is indexed, in this process's memory; nothing is kept."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from services.memory.semantic.app.item_ports import MemoryDocument, MessageDocument
from services.memory.semantic.domain.documents import DocumentScope
from services.memory.semantic.domain.items import IndexedMessage, MessageScope, Progress, SourceMessage
from services.memory.semantic.domain.memory import Kind
from services.memory.semantic.domain.vectors import Bucket, ContentClass, classes_at

MESSAGE = ContentClass.MESSAGE.value
MAX_AUTHORS = 64
BM25_K1, BM25_B = 1.2, 0.75
LEAST_IDF = 1e-6  # as FTS5 has it: a word of most documents still counts a little

NOT_A_WORD = re.compile(r"\W+")  # what an engine's tokenizer drops

Place = tuple[str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Item:
    contact_id: str
    terms: tuple[str, ...]
    message: SourceMessage | None = None
    memory: MemoryDocument | None = None


class MemoryItemIndex:
    """`ItemIndex` over dictionaries."""

    lost = False

    def __init__(self) -> None:
        self._buckets: dict[Place, dict[str, _Item]] = {}
        self._whole = False

    async def restore(self) -> bool:
        """Nothing to do."""
        return False

    async def put_messages(self, tenant: str, agent_id: str, documents: Sequence[MessageDocument]) -> None:
        """Adds or replaces."""
        for document in documents:
            item = _Item(
                contact_id=document.message.contact_id,
                terms=tuple(document.terms.split()),
                message=document.message,
            )
            self._bucket(tenant, agent_id, MESSAGE)[document.message.item_id] = item

    async def put_memories(self, bucket: Bucket, documents: Sequence[MemoryDocument]) -> None:
        """Adds or replaces."""
        for document in documents:
            item = _Item(contact_id=document.contact_id, terms=tuple(document.terms.split()), memory=document)
            self._bucket(*_place(bucket))[document.memory_id] = item

    async def remove_memories(self, bucket: Bucket, memory_ids: Sequence[str]) -> None:
        """Removes."""
        for memory_id in memory_ids:
            self._bucket(*_place(bucket)).pop(memory_id, None)

    async def search_messages(
        self, tenant: str, agent_id: str, terms: Sequence[str], scope: MessageScope, limit: int
    ) -> list[tuple[str, float]]:
        """By BM25."""
        return self._search([(tenant, agent_id, MESSAGE)], terms, lambda item: _within(item, scope), limit)

    async def message_terms(
        self, tenant: str, agent_id: str, item_ids: Sequence[str], most: int
    ) -> dict[str, tuple[str, ...]]:
        """As they were put."""
        bucket = self._bucket(tenant, agent_id, MESSAGE)
        return {id_: bucket[id_].terms[:most] for id_ in item_ids if id_ in bucket}

    async def search_memories(
        self,
        tenant: str,
        agent_id: str,
        terms: Sequence[str],
        contact_ids: Sequence[str],
        limit: int,
        kinds: frozenset[Kind] = frozenset(),
        *,
        valid_at: datetime | None = None,
    ) -> list[tuple[str, float]]:
        """By BM25."""

        def passes(item: _Item) -> bool:
            memory = item.memory
            return (
                memory is not None
                and item.contact_id in contact_ids
                and (not kinds or memory.kind in kinds)
                and (valid_at is None or _held(memory, valid_at))
            )

        places = [(tenant, agent_id, content.value) for content in classes_at(valid_at)]
        return self._search(places, terms, passes, limit)

    async def search_documents(
        self, tenant: str, agent_id: str, terms: Sequence[str], scope: DocumentScope, limit: int
    ) -> list[tuple[str, float]]:
        """By BM25."""

        def passes(item: _Item) -> bool:
            return (
                item.memory is not None
                and (not scope.buckets or item.contact_id in scope.buckets)
                and (not scope.types or item.memory.kind in scope.types)
            )

        return self._search([(tenant, agent_id, ContentClass.DOCUMENT.value)], terms, passes, limit)

    async def features(
        self, tenant: str, agent_id: str, item_ids: Sequence[str]
    ) -> dict[str, IndexedMessage]:
        """Of known messages."""
        bucket = self._bucket(tenant, agent_id, MESSAGE)
        return {
            id_: _indexed(m) for id_ in item_ids if id_ in bucket and (m := bucket[id_].message) is not None
        }

    async def authors(
        self, tenant: str, agent_id: str, conversation_id: str, contact_ids: Sequence[str] = ()
    ) -> list[str]:
        """Distinct authors."""
        scope = MessageScope(conversation_id=conversation_id, contact_ids=tuple(contact_ids))
        items = self._bucket(tenant, agent_id, MESSAGE).values()
        found = {item.message.author for item in items if item.message and _within(item, scope)}
        return sorted(found - {""})[:MAX_AUTHORS]

    async def progress(
        self, tenant: str, agent_id: str, conversation_ids: Sequence[str]
    ) -> dict[str, Progress]:
        """Counted anew."""
        found: dict[str, Progress] = {}
        for conversation_id in conversation_ids:
            sequences = self._sequences(tenant, agent_id, conversation_id)
            if sequences:
                reached = 0
                while reached + 1 in sequences:
                    reached += 1
                found[conversation_id] = Progress(
                    conversation_id=conversation_id, count=len(sequences), sequence=reached
                )
        return found

    async def missing(
        self, tenant: str, agent_id: str, conversation_id: str, upto: int, *, limit: int
    ) -> list[int]:
        """The first that lack."""
        sequences = self._sequences(tenant, agent_id, conversation_id)
        lacking: list[int] = []
        sequence = 1
        while sequence <= upto and len(lacking) < limit:
            if sequence not in sequences:
                lacking.append(sequence)
            sequence += 1
        return lacking

    async def buckets(self) -> list[Place]:
        """Those with items."""
        return [bucket for bucket, items in self._buckets.items() if items]

    async def item_ids(self, tenant: str, agent_id: str, class_: str, after: str, limit: int) -> list[str]:
        """In order."""
        return sorted(id_ for id_ in self._bucket(tenant, agent_id, class_) if id_ > after)[:limit]

    async def known_memories(self, bucket: Bucket, memory_ids: Sequence[str]) -> set[str]:
        """Those that are here."""
        return set(memory_ids) & self._bucket(*_place(bucket)).keys()

    async def whole(self) -> bool:
        """What was set."""
        return self._whole

    async def set_whole(self, whole: bool) -> None:
        """Until the process ends."""
        self._whole = whole

    def _bucket(self, tenant: str, agent_id: str, class_: str) -> dict[str, _Item]:
        return self._buckets.setdefault((tenant, agent_id, class_), {})

    def _sequences(self, tenant: str, agent_id: str, conversation_id: str) -> set[int]:
        messages = (item.message for item in self._bucket(tenant, agent_id, MESSAGE).values())
        return {m.sequence for m in messages if m is not None and m.conversation_id == conversation_id}

    def _search(
        self, places: Sequence[Place], terms: Sequence[str], passes: Callable[[_Item], bool], limit: int
    ) -> list[tuple[str, float]]:
        idf = self._idf(NOT_A_WORD.sub("", term) for term in terms)
        everything = [item for items in self._buckets.values() for item in items.values()]
        mean = sum(len(item.terms) for item in everything) / max(1, len(everything)) or 1.0
        scores: dict[str, float] = {}
        searched = [pair for place in places for pair in self._bucket(*place).items()]
        for item_id, item in searched:
            counts = Counter(term for term in item.terms if term in idf)
            if counts and passes(item):
                norm = BM25_K1 * (1 - BM25_B + BM25_B * len(item.terms) / mean)
                scores[item_id] = sum(idf[t] * n * (BM25_K1 + 1) / (n + norm) for t, n in counts.items())
        return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]

    def _idf(self, terms: Iterable[str]) -> dict[str, float]:
        everything = [set(item.terms) for items in self._buckets.values() for item in items.values()]
        frequencies = {term: sum(term in words for words in everything) for term in terms}
        return {
            term: max(LEAST_IDF, math.log((len(everything) - n + 0.5) / (n + 0.5)))
            for term, n in frequencies.items()
        }


def _place(bucket: Bucket) -> Place:
    return bucket.tenant, bucket.agent, bucket.content.value


def _held(memory: MemoryDocument, moment: datetime) -> bool:
    return memory.begins <= moment and (memory.ends is None or moment < memory.ends)


def _within(item: _Item, scope: MessageScope) -> bool:
    message = item.message
    return (
        message is not None
        and (not scope.contact_ids or item.contact_id in scope.contact_ids)
        and scope.conversation_id in ("", message.conversation_id)
        and (not scope.roles or message.role in scope.roles)
        and (not scope.authors or message.author in scope.authors)
        and (scope.start is None or message.time >= scope.start)
        and (scope.end is None or message.time < scope.end)
    )


def _indexed(message: SourceMessage) -> IndexedMessage:
    return IndexedMessage(
        conversation_id=message.conversation_id,
        sequence=message.sequence,
        message_id=message.message_id,
        contact_id=message.contact_id,
        role=message.role,
        author=message.author,
        session=message.session,
        time=message.time,
    )
