"""The canonical rows as upkeep sees and changes them (SPEC S-14, J-10, J-15)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from services.kit.sql import Script, SqlDatabase, Value, execute, fetch, first
from services.kit.tenants import SYSTEM_TENANT
from services.kit.times import from_micros, to_micros
from services.memory.semantic.adapters.sql.memories_rows import (
    COLUMNS,
    LASTS,
    UNEXPIRED,
    Condition,
    holding,
    memories_of,
)
from services.memory.semantic.adapters.sql.merging import merge, undo_merge
from services.memory.semantic.app.ports import KeptMemory, KnownConversation
from services.memory.semantic.app.upkeep_ports import ActiveAgent, Ended, Member
from services.memory.semantic.domain.decay import FACTOR, FLOOR, UNUSED, day_of
from services.memory.semantic.domain.memory import Cause, FactType, Kind, Memory

ENDS: Final = "ends"
STEP: Final = 1000
"""Most rows that decay in one transaction."""
ENDED_BY = {"valid_to": "valid_to > ended", "expires": "expires IS NOT NULL"}
"""Columns of ends that come by themselves, and the conditions of their indexes."""


class SqlUpkeep:
    """An UpkeepStore."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def agents(self, tenant: str | None, after: ActiveAgent | None, limit: int) -> list[ActiveAgent]:
        """By tenant and agent."""
        conditions: list[Condition] = []
        if tenant is not None:
            conditions.append(("tenant = ?", [tenant]))
        if after is not None:
            conditions.append(("(tenant, agent_id) > (?, ?)", [after.tenant, after.agent_id]))
        where = "".join(f" AND {text}" for text, _ in conditions)
        arguments: list[Value] = [argument for _, given in conditions for argument in given]

        def script() -> Script[list[ActiveAgent]]:
            rows = yield from fetch(
                f"SELECT tenant, agent_id FROM memories WHERE TRUE{where} UNION"
                f" SELECT tenant, agent_id FROM known_conversations WHERE TRUE{where}"
                " ORDER BY tenant, agent_id LIMIT ?",
                *arguments,
                *arguments,
                limit,
            )
            return [ActiveAgent(tenant=row["tenant"], agent_id=row["agent_id"]) for row in rows]

        return await self._database.read(script)

    async def recent(
        self,
        tenant: str,
        agent_id: str,
        since: datetime,
        limit: int,
        now: datetime,
        *,
        until: datetime | None = None,
    ) -> list[Memory]:
        """Newest first."""
        conditions: list[Condition] = [("created >= ?", [to_micros(since)])]
        if until is not None:
            conditions.append(("created <= ?", [to_micros(until)]))
        return await self._database.read(lambda: _newest(tenant, agent_id, conditions, limit, now))

    async def decay(self, tenant: str, agent_id: str, now: datetime, *, dry: bool) -> int:
        """Once a day, in steps."""
        live, moments = holding(now, None)
        unused = (
            f" FROM memories WHERE tenant = ? AND agent_id = ? AND {live} AND NOT pinned AND confidence > ?"
            " AND coalesce(accessed, created) < ? AND (decay_day IS NULL OR decay_day < ?)"
        )
        which = [tenant, agent_id, *moments, FLOOR, to_micros(now - UNUSED), day_of(now)]

        def count() -> Script[int]:
            row = yield from first(f"SELECT count(*) AS count{unused}", *which)
            return 0 if row is None else int(row["count"])

        # Said again of the rows themselves: another run may change them before this one has locked them.
        def lower() -> Script[int]:
            rows = yield from fetch(
                "UPDATE memories SET decay_from = confidence, decay_day = ?, updated = ?, edits = edits + 1,"
                " confidence = CASE WHEN confidence * ? < ? THEN ? ELSE confidence * ? END"
                f" WHERE tenant = ? AND number IN (SELECT number{unused} LIMIT ?) AND NOT pinned"
                " AND (decay_day IS NULL OR decay_day < ?) RETURNING memory_id",
                day_of(now),
                to_micros(now),
                FACTOR,
                FLOOR,
                FLOOR,
                FACTOR,
                tenant,
                *which,
                STEP,
                day_of(now),
            )
            return len(rows)

        return await (self._database.read(count) if dry else self._in_steps(lower))

    async def undo_decay(self, tenant: str, agent_id: str, day: datetime, now: datetime) -> int:
        """Of that day alone, in steps."""

        def restore() -> Script[int]:
            rows = yield from fetch(
                "UPDATE memories SET confidence = decay_from, decay_from = NULL, updated = ?,"
                " edits = edits + 1 WHERE tenant = ? AND number IN (SELECT number FROM memories"
                " WHERE tenant = ? AND agent_id = ? AND decay_day = ? AND decay_from IS NOT NULL LIMIT ?)"
                " AND decay_day = ? AND decay_from IS NOT NULL RETURNING memory_id",
                to_micros(now),
                tenant,
                tenant,
                agent_id,
                day_of(day),
                STEP,
                day_of(day),
            )
            return len(rows)

        return await self._in_steps(restore)

    async def _in_steps(self, step: Callable[[], Script[int]]) -> int:
        """Until a step changes fewer rows than it may, so that other writers come in between."""
        total = 0
        while True:
            changed = await self._database.write(step)
            total += changed
            if changed < STEP:
                return total

    async def candidates(self, tenant: str, agent_id: str, limit: int, now: datetime) -> list[Memory]:
        """Newest first."""
        conditions: list[Condition] = [
            ("kind <> ? AND fact_type <> ?", [int(Kind.TASK), int(FactType.REFLECTION)]),
            ("valid_to IS NULL AND superseded_by = ''", []),
            (
                "NOT EXISTS (SELECT 1 FROM supersessions AS s WHERE s.tenant = memories.tenant"
                " AND s.agent_id = memories.agent_id AND s.old_id = memories.memory_id AND s.cause = ?"
                " AND s.undone IS NOT NULL)",
                [int(Cause.CONSOLIDATED)],
            ),
        ]
        found = await self._database.read(lambda: _newest(tenant, agent_id, conditions, limit, now))
        return [memory for memory in found if not memory.contradicts]

    async def merge(
        self, tenant: str, agent_id: str, memory_id: str, members: Sequence[Member], now: datetime
    ) -> Memory:
        """In one transaction."""
        return await self._database.write(lambda: merge(tenant, agent_id, memory_id, members, now))

    async def undo_merge(self, tenant: str, agent_id: str, memory_id: str, now: datetime) -> list[Memory]:
        """In one transaction."""
        return await self._database.write(lambda: undo_merge(tenant, agent_id, memory_id, now))

    async def ended(self, since: datetime, until: datetime, after: Ended | None, limit: int) -> list[Ended]:
        """By the end, then in order of writing."""
        place = (to_micros(since), -1) if after is None else (to_micros(after.at), after.number)

        def script() -> Script[list[Ended]]:
            found: list[Ended] = []
            for column, indexed in ENDED_BY.items():
                rows = yield from fetch(
                    f"SELECT tenant, agent_id, memory_id, {column} AS at, number FROM memories"
                    f" WHERE {indexed} AND ({column}, number) > (?, ?) AND {column} <= ?"
                    f" ORDER BY {column}, number LIMIT ?",
                    *place,
                    to_micros(until),
                    limit,
                )
                found += [
                    Ended(
                        tenant=row["tenant"],
                        agent_id=row["agent_id"],
                        memory_id=row["memory_id"],
                        at=from_micros(row["at"]),
                        number=row["number"],
                    )
                    for row in rows
                ]
            return sorted(found, key=lambda one: (one.at, one.number))[:limit]

        return await self._database.read(script)

    async def swept(self) -> datetime | None:
        """Of the installation."""
        row = await self._database.read(
            lambda: first("SELECT upto FROM sweeps WHERE tenant = ? AND name = ?", SYSTEM_TENANT, ENDS)
        )
        return None if row is None else from_micros(row["upto"])

    async def set_swept(self, upto: datetime) -> None:
        """The greatest stays."""
        await self._database.write(
            lambda: execute(
                "INSERT INTO sweeps (tenant, name, upto) VALUES (?, ?, ?) ON CONFLICT (tenant, name)"
                " DO UPDATE SET upto = excluded.upto WHERE sweeps.upto < excluded.upto",
                SYSTEM_TENANT,
                ENDS,
                to_micros(upto),
            )
        )

    async def known_of(self, tenant: str, agent_id: str) -> list[KnownConversation]:
        """By id."""
        rows = await self._database.read(
            lambda: fetch(
                "SELECT conversation_id, highest_sequence FROM known_conversations"
                " WHERE tenant = ? AND agent_id = ? ORDER BY conversation_id",
                tenant,
                agent_id,
            )
        )
        return [
            KnownConversation(
                tenant=tenant,
                agent_id=agent_id,
                conversation_id=row["conversation_id"],
                highest=row["highest_sequence"],
            )
            for row in rows
        ]

    async def kept_of(
        self, tenant: str, agent_id: str, after: str, limit: int, now: datetime
    ) -> list[KeptMemory]:
        """By id: an index gives that order, and that of writing only after all are sorted."""
        rows = await self._database.read(
            lambda: fetch(
                f"SELECT number, memory_id, {(LASTS + UNEXPIRED).format(m='')} AS lasts FROM memories"
                " WHERE tenant = ? AND agent_id = ? AND memory_id > ? ORDER BY memory_id LIMIT ?",
                to_micros(now),
                to_micros(now),
                tenant,
                agent_id,
                after,
                limit,
            )
        )
        return [
            KeptMemory(
                number=row["number"],
                tenant=tenant,
                agent_id=agent_id,
                memory_id=row["memory_id"],
                lasts=bool(row["lasts"]),
            )
            for row in rows
        ]


def _newest(
    tenant: str, agent_id: str, conditions: Sequence[Condition], limit: int, now: datetime
) -> Script[list[Memory]]:
    live, moments = holding(now, None)
    rows = yield from fetch(
        f"SELECT {COLUMNS} FROM memories WHERE tenant = ? AND agent_id = ? AND {live}"
        f"{''.join(f' AND {text}' for text, _ in conditions)} ORDER BY number DESC LIMIT ?",
        tenant,
        agent_id,
        *moments,
        *(argument for _, given in conditions for argument in given),
        limit,
    )
    return (yield from memories_of(tenant, agent_id, rows))
