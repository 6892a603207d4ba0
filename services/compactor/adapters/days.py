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
from services.compactor.domain.extraction.text import statements
from services.compactor.domain.insights import Insight
from services.compactor.domain.reflecting import Evidence, Sort, tells
from services.compactor.domain.rolling import from_body
from services.compactor.domain.summaries import Section, Statement
from services.kit.errors import NotFound
from services.kit.times import from_timestamp, to_timestamp

MOST_MEMORIES = 500
"""Of a day; of more, the newest."""
MOST_SUMMARIES = 100
"""That tell of the day."""
MOST_CONVERSATIONS = 100
"""In which something was said on the day; of each the newest MOST_MESSAGES of it are read."""
MOST_MESSAGES = 200
MOST_LOOKED_AT = 500
"""Summaries, and conversations, that were changed since the day began: of more, those whose last change is
nearest to it. Of a day long ago, most may tell nothing."""
CONVERSATIONS_PAGE = 1000
MOST_PAGES = 200
"""Of an agent's conversations; and of the messages of one, which are read back to the day's beginning."""
LONGEST_KEY = 200
"""Bytes (S-1)."""
_SORTS = {
    resources_pb2.FACT_TYPE_TASK: Sort.TASK,
    resources_pb2.FACT_TYPE_DECISION: Sort.DECISION,
    resources_pb2.FACT_TYPE_WORKFLOW_OUTCOME: Sort.OUTCOME,
    resources_pb2.FACT_TYPE_WORKFLOW_FAILURE: Sort.OUTCOME,
    resources_pb2.FACT_TYPE_SKILL: Sort.OUTCOME,
}
Told = tuple[str, list[Evidence]]
"""What was told, and of which contact."""
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
            for contact_id, told in [
                *await self._remembered(agent_id, since, last),
                *await self._summarised(tenant, agent_id, since, last),
                *await self._said(agent_id, since, last),
            ]:
                found[contact_id] += told
        return found

    async def _remembered(self, agent_id: str, since: datetime, last: datetime) -> list[Told]:
        request = upkeep_pb2.ListRecentMemoriesRequest(
            agent_id=agent_id,
            since_time=to_timestamp(since),
            until_time=to_timestamp(last),
            limit=MOST_MEMORIES,
        )
        return [
            (memory.contact_id, [_of_memory(memory)])
            for memory in (await self._upkeep.ListRecentMemories(request)).memories
            if memory.source != resources_pb2.MEMORY_SOURCE_REFLECTION
        ]

    async def _summarised(self, tenant: str, agent_id: str, since: datetime, last: datetime) -> list[Told]:
        days = {since.date().isoformat(), last.date().isoformat()}
        found: list[Told] = []
        for conversation_id in (await self._summaries.changed(tenant, agent_id, since))[-MOST_LOOKED_AT:]:
            try:
                served = await self._documents.get(summary_key(tenant, agent_id, conversation_id))
                if told := list(_of_summary(served.document, days)):
                    found.append((await self._contact(agent_id, conversation_id), told))
            except NotFound:
                continue  # erased meanwhile
            if len(found) == MOST_SUMMARIES:
                break
        return found

    async def _said(self, agent_id: str, since: datetime, last: datetime) -> list[Told]:
        found: list[Told] = []
        for conversation in await self._conversations(agent_id, since, last):
            if messages := await self._messages(conversation, since, last):
                # In a thread: long messages take a while, and calls on this loop go on meanwhile.
                found.append((conversation.contact_id, await asyncio.to_thread(_of_messages, messages)))
            if len(found) == MOST_CONVERSATIONS:
                break
        return found

    async def _conversations(
        self, agent_id: str, since: datetime, last: datetime
    ) -> list[resources_pb2.Conversation]:
        """Those that were there on the day and that a message was stored in since it began, the newest
        first."""
        request = episodic_pb2.ListConversationsRequest(
            agent_id=agent_id, page_size=CONVERSATIONS_PAGE, changed_since=to_timestamp(since)
        )
        found: list[resources_pb2.Conversation] = []
        for _ in range(MOST_PAGES):
            try:
                page = await self._episodic.ListConversations(request)
            except NotFound:  # memories may belong to an agent that Episodic does not keep
                break
            found += [
                one
                for one in page.conversations
                if from_timestamp(one.update_time) >= since and from_timestamp(one.create_time) <= last
            ]
            request.page_token = page.next_page_token
            if not page.next_page_token:
                break
        found.sort(key=lambda one: from_timestamp(one.update_time))
        return found[:MOST_LOOKED_AT][::-1]

    async def _messages(
        self, conversation: resources_pb2.Conversation, since: datetime, last: datetime
    ) -> list[resources_pb2.Message]:
        """What people said in it then, in order."""
        request = episodic_pb2.ListMessagesRequest(
            agent_id=conversation.agent_id,
            conversation_id=conversation.id,
            filter=recall_pb2.MessageFilter(roles=[resources_pb2.ROLE_USER]),
            newest_first=True,
            page_size=MOST_MESSAGES,
        )
        found: list[resources_pb2.Message] = []
        for _ in range(MOST_PAGES):
            try:
                page = await self._episodic.ListMessages(request)
            except NotFound:  # erased meanwhile
                return []
            stored = [(from_timestamp(one.create_time), one) for one in page.messages]
            found += [one for moment, one in stored if since <= moment <= last]
            request.page_token = page.next_page_token
            begun = bool(stored) and stored[-1][0] < since
            if begun or len(found) >= MOST_MESSAGES or not page.next_page_token:
                break
        return found[:MOST_MESSAGES][::-1]

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
    """What people said themselves that may tell of a goal; no text from elsewhere (J-8)."""
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
