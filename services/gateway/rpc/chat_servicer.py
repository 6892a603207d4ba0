"""ChatService on the wire."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

from palimpsest.chat.v1 import chat_pb2 as pb
from palimpsest.chat.v1 import chat_pb2_grpc

from services.gateway.app.answering import Answering
from services.gateway.app.chatting import Chatting
from services.gateway.app.recalling import check_tokens
from services.gateway.rpc import chat_convert as convert
from services.kit.context import current_principal, time_remaining
from services.kit.ids import new_id
from services.kit.serving import Face, roles_of

DESCRIPTOR = pb.DESCRIPTOR.services_by_name["ChatService"]


class ChatServicer(chat_pb2_grpc.ChatServiceServicer):
    """Converts, calls, converts back."""

    def __init__(self, chatting: Chatting, answering: Answering, *, rounds: int) -> None:
        """`rounds`: the most rounds of tool calls that a turn may have."""
        self._chatting = chatting
        self._answering = answering
        self._rounds = rounds

    async def Chat(self, request: pb.ChatRequest, context: Any) -> AsyncIterator[pb.ChatResponse]:
        """See the proto."""
        check_tokens(request.agent_id, request.wait_for)
        ask = convert.ask(
            request,
            tenant=current_principal().tenant,
            request_id=request.request_id or new_id(),
            rounds=self._rounds,
        )
        events = self._chatting.chat(ask, retry=bool(request.request_id), remaining=time_remaining())
        async with aclosing(events):
            async for event in events:
                yield convert.event(event)

    async def Answer(self, request: pb.AnswerRequest, context: Any) -> pb.AnswerResponse:
        """See the proto."""
        check_tokens(request.agent_id, request.wait_for)
        return convert.reply(await self._answering.answer(convert.question(request), time_remaining()))


def chat_face(servicer: ChatServicer) -> Face:
    """The service."""
    return Face(
        name=DESCRIPTOR.full_name,
        add=lambda server: chat_pb2_grpc.add_ChatServiceServicer_to_server(servicer, server),
        roles=roles_of(DESCRIPTOR),
    )
