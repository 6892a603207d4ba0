"""Conversations."""

from __future__ import annotations

import json
from typing import Final

from services.kit.errors import Exists, FieldProblem, NotFound
from services.kit.sql import Row, Script, SqlDatabase, Value, execute, fetch, first
from services.memory.episodic.adapters.sql.agents import require_agent
from services.memory.episodic.adapters.sql.contacts import final_id, member_ids
from services.memory.episodic.app.ports import Page
from services.memory.episodic.domain.model import Conversation, ConversationFilter, ConversationKey, Leaf

COLUMN_NAMES = (
    "number",
    "id",
    "agent_id",
    "contact_id",
    "title",
    "create_time",
    "update_time",
    "stored_count",
    "leaf_id",
    "leaf_sequence",
    "leaf_depth",
    "leaf_tokens",
    "covered_count",
    "covered_tokens",
    "cover_requested",
    "revision",
    "has_checkpoint",
    "authors",
    "forked_from_conversation",
    "forked_from_message",
)
COLUMNS = ", ".join(COLUMN_NAMES)
MOST_SORTED: Final = 1_000
"""Conversations that changed since a moment: so many are found by that and sorted, as a page may have. Of
more, a page is soon found in the order of creation."""
HOUR: Final = 3_600_000_000
"""Microseconds; conversations_by_change has the hour, so that most appends change no index."""
CHANGED: Final = "update_hour >= ? AND update_time >= ?"


class SqlConversations:
    """A ConversationStore."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def create(self, tenant: str, conversation: Conversation) -> Conversation:
        """Adds it, or returns the one with the same id and fields."""

        def script() -> Script[Conversation]:
            row, _ = yield from insert_conversation(tenant, conversation)
            return conversation_of(row)

        return await self._database.write(script)

    async def get(self, key: ConversationKey) -> Conversation:
        """Reads one."""

        def script() -> Script[Conversation]:
            return conversation_of((yield from conversation_row(key)))

        return await self._database.read(script)

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
        """By creation."""
        return await self._database.read(
            lambda: listing(tenant, agent_id, chosen, newest_first, limit, after)
        )


def insert_conversation(tenant: str, new: Conversation) -> Script[tuple[Row, bool]]:
    """The conversation's row, locked, and whether it was added now. Raises NotFound, Exists."""
    yield from require_agent(tenant, new.agent_id)
    if new.contact_id:
        yield from final_id(tenant, new.agent_id, new.contact_id)
    forked_conversation, forked_message = new.forked_from or ("", "")
    added = yield from fetch(
        "INSERT INTO conversations (tenant, agent_id, id, contact_id, title, create_time, update_time,"
        " forked_from_conversation, forked_from_message)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING number",
        tenant,
        new.agent_id,
        new.id,
        new.contact_id,
        new.title,
        new.create_time,
        new.update_time,
        forked_conversation,
        forked_message,
    )
    key = ConversationKey(tenant=tenant, agent_id=new.agent_id, id=new.id)
    row = yield from conversation_row(key, lock=True)
    stored = conversation_of(row)
    if (stored.contact_id, stored.title, stored.forked_from) != (new.contact_id, new.title, new.forked_from):
        problem = FieldProblem(
            field="conversation_id", description="taken by a conversation with other fields"
        )
        raise Exists("a conversation with this id has other fields", fields=[problem])
    return row, bool(added)


def conversation_row(key: ConversationKey, *, lock: bool = False) -> Script[Row]:
    """COLUMNS. With `lock`, writers of the conversation go one after the other. Raises NotFound."""
    row = yield from first(
        f"SELECT {COLUMNS} FROM conversations WHERE tenant = ? AND agent_id = ? AND id = ?"
        f"{' FOR UPDATE' if lock else ''}",
        key.tenant,
        key.agent_id,
        key.id,
    )
    if row is None:
        yield from require_agent(key.tenant, key.agent_id)
        raise NotFound("conversation", key.id)
    return row


def listing(
    tenant: str, agent_id: str, chosen: ConversationFilter, newest_first: bool, limit: int, after: int | None
) -> Script[Page[Conversation, int]]:
    """A page, in the order of creation. Raises NotFound."""
    yield from require_agent(tenant, agent_id)
    where, arguments, number = "", list[Value](), "number"
    if chosen.changed_since is not None and (yield from _few(tenant, agent_id, chosen.changed_since)):
        number = "+number"  # which no index has: that of the hour is read
    if after is not None:
        where += f" AND {number} {'<' if newest_first else '>'} ?"
        arguments.append(after)
    if chosen.contact_id:
        final = yield from final_id(tenant, agent_id, chosen.contact_id)
        arguments.append((yield from member_ids(tenant, agent_id, final)))
        where += " AND contact_id <> '' AND contact_id IN ??"
    if chosen.changed_since is not None:
        where += f" AND {CHANGED}"
        arguments += (chosen.changed_since // HOUR, chosen.changed_since)
    rows = yield from fetch(
        f"SELECT {COLUMNS} FROM conversations WHERE tenant = ? AND agent_id = ?{where}"
        f" ORDER BY {number}{' DESC' if newest_first else ''} LIMIT ?",
        tenant,
        agent_id,
        *arguments,
        limit + 1,
    )
    last = rows[limit - 1]["number"] if len(rows) > limit else None
    return Page(items=[conversation_of(row) for row in rows[:limit]], last=last)


def _few(tenant: str, agent_id: str, since: int) -> Script[bool]:
    """Whether no more than MOST_SORTED of an agent changed since then."""
    more = yield from first(
        f"SELECT 1 FROM conversations WHERE tenant = ? AND agent_id = ? AND {CHANGED}"
        " ORDER BY update_hour LIMIT 1 OFFSET ?",
        *(tenant, agent_id, since // HOUR, since, MOST_SORTED),
    )
    return more is None


def conversation_of(row: Row) -> Conversation:
    """From COLUMNS."""
    forked = row["forked_from_conversation"]
    return Conversation(
        id=row["id"],
        agent_id=row["agent_id"],
        contact_id=row["contact_id"],
        title=row["title"],
        create_time=row["create_time"],
        update_time=row["update_time"],
        stored_count=row["stored_count"],
        leaf=leaf_of(row),
        authors=tuple(json.loads(row["authors"])),
        covered_count=row["covered_count"],
        forked_from=(forked, row["forked_from_message"]) if forked else None,
    )


def leaf_of(row: Row) -> Leaf:
    """The end of the active path, from COLUMNS."""
    return Leaf(
        id=row["leaf_id"],
        sequence=row["leaf_sequence"],
        depth=row["leaf_depth"],
        path_tokens=row["leaf_tokens"],
    )


def set_checkpoint_mark(tenant: str, number: int, present: bool) -> Script[None]:
    """Says on the conversation whether a turn's checkpoint is kept (W-3), so that appends needn't look."""
    yield from execute(
        "UPDATE conversations SET has_checkpoint = ? WHERE tenant = ? AND number = ?", present, tenant, number
    )
