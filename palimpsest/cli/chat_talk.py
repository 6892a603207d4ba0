"""Who answers in `palimpsest chat`: here, the suite's model."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import timedelta
from typing import Protocol

from palimpsest.client import AsyncClient
from palimpsest.models import ChatEvent

WAIT = timedelta(seconds=60)
"""For a turn of the same conversation that runs elsewhere."""


class Talk(Protocol):
    """Turns of one conversation."""

    def turn(self, text: str) -> AsyncGenerator[ChatEvent, None]:
        """The events of a turn. Cancelled or closed, the answer is kept as far as it came."""


class SuiteTalk:
    """The suite does it all."""

    def __init__(
        self, client: AsyncClient, conversation_id: str, author: str, *, use_tools: bool = True
    ) -> None:
        self._client = client
        self._conversation_id = conversation_id
        self._author = author
        self._use_tools = use_tools

    def turn(self, text: str) -> AsyncGenerator[ChatEvent, None]:
        """See Talk."""
        return self._client.chat(
            self._conversation_id, text, author=self._author, wait=WAIT, use_tools=self._use_tools
        )
