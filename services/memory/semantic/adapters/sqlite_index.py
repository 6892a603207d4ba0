"""Registry and words of the embedded profile: one SQLite file, changed as one."""

from __future__ import annotations

from collections.abc import Sequence

from services.kit.sql import Script, SqlDatabase
from services.memory.semantic.adapters.sql.items import SqlRegistry
from services.memory.semantic.adapters.sql.items_writing import (
    register_memories,
    register_messages,
    unregister_memories,
)
from services.memory.semantic.adapters.words_fts import FtsWords, put_words, remove_words
from services.memory.semantic.app.item_ports import MemoryDocument, MessageDocument
from services.memory.semantic.app.items import SplitItems, memory_words, message_words
from services.memory.semantic.domain.vectors import Bucket, ContentClass


class SqliteItemIndex(SplitItems):
    """`ItemIndex` over one file; an item and its words come and go in one transaction."""

    def __init__(self, database: SqlDatabase) -> None:
        super().__init__(registry=SqlRegistry(database), words=FtsWords(database))
        self._database = database

    async def put_messages(self, tenant: str, agent_id: str, documents: Sequence[MessageDocument]) -> None:
        """Adds or replaces both."""
        bucket = Bucket(tenant=tenant, agent=agent_id, content=ContentClass.MESSAGE)

        def script() -> Script[None]:
            yield from register_messages(tenant, agent_id, [document.message for document in documents])
            yield from put_words(bucket, [message_words(document) for document in documents])

        await self._database.write(script)

    async def put_memories(self, bucket: Bucket, documents: Sequence[MemoryDocument]) -> None:
        """Adds or replaces both."""

        def script() -> Script[None]:
            yield from register_memories(bucket, documents)
            yield from put_words(bucket, [memory_words(document) for document in documents])

        await self._database.write(script)

    async def remove_memories(self, bucket: Bucket, memory_ids: Sequence[str]) -> None:
        """Removes both."""

        def script() -> Script[None]:
            yield from remove_words(bucket, memory_ids)
            yield from unregister_memories(bucket, memory_ids)

        await self._database.write(script)
