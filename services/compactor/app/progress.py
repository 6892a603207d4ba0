"""How far conversations are derived, as callers ask."""

from __future__ import annotations

from collections.abc import Sequence

from services.compactor.app.ports import ProgressStore, Reach
from services.compactor.domain.progress import Derived
from services.kit.errors import NotAllowed


class Progress:
    """The use case."""

    def __init__(self, store: ProgressStore) -> None:
        self._store = store

    async def derived(self, reach: Reach, agent_id: str, conversation_ids: Sequence[str]) -> list[Derived]:
        """By conversation and kind, those that the ledger knows of. Raises NotAllowed."""
        if reach.agents is not None and agent_id not in reach.agents:
            raise NotAllowed("the credential does not reach this agent")
        return await self._store.derived(reach.tenant, agent_id, conversation_ids)
