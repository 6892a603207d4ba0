"""Finding memories and messages again (SPEC S-5, S-8 to S-12)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache

import structlog

from services.kit.errors import DependencyDown
from services.kit.times import Clock
from services.memory.semantic.app.channels import KEYWORD, VECTOR, Channels, Ranked, usable
from services.memory.semantic.app.generations import Generation, Generations
from services.memory.semantic.app.hyde import HYDE, Hyde
from services.memory.semantic.app.item_ports import ItemIndex
from services.memory.semantic.app.ports import MemoryStore
from services.memory.semantic.app.providers import REMOTE, RemoteRecall
from services.memory.semantic.domain.analysis import analyse_query
from services.memory.semantic.domain.fusion import Candidate, Hit, Reference, Strategy, fuse
from services.memory.semantic.domain.items import IndexedMessage, MessageScope
from services.memory.semantic.domain.memory import Kind, Memory, MessageRef, Scope, by_relevance
from services.memory.semantic.domain.names import strip_names
from services.memory.semantic.domain.query import QueryFeatures, understand
from services.memory.semantic.domain.rereading import reread
from services.memory.semantic.domain.roles import role_name
from services.memory.semantic.domain.vectors import Bucket, ContentClass, Filters, classes_at
from services.memory.semantic.domain.vectors import ranked as best_first
from services.memory.semantic.domain.wording import subject

KEY, MESSAGES = "key", "messages"
MAX_FILL = 20  # S-10
QUERY_WORD = re.compile(r"[a-z0-9]+(?:[._:-][a-z0-9]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallSettings:
    """Depths are hits asked of a channel; `channel_seconds` is what each may take.

    `reread_terms` is how many terms of a message a second look reads, the first ones. `head_start_seconds` is
    how long the others let the channel of vectors, which takes longest, send its query to the model: begun at
    once, their threads would hold up the loop that has to send it.
    """

    depth: int = 100
    message_depth: int = 15
    channel_seconds: float = 2.0
    reread_terms: int = 300
    head_start_seconds: float = 0.001


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """Whose memories are asked for: what is live at `now`, or what was valid at `as_of` (S-8).

    `depth` is how many hits each channel is asked for.
    """

    tenant: str
    scope: Scope
    kinds: frozenset[Kind]
    now: datetime
    as_of: datetime | None
    depth: int


class Recall:
    """Asks channels in parallel; works as long as one of them does."""

    def __init__(
        self,
        *,
        store: MemoryStore,
        items: ItemIndex,
        generations: Generations,
        settings: RecallSettings,
        clock: Clock,
        hyde: Hyde | None = None,
        remote: RemoteRecall | None = None,
    ) -> None:
        """Without `hyde` or `remote` there is no such channel: none is configured (S-9, S-15)."""
        self._store = store
        self._items = items
        self._generations = generations
        self._settings = settings
        self._channels = Channels(
            seconds=settings.channel_seconds, head_start_seconds=settings.head_start_seconds
        )
        self._clock = clock
        self._hyde = hyde
        self._remote = remote
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
        as_of: datetime | None = None,
        depth: int | None = None,
    ) -> tuple[list[MemoryHit], dict[str, str]]:
        """Hits, best first, and failed channels. Raises DependencyDown when all failed.

        With `as_of`, of what was valid then by all that is known today, or will be (S-8). `depth` is how many
        hits each channel is asked for, where not the default.
        """
        asked = _Asked(
            tenant=tenant,
            scope=scope,
            kinds=kinds,
            now=self._clock(),
            as_of=as_of,
            depth=depth or self._settings.depth,
        )
        answers = await self._channels.ask(await self._memory_channels(asked, query, strategy))
        ids = list(dict.fromkeys(id_ for ranked in answers.lists.values() for id_, _ in ranked))
        hits: list[Hit] = []

        def choose(known: Mapping[str, float]) -> list[str]:
            lists = {
                name: [pair for pair in ranked if pair[0] in known] for name, ranked in answers.lists.items()
            }
            candidates = {id_: Candidate(confidence=confidence) for id_, confidence in known.items()}
            hits[:] = fuse(lists, candidates, QueryFeatures(), strategy, limit)
            return [hit.id for hit in hits]

        found = await self._store.pick(tenant, scope, ids, asked.now, kinds, choose, as_of=as_of)
        result = [MemoryHit(memory=found[hit.id], hit=hit) for hit in hits]
        if fill and len(result) < limit:
            result += await self._fill(asked, result, limit)
        return result, answers.failures

    async def _memory_channels(
        self, asked: _Asked, query: str, strategy: Strategy
    ) -> dict[str, Callable[[], Awaitable[Ranked]]]:
        tenant, scope, depth = asked.tenant, asked.scope, asked.depth

        @cache
        def terms() -> list[str]:  # once the model is busy with the query
            return analyse_query(query)

        serving = self._generations.active  # embeds and is searched, should another be active meanwhile
        channels: dict[str, Callable[[], Awaitable[Ranked]]] = {
            VECTOR: lambda: self._memory_vectors(asked, serving, serving.query(query)),
            KEYWORD: lambda: self._items.search_memories(
                tenant, scope.agent_id, terms(), scope.read_buckets, depth, asked.kinds, valid_at=asked.as_of
            ),
            KEY: lambda: self._store.candidates_by_key(
                tenant, scope, _query_words(query), depth, asked.now, asked.kinds, as_of=asked.as_of
            ),
            MESSAGES: lambda: self._through_messages(asked, terms()),
        }
        hyde = self._hyde
        if hyde is not None:
            channels[HYDE] = lambda: self._memory_vectors(
                asked, serving, hyde.vector(tenant, scope.agent_id, query, serving)
            )
        # It has what is live alone.
        remote = self._remote if asked.as_of is None and strategy.uses(REMOTE) else None
        if remote is not None and await remote.wanted(tenant, scope.agent_id):
            channels[REMOTE] = lambda: remote.ranked(tenant, scope, query, asked.kinds, depth)
        return {name: ask for name, ask in channels.items() if strategy.uses(name)}

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
        depth: int | None = None,
    ) -> tuple[list[MessageHit], dict[str, str]]:
        """Hits, best first, and failed channels. Raises DependencyDown when all failed."""
        words = query if isinstance(strategy, Reference) else subject(query)
        terms = analyse_query(words)
        authors = await self._items.authors(tenant, agent_id, scope.conversation_id, scope.contact_ids)
        depth = max(depth or self._settings.depth, limit)
        features: dict[str, IndexedMessage] = {}

        async def worded() -> Ranked:
            """Words are found while the query is embedded; so is what is known of what they find."""
            ranked = usable(await self._items.search_messages(tenant, agent_id, terms, scope, depth))
            features.update(await self._admitted(tenant, agent_id, [id_ for id_, _ in ranked], scope))
            return [pair for pair in ranked if pair[0] in features]

        channels: dict[str, Callable[[], Awaitable[Ranked]]] = {}
        if semantic and strategy.uses(VECTOR):
            channels[VECTOR] = lambda: self._message_vectors(tenant, agent_id, words, authors, scope, depth)
        if keyword and strategy.uses(KEYWORD):
            channels[KEYWORD] = worded
        answers = await self._channels.ask(channels)
        nearest = [id_ for id_, _ in answers.lists.get(VECTOR, []) if id_ not in features]
        features.update(await self._admitted(tenant, agent_id, nearest, scope))
        lists = {name: [(i, s) for i, s in ranked if i in features] for name, ranked in answers.lists.items()}
        candidates = {item_id: _candidate(message) for item_id, message in features.items()}
        day = (reference or self._clock()).date()
        asked = understand(query, authors, day)
        if isinstance(strategy, Reference):
            strategy = Reference(k=strategy.k, weights=strategy.weights, depths={})
            hits = fuse(lists, candidates, asked, strategy, limit)
        else:
            looked = strategy.reread.depth
            hits = fuse(lists, candidates, asked, strategy, max(limit, looked))
            held = await self._terms(tenant, agent_id, [hit.id for hit in hits[:looked]])
            hits = reread(hits, candidates, held, asked, strategy.reread, limit)
        return [MessageHit(message=features[hit.id], hit=hit) for hit in hits], answers.failures

    async def _admitted(
        self, tenant: str, agent_id: str, item_ids: Sequence[str], scope: MessageScope
    ) -> dict[str, IndexedMessage]:
        """Those of the messages that may be returned; by the registry, whatever an engine says."""
        known = await self._items.features(tenant, agent_id, item_ids)
        return {item_id: message for item_id, message in known.items() if scope.admits(message)}

    async def _terms(
        self, tenant: str, agent_id: str, item_ids: Sequence[str]
    ) -> Mapping[str, Sequence[str]]:
        """What messages hold; nothing where the words cannot be had in time: the look is then left out."""
        settings = self._settings
        try:
            async with asyncio.timeout(settings.channel_seconds):
                return await self._items.message_terms(tenant, agent_id, item_ids, settings.reread_terms)
        except (TimeoutError, DependencyDown) as error:
            self._log.warning("rereading_left_out", error=type(error).__name__)
            return {}

    async def _memory_vectors(self, asked: _Asked, serving: Generation, vector: Awaitable[bytes]) -> Ranked:
        wanted, depth = await vector, asked.depth
        filters = Filters(
            contact_ids=frozenset(asked.scope.contact_ids),
            kinds=frozenset(kind.name.lower() for kind in asked.kinds),
            valid_at=None if asked.as_of is None else asked.as_of.timestamp(),
        )
        buckets = [
            Bucket(tenant=asked.tenant, agent=asked.scope.agent_id, content=content)
            for content in classes_at(asked.as_of)
        ]
        found = await asyncio.gather(
            *(serving.vectors.search(bucket, wanted, filters=filters, limit=depth) for bucket in buckets)
        )
        # One that is on its way from one class to the other may be in both: its vector is the same.
        best = {hit.item_id: hit for hits in found for hit in hits}
        return [(hit.item_id, hit.cosine) for hit in best_first(list(best.values()))[:depth]]

    async def _message_vectors(
        self, tenant: str, agent_id: str, query: str, authors: Sequence[str], scope: MessageScope, depth: int
    ) -> Ranked:
        stripped = strip_names(query, authors)
        serving = self._generations.active
        vector = await serving.query(stripped if stripped.strip() else query)
        hits = await serving.vectors.search(
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

    async def _through_messages(self, asked: _Asked, terms: Sequence[str]) -> Ranked:
        """Memories that came from messages which match by words; each by its best message.

        Messages of any time: `as_of` is about when statements held, not when they were made.
        """
        tenant, scope = asked.tenant, asked.scope
        where = MessageScope(contact_ids=scope.read_buckets)
        found = usable(
            await self._items.search_messages(
                tenant, scope.agent_id, terms, where, self._settings.message_depth
            )
        )
        features = await self._admitted(tenant, scope.agent_id, [item_id for item_id, _ in found], where)
        refs = {
            MessageRef(conversation_id=m.conversation_id, message_id=m.message_id): score
            for item_id, score in found
            if (m := features.get(item_id)) is not None
        }
        sources = await self._store.of_messages(tenant, scope, list(refs), asked.now, as_of=asked.as_of)
        best: dict[str, float] = {}
        for ref, memory_ids in sources.items():
            for memory_id in memory_ids:
                best[memory_id] = max(best.get(memory_id, refs[ref]), refs[ref])
        return sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))

    async def _fill(self, asked: _Asked, hits: Sequence[MemoryHit], limit: int) -> list[MemoryHit]:
        known = {hit.memory.id for hit in hits}
        standing = await self._store.standing(
            asked.tenant, asked.scope, asked.now, asked.kinds, as_of=asked.as_of
        )
        spare = [memory for memory in by_relevance(standing, asked.now) if memory.id not in known]
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
