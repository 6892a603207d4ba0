"""Contacts, their identities and merges in SQLite (SPEC S-5)."""

from __future__ import annotations

import sqlite3

from services.kit.errors import NotFound, StateConflict
from services.kit.sqlite import Database
from services.memory.episodic.adapters.sqlite.agents import require_agent
from services.memory.episodic.app.ports import Page
from services.memory.episodic.domain.contacts import must_merge
from services.memory.episodic.domain.model import Contact

# A contact and all that were merged into it, at any depth, itself first.
SET = """
    WITH RECURSIVE members(id, depth) AS (
        SELECT :contact, 0
        UNION
        SELECT c.id, depth + 1 FROM contacts c JOIN members m ON c.merged_into = m.id
        WHERE c.tenant = :tenant AND c.agent_id = :agent AND c.merged_into IS NOT NULL
    )
"""


class SqliteContacts:
    """A ContactStore."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def resolve(self, tenant: str, identity: str, new: Contact) -> tuple[Contact, bool]:
        """The contact with the identity; else adds `new` with it."""

        def find(connection: sqlite3.Connection) -> Contact | None:
            require_agent(connection, tenant, new.agent_id)
            holder = _holder(connection, tenant, new.agent_id, identity)
            return None if holder is None else _final_contact(connection, tenant, new.agent_id, holder)

        def add(connection: sqlite3.Connection) -> tuple[Contact, bool]:
            found = find(connection)
            if found is not None:
                return found, False
            connection.execute(
                "INSERT INTO contacts (tenant, agent_id, id, display_name, create_time)"
                " VALUES (?, ?, ?, ?, ?)",
                (tenant, new.agent_id, new.id, new.display_name, new.create_time),
            )
            _insert_identity(connection, tenant, new.agent_id, new.id, identity)
            return _contact(connection, tenant, new.agent_id, new.id), True

        known = await self._database.read(find)
        return (known, False) if known is not None else await self._database.write(add)

    async def get(self, tenant: str, agent_id: str, contact_id: str) -> Contact:
        """Reads one."""
        return await self._database.read(lambda c: _final_contact(c, tenant, agent_id, contact_id))

    async def list(self, tenant: str, agent_id: str, *, limit: int, after: str | None) -> Page[Contact, str]:
        """By id, without merged ones."""

        def work(connection: sqlite3.Connection) -> Page[Contact, str]:
            require_agent(connection, tenant, agent_id)
            rows = connection.execute(
                "SELECT id FROM contacts WHERE tenant = ? AND agent_id = ? AND id > ? AND merged_into IS NULL"
                " ORDER BY id LIMIT ?",
                (tenant, agent_id, after or "", limit + 1),
            ).fetchall()
            items = [_contact(connection, tenant, agent_id, row["id"]) for row in rows[:limit]]
            return Page(items=items, last=items[-1].id if len(rows) > limit else None)

        return await self._database.read(work)

    async def link(self, tenant: str, agent_id: str, contact_id: str, identity: str) -> Contact:
        """Adds an identity to a contact."""

        def work(connection: sqlite3.Connection) -> Contact:
            final = final_id(connection, tenant, agent_id, contact_id)
            holder = _holder(connection, tenant, agent_id, identity)
            if holder is None:
                _insert_identity(connection, tenant, agent_id, contact_id, identity)
            elif final_id(connection, tenant, agent_id, holder) != final:
                raise StateConflict("another contact holds this identity")
            return _contact(connection, tenant, agent_id, final)

        return await self._database.write(work)

    async def merge(self, tenant: str, agent_id: str, source: str, target: str) -> Contact:
        """Makes one contact part of another."""

        def work(connection: sqlite3.Connection) -> Contact:
            source_final = final_id(connection, tenant, agent_id, source)
            target_final = final_id(connection, tenant, agent_id, target)
            if must_merge(source=source, target=target, source_final=source_final, target_final=target_final):
                _point(connection, tenant, agent_id, source, target_final)
            return _contact(connection, tenant, agent_id, target_final)

        return await self._database.write(work)

    async def unmerge(self, tenant: str, agent_id: str, contact_id: str) -> Contact:
        """Undoes a merge."""

        def work(connection: sqlite3.Connection) -> Contact:
            if final_id(connection, tenant, agent_id, contact_id) == contact_id:
                raise StateConflict("the contact is not merged into another")
            _point(connection, tenant, agent_id, contact_id, None)
            return _contact(connection, tenant, agent_id, contact_id)

        return await self._database.write(work)


def final_id(connection: sqlite3.Connection, tenant: str, agent_id: str, contact_id: str) -> str:
    """The end of a contact's chain of merges. Raises NotFound (agent, contact)."""
    current = contact_id
    while True:
        row = connection.execute(
            "SELECT merged_into FROM contacts WHERE tenant = ? AND agent_id = ? AND id = ?",
            (tenant, agent_id, current),
        ).fetchone()
        if row is None:
            require_agent(connection, tenant, agent_id)
            raise NotFound("contact", contact_id)
        if row["merged_into"] is None:
            return current
        current = row["merged_into"]


def member_ids(connection: sqlite3.Connection, tenant: str, agent_id: str, contact_id: str) -> list[str]:
    """A contact and all that were merged into it, itself first."""
    rows = connection.execute(
        SET + "SELECT id FROM members ORDER BY depth, id",
        {"tenant": tenant, "agent": agent_id, "contact": contact_id},
    )
    return [row["id"] for row in rows]


def _final_contact(connection: sqlite3.Connection, tenant: str, agent_id: str, contact_id: str) -> Contact:
    return _contact(connection, tenant, agent_id, final_id(connection, tenant, agent_id, contact_id))


def _contact(connection: sqlite3.Connection, tenant: str, agent_id: str, contact_id: str) -> Contact:
    key = {"tenant": tenant, "agent": agent_id, "contact": contact_id}
    row = connection.execute(
        "SELECT display_name, create_time, merged_into FROM contacts"
        " WHERE tenant = :tenant AND agent_id = :agent AND id = :contact",
        key,
    ).fetchone()
    identities = connection.execute(
        SET + "SELECT identity FROM members m JOIN identities i ON i.contact_id = m.id"
        " WHERE i.tenant = :tenant AND i.agent_id = :agent ORDER BY depth, number",
        key,
    )
    return Contact(
        id=contact_id,
        agent_id=agent_id,
        display_name=row["display_name"],
        create_time=row["create_time"],
        identities=tuple(found["identity"] for found in identities),
        merged_into=row["merged_into"] or "",
        merged_ids=tuple(member_ids(connection, tenant, agent_id, contact_id)[1:]),
    )


def _holder(connection: sqlite3.Connection, tenant: str, agent_id: str, identity: str) -> str | None:
    row = connection.execute(
        "SELECT contact_id FROM identities WHERE tenant = ? AND agent_id = ? AND identity = ?",
        (tenant, agent_id, identity),
    ).fetchone()
    return None if row is None else str(row["contact_id"])


def _insert_identity(
    connection: sqlite3.Connection, tenant: str, agent_id: str, contact_id: str, identity: str
) -> None:
    connection.execute(
        "INSERT INTO identities (tenant, agent_id, identity, contact_id) VALUES (?, ?, ?, ?)",
        (tenant, agent_id, identity, contact_id),
    )


def _point(
    connection: sqlite3.Connection, tenant: str, agent_id: str, contact_id: str, target: str | None
) -> None:
    connection.execute(
        "UPDATE contacts SET merged_into = ? WHERE tenant = ? AND agent_id = ? AND id = ?",
        (target, tenant, agent_id, contact_id),
    )
