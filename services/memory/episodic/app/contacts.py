"""Use cases on contacts (SPEC S-5)."""

from __future__ import annotations

from collections.abc import Callable

from services.kit.times import Clock, to_micros
from services.memory.episodic.app.ports import ContactStore, Page
from services.memory.episodic.domain.checks import check_text
from services.memory.episodic.domain.model import Contact


class Contacts:
    """Knows people by their identities; `new_id` makes contacts' ids."""

    def __init__(self, store: ContactStore, clock: Clock, new_id: Callable[[], str]) -> None:
        self._store = store
        self._clock = clock
        self._new_id = new_id

    async def resolve(
        self, tenant: str, agent_id: str, identity: str, display_name: str
    ) -> tuple[Contact, bool]:
        """The contact with this identity, and whether this call created it. Raises InvalidField, NotFound."""
        check_text("identity", identity)
        check_text("display_name", display_name)
        new = Contact(
            id=self._new_id(),
            agent_id=agent_id,
            display_name=display_name,
            create_time=to_micros(self._clock()),
        )
        return await self._store.resolve(tenant, identity, new)

    async def get(self, tenant: str, agent_id: str, contact_id: str) -> Contact:
        """The contact, or the one that it was merged into. Raises NotFound."""
        return await self._store.get(tenant, agent_id, contact_id)

    async def list(self, tenant: str, agent_id: str, *, limit: int, after: str | None) -> Page[Contact, str]:
        """By id, without merged ones. Raises NotFound."""
        return await self._store.list(tenant, agent_id, limit=limit, after=after)

    async def link(self, tenant: str, agent_id: str, contact_id: str, identity: str) -> Contact:
        """Raises InvalidField, NotFound, StateConflict."""
        check_text("identity", identity)
        return await self._store.link(tenant, agent_id, contact_id, identity)

    async def merge(self, tenant: str, agent_id: str, source: str, target: str) -> Contact:
        """The contact that stays. Raises NotFound, StateConflict."""
        return await self._store.merge(tenant, agent_id, source, target)

    async def unmerge(self, tenant: str, agent_id: str, contact_id: str) -> Contact:
        """The contact on its own again. Raises NotFound, StateConflict."""
        return await self._store.unmerge(tenant, agent_id, contact_id)
