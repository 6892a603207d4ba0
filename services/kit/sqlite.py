"""SQLite for a service: one writer thread with group commit, a few readers, migrations.

Writes of concurrent callers share a transaction: the writer takes all that wait, runs each in a savepoint,
commits once, and only then answers, so that an answer means "synced" (SPEC E-1) and the cost of a sync is
shared. WAL lets readers go on meanwhile.
"""

from __future__ import annotations

import asyncio
import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Literal, TypeVar

import structlog

from services.kit.errors import DependencyDown, PalimpsestError, StartupError
from services.kit.sql import Row, Script, arguments_for_sqlite, for_sqlite

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]
Synchronous = Literal["FULL", "NORMAL"]

MAX_GROUP = 512  # writes that share a transaction
BUSY_TIMEOUT_MS = 5_000
CACHE_KIB = 8_192  # of the connection that writes, whose pages are changed again and again
READER_CACHE_KIB = 2_048  # there are two for each file; what is read again is in the system's cache (P-16)
CHECKPOINT_PAGES = 4_000  # 16 MiB of WAL: appends to many conversations touch the same pages again and again
MISTAKE = "SQLITE_ERROR"  # a statement that SQLite doesn't understand, e.g. of a column that isn't there
_NO_ROWS: Sequence[Row] = ()
QUICK_CHECK_BYTES = 64 * 1024 * 1024  # larger files are not read whole at start (P-10)


class CorruptDatabase(StartupError):
    """A database file cannot be read."""


@dataclass(slots=True)
class _Pending:
    work: Work[Any]
    future: asyncio.Future[Any]
    result: Any = None
    error: BaseException | None = None


class Database:
    """One SQLite file. Made by `open`; `close` ends its threads."""

    def __init__(self, path: Path, connection: sqlite3.Connection, readers: int) -> None:
        self.path = path
        self._loop = asyncio.get_running_loop()
        self._queue: queue.SimpleQueue[_Pending | None] = queue.SimpleQueue()
        self._writer = threading.Thread(
            target=self._write_loop, args=(connection,), name=f"sqlite-{path.stem}", daemon=True
        )
        self._reads: queue.SimpleQueue[_Pending | None] = queue.SimpleQueue()
        self._readers = [
            threading.Thread(target=self._read_loop, name=f"sqlite-read-{path.stem}", daemon=True)
            for _ in range(readers)
        ]
        self._closed = False
        self._log = structlog.get_logger("sqlite")
        for thread in (self._writer, *self._readers):
            thread.start()

    @classmethod
    async def open(
        cls,
        path: Path,
        migrations: Traversable,
        *,
        readers: int = 2,
        synchronous: Synchronous = "FULL",
    ) -> Database:
        """Opens or creates the file and applies the migrations that it lacks.

        Raises CorruptDatabase, or StartupError when the file can't be written or is newer than the code.
        """
        connection = await asyncio.to_thread(_open_checked, path, migrations, synchronous)
        return cls(path, connection, readers)

    async def write(self, work: Work[T]) -> T:
        """Runs `work` in the writer thread; returns once its transaction is committed and synced.

        An exception undoes this work alone. Raises DependencyDown when the store fails.
        """
        return await self._hand(work, self._queue)

    async def read(self, work: Work[T]) -> T:
        """Runs `work` in a reader thread, within one snapshot."""
        return await self._hand(work, self._reads)

    async def close(self) -> None:
        """Waits for what was queued, then closes every connection.

        The writer's last: only a connection that may write takes the WAL into the file when it ends.
        """
        if self._closed:
            return
        self._closed = True
        for _ in self._readers:
            self._reads.put(None)
        for thread in self._readers:
            await asyncio.to_thread(thread.join)
        self._queue.put(None)
        await asyncio.to_thread(self._writer.join)

    async def _hand(self, work: Work[T], to: queue.SimpleQueue[_Pending | None]) -> T:
        if self._closed:
            raise DependencyDown
        pending = _Pending(work=work, future=self._loop.create_future())
        to.put(pending)
        result: T = await pending.future
        return result

    def _read_loop(self) -> None:
        """A reader's thread. An executor would take longer to hand over a read than most reads take."""
        connection: sqlite3.Connection | None = None
        while (pending := self._reads.get()) is not None:
            if not pending.future.cancelled():
                try:
                    connection = connection or _connect_reader(self.path)
                    pending.result = _read(connection, pending.work)
                except sqlite3.DatabaseError as error:
                    pending.error = self._fault(error)
                except Exception as error:  # noqa: BLE001 - handed to the caller of `read`
                    pending.error = error
                self._loop.call_soon_threadsafe(_answer, [pending])
            del pending  # or else its result would be kept until the next one comes
        if connection is not None:
            connection.close()

    def _write_loop(self, connection: sqlite3.Connection) -> None:
        open_ = True
        while open_:
            group, open_ = self._next_group()
            if group:
                self._commit(connection, group)
                self._loop.call_soon_threadsafe(_answer, group)
        connection.close()

    def _next_group(self) -> tuple[list[_Pending], bool]:
        """All writes that wait (at least one, unless closing), and whether more may come."""
        group: list[_Pending] = []
        item = self._queue.get()
        while item is not None:
            group.append(item)
            if len(group) == MAX_GROUP:
                return group, True
            try:
                item = self._queue.get_nowait()
            except queue.Empty:
                return group, True
        return group, False

    def _commit(self, connection: sqlite3.Connection, group: list[_Pending]) -> None:
        try:
            connection.execute("BEGIN IMMEDIATE")
            for pending in group:
                self._run_one(connection, pending)
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            fault = self._fault(error)
            if connection.in_transaction:
                connection.rollback()
            for pending in group:
                pending.error = pending.error or fault

    def _run_one(self, connection: sqlite3.Connection, pending: _Pending) -> None:
        connection.execute("SAVEPOINT work")
        try:
            pending.result = pending.work(connection)
        except sqlite3.DatabaseError as error:
            if not connection.in_transaction:
                raise  # SQLite undid the whole transaction (disk full, I/O): the group fails
            pending.error = self._fault(error)
            connection.execute("ROLLBACK TO work")
        except Exception as error:  # noqa: BLE001 - handed to the caller of `write`
            pending.error = error
            connection.execute("ROLLBACK TO work")
        connection.execute("RELEASE work")

    def _fault(self, error: sqlite3.Error) -> PalimpsestError | sqlite3.Error:
        """Failures of the store become DependencyDown; the code's own mistakes stay what they are."""
        if getattr(error, "sqlite_errorname", "") == MISTAKE:
            return error
        if isinstance(error, sqlite3.OperationalError) or type(error) is sqlite3.DatabaseError:
            name = getattr(error, "sqlite_errorname", "UNKNOWN")
            self._log.error("store_failed", database=self.path.name, error=name)
            what = "is full" if name == "SQLITE_FULL" else "failed"
            return DependencyDown(f"the store {what}; nothing was written")
        return error


