"""The canonical rows of memories: a row for each version."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from services.kit.outbox import put_jobs
from services.kit.sql import Script, SqlDatabase, execute_many, fetch
from services.kit.times import to_micros
from services.memory.semantic.adapters.index_jobs import index_job, message_job
from services.memory.semantic.adapters.sql.memories_chains import forget, history
from services.memory.semantic.adapters.sql.memories_keys import by_key
from services.memory.semantic.adapters.sql.memories_listing import page, standing
from services.memory.semantic.adapters.sql.memories_rows import (
    COLUMNS,
    LASTS,
    UNEXPIRED,
    holding,
    memories_of,
    of_kinds,
)
from services.memory.semantic.adapters.sql.memories_writing import WriteRules, remember, set_pinned
from services.memory.semantic.adapters.sql.standing_choices import Choose, choose_anew, kept
from services.memory.semantic.app.ports import (
    KeptMemory,
    KnownConversation,
    MemoryHistory,
    MemoryQuery,
    Remembered,
)
from services.memory.semantic.domain.memory import Kind, Memory, MessageRef, NewMemory, Scope


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

    async def pick(
        self,
        tenant: str,
        scope: Scope,
        memory_ids: Sequence[str],
        now: datetime,
        kinds: frozenset[Kind],
        choose: Callable[[Mapping[str, float]], Sequence[str]],
        *,
        as_of: datetime | None = None,
    ) -> dict[str, Memory]:
        """By their rows, for indexes may lag."""

        def script() -> Script[list[Memory]]:
            known = yield from _eligible(tenant, scope, memory_ids, now, kinds, as_of)
            return (yield from _by_ids(tenant, scope.agent_id, list(choose(known))))

        return {memory.id: memory for memory in await self._database.read(script)}

    async def live_of_key(
        self, tenant: str, scope: Scope, key: str, now: datetime, *, as_of: datetime | None = None
    ) -> Memory | None:
        """The contact's, else the agent-wide one."""
        found = await self._database.read(lambda: _of_key(tenant, scope, key, now, as_of))
        return found[0] if found else None

    async def page(self, tenant: str, query: MemoryQuery, now: datetime) -> list[tuple[int, Memory]]:
        """In order of writing."""
        return await self._database.read(lambda: page(tenant, query, now))

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
        """By the words of their keys, one by one."""
        if not words:
            return []
        return await self._database.read(lambda: by_key(tenant, scope, words, limit, now, kinds, as_of))

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
        wanted = (kinds or frozenset(Kind)) - {Kind.TASK}
        if not wanted:
            return []
        return await self._database.read(lambda: standing(tenant, scope, now, wanted, as_of))

    async def standing_choice(
        self, tenant: str, scope: Scope, limit: int, now: datetime, choose: Choose
    ) -> list[Memory]:
        """As it was made when memories changed last."""
        found = await self._database.read(lambda: kept(tenant, scope, limit, now))
        if found is None:
            found = await self._database.write(lambda: choose_anew(tenant, scope, limit, now, choose))
        return found

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

    async def known_conversations(
        self, after: KnownConversation | None, limit: int
    ) -> list[KnownConversation]:
        """Of every tenant."""
        last = ("", "", "") if after is None else (after.tenant, after.agent_id, after.conversation_id)
        rows = await self._database.read(
            lambda: fetch(
                "SELECT tenant, agent_id, conversation_id, highest_sequence FROM known_conversations"
                " WHERE (tenant, agent_id, conversation_id) > (?, ?, ?)"
                " ORDER BY tenant, agent_id, conversation_id LIMIT ?",
                *last,
                limit,
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

    async def kept(self, after: int, limit: int, now: datetime) -> list[KeptMemory]:
        """Of every tenant."""
        rows = await self._database.read(
            lambda: fetch(
                f"SELECT number, tenant, agent_id, memory_id, {(LASTS + UNEXPIRED).format(m='')} AS lasts"
                " FROM memories WHERE number > ? ORDER BY number LIMIT ?",
                to_micros(now),
                to_micros(now),
                after,
                limit,
            )
        )
        return [
            KeptMemory(
                number=row["number"],
                tenant=row["tenant"],
                agent_id=row["agent_id"],
                memory_id=row["memory_id"],
                lasts=bool(row["lasts"]),
            )
            for row in rows
        ]

    async def lasting(
        self, tenant: str, agent_id: str, memory_ids: Sequence[str], now: datetime
    ) -> dict[str, bool]:
        """Without the rest of the rows, of which there may be very many."""
        rows = await self._database.read(
            lambda: fetch(
                f"SELECT memory_id, {(LASTS + UNEXPIRED).format(m='')} AS lasts FROM memories"
                " WHERE tenant = ? AND agent_id = ? AND memory_id IN ??",
                to_micros(now),
                to_micros(now),
                tenant,
                agent_id,
                list(memory_ids),
            )
        )
        return {row["memory_id"]: bool(row["lasts"]) for row in rows}


def _by_ids(tenant: str, agent_id: str, ids: list[str]) -> Script[list[Memory]]:
    if not ids:
        return []
    rows = yield from fetch(
        f"SELECT {COLUMNS} FROM memories WHERE tenant = ? AND agent_id = ? AND memory_id IN ??",
        tenant,
        agent_id,
        ids,
    )
    return (yield from memories_of(tenant, agent_id, rows))


def _eligible(
    tenant: str,
    scope: Scope,
    memory_ids: Sequence[str],
    now: datetime,
    kinds: frozenset[Kind],
    as_of: datetime | None,
) -> Script[dict[str, float]]:
    live, moments = holding(now, as_of)
    chosen, kind_numbers = of_kinds(kinds)
    rows = yield from fetch(
        "SELECT memory_id, contact_id, confidence FROM memories"
        f" WHERE tenant = ? AND agent_id = ? AND memory_id IN ?? AND {live} AND {chosen}",
        tenant,
        scope.agent_id,
        list(memory_ids),
        *moments,
        *kind_numbers,
    )
    # Not in the statement: SQLite would begin with the rows of the buckets in place of the ids.
    buckets = set(scope.read_buckets)
    return {row["memory_id"]: row["confidence"] for row in rows if row["contact_id"] in buckets}


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
            # Not a bare column: SQLite would go through all sources of the agent, for their order.
            f" AND contact_id IN ?? AND {live} ORDER BY s.memory_id || ''",
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
