"""The SQL databases that contract suites run over."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import pytest

from services.kit.postgres import Postgres
from services.kit.sql import SqlDatabase
from services.kit.sqlite import Database, SqliteScripts
from tests.postgres_server import SharedServer, shared_server

COMPACTOR = files("services.compactor") / "migrations"
EPISODIC = files("services.memory.episodic") / "migrations"
SEMANTIC = files("services.memory.semantic") / "migrations"
GATEWAY = files("services.gateway") / "migrations"


@pytest.fixture(scope="session")
def postgres_server(pytestconfig: pytest.Config) -> SharedServer:
    """The PostgreSQL of this session."""
    return shared_server(pytestconfig)


Pair = tuple[SqlDatabase, SqlDatabase]


@asynccontextmanager
async def pair_of(request: pytest.FixtureRequest, migrations: Traversable, path: Path) -> AsyncIterator[Pair]:
    """A database, empty, as two replicas see it; a SQLite file has one owner, so it is one twice."""
    if request.param == "sqlite":
        file = await Database.open(path, migrations / "sqlite", readers=2)
        scripts = SqliteScripts(file)
        yield scripts, scripts
        await file.close()
        return
    server: SharedServer = request.getfixturevalue("postgres_server")
    async with server.database(migrations / "postgres") as url:
        replicas = [await Postgres.open(url, migrations / "postgres", pool_size=5) for _ in range(2)]
        yield replicas[0], replicas[1]
        for replica in replicas:
            await replica.close()


@pytest.fixture(params=["sqlite", "postgres"])
async def episodic_sql_pair(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Pair]:
    """Episodic's database as two replicas see it."""
    async with pair_of(request, EPISODIC, tmp_path / "episodic.db") as pair:
        yield pair


@pytest.fixture
def episodic_sql(episodic_sql_pair: Pair) -> SqlDatabase:
    """Episodic's database, empty."""
    return episodic_sql_pair[0]


@pytest.fixture(params=["sqlite", "postgres"])
async def semantic_sql_pair(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Pair]:
    """Semantic's database of memories as two replicas see it."""
    async with pair_of(request, SEMANTIC, tmp_path / "semantic.db") as pair:
        yield pair


@pytest.fixture
def semantic_sql(semantic_sql_pair: Pair) -> SqlDatabase:
    """Semantic's database of memories, empty."""
    return semantic_sql_pair[0]


@pytest.fixture(params=["memory", "sqlite", "postgres"])
async def gateway_sql_pair(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Pair | None]:
    """The gateway's database as two replicas see it; None where the suite's adapter is in memory."""
    if request.param == "memory":
        yield None
        return
    async with pair_of(request, GATEWAY, tmp_path / "gateway.db") as pair:
        yield pair


@pytest.fixture(params=["sqlite", "postgres"])
async def compactor_sql_pair(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Pair]:
    """The Compactor's database as two replicas see it."""
    async with pair_of(request, COMPACTOR, tmp_path / "compactor.db") as pair:
        yield pair


@pytest.fixture
def compactor_sql(compactor_sql_pair: Pair) -> SqlDatabase:
    """The Compactor's database, empty."""
    return compactor_sql_pair[0]
