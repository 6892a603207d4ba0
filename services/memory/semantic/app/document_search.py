"""Finding derived documents by their parts (SPEC S-13)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from services.memory.semantic.app.channels import KEYWORD, VECTOR, Channels, Ranked
from services.memory.semantic.app.document_indexing import documents_bucket
from services.memory.semantic.app.document_ports import DocumentStore
from services.memory.semantic.app.generations import Generations
from services.memory.semantic.app.item_ports import ItemIndex
from services.memory.semantic.app.recall import RecallSettings
from services.memory.semantic.domain.analysis import analyse_query
from services.memory.semantic.domain.documents import DocumentScope, FoundChunk
from services.memory.semantic.domain.fusion import Candidate, Hit, Reference, Strategy, fuse
from services.memory.semantic.domain.query import QueryFeatures
from services.memory.semantic.domain.vectors import Filters


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentHit:
    """A document by its best part, and why."""

    found: FoundChunk
    hit: Hit


class DocumentSearch:
    """Asks channels in parallel; works as long as one of them does."""

    def __init__(
        self, *, store: DocumentStore, items: ItemIndex, generations: Generations, settings: RecallSettings
    ) -> None:
        self._store = store
        self._items = items
        self._generations = generations
        self._settings = settings
        self._channels = Channels(
            seconds=settings.channel_seconds, head_start_seconds=settings.head_start_seconds
        )

    async def search(
        self,
        tenant: str,
        agent_id: str,
        query: str,
        *,
        scope: DocumentScope,
        limit: int,
        strategy: Strategy,
        depth: int | None = None,
    ) -> tuple[list[DocumentHit], dict[str, str]]:
        """Hits, best first, and failed channels. Raises DependencyDown when all failed.

        What the channels find counts only if a canonical row is in the scope. A document comes once, for its
        best part. `depth` is how many parts each channel is asked for, where not the default.
        """
        asked = max(depth or self._settings.depth, limit)
        channels: dict[str, Callable[[], Awaitable[Ranked]]] = {
            VECTOR: lambda: self._vectors(tenant, agent_id, query, scope, asked),
            KEYWORD: lambda: self._items.search_documents(
                tenant, agent_id, analyse_query(query), scope, asked
            ),
        }
        answers = await self._channels.ask(
            {name: ask for name, ask in channels.items() if strategy.uses(name)}
        )
        ids = list(dict.fromkeys(id_ for ranked in answers.lists.values() for id_, _ in ranked))
        found = await self._store.chunks(tenant, agent_id, ids)
        admitted = {id_: one for id_, one in found.items() if scope.admits(one.document)}
        lists = {
            name: [pair for pair in ranked if pair[0] in admitted] for name, ranked in answers.lists.items()
        }
        if isinstance(strategy, Reference):  # whole lists: their parts are of fewer documents
            strategy = Reference(k=strategy.k, weights=strategy.weights, depths={})
        hits = fuse(lists, dict.fromkeys(admitted, Candidate()), QueryFeatures(), strategy, len(admitted))
        best: dict[str, DocumentHit] = {}
        for hit in hits:
            key = admitted[hit.id].document.key
            best.setdefault(key, DocumentHit(found=admitted[hit.id], hit=hit))
        return list(best.values())[:limit], answers.failures

    async def _vectors(
        self, tenant: str, agent_id: str, query: str, scope: DocumentScope, depth: int
    ) -> Ranked:
        serving = self._generations.active
        hits = await serving.vectors.search(
            documents_bucket(tenant, agent_id),
            await serving.query(query),
            filters=Filters(
                contact_ids=None if scope.contact_ids is None else frozenset(scope.contact_ids),
                kinds=frozenset(type_.name.lower() for type_ in scope.types),
            ),
            limit=depth,
        )
        return [(hit.item_id, hit.cosine) for hit in hits]
