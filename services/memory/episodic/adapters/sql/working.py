"""Working memory as a whole, and its stores over one database (W-1 to W-5)."""

from __future__ import annotations

from services.kit.sql import Script, SqlDatabase
from services.memory.episodic.adapters.sql.blocks import SqlBlocks
from services.memory.episodic.adapters.sql.blocks_entries import SqlEntries, select_loaded
from services.memory.episodic.adapters.sql.checkpoints import SqlCheckpoints, select_checkpoint
from services.memory.episodic.adapters.sql.conversations import conversation_row
from services.memory.episodic.adapters.sql.notes import SqlNotes, select_notes
from services.memory.episodic.adapters.sql.prompts import SqlPrompts
from services.memory.episodic.adapters.sql.tasks import SqlTasks, select_task
from services.memory.episodic.app.working_ports import Stored, WorkingStores
from services.memory.episodic.domain.model import ConversationKey
from services.memory.episodic.domain.working import WorkingLimits


class SqlWorking:
    """A WorkingStore."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def read(self, key: ConversationKey) -> Stored:
        """In one snapshot."""

        def script() -> Script[Stored]:
            row = yield from conversation_row(key)
            number = row["number"]
            return Stored(
                notes=(yield from select_notes(key.tenant, number)),
                task=(yield from select_task(key.tenant, number)),
                checkpoint=(yield from select_checkpoint(key.tenant, number)),
                loaded=(yield from select_loaded(key.tenant, number)),
            )

        return await self._database.read(script)


def working_stores(database: SqlDatabase, limits: WorkingLimits) -> WorkingStores:
    """All stores of working memory."""
    return WorkingStores(
        notes=SqlNotes(database),
        tasks=SqlTasks(database),
        checkpoints=SqlCheckpoints(database, limits),
        blocks=SqlBlocks(database),
        entries=SqlEntries(database),
        prompts=SqlPrompts(database),
        working=SqlWorking(database),
    )
