"""A service's own database: PostgreSQL where a URL is set, else a file (SPEC §3)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from importlib.resources.abc import Traversable

from pydantic import Field, SecretStr

from services.kit.outbox import SqlOutbox
from services.kit.settings import ServiceSettings
from services.kit.sql import SqlDatabase
from services.kit.sqlite import Database, SqliteScripts


class StoreSettings(ServiceSettings):
    """What a service has that keeps its rows in either engine."""

    database_url: SecretStr = SecretStr("")
    """A PostgreSQL database, e.g. "postgresql://user:password@host/name"; without one, a SQLite file."""
    readers: int = Field(default=2, ge=1, le=32)
    """Threads that read from a SQLite file."""
    pool_size: int = Field(default=10, ge=2, le=200)
    """Connections to PostgreSQL, at most."""
    statement_seconds: float = Field(default=10, gt=0, le=600)
    """How long a statement in PostgreSQL may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """An open database, its outbox, and whether it answers."""

    database: SqlDatabase
    outbox: SqlOutbox
    ready: Callable[[], Awaitable[bool]]


async def open_store(
    settings: StoreSettings, migrations: Callable[[str], Traversable], file: str, stack: AsyncExitStack
) -> Store:
    """Opens a service's database until the stack is left, and applies the migrations that it lacks.

    `migrations` gives the folder of an engine's numbered files ("sqlite", "postgres"), `file` names SQLite's
    in the data folder. Raises StartupError.
    """
    url = settings.database_url.get_secret_value()
    if url:
        # Imported here: the embedded profile is installed without the driver.
        from services.kit.postgres import Postgres

        postgres = await Postgres.open(
            url,
            migrations("postgres"),
            pool_size=settings.pool_size,
            statement_timeout=settings.statement_seconds,
        )
        stack.push_async_callback(postgres.close)
        return Store(database=postgres, outbox=SqlOutbox(postgres), ready=postgres.ready)
    database = await Database.open(settings.data_dir / file, migrations("sqlite"), readers=settings.readers)
    stack.push_async_callback(database.close)
    scripts = SqliteScripts(database)
    return Store(
        database=scripts, outbox=SqlOutbox(scripts, inherits=True), ready=partial(_answers, database)
    )


async def _answers(database: Database) -> bool:
    return bool(await database.read(lambda connection: connection.execute("SELECT 1").fetchone()))
