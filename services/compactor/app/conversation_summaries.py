"""A conversation's summary goes on: what is new is read, the next version written (J-5 to J-7, J-17)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import structlog

from services.compactor.app.document_ports import Unreadable
from services.compactor.app.documents import Documents
from services.compactor.app.engines import About, together
from services.compactor.app.summarising import Extractive, Refresher
from services.compactor.app.summary_ports import Conversations, Embeddings, Stretch, SummaryIndex
from services.compactor.domain import extractive, themes, turning, vibes
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
from services.kit.refreshing import summary_changed

REFRESH_SUMMARY: Final = "refresh_summary"
CHUNK: Final = 200
"""Messages that are merged into the summary at a time."""
ATTEMPTS: Final = 3
"""How often a summary is derived anew when another worker wrote one meanwhile."""
WITHOUT_VECTORS: Final = f"{extractive.NAME}-words"
"""The engine's name where the embedder was away (J-16)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refresh:
    """The version that holds all there is, 0 for none; `engine` wrote it, "" if nothing was to be written."""

    version: int
    engine: str = ""


FollowUps = Callable[[str, str, int, int], Sequence[NewJob]]
"""What is derived from a summary: (agent, conversation, version, last message, 0 for none) to jobs."""


def refresh_job(agent_id: str, conversation_id: str, state: str) -> NewJob:
    """Brings a summary up to the end of the active path; `state` tells apart why it is asked for."""
    return NewJob(
        type=REFRESH_SUMMARY,
        agent_id=agent_id,
        subject=f"conversations/{conversation_id}",
        key=f"{REFRESH_SUMMARY}/{agent_id}/{conversation_id}/{state}",
        payload={"conversation_id": conversation_id},
    )


class ConversationSummaries:
    """The use case."""

    def __init__(
        self,
        documents: Documents,
        conversations: Conversations,
        embeddings: Embeddings,
        index: SummaryIndex,
        lengths: Lengths,
        follow_ups: FollowUps,
        *,
        refresher: Refresher | None = None,
        rank_by_vectors: bool = False,
    ) -> None:
        """Without a `refresher` sentences are chosen. Vectors find shifts of topic; with `rank_by_vectors`
        they also choose sentences, at the price of up to 64 more for each CHUNK."""
        self._documents = documents
        self._conversations = conversations
        self._embeddings = embeddings
        self._index = index
        self._lengths = lengths
        self._follow_ups = follow_ups
        self._refresher = refresher or Extractive()
        self._rank_by_vectors = rank_by_vectors
        self._log = structlog.get_logger("summaries")

    async def refresh(self, tenant: str, agent_id: str, conversation_id: str) -> Refresh:
        """Brings the summary up to the end of the active path.

        A summary that is stale (J-17), unreadable, or of another branch is derived from the whole path, from
        its correction on where there is one. Where very much is new, the version holds a part of it and asks
        for the next one. Done twice it writes once. Raises NotFound, StateConflict (others write all the
        time), DependencyDown.
        """
        key = summary_key(tenant, agent_id, conversation_id)
        about = About(tenant=tenant, agent_id=agent_id, conversation_id=conversation_id)
        for _ in range(ATTEMPTS):
            head, previous = await self._previous(key)
            stretch = await self._conversations.after(agent_id, conversation_id, previous.up_to)
            if not stretch.messages:
                return Refresh(version=await self._nothing_new(key, head, previous))
            if not stretch.follows:
                previous = _anew(previous)
            derived, engine = await self._derive(about, key, previous, stretch)
            draft = Draft(
                body=to_body(derived),
                engine=engine,
                source_ids=_sources(conversation_id, previous, head, stretch),
            )
            reached = derived.up_to.sequence
            jobs = [*self._follow_ups(agent_id, conversation_id, head.version + 1, reached)]
            if stretch.more:
                jobs.append(refresh_job(agent_id, conversation_id, f"after/{head.version + 1}"))
            if head.version and not previous.up_to.sequence:  # what came from the versions before is past
                jobs += summary_changed(agent_id, conversation_id)
            try:
                document = await self._documents.put(key, draft, head, jobs)
            except VersionConflict:
                continue
            await self._record(key, derived)
            return Refresh(version=document.version, engine=engine)
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
        return snapshot.head, _anew(previous) if snapshot.head.stale else previous

    async def left(self, tenant: str, agent_id: str, conversation_id: str) -> bool:
        """Whether there is a summary, and of another path than the active one.

        Raises NotFound, DependencyDown.
        """
        try:
            snapshot = await self._documents.current(summary_key(tenant, agent_id, conversation_id))
            reached = from_body(snapshot.document.body).up_to if snapshot else Reached()
        except (Unreadable, KeyError, TypeError, ValueError):
            return False
        return bool(reached.depth) and not await self._conversations.holds(agent_id, conversation_id, reached)

    async def _nothing_new(self, key: DocumentKey, head: Head, previous: ConversationSummary) -> int:
        """The summary holds all there is; of what holds nothing any more, no summary is left (J-17)."""
        if head.present and not previous.up_to.sequence:
            await self._documents.erase(key, self._follow_erasure)
            await self._index.forget(key.tenant, key.agent_id, key.subject)
            return 0
        if head.present:
            await self._record(key, previous)  # again: a worker may have died before it did
        return head.current

    def _follow_erasure(self, key: DocumentKey, head: Head) -> Sequence[NewJob]:
        """The same as a version, under keys of their own: the next version has the next number."""
        jobs = self._follow_ups(key.agent_id, key.subject, head.version, 0)
        named = [replace(job, key=f"{job.key}/erased/{head.revision}") for job in jobs]
        return [*named, *summary_changed(key.agent_id, key.subject)]

    async def _derive(
        self, about: About, key: DocumentKey, previous: ConversationSummary, stretch: Stretch
    ) -> tuple[ConversationSummary, str]:
        said = [one.said for one in stretch.messages]
        tokens = previous.token_count + stretch.tokens
        summary, known = _begun(previous, stretch)
        engines: list[str] = []
        for begin in range(known, len(said), CHUNK):
            chunk = said[begin : begin + CHUNK]
            vectors = await self._sentence_vectors(chunk, summary)
            limit = self._lengths.of_rolling(tokens)
            made = await self._refresher.refreshed(about, summary, chunk, limit, vectors)
            summary = made.summary
            engines.append(made.engine)
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
            correction=previous.correction,
        )
        return derived, _engine(engines, with_vectors=bool(blocks))

    async def _sentence_vectors(self, chunk: Sequence[Utterance], summary: RollingSummary) -> Vectors:
        if not self._rank_by_vectors:
            return NO_VECTORS
        return await self._vectors(await asyncio.to_thread(extractive.shortlist, chunk, summary.statements()))

    async def _vectors(self, texts: Sequence[str]) -> Vectors:
        return await self._embeddings.vectors(list(dict.fromkeys(texts))) if texts else NO_VECTORS

    async def _record(self, key: DocumentKey, summary: ConversationSummary) -> None:
        names = [one.name for one in summary.concepts]
        await self._index.record(key.tenant, key.agent_id, key.subject, summary.up_to.sequence, names)


