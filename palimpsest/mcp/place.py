"""For which agent and conversation a server speaks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from palimpsest import models
from palimpsest.client import AsyncClient
from palimpsest.errors import ExistsError, NotAllowedError, NotFoundError

ResultT = TypeVar("ResultT")

DEFAULT_CONVERSATION = "mcp"
"""The conversation of a host that names none; made at its first use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """An agent, by its client, and a conversation."""

    client: AsyncClient
    conversation_id: str = DEFAULT_CONVERSATION

    async def conversation(self) -> models.Conversation:
        """The conversation, made with its agent where there is none and the key may.

        Raises NotFoundError where it may not.
        """
        try:
            return await self.client.get_conversation(self.conversation_id)
        except NotFoundError:
            with suppress(NotAllowedError):
                with suppress(ExistsError):
                    await self.client.create_agent()
                with suppress(ExistsError):
                    await self.client.create_conversation(self.conversation_id)
        return await self.client.get_conversation(self.conversation_id)

    async def settled(self, call: Callable[[], Awaitable[ResultT]]) -> ResultT:
        """The result of a call about the conversation, which is made if the call does not find it."""
        try:
            return await call()
        except NotFoundError:
            await self.conversation()
            return await call()

    async def people(self) -> frozenset[str]:
        """Ids of the contact whom the conversation is with, and of those merged into it; empty for nobody."""
        contact_id = (await self.conversation()).contact_id
        if not contact_id:
            return frozenset()
        contact = await self.client.get_contact(contact_id)
        return frozenset({contact_id, contact.id, *contact.merged_ids})
