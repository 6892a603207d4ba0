"""The canonical rows of memories in SQLite."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from services.kit.errors import Exists
from services.kit.ids import new_id
from services.kit.outbox import NewJob, put
from services.kit.sqlite import Database
from services.kit.times import from_micros, to_micros
from services.memory.semantic.app.ports import KnownConversation, MemoryQuery, Remembered
from services.memory.semantic.domain.memory import (
    CONFIDENCE,
    FactType,
    Kind,
    Memory,
    MessageRef,
    NewMemory,
    Scope,
    Source,
    key_segments,
    kind_of,
)

REQUEST_LIFETIME = timedelta(days=1)
PRUNED_AT_ONCE = 20
MAX_VERSIONS = 1000
STANDING_CANDIDATES = 200

COLUMNS = (
    "memory_id, agent_id, key, value, fact_type, contact_id, pinned, confidence, source, provenance, created,"
    " updated, accessed, access_count, valid_from, valid_to, superseded_by, supersedes, version, expires,"
    " revision, indexed_revision"
)
LIVE = "superseded_by = '' AND (expires IS NULL OR expires > :now)"


class SqliteMemoryStore:
    """One row a version; the newest of a key and bucket is the live one."""

    def __init__(self, database: Database, task_lifetime: timedelta) -> None:
        self._database = database
        self._task_lifetime = task_lifetime

    async def remember(self, tenant: str, new: NewMemory, now: datetime) -> Remembered:
        """See the port."""
        return await self._database.write(lambda c: self._remember(c, tenant, new, now))

    def _remember(self, c: sqlite3.Connection, tenant: str, new: NewMemory, now: datetime) -> Remembered:
        known = _answered(c, tenant, new)
        if known is not None:
            return known
        heads = self._heads(c, tenant, new, now)
        live = [memory for memory in heads if memory.live(now)]
        if len(live) == 1 and (live[0].value, live[0].fact_type) == (new.value, new.fact_type):
            result = Remembered(memory=live[0], created=False)
        else:
            memory = self._insert(c, tenant, new, heads, now)
            result = Remembered(memory=memory, created=True)
        _remember_answer(c, tenant, new, result, now)
        return result

    def _heads(self, c: sqlite3.Connection, tenant: str, new: NewMemory, now: datetime) -> list[Memory]:
        """The newest version of each bucket: expired ones, which a new one supersedes too, then live ones."""
        buckets = new.scope.contact_ids or ("",)
        rows = c.execute(
            f"SELECT {COLUMNS} FROM memories WHERE tenant = ? AND agent_id = ? AND key = ?"
            f" AND contact_id IN ({_marks(buckets)}) AND superseded_by = '' ORDER BY number",
            (tenant, new.scope.agent_id, new.key, *buckets),
        )
        return sorted((_memory(row) for row in rows), key=lambda memory: memory.live(now))

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
            put(c, tenant, [_index_job(old.agent_id, old.id, old.revision + 1)])
        version = c.execute(
            "SELECT coalesce(max(version), 0) + 1 FROM memories"
            " WHERE tenant = ? AND agent_id = ? AND contact_id = ? AND key = ?",
            (tenant, agent, bucket, new.key),
        ).fetchone()[0]
        task = kind_of(new.fact_type) is Kind.TASK
        c.execute(
            "INSERT INTO memories (tenant, kind, " + COLUMNS + ") VALUES (" + _marks(range(24)) + ")",
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
        c.executemany("INSERT INTO key_segments VALUES (?, ?)", [(s, number) for s in key_segments(new.key)])
        c.executemany(
            "INSERT OR IGNORE INTO memory_sources VALUES (?, ?, ?, ?, ?)",
            [(tenant, agent, r.conversation_id, r.message_id, memory_id) for r in new.provenance],
        )
        put(c, tenant, [_index_job(agent, memory_id, 1)])
        return _one(c, tenant, agent, memory_id)

    async def get(self, tenant: str, agent_id: str, memory_ids: Sequence[str]) -> dict[str, Memory]:
        """See the port."""
        ids = list(dict.fromkeys(memory_ids))
        rows = await self._database.read(
            lambda c: c.execute(
                f"SELECT {COLUMNS} FROM memories WHERE tenant = ? AND agent_id = ?"
                f" AND memory_id IN ({_marks(ids)})",
                (tenant, agent_id, *ids),
            ).fetchall()
        )
        return {row["memory_id"]: _memory(row) for row in rows}

    async def live_of_key(self, tenant: str, scope: Scope, key: str, now: datetime) -> Memory | None:
        """See the port."""
        rows = await self._database.read(
            lambda c: c.execute(
                f"SELECT {COLUMNS} FROM memories WHERE tenant = :tenant AND agent_id = :agent AND key = :key"
                f" AND contact_id IN ({_names(scope.read_buckets)}) AND {LIVE}"
                " ORDER BY contact_id = '', number DESC LIMIT 1",
                {"tenant": tenant, "agent": scope.agent_id, "key": key, "now": to_micros(now)}
                | _named(scope.read_buckets),
            ).fetchall()
        )
        return _memory(rows[0]) if rows else None

    async def page(self, tenant: str, query: MemoryQuery, now: datetime) -> list[tuple[int, Memory]]:
        """See the port."""
        where = [
            "tenant = :tenant",
            "agent_id = :agent",
            f"contact_id IN ({_names(query.scope.read_buckets)})",
        ]
        values: dict[str, object] = {
            "tenant": tenant,
            "agent": query.scope.agent_id,
            "after": query.after,
            "limit": query.limit,
            "now": to_micros(now),
            "prefix": query.key_prefix,
            **_named(query.scope.read_buckets),
        }
        if not query.include_superseded:
            where.append(LIVE)
        if query.kinds:
            where.append(f"kind IN ({', '.join(str(int(kind)) for kind in sorted(query.kinds))})")
        if query.key_prefix:
            where.append("substr(key, 1, length(:prefix)) = :prefix")
        rows = await self._database.read(
            lambda c: c.execute(
                f"SELECT number, {COLUMNS} FROM memories WHERE {' AND '.join(where)} AND number > :after"
                " ORDER BY number LIMIT :limit",
                values,
            ).fetchall()
        )
        return [(row["number"], _memory(row)) for row in rows]

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
        return [_memory(row) for row in reversed(rows)]

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
            return _one(c, tenant, agent_id, memory_id) if changed else None

        return await self._database.write(work)

    async def forget(self, tenant: str, agent_id: str, memory_id: str) -> list[str]:
        """See the port."""

        def work(c: sqlite3.Connection) -> list[str]:
            rows = c.execute(
                "DELETE FROM memories WHERE tenant = ? AND agent_id = ? AND (contact_id, key) ="
                " (SELECT contact_id, key FROM memories WHERE tenant = ? AND agent_id = ? AND memory_id = ?)"
                " RETURNING memory_id, revision",
                (tenant, agent_id, tenant, agent_id, memory_id),
            ).fetchall()
            for row in rows:
                c.execute(
                    "DELETE FROM memory_sources WHERE tenant = ? AND agent_id = ? AND memory_id = ?",
                    (tenant, agent_id, row["memory_id"]),
                )
            put(c, tenant, [_index_job(agent_id, row["memory_id"], row["revision"] + 1) for row in rows])
            return [row["memory_id"] for row in rows]

        return await self._database.write(work)

    async def candidates_by_key(
        self, tenant: str, scope: Scope, words: Sequence[str], limit: int, now: datetime
    ) -> list[tuple[str, float]]:
        """See the port."""
        if not words:
            return []
        rows = await self._database.read(
            lambda c: c.execute(
                "SELECT memory_id, count(*) AS hits FROM key_segments JOIN memories USING (number)"
                f" WHERE segment IN ({_names(words, 'w')}) AND tenant = :tenant AND agent_id = :agent"
                f" AND contact_id IN ({_names(scope.read_buckets)}) AND {LIVE}"
                " GROUP BY number ORDER BY hits DESC, memory_id LIMIT :limit",
                {"tenant": tenant, "agent": scope.agent_id, "now": to_micros(now), "limit": limit}
                | _named(scope.read_buckets)
                | _named(words, "w"),
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
                    f" AND message_id = :message AND contact_id IN ({_names(scope.read_buckets)}) AND {LIVE}"
                    " ORDER BY memory_id",
                    {
                        "tenant": tenant,
                        "agent": scope.agent_id,
                        "conversation": ref.conversation_id,
                        "message": ref.message_id,
                        "now": to_micros(now),
                    }
                    | _named(scope.read_buckets),
                ).fetchall()
                if rows:
                    found[ref] = [row["memory_id"] for row in rows]
            return found

        return await self._database.read(work)

    async def standing(self, tenant: str, scope: Scope, now: datetime) -> list[Memory]:
        """See the port."""
        rows = await self._database.read(
            lambda c: c.execute(
                f"SELECT {COLUMNS} FROM memories WHERE tenant = :tenant AND agent_id = :agent"
                f" AND contact_id IN ({_names(scope.read_buckets)}) AND {LIVE} AND kind <> {int(Kind.TASK)}"
                " ORDER BY pinned DESC, coalesce(accessed, created) DESC LIMIT :limit",
                {
                    "tenant": tenant,
                    "agent": scope.agent_id,
                    "now": to_micros(now),
                    "limit": STANDING_CANDIDATES,
                }
                | _named(scope.read_buckets),
            ).fetchall()
        )
        return [_memory(row) for row in rows]

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
        jobs = [_message_job(known, sequence, suffix) for sequence in sequences]
        await self._database.write(lambda c: put(c, known.tenant, jobs))

    async def enqueue_memories(
        self, tenant: str, agent_id: str, memory_ids: Sequence[str], suffix: str
    ) -> None:
        """See the port."""
        found = await self.get(tenant, agent_id, memory_ids)
        jobs = [_index_job(agent_id, memory.id, memory.revision, suffix) for memory in found.values()]
        await self._database.write(lambda c: put(c, tenant, jobs))

    async def enqueue_all_memories(self, suffix: str) -> int:
        """See the port."""

        def work(c: sqlite3.Connection) -> int:
            rows = c.execute(
                "SELECT tenant, agent_id, memory_id, revision FROM memories WHERE superseded_by = ''"
            ).fetchall()
            for row in rows:
                put(
                    c, row["tenant"], [_index_job(row["agent_id"], row["memory_id"], row["revision"], suffix)]
                )
            return len(rows)

        return await self._database.write(work)


def _answered(c: sqlite3.Connection, tenant: str, new: NewMemory) -> Remembered | None:
    """What this request_id was answered with; Exists if it came with another content."""
    if not new.request_id:
        return None
    row = c.execute(
        "SELECT digest, memory_id, created_memory FROM remember_requests"
        " WHERE tenant = ? AND agent_id = ? AND request_id = ?",
        (tenant, new.scope.agent_id, new.request_id),
    ).fetchone()
    if row is None:
        return None
    if row["digest"] != _digest(new):
        raise Exists("this request_id was used for another memory")
    found = c.execute(
        f"SELECT {COLUMNS} FROM memories WHERE tenant = ? AND agent_id = ? AND memory_id = ?",
        (tenant, new.scope.agent_id, row["memory_id"]),
    ).fetchone()
    if found is None:  # forgotten since: the retry must not bring it back
        raise Exists("this request_id was used for a memory that has been forgotten")
    return Remembered(memory=_memory(found), created=bool(row["created_memory"]))


def _remember_answer(
    c: sqlite3.Connection, tenant: str, new: NewMemory, result: Remembered, now: datetime
) -> None:
    if not new.request_id:
        return
    c.execute(
        "INSERT INTO remember_requests VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            tenant,
            new.scope.agent_id,
            new.request_id,
            _digest(new),
            result.memory.id,
            int(result.created),
            to_micros(now),
        ),
    )
    c.execute(
        "DELETE FROM remember_requests WHERE (tenant, agent_id, request_id) IN (SELECT tenant, agent_id,"
        " request_id FROM remember_requests WHERE created < ? LIMIT ?)",
        (to_micros(now - REQUEST_LIFETIME), PRUNED_AT_ONCE),
    )


def _digest(new: NewMemory) -> str:
    body = json.dumps([new.key, new.value, int(new.fact_type), new.scope.write_bucket], ensure_ascii=False)
    return hashlib.blake2b(body.encode("utf-8"), digest_size=16).hexdigest()


def _index_job(agent_id: str, memory_id: str, revision: int, suffix: str = "") -> NewJob:
    return NewJob(
        type="index_memory",
        agent_id=agent_id,
        subject=f"memories/{memory_id}",
        key=f"index_memory:{agent_id}:{memory_id}:{revision}{suffix}",
        payload={"memory_id": memory_id},
    )


def _message_job(known: KnownConversation, sequence: int, suffix: str) -> NewJob:
    return NewJob(
        type="index_message",
        agent_id=known.agent_id,
        subject=f"conversations/{known.conversation_id}/messages/{sequence}",
        key=f"index_message:{known.agent_id}:{known.conversation_id}:{sequence}{suffix}",
        payload={"conversation_id": known.conversation_id, "sequence": sequence},
    )


def _one(c: sqlite3.Connection, tenant: str, agent_id: str, memory_id: str) -> Memory:
    row = c.execute(
        f"SELECT {COLUMNS} FROM memories WHERE tenant = ? AND agent_id = ? AND memory_id = ?",
        (tenant, agent_id, memory_id),
    ).fetchone()
    return _memory(row)


def _memory(row: sqlite3.Row) -> Memory:
    return Memory(
        id=row["memory_id"],
        agent_id=row["agent_id"],
        key=row["key"],
        value=row["value"],
        fact_type=FactType(row["fact_type"]),
        contact_id=row["contact_id"],
        pinned=bool(row["pinned"]),
        confidence=row["confidence"],
        source=Source(row["source"]),
        provenance=tuple(
            MessageRef(conversation_id=c, message_id=m) for c, m in json.loads(row["provenance"])
        ),
        created=from_micros(row["created"]),
        updated=from_micros(row["updated"]),
        accessed=None if row["accessed"] is None else from_micros(row["accessed"]),
        access_count=row["access_count"],
        valid_from=from_micros(row["valid_from"]),
        valid_to=None if row["valid_to"] is None else from_micros(row["valid_to"]),
        superseded_by=row["superseded_by"],
        supersedes=row["supersedes"],
        version=row["version"],
        expires=None if row["expires"] is None else from_micros(row["expires"]),
        revision=row["revision"],
        indexed_revision=row["indexed_revision"],
    )


def _marks(values: Sequence[object] | range) -> str:
    return ", ".join("?" for _ in values)


def _names(values: Sequence[str], prefix: str = "b") -> str:
    return ", ".join(f":{prefix}{index}" for index in range(len(values)))


def _named(values: Sequence[str], prefix: str = "b") -> dict[str, object]:
    return {f"{prefix}{index}": value for index, value in enumerate(values)}
