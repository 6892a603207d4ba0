"""What the remote memory holds, in SQL, beside the memories (SPEC S-15)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from services.kit.outbox import NewJob, put_jobs
from services.kit.sql import Script, SqlDatabase, execute, execute_many, fetch
from services.kit.times import to_micros
from services.memory.semantic.adapters.sql.memories_rows import LASTS, UNEXPIRED
from services.memory.semantic.app.syncing import Claim

SYNC_MEMORY = "sync_memory"
OF_AGENT = "tenant = ? AND agent_id = ?"
SAME = "{m}tenant = c.tenant AND {m}agent_id = c.agent_id AND {m}memory_id = c.memory_id"
LASTING = LASTS.format(m="m.") + UNEXPIRED.format(m="m.")


class SqlRemoteCopies:
    """A RemoteCopies."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def claim(
        self,
        tenant: str,
        agent_id: str,
        known: Sequence[str],
        new: Sequence[str],
        *,
        now: datetime,
        until: datetime,
    ) -> Claim:
        """See the port."""
        return await self._database.write(lambda: _claim(tenant, agent_id, known, new, now, until))

    async def settle(self, tenant: str, agent_id: str, revisions: Mapping[str, int], held: datetime) -> None:
        """See the port."""
        until = to_micros(held)
        rows = [(revision, tenant, agent_id, id_, until) for id_, revision in sorted(revisions.items())]
        await self._database.write(
            lambda: execute_many(
                "UPDATE remote_copies SET synced_revision = ?, held_until = 0"
                f" WHERE {OF_AGENT} AND memory_id = ? AND held_until = ?",
                rows,
            )
        )

    async def release(self, tenant: str, agent_id: str, memory_ids: Sequence[str], held: datetime) -> None:
        """See the port."""
        await self._database.write(
            lambda: execute(
                f"UPDATE remote_copies SET held_until = 0 WHERE {OF_AGENT} AND memory_id IN ??"
                " AND held_until = ?",
                tenant,
                agent_id,
                list(memory_ids),
                to_micros(held),
            )
        )

    async def drop(self, tenant: str, agent_id: str, memory_ids: Sequence[str], held: datetime) -> None:
        """See the port."""
        await self._database.write(
            lambda: execute(
                f"DELETE FROM remote_copies WHERE {OF_AGENT} AND memory_id IN ?? AND held_until = ?",
                tenant,
                agent_id,
                list(memory_ids),
                to_micros(held),
            )
        )

    async def agents(self) -> list[tuple[str, str]]:
        """See the port."""
        rows = await self._database.read(
            lambda: fetch(
                "SELECT tenant, agent_id FROM memories UNION SELECT tenant, agent_id FROM remote_copies"
                " ORDER BY tenant, agent_id"
            )
        )
        return [(row["tenant"], row["agent_id"]) for row in rows]

    async def behind(self, tenant: str, agent_id: str, after: str, limit: int, now: datetime) -> list[str]:
        """See the port."""
        moment = to_micros(now)
        rows = await self._database.read(
            lambda: fetch(
                "SELECT m.memory_id FROM memories AS m LEFT JOIN remote_copies AS c"
                f" ON {SAME.format(m='m.')}"
                f" WHERE m.tenant = ? AND m.agent_id = ? AND m.memory_id > ? AND {LASTING}"
                " AND (c.synced_revision IS NULL OR c.synced_revision < m.revision)"
                " ORDER BY m.memory_id LIMIT ?",
                tenant,
                agent_id,
                after,
                moment,
                moment,
                limit,
            )
        )
        return [row["memory_id"] for row in rows]

    async def lapsed(self, tenant: str, agent_id: str, after: str, limit: int, now: datetime) -> list[str]:
        """See the port."""
        moment = to_micros(now)
        rows = await self._database.read(
            lambda: fetch(
                "SELECT c.memory_id FROM remote_copies AS c WHERE c.tenant = ? AND c.agent_id = ?"
                " AND c.memory_id > ? AND NOT EXISTS"
                f" (SELECT 1 FROM memories AS m WHERE {SAME.format(m='m.')} AND {LASTING})"
                " ORDER BY c.memory_id LIMIT ?",
                tenant,
                agent_id,
                after,
                moment,
                moment,
                limit,
            )
        )
        return [row["memory_id"] for row in rows]

    async def enqueue(
        self, tenant: str, agent_id: str, memory_ids: Sequence[str], *, copies_only: bool
    ) -> None:
        """See the port."""
        await self._database.write(lambda: _enqueue(tenant, agent_id, memory_ids, copies_only=copies_only))


def _claim(
    tenant: str, agent_id: str, known: Sequence[str], new: Sequence[str], now: datetime, until: datetime
) -> Script[Claim]:
    yield from execute_many(
        "INSERT INTO remote_copies (tenant, agent_id, memory_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        [(tenant, agent_id, id_) for id_ in sorted(new)],
    )
    rows = yield from fetch(
        f"SELECT memory_id, synced_revision, held_until FROM remote_copies WHERE {OF_AGENT}"
        " AND memory_id IN ?? ORDER BY memory_id FOR UPDATE",
        tenant,
        agent_id,
        [*known, *new],
    )
    free = {row["memory_id"]: row["synced_revision"] for row in rows if row["held_until"] <= to_micros(now)}
    yield from execute(
        f"UPDATE remote_copies SET held_until = ? WHERE {OF_AGENT} AND memory_id IN ??",
        to_micros(until),
        tenant,
        agent_id,
        list(free),
    )
    busy = frozenset(row["memory_id"] for row in rows) - free.keys()
    return Claim(held=free, busy=busy, until=until)


def _enqueue(tenant: str, agent_id: str, memory_ids: Sequence[str], *, copies_only: bool) -> Script[None]:
    wanted = list(dict.fromkeys(memory_ids))
    if copies_only:
        rows = yield from fetch(
            f"SELECT memory_id FROM remote_copies WHERE {OF_AGENT} AND memory_id IN ??",
            tenant,
            agent_id,
            wanted,
        )
        wanted = [row["memory_id"] for row in rows]
    rows = yield from fetch(
        f"SELECT memory_id, revision FROM memories WHERE {OF_AGENT} AND memory_id IN ??",
        tenant,
        agent_id,
        wanted,
    )
    revisions = {row["memory_id"]: str(row["revision"]) for row in rows}
    yield from put_jobs(tenant, [sync_job(agent_id, id_, revisions.get(id_, "gone")) for id_ in wanted])


def sync_job(agent_id: str, memory_id: str, revision: str) -> NewJob:
    """Brings the remote memory up to a revision of a memory, or "gone"."""
    return NewJob(
        type=SYNC_MEMORY,
        agent_id=agent_id,
        subject=f"memories/{memory_id}",
        key=f"{SYNC_MEMORY}/{agent_id}/{memory_id}/{revision}",
        payload={"memory_id": memory_id},
    )
