"""The registry of what is indexed: a SQLite file of its own, or tables in the service's PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from services.kit.errors import DependencyDown
from services.kit.sql import Row, Script, SqlDatabase, Value, execute, fetch, first
from services.kit.times import from_micros
from services.memory.semantic.adapters.sql.items_writing import (
    MESSAGE,
    forget,
    register_memories,
    register_messages,
    unregister_memories,
)
from services.memory.semantic.app.item_ports import MemoryDocument
from services.memory.semantic.domain.items import IndexedMessage, Progress, SourceMessage
from services.memory.semantic.domain.vectors import Bucket

MAX_AUTHORS = 64
WHOLE_FACT, REVISION_FACT, WORDS_FACT = "whole", "revision", "words"

SET_FACT = (
    "INSERT INTO index_facts (name, value) VALUES (?, ?)"
    " ON CONFLICT (name) DO UPDATE SET value = excluded.value"
)


class SqlRegistry:
    """`Registry` over a SqlDatabase that has the index's tables.

    With a `revision`, what registers an item first sees that the tables are of this revision: replicas of
    two versions of the service may share them while one is replaced by the other.
    """

    def __init__(self, database: SqlDatabase, *, revision: str = "") -> None:
        self._database = database
        self._revision = revision

    async def put_messages(self, tenant: str, agent_id: str, messages: Sequence[SourceMessage]) -> None:
        """Registers messages. Raises DependencyDown where the registry is of another revision."""

        def script() -> Script[None]:
            yield from _check_revision(self._revision)
            yield from register_messages(tenant, agent_id, messages)

        await self._database.write(script)

    async def put_memories(self, bucket: Bucket, documents: Sequence[MemoryDocument]) -> None:
        """Registers memories. Raises DependencyDown likewise."""

        def script() -> Script[None]:
            yield from _check_revision(self._revision)
            yield from register_memories(bucket, documents)

        await self._database.write(script)

    async def remove_memories(self, bucket: Bucket, memory_ids: Sequence[str]) -> None:
        """Removes memories."""
        await self._database.write(lambda: unregister_memories(bucket, memory_ids))

    async def features(
        self, tenant: str, agent_id: str, item_ids: Sequence[str]
    ) -> dict[str, IndexedMessage]:
        """Of known messages."""
        if not item_ids:
            return {}
        rows = await self._database.read(
            lambda: fetch(
                "SELECT item_id, conversation_id, sequence, message_id, contact_id, role, author, session,"
                " time FROM items WHERE tenant = ? AND agent_id = ? AND class = ? AND item_id IN ??",
                tenant,
                agent_id,
                MESSAGE,
                list(item_ids),
            )
        )
        return {row["item_id"]: _indexed(row) for row in rows}

    async def authors(
        self, tenant: str, agent_id: str, conversation_id: str, contact_ids: Sequence[str] = ()
    ) -> list[str]:
        """Distinct ones."""
        where, values = "", list[Value]()
        if conversation_id:
            where, values = " AND conversation_id = ?", [conversation_id]
        if contact_ids:
            where, values = where + " AND contact_id IN ??", [*values, list(contact_ids)]
        rows = await self._database.read(
            lambda: fetch(
                "SELECT DISTINCT author FROM authors WHERE tenant = ? AND agent_id = ?"
                f"{where} LIMIT {MAX_AUTHORS}",
                tenant,
                agent_id,
                *values,
            )
        )
        return sorted(row["author"] for row in rows)

    async def progress(
        self, tenant: str, agent_id: str, conversation_ids: Sequence[str]
    ) -> dict[str, Progress]:
        """Of known conversations."""
        if not conversation_ids:
            return {}
        rows = await self._database.read(
            lambda: fetch(
                "SELECT conversation_id, indexed_count, indexed_sequence FROM conversation_progress"
                " WHERE tenant = ? AND agent_id = ? AND conversation_id IN ??",
                tenant,
                agent_id,
                list(conversation_ids),
            )
        )
        found = {row["conversation_id"]: _progress(row) for row in rows}
        return {id_: found[id_] for id_ in conversation_ids if id_ in found}

    async def missing(
        self, tenant: str, agent_id: str, conversation_id: str, upto: int, *, limit: int
    ) -> list[int]:
        """Looked for beyond what the conversation's progress says is there."""
        after, known = await self._database.read(lambda: _beyond(tenant, agent_id, conversation_id, upto))
        return list(islice((n for n in range(after + 1, upto + 1) if n not in known), limit))

    async def buckets(self) -> list[tuple[str, str, str]]:
        """Those with items."""
        rows = await self._database.read(lambda: fetch("SELECT DISTINCT tenant, agent_id, class FROM items"))
        return [(row["tenant"], row["agent_id"], row["class"]) for row in rows]

    async def item_ids(self, tenant: str, agent_id: str, class_: str, after: str, limit: int) -> list[str]:
        """In the order of their bytes."""
        rows = await self._database.read(
            lambda: fetch(
                "SELECT item_id FROM items WHERE tenant = ? AND agent_id = ? AND class = ? AND item_id > ?"
                " ORDER BY item_id LIMIT ?",
                tenant,
                agent_id,
                class_,
                after,
                limit,
            )
        )
        return [row["item_id"] for row in rows]

    async def known_memories(self, bucket: Bucket, memory_ids: Sequence[str]) -> set[str]:
        """Those that are registered."""
        if not memory_ids:
            return set()
        rows = await self._database.read(
            lambda: fetch(
                "SELECT item_id FROM items WHERE tenant = ? AND agent_id = ? AND class = ? AND item_id IN ??",
                bucket.tenant,
                bucket.agent,
                bucket.content.value,
                list(memory_ids),
            )
        )
        return {row["item_id"] for row in rows}

    async def whole(self) -> bool:
        """What was set last."""
        return await self._fact(WHOLE_FACT) == "yes"

    async def set_whole(self, whole: bool) -> None:
        """For every replica."""
        await self._set_fact(WHOLE_FACT, "yes" if whole else "no")

    async def adopt(self, words: str) -> bool:
        """Makes the registry that of the word index named `words`; whether it forgot all that it had.

        It forgets when it was of another index or of another revision: what it names is not in this one. The
        new name is written last, so that a start that was broken off begins again.
        """
        if (await self._fact(REVISION_FACT), await self._fact(WORDS_FACT)) == (self._revision, words):
            return False
        await self._set_fact(REVISION_FACT, self._revision)
        await self._set_fact(WORDS_FACT, "")
        await self.set_whole(False)
        for tenant, agent_id in sorted({bucket[:2] for bucket in await self.buckets()}):
            await self._forget(tenant, agent_id)
        await self._set_fact(WORDS_FACT, words)
        return True

    async def _forget(self, tenant: str, agent_id: str) -> None:
        await self._database.write(lambda: forget(tenant, agent_id))

    async def _fact(self, name: str) -> str:
        row = await self._database.read(lambda: first("SELECT value FROM index_facts WHERE name = ?", name))
        return "" if row is None else str(row["value"])

    async def _set_fact(self, name: str, value: str) -> None:
        await self._database.write(lambda: execute(SET_FACT, name, value))


