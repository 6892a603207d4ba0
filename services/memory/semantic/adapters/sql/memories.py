"""The canonical rows of memories: a row for each version."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime

from services.kit.outbox import put_jobs
from services.kit.sql import Script, SqlDatabase, Value, execute_many, fetch
from services.kit.times import to_micros
from services.memory.semantic.adapters.index_jobs import index_job, message_job
from services.memory.semantic.adapters.sql.memories_chains import forget, history
from services.memory.semantic.adapters.sql.memories_rows import (
    COLUMNS,
    LASTS,
    Condition,
    holding,
    memories_of,
    of_kinds,
)
from services.memory.semantic.adapters.sql.memories_writing import WriteRules, remember, set_pinned
from services.memory.semantic.app.ports import (
    KnownConversation,
    LiveMemory,
    MemoryHistory,
    MemoryQuery,
    Remembered,
)
from services.memory.semantic.domain.memory import Kind, Memory, MessageRef, NewMemory, Scope

STANDING_CANDIDATES = 200
ABOVE_KEYS = "\x7f"  # sorts after every character of a key


class SqlMemories:
    """A MemoryStore."""

    def __init__(self, database: SqlDatabase, rules: WriteRules) -> None:
        self._database = database
        self._rules = rules

    async def remember(self, tenant: str, new: NewMemory, now: datetime) -> Remembered:
        """Writes a version, or finds that nothing changed."""
        return await self._database.write(lambda: remember(tenant, new, now, self._rules))

    async def get(self, tenant: str, agent_id: str, memory_ids: Sequence[str]) -> dict[str, Memory]:
        """By id."""
        ids = list(dict.fromkeys(memory_ids))
        found = await self._database.read(lambda: _by_ids(tenant, agent_id, ids))
        return {memory.id: memory for memory in found}

    async def live_of_key(
        self, tenant: str, scope: Scope, key: str, now: datetime, *, as_of: datetime | None = None
    ) -> Memory | None:
        """The contact's, else the agent-wide one."""
        found = await self._database.read(lambda: _of_key(tenant, scope, key, now, as_of))
        return found[0] if found else None

    async def page(self, tenant: str, query: MemoryQuery, now: datetime) -> list[tuple[int, Memory]]:
        """In order of writing."""
        return await self._database.read(lambda: _page(tenant, query, now))

    async def history(self, tenant: str, agent_id: str, memory_id: str) -> MemoryHistory:
        """Versions, and what replaced them."""
        return await self._database.read(lambda: history(tenant, agent_id, memory_id))

    async def set_pinned(
        self,
        tenant: str,
        agent_id: str,
        memory_id: str,
        pinned: bool,
        now: datetime,
        *,
        edits: int | None = None,
    ) -> Memory | None:
        """Pins or unpins."""
        return await self._database.write(lambda: set_pinned(tenant, agent_id, memory_id, pinned, now, edits))

    async def forget(self, tenant: str, agent_id: str, memory_id: str) -> list[str]:
        """Deletes all versions."""
        return await self._database.write(lambda: forget(tenant, agent_id, memory_id))

    async def candidates_by_key(
        self,
        tenant: str,
        scope: Scope,
        words: Sequence[str],
        limit: int,
        now: datetime,
        kinds: frozenset[Kind] = frozenset(),
        *,
        as_of: datetime | None = None,
    ) -> list[tuple[str, float]]:
        """By the words of their keys."""
        live, moments = holding(now, as_of)
        chosen, kind_numbers = of_kinds(kinds)

        def script() -> Script[list[tuple[str, float]]]:
            rows = yield from fetch(
                "SELECT m.memory_id, count(*) AS hits FROM key_segments AS k"
                " JOIN memories AS m ON m.tenant = k.tenant AND m.number = k.number"
                " WHERE k.tenant = ? AND k.agent_id = ? AND k.segment IN ??"
                f" AND contact_id IN ?? AND {live} AND {chosen}"
                " GROUP BY m.memory_id ORDER BY hits DESC, m.memory_id LIMIT ?",
                tenant,
                scope.agent_id,
                list(words),
                list(scope.read_buckets),
                *moments,
                *kind_numbers,
                limit,
            )
            return [(row["memory_id"], float(row["hits"])) for row in rows]

        return await self._database.read(script) if words else []

    async def of_messages(
        self,
        tenant: str,
        scope: Scope,
        refs: Sequence[MessageRef],
        now: datetime,
        *,
        as_of: datetime | None = None,
    ) -> dict[MessageRef, list[str]]:
        """By the messages that they came from."""
        return await self._database.read(lambda: _of_messages(tenant, scope, refs, now, as_of))

    async def standing(
        self,
        tenant: str,
        scope: Scope,
        now: datetime,
        kinds: frozenset[Kind] = frozenset(),
        *,
        as_of: datetime | None = None,
    ) -> list[Memory]:
        """Pinned ones, and the latest."""
        live, moments = holding(now, as_of)
        chosen, kind_numbers = of_kinds((kinds or frozenset(Kind)) - {Kind.TASK})

        def script() -> Script[list[Memory]]:
            rows = yield from fetch(
                f"SELECT {COLUMNS} FROM memories WHERE tenant = ? AND agent_id = ? AND contact_id IN ??"
                f" AND {live} AND {chosen}"
                " ORDER BY pinned DESC, coalesce(accessed, created) DESC LIMIT ?",
                tenant,
                scope.agent_id,
                list(scope.read_buckets),
                *moments,
                *kind_numbers,
                STANDING_CANDIDATES,
            )
            return (yield from memories_of(tenant, scope.agent_id, rows))

        return await self._database.read(script) if kind_numbers else []

    async def count_access(
        self, tenant: str, agent_id: str, memory_ids: Sequence[str], now: datetime
    ) -> None:
        """Counts one access of each."""
        rows = [(to_micros(now), tenant, agent_id, memory_id) for memory_id in sorted(memory_ids)]
        await self._database.write(
            lambda: execute_many(
                "UPDATE memories SET access_count = access_count + 1, accessed = ?"
                " WHERE tenant = ? AND agent_id = ? AND memory_id = ?",
                rows,
            )
        )

    async def mark_indexed(self, tenant: str, agent_id: str, revisions: Mapping[str, int]) -> None:
        """Never back to an earlier revision."""
        rows = [(revision, tenant, agent_id, id_, revision) for id_, revision in sorted(revisions.items())]
        await self._database.write(
            lambda: execute_many(
                "UPDATE memories SET indexed_revision = ?"
                " WHERE tenant = ? AND agent_id = ? AND memory_id = ? AND indexed_revision < ?",
                rows,
            )
        )

    async def note_messages(self, tenant: str, agent_id: str, highest: Mapping[str, int]) -> None:
        """The highest sequence number, by conversation."""
        rows = [(tenant, agent_id, conversation_id, top) for conversation_id, top in sorted(highest.items())]
        await self._database.write(
            lambda: execute_many(
                "INSERT INTO known_conversations (tenant, agent_id, conversation_id, highest_sequence)"
                " VALUES (?, ?, ?, ?) ON CONFLICT (tenant, agent_id, conversation_id) DO UPDATE"
                " SET highest_sequence = excluded.highest_sequence"
                " WHERE known_conversations.highest_sequence < excluded.highest_sequence",
                rows,
            )
        )

    async def known_conversations(self) -> list[KnownConversation]:
        """Of every tenant."""
        rows = await self._database.read(
            lambda: fetch(
                "SELECT tenant, agent_id, conversation_id, highest_sequence FROM known_conversations"
                " ORDER BY tenant, agent_id, conversation_id"
            )
        )
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
        """Under keys of their own."""
        jobs = [message_job(known, sequence, suffix) for sequence in sequences]
        await self._database.write(lambda: put_jobs(known.tenant, jobs))

    async def enqueue_memories(
        self, tenant: str, agent_id: str, memory_ids: Sequence[str], suffix: str
    ) -> None:
        """Those that are known."""
        found = await self.get(tenant, agent_id, memory_ids)
        jobs = [index_job(agent_id, memory.id, memory.revision, suffix) for memory in found.values()]
        await self._database.write(lambda: put_jobs(tenant, jobs))

    async def live_ids(self, after: int, limit: int, now: datetime) -> list[LiveMemory]:
        """Of every tenant."""
        rows = await self._database.read(
            lambda: fetch(
                "SELECT number, tenant, agent_id, memory_id FROM memories WHERE number > ?"
                f" AND {LASTS.format(m='')} ORDER BY number LIMIT ?",
                after,
                to_micros(now),
                limit,
            )
        )
        return [
            LiveMemory(
                number=row["number"],
                tenant=row["tenant"],
                agent_id=row["agent_id"],
                memory_id=row["memory_id"],
            )
            for row in rows
        ]


