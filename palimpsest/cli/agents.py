"""Makes what a command needs to write to."""

from __future__ import annotations

from palimpsest.client import AsyncClient
from palimpsest.errors import ExistsError, NotFoundError


async def ensure_agent(client: AsyncClient) -> None:
    """Creates the client's agent if it is missing; another one's settings stay."""
    try:
        await client.get_agent()
    except NotFoundError:
        try:
            await client.create_agent()
        except ExistsError:
            return  # made by someone else meanwhile


async def ensure_conversation(client: AsyncClient, conversation_id: str, contact_id: str) -> None:
    """Creates a conversation if it is missing; an existing one keeps its contact."""
    try:
        await client.get_conversation(conversation_id)
    except NotFoundError:
        await client.create_conversation(conversation_id, contact_id=contact_id)
