"""Contacts, their identities and merges (SPEC S-5)."""

from __future__ import annotations

from services.kit.errors import NotFound, StateConflict
from services.kit.sql import Script, SqlDatabase, execute, fetch, first
from services.memory.episodic.adapters.sql.agents import require_agent
from services.memory.episodic.app.ports import Page
from services.memory.episodic.domain.contacts import must_merge
from services.memory.episodic.domain.model import Contact


class SqlContacts:
    """A ContactStore."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def resolve(self, tenant: str, identity: str, new: Contact) -> tuple[Contact, bool]:
        """The contact with the identity; else adds `new` with it."""
        known = await self._database.read(lambda: _with_identity(tenant, new.agent_id, identity))
        if known is not None:
            return known, False
        return await self._database.write(lambda: _resolve(tenant, identity, new))

    async def get(self, tenant: str, agent_id: str, contact_id: str) -> Contact:
        """Reads one."""
        return await self._database.read(lambda: _final_contact(tenant, agent_id, contact_id))

    async def list(self, tenant: str, agent_id: str, *, limit: int, after: str | None) -> Page[Contact, str]:
        """By id, without merged ones."""
        return await self._database.read(lambda: _list(tenant, agent_id, limit, after))

    async def link(self, tenant: str, agent_id: str, contact_id: str, identity: str) -> Contact:
        """Adds an identity to a contact."""

        def script() -> Script[Contact]:
            yield from require_agent(tenant, agent_id, lock=True)
            final = yield from final_id(tenant, agent_id, contact_id)
            holder = yield from _holder(tenant, agent_id, identity)
            if holder is None:
                yield from _add_identity(tenant, agent_id, contact_id, identity)
            elif (yield from final_id(tenant, agent_id, holder)) != final:
                raise StateConflict("another contact holds this identity")
            return (yield from _contact(tenant, agent_id, final))

        return await self._database.write(script)

    async def merge(self, tenant: str, agent_id: str, source: str, target: str) -> Contact:
        """Makes one contact part of another."""

        def script() -> Script[Contact]:
            yield from require_agent(tenant, agent_id, lock=True)
            source_final = yield from final_id(tenant, agent_id, source)
            target_final = yield from final_id(tenant, agent_id, target)
            if must_merge(source=source, target=target, source_final=source_final, target_final=target_final):
                yield from _point(tenant, agent_id, source, target_final)
            return (yield from _contact(tenant, agent_id, target_final))

        return await self._database.write(script)

    async def unmerge(self, tenant: str, agent_id: str, contact_id: str) -> Contact:
        """Undoes a merge."""

        def script() -> Script[Contact]:
            yield from require_agent(tenant, agent_id, lock=True)
            if (yield from final_id(tenant, agent_id, contact_id)) == contact_id:
                raise StateConflict("the contact is not merged into another")
            yield from _point(tenant, agent_id, contact_id, None)
            return (yield from _contact(tenant, agent_id, contact_id))

        return await self._database.write(script)


def _with_identity(tenant: str, agent_id: str, identity: str) -> Script[Contact | None]:
    yield from require_agent(tenant, agent_id)
    holder = yield from _holder(tenant, agent_id, identity)
    return None if holder is None else (yield from _final_contact(tenant, agent_id, holder))


def _resolve(tenant: str, identity: str, new: Contact) -> Script[tuple[Contact, bool]]:
    yield from require_agent(tenant, new.agent_id, lock=True)
    found = yield from _with_identity(tenant, new.agent_id, identity)
    if found is not None:
        return found, False
    yield from execute(
        "INSERT INTO contacts (tenant, agent_id, id, display_name, create_time) VALUES (?, ?, ?, ?, ?)",
        tenant,
        new.agent_id,
        new.id,
        new.display_name,
        new.create_time,
    )
    yield from _add_identity(tenant, new.agent_id, new.id, identity)
    return (yield from _contact(tenant, new.agent_id, new.id)), True


def _list(tenant: str, agent_id: str, limit: int, after: str | None) -> Script[Page[Contact, str]]:
    yield from require_agent(tenant, agent_id)
    rows = yield from fetch(
        "SELECT id FROM contacts WHERE tenant = ? AND agent_id = ? AND id > ? AND merged_into IS NULL"
        " ORDER BY id LIMIT ?",
        tenant,
        agent_id,
        after or "",
        limit + 1,
    )
    items = []
    for row in rows[:limit]:
        items.append((yield from _contact(tenant, agent_id, row["id"])))
    return Page(items=items, last=items[-1].id if len(rows) > limit else None)


def final_id(tenant: str, agent_id: str, contact_id: str) -> Script[str]:
    """The end of a contact's chain of merges. Raises NotFound (agent, contact)."""
    current = contact_id
    while True:
        row = yield from first(
            "SELECT merged_into FROM contacts WHERE tenant = ? AND agent_id = ? AND id = ?",
            tenant,
            agent_id,
            current,
        )
        if row is None:
            yield from require_agent(tenant, agent_id)
            raise NotFound("contact", contact_id)
        if row["merged_into"] is None:
            return current
        current = row["merged_into"]


