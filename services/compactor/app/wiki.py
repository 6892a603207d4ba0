"""The pages of branches: written when what they come from changed, and at no other time (SPEC J-14, J-17)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

import structlog

from services.compactor.app.document_ports import Unreadable
from services.compactor.app.documents import Choice, Documents, Served
from services.compactor.app.graph_ports import GraphStore
from services.compactor.app.summary_ports import Embeddings
from services.compactor.domain import wiki
from services.compactor.domain.documents import (
    DocumentKey,
    Draft,
    Head,
    Kind,
    VersionInfo,
    summary_key,
    wiki_key,
)
from services.compactor.domain.graph import ESTABLISHED_AT, Branch
from services.compactor.domain.nearness import NO_VECTORS
from services.compactor.domain.rolling import from_body
from services.kit.errors import NotFound, StateConflict, VersionConflict

ATTEMPTS: Final = 3
"""How often a page is made anew when another worker wrote one meanwhile."""
MOST_COMPARED: Final = 2_000
"""Branches among which related ones are looked for."""


class Wiki:
    """The use cases."""

    def __init__(self, store: GraphStore, documents: Documents, embeddings: Embeddings) -> None:
        self._store = store
        self._documents = documents
        self._embeddings = embeddings
        self._log = structlog.get_logger("wiki")

    async def write(self, tenant: str, agent_id: str, branch_id: str) -> int:
        """The version of a branch's page, written if anything that it comes from changed; 0 for none.

        A branch gets a page when it is established, and keeps it. A branch that is no more, or has no
        conversations, has none. Raises DependencyDown, StateConflict (others write all the time).
        """
        for _ in range(ATTEMPTS):
            try:
                branch = await self._store.branch(tenant, agent_id, branch_id)
            except NotFound:
                await self._documents.erase(wiki_key(tenant, agent_id, branch_id))
                return 0
            if branch.id != branch_id:  # it was merged: its page is the other's
                await self._documents.erase(wiki_key(tenant, agent_id, branch_id))
            key = wiki_key(tenant, agent_id, branch.id)
            head, inputs, used = await self._written(key)
            if not branch.conversations and head.present:
                await self._documents.erase(key)
                return 0
            if branch.conversations < ESTABLISHED_AT and not head.present:
                return 0
            called = await self._called(tenant, agent_id, branch)
            if called is None:
                continue
            branch = called
            stale = await self._documents.stale(tenant, agent_id, Kind.SUMMARY)
            sources = await self._sources(tenant, agent_id, branch)
            related = await self._related(tenant, agent_id, branch)
            if await self._gone(key, used - {one.conversation_id for one in sources}):
                # No earlier version may go on telling of a conversation that was erased (D-2).
                await self._documents.erase(key)
                head, inputs = await self._documents.head(key), ""
            # What stale summaries say is said already: their next versions ask for the page.
            waits = not stale.isdisjoint(one.conversation_id for one in sources)
            same = inputs == wiki.fingerprint(branch, sources, related)
            if not sources or (same and (waits or not head.stale)):
                return head.current
            candidates = await asyncio.to_thread(wiki.lead_candidates, branch, sources)
            vectors = await self._embeddings.vectors(candidates) if candidates else NO_VECTORS
            body = await asyncio.to_thread(wiki.build, branch, sources, related, vectors)
            draft = Draft(body=body, engine=wiki.ENGINE, source_ids=wiki.source_ids(sources), stale=waits)
            try:
                return (await self._documents.put(key, draft, head)).version
            except VersionConflict:
                continue
        raise StateConflict("others change this page, or its branch")

    async def page(self, tenant: str, agent_id: str, ref: str, version: int) -> tuple[Branch, Served]:
        """A branch and its page, the newest for version 0. Raises NotFound."""
        branch = await self._store.branch(tenant, agent_id, ref)
        key = wiki_key(tenant, agent_id, branch.id)
        return branch, await self._documents.get(key, Choice(version=version))

    async def versions(
        self, tenant: str, agent_id: str, ref: str, before: int | None, limit: int
    ) -> tuple[Head, list[VersionInfo]]:
        """The head, and a page of versions, newest first. Raises NotFound."""
        branch = await self._store.branch(tenant, agent_id, ref)
        return await self._documents.versions(wiki_key(tenant, agent_id, branch.id), before, limit)

    async def _gone(self, page: DocumentKey, conversation_ids: Iterable[str]) -> bool:
        """Whether one of these has no summary any more."""
        for conversation_id in sorted(conversation_ids):
            head = await self._documents.head(summary_key(page.tenant, page.agent_id, conversation_id))
            if not head.present:
                return True
        return False

    async def _written(self, key: DocumentKey) -> tuple[Head, str, set[str]]:
        """The head; the fingerprint of what the newest version came from, and those conversations."""
        try:
            snapshot = await self._documents.current(key)
        except Unreadable:
            self._log.error("page_unreadable")
            return await self._documents.head(key), "", set()
        if snapshot is None:
            return await self._documents.head(key), "", set()
        body = snapshot.document.body
        used = {str(one["conversation_id"]) for one in body.get("sources", ())}
        return snapshot.head, str(body.get("inputs", "")), used

    async def _sources(self, tenant: str, agent_id: str, branch: Branch) -> list[wiki.Source]:
        """The most relevant conversations that have a summary, by id."""
        links = await self._store.relevant(tenant, agent_id, branch.id, wiki.MOST_SOURCES)
        sources = []
        for link in sorted(links, key=lambda link: link.conversation_id):
            key = summary_key(tenant, agent_id, link.conversation_id)
            try:
                snapshot = await self._documents.current(key)
                if snapshot is None:
                    continue
                summary = from_body(snapshot.document.body)
            except (Unreadable, KeyError, TypeError, ValueError, AttributeError):
                self._log.error("summary_unreadable")
                continue
            sources.append(
                wiki.Source(
                    conversation_id=link.conversation_id,
                    version=snapshot.document.version,
                    relevance=link.relevance,
                    summary=summary,
                )
            )
        return sources

    async def _called(self, tenant: str, agent_id: str, branch: Branch) -> Branch | None:
        """A branch with the names alone that its people know: it may have, and go by, others of somebody who
        is gone from it. None for one that was emptied meanwhile."""
        names = await self._store.names(tenant, agent_id, branch.id)
        if names is None:
            return None
        return replace(branch, slug=names.slug, name=names.title, aliases=names.slugs)

    async def _related(self, tenant: str, agent_id: str, branch: Branch) -> Sequence[wiki.Related]:
        """By names that the conversations know which both have: others may be other people's words."""
        shared = await self._store.shared(tenant, agent_id, [branch.id])
        others = await self._store.candidates(tenant, agent_id, MOST_COMPARED)
        found = [(shared[branch.id, one.id], one) for one in others if (branch.id, one.id) in shared]
        related: list[wiki.Related] = []
        for count, one in sorted(found, key=lambda pair: (-pair[0], pair[1].slug)):
            if len(related) == wiki.MOST_RELATED:
                break
            names = await self._store.names(tenant, agent_id, one.id, among=branch.id)
            if names is not None:
                related.append(wiki.Related(slug=names.slug, name=names.title, shared=count))
        return related
