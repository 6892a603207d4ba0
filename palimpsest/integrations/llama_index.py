"""LlamaIndex: a conversation as a memory, and recall as a memory block (extra `llama-index`)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from palimpsest.client import AsyncClient
from palimpsest.integrations import extra, readable
from palimpsest.integrations.bridge import Bridge
from palimpsest.integrations.history import History, is_marker
from palimpsest.integrations.recalling import remembered
from palimpsest.models import Message, Part, Role, TextPart, ToolCall, ToolResult, Window, WindowMessage
from palimpsest.sync import Client

with extra("llama-index"):
    from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock, ToolCallBlock
    from llama_index.core.bridge.pydantic import ConfigDict, Field, PrivateAttr
    from llama_index.core.memory import BaseMemory, BaseMemoryBlock

DEFAULT_TOKENS = 8_000
LEAST_TOKENS = 256
"""Of a history, however long the prefix is."""
OVERLAY = "Earlier in this conversation, in short:\n"
ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "tool": "tool",
    "function": "tool",
}


class PalimpsestMemory(BaseMemory):
    """The active path of a conversation, within a budget of tokens.

    `get` gives the conversation's window: its beginning, summaries of what is left out, and the newest
    messages, which are exactly as they were put; before them, with `recall_limit`, a system message with what
    is remembered. `set` branches off where the messages differ, `reset` begins anew; nothing is deleted.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    client: Client | AsyncClient = Field(exclude=True)
    conversation_id: str
    contact_id: str = ""
    token_limit: int = DEFAULT_TOKENS
    recall_limit: int = 0
    _history: History[ChatMessage] = PrivateAttr()
    _bridge: Bridge = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        """Makes what is not a field."""
        super().model_post_init(context)
        self._bridge = Bridge(self.client)
        self._history = History(self.conversation_id, _Messages(), contact_id=self.contact_id)

    @classmethod
    def class_name(cls) -> str:
        """The name by which LlamaIndex knows it."""
        return "PalimpsestMemory"

    @classmethod
    def from_defaults(cls, **kwargs: Any) -> PalimpsestMemory:
        """As the constructor."""
        return cls(**kwargs)

    def get(self, input: Any = None, initial_token_count: int = 0, **kwargs: Any) -> list[ChatMessage]:  # noqa: ARG002
        """What the next call of the model should see of the conversation."""
        return self._bridge.run(lambda client: self._get(client, input, initial_token_count))

    async def aget(self, input: Any = None, initial_token_count: int = 0, **kwargs: Any) -> list[ChatMessage]:  # noqa: ARG002
        """As `get`."""
        return await self._bridge.run_async(lambda client: self._get(client, input, initial_token_count))

    async def _get(self, client: AsyncClient, input: Any, prefix_tokens: int) -> list[ChatMessage]:
        if not await self._history.exists(client):
            return []
        tokens = max(self.token_limit - prefix_tokens, LEAST_TOKENS)
        window = await client.window(self.conversation_id, tokens=tokens)
        shown = await self._shown(client, window)
        query = _text_of(input) or _newest_question(shown)
        note = await remembered(client, query, contact_id=self.contact_id, limit=self.recall_limit)
        return [ChatMessage(note, role=MessageRole.SYSTEM), *shown] if note else shown

    async def _shown(self, client: AsyncClient, window: Window) -> list[ChatMessage]:
        overlays = [
            ChatMessage(OVERLAY + one.overlay.summary, role=MessageRole.SYSTEM) for one in window.overlays
        ]
        head = await self._verbatim(client, window.head)
        return [*head, *overlays, *await self._verbatim(client, window.tail)]

    async def _verbatim(self, client: AsyncClient, shown: Sequence[WindowMessage]) -> list[ChatMessage]:
        """Originals; where the window shows a message shorter, or a tool's result as text, what it shows."""
        messages = [one.message for one in shown]
        codec = _Messages()
        return [
            item
            for kept in await self._history.decoded(client, messages)
            if not is_marker(kept.message)
            for item in (
                kept.items
                if _as_put(codec, kept.message, kept.items)
                else codec.native(kept.message.role, kept.message.parts)
            )
        ]

    def get_all(self) -> list[ChatMessage]:
        """All messages."""
        return self._bridge.run(self._history.read)

    async def aget_all(self) -> list[ChatMessage]:
        """All messages."""
        return await self._bridge.run_async(self._history.read)

    def put(self, message: ChatMessage) -> None:
        """Stores a message after the others."""
        self.put_messages([message])

    async def aput(self, message: ChatMessage) -> None:
        """As `put`."""
        await self.aput_messages([message])

    def put_messages(self, messages: list[ChatMessage]) -> None:
        """Stores messages after the others."""
        self._bridge.run(lambda client: self._history.append(client, messages))

    async def aput_messages(self, messages: list[ChatMessage]) -> None:
        """As `put_messages`."""
        await self._bridge.run_async(lambda client: self._history.append(client, messages))

    def set(self, messages: list[ChatMessage]) -> None:
        """Makes these the conversation: it goes on where they begin with it, and branches off where not."""
        self._bridge.run(lambda client: self._history.replace(client, messages))

    async def aset(self, messages: list[ChatMessage]) -> None:
        """As `set`."""
        await self._bridge.run_async(lambda client: self._history.replace(client, messages))

    def reset(self) -> None:
        """Begins the conversation anew."""
        self._bridge.run(self._history.clear)

    async def areset(self) -> None:
        """As `reset`."""
        await self._bridge.run_async(self._history.clear)


