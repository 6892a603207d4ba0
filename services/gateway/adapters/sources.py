"""The prompt's ingredients, from the other services."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import structlog
from google.protobuf.struct_pb2 import Struct
from palimpsest.common.v1 import recall_pb2, resources_pb2
from palimpsest.documents.v1 import documents_pb2
from palimpsest.episodic.v1 import episodic_pb2
from palimpsest.history.v1 import windows_pb2
from palimpsest.search.v1 import search_pb2
from palimpsest.semantic.v1 import semantic_pb2
from palimpsest.working.v1 import checkpoints_pb2, prompt_pb2

from services.gateway.adapters.texts import arguments_text, shown_text
from services.gateway.app.backends import Backends
from services.gateway.app.ports import ConversationView, Found, Rolling, Told
from services.gateway.app.words import document_kind
from services.gateway.domain.layers import MAX_DOCUMENTS
from services.gateway.domain.parts import (
    Fact,
    History,
    LoadedEntry,
    Overlay,
    Passage,
    Speaker,
    StaleTurn,
    ToolOutcome,
    Turn,
    Working,
)
from services.gateway.domain.themes import Theme
from services.kit.errors import DeadlineExceeded, DependencyDown, NotFound, PalimpsestError
from services.kit.times import from_timestamp

QUERY_BYTES = 1024
CANDIDATES = 12  # memories asked for: some of them are shown anyway
MESSAGE_CANDIDATES = 20  # and older messages: some lie on no active path, too
STANDING = 20  # S-10
TOLD = (  # a branch has names alone, which tell a model nothing
    search_pb2.DOCUMENT_TYPE_SUMMARY,
    search_pb2.DOCUMENT_TYPE_PAGE,
    search_pb2.DOCUMENT_TYPE_THEME,
)
SUMMARY_BYTES = 65_536  # GetWindow takes no longer one
SUMMARY_DOWN = "the conversation's summary is not available"
STANDING_DOWN = "standing memories not available"
DOCUMENTS_DOWN = "derived documents are not available"
THEMES_DOWN = "the attractor is not available"
CHANNELS = (
    recall_pb2.CHANNEL_VECTOR,
    recall_pb2.CHANNEL_KEYWORD,
    recall_pb2.CHANNEL_KEY,
    recall_pb2.CHANNEL_MESSAGES,
)


class ServiceSources:
    """`PromptSources` over stubs. Recall that is down leaves its layer empty and is named, no more."""

    def __init__(self, backends: Backends) -> None:
        self._backends = backends
        self._log = structlog.get_logger("prompt")

    async def conversation(self, agent_id: str, conversation_id: str) -> ConversationView:
        """See the port."""
        prompt, conversation = await asyncio.gather(
            self._backends.working.GetSystemPrompt(
                prompt_pb2.GetSystemPromptRequest(agent_id=agent_id, conversation_id=conversation_id)
            ),
            self._backends.episodic.GetConversation(
                episodic_pb2.GetConversationRequest(agent_id=agent_id, conversation_id=conversation_id)
            ),
        )
        contact_id = conversation.conversation.contact_id
        ids = await self._backends.contact_ids(agent_id, contact_id) if contact_id else []
        return ConversationView(
            system_prompt=prompt.prompt.text,
            prompt_revision=prompt.prompt.revision,
            contact_ids=tuple(ids),
            depth=conversation.conversation.depth,
            covered=conversation.conversation.covered_count,
        )

    async def working(self, agent_id: str, conversation_id: str) -> Working:
        """See the port."""
        found = await self._backends.working.GetWorkingMemory(
            prompt_pb2.GetWorkingMemoryRequest(agent_id=agent_id, conversation_id=conversation_id)
        )
        return Working(
            notes=found.notes.text,
            notes_version=found.notes.version,
            task=found.task.text,
            stale=stale_turn(found.stale_turn) if found.HasField("stale_turn") else None,
            loaded=tuple(
                LoadedEntry(label=entry.label, key=entry.key, title=entry.title, content=entry.content)
                for entry in found.loaded
            ),
        )

    async def rolling(self, agent_id: str, conversation_id: str) -> Rolling:
        """See the port; that there is none yet is no failure."""
        request = documents_pb2.GetSummaryRequest(agent_id=agent_id, conversation_id=conversation_id)
        try:
            summary = (await self._backends.documents.GetSummary(request)).summary
        except NotFound:
            return Rolling()
        except PalimpsestError as error:
            self._log.warning("rolling_summary_down", reason=error.reason)
            return Rolling(failures=(recall_pb2.ChannelFailure(cause=SUMMARY_DOWN),))
        return replace(rolling_of(summary.body), version=summary.version)

    async def window(
        self, agent_id: str, conversation_id: str, budget: int, rolling: Rolling, *, model: str = ""
    ) -> History:
        """See the port."""
        response = await self._backends.history.GetWindow(
            windows_pb2.GetWindowRequest(
                agent_id=agent_id,
                conversation_id=conversation_id,
                budget=windows_pb2.BudgetWindow(tokens=budget, rolling_summary=rolling.text, model=model),
            )
        )
        shown_summary = summary_of_path(response, rolling)
        return History(
            head=tuple(turn(shown.message) for shown in response.head),
            overlays=(*map(overlay, response.overlays), *shown_summary),
            tail=tuple(turn(shown.message) for shown in response.tail),
            depth=response.depth,
        )

    async def standing(self, agent_id: str, contact_ids: Sequence[str]) -> Found:
        """See the port."""
        request = semantic_pb2.SelectStandingMemoriesRequest(
            scope=_scope(agent_id, contact_ids), limit=STANDING
        )
        try:
            response = await self._backends.semantic.SelectStandingMemories(request)
        except (DependencyDown, DeadlineExceeded) as error:
            self._log.warning("standing_memories_down", reason=error.reason)
            return Found(failures=(recall_pb2.ChannelFailure(cause=STANDING_DOWN),))
        return Found(memories=tuple(fact(memory) for memory in response.memories))

    async def themes(self, agent_id: str, contact_ids: Sequence[str], version: int = 0) -> Told:
        """See the port; that there is no attractor yet is no failure."""
        request = documents_pb2.ListBasinsRequest(agent_id=agent_id)
        if version:
            request.version = version
        try:
            answer = await self._backends.documents.ListBasins(request)
            labels = all(basin.name for basin in answer.basins) or not await self._knows_others(
                agent_id, contact_ids
            )
        except NotFound:
            if version:
                raise
            return Told()
        except PalimpsestError as error:
            self._log.warning("attractor_down", reason=error.reason)
            return Told(failures=(recall_pb2.ChannelFailure(cause=THEMES_DOWN),))
        return Told(
            themes=tuple(
                Theme(id=basin.id, title=basin.name or basin.label, weight=basin.weight)
                for basin in answer.basins
                if basin.name or labels
            ),
            version=answer.version,
        )

    async def _knows_others(self, agent_id: str, contact_ids: Sequence[str]) -> bool:
        """Whether the agent knows anybody but the person with these ids; merged contacts are one."""
        request = episodic_pb2.ListContactsRequest(agent_id=agent_id, page_size=2)
        contacts = (await self._backends.episodic.ListContacts(request)).contacts
        return any(contact.id not in contact_ids for contact in contacts)

    async def find(
        self,
        agent_id: str,
        conversation_id: str,
        contact_ids: Sequence[str],
        message: str,
        wait_for: Sequence[Any],
    ) -> Found:
        """See the port."""
        query = message.encode("utf-8")[:QUERY_BYTES].decode("utf-8", "ignore")
        scope = _scope(agent_id, contact_ids)
        semantic = self._backends.semantic
        memories, messages, documents = await asyncio.gather(
            semantic.RecallMemories(
                semantic_pb2.RecallMemoriesRequest(
                    scope=scope, query=query, limit=CANDIDATES, wait_for=wait_for
                )
            ),
            semantic.RecallMessages(
                semantic_pb2.RecallMessagesRequest(
                    scope=scope,
                    conversation_id="" if contact_ids else conversation_id,
                    query=query,
                    limit=MESSAGE_CANDIDATES,
                    wait_for=wait_for,
                )
            ),
            self._backends.search.SearchDocuments(
                search_pb2.SearchDocumentsRequest(
                    agent_id=agent_id,
                    query=query,
                    types=TOLD,
                    limit=MAX_DOCUMENTS + 1,  # one may be this conversation's own summary
                    contact_ids=contact_ids,
                )
            ),
            return_exceptions=True,
        )
        facts: list[Fact] = []
        matches: list[Any] = []
        failures: list[recall_pb2.ChannelFailure] = []
        unindexed: list[resources_pb2.Unindexed] = []
        if isinstance(memories, BaseException):
            failures += self._down(memories)
        else:
            facts = [fact(hit.memory) for hit in memories.hits]
            failures += memories.failures
            unindexed += memories.unindexed
        if isinstance(messages, BaseException):
            failures += self._down(messages)
        else:
            matches = list(messages.matches)
            failures += messages.failures
        passages: list[Passage] = []
        if isinstance(documents, BaseException):
            self._down(documents)
            failures.append(recall_pb2.ChannelFailure(cause=DOCUMENTS_DOWN))
        else:
            others = (hit for hit in documents.hits if hit.conversation_id != conversation_id)
            passages = [passage(hit) for hit in islice(others, MAX_DOCUMENTS)]
            failures += documents.failures
        distinct = list({failure.channel: failure for failure in failures}.values())
        return Found(
            older=tuple(await self._originals(agent_id, [match.ref for match in matches])),
            memories=tuple(facts),
            documents=tuple(passages),
            failures=tuple(distinct),
            unindexed=tuple(unindexed),
        )

    async def count_access(self, agent_id: str, memory_ids: Sequence[str]) -> None:
        """See the port; a count that can't be kept is not worth the prompt."""
        try:
            await self._backends.semantic.CountAccess(
                semantic_pb2.CountAccessRequest(agent_id=agent_id, memory_ids=memory_ids)
            )
        except PalimpsestError as error:
            self._log.warning("access_not_counted", reason=error.reason)

    async def _originals(self, agent_id: str, refs: Sequence[resources_pb2.MessageRef]) -> list[Turn]:
        if not refs:
            return []
        request = episodic_pb2.GetMessagesRequest(agent_id=agent_id, refs=refs)
        response = await self._backends.episodic.GetMessages(request)
        return [turn(found.message) for found in response.messages if found.active]

    def _down(self, error: BaseException) -> list[recall_pb2.ChannelFailure]:
        if not isinstance(error, PalimpsestError):
            raise error
        self._log.warning("recall_down", reason=error.reason)
        return [recall_pb2.ChannelFailure(channel=channel, cause="not available") for channel in CHANNELS]


