"""The stores on SQL: each operation is one script, for SQLite and PostgreSQL alike."""

from __future__ import annotations

import secrets
from importlib.resources import files
from importlib.resources.abc import Traversable

from services.kit.sql import Script, SqlDatabase, execute, first
from services.memory.episodic.adapters.sql.agents import SqlAgents
from services.memory.episodic.adapters.sql.contacts import SqlContacts
from services.memory.episodic.adapters.sql.conversations import SqlConversations
from services.memory.episodic.adapters.sql.history import SqlHistory
from services.memory.episodic.adapters.sql.messages import SqlMessages
from services.memory.episodic.adapters.sql.usage import SqlUsage
from services.memory.episodic.app.ports import Stores
from services.memory.episodic.domain.coverage import CoverRules

SECRET_BYTES = 32
SECRET_NAME = "message-ids"


def migrations(engine: str) -> Traversable:
    """The numbered SQL files of an engine: "sqlite" or "postgres"."""
    return files("services.memory.episodic") / "migrations" / engine


async def sql_stores(
    database: SqlDatabase, *, rules: CoverRules, max_bytes: int, extract: bool = False
) -> Stores:
    """The stores; `max_bytes` bounds the content of an answer.

    `extract` asks for the facts in what is appended.
    """
    secret = await database.write(_installation_secret)
    return Stores(
        agents=SqlAgents(database),
        contacts=SqlContacts(database),
        conversations=SqlConversations(database),
        messages=SqlMessages(database, secret, rules=rules, max_bytes=max_bytes, extract=extract),
        history=SqlHistory(database, secret, rules=rules, max_bytes=max_bytes),
        usage=SqlUsage(database),
    )


def _installation_secret() -> Script[bytes]:
    """Random, made at the first start; all tenants' keys for message ids come from it (E-2)."""
    fresh = secrets.token_bytes(SECRET_BYTES)
    yield from execute(
        "INSERT INTO secrets (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING", SECRET_NAME, fresh
    )
    row = yield from first("SELECT value FROM secrets WHERE name = ?", SECRET_NAME)
    assert row is not None
    return bytes(row["value"])
