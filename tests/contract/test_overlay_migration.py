"""Overlays that an earlier version folded, after the migration (SPEC E-7), on SQLite and PostgreSQL."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from services.kit.postgres import Postgres
from services.kit.sql import Script, SqlDatabase, execute, fetch
from services.kit.sqlite import Database, SqliteScripts
from services.memory.episodic.adapters.sql import migrations, sql_stores
from services.memory.episodic.app.ports import Stores
from tests.contract.history_parts import KEY, MAX_BYTES, RULES, prepared, say, say_many, shown, view
from tests.postgres_server import SharedServer

FOLDS = {"sqlite": "0005_folds.sql", "postgres": "0004_folds.sql"}
OLD_OVERLAY = (
    "INSERT INTO overlays (tenant, conversation, id, from_id, to_id, from_sequence, to_sequence, from_depth,"
    " to_depth, message_tokens, summary, token_count, source_ids, model, create_time, superseded_by,"
    " revision) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 's', 1, '[]', 'm', 9, ?, ?)"
)


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
async def test_what_was_superseded_is_folded_into_the_same(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    folder = tmp_path / "earlier"
    folder.mkdir()
    for file in migrations(engine).iterdir():
        if file.name < FOLDS[engine]:
            (folder / file.name).write_text(file.read_text("utf-8"), "utf-8")
    async with AsyncExitStack() as stack:
        url = ""
        if engine == "postgres":
            server: SharedServer = request.getfixturevalue("postgres_server")
            url = await stack.enter_async_context(server.database(folder))

        async def opened(stack: AsyncExitStack, *, earlier: bool) -> SqlDatabase:
            chosen = folder if earlier else migrations(engine)
            if engine == "postgres":
                postgres = await Postgres.open(url, chosen, pool_size=2)
                stack.push_async_callback(postgres.close)
                return postgres
            file = await Database.open(tmp_path / "e.db", chosen, readers=1, synchronous="NORMAL")
            stack.push_async_callback(file.close)
            return SqliteScripts(file)

        async with AsyncExitStack() as first:
            database = await opened(first, earlier=True)
            await say_many(await prepared(database), 9)
            await database.write(_overlays)
        database = await opened(stack, earlier=False)
        stores = await sql_stores(database, rules=RULES, max_bytes=MAX_BYTES)
        await _check(stores)


def _overlays() -> Script[None]:
    [row] = yield from fetch("SELECT number FROM conversations WHERE tenant = ? AND id = ?", "t", KEY.id)
    for id_, begin, end, into, revision in (
        ("a", 1, 3, "ab", 3),
        ("b", 4, 6, "ab", 3),
        ("ab", 1, 6, "", 3),
        ("c", 7, 8, "", 4),
    ):
        ends = (f"m{begin}", f"m{end}", begin, end, begin, end)
        yield from execute(OLD_OVERLAY, "t", row["number"], id_, *ends, into, revision)


async def _check(stores: Stores) -> None:
    assert await view(stores) == ["ab", "c"]
    page = await stores.history.overlays(KEY, "", superseded=True, limit=9, after=None)
    assert {one.id: (one.superseded_by, one.revision) for one in page.items} == {
        "a": (("ab",), 3),
        "b": (("ab",), 3),
        "ab": ((), 3),
        "c": ((), 4),
    }
    await say(stores, "x", after="m5", branch=True)
    assert await view(stores) == await shown(stores) == ["a"]