def member_ids(tenant: str, agent_id: str, contact_id: str) -> Script[list[str]]:
    """A contact and all that were merged into it: itself, then by depth, each depth by id."""
    members = [contact_id]
    level = [contact_id]
    while level:
        rows = yield from fetch(
            "SELECT id FROM contacts WHERE tenant = ? AND agent_id = ? AND merged_into IN ?? ORDER BY id",
            tenant,
            agent_id,
            level,
        )
        level = [row["id"] for row in rows]
        members += level
    return members


def _final_contact(tenant: str, agent_id: str, contact_id: str) -> Script[Contact]:
    final = yield from final_id(tenant, agent_id, contact_id)
    return (yield from _contact(tenant, agent_id, final))


def _contact(tenant: str, agent_id: str, contact_id: str) -> Script[Contact]:
    row = yield from first(
        "SELECT display_name, create_time, merged_into FROM contacts"
        " WHERE tenant = ? AND agent_id = ? AND id = ?",
        tenant,
        agent_id,
        contact_id,
    )
    if row is None:
        raise NotFound("contact", contact_id)
    members = yield from member_ids(tenant, agent_id, contact_id)
    identities = yield from fetch(
        "SELECT identity, contact_id FROM identities"
        " WHERE tenant = ? AND agent_id = ? AND contact_id IN ?? ORDER BY number",
        tenant,
        agent_id,
        members,
    )
    ordered = sorted(identities, key=lambda found: members.index(found["contact_id"]))
    return Contact(
        id=contact_id,
        agent_id=agent_id,
        display_name=row["display_name"],
        create_time=row["create_time"],
        identities=tuple(found["identity"] for found in ordered),
        merged_into=row["merged_into"] or "",
        merged_ids=tuple(members[1:]),
    )


def _holder(tenant: str, agent_id: str, identity: str) -> Script[str | None]:
    row = yield from first(
        "SELECT contact_id FROM identities WHERE tenant = ? AND agent_id = ? AND identity = ?",
        tenant,
        agent_id,
        identity,
    )
    return None if row is None else str(row["contact_id"])


def _add_identity(tenant: str, agent_id: str, contact_id: str, identity: str) -> Script[None]:
    yield from execute(
        "INSERT INTO identities (tenant, agent_id, identity, contact_id) VALUES (?, ?, ?, ?)",
        tenant,
        agent_id,
        identity,
        contact_id,
    )


def _point(tenant: str, agent_id: str, contact_id: str, target: str | None) -> Script[None]:
    yield from execute(
        "UPDATE contacts SET merged_into = ? WHERE tenant = ? AND agent_id = ? AND id = ?",
        target,
        tenant,
        agent_id,
        contact_id,
    )
