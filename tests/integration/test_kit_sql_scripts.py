"""Scripts and the outbox do the same on SQLite and on PostgreSQL (SPEC SV-5, E-1)."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from services.kit.errors import DependencyDown, InvalidRequest, NotFound, Overloaded
from services.kit.outbox import CLAIM_SECONDS, NewJob, Relay, SqlOutbox, put_jobs
from services.kit.postgres import Postgres
from services.kit.sql import Script, SqlDatabase, execute, execute_many, fetch, first
from services.kit.sqlite import Database, SqliteScripts
from tests.postgres_server import SharedServer, shared_server

ITEMS = (
    "CREATE TABLE items (tenant TEXT NOT NULL, id BIGINT NOT NULL, name TEXT, data {bytes},"
    " PRIMARY KEY (tenant, id)){end};"
)
OUTBOX = (
    "CREATE TABLE outbox (id {number}, tenant TEXT NOT NULL, agent_id TEXT NOT NULL, type TEXT NOT NULL,"
    " subject TEXT NOT NULL, key TEXT NOT NULL, payload TEXT NOT NULL,"
    " claimed_until DOUBLE PRECISION NOT NULL DEFAULT 0{end};"
)
PARTS = "".join(
    f"CREATE TABLE {table}_{part} PARTITION OF {table} FOR VALUES WITH (MODULUS 2, REMAINDER {part});"
    for table in ("items", "outbox")
    for part in (0, 1)
)
PARTITIONED = " PARTITION BY HASH (tenant)"
SQLITE = ITEMS.format(bytes="BLOB", end="") + OUTBOX.format(
    number="INTEGER PRIMARY KEY AUTOINCREMENT", end=")"
)
POSTGRES = (
    ITEMS.format(bytes="BYTEA", end=PARTITIONED)
    + "CREATE SEQUENCE outbox_numbers;"
    + OUTBOX.format(
        number="BIGINT NOT NULL DEFAULT nextval('outbox_numbers')",
        end=f", PRIMARY KEY (tenant, id)){PARTITIONED}",
    )
    + PARTS
)
INSERT = "INSERT INTO items (tenant, id, name) VALUES (?, ?, ?)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """A database as two replicas see it (the same one twice for SQLite), and a way round both."""

    sql: SqlDatabase
    other: SqlDatabase
    elsewhere: Callable[[str], None]
    """Commits a statement over a connection of its own, before it returns."""


@pytest.fixture(params=["sqlite", "postgres"])
async def engine(
    request: pytest.FixtureRequest, tmp_path: Path, pytestconfig: pytest.Config
) -> AsyncIterator[Engine]:
    migrations = tmp_path / "migrations"
    migrations.mkdir()
    first_file = migrations / "0001_first.sql"
    if request.param == "sqlite":
        first_file.write_text(SQLITE)
        database = await Database.open(tmp_path / "s.db", migrations)
        scripts = SqliteScripts(database)
        yield Engine(sql=scripts, other=scripts, elsewhere=lambda text: _sqlite(database.path, text))
        await database.close()
        return
    first_file.write_text(POSTGRES)
    server: SharedServer = shared_server(pytestconfig)
    async with server.database() as url:
        replicas = [await Postgres.open(url, migrations, pool_size=4) for _ in range(2)]
        yield Engine(
            sql=replicas[0], other=replicas[1], elsewhere=lambda text: _in_thread(_postgres(url, text))
        )
        for replica in replicas:
            await replica.close()


def _sqlite(path: Path, text: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(text)
    connection.commit()
    connection.close()


async def _postgres(url: str, text: str) -> None:
    connection = await asyncpg.connect(url)
    await connection.execute(text)
    await connection.close()


def _in_thread(work: Coroutine[Any, Any, None]) -> None:
    thread = threading.Thread(target=asyncio.run, args=(work,))
    thread.start()
    thread.join()


def insert(id_: int, name: str = "n", tenant: str = "acme") -> Script[None]:
    yield from execute(INSERT, tenant, id_, name)


def ids(tenant: str = "acme") -> Script[list[int]]:
    rows = yield from fetch("SELECT id FROM items WHERE tenant = ? ORDER BY id", tenant)
    return [row["id"] for row in rows]


async def test_values_come_back_as_they_went_in(engine: Engine) -> None:
    values = [(1, "plain", b"\x00\xff"), (2**62, "naïve 😀 \u2028 'quoted' \"$1\"", b""), (-1, None, None)]
    await engine.sql.write(
        lambda: execute_many(
            "INSERT INTO items (tenant, id, name, data) VALUES (?, ?, ?, ?)", [("t", *v) for v in values]
        )
    )
    rows = await engine.sql.read(lambda: fetch("SELECT id, name, data FROM items WHERE tenant = ?", "t"))
    assert {(row["id"], row["name"], row["data"]) for row in rows} == set(values)


async def test_a_list_matches_its_members_and_an_empty_one_nothing(engine: Engine) -> None:
    await engine.sql.write(lambda: execute_many(INSERT, [("acme", n, f"é{n}") for n in range(5)]))

    def select(numbers: list[int], names: list[str]) -> Script[list[int]]:
        rows = yield from fetch(
            "SELECT id FROM items WHERE tenant = ? AND (id IN ?? OR name IN ??) ORDER BY id LIMIT ?",
            "acme",
            numbers,
            names,
            10,
        )
        return [row["id"] for row in rows]

    assert await engine.sql.read(lambda: select([1, 3, 99], ["é0"])) == [0, 1, 3]
    assert await engine.sql.read(lambda: select([], ["é4", "it's"])) == [4]
    assert await engine.sql.read(lambda: select([], [])) == []


async def test_a_change_returns_its_rows(engine: Engine) -> None:
    def upsert(name: str) -> Script[str | None]:
        row = yield from first(
            "INSERT INTO items (tenant, id, name) VALUES (?, ?, ?)"
            " ON CONFLICT (tenant, id) DO UPDATE SET name = excluded.name WHERE items.name <> excluded.name"
            " RETURNING name",
            "acme",
            1,
            name,
        )
        return row["name"] if row else None

    assert await engine.sql.write(lambda: upsert("a")) == "a"
    assert await engine.sql.write(lambda: upsert("b")) == "b"
    assert await engine.sql.write(lambda: upsert("b")) is None


async def test_many_of_nothing_is_nothing(engine: Engine) -> None:
    await engine.sql.write(lambda: execute_many(INSERT, []))
    assert await engine.sql.read(ids) == []


async def test_an_error_of_the_script_undoes_all_of_it(engine: Engine) -> None:
    closed = []

    def half(fails: bool) -> Script[None]:
        try:
            yield from insert(1)
            yield from execute_many(INSERT, [("acme", 2, "n"), ("acme", 3, "n")])
            if fails:
                raise NotFound("agent", "a")
        finally:
            closed.append(fails)

    with pytest.raises(NotFound):
        await engine.sql.write(lambda: half(True))
    assert await engine.other.read(ids) == []
    await engine.sql.write(lambda: half(False))
    assert await engine.other.read(ids) == [1, 2, 3]
    assert closed == [True, False]


async def test_a_mistake_in_the_code_is_not_taken_for_a_failure_of_the_store(engine: Engine) -> None:
    def twice() -> Script[None]:
        yield from insert(1)
        yield from insert(1)

    with pytest.raises((sqlite3.IntegrityError, asyncpg.UniqueViolationError)):
        await engine.sql.write(twice)
    assert await engine.sql.read(ids) == []
    await engine.sql.write(lambda: insert(2))
    assert await engine.sql.read(ids) == [2]


async def test_a_read_is_one_snapshot(engine: Engine) -> None:
    def look_twice() -> Script[tuple[list[int], list[int]]]:
        before = yield from ids()
        engine.elsewhere("INSERT INTO items (tenant, id) VALUES ('acme', 2)")
        after = yield from ids()
        return before, after

    await engine.sql.write(lambda: insert(1))
    assert await engine.sql.read(look_twice) == ([1], [1])
    assert await engine.sql.read(ids) == [1, 2]


async def test_a_read_cannot_write(engine: Engine) -> None:
    with pytest.raises(DependencyDown):
        await engine.sql.read(lambda: insert(1))
    assert await engine.sql.read(ids) == []


async def test_locked_rows_are_changed_one_after_the_other(engine: Engine) -> None:
    """No change is lost between replicas: a row that is read to be changed is locked."""

    def add() -> Script[None]:
        row = yield from first("SELECT name FROM items WHERE tenant = ? AND id = ? FOR UPDATE", "acme", 1)
        assert row is not None
        yield from execute(
            "UPDATE items SET name = ? WHERE tenant = ? AND id = ?", str(int(row["name"]) + 1), "acme", 1
        )

    await engine.sql.write(lambda: insert(1, "0"))
    await asyncio.gather(*(where.write(add) for where in (engine.sql, engine.other) for _ in range(20)))
    row = await engine.sql.read(lambda: first("SELECT name FROM items WHERE tenant = ?", "acme"))
    assert row is not None
    assert row["name"] == "40"


class Ledger:
    """Takes jobs, letting others run meanwhile; or fails as told."""

    def __init__(self) -> None:
        self.keys: list[str] = []
        self.fails_for = ""
        self.refuses = ""

    async def Enqueue(self, request: Any) -> None:
        await asyncio.sleep(0.001)
        keys = [job.idempotency_key for job in request.jobs]
        if self.fails_for in keys:
            raise Overloaded(retry_after=1)
        if self.refuses in keys:
            raise InvalidRequest
        self.keys += keys


def jobs(*keys: str) -> list[NewJob]:
    return [NewJob(type="t", agent_id="a", subject="s", key=key, payload={"k": key}) for key in keys]


async def put(sql: SqlDatabase, tenant: str, *keys: str) -> None:
    await sql.write(lambda: put_jobs(tenant, jobs(*keys)))


async def test_jobs_of_a_change_that_was_undone_are_never_handed_over(engine: Engine) -> None:
    def fails() -> Script[None]:
        yield from put_jobs("acme", jobs("lost"))
        raise Overloaded(retry_after=1)

    with pytest.raises(Overloaded):
        await engine.sql.write(fails)
    await put(engine.sql, "acme", "kept")
    ledger = Ledger()
    relay = Relay(SqlOutbox(engine.sql), ledger)
    assert await relay.relay_once()
    assert ledger.keys == ["kept"]
    assert not await relay.relay_once()


async def test_a_claim_gives_whole_rows_in_order_and_only_so_many(engine: Engine) -> None:
    await put(engine.sql, "acme", "1", "2")
    await put(engine.sql, "other", "3")
    outbox = SqlOutbox(engine.sql)
    rows = await outbox.claim(2)
    assert [(row.tenant, row.job) for row in rows] == [("acme", job) for job in jobs("1", "2")]
    assert [(row.tenant, row.job) for row in await outbox.claim(2)] == [("other", jobs("3")[0])]


async def test_what_was_given_back_is_claimed_again_and_what_was_settled_never(engine: Engine) -> None:
    await put(engine.sql, "acme", "1", "2")
    await put(engine.sql, "other", "3", "4")
    now = [1000.0]
    outbox = SqlOutbox(engine.sql, clock=lambda: now[0])
    rows = await outbox.claim(10)
    await outbox.settle([row for row in rows if row.job.key in "13"])
    await outbox.release([row for row in rows if row.job.key in "2"])
    assert [row.job.key for row in await outbox.claim(10)] == ["2"]
    now[0] += CLAIM_SECONDS + 1
    assert [row.job.key for row in await outbox.claim(10)] == ["2", "4"]


async def test_a_failing_tenant_does_not_keep_the_rows_of_those_before_it(engine: Engine) -> None:
    await put(engine.sql, "acme", "1")
    await put(engine.sql, "bad", "2")
    await put(engine.sql, "late", "3")
    ledger = Ledger()
    ledger.fails_for = "2"
    relay = Relay(SqlOutbox(engine.sql), ledger)
    with pytest.raises(Overloaded):
        await relay.relay_once()
    assert ledger.keys == ["1"]
    ledger.fails_for = ""
    await relay.relay_once()
    assert ledger.keys == ["1", "2", "3"]


async def test_rows_that_the_ledger_refuses_keep_none_of_other_tenants(engine: Engine) -> None:
    await put(engine.sql, "acme", "1")
    await put(engine.sql, "bad", "2")
    await put(engine.sql, "late", "3")
    ledger = Ledger()
    ledger.refuses = "2"
    now = [1000.0]
    relay = Relay(SqlOutbox(engine.sql, clock=lambda: now[0]), ledger)
    assert await relay.relay_once()
    assert ledger.keys == ["1", "3"]
    assert not await relay.relay_once(), "nothing is left that may be tried"
    ledger.refuses = ""
    now[0] += CLAIM_SECONDS + 1
    assert await relay.relay_once()
    assert ledger.keys == ["1", "3", "2"], "it was kept, and is tried again"


async def test_rows_that_the_ledger_refuses_keep_none_of_the_same_tenant(engine: Engine) -> None:
    """SV-5: neither beside them nor behind them, and they are not tried over and over."""
    await put(engine.sql, "acme", "bad", *(f"good{n}" for n in range(20)))
    ledger = Ledger()
    ledger.refuses = "bad"
    relay = Relay(SqlOutbox(engine.sql), ledger)
    assert await relay.relay_once()
    assert ledger.keys == [f"good{n}" for n in range(20)]
    assert not await relay.relay_once()
    await put(engine.sql, "acme", "later")
    assert await relay.relay_once()
    assert ledger.keys[-1] == "later"


async def test_what_was_not_tried_when_the_ledger_went_away_is_given_back(engine: Engine) -> None:
    await put(engine.sql, "acme", "bad", "1")
    await put(engine.sql, "late", "2", "3")
    ledger = Ledger()
    ledger.refuses, ledger.fails_for = "bad", "3"
    relay = Relay(SqlOutbox(engine.sql), ledger)
    with pytest.raises(Overloaded):
        await relay.relay_once()
    assert ledger.keys == ["1"]
    ledger.fails_for = ""
    assert await relay.relay_once()
    assert ledger.keys == ["1", "2", "3"]


async def test_two_relays_hand_over_every_row_once(engine: Engine) -> None:
    keys = [f"k{number}" for number in range(600)]
    for start in range(0, len(keys), 20):
        await put(engine.sql, f"tenant{start % 7}", *keys[start : start + 20])
    ledger = Ledger()
    outboxes = [SqlOutbox(engine.sql), SqlOutbox(engine.other)]

    async def relay(outbox: SqlOutbox) -> int:
        handed = 0
        while rows := await outbox.claim(25):
            await ledger.Enqueue(_Request([_Job(row.job.key) for row in rows]))
            await outbox.settle(rows)
            handed += len(rows)
        return handed

    shares = await asyncio.gather(*(relay(outbox) for outbox in outboxes))
    assert sorted(ledger.keys) == sorted(keys)
    assert all(shares)


@dataclass(frozen=True)
class _Job:
    idempotency_key: str


@dataclass(frozen=True)
class _Request:
    jobs: list[_Job]


async def test_the_rows_of_a_relay_that_died_come_back_after_its_lease(engine: Engine) -> None:
    await put(engine.sql, "acme", "1", "2")
    assert len(await SqlOutbox(engine.sql, clock=lambda: 1000).claim(10)) == 2
    early = SqlOutbox(engine.other, clock=lambda: 1000 + CLAIM_SECONDS - 1)
    assert await early.claim(10) == []
    late = SqlOutbox(engine.other, clock=lambda: 1000 + CLAIM_SECONDS + 1)
    assert [row.job.key for row in await late.claim(10)] == ["1", "2"]


async def test_an_only_owner_inherits_the_rows_at_once(engine: Engine) -> None:
    await put(engine.sql, "acme", "1")
    assert len(await SqlOutbox(engine.sql).claim(10)) == 1
    heir = SqlOutbox(engine.sql, inherits=True)
    assert len(await heir.claim(10)) == 1
    assert await heir.claim(10) == []


async def test_the_claims_of_an_only_owner_are_leases_too(engine: Engine) -> None:
    """SV-5: it keeps them to itself; what is neither settled nor given back comes again."""
    await put(engine.sql, "acme", "1", "2")
    await put(engine.sql, "other", "3", "4")
    now = [1000.0]
    owner = SqlOutbox(engine.sql, inherits=True, clock=lambda: now[0])
    rows = await owner.claim(3)
    assert [row.job.key for row in rows] == ["1", "2", "3"]
    assert [row.job.key for row in await owner.claim(3)] == ["4"]
    await owner.settle([row for row in rows if row.job.key == "1"])
    await owner.release([row for row in rows if row.job.key == "2"])
    assert [row.job.key for row in await owner.claim(3)] == ["2"]
    now[0] += CLAIM_SECONDS + 1
    assert [row.job.key for row in await owner.claim(2)] == ["2", "3"]
    assert [row.job.key for row in await SqlOutbox(engine.sql).claim(10)] == [
        "2",
        "3",
        "4",
    ]  # nothing written
