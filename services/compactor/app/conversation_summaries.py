"""A conversation's summary goes on: what is new is read, the next version written (J-5 to J-7, J-17)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

import structlog

from services.compactor.app.document_ports import Unreadable
from services.compactor.app.documents import Documents
from services.compactor.app.summary_ports import Conversations, Embeddings, Stretch, SummaryIndex
from services.compactor.domain import extractive, themes, turning, vibes
from services.compactor.domain.carrying import refreshed
from services.compactor.domain.covering import Lengths
from services.compactor.domain.documents import DocumentKey, Draft, Head, summary_key
from services.compactor.domain.nearness import NO_VECTORS, Vectors
from services.compactor.domain.rolling import (
    ConversationSummary,
    Reached,
    RollingSummary,
    from_body,
    newest_sources,
    source_id,
    to_body,
    version_id,
)
from services.compactor.domain.summaries import Utterance
from services.kit.errors import StateConflict, VersionConflict
from services.kit.outbox import NewJob

CHUNK: Final = 200
"""Messages that are merged into the summary at a time."""
ATTEMPTS: Final = 3
"""How often a summary is derived anew when another worker wrote one meanwhile."""
WITHOUT_VECTORS: Final = f"{extractive.NAME}-words"
"""The engine's name where the embedder was away (J-16)."""

FollowUps = Callable[[str, str, int], Sequence[NewJob]]
"""What is derived from a summary: (agent, conversation, version) to jobs."""


def no_follow_ups(_agent_id: str, _conversation_id: str, _version: int) -> Sequence[NewJob]:
    """Nothing follows."""
    return ()


class ConversationSummaries:
    """The use case."""

    def __init__(
        self,
        documents: Documents,
        conversations: Conversations,
        embeddings: Embeddings,
        index: SummaryIndex,
        lengths: Lengths,
        follow_ups: FollowUps = no_follow_ups,
        *,
        rank_by_vectors: bool = False,
    ) -> None:
        """Vectors find shifts of topic. With `rank_by_vectors` they also choose sentences, at the price of up
        to 64 more for each CHUNK."""
        self._documents = documents
        self._conversations = conversations
        self._embeddings = embeddings
        self._index = index
        self._lengths = lengths
        self._follow_ups = follow_ups
        self._rank_by_vectors = rank_by_vectors
        self._log = structlog.get_logger("summaries")

    async def refresh(self, tenant: str, agent_id: str, conversation_id: str) -> int:
        """The version that holds all messages of the active path; 0 where there is none to summarise.

        A summary that is stale (J-17), unreadable, or of another branch is derived from the whole path. Done
        twice it writes once. Raises NotFound, StateConflict (others write all the time), DependencyDown.
        """
        key = summary_key(tenant, agent_id, conversation_id)
        for _ in range(ATTEMPTS):
            head, previous = await self._previous(key)
            stretch = await self._conversations.after(agent_id, conversation_id, previous.up_to)
            if not stretch.messages:
                return await self._nothing_new(key, head, previous)
            if not stretch.follows:
                previous = _nothing(conversation_id)
            derived, engine = await self._derive(key, previous, stretch)
            draft = Draft(
                body=to_body(derived),
                engine=engine,
                source_ids=_sources(conversation_id, previous, head, stretch),
            )
            jobs = self._follow_ups(agent_id, conversation_id, head.version + 1)
            try:
                document = await self._documents.put(key, draft, head, jobs)
            except VersionConflict:
                continue
            await self._record(key, derived)
            return document.version
        raise StateConflict("another worker summarises this conversation")

    async def _previous(self, key: DocumentKey) -> tuple[Head, ConversationSummary]:
        """The head, and what to go on from: nothing, where the newest version is not to be built upon."""
        nothing = _nothing(key.subject)
        try:
            snapshot = await self._documents.current(key)
            if snapshot is None:
                return await self._documents.head(key), nothing
            previous = from_body(snapshot.document.body)
        except (Unreadable, KeyError, TypeError, ValueError):
            self._log.error("summary_unreadable")
            return await self._documents.head(key), nothing
        return snapshot.head, nothing if snapshot.head.stale else previous

    async def _nothing_new(self, key: DocumentKey, head: Head, previous: ConversationSummary) -> int:
        """The summary holds all there is; of what holds nothing any more, no summary is left (J-17)."""
        if head.present and not previous.up_to.sequence:
            await self._documents.erase(key)
            await self._index.forget(key.tenant, key.agent_id, key.subject)
            return 0
        if head.present:
            await self._record(key, previous)  # again: a worker may have died before it did
        return head.current

    async def _derive(
        self, key: DocumentKey, previous: ConversationSummary, stretch: Stretch
    ) -> tuple[ConversationSummary, str]:
        said = [one.said for one in stretch.messages]
        tokens = previous.token_count + stretch.tokens
        summary = previous.summary
        for begin in range(0, len(said), CHUNK):
            chunk = said[begin : begin + CHUNK]
            vectors = await self._sentence_vectors(chunk, summary)
            limit = self._lengths.of_rolling(tokens)
            summary = await asyncio.to_thread(refreshed, summary, chunk, limit, vectors)
        tallies, tones = await asyncio.to_thread(_counts, previous, said)
        corpus = await self._index.corpus(key.tenant, key.agent_id, key.subject, sorted(tallies))
        concepts = themes.concepts(tallies, corpus)
        placed = [*stretch.before, *stretch.messages]
        blocks = await self._vectors([text for text in turning.blocks(placed) if text])
        found = await asyncio.to_thread(turning.turning_points, placed, blocks)
        derived = ConversationSummary(
            conversation_id=key.subject,
            title=stretch.title,
            summary=summary,
            vibes=tuple(vibes.vibes(tones)),
            concepts=tuple(concepts),
            turning_points=tuple(turning.strongest([*previous.turning_points, *found])),
            branches=tuple(themes.branches(concepts, corpus)),
            up_to=stretch.reached,
            message_count=previous.message_count + len(said),
            token_count=tokens,
            tallies=tallies,
            tones=tones,
        )
        return derived, extractive.NAME if blocks else WITHOUT_VECTORS

    async def _sentence_vectors(self, chunk: Sequence[Utterance], summary: RollingSummary) -> Vectors:
        if not self._rank_by_vectors:
            return NO_VECTORS
        return await self._vectors(await asyncio.to_thread(extractive.shortlist, chunk, summary.statements()))

    async def _vectors(self, texts: Sequence[str]) -> Vectors:
        return await self._embeddings.vectors(list(dict.fromkeys(texts))) if texts else NO_VECTORS

    async def _record(self, key: DocumentKey, summary: ConversationSummary) -> None:
        names = [one.name for one in summary.concepts]
        await self._index.record(key.tenant, key.agent_id, key.subject, summary.up_to.sequence, names)


def _nothing(conversation_id: str) -> ConversationSummary:
    return ConversationSummary(conversation_id=conversation_id, up_to=Reached())


def _counts(
    previous: ConversationSummary, said: Sequence[Utterance]
) -> tuple[dict[str, int], dict[str, int]]:
    return themes.tallied(previous.tallies, said), vibes.counted(previous.tones, said)


def _sources(conversation_id: str, previous: ConversationSummary, head: Head, stretch: Stretch) -> list[str]:
    """The messages that are new to it, and the version that it went on from, which names the others."""
    known = [version_id(conversation_id, head.version)] if previous.message_count else []
    messages = [source_id(conversation_id, one.message_id) for one in stretch.messages]
    return [*known, *newest_sources(messages)]