def fact(memory: resources_pb2.Memory) -> Fact:
    """A memory as the prompt shows it."""
    kind = resources_pb2.MemoryKind.Name(memory.kind).removeprefix("MEMORY_KIND_").lower()
    return Fact(
        id=memory.id,
        kind=kind,
        key=memory.key,
        value=memory.value,
        created=from_timestamp(memory.create_time),
    )


def passage(hit: search_pb2.DocumentHit) -> Passage:
    """A part of a document as the prompt shows it."""
    return Passage(
        kind=document_kind(hit),
        document_id=hit.document_id,
        version=hit.version,
        title=hit.title,
        text=hit.snippet,
    )


def turn(message: resources_pb2.Message) -> Turn:
    """A message as the prompt shows it."""
    said, returned = shown_text(message)
    return Turn(
        conversation_id=message.conversation_id,
        message_id=message.id,
        role=Speaker(message.role or Speaker.USER),
        author=message.author,
        time=from_timestamp(message.time),
        text=said,
        results=returned,
        depth=message.depth,
    )


def overlay(proto: windows_pb2.WindowOverlay) -> Overlay:
    """A summary as the prompt shows it, with all messages that it covers.

    The prompt may shorten the window's tail: messages that leave it are still under the summary.
    """
    whole = proto.overlay
    return Overlay(id=whole.id, from_depth=whole.from_depth, to_depth=whole.to_depth, summary=whole.summary)


