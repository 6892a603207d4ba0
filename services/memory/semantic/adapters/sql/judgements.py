"""What was found of memories: supersessions, contradictions, verification (SPEC S-7, S-8)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from services.kit.outbox import put_jobs
from services.kit.sql import Script, SqlDatabase, fetch, first
from services.kit.times import to_micros
from services.memory.semantic.adapters.index_jobs import verify_job
from services.memory.semantic.adapters.sql import contradictions, supersessions
from services.memory.semantic.app.ports import ContradictionQuery, Verdict
from services.memory.semantic.domain.memory import Cause, Contradiction, Memory, Verification


class SqlJudgements:
    """A JudgementStore."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def supersede(self, tenant: str, agent_id: str, verdict: Verdict, now: datetime) -> bool:
        """Ends the old memory where the new one begins."""
        return await self._database.write(
            lambda: supersessions.supersede(tenant, agent_id, verdict, now, Cause.JUDGED)
        )

    async def undo_supersession(self, tenant: str, agent_id: str, memory_id: str, now: datetime) -> Memory:
        """Takes back the newest."""
        return await self._database.write(lambda: supersessions.undo(tenant, agent_id, memory_id, now))

    async def record_contradiction(self, tenant: str, agent_id: str, verdict: Verdict, now: datetime) -> bool:
        """Once for two memories."""
        return await self._database.write(lambda: contradictions.record(tenant, agent_id, verdict, now))

    async def contradictions(
        self, tenant: str, query: ContradictionQuery, now: datetime
    ) -> list[Contradiction]:
        """Unresolved ones."""
        return await self._database.read(lambda: contradictions.page(tenant, query, now))

    async def resolve_contradiction(
        self, tenant: str, agent_id: str, contradiction_id: str, kept_id: str, now: datetime
    ) -> Contradiction:
        """Keeps one, or both."""
        return await self._database.write(
            lambda: contradictions.resolve(tenant, agent_id, contradiction_id, kept_id, now)
        )

    async def ask_verification(self, tenant: str, agent_id: str, memory_ids: Sequence[str]) -> None:
        """One transaction for all."""

        def script() -> Script[None]:
            rows = yield from fetch(
                "SELECT memory_id, revision FROM memories WHERE tenant = ? AND agent_id = ?"
                " AND memory_id IN ?? AND verification = ? ORDER BY number",
                tenant,
                agent_id,
                list(memory_ids),
                int(Verification.PENDING),
            )
            jobs = [verify_job(agent_id, row["memory_id"], row["revision"]) for row in rows]
            yield from put_jobs(tenant, jobs)

        await self._database.write(script)

    async def set_verification(
        self, tenant: str, agent_id: str, memory_id: str, verification: Verification, now: datetime
    ) -> bool:
        """How far a memory is verified."""

        def script() -> Script[bool]:
            changed = yield from first(
                "UPDATE memories SET verification = ?, updated = ?, edits = edits + 1"
                " WHERE tenant = ? AND agent_id = ? AND memory_id = ? RETURNING memory_id",
                int(verification),
                to_micros(now),
                tenant,
                agent_id,
                memory_id,
            )
            return changed is not None

        return await self._database.write(script)
