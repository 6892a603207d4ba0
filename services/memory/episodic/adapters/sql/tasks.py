"""Ongoing tasks of conversations (W-2)."""

from __future__ import annotations

from services.kit.errors import NotFound
from services.kit.sql import Script, SqlDatabase, execute, first
from services.memory.episodic.adapters.sql.conversations import conversation_row
from services.memory.episodic.domain.model import ConversationKey
from services.memory.episodic.domain.working import Task


class SqlTasks:
    """A TaskStore."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def get(self, key: ConversationKey) -> Task:
        """Reads it."""

        def script() -> Script[Task]:
            row = yield from conversation_row(key)
            task = yield from select_task(key.tenant, row["number"])
            if task is None:
                raise NotFound("task", key.id)
            return task

        return await self._database.read(script)

    async def set(self, key: ConversationKey, task: Task) -> None:
        """Puts it in the place of the one before."""

        def script() -> Script[None]:
            number = (yield from conversation_row(key, lock=True))["number"]
            yield from execute(
                "INSERT INTO tasks (tenant, conversation, text, token_count, update_time)"
                " VALUES (?, ?, ?, ?, ?) ON CONFLICT (tenant, conversation) DO UPDATE SET"
                " text = excluded.text, token_count = excluded.token_count,"
                " update_time = excluded.update_time",
                key.tenant,
                number,
                task.text,
                task.token_count,
                task.update_time,
            )

        await self._database.write(script)

    async def clear(self, key: ConversationKey) -> None:
        """Removes it."""

        def script() -> Script[None]:
            number = (yield from conversation_row(key, lock=True))["number"]
            yield from execute("DELETE FROM tasks WHERE tenant = ? AND conversation = ?", key.tenant, number)

        await self._database.write(script)


def select_task(tenant: str, conversation: int) -> Script[Task | None]:
    """None where there is none."""
    row = yield from first(
        "SELECT text, token_count, update_time FROM tasks WHERE tenant = ? AND conversation = ?",
        tenant,
        conversation,
    )
    if row is None:
        return None
    return Task(text=row["text"], token_count=row["token_count"], update_time=row["update_time"])
