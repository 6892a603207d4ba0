"""Agents."""

from __future__ import annotations

from services.kit.errors import Exists, FieldProblem, NotFound
from services.kit.sql import Row, Script, SqlDatabase, execute, fetch, first
from services.memory.episodic.app.ports import Page
from services.memory.episodic.domain.model import Agent

COLUMNS = "id, display_name, system_prompt, create_time"


class SqlAgents:
    """An AgentStore."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def create(self, tenant: str, agent: Agent) -> Agent:
        """Adds it, or returns the one with the same id and fields."""
        return await self._database.write(lambda: _create(tenant, agent))

    async def get(self, tenant: str, agent_id: str) -> Agent:
        """Reads one."""
        return await self._database.read(lambda: select_agent(tenant, agent_id))

    async def list(
        self, tenant: str, among: frozenset[str] | None, *, limit: int, after: str | None
    ) -> Page[Agent, str]:
        """By id."""
        return await self._database.read(lambda: _list(tenant, among, limit, after))

    async def update(
        self, tenant: str, agent_id: str, *, display_name: str | None, system_prompt: str | None
    ) -> Agent:
        """Changes what is not None."""

        def script() -> Script[Agent]:
            yield from execute(
                "UPDATE agents SET display_name = coalesce(?, display_name),"
                " system_prompt = coalesce(?, system_prompt) WHERE tenant = ? AND id = ?",
                display_name,
                system_prompt,
                tenant,
                agent_id,
            )
            return (yield from select_agent(tenant, agent_id))

        return await self._database.write(script)


def _create(tenant: str, agent: Agent) -> Script[Agent]:
    yield from execute(
        f"INSERT INTO agents (tenant, {COLUMNS}) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        tenant,
        agent.id,
        agent.display_name,
        agent.system_prompt,
        agent.create_time,
    )
    stored = yield from select_agent(tenant, agent.id)
    if (stored.display_name, stored.system_prompt) != (agent.display_name, agent.system_prompt):
        problem = FieldProblem(field="agent_id", description="taken by an agent with other fields")
        raise Exists("an agent with this id has other fields", fields=[problem])
    return stored


def _list(
    tenant: str, among: frozenset[str] | None, limit: int, after: str | None
) -> Script[Page[Agent, str]]:
    chosen, arguments = ("", []) if among is None else (" AND id IN ??", [sorted(among)])
    rows = yield from fetch(
        f"SELECT {COLUMNS} FROM agents WHERE tenant = ? AND id > ?{chosen} ORDER BY id LIMIT ?",
        tenant,
        after or "",
        *arguments,
        limit + 1,
    )
    items = [_agent(row) for row in rows[:limit]]
    return Page(items=items, last=items[-1].id if len(rows) > limit else None)


def select_agent(tenant: str, agent_id: str) -> Script[Agent]:
    """Raises NotFound."""
    row = yield from first(f"SELECT {COLUMNS} FROM agents WHERE tenant = ? AND id = ?", tenant, agent_id)
    if row is None:
        raise NotFound("agent", agent_id)
    return _agent(row)


def require_agent(tenant: str, agent_id: str, *, lock: bool = False) -> Script[None]:
    """Raises NotFound. With `lock`, changes of what belongs to the agent go one after the other."""
    locked = " FOR UPDATE" if lock else ""
    row = yield from first(f"SELECT 1 FROM agents WHERE tenant = ? AND id = ?{locked}", tenant, agent_id)
    if row is None:
        raise NotFound("agent", agent_id)


def _agent(row: Row) -> Agent:
    return Agent(
        id=row["id"],
        display_name=row["display_name"],
        system_prompt=row["system_prompt"],
        create_time=row["create_time"],
    )
