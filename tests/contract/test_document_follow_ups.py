"""A change of what is searched asks for its index in the same transaction (SPEC S-13, SV-5)."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path

import pytest

from services.compactor.adapters.sql import migrations
from services.compactor.adapters.sql.documents import SqlDocuments
from services.compactor.adapters.sql.graph import SqlGraph
from services.compactor.app.graph_ports import WRITE_WIKI
from services.compactor.app.searching import follow_document
from services.compactor.domain.documents import Head, wiki_key
from services.compactor.domain.graph import Names, Naming, NewLink
from services.kit.errors import VersionConflict
from services.kit.postgres import Postgres
from services.kit.sql import Script, SqlDatabase, execute, fetch
from services.kit.sqlite import Database, SqliteScripts
from tests.contract.document_parts import AGENT, ATTRACTOR, NOW, SUMMARY, TENANT, draft
from tests.postgres_server import SharedServer


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


async def test_a_page_is_indexed_again_when_its_names_or_conversations_change(
    compactor_sql: SqlDatabase,
) -> None:
    """It may itself stay as it is: what it is found by, and who finds it, does not."""
    graph = SqlGraph(compactor_sql)
    (tea,) = await graph.file(TENANT, AGENT, "c", 1, [link("tea")], set(), NOW)
    await SqlDocuments(compactor_sql).put(wiki_key(TENANT, AGENT, tea), draft(), Head(), NOW)
    await asked(compactor_sql)
    expected = [("branch", tea), ("page", tea)]
    await graph.file(TENANT, AGENT, "d", 1, [link("tea")], set(), NOW)
    assert sorted(await asked(compactor_sql)) == expected, "it has one conversation more"
    await graph.rename(TENANT, AGENT, tea, Naming(slug="chai", name="Chai"), NOW)
    assert sorted(await asked(compactor_sql)) == expected
    await graph.file(TENANT, AGENT, "d", 2, [link("chai")], set(), NOW)
    assert sorted(await asked(compactor_sql)) == expected, "it came by another name"
    await graph.file(TENANT, AGENT, "d", 3, [link("chai")], set(), NOW)
    assert await asked(compactor_sql) == []
    await graph.forget(TENANT, AGENT, "d", 4)
    assert sorted(await asked(compactor_sql)) == expected


def earlier_link(branch_id: str, root_id: str, conversation_id: str) -> Script[None]:
    """A conversation under a branch of its own, as it was stored before links kept their names."""
    whose = (TENANT, AGENT)
    yield from execute(
        "INSERT INTO graph_branches (tenant, agent_id, branch_id, slug, name, merged_into, root_id, by_hand,"
        " conversations, last_link, model, vector, created, updated)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, FALSE, 1, 1, '', ?, 1, 1)",
        *(*whose, branch_id, f"{branch_id}s", f"{branch_id.title()}s"),
        *("" if branch_id == root_id else root_id, root_id, b""),
    )
    yield from execute(
        "INSERT INTO graph_slugs (tenant, agent_id, slug, branch_id) VALUES (?, ?, ?, ?)",
        *(*whose, f"{branch_id}s", branch_id),
    )
    yield from execute(
        "INSERT INTO graph_events (tenant, agent_id, event_id, branch_id, kind, other_id, automatic, slug,"
        " created) VALUES (?, ?, ?, ?, 'created', '', TRUE, ?, 1)",
        *(*whose, branch_id, branch_id, f"{branch_id}s"),
    )
    yield from execute(
        "INSERT INTO graph_links (tenant, agent_id, branch_id, conversation_id, relevance, by_hand, linked,"
        " moved_to) VALUES (?, ?, ?, ?, 0.5, FALSE, 1, '')",
        *(*whose, branch_id, conversation_id),
    )


async def test_a_link_of_a_replica_of_the_version_before_takes_nothing_out_of_search(
    compactor_sql: SqlDatabase,
) -> None:
    """It knows nothing of names, neither when it links nor when it deletes."""
    graph = SqlGraph(compactor_sql)
    await compactor_sql.write(lambda: earlier_link("lamp", "lamp", "d"))
    assert await graph.names(TENANT, AGENT, "lamp") == Names(title="Lamps", slug="lamps")
    await graph.file(TENANT, AGENT, "e", 1, [link("torchs")], set(), NOW)
    await graph.merge(TENANT, AGENT, "torchs", "lamps", NOW)
    both = Names(title="Lamps", slug="lamps", slugs=("torchs",))
    assert await graph.names(TENANT, AGENT, "lamp") == both
    assert await graph.names(TENANT, AGENT, "lamp", among="lamp") == both
    await compactor_sql.write(lambda: execute("DELETE FROM graph_links WHERE conversation_id = ?", "e"))
    assert await compactor_sql.read(lambda: fetch("SELECT slug FROM graph_names")) == []
    assert await graph.names(TENANT, AGENT, "lamp") == Names(title="Lamps", slug="lamps")


async def upgraded(
    engine: str,
    folder: Path,
    request: pytest.FixtureRequest,
    before: str,
    fill: Callable[[SqlDatabase], Awaitable[None]],
    look: Callable[[SqlDatabase], Awaitable[None]],
) -> None:
    """Fills a database that has the migrations before one, and looks at it once it has all."""
    earlier = folder / "earlier"
    earlier.mkdir()
    for file in migrations(engine).iterdir():
        if file.name < before:
            (earlier / file.name).write_text(file.read_text("utf-8"), "utf-8")
    if engine == "sqlite":
        for work, known in ((fill, earlier), (look, migrations(engine))):
            opened = await Database.open(folder / "c.db", known, readers=1)
            await work(SqliteScripts(opened))
            await opened.close()
        return
    server: SharedServer = request.getfixturevalue("postgres_server")
    async with server.database(earlier) as url:
        for work, known in ((fill, earlier), (look, migrations(engine))):
            made = await Postgres.open(url, known, pool_size=2)
            await work(made)
            await made.close()


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
async def test_what_was_derived_before_is_asked_for_at_the_first_start(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    async def fill(database: SqlDatabase) -> None:
        documents = SqlDocuments(database)
        await documents.put(SUMMARY, draft(), Head(), NOW)
        await documents.put(ATTRACTOR, draft(), Head(), NOW)
        gone = wiki_key(TENANT, AGENT, "gone")
        await documents.put(gone, draft(), Head(), NOW)
        await documents.erase(gone)
        await database.write(lambda: earlier_link("lamp", "lamp", "d"))
        await asked(database)

    async def look(database: SqlDatabase) -> None:
        expected = [("summary", "c1"), ("theme", ""), ("branch", "lamp")]
        assert sorted(await asked(database)) == sorted(expected)

    await upgraded(engine, tmp_path, request, "0080_searched.sql", fill, look)


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
async def test_links_of_before_get_the_names_under_which_branches_were_made(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """And branches with others' names are indexed again, and pages with them written."""

    async def fill(database: SqlDatabase) -> None:
        await database.write(lambda: earlier_link("tea", "tea", "c"))
        await database.write(lambda: earlier_link("lamp", "lamp", "d"))
        await database.write(lambda: earlier_link("torch", "lamp", "e"))
        for subject in ("lamp", "gone"):
            await SqlDocuments(database).put(wiki_key(TENANT, AGENT, subject), draft(), Head(), NOW)
        await SqlDocuments(database).erase(wiki_key(TENANT, AGENT, "gone"))

    async def look(database: SqlDatabase) -> None:
        pages = await database.read(lambda: fetch("SELECT payload FROM outbox WHERE type = ?", WRITE_WIKI))
        assert [json.loads(row["payload"]) for row in pages] == [{"branch_id": "lamp"}]
        assert sorted(await asked(database)) == [("branch", "lamp"), ("page", "lamp")]
        graph = SqlGraph(database)
        assert await graph.names(TENANT, AGENT, "lamp") == Names(
            title="Lamps", slug="lamps", slugs=("torchs",)
        )
        await graph.forget(TENANT, AGENT, "d", 1)
        assert await graph.names(TENANT, AGENT, "lamp") == Names(title="Torchs", slug="torchs")

    await upgraded(engine, tmp_path, request, "0100_link_names.sql", fill, look)
