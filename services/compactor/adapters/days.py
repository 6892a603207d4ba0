"""What was recorded lately, and where reflections are remembered: memories, summaries, messages (J-11)."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from palimpsest.common.v1 import recall_pb2, resources_pb2
from palimpsest.episodic.v1 import episodic_pb2, episodic_pb2_grpc
from palimpsest.semantic.v1 import semantic_pb2, semantic_pb2_grpc, upkeep_pb2, upkeep_pb2_grpc

from services.compactor.adapters.acting import as_service
from services.compactor.adapters.sql.insights import SqlSummaries
from services.compactor.app.documents import Documents
from services.compactor.domain import cues
from services.compactor.domain.documents import Document, summary_key
from services.compactor.domain.extracting_text import statements
from services.compactor.domain.insights import Insight
from services.compactor.domain.reflecting import Evidence, Sort, tells
from services.compactor.domain.rolling import from_body
from services.compactor.domain.summaries import Section, Statement
from services.kit.errors import NotFound
from services.kit.times import from_timestamp, to_timestamp

MOST_MEMORIES = 500
"""Of a day; of more, the newest."""
MOST_SUMMARIES = 100
MOST_CONVERSATIONS = 100
"""Whose messages of the day are read; of each the newest MOST_MESSAGES."""
MOST_MESSAGES = 200
CONVERSATIONS_PAGE = 1000
MOST_PAGES = 200
"""Of an agent's conversations, which come in order of their making: those of lately may be on the last."""
LONGEST_KEY = 200
"""Bytes (S-1)."""
_SORTS = {
    resources_pb2.FACT_TYPE_TASK: Sort.TASK,
    resources_pb2.FACT_TYPE_DECISION: Sort.DECISION,
    resources_pb2.FACT_TYPE_WORKFLOW_OUTCOME: Sort.OUTCOME,
    resources_pb2.FACT_TYPE_WORKFLOW_FAILURE: Sort.OUTCOME,
    resources_pb2.FACT_TYPE_SKILL: Sort.OUTCOME,
}
_SECTIONS = {Section.OBJECTIVE: Sort.OBJECTIVE, Section.COMPLETED: Sort.COMPLETED}


