"""LangChain: a conversation as a chat message history, and recall as a retriever (extra `langchain`)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Literal

from palimpsest.client import AsyncClient
from palimpsest.integrations import extra, readable
from palimpsest.integrations.bridge import Bridge
from palimpsest.integrations.history import History
from palimpsest.models import MemoryHit, MessageHit, Part, Role, ToolCall, ToolResult
from palimpsest.sync import Client

with extra("langchain"):
    from langchain_core.callbacks import (
        AsyncCallbackManagerForRetrieverRun,
        CallbackManagerForRetrieverRun,
    )
    from langchain_core.chat_history import BaseChatMessageHistory
    from langchain_core.documents import Document
    from langchain_core.messages import (
        AIMessage,
        BaseMessage,
        HumanMessage,
        SystemMessage,
        ToolMessage,
        message_to_dict,
        messages_from_dict,
    )
    from langchain_core.retrievers import BaseRetriever
    from pydantic import ConfigDict

ROLES: dict[str, Role] = {
    "human": "user",
    "ai": "assistant",
    "system": "system",
    "tool": "tool",
    "function": "tool",
    "chat": "user",
    "remove": "system",
}


class PalimpsestChatMessageHistory(BaseChatMessageHistory):
    """The active path of a conversation.

    A message with an id is stored once, so that adding it again is no change. `clear` deletes nothing: the
    conversation begins anew at its root, and what was said stays on a branch that was left.
    """

    def __init__(self, client: Client | AsyncClient, conversation_id: str, *, contact_id: str = "") -> None:
        """The conversation is created with its first message, with the contact if one is given."""
        self._bridge = Bridge(client)
        self._history: History[BaseMessage] = History(conversation_id, _Messages(), contact_id=contact_id)

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]  # the base allows a property
        """All messages, oldest first."""
        return self._bridge.run(self._history.read)

    async def aget_messages(self) -> list[BaseMessage]:
        """All messages, oldest first."""
        return await self._bridge.run_async(self._history.read)

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Stores messages. ValueError for what JSON can't say."""
        self._bridge.run(lambda client: self._add(client, messages))

    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:
        """As `add_messages`."""
        await self._bridge.run_async(lambda client: self._add(client, messages))

    async def _add(self, client: AsyncClient, messages: Sequence[BaseMessage]) -> None:
        await self._history.append(client, messages, [message.id or None for message in messages])

    def clear(self) -> None:
        """Begins anew; nothing is deleted."""
        self._bridge.run(self._history.clear)

    async def aclear(self) -> None:
        """Begins anew; nothing is deleted."""
        await self._bridge.run_async(self._history.clear)


class PalimpsestRetriever(BaseRetriever):
    """What recall finds for a query as documents: memories, or exact messages of conversations.

    Metadata: `id`, `score`, and of a memory `key`, `kind`, `confidence`, `valid_from`; of a message
    `conversation_id`, `role`, `author`, `time`.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    client: Client | AsyncClient
    source: Literal["memories", "messages"] = "memories"
    contact_id: str = ""
    conversation_id: str = ""
    """Whose messages are searched, by default those of the contact, or all; memories know no conversation."""
    limit: int = 10

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002
    ) -> list[Document]:
        return Bridge(self.client).run(lambda client: self._find(client, query))

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,  # noqa: ARG002
    ) -> list[Document]:
        return await Bridge(self.client).run_async(lambda client: self._find(client, query))

    async def _find(self, client: AsyncClient, query: str) -> list[Document]:
        if self.source == "memories":
            memories = await client.recall(query, contact_id=self.contact_id, limit=self.limit)
            return [_memory(hit) for hit in memories]
        messages = await client.recall_conversation(
            query,
            conversation_id=self.conversation_id,
            contact_id=self.contact_id,
            limit=self.limit,
        )
        return [_message(hit) for hit in messages]


def _memory(hit: MemoryHit) -> Document:
    memory = hit.memory
    metadata = {
        "id": memory.id,
        "key": memory.key,
        "kind": memory.kind,
        "confidence": memory.confidence,
        "valid_from": memory.valid_from_time and memory.valid_from_time.isoformat(),
        "score": hit.explanation.score,
    }
    return Document(memory.value, id=memory.id, metadata=metadata)


def _message(hit: MessageHit) -> Document:
    message = hit.message
    metadata = {
        "id": message.id,
        "conversation_id": message.conversation_id,
        "role": message.role,
        "author": message.author,
        "time": message.time and message.time.isoformat(),
        "score": hit.explanation.score,
    }
    return Document(message.text, id=message.id, metadata=metadata)


class _Messages:
    """LangChain's messages in both directions."""

    def parts(self, item: BaseMessage) -> tuple[Role, list[Part]]:
        """What people and models read of it."""
        kind = item.type.removesuffix("MessageChunk").replace("AI", "ai").lower()
        return ROLES.get(kind, "user"), readable.filled(list(_parts(item)), item.type)

    def native(self, role: Role, parts: Sequence[Part]) -> list[BaseMessage]:
        """What stands for a message that something else stored."""
        text = readable.text_of(parts)
        calls = [
            {"id": part.call_id, "name": part.name, "args": dict(part.arguments), "type": "tool_call"}
            for part in parts
            if isinstance(part, ToolCall)
        ]
        results = [part for part in parts if isinstance(part, ToolResult)]
        if results:
            return [
                ToolMessage(
                    part.content, tool_call_id=part.call_id, status="error" if part.is_error else "success"
                )
                for part in results
            ]
        if calls or role == "assistant":
            return [AIMessage(text, tool_calls=calls)]
        return [SystemMessage(text) if role == "system" else HumanMessage(text)]

    def dump(self, item: BaseMessage) -> str:
        """The message as JSON."""
        try:
            return json.dumps(message_to_dict(item), allow_nan=False)
        except TypeError as error:
            raise ValueError(f"a message that is no JSON: {error}") from error

    def load(self, text: str) -> BaseMessage:
        """The message again."""
        return messages_from_dict([json.loads(text)])[0]


def _parts(item: BaseMessage) -> Iterator[Part]:
    if isinstance(item, ToolMessage):
        text = readable.text_of(readable.blocks(item.content))
        yield readable.result(item.tool_call_id, text, is_error=item.status == "error")
        return
    yield from readable.blocks(item.content)
    if isinstance(item, AIMessage):
        for made in item.tool_calls:
            yield readable.call(made["id"], made["name"], made["args"])
