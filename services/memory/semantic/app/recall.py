"""Finding memories and messages again (SPEC S-5, S-8 to S-12)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import structlog

from services.kit.errors import DependencyDown
from services.kit.times import Clock
from services.memory.semantic.app.hyde import HYDE, Hyde, KeptIn
from services.memory.semantic.app.item_ports import ItemIndex
from services.memory.semantic.app.ports import MemoryStore, Texts
from services.memory.semantic.app.vectors import VectorIndex
from services.memory.semantic.domain.analysis import analyse_query
from services.memory.semantic.domain.fusion import Candidate, Hit, Reference, Strategy, fuse
from services.memory.semantic.domain.items import IndexedMessage, MessageScope
from services.memory.semantic.domain.memory import Kind, Memory, MessageRef, Scope, by_relevance
from services.memory.semantic.domain.names import strip_names
from services.memory.semantic.domain.query import QueryFeatures, understand
from services.memory.semantic.domain.roles import role_name
from services.memory.semantic.domain.vectors import Bucket, ContentClass, Filters

VECTOR, KEYWORD, KEY, MESSAGES = "vector", "keyword", "key", "messages"
MAX_FILL = 20  # S-10
QUERY_WORD = re.compile(r"[a-z0-9]+(?:[._:-][a-z0-9]+)*")

Ranked = list[tuple[str, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallSettings:
    """Depths are hits asked of a channel; `channel_seconds` is what each may take."""

    depth: int = 100
    message_depth: int = 15
    channel_seconds: float = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryHit:
    """A memory, and why; `hit` is None for one that fills a place."""

    memory: Memory
    hit: Hit | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageHit:
    """A message by reference, and why."""

    message: IndexedMessage
    hit: Hit


@dataclass(slots=True, kw_only=True)
class Answers:
    """Ranked lists by channel, and the channels that failed with a constant cause."""

    lists: dict[str, Ranked] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)


class Recall:
    """Asks channels in parallel; works as long as one of them does."""

    def __init__(
        self,
        *,
        store: MemoryStore,
        items: ItemIndex,
        vectors: VectorIndex,
        texts: Texts,
        settings: RecallSettings,
        clock: Clock,
        hyde: Hyde | None = None,
    ) -> None:
        """Without `hyde` there is no such channel: no model is configured (S-9)."""
        self._store = store
        self._items = items
        self._vectors = vectors
        self._texts = texts
        self._settings = settings
        self._clock = clock
        self._hyde = hyde
        self._log = structlog.get_logger("recall")

    async def memories(
        self,
        tenant: str,
        scope: Scope,
        query: str,
        *,
        limit: int,
        kinds: frozenset[Kind],
        strategy: Strategy,
        fill: bool,
    ) -> tuple[list[MemoryHit], dict[str, str]]:
        """Hits, best first, and failed channels. Raises DependencyDown when all failed."""
        now = self._clock()
        terms = analyse_query(query)
        agent, buckets, depth = scope.agent_id, scope.read_buckets, self._settings.depth
        channels: dict[str, Callable[[], Awaitable[Ranked]]] = {
            VECTOR: lambda: self._memory_vectors(tenant, scope, self._texts.query(query), kinds),
            KEYWORD: lambda: self._items.search_memories(tenant, agent, terms, buckets, depth, kinds),
            KEY: lambda: self._store.candidates_by_key(tenant, scope, _query_words(query), depth, now, kinds),
            MESSAGES: lambda: self._through_messages(tenant, scope, terms, now),
        }
        hyde = self._hyde
        if hyde is not None and strategy.weights.get(HYDE, 1.0) > 0:
            channels[HYDE] = lambda: self._memory_vectors(tenant, scope, hyde.vector(tenant, query), kinds)
        answers = await self._ask(channels)
        ids = list(dict.fromkeys(id_ for ranked in answers.lists.values() for id_, _ in ranked))
        found = await self._store.get(tenant, agent, ids)
        allowed = {
            memory.id: memory
            for memory in found.values()
            if memory.live(now) and memory.contact_id in buckets and (not kinds or memory.kind in kinds)
        }
        lists = {name: [(i, s) for i, s in ranked if i in allowed] for name, ranked in answers.lists.items()}
        candidates = {id_: Candidate(confidence=memory.confidence) for id_, memory in allowed.items()}
        hits = fuse(lists, candidates, QueryFeatures(), strategy, limit)
        result = [MemoryHit(memory=allowed[hit.id], hit=hit) for hit in hits]
        if fill and len(result) < limit:
            result += await self._fill(tenant, scope, result, kinds, limit, now)
        return result, answers.failures

    async def messages(
        self,
        tenant: str,
        agent_id: str,
        query: str,
        *,
        scope: MessageScope,
        limit: int,
        semantic: bool,
        keyword: bool,
        strategy: Strategy,
        reference: datetime | None,
    ) -> tuple[list[MessageHit], dict[str, str]]:
        """Hits, best first, and failed channels. Raises DependencyDown when all failed."""
        terms = analyse_query(query)
        authors = await self._items.authors(tenant, agent_id, scope.conversation_id, scope.contact_ids)
        depth = max(self._settings.depth, limit)
        channels: dict[str, Callable[[], Awaitable[Ranked]]] = {}
        if semantic:
            channels[VECTOR] = lambda: self._message_vectors(tenant, agent_id, query, authors, scope, depth)
        if keyword:
            channels[KEYWORD] = lambda: self._items.search_messages(tenant, agent_id, terms, scope, depth)
        answers = await self._ask(channels)
        ids = list(dict.fromkeys(id_ for ranked in answers.lists.values() for id_, _ in ranked))
        features = await self._items.features(tenant, agent_id, ids)
        lists = {name: [(i, s) for i, s in ranked if i in features] for name, ranked in answers.lists.items()}
        candidates = {item_id: _candidate(message) for item_id, message in features.items()}
        day = (reference or self._clock()).date()
        if isinstance(strategy, Reference):
            strategy = Reference(k=strategy.k, weights=strategy.weights, depths={})
        hits = fuse(lists, candidates, understand(query, authors, day), strategy, limit)
        return [MessageHit(message=features[hit.id], hit=hit) for hit in hits], answers.failures

    async def _ask(self, channels: Mapping[str, Callable[[], Awaitable[Ranked]]]) -> Answers:
        results = await asyncio.gather(*(self._one(name, ask) for name, ask in channels.items()))
        answers = Answers()
        for name, ranked, cause in results:
            if ranked is None:
                answers.failures[name] = cause
            else:
                answers.lists[name] = ranked
        if channels and not answers.lists:
            raise DependencyDown("no channel of recall answers")
        return answers

    async def _one(self, name: str, ask: Callable[[], Awaitable[Ranked]]) -> tuple[str, Ranked | None, str]:
        try:
            async with asyncio.timeout(self._settings.channel_seconds):
                return name, await ask(), ""
        except TimeoutError:
            cause = "timed out"
        except KeptIn:
            cause = "kept in by the data-flow policy"
        except Exception as error:  # noqa: BLE001 - one channel's fault must not be recall's: logged and named
            cause = "not available"
            self._log.warning("channel_failed", channel=name, error=type(error).__name__)
        return name, None, cause

    async def _memory_vectors(
        self, tenant: str, scope: Scope, vector: Awaitable[bytes], kinds: frozenset[Kind]
    ) -> Ranked:
        hits = await self._vectors.search(
            Bucket(tenant=tenant, agent=scope.agent_id, content=ContentClass.MEMORY),
            await vector,
            filters=Filters(
                contact_ids=frozenset(scope.contact_ids), kinds=frozenset(kind.name.lower() for kind in kinds)
            ),
            limit=self._settings.depth,
        )
        return [(hit.item_id, hit.cosine) for hit in hits]

    async def _message_vectors(
        self, tenant: str, agent_id: str, query: str, authors: Sequence[str], scope: MessageScope, depth: int
    ) -> Ranked:
        stripped = strip_names(query, authors)
        vector = await self._texts.query(stripped if stripped.strip() else query)
        hits = await self._vectors.search(
            Bucket(tenant=tenant, agent=agent_id, content=ContentClass.MESSAGE),
            vector,
            filters=Filters(
                contact_ids=frozenset(scope.contact_ids) if scope.contact_ids else None,
                agent_wide=False,
                conversation_id=scope.conversation_id or None,
                roles=frozenset(role_name(role) for role in scope.roles),
                authors=scope.authors,
                since=scope.start.timestamp() if scope.start else None,
                until=scope.end.timestamp() if scope.end else None,
            ),
            limit=depth,
        )
        return [(hit.item_id, hit.cosine) for hit in hits]

    async def _through_messages(
        self, tenant: str, scope: Scope, terms: Sequence[str], now: datetime
    ) -> Ranked:
        """Memories that came from messages which match by words; each by its best message."""
        where = MessageScope(contact_ids=scope.read_buckets)
        found = await self._items.search_messages(
            tenant, scope.agent_id, terms, where, self._settings.message_depth
        )
        features = await self._items.features(tenant, scope.agent_id, [item_id for item_id, _ in found])
        refs = {
            MessageRef(conversation_id=m.conversation_id, message_id=m.message_id): score
            for item_id, score in found
            if (m := features.get(item_id)) is not None
        }
        sources = await self._store.of_messages(tenant, scope, list(refs), now)
        best: dict[str, float] = {}
        for ref, memory_ids in sources.items():
            for memory_id in memory_ids:
                best[memory_id] = max(best.get(memory_id, refs[ref]), refs[ref])
        return sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))

    async def _fill(
        self,
        tenant: str,
        scope: Scope,
        hits: Sequence[MemoryHit],
        kinds: frozenset[Kind],
        limit: int,
        now: datetime,
    ) -> list[MemoryHit]:
        known = {hit.memory.id for hit in hits}
        standing = by_relevance(await self._store.standing(tenant, scope, now, kinds), now)
        spare = [memory for memory in standing if memory.id not in known]
        return [MemoryHit(memory=memory, hit=None) for memory in spare[: min(MAX_FILL, limit - len(hits))]]


def _candidate(message: IndexedMessage) -> Candidate:
    return Candidate(
        author=message.author or None,
        role=role_name(message.role) or None,
        conversation=message.conversation_id,
        session=message.session,
        sequence=message.sequence,
        time=message.time,
    )


def _query_words(query: str) -> list[str]:
    """The words of a query as keys write them, whole and split at separators."""
    words: list[str] = []
    for match in QUERY_WORD.finditer(query.lower()):
        words += [match.group(), *re.split(r"[._:-]", match.group())]
    return list(dict.fromkeys(words))[:64]
