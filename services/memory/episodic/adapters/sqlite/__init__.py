"""The stores on one SQLite file."""

from __future__ import annotations

import secrets
import sqlite3
from importlib.resources import files
from pathlib import Path

from services.kit.sqlite import Database
from services.memory.episodic.adapters.sqlite.agents import SqliteAgents
from services.memory.episodic.adapters.sqlite.contacts import SqliteContacts
from services.memory.episodic.adapters.sqlite.conversations import SqliteConversations
from services.memory.episodic.adapters.sqlite.messages import SqliteMessages
from services.memory.episodic.app.ports import Stores

SECRET_BYTES = 32
SECRET_NAME = "message-ids"


async def open_database(path: Path, *, readers: int) -> Database:
    """Opens or creates the service's file. Raises StartupError."""
    migrations = files("services.memory.episodic") / "migrations" / "sqlite"
    return await Database.open(path, migrations, readers=readers)


async def sqlite_stores(database: Database, *, max_bytes: int, remember_requests: int) -> Stores:
    """The stores; `max_bytes` bounds an answer's content, `remember_requests` is microseconds."""
    secret = await database.write(_installation_secret)
    return Stores(
        agents=SqliteAgents(database),
        contacts=SqliteContacts(database),
        conversations=SqliteConversations(database),
        messages=SqliteMessages(database, secret, max_bytes=max_bytes, remember_requests=remember_requests),
    )


def _installation_secret(connection: sqlite3.Connection) -> bytes:
    """Random, made at the first start; all tenants' keys for message ids come from it (E-2)."""
    connection.execute(
        "INSERT INTO secrets (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING",
        (SECRET_NAME, secrets.token_bytes(SECRET_BYTES)),
    )
    row = connection.execute("SELECT value FROM secrets WHERE name = ?", (SECRET_NAME,)).fetchone()
    return bytes(row["value"])