class SqliteScripts:
    """A SqlDatabase over one SQLite file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def write(self, script: Callable[[], Script[T]]) -> T:
        """Runs a script in the writer thread, committed and synced with its group."""
        return await self._database.write(lambda connection: run_script(connection, script()))

    async def read(self, script: Callable[[], Script[T]]) -> T:
        """Runs a script in a reader thread, within one snapshot."""
        return await self._database.read(lambda connection: run_script(connection, script()))


def run_script(connection: sqlite3.Connection, script: Script[T]) -> T:
    """Runs a script on a connection, inside the transaction that is open there."""
    try:
        statement = next(script)
        while True:
            text, rows = for_sqlite(statement.text), _NO_ROWS
            if statement.many:
                connection.executemany(text, statement.arguments)
            else:
                rows = connection.execute(text, arguments_for_sqlite(statement.arguments)).fetchall()
            statement = script.send(rows)
    except StopIteration as end:
        result: T = end.value
        return result
    finally:
        script.close()


def _read(connection: sqlite3.Connection, work: Work[T]) -> T:
    connection.execute("BEGIN")
    try:
        return work(connection)
    finally:
        connection.rollback()


def _answer(group: list[_Pending]) -> None:
    for pending in group:
        if pending.future.done():
            continue  # the caller was cancelled; its write stands
        if pending.error is not None:
            pending.future.set_exception(pending.error)
        else:
            pending.future.set_result(pending.result)


def _connect(path: Path, synchronous: Synchronous = "FULL") -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, cached_statements=512)
    connection.row_factory = sqlite3.Row
    connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    connection.execute(f"PRAGMA synchronous = {synchronous}")
    connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def _connect_reader(path: Path) -> sqlite3.Connection:
    connection = _connect(path)
    connection.execute("PRAGMA query_only = ON")
    connection.execute(f"PRAGMA cache_size = -{READER_CACHE_KIB}")
    return connection


def _open_checked(path: Path, migrations: Traversable, synchronous: Synchronous) -> sqlite3.Connection:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = _connect(path, synchronous)
        try:
            _prepare(connection, path, migrations)
        except BaseException:
            connection.close()
            raise
    except sqlite3.OperationalError as error:
        raise StartupError(f"cannot open the database {path}: {error}") from error
    except sqlite3.DatabaseError as error:
        raise CorruptDatabase(f"{path} is corrupt or not a database: {error}") from error
    except OSError as error:
        raise StartupError(f"cannot write {path}: {error.strerror}") from error
    return connection


def _prepare(connection: sqlite3.Connection, path: Path, migrations: Traversable) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    if path.stat().st_size <= QUICK_CHECK_BYTES:
        verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if verdict != "ok":
            raise CorruptDatabase(f"{path} is corrupt: {verdict.splitlines()[-1]}")
    migrate(connection, migrations, path)


def migrate(connection: sqlite3.Connection, migrations: Traversable, path: Path) -> None:
    """Applies the numbered SQL files (`0001_name.sql` …) that the database has not seen, in order.

    Each is one transaction with its own record. A database with a number that the code does not know was
    written by a newer version: StartupError.
    """
    connection.execute(
        "CREATE TABLE IF NOT EXISTS schema_migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL)"
    )
    done = {row["number"] for row in connection.execute("SELECT number FROM schema_migrations")}
    scripts = sorted(
        (file for file in migrations.iterdir() if file.name.endswith(".sql")), key=lambda f: f.name
    )
    known = {int(script.name.split("_", 1)[0]): script for script in scripts}
    if done - known.keys():
        raise StartupError(f"{path} was written by a newer version of Palimpsest")
    for number, script in known.items():
        if number not in done:
            record = f"INSERT INTO schema_migrations VALUES ({number}, '{script.name.removesuffix('.sql')}');"
            connection.executescript(f"BEGIN IMMEDIATE;\n{script.read_text('utf-8')}\n{record}\nCOMMIT;")
