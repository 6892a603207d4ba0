"""Memories, conversations, summaries and pages as resources, in the scope of the server's conversation.

A host may show a resource to the model, so none reaches further than the tools do (SPEC G-6): memories that
are the contact's or agent-wide, conversations with the contact, and what was made of these or of
conversations with nobody. In a conversation with nobody: what is nobody's.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlsplit

from palimpsest import models
from palimpsest.client import incoming
from palimpsest.client.base import Calls
from palimpsest.errors import NotFoundError
from palimpsest.gateway.v1 import memories_pb2
from palimpsest.mcp.fences import fenced
from palimpsest.mcp.place import Place

SCHEME = "palimpsest"
PAGE_SIZE = 50
TEXT_BYTES = 64 * 1024
"""Most bytes of a resource; of a conversation the newest messages."""
MOST_SOURCES = 200
"""Conversations of a page that are looked at; a page of more is not given."""
VERSION_MARK = "@"
"""Before the version, in the source of a page."""

TEMPLATES = (
    ("palimpsest://memories/{memory_id}", "memory", "A memory with its key, value and dates."),
    (
        "palimpsest://conversations/{conversation_id}",
        "conversation",
        "The newest messages of a conversation, one JSON object a line.",
    ),
    (
        "palimpsest://conversations/{conversation_id}/summary",
        "summary",
        "The newest summary of a conversation, as markdown.",
    ),
    ("palimpsest://wiki/{branch}", "page", "The page about a recurring subject, as markdown."),
)
"""URI, name and description of each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A resource in a list."""

    uri: str
    name: str
    description: str


class Resources:
    """What a server's conversation may see."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._client = place.client

    async def page(self, cursor: str) -> tuple[list[Listed], str]:
        """The conversation and its summary, then memories by key; and the next cursor, "" at the end."""
        conversation = await self._place.conversation()
        found, token = await _Pages.sharing(self._client).memories(conversation.contact_id, cursor)
        here = uri("conversations", conversation.id)
        own = [
            Listed(uri=here, name="this conversation", description="Its newest messages."),
            Listed(uri=f"{here}/summary", name="summary", description="Of this conversation."),
        ]
        memories = [
            Listed(uri=uri("memories", one.id), name=one.key, description=f"A memory: {one.fact_type}.")
            for one in found
        ]
        return [*([] if cursor else own), *memories], token

    async def read(self, address: str) -> str:
        """The text of a resource, in a fence. Raises NotFoundError, also for what is out of scope."""
        match _segments(address):
            case ["memories", memory_id]:
                return await self._memory(memory_id)
            case ["conversations", conversation_id]:
                return await self._conversation(conversation_id)
            case ["conversations", conversation_id, "summary"]:
                await self._check(conversation_id, derived=True)
                return _shown("summary", (await self._client.summary(conversation_id)).text)
            case ["wiki", branch]:
                return await self._page(branch)
        raise NotFoundError("no such resource")

    async def _memory(self, memory_id: str) -> str:
        memory = await self._client.get_memory(memory_id)
        if memory.contact_id and memory.contact_id not in await self._place.people():
            raise NotFoundError("no such memory")
        values = {
            "key": memory.key,
            "value": memory.value,
            "category": memory.fact_type,
            "since": memory.valid_from_time.isoformat() if memory.valid_from_time else "",
            "superseded": memory.superseded_by != "",
        }
        return _shown("memory", json.dumps(values, ensure_ascii=False))

    async def _conversation(self, conversation_id: str) -> str:
        await self._check(conversation_id)
        lines: list[str] = []
        room = TEXT_BYTES
        async for message in self._client.messages(conversation_id, newest_first=True):
            line = _line(message)
            room -= len(line.encode("utf-8")) + 1
            if room < 0 and lines:
                break
            lines.append(line)
        return _shown("conversation", "\n".join(reversed(lines)))

    async def _page(self, branch: str) -> str:
        page = await self._client.wiki_page(branch)
        # What it was written from may have left the branch since.
        sources = dict.fromkeys(one.rpartition(VERSION_MARK)[0] for one in page.source_ids)
        async for link in self._client.branch_conversations(branch):
            sources[link.conversation_id] = None
            if len(sources) > MOST_SOURCES:
                raise NotFoundError("no such page")
        await self._check(*sources, derived=True)
        return _shown("page", page.text)

    async def _check(self, *conversation_ids: str, derived: bool = False) -> None:
        """Raises NotFoundError unless all are with the same contact; `derived`: or with nobody."""
        people = await self._place.people()
        for conversation_id in conversation_ids:
            contact_id = (await self._client.get_conversation(conversation_id)).contact_id
            allowed = contact_id in people if contact_id else derived or not people
            if not allowed:
                raise NotFoundError("no such conversation")


class _Pages(Calls):
    """Single pages of listings, whose tokens are the protocol's cursors."""

    async def memories(self, contact_id: str, token: str) -> tuple[list[models.Memory], str]:
        request = memories_pb2.ListMemoriesRequest(
            agent_id=self._agent, contact_id=contact_id, page_size=PAGE_SIZE, page_token=token
        )
        answer = await self._transport.call(self._transport.stub.ListMemories, request)
        return [incoming.memory(one) for one in answer.memories], answer.next_page_token


def uri(*segments: str) -> str:
    """The address of a resource."""
    return f"{SCHEME}://" + "/".join(quote(one, safe="") for one in segments)


def _segments(address: str) -> list[str]:
    """The parts of an address; none for one that is another's."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return []
    if parts.scheme != SCHEME or parts.query or parts.fragment:
        return []
    return [unquote(one) for one in (parts.netloc + parts.path).split("/")]


def _line(message: models.Message) -> str:
    said = "\n".join(
        part.content if isinstance(part, models.ToolResult) else getattr(part, "text", "")
        for part in message.parts
    )
    values = {
        "who": message.author or message.role,
        "when": message.time.isoformat() if message.time else "",
        "text": said,
    }
    return json.dumps(values, ensure_ascii=False)


def _shown(name: str, text: str) -> str:
    raw = text.encode("utf-8")
    return fenced(
        name, text if len(raw) <= TEXT_BYTES else raw[:TEXT_BYTES].decode("utf-8", "ignore") + "… (cut)"
    )
