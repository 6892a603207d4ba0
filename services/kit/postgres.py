"""PostgreSQL for a service: scripts over a pool of asyncpg connections, failures, migrations.

A transaction brings its settings with it, in the message that begins it: a commit is synced whatever the
server's default says (SPEC E-1), and nothing depends on the session. So it also works behind PgBouncer in
transaction mode, given `statement_cache_size=0`.

Connections come and go with the server: what fails is the call (DependencyDown), never the pool. A driver's
text may quote stored content, so only SQLSTATEs are logged and the errors raised here carry no cause (X-3).
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from importlib.resources.abc import Traversable
from typing import TypeAlias, TypeVar

import asyncpg
import structlog
from asyncpg.pool import PoolConnectionProxy

from services.kit.errors import DependencyDown, InvalidRequest, PalimpsestError, StartupError
from services.kit.sql import Row, Script, first, for_postgres

T = TypeVar("T")
Connection: TypeAlias = "PoolConnectionProxy[asyncpg.Record]"

POOL_SIZE = 10
STATEMENT_CACHE_SIZE = 512
STATEMENT_SECONDS = 30.0
LOCK_SECONDS = 10.0
CONNECT_SECONDS = 5.0
ACQUIRE_SECONDS = 10.0
READY_SECONDS = 5.0
START_SECONDS = 30.0
START_POLL_SECONDS = 0.2
GRACE_SECONDS = (
    5.0  # a client gives up this much after the server should have; also for an undo, and to close
)
ATTEMPTS = 5
FIRST_PAUSE_SECONDS = 0.01
MIN_VERSION = 15
MIGRATION_LOCK = 0x70616C69  # pg_advisory_xact_lock; any number that other programs are unlikely to take

UNAVAILABLE = "the store is not available"
# By SQLSTATE, else by its class.
FAILURES = {
    "53100": "the store is full; nothing was written",
    "25006": "the store takes no writes; nothing was written",
    "57014": "the store took too long; nothing was written",
    "55P03": "what this call changes is locked by another; nothing was written",
    "25P03": UNAVAILABLE,  # idle in transaction for too long
    "3D000": UNAVAILABLE,  # no such database
    "08": UNAVAILABLE,  # the connection
    "28": UNAVAILABLE,  # credentials refused
    "53": UNAVAILABLE,  # out of memory, of connections
    "57": UNAVAILABLE,  # stopping, starting
    "58": UNAVAILABLE,  # its files
    "XX": UNAVAILABLE,  # its own mistakes, corruption
}
# A person's mistakes, which waiting does not mend.
REFUSALS = {
    "28P01": "the database refuses the user or the password",
    "28000": "the database refuses the user or the password",
    "3D000": "the server has no such database",
}
_NO_ROWS: Sequence[Row] = ()
_FRESH = (  # undone by the server: to be run again
    asyncpg.SerializationError,
    asyncpg.DeadlockDetectedError,
    # Another process migrated the schema; the statement will be prepared anew.
    asyncpg.InvalidCachedStatementError,
    asyncpg.OutdatedSchemaCacheError,
)
# An InternalClientError, too, is a lost connection: the driver stumbles over a server that says farewell
# between two statements.
_DRIVER = (
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    OSError,
    TimeoutError,
)


class Postgres:
    """A SqlDatabase over one PostgreSQL database. Made by `open`; `close` ends its connections."""

    def __init__(
        self,
        pool: asyncpg.Pool[asyncpg.Record],
        *,
        statement_seconds: float,
        lock_seconds: float,
        acquire_seconds: float,
    ) -> None:
        settings = _settings(statement_seconds, lock_seconds)
        self._pool = pool
        self._begin_write = f"BEGIN ISOLATION LEVEL READ COMMITTED; {settings}"
        self._begin_read = f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {settings}"
        self._acquire_seconds = acquire_seconds
        self._undoing: set[asyncio.Task[None]] = set()
        self._log = structlog.get_logger("postgres")

    @classmethod
    async def open(
        cls,
        url: str,
        migrations: Traversable,
        *,
        pool_size: int = POOL_SIZE,
        statement_timeout: float = STATEMENT_SECONDS,
        lock_timeout: float = LOCK_SECONDS,
        connect_timeout: float = CONNECT_SECONDS,
        acquire_timeout: float = ACQUIRE_SECONDS,
        start_seconds: float = START_SECONDS,
        statement_cache_size: int = STATEMENT_CACHE_SIZE,
    ) -> Postgres:
        """Connects, and applies the migrations that the database lacks.

        `url` is a PostgreSQL URI, with several hosts and `target_session_attrs=primary` if need be; timeouts
        are in seconds. A server that does not answer is waited for, `start_seconds` at most. Behind PgBouncer
        in transaction mode, `statement_cache_size` must be 0. Raises StartupError, which never holds the URL.
        """

        async def connect() -> asyncpg.Pool[asyncpg.Record]:
            connection = await asyncpg.connect(
                url, timeout=connect_timeout, statement_cache_size=statement_cache_size
            )
            try:
                await _check_server(connection)
                await migrate_postgres(connection, migrations)
            finally:
                await connection.close(timeout=GRACE_SECONDS)
            return await asyncpg.create_pool(
                url,
                min_size=0,
                max_size=pool_size,
                timeout=connect_timeout,
                command_timeout=statement_timeout + GRACE_SECONDS,
                statement_cache_size=statement_cache_size,
                server_settings={"application_name": "palimpsest"},
                reset=_nothing_to_reset,
            )

        return cls(
            await _patiently(connect, start_seconds),
            statement_seconds=statement_timeout,
            lock_seconds=lock_timeout,
            acquire_seconds=acquire_timeout,
        )

    async def write(self, script: Callable[[], Script[T]]) -> T:
        """Runs a script in a READ COMMITTED transaction; returns once it is committed and synced.

        An exception undoes all of it. A script that lost against another (serialisation failure, deadlock) is
        run again from its start, ATTEMPTS times in all. Raises DependencyDown; when the connection was lost
        during the commit, the change may have been made all the same.
        """
        return await self._run(self._begin_write, script)

    async def read(self, script: Callable[[], Script[T]]) -> T:
        """Runs a script that only reads, within one snapshot (REPEATABLE READ, READ ONLY)."""
        return await self._run(self._begin_read, script)

    async def ready(self) -> bool:
        """Whether the server answers, within READY_SECONDS."""
        try:
            async with asyncio.timeout(READY_SECONDS):
                return await self.read(lambda: first("SELECT 1 AS one")) is not None
        except (DependencyDown, TimeoutError):
            return False

    async def close(self) -> None:
        """Lets what runs end, for a while, then closes every connection."""
        try:
            async with asyncio.timeout(GRACE_SECONDS):
                await self._pool.close()
        except _DRIVER:
            self._pool.terminate()

    async def _run(self, begin: str, script: Callable[[], Script[T]]) -> T:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return await self._transaction(begin, script)
            except _FRESH as error:
                self._log.info("transaction_repeated", error=type(error).__name__, attempt=attempt)
            except _DRIVER as error:
                fault = self._fault(error)
                if fault is None:
                    raise
                if isinstance(error, asyncpg.ReadOnlySQLTransactionError):
                    # After a failover these lead to what is now a standby; others may lead to the primary.
                    await self._pool.expire_connections()
                raise fault from None
            await asyncio.sleep(random.uniform(0, FIRST_PAUSE_SECONDS * 2**attempt))
        raise DependencyDown("the store is too busy; nothing was written")

    async def _transaction(self, begin: str, script: Callable[[], Script[T]]) -> T:
        connection = await self._begin(begin)
        try:
            result = await _drive(connection, script())
            if await connection.execute("COMMIT") != "COMMIT":
                raise DependencyDown("the store undid the transaction; nothing was written")
        except BaseException as error:
            lost = isinstance(error, asyncpg.InterfaceError) and _is_closed(connection)
            await self._undo(connection, error)
            if lost:
                raise ConnectionResetError from None
            raise
        with suppress(*_DRIVER):  # what is committed is committed
            await self._pool.release(connection)
        return result

    async def _begin(self, begin: str) -> Connection:
        """A connection with its transaction begun.

        One that broke while nobody used it shows it here, where nothing is lost by taking another; it is no
        longer in the pool then, so no more than a pool of them is met.
        """
        for _ in range(self._pool.get_max_size()):
            connection = await self._pool.acquire(timeout=self._acquire_seconds)
            try:
                await connection.execute(begin)
            except BaseException as error:
                broken = isinstance(error, asyncpg.InternalClientError) or (
                    isinstance(error, _DRIVER) and _is_closed(connection)
                )
                await self._undo(connection, error)
                if not broken:
                    raise
            else:
                return connection
        raise ConnectionResetError

    async def _undo(self, connection: Connection, error: BaseException) -> None:
        """Ends the transaction and gives the connection back.

        A caller that is cancelled, before or meanwhile, does not wait for it.
        """
        task = asyncio.create_task(self._undo_now(connection))
        self._undoing.add(task)
        task.add_done_callback(self._undoing.discard)
        if not isinstance(error, asyncio.CancelledError):
            await asyncio.shield(task)

    async def _undo_now(self, connection: Connection) -> None:
        try:
            if not _is_closed(connection):
                await connection.execute("ROLLBACK", timeout=GRACE_SECONDS)
        except _DRIVER:
            with suppress(asyncpg.InterfaceError):
                connection.terminate()
        with suppress(*_DRIVER):
            await self._pool.release(connection, timeout=GRACE_SECONDS)

    def _fault(self, error: Exception) -> PalimpsestError | None:
        """Failures of the store become DependencyDown; None for the code's own mistakes."""
        if isinstance(error, asyncpg.CharacterNotInRepertoireError):
            return InvalidRequest("a text holds a NUL character, which no store of ours keeps")
        if isinstance(error, asyncpg.PostgresError):
            sqlstate = str(error.sqlstate)
            message = FAILURES.get(sqlstate) or FAILURES.get(sqlstate[:2])
        elif isinstance(error, asyncpg.InterfaceError):
            sqlstate, message = "", UNAVAILABLE if self._pool.is_closing() else None
        else:
            sqlstate, message = "", UNAVAILABLE
        if message is None:
            return None
        self._log.error("store_failed", sqlstate=sqlstate, error=type(error).__name__)
        return DependencyDown(message)