class RecordedDays:
    """`Days` over Semantic, Episodic and the documents."""

    def __init__(
        self,
        *,
        upkeep: upkeep_pb2_grpc.UpkeepServiceAsyncStub,
        semantic: semantic_pb2_grpc.SemanticServiceAsyncStub,
        episodic: episodic_pb2_grpc.EpisodicServiceAsyncStub,
        summaries: SqlSummaries,
        documents: Documents,
    ) -> None:
        self._upkeep = upkeep
        self._semantic = semantic
        self._episodic = episodic
        self._summaries = summaries
        self._documents = documents

    async def evidence(
        self, tenant: str, agent_id: str, since: datetime, until: datetime
    ) -> Mapping[str, Sequence[Evidence]]:
        """See the port. Reflections are none: what they repeat is recorded elsewhere."""
        last = until - timedelta.resolution
        found: dict[str, list[Evidence]] = defaultdict(list)
        with as_service(tenant, agent_id):
            request = upkeep_pb2.ListRecentMemoriesRequest(
                agent_id=agent_id,
                since_time=to_timestamp(since),
                until_time=to_timestamp(last),
                limit=MOST_MEMORIES,
            )
            for memory in (await self._upkeep.ListRecentMemories(request)).memories:
                if memory.source != resources_pb2.MEMORY_SOURCE_REFLECTION:
                    found[memory.contact_id].append(_of_memory(memory))
            changed = await self._summaries.changed(tenant, agent_id, since)
            days = {since.date().isoformat(), last.date().isoformat()}
            for conversation_id in changed[:MOST_SUMMARIES]:
                try:
                    served = await self._documents.get(summary_key(tenant, agent_id, conversation_id))
                    contact_id = await self._contact(agent_id, conversation_id)
                except NotFound:
                    continue  # erased meanwhile
                found[contact_id] += _of_summary(served.document, days)
            for conversation in await self._conversations(agent_id, since):
                found[conversation.contact_id] += await self._said(conversation, since, last)
        return found

    async def _conversations(self, agent_id: str, since: datetime) -> list[resources_pb2.Conversation]:
        """Those that a message was stored in since then."""
        request = episodic_pb2.ListConversationsRequest(agent_id=agent_id, page_size=CONVERSATIONS_PAGE)
        found: list[resources_pb2.Conversation] = []
        for _ in range(MOST_PAGES):
            try:
                page = await self._episodic.ListConversations(request)
            except NotFound:  # memories may belong to an agent that Episodic does not keep
                break
            found += [one for one in page.conversations if from_timestamp(one.update_time) >= since]
            request.page_token = page.next_page_token
            if not page.next_page_token:
                break
        found.sort(key=lambda one: from_timestamp(one.update_time), reverse=True)
        return found[:MOST_CONVERSATIONS]

    async def _said(
        self, conversation: resources_pb2.Conversation, since: datetime, last: datetime
    ) -> list[Evidence]:
        """What people said in it themselves that may tell of a goal; no text from elsewhere (J-8)."""
        request = episodic_pb2.ListMessagesRequest(
            agent_id=conversation.agent_id,
            conversation_id=conversation.id,
            filter=recall_pb2.MessageFilter(roles=[resources_pb2.ROLE_USER]),
            newest_first=True,
            page_size=MOST_MESSAGES,
        )
        try:
            messages = (await self._episodic.ListMessages(request)).messages
        except NotFound:  # erased meanwhile
            return []
        lately = [one for one in messages if since <= from_timestamp(one.create_time) <= last]
        # In a thread: long messages take a while, and calls on this loop go on meanwhile.
        return await asyncio.to_thread(_of_messages, lately[::-1])

    async def _contact(self, agent_id: str, conversation_id: str) -> str:
        request = episodic_pb2.GetConversationRequest(agent_id=agent_id, conversation_id=conversation_id)
        return (await self._episodic.GetConversation(request)).conversation.contact_id

    async def remember(self, tenant: str, agent_id: str, reflection: Insight, key: str) -> str:
        """See the port."""
        with as_service(tenant, agent_id):
            request = semantic_pb2.RememberRequest(
                scope=await self._scope(agent_id, reflection.contact_id),
                key=key[:LONGEST_KEY],
                value=reflection.text,
                fact_type=resources_pb2.FACT_TYPE_REFLECTION,
                source=resources_pb2.MEMORY_SOURCE_REFLECTION,
                provenance=[
                    resources_pb2.MessageRef(conversation_id=conversation, message_id=message)
                    for conversation, message in reflection.provenance
                ],
            )
            return (await self._semantic.Remember(request)).memory.id

    async def forget(self, tenant: str, agent_id: str, memory_id: str) -> None:
        """See the port."""
        with as_service(tenant, agent_id):
            try:
                await self._semantic.ForgetMemory(
                    semantic_pb2.ForgetMemoryRequest(agent_id=agent_id, memory_id=memory_id)
                )
            except NotFound:  # forgotten before
                return

    async def _scope(self, agent_id: str, contact_id: str) -> semantic_pb2.Scope:
        if not contact_id:
            return semantic_pb2.Scope(agent_id=agent_id)
        request = episodic_pb2.GetContactRequest(agent_id=agent_id, contact_id=contact_id)
        try:
            contact = (await self._episodic.GetContact(request)).contact
        except NotFound:  # memories may be filed under contacts that Episodic does not keep
            return semantic_pb2.Scope(agent_id=agent_id, contact_ids=[contact_id])
        return semantic_pb2.Scope(agent_id=agent_id, contact_ids=[contact.id, *contact.merged_ids])


def _of_memory(memory: resources_pb2.Memory) -> Evidence:
    return Evidence(
        source_id=memory.id,
        text=memory.value,
        sort=_SORTS.get(memory.fact_type, Sort.STATEMENT),
        refs=tuple((ref.conversation_id, ref.message_id) for ref in memory.provenance),
        day=_day(memory),
    )


def _of_messages(messages: Sequence[resources_pb2.Message]) -> list[Evidence]:
    return [
        Evidence(
            source_id=f"{message.conversation_id}/{message.id}",
            text=sentence,
            sort=Sort.SAID,
            refs=((message.conversation_id, message.id),),
            day=_day(message),
        )
        for message in messages
        for part in message.parts
        if part.WhichOneof("kind") == "text"
        for sentence in statements(part.text)
        if tells(sentence)
    ]


def _of_summary(document: Document, days: set[str]) -> Iterator[Evidence]:
    """What it says of those days; nothing of one that another version wrote."""
    try:
        statements = from_body(document.body).summary.statements()
    except (KeyError, TypeError, ValueError):
        return
    subject = document.key.subject
    for one in statements:
        if one.day in days and one.section is not Section.FILES:
            yield Evidence(source_id=f"summary/{subject}", text=one.text, sort=_sort(one), day=one.day)


def _day(stored: resources_pb2.Memory | resources_pb2.Message) -> str:
    return from_timestamp(stored.create_time).date().isoformat() if stored.HasField("create_time") else ""


def _sort(statement: Statement) -> Sort:
    if statement.section in _SECTIONS:
        return _SECTIONS[statement.section]
    return Sort.DECISION if cues.DECISION.search(statement.text) else Sort.STATEMENT