def _engine(engines: Sequence[str], *, with_vectors: bool) -> str:
    """What wrote the lines; where the embedder was away, that turning points were found by words."""
    named = engines or [extractive.NAME]
    if with_vectors:
        return together(named)
    words = [one.replace(extractive.NAME, WITHOUT_VECTORS) for one in named]
    return together(words if any(WITHOUT_VECTORS in one for one in words) else [*words, WITHOUT_VECTORS])


def _nothing(conversation_id: str) -> ConversationSummary:
    return ConversationSummary(conversation_id=conversation_id, up_to=Reached())


def _anew(previous: ConversationSummary) -> ConversationSummary:
    """Nothing but the correction, which is no derivation."""
    return replace(_nothing(previous.conversation_id), correction=previous.correction)


def _begun(previous: ConversationSummary, stretch: Stretch) -> tuple[RollingSummary, int]:
    """What is said already, and how many messages of the stretch it holds: those up to a correction."""
    correction = previous.correction
    if correction is None or previous.up_to.sequence:
        return previous.summary, 0
    at = correction.up_to.message_id
    known = next((n for n, one in enumerate(stretch.messages, 1) if one.message_id == at), 0)
    return (correction.summary, known) if known else (previous.summary, 0)


def _counts(
    previous: ConversationSummary, said: Sequence[Utterance]
) -> tuple[dict[str, int], dict[str, int]]:
    return themes.tallied(previous.tallies, said), vibes.counted(previous.tones, said)


def _sources(conversation_id: str, previous: ConversationSummary, head: Head, stretch: Stretch) -> list[str]:
    """The messages that are new to it, and the version that it went on from, which names the others."""
    known = [version_id(conversation_id, head.version)] if previous.message_count else []
    messages = [source_id(conversation_id, one.message_id) for one in stretch.messages]
    return [*known, *newest_sources(messages)]