def _is_closed(connection: Connection) -> bool:
    try:
        return connection.is_closed()
    except asyncpg.InterfaceError:  # the pool took it back when it broke
        return True


async def _drive(connection: Connection, script: Script[T]) -> T:
    """Runs a script on a connection, inside the transaction that is open there."""
    try:
        statement = next(script)
        while True:
            text, rows = for_postgres(statement.text), _NO_ROWS
            if statement.many:
                await connection.executemany(text, statement.arguments)
            else:
                rows = await connection.fetch(text, *statement.arguments)
            statement = script.send(rows)
    except StopIteration as end:
        result: T = end.value
        return result
    finally:
        script.close()


def _settings(statement_seconds: float, lock_seconds: float) -> str:
    """What each transaction sets for itself."""
    statement, lock = round(statement_seconds * 1000), round(lock_seconds * 1000)
    return (
        "SET LOCAL synchronous_commit = on;"
        f" SET LOCAL statement_timeout = {statement};"
        f" SET LOCAL lock_timeout = {lock};"
        # A client that stops in the middle holds its locks no longer than a slow statement.
        f" SET LOCAL idle_in_transaction_session_timeout = {statement};"
        " SET LOCAL jit = off"  # compiling costs more than any statement here takes
    )


async def _nothing_to_reset(_connection: object) -> None:
    """In place of asyncpg's reset, a round trip for each call: transactions leave nothing in the session."""


