"""The writer thread, its group commit, and what happens when the store fails (SPEC E-1, SV-5)."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from services.kit.errors import DependencyDown, Overloaded, StartupError
from services.kit.outbox import NewJob, Relay, SqliteOutbox, put
from services.kit.sqlite import CACHE_KIB, READER_CACHE_KIB, CorruptDatabase, Database

OUTBOX = (
    "CREATE TABLE outbox (id INTEGER PRIMARY KEY AUTOINCREMENT, tenant TEXT NOT NULL, agent_id TEXT NOT NULL,"
    " type TEXT NOT NULL, subject TEXT NOT NULL, key TEXT NOT NULL, payload TEXT NOT NULL,"
    " claimed_until REAL NOT NULL DEFAULT 0);"
)


@pytest.fixture
def migrations(tmp_path: Path) -> Path:
    folder = tmp_path / "migrations"
    folder.mkdir()
    (folder / "0001_first.sql").write_text(f"CREATE TABLE t (n INTEGER UNIQUE, s TEXT);\n{OUTBOX}")
    return folder


@pytest.fixture
async def database(tmp_path: Path, migrations: Path) -> AsyncIterator[Database]:
    opened = await Database.open(tmp_path / "x.db", migrations)
    yield opened
    await opened.close()


def insert(n: int, s: str = "") -> Callable[[sqlite3.Connection], object]:
    return lambda c: c.execute("INSERT INTO t VALUES (?, ?)", (n, s)).lastrowid


def numbers(connection: sqlite3.Connection) -> list[int]:
    return [row["n"] for row in connection.execute("SELECT n FROM t ORDER BY n")]


async def test_concurrent_writes_all_land_and_share_commits(database: Database) -> None:
    await asyncio.gather(*(database.write(insert(n)) for n in range(500)))
    assert await database.read(numbers) == list(range(500))


async def test_readers_keep_fewer_pages_than_the_writer(database: Database) -> None:
    """P-16: what all connections of a file keep is bounded."""

    def kept(connection: sqlite3.Connection) -> int:
        return int(connection.execute("PRAGMA cache_size").fetchone()[0])

    assert (await database.write(kept), await database.read(kept)) == (-CACHE_KIB, -READER_CACHE_KIB)


async def test_a_closed_file_is_whole_without_its_log(tmp_path: Path, migrations: Path) -> None:
    """Readers end before the writer, whose end takes the log into the file: what remains is one file."""
    opened = await Database.open(tmp_path / "x.db", migrations, readers=2)
    await opened.write(insert(1))
    assert (tmp_path / "x.db-wal").exists()

    def slow(connection: sqlite3.Connection) -> list[int]:
        found = numbers(connection)
        time.sleep(0.1)
        return found

    reading = asyncio.create_task(opened.read(slow))
    await asyncio.sleep(0.02)
    await opened.close()
    assert await reading == [1]
    assert not (tmp_path / "x.db-wal").exists()


async def test_a_failing_write_undoes_itself_alone(database: Database) -> None:
    def half(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO t VALUES (100, '')")
        raise Overloaded(retry_after=1)

    def double(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO t VALUES (101, '')")
        connection.execute("INSERT INTO t VALUES (1, '')")

    works = [insert(1), half, double, insert(2)]
    results = await asyncio.gather(*(database.write(w) for w in works), return_exceptions=True)
    assert isinstance(results[1], Overloaded)
    assert isinstance(results[2], sqlite3.IntegrityError)
    assert await database.read(numbers) == [1, 2]


async def test_a_cancelled_caller_does_not_stop_the_others(database: Database) -> None:
    doomed = asyncio.ensure_future(database.write(insert(1)))
    await asyncio.sleep(0)
    doomed.cancel()
    await database.write(insert(2))
    assert 2 in await database.read(numbers)


async def test_a_full_disk_is_unavailable_and_writing_goes_on_when_there_is_room(database: Database) -> None:
    def limit(pages: int) -> Callable[[sqlite3.Connection], object]:
        return lambda c: c.execute(f"PRAGMA max_page_count = {pages}").fetchone()[0]

    await database.write(insert(1))
    used = await database.read(lambda c: c.execute("PRAGMA page_count").fetchone()[0])
    await database.write(limit(used))
    with pytest.raises(DependencyDown, match="the store is full; nothing was written"):
        await database.write(insert(2, "x" * 100_000))
    await database.write(limit(1_000_000))
    await database.write(insert(3))
    assert await database.read(numbers) == [1, 3]


async def test_readers_cannot_write(database: Database) -> None:
    with pytest.raises(DependencyDown):
        await database.read(insert(1))
    assert await database.read(numbers) == []


async def test_migrations_run_once_and_a_newer_file_is_refused(tmp_path: Path, migrations: Path) -> None:
    path = tmp_path / "m.db"
    await (await Database.open(path, migrations)).close()
    (migrations / "0002_second.sql").write_text("ALTER TABLE t ADD COLUMN extra TEXT DEFAULT 'e';")
    second = await Database.open(path, migrations)
    await second.write(lambda c: c.execute("INSERT INTO t (n) VALUES (1)").lastrowid)
    assert await second.read(lambda c: c.execute("SELECT extra FROM t").fetchone()[0]) == "e"
    await second.close()
    (migrations / "0002_second.sql").unlink()
    with pytest.raises(StartupError, match="newer version"):
        await Database.open(path, migrations)


async def test_a_failed_migration_leaves_nothing_behind(tmp_path: Path, migrations: Path) -> None:
    (migrations / "0002_bad.sql").write_text("CREATE TABLE half (x);\nCREATE TABLE t (again);")
    with pytest.raises(StartupError):
        await Database.open(tmp_path / "b.db", migrations)
    with sqlite3.connect(tmp_path / "b.db") as connection:
        names = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
    connection.close()
    assert "t" in names
    assert "half" not in names


@pytest.mark.parametrize("damage", ["header", "middle", "text"])
async def test_a_corrupt_file_is_one_clear_error(tmp_path: Path, migrations: Path, damage: str) -> None:
    path = tmp_path / "c.db"
    opened = await Database.open(path, migrations)
    await asyncio.gather(*(opened.write(insert(n, "y" * 500)) for n in range(200)))
    await opened.close()
    data = bytearray(path.read_bytes())
    match damage:
        case "header":
            data[:16] = b"not a database!!"
        case "middle":
            data[4096 * 3 : 4096 * 9] = b"\xab" * (4096 * 6)
        case "text":
            data = bytearray(b"hello\n" * 1000)
    path.write_bytes(data)
    with pytest.raises(CorruptDatabase, match=r"c\.db is corrupt"):
        await Database.open(path, migrations)


async def test_a_folder_that_cannot_be_made_is_one_clear_error(tmp_path: Path, migrations: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StartupError, match="cannot write"):
        await Database.open(tmp_path / "file" / "x.db", migrations)


class Ledger:
    """Takes jobs, or fails as told."""

    def __init__(self) -> None:
        self.keys: list[str] = []
        self.failures = 0

    async def Enqueue(self, request: object) -> None:
        if self.failures:
            self.failures -= 1
            raise DependencyDown
        self.keys += [job.idempotency_key for job in request.jobs]  # type: ignore[attr-defined]


def jobs(*keys: str) -> list[NewJob]:
    return [NewJob(type="t", agent_id="a", subject="s", key=key, payload={"k": key}) for key in keys]


async def test_rows_are_relayed_once_and_deleted(database: Database) -> None:
    ledger = Ledger()
    relay = Relay(SqliteOutbox(database), ledger)
    await database.write(lambda c: put(c, "acme", jobs("1", "2")))
    await database.write(lambda c: put(c, "other", jobs("3")))
    assert await relay.relay_once()
    assert sorted(ledger.keys) == ["1", "2", "3"]
    assert not await relay.relay_once()


async def test_rows_of_a_rolled_back_change_are_never_relayed(database: Database) -> None:
    def fails(connection: sqlite3.Connection) -> None:
        put(connection, "acme", jobs("lost"))
        raise Overloaded(retry_after=1)

    with pytest.raises(Overloaded):
        await database.write(fails)
    await database.write(lambda c: put(c, "acme", jobs("kept")))
    ledger = Ledger()
    await Relay(SqliteOutbox(database), ledger).relay_once()
    assert ledger.keys == ["kept"]


async def test_a_failed_handover_is_repeated(database: Database) -> None:
    ledger = Ledger()
    ledger.failures = 2
    relay = Relay(SqliteOutbox(database), ledger)
    await database.write(lambda c: put(c, "acme", jobs("1")))
    running = asyncio.create_task(relay.run())
    for _ in range(200):
        await asyncio.sleep(0.05)
        if ledger.keys:
            break
    running.cancel()
    assert ledger.keys == ["1"]


async def test_claims_of_a_process_that_died_are_free_at_once(database: Database) -> None:
    await database.write(lambda c: put(c, "acme", jobs("1")))
    assert len(await SqliteOutbox(database).claim(10)) == 1
    living = SqliteOutbox(database)
    assert len(await living.claim(10)) == 1
    assert await living.claim(10) == []
