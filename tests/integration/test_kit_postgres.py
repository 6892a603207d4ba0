"""PostgreSQL when scripts lose, callers leave, and the server fails and comes back (SPEC E-1, X-1, X-3)."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from structlog.testing import capture_logs

from services.kit.errors import DependencyDown
from services.kit.postgres import ATTEMPTS, Postgres
from services.kit.sql import Script, execute, fetch, first
from tests.postgres_server import LocalServer, SharedServer, own_server, shared_server

SECRET = "what-was-stored"
# `fail` raises any error so many times, counting its calls in a sequence, which no rollback undoes.
SCHEMA = f"""
CREATE TABLE items (id BIGINT PRIMARY KEY, name TEXT NOT NULL DEFAULT '');
CREATE SEQUENCE calls;
CREATE FUNCTION fail(state TEXT, times BIGINT) RETURNS BIGINT LANGUAGE plpgsql AS $$
DECLARE call BIGINT := nextval('calls');
BEGIN
    IF call <= times THEN
        RAISE EXCEPTION '{SECRET}' USING ERRCODE = state, DETAIL = '{SECRET}';
    END IF;
    RETURN call;
END
$$;
"""
ALWAYS = 1_000_000
Open = Callable[..., Any]


@pytest.fixture
def migrations(tmp_path: Path) -> Path:
    folder = tmp_path / "migrations"
    folder.mkdir()
    (folder / "0001_first.sql").write_text(SCHEMA)
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


def insert_failing(id_: int, state: str, times: int = ALWAYS) -> Script[int]:
    yield from insert(id_)
    row = yield from first("SELECT fail(?, ?) AS call", state, times)
    assert row is not None
    return int(row["call"])


def sleep(seconds: float) -> Script[None]:
    yield from execute("SELECT pg_sleep(?)", seconds)


async def ask(url: str, query: str, *arguments: object) -> Any:
    """Over a connection of its own."""
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetchval(query, *arguments)
    finally:
        await connection.close()


# ---- what is run again ----


@pytest.mark.parametrize("state", ["40001", "40P01"])
async def test_a_script_that_lost_is_run_again_from_its_start(open_: Open, state: str) -> None:
    database = await open_()
    assert await database.write(lambda: insert_failing(1, state, ATTEMPTS - 1)) == ATTEMPTS
    assert await database.read(ids) == [1]


async def test_a_script_that_always_loses_is_given_up(open_: Open, url: str) -> None:
    database = await open_()
    with pytest.raises(DependencyDown, match="too busy; nothing was written"):
        await database.write(lambda: insert_failing(1, "40001"))
    assert await ask(url, "SELECT last_value FROM calls") == ATTEMPTS
    assert await database.read(ids) == []


async def test_of_two_scripts_in_a_deadlock_both_end_well(open_: Open) -> None:
    database = await open_()
    await database.write(lambda: insert(1))
    await database.write(lambda: insert(2))
    runs = []

    def cross(one: int, two: int) -> Script[None]:
        runs.append(one)
        append = "UPDATE items SET name = name || ? WHERE id = ?"
        yield from execute(append, f"{one};", one)
        yield from sleep(0.3)
        yield from execute(append, f"{one};", two)

    await asyncio.gather(database.write(lambda: cross(1, 2)), database.write(lambda: cross(2, 1)))
    rows = await database.read(lambda: fetch("SELECT name FROM items"))
    assert [sorted(row["name"]) for row in rows] == [sorted("1;2;")] * 2
    assert len(runs) == 3


async def test_a_statement_prepared_before_a_migration_is_prepared_anew(open_: Open, url: str) -> None:
    database = await open_(pool_size=1)
    await database.write(lambda: insert(1))
    everything = "SELECT * FROM items"
    assert len((await database.read(lambda: fetch(everything)))[0]) == 2
    await ask(url, "ALTER TABLE items ADD COLUMN extra TEXT")
    assert len((await database.read(lambda: fetch(everything)))[0]) == 3


# ---- failures ----


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ("53100", "the store is full; nothing was written"),
        ("25006", "the store takes no writes; nothing was written"),
        ("57014", "the store took too long; nothing was written"),
        ("55P03", "locked by another; nothing was written"),
        ("53300", "not available"),
        ("53200", "not available"),
        ("57P01", "not available"),
        ("57P03", "not available"),
        ("58030", "not available"),
        ("XX001", "not available"),
    ],
)
async def test_a_failure_of_the_store_is_told_from_its_sqlstate_and_its_text_is_kept_back(
    open_: Open, state: str, message: str
) -> None:
    database = await open_()
    with capture_logs() as logs, pytest.raises(DependencyDown, match=message) as caught:
        await database.write(lambda: insert_failing(1, state))
    assert SECRET not in f"{caught.value} {caught.value.__cause__} {logs}"
    assert [(log["event"], log["sqlstate"]) for log in logs] == [("store_failed", state)]
    assert await database.read(ids) == []


@pytest.mark.parametrize(
    ("statement", "arguments", "kind"),
    [
        ("SELEC 1", (), asyncpg.PostgresSyntaxError),
        ("INSERT INTO items (id) VALUES (1), (1)", (), asyncpg.UniqueViolationError),
        ("SELECT * FROM nothing", (), asyncpg.UndefinedTableError),
        ("INSERT INTO items (id) VALUES (?)", ("text",), asyncpg.DataError),
        ("INSERT INTO items (id) VALUES (?)", (), asyncpg.InterfaceError),
    ],
)
async def test_mistakes_in_the_code_stay_what_they_are(
    open_: Open, statement: str, arguments: tuple[str, ...], kind: type[Exception]
) -> None:
    database = await open_(pool_size=1)
    with pytest.raises(kind):
        await database.write(lambda: execute(statement, *arguments))
    await database.write(lambda: insert(7))
    assert await database.read(ids) == [7]


async def test_a_statement_that_takes_too_long_is_ended_by_the_server(open_: Open) -> None:
    database = await open_(pool_size=1, statement_timeout=0.2)
    with pytest.raises(DependencyDown, match="too long"):
        await database.write(lambda: sleep(60))
    assert await database.ready()


async def test_a_lock_is_not_waited_for_for_ever(open_: Open) -> None:
    database = await open_(lock_timeout=0.2)
    await database.write(lambda: insert(1))
    update = "UPDATE items SET name = 'x' WHERE id = 1"

    def holder() -> Script[None]:
        yield from execute(update)
        yield from sleep(1)

    holding = asyncio.create_task(database.write(holder))
    await asyncio.sleep(0.2)
    with pytest.raises(DependencyDown, match="locked by another"):
        await database.write(lambda: execute(update))
    await holding
    await database.write(lambda: execute(update))


async def test_a_call_does_not_wait_for_a_connection_for_ever(open_: Open) -> None:
    database = await open_(pool_size=1, acquire_timeout=0.2)
    holding = asyncio.create_task(database.write(lambda: sleep(1)))
    await asyncio.sleep(0.1)
    with pytest.raises(DependencyDown):
        await database.write(lambda: insert(1))
    await holding
    await database.write(lambda: insert(2))
    assert await database.read(ids) == [2]


async def test_a_closed_database_is_unavailable(open_: Open) -> None:
    database = await open_()
    await database.close()
    assert not await database.ready()
    with pytest.raises(DependencyDown):
        await database.write(lambda: insert(1))


async def test_a_commit_is_synced_whatever_the_servers_default(open_: Open, url: str) -> None:
    """E-1; the control shows that the default is off."""
    await ask(url, "ALTER DATABASE " + url.split("/")[3].split("?")[0] + " SET synchronous_commit = off")
    database = await open_()
    show = "SELECT current_setting('synchronous_commit') AS value"
    row = await database.write(lambda: first(show))
    assert row["value"] == "on"
    assert await ask(url, show) == "off"


# ---- cancelled callers ----


async def test_a_cancelled_caller_leaves_nothing_open(open_: Open, url: str) -> None:
    database = await open_(pool_size=1)

    def slow() -> Script[None]:
        yield from insert(1)
        yield from sleep(60)

    task = asyncio.create_task(database.write(slow))
    await asyncio.sleep(0.2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await database.write(lambda: insert(2))
    assert await database.read(ids) == [2]
    assert await ask(url, BUSY) == 0


async def test_callers_cancelled_at_any_moment_leave_the_pool_whole(open_: Open, url: str) -> None:
    """Cancelled once or twice, after any number of steps of the loop: no connection is lost or left open."""
    database = await open_(pool_size=2, acquire_timeout=2)
    for steps in range(60):
        task = asyncio.create_task(database.write(lambda: insert(1)))
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await database.write(lambda: execute("DELETE FROM items"))
    await asyncio.gather(*(database.write(lambda n=n: insert(n)) for n in range(10)))
    assert await database.read(ids) == list(range(10))
    assert await ask(url, BUSY) == 0


BUSY = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
    " AND state <> 'idle' AND pid <> pg_backend_pid()"
)


# ---- the server goes and comes back ----


@pytest.mark.parametrize("noticed", [False, True])
async def test_connections_that_broke_while_idle_cost_no_call_its_answer(
    open_: Open, url: str, noticed: bool
) -> None:
    database = await open_(pool_size=3)
    await asyncio.gather(*(database.write(lambda: sleep(0.05)) for _ in range(3)))
    kill = (
        "SELECT count(pg_terminate_backend(pid, 2000)) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    if noticed:
        assert await ask(url, kill) == 3
    else:  # with this loop held up: it has not heard of the end when the next call begins
        killed: list[int] = []
        thread = threading.Thread(target=lambda: killed.append(asyncio.run(ask(url, kill))))
        thread.start()
        thread.join()
        assert killed == [3]
    await asyncio.gather(*(database.write(lambda n=n: insert(n)) for n in range(3)))
    assert await database.read(ids) == [0, 1, 2]


async def test_a_server_that_took_no_writes_is_connected_to_anew(
    open_: Open, url: str, server: SharedServer
) -> None:
    """As after a failover, or while a managed server's disk is full."""
    database = await open_()
    name = url.split("/")[3].split("?")[0]
    await ask(url, f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    with pytest.raises(DependencyDown, match="takes no writes"):
        await (limited := await open_()).write(lambda: insert(1))
    await ask(server.url, f"ALTER DATABASE {name} SET default_transaction_read_only = off")
    await limited.write(lambda: insert(2))
    assert await database.read(ids) == [2]


@pytest.mark.parametrize("how", [signal.SIGQUIT, signal.SIGINT], ids=["crash", "orderly"])
async def test_a_server_that_stops_under_load_fails_calls_and_serves_again_when_it_is_back(
    own: LocalServer, migrations: Path, how: signal.Signals
) -> None:
    """Nothing that was acknowledged is lost (E-1), and nobody has to open the database again."""
    database = await Postgres.open(own.url(), migrations, pool_size=8, connect_timeout=1, acquire_timeout=1)
    acknowledged: set[int] = set()
    failed: list[BaseException] = []
    stopping = asyncio.Event()

    async def writer(start: int) -> None:
        number = start
        while not stopping.is_set():
            number += 1
            try:
                await database.write(lambda n=number: insert(n))
                acknowledged.add(number)
            except DependencyDown as error:
                failed.append(error)
                await asyncio.sleep(0.02)

    async def written(more_than: int) -> None:
        for _ in range(2000):
            if len(acknowledged) > more_than:
                return
            await asyncio.sleep(0.01)
        raise AssertionError("writing does not go on")

    writers = [asyncio.create_task(writer(n * 1_000_000)) for n in range(12)]
    await written(100)
    own.stop(how)
    await asyncio.sleep(0.3)
    assert failed
    assert not await database.ready()
    before = len(acknowledged)
    own.start()
    await written(before + 100)
    stopping.set()
    await asyncio.gather(*writers)
    stored = set(await database.read(ids))
    assert acknowledged <= stored
    assert len(stored - acknowledged) <= len(failed)
    # Every place of the pool can be taken again: no call waits for one longer than `acquire_timeout`.
    await asyncio.gather(*(database.read(lambda: sleep(1.5)) for _ in range(8)))
    await database.close()
