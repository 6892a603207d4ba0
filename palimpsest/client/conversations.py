"""Calls about conversations and their messages."""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Iterable, Sequence
from contextlib import aclosing
from datetime import datetime

from palimpsest import models
from palimpsest.client import incoming, ingest, outgoing
from palimpsest.client.base import Calls
from palimpsest.client.transport import new_request_id
from palimpsest.gateway.v1 import conversations_pb2 as pb


class ConversationCalls(Calls):
    """Conversations: creating, reading, and storing messages."""

    async def create_conversation(
        self, conversation_id: str | None = None, *, contact_id: str = "", title: str = ""
    ) -> models.Conversation:
        """Creates a conversation; the same id and fields again return the existing one.

        Without an id the client makes one, so that a retry cannot create a second conversation.
        """
        request = pb.CreateConversationRequest(
            agent_id=self._agent,
            conversation_id=conversation_id or uuid.uuid4().hex,
            contact_id=contact_id,
            title=title,
        )
        answer = await self._transport.call(self._transport.stub.CreateConversation, request)
        return incoming.conversation(answer.conversation)

    async def get_conversation(self, conversation_id: str) -> models.Conversation:
        """Reads a conversation with its stored and indexed counts."""
        request = pb.GetConversationRequest(agent_id=self._agent, conversation_id=conversation_id)
        answer = await self._transport.call(self._transport.stub.GetConversation, request)
        return incoming.conversation(answer.conversation)

    async def conversations(
        self,
        *,
        contact_id: str = "",
        newest_first: bool = False,
        changed_since: datetime | None = None,
        page_size: int = 0,
    ) -> AsyncIterator[models.Conversation]:
        """The agent's conversations by creation, those with one contact, or changed since then, if given."""
        request = pb.ListConversationsRequest(
            agent_id=self._agent,
            contact_id=contact_id,
            newest_first=newest_first,
            changed_since=outgoing.timestamp(changed_since),
            page_size=page_size,
        )
        async for page in self._pages(self._transport.stub.ListConversations, request):
            for proto in page.conversations:
                yield incoming.conversation(proto)

    async def messages(
        self,
        conversation_id: str,
        *,
        newest_first: bool = False,
        roles: Sequence[models.Role] = (),
        authors: Sequence[str] = (),
        start_time: datetime | None = None,
        end_time: datetime | None = None,
        page_size: int = 0,
    ) -> AsyncIterator[models.Message]:
        """The messages of a conversation by sequence; said at or after the start, before the end."""
        request = pb.ListMessagesRequest(
            agent_id=self._agent,
            conversation_id=conversation_id,
            filter=outgoing.message_filter(roles, authors, start_time, end_time),
            newest_first=newest_first,
            page_size=page_size,
        )
        async for page in self._pages(self._transport.stub.ListMessages, request):
            for proto in page.messages:
                yield incoming.message(proto)

    async def get_message(self, conversation_id: str, message_id: str) -> models.Message:
        """Reads the exact original of a message."""
        request = pb.GetMessageRequest(
            agent_id=self._agent, conversation_id=conversation_id, message_id=message_id
        )
        return incoming.message(
            (await self._transport.call(self._transport.stub.GetMessage, request)).message
        )

    async def record_turn(
        self,
        conversation_id: str,
        messages: Sequence[models.NewMessage],
        *,
        parent_id: str | None = None,
        branch: bool = False,
    ) -> models.RecordedTurn:
        """Stores 1 to 500 messages after the leaf of the active path, or after `parent_id` ("" for the root).

        With `branch` the parent may be any message (an edited message, an answer generated again), and the
        path to what is stored becomes the active one; else another parent than the leaf is a
        ParentConflictError.
        """
        request = pb.RecordTurnRequest(
            agent_id=self._agent,
            conversation_id=conversation_id,
            messages=[outgoing.new_message(message) for message in messages],
            request_id=new_request_id(),
            parent_id=parent_id,
            branch=branch,
        )
        return incoming.recorded_turn(await self._transport.call(self._transport.stub.RecordTurn, request))

    async def ingest_chunk(
        self,
        conversation_id: str,
        messages: Sequence[models.NewMessage],
        *,
        parent_id: str = "",
        branch: bool = False,
    ) -> models.IngestAck:
        """Stores 1 to 500 messages of a transcript after `parent_id`, by default from its root.

        Stored again, they add nothing. With `branch` they may part from what is stored, and the path to them
        becomes the active one.
        """
        request = pb.IngestRequest(
            agent_id=self._agent,
            conversation_id=conversation_id,
            messages=[outgoing.new_message(message) for message in messages],
            parent_id=parent_id,
            request_id=new_request_id(),
            branch=branch,
        )
        answer = await self._transport.call(self._transport.stub.Ingest, request)
        return incoming.ingest_ack(conversation_id, answer)

    async def ingest(
        self,
        conversation_id: str,
        messages: AsyncIterable[models.NewMessage] | Iterable[models.NewMessage],
        *,
        parent_id: str = "",
        branch: bool = False,
        chunk_messages: int = ingest.CHUNK_MESSAGES,
    ) -> models.Ingested:
        """Stores a transcript of any length, chunk by chunk, and returns once all of it is stored for good.

        After a failure, run it again from the beginning: what is there is found, the rest is added. `branch`
        is that of `ingest_chunk`.
        """
        chunks = ingest.cut(
            self._agent,
            conversation_id,
            messages,
            parent_id=parent_id,
            branch=branch,
            chunk_messages=chunk_messages,
        )
        stored, created, last_id = 0, 0, parent_id
        token: models.FreshnessToken | None = None
        async with aclosing(ingest.IngestPipe(self._transport, chunks).run()) as acks:
            async for ack in acks:
                stored += len(ack.messages)
                created += ack.created_count
                token = ack.token or token
                last_id = ack.messages[-1].message_id if ack.messages else last_id
        return models.Ingested(
            conversation_id=conversation_id,
            message_count=stored,
            created_count=created,
            last_message_id=last_id,
            token=token,
        )

    async def ingest_stream(
        self, chunks: AsyncIterable[models.IngestChunk] | Iterable[models.IngestChunk]
    ) -> AsyncGenerator[models.IngestAck, None]:
        """Stores chunks of any conversations as they come; yields each one's acknowledgement, in order.

        A stream that breaks is opened again, and what was not acknowledged is sent again.
        """
        pipe = ingest.IngestPipe(self._transport, ingest.requests(self._agent, chunks))
        async with aclosing(pipe.run()) as acks:
            async for ack in acks:
                yield ack
