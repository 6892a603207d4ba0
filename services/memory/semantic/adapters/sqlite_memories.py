"""The canonical rows of memories in SQLite."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from services.kit.ids import new_id
from services.kit.outbox import put
from services.kit.sqlite import Database
from services.kit.times import to_micros
from services.memory.semantic.adapters.index_jobs import index_job, message_job
from services.memory.semantic.adapters.sqlite_memory_requests import answered, keep_answer
from services.memory.semantic.adapters.sqlite_memory_rows import (
    COLUMNS,
    LIVE,
    forgotten_with,
    marks,
    memory_of,
    named,
    names,
    of_kinds,
    read_one,
)
from services.memory.semantic.app.ports import KnownConversation, LiveMemory, MemoryQuery, Remembered
from services.memory.semantic.domain.memory import (
    CONFIDENCE,
    Kind,
    Memory,
    MessageRef,
    NewMemory,
    Scope,
    key_segments,
    kind_of,
)

MAX_VERSIONS = 1000
STANDING_CANDIDATES = 200


class SqliteMemoryStore:
    """One row a version; the newest of a key and bucket is the live one."""

    def __init__(self, database: Database, task_lifetime: timedelta) -> None:
        self._database = database
        self._task_lifetime = task_lifetime

    async def remember(self, tenant: str, new: NewMemory, now: datetime) -> Remembered:
        """See the port."""
        return await self._database.write(lambda c: self._remember(c, tenant, new, now))

    def _remember(self, c: sqlite3.Connection, tenant: str, new: NewMemory, now: datetime) -> Remembered:
        known = answered(c, tenant, new)
        if known is not None:
            return known
        heads = self._heads(c, tenant, new, now)
        live = [memory for memory in heads if memory.live(now)]
        if len(live) == 1 and (live[0].value, live[0].fact_type) == (new.value, new.fact_type):
            result = Remembered(memory=live[0], created=False)
        else:
            memory = self._insert(c, tenant, new, heads, now)
            result = Remembered(memory=memory, created=True)
        keep_answer(c, tenant, new, result, now)
        return result

    def _heads(self, c: sqlite3.Connection, tenant: str, new: NewMemory, now: datetime) -> list[Memory]:
        """The newest version of each bucket: expired ones, which a new one supersedes too, then live ones."""
        buckets = new.scope.contact_ids or ("",)
        rows = c.execute(
            f"SELECT {COLUMNS} FROM memories WHERE tenant = ? AND agent_id = ? AND key = ?"
            f" AND contact_id IN ({marks(buckets)}) AND superseded_by = '' ORDER BY number",
            (tenant, new.scope.agent_id, new.key, *buckets),
        )
        return sorted((memory_of(row) for row in rows), key=lambda memory: memory.live(now))

    def _insert(
        self, c: sqlite3.Connection, tenant: str, new: NewMemory, heads: Sequence[Memory], now: datetime
    ) -> Memory:
        agent, bucket, memory_id = new.scope.agent_id, new.scope.write_bucket, new_id()
        valid_from = new.valid_from or now
        for old in heads:
            c.execute(
                "UPDATE memories SET superseded_by = ?, valid_to = ?, updated = ?, revision = revision + 1"
                " WHERE tenant = ? AND agent_id = ? AND memory_id = ?",
                (
                    memory_id,
                    to_micros(max(valid_from, old.valid_from)),
                    to_micros(now),
                    tenant,
                    agent,
                    old.id,
                ),
            )
            put(c, tenant, [index_job(old.agent_id, old.id, old.revision + 1)])
        version = c.execute(
            "SELECT coalesce(max(version), 0) + 1 FROM memories"
            " WHERE tenant = ? AND agent_id = ? AND contact_id = ? AND key = ?",
            (tenant, agent, bucket, new.key),
        ).fetchone()[0]
        task = kind_of(new.fact_type) is Kind.TASK
        c.execute(
            "INSERT INTO memories (tenant, kind, " + COLUMNS + ") VALUES (" + marks(range(24)) + ")",
            (
                tenant,
                int(kind_of(new.fact_type)),
                memory_id,
                agent,
                new.key,
                new.value,
                int(new.fact_type),
                bucket,
                int(new.pinned or any(old.pinned for old in heads)),
                CONFIDENCE[new.source],
                int(new.source),
                json.dumps([[r.conversation_id, r.message_id] for r in new.provenance], ensure_ascii=False),
                to_micros(now),
                to_micros(now),
                None,
                0,
                to_micros(valid_from),
                None,
                "",
                heads[-1].id if heads else "",
                version,
                to_micros(now + self._task_lifetime) if task else None,
                1,
                0,
            ),
        )
        number = c.execute("SELECT last_insert_rowid()").fetchone()[0]
        c.executemany(
            "INSERT INTO key_segments VALUES (?, ?, ?, ?)",
            [(tenant, agent, segment, number) for segment in key_segments(new.key)],
        )
        c.executemany(
            "INSERT OR IGNORE INTO memory_sources VALUES (?, ?, ?, ?, ?)",
            [(tenant, agent, r.conversation_id, r.message_id, memory_id) for r in new.provenance],
        )
        put(c, tenant, [index_job(agent, memory_id, 1)])
        return read_one(c, tenant, agent, memory_id)

    async def get(self, tenant: str, agent_id: str, memory_ids: Sequence[str]) -> dict[str, Memory]:
        """See the port."""
        ids = list(dict.fromkeys(memory_ids))
        rows = await self._database.read(
            lambda c: c.execute(
                f"SELECT {COLUMNS} FROM memories WHERE tenant = ? AND agent_id = ?"
                f" AND memory_id IN ({marks(ids)})",
                (tenant, agent_id, *ids),
            ).fetchall()
        )
        return {row["memory_id"]: memory_of(row) for row in rows}

    async def live_of_key(self, tenant: str, scope: Scope, key: str, now: datetime) -> Memory | None:
        """See the port."""
        rows = await self._database.read(
            lambda c: c.execute(
                f"SELECT {COLUMNS} FROM memories WHERE tenant = :tenant AND agent_id = :agent AND key = :key"
                f" AND contact_id IN ({names(scope.read_buckets)}) AND {LIVE}"
                " ORDER BY contact_id = '', number DESC LIMIT 1",
                {"tenant": tenant, "agent": scope.agent_id, "key": key, "now": to_micros(now)}
                | named(scope.read_buckets),
            ).fetchall()
        )
        return memory_of(rows[0]) if rows else None

    async def page(self, tenant: str, query: MemoryQuery, now: datetime) -> list[tuple[int, Memory]]:
        """See the port."""
        where = [
            "tenant = :tenant",
            "agent_id = :agent",
            f"contact_id IN ({names(query.scope.read_buckets)})",
        ]
        values: dict[str, object] = {
            "tenant": tenant,
            "agent": query.scope.agent_id,
            "after": query.after,
            "limit": query.limit,
            "now": to_micros(now),
            "prefix": query.key_prefix,
            **named(query.scope.read_buckets),
        }
        if not query.include_superseded:
            where.append(LIVE)
        where.append(of_kinds(query.kinds))
        if query.key_prefix:
            where.append("substr(key, 1, length(:prefix)) = :prefix")
        rows = await self._database.read(
            lambda c: c.execute(
                f"SELECT number, {COLUMNS} FROM memories WHERE {' AND '.join(where)} AND number > :after"
                " ORDER BY number LIMIT :limit",
                values,
            ).fetchall()
        )
        return [(row["number"], memory_of(row)) for row in rows]

    async def versions(self, tenant: str, agent_id: str, memory_id: str) -> list[Memory]:
        """See the port."""
        rows = await self._database.read(
            lambda c: c.execute(
                f"SELECT {COLUMNS} FROM memories WHERE tenant = ? AND agent_id = ? AND (contact_id, key) ="
                " (SELECT contact_id, key FROM memories WHERE tenant = ? AND agent_id = ? AND memory_id = ?)"
                " ORDER BY version DESC LIMIT ?",
                (tenant, agent_id, tenant, agent_id, memory_id, MAX_VERSIONS),
            ).fetchall()
        )
        return [memory_of(row) for row in reversed(rows)]

    async def set_pinned(
        self, tenant: str, agent_id: str, memory_id: str, pinned: bool, now: datetime
    ) -> Memory | None:
        """See the port."""

        def work(c: sqlite3.Connection) -> Memory | None:
            changed = c.execute(
                "UPDATE memories SET pinned = ?, updated = ?"
                " WHERE tenant = ? AND agent_id = ? AND memory_id = ?",
                (int(pinned), to_micros(now), tenant, agent_id, memory_id),
            ).rowcount
            return read_one(c, tenant, agent_id, memory_id) if changed else None

        return await self._database.write(work)

    async def forget(self, tenant: str, agent_id: str, memory_id: str) -> list[str]:
        """See the port."""

        def work(c: sqlite3.Connection) -> list[str]:
            revisions = forgotten_with(c, tenant, agent_id, memory_id)
            for table in ("memory_sources", "memories"):
                c.executemany(
                    f"DELETE FROM {table} WHERE tenant = ? AND agent_id = ? AND memory_id = ?",
                    [(tenant, agent_id, gone) for gone in revisions],
                )
            put(c, tenant, [index_job(agent_id, gone, revision + 1) for gone, revision in revisions.items()])
            return list(revisions)

        return await self._database.write(work)

    async def candidates_by_key(
        self,
        tenant: str,
        scope: Scope,
        words: Sequence[str],
        limit: int,
        now: datetime,
        kinds: frozenset[Kind] = frozenset(),
    ) -> list[tuple[str, float]]:
        """See the port."""
        if not words:
            return []
        rows = await self._database.read(
            lambda c: c.execute(
                "SELECT memory_id, count(*) AS hits FROM key_segments AS k JOIN memories USING (number)"
                f" WHERE k.tenant = :tenant AND k.agent_id = :agent AND segment IN ({names(words, 'w')})"
                f" AND contact_id IN ({names(scope.read_buckets)}) AND {LIVE} AND {of_kinds(kinds)}"
                " GROUP BY number ORDER BY hits DESC, memory_id LIMIT :limit",
                {"tenant": tenant, "agent": scope.agent_id, "now": to_micros(now), "limit": limit}
                | named(scope.read_buckets)
                | named(words, "w"),
            ).fetchall()
        )
        return [(row["memory_id"], float(row["hits"])) for row in rows]

    async def of_messages(
        self, tenant: str, scope: Scope, refs: Sequence[MessageRef], now: datetime
    ) -> dict[MessageRef, list[str]]:
        """See the port."""

        def work(c: sqlite3.Connection) -> dict[MessageRef, list[str]]:
            found: dict[MessageRef, list[str]] = {}
            for ref in refs:
                rows = c.execute(
                    "SELECT memory_id FROM memory_sources JOIN memories USING (tenant, agent_id, memory_id)"
                    " WHERE tenant = :tenant AND agent_id = :agent AND conversation_id = :conversation"
                    f" AND message_id = :message AND contact_id IN ({names(scope.read_buckets)}) AND {LIVE}"
                    " ORDER BY memory_id",
                    {
                        "tenant": tenant,
                        "agent": scope.agent_id,
                        "conversation": ref.conversation_id,
                        "message": ref.message_id,
                        "now": to_micros(now),
                    }
                    | named(scope.read_buckets),
                ).fetchall()
                if rows:
                    found[ref] = [row["memory_id"] for row in rows]
            return found

        return await self._database.read(work)

    async def standing(
        self, tenant: str, scope: Scope, now: datetime, kinds: frozenset[Kind] = frozenset()
    ) -> list[Memory]:
        """See the port."""
        rows = await self._database.read(
            lambda c: c.execute(
                f"SELECT {COLUMNS} FROM memories WHERE tenant = :tenant AND agent_id = :agent"
                f" AND contact_id IN ({names(scope.read_buckets)}) AND {LIVE} AND kind <> {int(Kind.TASK)}"
                f" AND {of_kinds(kinds)}"
                " ORDER BY pinned DESC, coalesce(accessed, created) DESC LIMIT :limit",
                {
                    "tenant": tenant,
                    "agent": scope.agent_id,
                    "now": to_micros(now),
                    "limit": STANDING_CANDIDATES,
                }
                | named(scope.read_buckets),
            ).fetchall()
        )
        return [memory_of(row) for row in rows]

    async def count_access(
        self, tenant: str, agent_id: str, memory_ids: Sequence[str], now: datetime
    ) -> None:
        """See the port."""
        await self._database.write(
            lambda c: c.executemany(
                "UPDATE memories SET access_count = access_count + 1, accessed = ?"
                " WHERE tenant = ? AND agent_id = ? AND memory_id = ?",
                [(to_micros(now), tenant, agent_id, memory_id) for memory_id in memory_ids],
            )
        )

    async def mark_indexed(self, tenant: str, agent_id: str, revisions: Mapping[str, int]) -> None:
        """See the port."""
        await self._database.write(
            lambda c: c.executemany(
                "UPDATE memories SET indexed_revision = max(indexed_revision, ?)"
                " WHERE tenant = ? AND agent_id = ? AND memory_id = ?",
                [(revision, tenant, agent_id, memory_id) for memory_id, revision in revisions.items()],
            )
        )

    async def note_messages(self, tenant: str, agent_id: str, highest: Mapping[str, int]) -> None:
        """See the port."""
        await self._database.write(
            lambda c: c.executemany(
                "INSERT INTO known_conversations VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE"
                " SET highest_sequence = max(highest_sequence, excluded.highest_sequence)",
                [(tenant, agent_id, conversation_id, top) for conversation_id, top in highest.items()],
            )
        )

    async def known_conversations(self) -> list[KnownConversation]:
        """See the port."""
        rows = await self._database.read(lambda c: c.execute("SELECT * FROM known_conversations").fetchall())
        return [
            KnownConversation(
                tenant=row["tenant"],
                agent_id=row["agent_id"],
                conversation_id=row["conversation_id"],
                highest=row["highest_sequence"],
            )
            for row in rows
        ]

    async def enqueue_messages(self, known: KnownConversation, sequences: Sequence[int], suffix: str) -> None:
        """See the port."""
        jobs = [message_job(known, sequence, suffix) for sequence in sequences]
        await self._database.write(lambda c: put(c, known.tenant, jobs))

    async def enqueue_memories(
        self, tenant: str, agent_id: str, memory_ids: Sequence[str], suffix: str
    ) -> None:
        """See the port."""
        found = await self.get(tenant, agent_id, memory_ids)
        jobs = [index_job(agent_id, memory.id, memory.revision, suffix) for memory in found.values()]
        await self._database.write(lambda c: put(c, tenant, jobs))

    async def live_ids(self, after: int, limit: int) -> list[LiveMemory]:
        """See the port."""
        rows = await self._database.read(
            lambda c: c.execute(
                "SELECT number, tenant, agent_id, memory_id FROM memories"
                " WHERE number > ? AND superseded_by = '' ORDER BY number LIMIT ?",
                (after, limit),
            ).fetchall()
        )
        return [LiveMemory(**row) for row in rows]
