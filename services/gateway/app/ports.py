"""What the gateway's use cases need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from services.gateway.domain.keys import ApiKey
from services.gateway.domain.parts import Fact, History, Turn, Working
from services.gateway.domain.themes import Theme


class KeyStore(Protocol):
    """API keys."""

    async def add(self, key: ApiKey) -> None:
        """Stores a key."""

    async def get(self, key_id: str) -> ApiKey | None:
        """A key by id, of any tenant."""

    async def page(self, tenant: str, after: int, limit: int) -> list[tuple[int, ApiKey]]:
        """Keys of a tenant in order of making, with the numbers that a next page begins after."""

    async def revoke(self, tenant: str, key_id: str, now: datetime) -> ApiKey | None:
        """Revokes (again is no change); None if the tenant has no such key."""

    async def any_operator(self, now: datetime) -> bool:
        """Whether a usable operator's key without limits exists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationView:
    """A conversation: its frozen system prompt and the contact ids whose memories count.

    Its active path has `depth` messages, of which `covered` lie under overlays.
    """

    system_prompt: str
    prompt_revision: int
    contact_ids: tuple[str, ...]
    depth: int = 0
    covered: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rolling:
    """The rolling summary of a conversation, "" for none: of a path up to a message, which is its `depth`th.

    `failures` say why it can't be had.
    """

    text: str = ""
    message_id: str = ""
    depth: int = 0
    failures: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """The attractor's themes, the heaviest first; `failures` say why they can't be had."""

    themes: tuple[Theme, ...] = ()
    failures: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What recall gave for the new message, best first; failures are passed on as they came."""

    older: tuple[Turn, ...] = ()
    memories: tuple[Fact, ...] = ()
    failures: tuple[object, ...] = ()
    unindexed: tuple[object, ...] = ()


class PromptSources(Protocol):
    """Where the prompt's ingredients come from. Raises NotFound for an unknown agent or conversation."""

    async def conversation(self, agent_id: str, conversation_id: str) -> ConversationView:
        """Its system prompt as it was frozen (W-5), and its contact's ids."""

    async def working(self, agent_id: str, conversation_id: str) -> Working:
        """Its working memory as of one moment."""

    async def rolling(self, agent_id: str, conversation_id: str) -> Rolling:
        """Its rolling summary; a failure where it can't be had."""

    async def window(self, agent_id: str, conversation_id: str, budget: int, rolling: Rolling) -> History:
        """The slice of its active path that fits; without overlays the rolling summary takes their place."""

    async def standing(self, agent_id: str, contact_ids: Sequence[str]) -> Found:
        """Memories that always show, most relevant first; a failure where they can't be had."""

    async def themes(self, agent_id: str) -> Told:
        """The themes of its conversations; a failure where they can't be had."""

    async def find(
        self,
        agent_id: str,
        conversation_id: str,
        contact_ids: Sequence[str],
        message: str,
        wait_for: Sequence[object],
    ) -> Found:
        """Older messages and memories that match the new message; empty where recall is down."""

    async def count_access(self, agent_id: str, memory_ids: Sequence[str]) -> None:
        """Counts memories that were placed."""
