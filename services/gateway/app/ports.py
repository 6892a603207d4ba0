"""What the gateway's use cases need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from services.gateway.domain.keys import ApiKey, KeyChange, Rotation
from services.gateway.domain.parts import Fact, History, Passage, Turn, Working
from services.gateway.domain.themes import Theme


class KeyStore(Protocol):
    """API keys."""

    async def add(self, key: ApiKey, subject: str) -> None:
        """Stores a key, and that `subject` made it."""

    async def get(self, key_id: str) -> ApiKey | None:
        """A key by id, of any tenant."""

    async def page(self, tenant: str, after: int, limit: int) -> list[tuple[int, ApiKey]]:
        """Keys of a tenant in order of making, with the numbers that a next page begins after."""

    async def rotate(self, tenant: str, key_id: str, rotation: Rotation) -> ApiKey | None:
        """Gives a key another secret, and stores that it was so; None if the tenant has no such key.

        Raises StateConflict for a key that is revoked or expired.
        """

    async def revoke(self, tenant: str, key_id: str, now: datetime, subject: str) -> ApiKey | None:
        """Revokes, and stores that it was so (again is no change); None if the tenant has no such key.

        Raises StateConflict for the last usable key of the tenant that governs.
        """

    async def changes(
        self, tenant: str, key_id: str | None, before: int | None, limit: int
    ) -> list[tuple[int, KeyChange]]:
        """What was done to a key, or to all of a tenant, newest first, with the numbers to go on before."""

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
    version: int = 0
    message_id: str = ""
    depth: int = 0
    failures: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """The themes of a version of the attractor, the heaviest first; `failures` say why they can't be had."""

    themes: tuple[Theme, ...] = ()
    version: int = 0
    failures: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What recall gave for the new message, best first; failures are passed on as they came."""

    older: tuple[Turn, ...] = ()
    memories: tuple[Fact, ...] = ()
    documents: tuple[Passage, ...] = ()
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

    async def window(
        self, agent_id: str, conversation_id: str, budget: int, rolling: Rolling, *, model: str = ""
    ) -> History:
        """The slice of its active path that fits; without overlays the rolling summary takes their place.

        In tokens of the model, where its tokenizer is there.
        """

    async def standing(self, agent_id: str, contact_ids: Sequence[str]) -> Found:
        """Memories that always show, most relevant first, chosen anew only when memories changed; a failure
        where they can't be had."""

    async def themes(self, agent_id: str, contact_ids: Sequence[str], version: int = 0) -> Told:
        """The themes of its conversations: of a version of the attractor, 0 for the pinned or newest one.

        Where the agent knows anybody else than the person with these ids, only those that a person gave a
        name: the others are called by words of all conversations. A failure where they can't be had. Raises
        NotFound for a version that is not there.
        """

    async def find(
        self,
        agent_id: str,
        conversation_id: str,
        contact_ids: Sequence[str],
        message: str,
        wait_for: Sequence[object],
    ) -> Found:
        """Older messages, memories and parts of derived documents that match the new message.

        Empty where recall is down.
        """

    async def count_access(self, agent_id: str, memory_ids: Sequence[str]) -> None:
        """Counts memories that were placed."""