def _by_ids(tenant: str, agent_id: str, ids: list[str]) -> Script[list[Memory]]:
    rows = yield from fetch(
        f"SELECT {COLUMNS} FROM memories WHERE tenant = ? AND agent_id = ? AND memory_id IN ??",
        tenant,
        agent_id,
        ids,
    )
    return (yield from memories_of(tenant, agent_id, rows))


def _of_key(
    tenant: str, scope: Scope, key: str, now: datetime, as_of: datetime | None
) -> Script[list[Memory]]:
    live, moments = holding(now, as_of)
    rows = yield from fetch(
        f"SELECT {COLUMNS} FROM memories WHERE tenant = ? AND agent_id = ? AND contact_id IN ?? AND key = ?"
        f" AND {live} ORDER BY contact_id = '', number DESC LIMIT 1",
        tenant,
        scope.agent_id,
        list(scope.read_buckets),
        key,
        *moments,
    )
    return (yield from memories_of(tenant, scope.agent_id, rows))


def _page(tenant: str, query: MemoryQuery, now: datetime) -> Script[list[tuple[int, Memory]]]:
    every = query.include_superseded and query.as_of is None
    conditions: list[Condition] = [
        ("tenant = ? AND agent_id = ?", [tenant, query.scope.agent_id]),
        ("contact_id IN ?? AND number > ?", [list(query.scope.read_buckets), query.after]),
        ("TRUE", []) if every else holding(now, query.as_of),
        of_kinds(query.kinds),
        _with_prefix(query.key_prefix),
    ]
    arguments: list[Value] = [argument for _, given in conditions for argument in given]
    rows = yield from fetch(
        f"SELECT number, {COLUMNS} FROM memories WHERE {' AND '.join(text for text, _ in conditions)}"
        " ORDER BY number LIMIT ?",
        *arguments,
        query.limit,
    )
    memories = yield from memories_of(tenant, query.scope.agent_id, rows)
    return [(row["number"], memory) for row, memory in zip(rows, memories, strict=True)]