def _check_revision(revision: str) -> Script[None]:
    if revision:
        row = yield from first("SELECT value FROM index_facts WHERE name = ?", REVISION_FACT)
        if row is not None and row["value"] != revision:
            raise DependencyDown("the index belongs to another version of the service")


def _beyond(tenant: str, agent_id: str, conversation_id: str, upto: int) -> Script[tuple[int, set[int]]]:
    """The sequence that a conversation has reached, and what it has after that."""
    reached = yield from first(
        "SELECT indexed_sequence FROM conversation_progress"
        " WHERE tenant = ? AND agent_id = ? AND conversation_id = ?",
        tenant,
        agent_id,
        conversation_id,
    )
    after = 0 if reached is None else int(reached["indexed_sequence"])
    if after >= upto:
        return after, set()
    rows = yield from fetch(
        "SELECT sequence FROM items WHERE tenant = ? AND agent_id = ? AND conversation_id = ?"
        " AND sequence > ? AND sequence <= ?",
        tenant,
        agent_id,
        conversation_id,
        after,
        upto,
    )
    return after, {row["sequence"] for row in rows}


def _progress(row: Row) -> Progress:
    return Progress(
        conversation_id=row["conversation_id"], count=row["indexed_count"], sequence=row["indexed_sequence"]
    )


def _indexed(row: Row) -> IndexedMessage:
    return IndexedMessage(
        conversation_id=row["conversation_id"],
        sequence=row["sequence"],
        message_id=row["message_id"],
        contact_id=row["contact_id"],
        role=row["role"],
        author=row["author"],
        session=row["session"],
        time=from_micros(row["time"]),
    )
