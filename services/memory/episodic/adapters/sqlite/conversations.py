"""Conversations in SQLite."""

from __future__ import annotations

import json
import sqlite3

from services.kit.errors import Exists, FieldProblem, NotFound
from services.kit.sqlite import Database
from services.memory.episodic.adapters.sqlite.agents import require_agent
from services.memory.episodic.adapters.sqlite.contacts import final_id, member_ids
from services.memory.episodic.app.ports import Page
from services.memory.episodic.domain.model import Conversation, ConversationKey

COLUMNS = "number, id, agent_id, contact_id, title, create_time, update_time, stored_count, leaf_id, authors"


class SqliteConversations:
    """A ConversationStore."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, tenant: str, conversation: Conversation) -> Conversation:
        """Adds it, or returns the one with the same id and fields."""
        new = conversation

        def work(connection: sqlite3.Connection) -> Conversation:
            require_agent(connection, tenant, new.agent_id)
            if new.contact_id:
                final_id(connection, tenant, new.agent_id, new.contact_id)
            connection.execute(
                "INSERT INTO conversations"
                " (tenant, agent_id, id, contact_id, title, create_time, update_time)"
                " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                (tenant, new.agent_id, new.id, new.contact_id, new.title, new.create_time, new.update_time),
            )
            key = ConversationKey(tenant=tenant, agent_id=new.agent_id, id=new.id)
            stored = conversation_of(conversation_row(connection, key))
            if (stored.contact_id, stored.title) != (new.contact_id, new.title):
                problem = FieldProblem(
                    field="conversation_id", description="taken by a conversation with other fields"
                )
                raise Exists("a conversation with this id has other fields", fields=[problem])
            return stored

        return await self._database.write(work)

    async def get(self, key: ConversationKey) -> Conversation:
        """Reads one."""
        return await self._database.read(lambda c: conversation_of(conversation_row(c, key)))

    async def list(
        self, tenant: str, agent_id: str, contact_id: str, *, limit: int, after: int | None
    ) -> Page[Conversation, int]:
        """By creation."""

        def work(connection: sqlite3.Connection) -> Page[Conversation, int]:
            require_agent(connection, tenant, agent_id)
            chosen, arguments = "", [tenant, agent_id, after or 0]
            if contact_id:
                final = final_id(connection, tenant, agent_id, contact_id)
                chosen = " AND contact_id <> '' AND contact_id IN (SELECT value FROM json_each(?))"
                arguments.append(json.dumps(member_ids(connection, tenant, agent_id, final)))
            rows = connection.execute(
                f"SELECT {COLUMNS} FROM conversations WHERE tenant = ? AND agent_id = ? AND number > ?"
                f"{chosen} ORDER BY number LIMIT ?",
                (*arguments, limit + 1),
            ).fetchall()
            last = rows[limit - 1]["number"] if len(rows) > limit else None
            return Page(items=[conversation_of(row) for row in rows[:limit]], last=last)

        return await self._database.read(work)


def conversation_row(connection: sqlite3.Connection, key: ConversationKey) -> sqlite3.Row:
    """Raises NotFound (agent, conversation)."""
    row: sqlite3.Row | None = connection.execute(
        f"SELECT {COLUMNS} FROM conversations WHERE tenant = ? AND agent_id = ? AND id = ?",
        (key.tenant, key.agent_id, key.id),
    ).fetchone()
    if row is None:
        require_agent(connection, key.tenant, key.agent_id)
        raise NotFound("conversation", key.id)
    return row


def conversation_of(row: sqlite3.Row) -> Conversation:
    """From COLUMNS."""
    return Conversation(
        id=row["id"],
        agent_id=row["agent_id"],
        contact_id=row["contact_id"],
        title=row["title"],
        create_time=row["create_time"],
        update_time=row["update_time"],
        stored_count=row["stored_count"],
        leaf_id=row["leaf_id"],
        authors=tuple(json.loads(row["authors"])),
    )
