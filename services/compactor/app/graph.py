"""The graph of themes: it grows by summaries, and is put in order by callers (SPEC J-13)."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import structlog

from services.compactor.app.document_ports import Unreadable, no_wake
from services.compactor.app.documents import Documents
from services.compactor.app.graph_ports import BranchQuery, GraphStore, KnownConversations, NameVectors
from services.compactor.app.refreshing import derive_again
from services.compactor.domain import graph_synonyms as synonyms
from services.compactor.domain import payloads
from services.compactor.domain.documents import summary_key, wiki_key
from services.compactor.domain.graph import (
    MOST_EVENTS,
    Branch,
    Candidate,
    Event,
    Finding,
    Link,
    Naming,
    NewLink,
    Proposal,
    ProposalState,
)
from services.compactor.domain.graph_names import slug_of, slugified, tidy
from services.compactor.domain.rolling import ConversationSummary, from_body
from services.kit.errors import InvalidField, NotFound
from services.kit.outbox import NewJob
from services.kit.times import Clock

GROW_GRAPH: Final = "grow_graph"
MOST_COMPARED: Final = 2_000
"""Branches of an agent that a branch is compared with: those linked last."""
MOST_REEMBEDDED: Final = 64
"""Names that get a vector of another model in one job."""


def follow_up(agent_id: str, conversation_id: str, version: int, to_sequence: int = 0) -> list[NewJob]:
    """What a new version of a summary, which reaches up to a message, asks for; to be put down with it."""
    return [
        NewJob(
            type=GROW_GRAPH,
            agent_id=agent_id,
            subject=conversation_id,
            key=f"{GROW_GRAPH}/{agent_id}/{conversation_id}/{version}",
            payload=payloads.of_conversation(conversation_id, to_sequence),
        )
    ]


class Graph:
    """The use cases. `merge_at` is the score from which two are merged without being asked for."""

    def __init__(
        self,
        store: GraphStore,
        documents: Documents,
        vectors: NameVectors,
        conversations: KnownConversations,
        clock: Clock,
        *,
        merge_at: float = synonyms.MERGE_AT,
        wake: Callable[[], None] = no_wake,
    ) -> None:
        """`wake` is told of jobs that were committed to the outbox."""
        self._wake = wake
        self._store = store
        self._documents = documents
        self._vectors = vectors
        self._conversations = conversations
        self._clock = clock
        self._merge_at = merge_at
        self._log = structlog.get_logger("graph")

    async def grow(self, tenant: str, agent_id: str, conversation_id: str) -> list[str]:
        """Files a conversation as the newest version of its summary says; the branches it is filed under.

        Done again it does no more. Raises DependencyDown, Overloaded; Unreadable for a summary that is none.
        """
        key = summary_key(tenant, agent_id, conversation_id)
        snapshot = await self._documents.current(key)
        if snapshot is None:
            head = await self._documents.head(key)
            if not head.present:
                await self._store.forget(tenant, agent_id, conversation_id, head.version)
                self._wake()
            return []
        try:
            summary = from_body(snapshot.document.body)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise Unreadable from error
        proposed = _proposed(summary)
        links = await self._named(tenant, agent_id, proposed)
        ids = await self._store.file(
            tenant, agent_id, conversation_id, snapshot.head.version, links, _told(summary), self._clock()
        )
        if ids:
            await self._compare(tenant, agent_id, ids)
        self._wake()
        return ids

    async def link(
        self, tenant: str, agent_id: str, conversation_id: str, name: str, relevance: float
    ) -> Branch:
        """Files a conversation by hand. Raises InvalidField, NotFound, DependencyDown, Overloaded."""
        if not (math.isfinite(relevance) and 0 <= relevance <= 1):
            raise InvalidField("relevance", "is not from 0 to 1")
        slug = slug_of(name)
        await self._conversations.check(agent_id, conversation_id)
        taken = await self._store.taken(tenant, agent_id, [slug])
        naming = Naming(slug=slug, name=tidy(name)) if taken else await self._naming(name)
        link = NewLink(naming=naming, relevance=relevance)
        branch = await self._store.link(tenant, agent_id, conversation_id, link, self._clock())
        await self._compare(tenant, agent_id, [branch.id])
        self._wake()
        return await self._store.branch(tenant, agent_id, branch.id)

    async def branch(self, tenant: str, agent_id: str, ref: str) -> tuple[Branch, list[Event]]:
        """A branch by its id or any of its names, and what was done to it. Raises NotFound."""
        branch = await self._store.branch(tenant, agent_id, ref)
        return branch, await self._store.events(tenant, agent_id, branch.id, MOST_EVENTS)

    async def page(self, tenant: str, agent_id: str, query: BranchQuery) -> list[Branch]:
        """A page of branches."""
        return await self._store.page(tenant, agent_id, query)

    async def links(self, tenant: str, agent_id: str, ref: str, after: str, limit: int) -> list[Link]:
        """A page of a branch's conversations. Raises NotFound."""
        return await self._store.links(tenant, agent_id, ref, after, limit)

    async def merge(self, tenant: str, agent_id: str, ref: str, into: str) -> Branch:
        """Merges two. Raises InvalidField, NotFound."""
        await self._outdated(tenant, agent_id, ref, into)
        made = await self._store.merge(tenant, agent_id, ref, into, self._clock())
        self._wake()
        return made

    async def undo_merge(self, tenant: str, agent_id: str, ref: str) -> Branch:
        """Takes a merge back. Raises NotFound, StateConflict."""
        await self._outdated(tenant, agent_id, ref)
        made = await self._store.undo_merge(tenant, agent_id, ref, self._clock())
        self._wake()
        return made

    async def rename(self, tenant: str, agent_id: str, ref: str, name: str) -> Branch:
        """Gives another name. Raises InvalidField, NotFound, StateConflict, DependencyDown, Overloaded."""
        naming = await self._naming(name)
        await self._outdated(tenant, agent_id, ref)
        made = await self._store.rename(tenant, agent_id, ref, naming, self._clock())
        self._wake()
        return made

    async def split(
        self, tenant: str, agent_id: str, ref: str, name: str, conversation_ids: Sequence[str]
    ) -> tuple[Branch, Branch]:
        """Takes conversations out of a branch; the new one, and the other. Raises what `rename` does."""
        naming = await self._naming(name)
        await self._outdated(tenant, agent_id, ref)
        made = await self._store.split(tenant, agent_id, ref, naming, conversation_ids, self._clock())
        self._wake()
        return made

    async def proposals(
        self, tenant: str, agent_id: str, state: ProposalState, before: str | None, limit: int
    ) -> list[Proposal]:
        """Pairs that may be the same, newest first."""
        return await self._store.proposals(tenant, agent_id, state, before, limit)

    async def resolve(self, tenant: str, agent_id: str, proposal_id: str, *, accept: bool) -> Proposal:
        """Decides a proposal. Raises NotFound, StateConflict."""
        made = await self._store.resolve(tenant, agent_id, proposal_id, self._clock(), accept=accept)
        self._wake()
        return made

    async def _outdated(self, tenant: str, agent_id: str, *refs: str) -> None:
        """Marks the pages of branches that are about to change (J-17), each with its job: should the change
        not come, the page is written as it was."""
        roots = set()
        for ref in refs:
            with contextlib.suppress(NotFound):  # for the change to say
                roots.add((await self._store.branch(tenant, agent_id, ref)).id)
        await self._documents.mark([wiki_key(tenant, agent_id, id_) for id_ in sorted(roots)], derive_again)

    async def _naming(self, name: str) -> Naming:
        return (await self._vectors.named({slug_of(name): tidy(name)}))[0]

    async def _named(
        self, tenant: str, agent_id: str, proposed: Mapping[str, tuple[str, float]]
    ) -> list[NewLink]:
        """Links; only names that are new get a vector."""
        taken = await self._store.taken(tenant, agent_id, list(proposed)) if proposed else set()
        missing = {slug: name for slug, (name, _) in proposed.items() if slug not in taken}
        namings = {one.slug: one for one in (await self._vectors.named(missing) if missing else ())}
        return [
            NewLink(naming=namings.get(slug) or Naming(slug=slug, name=name), relevance=relevance)
            for slug, (name, relevance) in proposed.items()
        ]

    async def _compare(self, tenant: str, agent_id: str, ids: Sequence[str]) -> None:
        """Looks for what may be the same as these."""
        candidates = await self._same_model(
            tenant, agent_id, ids, await self._store.candidates(tenant, agent_id, MOST_COMPARED)
        )
        shared = await self._store.shared(tenant, agent_id, ids)
        found = await asyncio.to_thread(synonyms.findings, ids, candidates, shared)
        merged: set[str] = set()
        for one in found:
            # A branch that was merged in this round is compared again under its new name only: what is like
            # one that is like another need not be like that.
            fresh = merged.isdisjoint((one.branch_id, one.into_id))
            if one.score >= self._merge_at and fresh and await self._merge(tenant, agent_id, one):
                merged.update((one.branch_id, one.into_id))
            elif fresh:
                await self._store.propose(tenant, agent_id, one, self._clock())

    async def _merge(self, tenant: str, agent_id: str, finding: Finding) -> bool:
        done = await self._store.merge_found(tenant, agent_id, finding, self._clock())
        if done:
            self._log.info("branches_merged", score=finding.score)
        return done

    async def _same_model(
        self, tenant: str, agent_id: str, ids: Sequence[str], candidates: list[Candidate]
    ) -> list[Candidate]:
        """Candidates with vectors of the model that answers now, as far as one job may make them."""
        mine = [one for one in candidates if one.id in set(ids)]
        if len({one.model for one in candidates}) <= 1 or not mine:
            return candidates
        probe = (await self._vectors.named({mine[0].slug: mine[0].name}))[0]
        others = [one for one in candidates if one.model != probe.model]
        others.sort(key=lambda one: one.id not in set(ids))
        names = {one.slug: one.name for one in others[:MOST_REEMBEDDED]}
        if not probe.model or not names:
            return candidates
        namings = {one.slug: one for one in await self._vectors.named(names)}
        made = [
            replace(one, vector=namings[one.slug].vector, model=namings[one.slug].model)
            for one in others[:MOST_REEMBEDDED]
        ]
        await self._store.set_vectors(tenant, agent_id, made)
        by_id = {one.id: one for one in made}
        return [by_id.get(one.id, one) for one in candidates]


def _proposed(summary: ConversationSummary) -> dict[str, tuple[str, float]]:
    """The branches that a summary proposes, by slug; of two of one slug the more relevant."""
    found: dict[str, tuple[str, float]] = {}
    for one in summary.branches:
        try:
            slug = slug_of(one.name)
        except InvalidField:
            continue  # a name that nobody could give says nothing
        relevance = min(1.0, max(0.0, one.relevance)) if math.isfinite(one.relevance) else 0.0
        if slug not in found or found[slug][1] < relevance:
            found[slug] = (tidy(one.name), relevance)
    return found


def _told(summary: ConversationSummary) -> set[str]:
    """Slugs of all that a summary speaks of."""
    return {slugified(name) for name in (*summary.tallies, *(one.name for one in summary.concepts))} - {""}
