"""What is summarised, and what is to be (SPEC J-5, J-7); see app.summary_ports.

Which conversations have new messages the ledger knows itself: its table `progress` says up to which message
each is indexed, as every message is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from services.compactor.app.summary_ports import Batch
from services.compactor.domain.schedules import ALL_AGENTS, SYSTEM_TENANT
from services.compactor.domain.themes import Corpus
from services.kit.outbox import NewJob, put_jobs
from services.kit.sql import Row, Script, SqlDatabase, execute, execute_many, fetch, first

INDEXED: Final = "index"
TENANTS: Final = 200
"""Tenants whose batches are asked for in one transaction."""
COUNTED: Final = 1000
"""What is left is counted up to here, for the tenant is locked meanwhile; no batch is sized by more."""
_DUE: Final = (
    " FROM progress p LEFT JOIN summarised s ON s.tenant = p.tenant AND s.agent_id = p.agent_id"
    " AND s.conversation_id = p.conversation_id"
    " WHERE p.tenant = ? AND p.kind = ? AND p.upto >= ? AND p.upto > COALESCE(s.requested, 0)"
)
_LEFT: Final = f"SELECT COUNT(*) AS n FROM (SELECT 1{_DUE} LIMIT ?) AS due"
_REQUEST: Final = (
    "INSERT INTO summarised (tenant, agent_id, conversation_id, requested, upto) VALUES (?, ?, ?, ?, 0)"
    " ON CONFLICT (tenant, agent_id, conversation_id) DO UPDATE SET requested = excluded.requested"
    " WHERE summarised.requested < excluded.requested"
)
_RECORD: Final = (
    "INSERT INTO summarised (tenant, agent_id, conversation_id, requested, upto) VALUES (?, ?, ?, ?, ?)"
    " ON CONFLICT (tenant, agent_id, conversation_id) DO UPDATE SET upto = excluded.upto,"
    " requested = CASE WHEN summarised.requested < excluded.requested THEN excluded.requested"
    " ELSE summarised.requested END"
)
_OF_CONVERSATION: Final = "tenant = ? AND agent_id = ? AND conversation_id = ?"


class SqlSummaryIndex:
    """A SummaryIndex."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def corpus(self, tenant: str, agent_id: str, besides: str, names: Sequence[str]) -> Corpus:
        """See SummaryIndex."""
        return await self._database.read(lambda: _corpus(tenant, agent_id, besides, names))

    async def record(
        self, tenant: str, agent_id: str, conversation_id: str, up_to: int, names: Sequence[str]
    ) -> None:
        """See SummaryIndex."""
        await self._database.write(lambda: _record(tenant, agent_id, conversation_id, up_to, names))

    async def forget(self, tenant: str, agent_id: str, conversation_id: str) -> None:
        """See SummaryIndex."""
        await self._database.write(lambda: _forget(tenant, agent_id, conversation_id))

    async def choose(self, tenant: str, least_messages: int, batch: int, root: str, place: int) -> Batch:
        """See SummaryIndex."""
        return await self._database.write(lambda: _choose(tenant, least_messages, batch, root, place))

    async def spread(self, root: str) -> int:
        """See SummaryIndex. A page of tenants in a transaction; again, jobs have the same keys."""
        after, total = "", 0
        while True:
            tenants = await self._database.write(lambda: _spread(root, after))  # noqa: B023 - awaited at once
            total += len(tenants)
            if len(tenants) < TENANTS:
                return total
            after = tenants[-1]


def _corpus(tenant: str, agent_id: str, besides: str, names: Sequence[str]) -> Script[Corpus]:
    counted = yield from first(
        "SELECT COUNT(*) AS n FROM summarised"
        " WHERE tenant = ? AND agent_id = ? AND conversation_id <> ? AND upto > 0",
        tenant,
        agent_id,
        besides,
    )
    rows: Sequence[Row] = ()
    if names:
        rows = yield from fetch(
            "SELECT name, COUNT(*) AS n FROM summary_concepts"
            " WHERE tenant = ? AND agent_id = ? AND name IN ?? AND conversation_id <> ? GROUP BY name",
            tenant,
            agent_id,
            list(names),
            besides,
        )
    return Corpus(summaries=counted["n"] if counted else 0, having={row["name"]: row["n"] for row in rows})


def _record(
    tenant: str, agent_id: str, conversation_id: str, up_to: int, names: Sequence[str]
) -> Script[None]:
    yield from execute(_RECORD, tenant, agent_id, conversation_id, up_to, up_to)
    yield from execute(
        f"DELETE FROM summary_concepts WHERE {_OF_CONVERSATION}", tenant, agent_id, conversation_id
    )
    yield from execute_many(
        "INSERT INTO summary_concepts (tenant, agent_id, conversation_id, name) VALUES (?, ?, ?, ?)"
        " ON CONFLICT DO NOTHING",
        [(tenant, agent_id, conversation_id, name) for name in sorted(set(names))],
    )


def _forget(tenant: str, agent_id: str, conversation_id: str) -> Script[None]:
    for table in ("summarised", "summary_concepts"):
        yield from execute(f"DELETE FROM {table} WHERE {_OF_CONVERSATION}", tenant, agent_id, conversation_id)


def _choose(tenant: str, least_messages: int, batch: int, root: str, place: int) -> Script[Batch]:
    # Two selectors of a tenant go one after the other, so that none asks for what the other does.
    yield from fetch("SELECT tenant FROM tenants WHERE tenant = ? FOR UPDATE", tenant)
    rows = yield from fetch(
        f"SELECT p.agent_id, p.conversation_id, p.upto{_DUE} ORDER BY p.agent_id, p.conversation_id LIMIT ?",
        *(tenant, INDEXED, least_messages, batch),
    )
    yield from execute_many(
        _REQUEST, [(tenant, row["agent_id"], row["conversation_id"], row["upto"]) for row in rows]
    )
    left = 0
    if len(rows) == batch:
        counted = yield from first(_LEFT, tenant, INDEXED, least_messages, COUNTED)
        left = counted["n"] if counted else 0
    jobs = [_job(row) for row in rows]
    if left:
        jobs.append(_batch_job(root, place + 1, left))
    yield from put_jobs(tenant, jobs)
    return Batch(chosen=len(rows), left=left)


def _spread(root: str, after: str) -> Script[list[str]]:
    """Asks for the batches of the next tenants, which are returned."""
    tenants = yield from _tenants(after)
    for tenant in tenants:
        yield from put_jobs(tenant, [_batch_job(f"{root}/{tenant}", 0, None)])
    return tenants


def _tenants(after: str) -> Script[list[str]]:
    rows = yield from fetch(
        "SELECT tenant FROM tenants WHERE tenant > ? AND tenant <> ? ORDER BY tenant LIMIT ?",
        after,
        SYSTEM_TENANT,
        TENANTS,
    )
    return [row["tenant"] for row in rows]


def _job(row: Row) -> NewJob:
    agent_id, conversation_id, upto = row["agent_id"], row["conversation_id"], row["upto"]
    return NewJob(
        type="summarize_conversation",
        agent_id=agent_id,
        subject=f"conversations/{conversation_id}",
        key=f"summarize_conversation/{agent_id}/{conversation_id}/{upto}",
        payload={"conversation_id": conversation_id, "to_sequence": upto},
    )


def _batch_job(root: str, place: int, left: int | None) -> NewJob:
    payload = {} if left is None else {"root": root, "place": place, "left": left}
    return NewJob(
        type="summarize_batch",
        agent_id=ALL_AGENTS,
        subject="summaries",
        key=f"{root}/{place}",
        payload=payload,
    )
