"""Use cases on the frozen system prompt (SPEC W-5)."""

from __future__ import annotations

from services.kit.times import Clock, to_micros
from services.memory.episodic.app.working_ports import PromptStore
from services.memory.episodic.domain.model import ConversationKey
from services.memory.episodic.domain.prompts import SystemPrompt


class SystemPrompts:
    """Writes a system prompt down once and gives it back the same."""

    def __init__(self, store: PromptStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def get(self, key: ConversationKey) -> SystemPrompt:
        """The same until it is refreshed. Raises NotFound."""
        return await self._store.get(key, now=to_micros(self._clock()))

    async def refresh(self, key: ConversationKey) -> SystemPrompt | None:
        """Rendered anew; with an empty conversation id each of the agent's when it is next read, and None.

        Raises NotFound.
        """
        if not key.id:
            await self._store.refresh_all(key.tenant, key.agent_id)
            return None
        return await self._store.refresh(key, now=to_micros(self._clock()))
