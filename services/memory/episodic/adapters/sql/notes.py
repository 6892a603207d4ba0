"""Notes of conversations (W-1)."""

from __future__ import annotations

from services.kit.sql import Script, SqlDatabase, execute, first
from services.memory.episodic.adapters.sql.conversations import conversation_row
from services.memory.episodic.domain.model import ConversationKey
from services.memory.episodic.domain.working import Edit, Notes, count_within


class SqlNotes:
    """A NoteStore."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def get(self, key: ConversationKey) -> Notes:
        """Reads them."""

        def script() -> Script[Notes]:
            row = yield from conversation_row(key)
            return (yield from select_notes(key.tenant, row["number"]))

        return await self._database.read(script)

    async def edit(self, key: ConversationKey, edit: Edit, *, most_tokens: int, now: int) -> Notes:
        """Changes them, one caller after the other."""
        return await self._database.write(lambda: _edit(key, edit, most_tokens, now))


def select_notes(tenant: str, conversation: int) -> Script[Notes]:
    """Those of version 0 where none were written."""
    row = yield from first(
        "SELECT text, token_count, version, update_time FROM notes WHERE tenant = ? AND conversation = ?",
        tenant,
        conversation,
    )
    if row is None:
        return Notes()
    return Notes(
        text=row["text"],
        token_count=row["token_count"],
        version=row["version"],
        update_time=row["update_time"],
    )


def _edit(key: ConversationKey, edit: Edit, most_tokens: int, now: int) -> Script[Notes]:
    number = (yield from conversation_row(key, lock=True))["number"]
    old = yield from select_notes(key.tenant, number)
    text = edit.apply(old.text)
    notes = Notes(
        text=text,
        token_count=count_within("the notes", text, most_tokens),
        version=old.version + 1,
        update_time=now,
    )
    yield from execute(
        "INSERT INTO notes (tenant, conversation, text, token_count, version, update_time)"
        " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (tenant, conversation) DO UPDATE SET text = excluded.text,"
        " token_count = excluded.token_count, version = excluded.version, update_time = excluded.update_time",
        key.tenant,
        number,
        notes.text,
        notes.token_count,
        notes.version,
        notes.update_time,
    )
    return notes
