"""Use cases on conversations."""

from __future__ import annotations

from collections.abc import Callable

from services.kit.times import Clock, to_micros
from services.memory.episodic.app.ports import ConversationStore, Page
from services.memory.episodic.domain.checks import check_text
from services.memory.episodic.domain.model import Conversation, ConversationFilter, ConversationKey


class Conversations:
    """Creates and reads conversations; `new_id` makes the ids that callers leave out."""

    def __init__(self, store: ConversationStore, clock: Clock, new_id: Callable[[], str]) -> None:
        self._store = store
        self._clock = clock
        self._new_id = new_id

    async def create(
        self, tenant: str, agent_id: str, conversation_id: str, contact_id: str, title: str
    ) -> Conversation:
        """New, or as it was created before. Raises InvalidField, NotFound (agent, contact), Exists."""
        check_text("title", title)
        now = to_micros(self._clock())
        conversation = Conversation(
            id=conversation_id or self._new_id(),
            agent_id=agent_id,
            contact_id=contact_id,
            title=title,
            create_time=now,
            update_time=now,
        )
        return await self._store.create(tenant, conversation)

    async def get(self, key: ConversationKey) -> Conversation:
        """Raises NotFound."""
        return await self._store.get(key)

    async def list(
        self,
        tenant: str,
        agent_id: str,
        chosen: ConversationFilter,
        *,
        newest_first: bool,
        limit: int,
        after: int | None,
    ) -> Page[Conversation, int]:
        """By creation; of one person, with those of merged contacts. Raises NotFound."""
        return await self._store.list(
            tenant, agent_id, chosen, newest_first=newest_first, limit=limit, after=after
        )
