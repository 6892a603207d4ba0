"""PostgreSQL when a service starts: late, absent, refused, migrated by several at once (SPEC O-1, X-3)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from structlog.testing import capture_logs

from services.kit.errors import StartupError
from services.kit.postgres import Postgres
from services.kit.sql import Script, execute, fetch, first
from tests.postgres_server import LocalServer, SharedServer, own_server, shared_server

Open = Callable[..., Any]


@pytest.fixture
def migrations(tmp_path: Path) -> Path:
    folder = tmp_path / "migrations"
    folder.mkdir()
    (folder / "0001_first.sql").write_text(
        "CREATE TABLE items (id BIGINT PRIMARY KEY, name TEXT NOT NULL DEFAULT '');"
    )
    return folder


@pytest.fixture
def server(pytestconfig: pytest.Config) -> SharedServer:
    return shared_server(pytestconfig)


@pytest.fixture
async def url(server: SharedServer) -> AsyncIterator[str]:
    async with server.database() as made:
        yield made


@pytest.fixture
async def open_(url: str, migrations: Path) -> AsyncIterator[Open]:
    """Opens the test's database, as often as it likes."""
    opened: list[Postgres] = []

    async def make(**options: Any) -> Postgres:
        opened.append(await Postgres.open(url, migrations, **options))
        return opened[-1]

    yield make
    for one in opened:
        await one.close()


@pytest.fixture
def own() -> Iterator[LocalServer]:
    made = own_server()
    yield made
    made.close()


def insert(id_: int) -> Script[None]:
    yield from execute("INSERT INTO items (id) VALUES (?)", id_)


def ids() -> Script[list[int]]:
    return [row["id"] for row in (yield from fetch("SELECT id FROM items ORDER BY id"))]


async def ask(url: str, query: str, *arguments: object) -> Any:
    """Over a connection of its own."""
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetchval(query, *arguments)
    finally:
        await connection.close()


async def test_a_server_that_comes_late_is_waited_for(own: LocalServer, migrations: Path) -> None:
    own.stop()
    opening = asyncio.create_task(Postgres.open(own.url(), migrations))
    await asyncio.sleep(0.5)
    assert not opening.done()
    own.start()
    database = await opening
    assert await database.ready()
    await database.close()


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("postgresql://me:pa55word@127.0.0.1:1/db", "does not answer after 0.3 s"),
        ("postgresql://me:pa55word@/db?host=/nowhere", "does not answer after 0.3 s"),
        ("postgresql://me:pa55word/x@host:5432/db", "URL cannot be used"),
        ("postgresql://me:x@host:pa55word/db", "URL cannot be used"),
        ("pa55word", "URL cannot be used"),
        ("mysql://me:pa55word@host/db", "URL cannot be used"),
        ("postgresql://me:pa55word@127.0.0.1/db?sslmode=pa55word", "URL cannot be used"),
    ],
)
async def test_a_database_that_cannot_be_reached_is_one_clear_error_without_its_password(
    migrations: Path, address: str, message: str
) -> None:
    with capture_logs() as logs, pytest.raises(StartupError, match=message) as caught:
        await Postgres.open(address, migrations, start_seconds=0.3, connect_timeout=0.2)
    assert "pa55word" not in f"{caught.value} {caught.value.__cause__} {logs}"


async def test_a_database_that_does_not_exist_is_said_at_once(url: str, migrations: Path) -> None:
    missing = url.replace("palimpsest_test", "palimpsest_missing")
    with pytest.raises(StartupError, match="no such database"):
        await Postgres.open(missing, migrations)


async def test_replicas_that_start_at_once_migrate_once(open_: Open, migrations: Path, url: str) -> None:
    (migrations / "0002_second.sql").write_text("INSERT INTO items SELECT 5, pg_sleep(0.1)::TEXT; SELECT 1;")
    replicas = await asyncio.gather(*(open_(pool_size=1) for _ in range(4)))
    assert [await replica.read(ids) for replica in replicas] == [[5]] * 4
    assert await ask(url, "SELECT count(*) FROM schema_migrations") == 2
    (migrations / "0003_third.sql").write_text("INSERT INTO items (id) VALUES (6);")
    assert await (await open_()).read(ids) == [5, 6]


async def test_a_database_of_a_newer_version_is_refused(open_: Open, migrations: Path) -> None:
    (migrations / "0002_second.sql").write_text("SELECT 1;")
    await open_()
    (migrations / "0002_second.sql").unlink()
    with pytest.raises(StartupError, match="newer version"):
        await open_()


async def test_a_failed_migration_leaves_nothing_behind(open_: Open, migrations: Path, url: str) -> None:
    (migrations / "0002_bad.sql").write_text("CREATE TABLE half (x INT); CREATE TABLE items (again INT);")
    with pytest.raises(StartupError, match=r"0002_bad failed \(SQLSTATE 42P07\)"):
        await open_()
    assert await ask(url, "SELECT to_regclass('items') IS NOT NULL AND to_regclass('half') IS NULL")


async def test_a_user_without_rights_on_the_schema_can_open_what_is_migrated(
    open_: Open, url: str, migrations: Path
) -> None:
    await open_()
    name = "limited_" + url.split("/")[3].split("?")[0][-12:]
    await ask(url, f"CREATE ROLE {name} LOGIN")
    await ask(url, f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {name}")
    limited = await Postgres.open(url.replace("postgres@", f"{name}@", 1), migrations)
    assert await limited.read(ids) == []
    await limited.close()
    await ask(url, f"DROP OWNED BY {name}")
    await ask(url, f"DROP ROLE {name}")


async def test_a_database_of_another_encoding_is_refused(server: SharedServer, migrations: Path) -> None:
    name = "palimpsest_test_ascii"
    await ask(server.url, f"CREATE DATABASE {name} ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0")
    try:
        with pytest.raises(StartupError, match="not UTF8"):
            await Postgres.open(server.url_of(name), migrations)
    finally:
        await ask(server.url, f"DROP DATABASE {name}")


async def test_scripts_work_without_prepared_statements(open_: Open) -> None:
    """As behind PgBouncer in transaction mode."""
    database = await open_(statement_cache_size=0)
    await asyncio.gather(*(database.write(lambda n=n: insert(n)) for n in range(5)))
    assert await database.read(ids) == [0, 1, 2, 3, 4]
    row = await database.read(lambda: first("SELECT count(*) AS n FROM pg_prepared_statements"))
    assert row["n"] <= 1
