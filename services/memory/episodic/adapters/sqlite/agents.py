"""Agents in SQLite."""

from __future__ import annotations

import json
import sqlite3

from services.kit.errors import Exists, FieldProblem, NotFound
from services.kit.sqlite import Database
from services.memory.episodic.app.ports import Page
from services.memory.episodic.domain.model import Agent

COLUMNS = "id, display_name, system_prompt, create_time"


class SqliteAgents:
    """An AgentStore."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, tenant: str, agent: Agent) -> Agent:
        """Adds it, or returns the one with the same id and fields."""

        def work(connection: sqlite3.Connection) -> Agent:
            connection.execute(
                f"INSERT INTO agents (tenant, {COLUMNS}) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                (tenant, agent.id, agent.display_name, agent.system_prompt, agent.create_time),
            )
            stored = select_agent(connection, tenant, agent.id)
            if (stored.display_name, stored.system_prompt) != (agent.display_name, agent.system_prompt):
                problem = FieldProblem(field="agent_id", description="taken by an agent with other fields")
                raise Exists("an agent with this id has other fields", fields=[problem])
            return stored

        return await self._database.write(work)

    async def get(self, tenant: str, agent_id: str) -> Agent:
        """Reads one."""
        return await self._database.read(lambda c: select_agent(c, tenant, agent_id))

    async def list(
        self, tenant: str, among: frozenset[str] | None, *, limit: int, after: str | None
    ) -> Page[Agent, str]:
        """By id."""
        chosen = "" if among is None else " AND id IN (SELECT value FROM json_each(?))"
        arguments = (tenant, after or "", *(() if among is None else (json.dumps(sorted(among)),)), limit + 1)

        def work(connection: sqlite3.Connection) -> Page[Agent, str]:
            rows = connection.execute(
                f"SELECT {COLUMNS} FROM agents WHERE tenant = ? AND id > ?{chosen} ORDER BY id LIMIT ?",
                arguments,
            ).fetchall()
            items = [_agent(row) for row in rows[:limit]]
            return Page(items=items, last=items[-1].id if len(rows) > limit else None)

        return await self._database.read(work)

    async def update(
        self, tenant: str, agent_id: str, *, display_name: str | None, system_prompt: str | None
    ) -> Agent:
        """Changes what is not None."""

        def work(connection: sqlite3.Connection) -> Agent:
            connection.execute(
                "UPDATE agents SET display_name = coalesce(?, display_name),"
                " system_prompt = coalesce(?, system_prompt) WHERE tenant = ? AND id = ?",
                (display_name, system_prompt, tenant, agent_id),
            )
            return select_agent(connection, tenant, agent_id)

        return await self._database.write(work)


def select_agent(connection: sqlite3.Connection, tenant: str, agent_id: str) -> Agent:
    """Raises NotFound."""
    row = connection.execute(
        f"SELECT {COLUMNS} FROM agents WHERE tenant = ? AND id = ?", (tenant, agent_id)
    ).fetchone()
    if row is None:
        raise NotFound("agent", agent_id)
    return _agent(row)


def require_agent(connection: sqlite3.Connection, tenant: str, agent_id: str) -> None:
    """Raises NotFound."""
    found = connection.execute(
        "SELECT 1 FROM agents WHERE tenant = ? AND id = ?", (tenant, agent_id)
    ).fetchone()
    if found is None:
        raise NotFound("agent", agent_id)


def _agent(row: sqlite3.Row) -> Agent:
    return Agent(
        id=row["id"],
        display_name=row["display_name"],
        system_prompt=row["system_prompt"],
        create_time=row["create_time"],
    )
