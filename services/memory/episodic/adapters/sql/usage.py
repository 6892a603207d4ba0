"""The UsageStore (SPEC E-11): a row for each day, conversation, tier and model."""

from __future__ import annotations

from collections.abc import Sequence

from services.kit.sql import Script, SqlDatabase, execute, fetch
from services.memory.episodic.adapters.sql.agents import require_agent
from services.memory.episodic.app.ports import Usage, UsageKey

MAX_ROWS = 10_000  # of an answer


class SqlUsage:
    """A UsageStore."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def add(self, tenant: str, key: UsageKey, usage: Usage) -> None:
        """Counts calls."""

        def script() -> Script[None]:
            yield from require_agent(tenant, key.agent_id)
            yield from execute(
                "INSERT INTO usage (tenant, agent_id, conversation_id, day, tier, model,"
                " calls, estimated_calls, input_tokens, output_tokens) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (tenant, agent_id, conversation_id, day, tier, model) DO UPDATE SET"
                " calls = usage.calls + excluded.calls,"
                " estimated_calls = usage.estimated_calls + excluded.estimated_calls,"
                " input_tokens = usage.input_tokens + excluded.input_tokens,"
                " output_tokens = usage.output_tokens + excluded.output_tokens",
                *(tenant, key.agent_id, key.conversation_id, key.day, key.tier, key.model),
                *(usage.calls, usage.estimated_calls, usage.input_tokens, usage.output_tokens),
            )

        await self._database.write(script)

    async def total(
        self, tenant: str, agent_id: str, conversation_id: str, first_day: int, last_day: int
    ) -> Sequence[tuple[UsageKey, Usage]]:
        """Counts by day, conversation, tier and model."""

        def script() -> Script[Sequence[tuple[UsageKey, Usage]]]:
            yield from require_agent(tenant, agent_id)
            chosen = " AND conversation_id = ?" if conversation_id else ""
            arguments = [conversation_id] if conversation_id else []
            rows = yield from fetch(
                "SELECT conversation_id, day, tier, model,"
                " calls, estimated_calls, input_tokens, output_tokens"
                f" FROM usage WHERE tenant = ? AND agent_id = ? AND day BETWEEN ? AND ?{chosen}"
                " ORDER BY day DESC, conversation_id, tier, model LIMIT ?",
                *(tenant, agent_id),
                *(first_day, last_day),
                *arguments,
                MAX_ROWS,
            )
            return [
                (
                    UsageKey(
                        agent_id=agent_id,
                        conversation_id=row["conversation_id"],
                        day=row["day"],
                        tier=row["tier"],
                        model=row["model"],
                    ),
                    Usage(
                        calls=row["calls"],
                        estimated_calls=row["estimated_calls"],
                        input_tokens=row["input_tokens"],
                        output_tokens=row["output_tokens"],
                    ),
                )
                for row in rows
            ]

        return await self._database.read(script)
