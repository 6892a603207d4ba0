"""Answers out of what is stored, with citations (SPEC G-8)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from types import MappingProxyType
from typing import TypeAlias

from palimpsest.common.v1 import recall_pb2
from palimpsest.episodic.v1 import episodic_pb2
from palimpsest.gateway.v1 import memories_pb2
from palimpsest.search.v1 import search_pb2

from services.gateway.app import recalling
from services.gateway.app.backends import Backends
from services.gateway.app.chat_ports import ChatModel, Leave
from services.gateway.app.limit_ports import ModelBudget
from services.gateway.app.prompting import counted
from services.gateway.domain.citations import INSTRUCTION, checked, interleaved, shown_evidence
from services.gateway.domain.turns import NO_USAGE
from services.kit.context import current_principal
from services.kit.errors import DataFlowRefused, DeadlineExceeded, DependencyDown, LimitExceeded
from services.kit.fences import plain
from services.kit.models.errors import ModelUnavailable
from services.kit.models.recording import UsageRecorder
from services.kit.models.types import Completion, Message, Tier, Usage
from services.kit.tokens import TokenCounter, estimate_tokens

Hit: TypeAlias = recall_pb2.MemoryHit | memories_pb2.MessageHit | search_pb2.DocumentHit

DOCUMENTS_DOWN = "documents not available"
TIMELY_SHARE = 0.8  # of the caller's time: what was found must still reach it


class NoText(IntEnum):
    """Why there is no text; numbers as in the proto."""

    THERE_IS = 0
    NOT_ASKED = 1
    NO_EVIDENCE = 2
    MODEL_NOT_CONFIGURED = 3
    DATA_FLOW_REFUSED = 4
    LIMIT_EXCEEDED = 5
    MODEL_FAILED = 6
    UNCITED = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked, of whom; see AnswerRequest."""

    agent_id: str
    query: str
    contact_id: str
    conversation_id: str
    scope: memories_pb2.SearchScope.ValueType
    limit: int
    tier: Tier
    evidence_only: bool
    wait_for: Sequence[object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What recall found, best first; failures and what is not indexed as recall told."""

    hits: tuple[Hit, ...]
    failures: tuple[object, ...]
    unindexed: tuple[object, ...]


NOTHING = Evidence(hits=(), failures=(), unindexed=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The evidence, and the text that cites it or why there is none."""

    evidence: Evidence
    text: str = ""
    cited: tuple[int, ...] = ()
    no_text: NoText = NoText.THERE_IS
    usage: Usage = NO_USAGE
    model: str = ""


class Answering:
    """Recalls, then asks the model; evidence is given whatever becomes of the text."""

    def __init__(
        self,
        backends: Backends,
        *,
        model: ChatModel,
        budget: ModelBudget,
        usage: UsageRecorder,
        leave: Leave,
        describe: Callable[[Hit], tuple[str, str]],
        max_tokens: int,
        counters: Mapping[str, TokenCounter] = MappingProxyType({}),
    ) -> None:
        """`describe` gives a piece of evidence as text: who and when, and what; `counters` are exact
        tokenizers by model (E-10)."""
        self._backends = backends
        self._model = model
        self._budget = budget
        self._usage = usage
        self._leave = leave
        self._describe = describe
        self._max_tokens = max_tokens
        self._counters = counters

    async def answer(self, question: Question, remaining: float | None) -> Reply:
        """Raises NotFound, InvalidField, DependencyDown. `remaining`: seconds until the caller's deadline."""
        evidence = await self._recall(question)
        reason = await self._refusal(question, evidence)
        if reason is not NoText.THERE_IS:
            return Reply(evidence=evidence, no_text=reason)
        tokens = self._counters.get(self._model.name(question.tier), estimate_tokens)
        pieces = [self._describe(hit) for hit in evidence.hits]
        written, count = await counted(tokens, lambda: shown_evidence(pieces, count=tokens))
        messages = [
            Message(role="system", text=INSTRUCTION),
            Message(role="user", text=f"{written}\n\nQuestion: {plain(question.query)}"),
        ]
        loop_time = asyncio.get_running_loop().time()
        deadline = None if remaining is None else loop_time + remaining * TIMELY_SHARE
        try:
            made = await self._model.complete(
                question.tier, messages, max_tokens=self._max_tokens, temperature=0.0, deadline=deadline
            )
        except ModelUnavailable as error:
            await self._spend(question, error.usage)
            return Reply(evidence=evidence, no_text=NoText.MODEL_FAILED, usage=error.usage, model=error.model)
        await self._spend(question, made.usage)
        return _reply(evidence, made, count)

    async def _recall(self, question: Question) -> Evidence:
        """Memories and documents, and messages where a contact, a conversation or a scope says which."""
        limit = question.limit or recalling.DEFAULT_LIMIT
        contact_id = await self._contact(question)
        found = await asyncio.gather(
            self._memories(question, contact_id, limit),
            self._messages(question, contact_id, limit),
            self._documents(question, contact_id, limit),
        )
        lists = [one.hits for one in found]
        hits = [lists[which][index] for which, index in interleaved([len(each) for each in lists])]
        return Evidence(
            hits=tuple(hits[:limit]),
            failures=_distinct(failure for one in found for failure in one.failures),
            unindexed=_distinct(token for one in found for token in one.unindexed),
        )

    async def _memories(self, question: Question, contact_id: str, limit: int) -> Evidence:
        found = await recalling.recall(
            self._backends,
            memories_pb2.RecallRequest(
                agent_id=question.agent_id,
                contact_id=contact_id,
                query=question.query,
                limit=limit,
                wait_for=question.wait_for,  # type: ignore[arg-type]
            ),
        )
        return _evidence(found.hits, found.failures, found.unindexed)

    async def _messages(self, question: Question, contact_id: str, limit: int) -> Evidence:
        if not (contact_id or question.conversation_id or question.scope == memories_pb2.SEARCH_SCOPE_ALL):
            return NOTHING
        found = await recalling.recall_conversation(
            self._backends,
            memories_pb2.RecallConversationRequest(
                agent_id=question.agent_id,
                contact_id=contact_id,
                conversation_id=question.conversation_id,
                scope=question.scope,
                query=question.query,
                limit=limit,
                wait_for=question.wait_for,  # type: ignore[arg-type]
            ),
        )
        return _evidence(found.hits, found.failures, found.unindexed)

    async def _documents(self, question: Question, contact_id: str, limit: int) -> Evidence:
        """Of the same people; a search that is down leaves them out and is named."""
        everything = question.scope == memories_pb2.SEARCH_SCOPE_ALL
        request = search_pb2.SearchDocumentsRequest(
            agent_id=question.agent_id,
            query=question.query,
            limit=limit,
            scope=search_pb2.DOCUMENT_SCOPE_ALL if everything else search_pb2.DOCUMENT_SCOPE_CONTACT,
            contact_ids=await self._backends.contact_ids(question.agent_id, contact_id),
        )
        try:
            found = await self._backends.search.SearchDocuments(request)
        except (DependencyDown, DeadlineExceeded):
            return _evidence((), [recall_pb2.ChannelFailure(cause=DOCUMENTS_DOWN)], ())
        return _evidence(found.hits, found.failures, ())

    async def _contact(self, question: Question) -> str:
        """The one that is named, else the conversation's."""
        if question.contact_id or not question.conversation_id:
            return question.contact_id
        asked = episodic_pb2.GetConversationRequest(
            agent_id=question.agent_id, conversation_id=question.conversation_id
        )
        return (await self._backends.episodic.GetConversation(asked)).conversation.contact_id

    async def _refusal(self, question: Question, evidence: Evidence) -> NoText:
        if question.evidence_only:
            return NoText.NOT_ASKED
        if not evidence.hits:
            return NoText.NO_EVIDENCE
        if not self._model.has(question.tier):
            return NoText.MODEL_NOT_CONFIGURED
        try:
            if self._model.leaves(question.tier):
                await self._leave(current_principal().tenant, question.agent_id)
            await self._budget.check()
        except DataFlowRefused:
            return NoText.DATA_FLOW_REFUSED
        except LimitExceeded:
            return NoText.LIMIT_EXCEEDED
        return NoText.THERE_IS

    async def _spend(self, question: Question, usage: Usage) -> None:
        """By the settings' name of the model: an endpoint's own would make a row for each that it says."""
        if usage.calls:
            model = self._model.name(question.tier)
            await self._usage.record(question.agent_id, question.conversation_id, question.tier, model, usage)
            await self._budget.charge(question.tier, usage)


def _distinct(values: Iterable[object]) -> tuple[object, ...]:
    """Each once, in order: messages have no hash."""
    kept: list[object] = []
    for value in values:
        if value not in kept:
            kept.append(value)
    return tuple(kept)


def _evidence(
    hits: Iterable[Hit], failures: Iterable[recall_pb2.ChannelFailure], unindexed: Iterable[object]
) -> Evidence:
    return Evidence(hits=tuple(hits), failures=tuple(failures), unindexed=tuple(unindexed))


def _reply(evidence: Evidence, made: Completion, count: int) -> Reply:
    cited = checked(made.text, count)
    if not cited.numbers:
        return Reply(evidence=evidence, no_text=NoText.UNCITED, usage=made.usage, model=made.model)
    return Reply(evidence=evidence, text=cited.text, cited=cited.numbers, usage=made.usage, model=made.model)