class PalimpsestRecallBlock(BaseMemoryBlock[str]):
    """A block of LlamaIndex's own Memory: what is remembered of the newest user's message.

    It stores no messages that leave the short-term memory: whoever records the conversation does that.
    """

    name: str = "palimpsest"
    client: Client | AsyncClient = Field(exclude=True)
    contact_id: str = ""
    limit: int = 5

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:  # noqa: ARG002
        query = _newest_question(messages or [])
        return await Bridge(self.client).run_async(
            lambda client: remembered(client, query, contact_id=self.contact_id, limit=self.limit)
        )

    async def _aput(self, messages: list[ChatMessage]) -> None:  # noqa: ARG002
        return


def _newest_question(messages: Sequence[ChatMessage]) -> str:
    return next((one.content or "" for one in reversed(messages) if one.role == MessageRole.USER), "")


def _text_of(input: Any) -> str:
    return (input.content or "") if isinstance(input, ChatMessage) else str(input or "")


def _as_put(codec: _Messages, message: Message, items: Sequence[ChatMessage]) -> bool:
    return len(items) == 1 and codec.parts(items[0]) == (message.role, list(message.parts))


class _Messages:
    """LlamaIndex's messages in both directions."""

    def parts(self, item: ChatMessage) -> tuple[Role, list[Part]]:
        """What people and models read of it."""
        role = ROLES.get(str(item.role.value), "assistant")
        return role, readable.filled(list(_parts(item, role)), str(item.role.value))

    def native(self, role: Role, parts: Sequence[Part]) -> list[ChatMessage]:
        """What stands for a message that something else stored."""
        results = [
            ChatMessage(part.content, role=MessageRole.TOOL, additional_kwargs={"tool_call_id": part.call_id})
            for part in parts
            if isinstance(part, ToolResult)
        ]
        blocks: list[Any] = [TextBlock(text=part.text) for part in parts if isinstance(part, TextPart)]
        blocks += [
            ToolCallBlock(tool_call_id=part.call_id, tool_name=part.name, tool_kwargs=dict(part.arguments))
            for part in parts
            if isinstance(part, ToolCall)
        ]
        if blocks or not results:
            results.insert(0, ChatMessage(role=MessageRole(role), blocks=blocks))
        return results

    def dump(self, item: ChatMessage) -> str:
        """The message as JSON."""
        try:
            return json.dumps(item.model_dump(mode="json"), allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ValueError(f"a message that is no JSON: {error}") from error

    def load(self, text: str) -> ChatMessage:
        """The message again."""
        return ChatMessage.model_validate_json(text)


def _parts(item: ChatMessage, role: Role) -> Iterator[Part]:
    if role == "tool":
        yield readable.result(item.additional_kwargs.get("tool_call_id"), item.content or "")
        return
    for block in item.blocks:
        if isinstance(block, TextBlock):
            yield from readable.texts(block.text)
        elif isinstance(block, ToolCallBlock):
            yield readable.call(block.tool_call_id, block.tool_name, block.tool_kwargs)
        else:
            yield from readable.texts(f"({block.block_type})")