async def _patiently(connect: Callable[[], Awaitable[T]], seconds: float) -> T:
    """What `connect` gives, tried again for `seconds` while the server is not there."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while True:
        try:
            return await connect()
        except asyncpg.PostgresError as error:
            sqlstate = str(error.sqlstate)
            if sqlstate in REFUSALS:
                raise StartupError(REFUSALS[sqlstate]) from None
            if sqlstate not in FAILURES and sqlstate[:2] not in FAILURES:
                raise StartupError(f"the database cannot be used (SQLSTATE {sqlstate})") from None
            late = f"the database is not ready after {seconds:g} s (SQLSTATE {sqlstate})"
        except (OSError, TimeoutError):
            late = f"the database does not answer after {seconds:g} s"
        except (asyncpg.InterfaceError, ValueError):
            raise StartupError(
                "the database's URL cannot be used"
            ) from None  # the text may quote its password
        if loop.time() >= deadline:
            raise StartupError(late)
        await asyncio.sleep(START_POLL_SECONDS)


async def _check_server(connection: asyncpg.Connection[asyncpg.Record]) -> None:
    if connection.get_server_version().major < MIN_VERSION:
        raise StartupError(f"PostgreSQL {MIN_VERSION} or newer is needed")
    if await connection.fetchval("SHOW server_encoding") != "UTF8":
        raise StartupError("the database's encoding is not UTF8")


async def migrate_postgres(connection: asyncpg.Connection[asyncpg.Record], migrations: Traversable) -> None:
    """Applies the numbered SQL files (`0001_name.sql` …) that the database has not seen, in order.

    Each is one transaction with its own record, under a lock: processes that start at once wait for each
    other. Where nothing is lacking, nothing is written, so a user without rights to change the schema will
    do. Raises StartupError: a migration failed, or the database has a number that the code does not know,
    for then a newer version wrote it.
    """
    scripts = sorted(
        (file for file in migrations.iterdir() if file.name.endswith(".sql")), key=lambda file: file.name
    )
    known = {int(script.name.split("_", 1)[0]): script for script in scripts}
    done = await _migrated(connection)
    if done - known.keys():
        raise StartupError("the database was written by a newer version of Palimpsest")
    for number in sorted(known.keys() - done):
        script = known[number]
        name = script.name.removesuffix(".sql")
        try:
            await _apply(connection, number, name, script.read_text("utf-8"))
        except asyncpg.PostgresError as error:
            if str(error.sqlstate)[:2] in FAILURES:
                raise
            raise StartupError(f"the migration {name} failed (SQLSTATE {error.sqlstate})") from None


async def _migrated(connection: asyncpg.Connection[asyncpg.Record]) -> set[int]:
    if await connection.fetchval("SELECT to_regclass('schema_migrations') IS NULL"):
        return set()
    return {row["number"] for row in await connection.fetch("SELECT number FROM schema_migrations")}


async def _apply(connection: asyncpg.Connection[asyncpg.Record], number: int, name: str, text: str) -> None:
    """One migration, unless another process made it while this one waited for the lock."""
    async with connection.transaction(isolation="read_committed"):
        # The lock is waited for as long as the other's migration takes; the transaction's end frees it.
        await connection.execute("SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0")
        await connection.execute("SET LOCAL synchronous_commit = on")
        await connection.execute(f"SELECT pg_advisory_xact_lock({MIGRATION_LOCK})")
        await connection.execute(
            "CREATE TABLE IF NOT EXISTS schema_migrations (number BIGINT PRIMARY KEY, name TEXT NOT NULL)"
        )
        if number not in await _migrated(connection):
            await connection.execute(text)
            await connection.execute("INSERT INTO schema_migrations VALUES ($1, $2)", number, name)
