"""What the suites of the memory stores share: stores of two replicas, short ways to write."""

from __future__ import annotations

import json
import sqlite3
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg

from services.kit.sql import SqlDatabase, fetch
from services.memory.semantic.adapters.sql.judgements import SqlJudgements
from services.memory.semantic.adapters.sql.memories import SqlMemories
from services.memory.semantic.adapters.sql.memories_writing import WriteRules
from services.memory.semantic.app.ports import JudgementStore, MemoryQuery, MemoryStore, Remembered
from services.memory.semantic.domain.memory import FactType, Memory, NewMemory, Scope, Source

NOW = datetime(2031, 5, 4, 12, 0, tzinfo=UTC)
DAY = timedelta(days=1)
TASK_LIFETIME = timedelta(days=7)
TENANT, AGENT = "acme", "ada"
AGENT_WIDE = Scope(agent_id=AGENT)
ANN = Scope(agent_id=AGENT, contact_ids=("ann",))
BOB = Scope(agent_id=AGENT, contact_ids=("bob",))
MERGED = Scope(agent_id=AGENT, contact_ids=("ann", "ann-too"))
ANN_TOO = Scope(agent_id=AGENT, contact_ids=("ann-too",))
RACERS = 64
NOT_UNIQUE = (sqlite3.IntegrityError, asyncpg.UniqueViolationError)


class Canonical:
    """Two replicas' stores with short ways to write, and a look at their outbox."""

    def __init__(self, pair: tuple[SqlDatabase, SqlDatabase]) -> None:
        self.database = pair[0]
        self.stores = [SqlMemories(sql, WriteRules(task_lifetime=TASK_LIFETIME)) for sql in pair]
        self.store: MemoryStore = self.stores[0]
        self.judgements: JudgementStore = SqlJudgements(pair[1])
        self._writes = 0

    async def remember(
        self, key: str, value: str, scope: Scope = AGENT_WIDE, now: datetime = NOW, **fields: Any
    ) -> Remembered:
        """Through one replica, then the other."""
        tenant = fields.pop("tenant", TENANT)
        chosen: dict[str, Any] = {
            "fact_type": FactType.FACT,
            "pinned": False,
            "source": Source.EXPLICIT,
            "provenance": (),
            "valid_from": None,
            "request_id": "",
        } | fields
        self._writes += 1
        store = self.stores[self._writes % 2]
        return await store.remember(tenant, NewMemory(scope=scope, key=key, value=value, **chosen), now)

    async def live(self, scope: Scope = AGENT_WIDE, now: datetime = NOW, **fields: Any) -> list[str]:
        page = await self.store.page(TENANT, MemoryQuery(scope=scope, **fields), now)
        return [memory.value for _, memory in page]

    async def chain(self, memory_id: str) -> list[Memory]:
        return list((await self.store.history(TENANT, AGENT, memory_id)).memories)

    async def one(self, memory_id: str) -> Memory:
        return (await self.store.get(TENANT, AGENT, [memory_id]))[memory_id]

    async def jobs(self) -> list[tuple[str, str]]:
        """Tenant and key of each row of the outbox, in order of writing."""
        return [(tenant, key) for tenant, key, _ in await self.outbox()]

    async def index_jobs(self) -> list[tuple[str, str]]:
        """Those of them that index a memory."""
        return [(tenant, key) for tenant, key in await self.jobs() if key.startswith("index_memory/")]

    async def outbox(self) -> list[tuple[str, str, Any]]:
        """Likewise, with the payloads."""
        rows = await self.database.read(lambda: fetch("SELECT tenant, key, payload FROM outbox ORDER BY id"))
        return [(row["tenant"], row["key"], json.loads(row["payload"])) for row in rows]
