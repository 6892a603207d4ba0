"""The SQL databases that contract suites run over."""

from __future__ import annotations

from collections.abc import AsyncIterator
from importlib.resources import files
from pathlib import Path

import pytest

from services.kit.postgres import Postgres
from services.kit.sql import SqlDatabase
from services.kit.sqlite import Database, SqliteScripts
from tests.postgres_server import SharedServer, shared_server

EPISODIC = files("services.memory.episodic") / "migrations"


@pytest.fixture(scope="session")
def postgres_server(pytestconfig: pytest.Config) -> SharedServer:
    """The PostgreSQL of this session."""
    return shared_server(pytestconfig)


@pytest.fixture(params=["sqlite", "postgres"])
async def episodic_sql_pair(
    request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncIterator[tuple[SqlDatabase, SqlDatabase]]:
    """Episodic's database, empty, as two replicas see it; a SQLite file has one owner, so it is one twice."""
    if request.param == "sqlite":
        file = await Database.open(tmp_path / "episodic.db", EPISODIC / "sqlite", readers=2)
        scripts = SqliteScripts(file)
        yield scripts, scripts
        await file.close()
        return
    server: SharedServer = request.getfixturevalue("postgres_server")
    async with server.database(EPISODIC / "postgres") as url:
        replicas = [await Postgres.open(url, EPISODIC / "postgres", pool_size=5) for _ in range(2)]
        yield replicas[0], replicas[1]
        for replica in replicas:
            await replica.close()


@pytest.fixture
def episodic_sql(episodic_sql_pair: tuple[SqlDatabase, SqlDatabase]) -> SqlDatabase:
    """Episodic's database, empty."""
    return episodic_sql_pair[0]
