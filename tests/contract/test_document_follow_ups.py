"""A change of what is searched asks for its index in the same transaction (SPEC S-13, SV-5)."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from services.compactor.adapters.sql import migrations
from services.compactor.adapters.sql.documents import SqlDocuments
from services.compactor.adapters.sql.graph import SqlGraph
from services.compactor.app.searching import follow_document
from services.compactor.domain.documents import Head, wiki_key
from services.compactor.domain.graph import Naming, NewLink
from services.kit.errors import VersionConflict
from services.kit.postgres import Postgres
from services.kit.sql import Script, SqlDatabase, execute, fetch
from services.kit.sqlite import Database, SqliteScripts
from tests.contract.document_parts import AGENT, ATTRACTOR, NOW, SUMMARY, TENANT, draft
from tests.postgres_server import SharedServer

MIGRATION = "0080_searched.sql"


async def asked(database: SqlDatabase) -> list[tuple[str, str]]:
    """Type and subject of each source that is to be indexed, in order; the outbox is empty then."""

    def script() -> Script[list[tuple[str, str]]]:
        rows = yield from fetch("SELECT type, tenant, agent_id, payload FROM outbox ORDER BY id")
        yield from execute("DELETE FROM outbox")
        return [
            (payload["type"], payload["subject"])
            for row in rows
            if row["type"] == "index_document" and (row["tenant"], row["agent_id"]) == (TENANT, AGENT)
            for payload in [json.loads(row["payload"])]
        ]

    return await database.write(script)


async def test_each_version_and_an_erasure_ask_and_what_is_not_written_does_not(
    compactor_sql: SqlDatabase,
) -> None:
    documents = SqlDocuments(compactor_sql, follow_document)
    first = await documents.put(SUMMARY, draft(), Head(), NOW)
    assert await asked(compactor_sql) == [("summary", "c1")]
    with pytest.raises(VersionConflict):
        await documents.put(SUMMARY, draft(), Head(), NOW)
    assert await asked(compactor_sql) == []
    head = await documents.head(SUMMARY)
    assert head.version == first.version
    await documents.mark_stale(SUMMARY)
    assert await asked(compactor_sql) == [], "it says what it said"
    await documents.put(SUMMARY, draft(2), await documents.head(SUMMARY), NOW)
    await documents.put(ATTRACTOR, draft(), Head(), NOW)
    await documents.put(wiki_key(TENANT, AGENT, "b"), draft(), Head(), NOW)
    assert await asked(compactor_sql) == [("summary", "c1"), ("theme", ""), ("page", "b")]
    await documents.erase(SUMMARY)
    assert await asked(compactor_sql) == [("summary", "c1")]


def link(name: str) -> NewLink:
    return NewLink(naming=Naming(slug=name, name=name), relevance=0.5)


async def test_a_branch_asks_when_its_names_or_conversations_change(compactor_sql: SqlDatabase) -> None:
    graph = SqlGraph(compactor_sql)

    async def file(version: int, *names: str) -> list[str]:
        return await graph.file(TENANT, AGENT, "c", version, list(map(link, names)), set(), NOW)

    (tea,) = await file(1, "tea")
    assert await asked(compactor_sql) == [("branch", tea)]
    assert await file(2, "tea") == [tea]
    assert await asked(compactor_sql) == [], "nothing that is searched has changed"
    (ships,) = await file(3, "ships")
    assert sorted(await asked(compactor_sql)) == sorted([("branch", tea), ("branch", ships)])
    lamps = (await graph.link(TENANT, AGENT, "d", link("lamps"), NOW)).id
    assert await asked(compactor_sql) == [("branch", lamps)]
    await graph.merge(TENANT, AGENT, ships, lamps, NOW + timedelta(days=1))
    assert sorted(await asked(compactor_sql)) == sorted([("branch", lamps), ("branch", ships)])
    await graph.rename(TENANT, AGENT, lamps, Naming(slug="lanterns", name="Lanterns"), NOW)
    assert await asked(compactor_sql) == [("branch", lamps)]
    await graph.forget(TENANT, AGENT, "c", 4)
    assert await asked(compactor_sql) == [("branch", lamps)]


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
async def test_what_was_derived_before_is_asked_for_at_the_first_start(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    folder = tmp_path / "earlier"
    folder.mkdir()
    for file in migrations(engine).iterdir():
        if file.name < MIGRATION:
            (folder / file.name).write_text(file.read_text("utf-8"), "utf-8")

    async def fill(database: SqlDatabase) -> str:
        documents, graph = SqlDocuments(database), SqlGraph(database)
        await documents.put(SUMMARY, draft(), Head(), NOW)
        await documents.put(ATTRACTOR, draft(), Head(), NOW)
        gone = wiki_key(TENANT, AGENT, "gone")
        await documents.put(gone, draft(), Head(), NOW)
        await documents.erase(gone)
        made = (await graph.link(TENANT, AGENT, "d", link("lamps"), NOW)).id
        await asked(database)
        return made

    if engine == "sqlite":
        first = await Database.open(tmp_path / "c.db", folder, readers=1)
        branch = await fill(SqliteScripts(first))
        await first.close()
        second = await Database.open(tmp_path / "c.db", migrations(engine), readers=1)
        found = await asked(SqliteScripts(second))
        await second.close()
    else:
        server: SharedServer = request.getfixturevalue("postgres_server")
        async with server.database(folder) as url:
            before = await Postgres.open(url, folder, pool_size=2)
            branch = await fill(before)
            await before.close()
            after = await Postgres.open(url, migrations(engine), pool_size=2)
            found = await asked(after)
            await after.close()
    assert sorted(found) == sorted([("summary", "c1"), ("theme", ""), ("branch", branch)])
