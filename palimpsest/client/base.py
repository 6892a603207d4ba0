"""What the groups of calls share."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Protocol, Self, TypeVar

from google.protobuf.message import Message

from palimpsest.client.transport import Transport, UnaryMethod


class _Page(Protocol):
    @property
    def next_page_token(self) -> str: ...


PageT = TypeVar("PageT", bound=_Page)
ListRequestT = TypeVar("ListRequestT", bound=Message)


class Calls:
    """Calls of one agent over one transport."""

    def __init__(self, transport: Transport, agent: str) -> None:
        self._transport = transport
        self._agent = agent

    @classmethod
    def sharing(cls, other: Calls) -> Self:
        """These calls for the agent of others and over their transport, which stays theirs to close."""
        made = cls.__new__(cls)
        made._transport, made._agent = other._transport, other._agent
        return made

    @property
    def agent(self) -> str:
        """The agent that calls are about."""
        return self._agent

    async def _pages(
        self, method: UnaryMethod[ListRequestT, PageT], request: ListRequestT
    ) -> AsyncIterator[PageT]:
        """All pages of a listing, each asked for when the one before is used up."""
        listing: Any = request
        while True:
            page = await self._transport.call(method, listing)
            yield page
            if not page.next_page_token:
                return
            listing.page_token = page.next_page_token