def _with_prefix(prefix: str) -> Condition:
    return ("key >= ? AND key < ?", [prefix, prefix + ABOVE_KEYS]) if prefix else ("TRUE", [])


def _of_messages(
    tenant: str, scope: Scope, refs: Sequence[MessageRef], now: datetime, as_of: datetime | None
) -> Script[dict[MessageRef, list[str]]]:
    live, moments = holding(now, as_of)
    by_conversation: dict[str, list[str]] = defaultdict(list)
    for ref in refs:
        by_conversation[ref.conversation_id].append(ref.message_id)
    found: dict[MessageRef, list[str]] = defaultdict(list)
    for conversation_id, message_ids in by_conversation.items():
        rows = yield from fetch(
            "SELECT s.message_id, s.memory_id FROM memory_sources AS s JOIN memories AS m"
            " ON m.tenant = s.tenant AND m.agent_id = s.agent_id AND m.memory_id = s.memory_id"
            " WHERE s.tenant = ? AND s.agent_id = ? AND s.conversation_id = ? AND s.message_id IN ??"
            f" AND contact_id IN ?? AND {live} ORDER BY s.memory_id",
            tenant,
            scope.agent_id,
            conversation_id,
            message_ids,
            list(scope.read_buckets),
            *moments,
        )
        for row in rows:
            found[MessageRef(conversation_id=conversation_id, message_id=row["message_id"])].append(
                row["memory_id"]
            )
    return dict(found)
