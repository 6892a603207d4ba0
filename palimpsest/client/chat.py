"""Calls that a model answers: chats, and answers with their evidence."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from datetime import timedelta

from palimpsest import models
from palimpsest.chat.v1 import chat_pb2 as pb
from palimpsest.client import incoming_chat, names, outgoing
from palimpsest.client.base import Calls
from palimpsest.client.transport import new_request_id


class ChatCalls(Calls):
    """Talking with the suite's model, and asking it about what is stored."""

    async def chat(
        self,
        conversation_id: str,
        text: str,
        *,
        author: str = "",
        request_id: str | None = None,
        wait: timedelta | None = None,
        tier: models.ModelTier | None = None,
        max_rounds: int = 0,
        use_tools: bool = True,
        budget_tokens: int = 0,
        wait_for: Sequence[models.FreshnessToken | None] = (),
        timeout: float | None = None,
    ) -> AsyncGenerator[models.ChatEvent, None]:
        """The events of a turn: started, then text and tool calls as they come, then finished.

        Leaving the iterator interrupts the answer, which is stored as far as it came: close it (`aclosing`).
        With the `request_id` of an earlier attempt the turn goes on where that one ended; a finished one is
        replayed. Raises TurnRunningError while another turn runs, unless it ends within `wait`;
        ModelNotConfiguredError, DataFlowRefusedError, and UnavailableError where the model gave no answer:
        then try again with the same id.
        """
        request = pb.ChatRequest(
            agent_id=self._agent,
            conversation_id=conversation_id,
            message=pb.UserMessage(text=text, author=author),
            request_id=request_id or new_request_id(),
            wait=outgoing.duration(wait),
            tier=names.MODEL_TIERS.optional(tier),
            max_rounds=max_rounds,
            no_tools=not use_tools,
            budget_tokens=budget_tokens,
            wait_for=outgoing.tokens(wait_for),
        )
        stream = self._transport.streamed(self._transport.stubs.chat.Chat, request, timeout=timeout)
        async with aclosing(stream) as responses:
            async for proto in responses:
                if (event := incoming_chat.event(proto)) is not None:
                    yield event

    async def answer(
        self,
        query: str,
        *,
        contact_id: str = "",
        conversation_id: str = "",
        scope: models.SearchScope | None = None,
        limit: int = 0,
        tier: models.ModelTier | None = None,
        evidence_only: bool = False,
        wait_for: Sequence[models.FreshnessToken | None] = (),
        timeout: float | None = None,
    ) -> models.Answer:
        """Evidence for a question, and a text that cites it, if a model may be asked.

        Of messages, those of the contact or the conversation are searched; all of the agent's with the scope
        "all".
        """
        request = pb.AnswerRequest(
            agent_id=self._agent,
            query=query,
            contact_id=contact_id,
            conversation_id=conversation_id,
            scope=names.SCOPES.optional(scope),
            limit=limit,
            tier=names.MODEL_TIERS.optional(tier),
            evidence_only=evidence_only,
            wait_for=outgoing.tokens(wait_for),
        )
        made = await self._transport.call(self._transport.stubs.chat.Answer, request, timeout=timeout)
        return incoming_chat.answer(made)