def rolling_of(body: Struct) -> Rolling:
    """From a summary's document; what has another form is none."""
    text = body.fields["text"].string_value
    up_to = body.fields["up_to"].struct_value.fields
    if len(text.encode("utf-8")) > SUMMARY_BYTES:
        return Rolling()
    return Rolling(
        text=text,
        message_id=up_to["message_id"].string_value,
        depth=int(up_to["depth"].number_value),
    )


def summary_of_path(window: windows_pb2.GetWindowResponse, rolling: Rolling) -> tuple[Overlay, ...]:
    """The rolling summary as the window shows it, with all messages that it covers; none if it is known to
    be of another branch."""
    text = window.rolling_summary
    at = {shown.message.depth: shown.message.id for shown in (*window.head, *window.tail)}
    if (
        not text
        or rolling.depth > window.depth
        or at.get(rolling.depth, rolling.message_id) != rolling.message_id
    ):
        return ()
    return (Overlay(id="", from_depth=1, to_depth=rolling.depth, summary=text, version=rolling.version),)


def stale_turn(proto: checkpoints_pb2.Checkpoint) -> StaleTurn:
    """What an interrupted turn has completed; calls without a result are left out."""
    return StaleTurn(
        turn_id=proto.turn_id,
        outcomes=tuple(
            ToolOutcome(
                name=one.call.name,
                arguments=arguments_text(one.call),
                content=one.result.content,
                is_error=one.result.is_error,
            )
            for one in proto.calls
            if one.HasField("result")
        ),
        sessions=tuple((session.name, session.handle) for session in proto.handles),
    )


def _scope(agent_id: str, contact_ids: Sequence[str]) -> semantic_pb2.Scope:
    return semantic_pb2.Scope(agent_id=agent_id, contact_ids=contact_ids)
