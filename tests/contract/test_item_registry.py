"""The registry over both engines: replicas, revisions, another word index (SPEC O-5, S-16, S-18, SV-2)."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

import pytest

from services.kit.errors import DependencyDown
from services.kit.postgres import Postgres
from services.kit.sql import SqlDatabase
from services.kit.sqlite import Database, SqliteScripts
from services.memory.semantic.adapters.sql.items import SqlRegistry
from services.memory.semantic.app.item_ports import MemoryDocument
from services.memory.semantic.domain.items import Progress, SourceMessage
from services.memory.semantic.domain.vectors import Bucket, ContentClass
from tests.postgres_server import SharedServer

NOW = datetime(2031, 5, 4, 12, 0, tzinfo=UTC)
TENANT, AGENT = "acme", "ada"
MIGRATIONS = files("services.memory.semantic") / "migrations"
BUCKET = Bucket(tenant=TENANT, agent=AGENT, content=ContentClass.MEMORY)
MEMORY = MemoryDocument(memory_id="m", contact_id="", terms="", begins=NOW)
Pair = tuple[SqlDatabase, SqlDatabase]


@pytest.fixture(params=["sqlite", "postgres"])
async def databases(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Pair]:
    """A database as two replicas see it; a SQLite file has one owner, so it is one twice."""
    async with AsyncExitStack() as stack:
        if request.param == "sqlite":
            file = await Database.open(tmp_path / "index.db", MIGRATIONS / "index", synchronous="NORMAL")
            stack.push_async_callback(file.close)
            scripts = SqliteScripts(file)
            yield scripts, scripts
            return
        server: SharedServer = request.getfixturevalue("postgres_server")
        url = await stack.enter_async_context(server.database(MIGRATIONS / "postgres"))
        pair = [await Postgres.open(url, MIGRATIONS / "postgres", pool_size=4) for _ in range(2)]
        for replica in pair:
            stack.push_async_callback(replica.close)
        yield pair[0], pair[1]


def message(sequence: int, conversation: str = "c") -> SourceMessage:
    return SourceMessage(
        conversation_id=conversation,
        contact_id="ann",
        sequence=sequence,
        message_id=f"m{sequence}",
        role=2,
        author="Ann",
        session="",
        time=NOW,
        created=NOW,
        text="",
        tool_text="",
    )


async def test_replicas_that_index_the_same_count_each_message_once(databases: Pair) -> None:
    """S-16, O-5: a job that runs twice at once, and jobs side by side, leave one count."""
    one, other = (SqlRegistry(database) for database in databases)
    random_ = random.Random(3)
    batches = [random_.sample(range(1, 41), 12) for _ in range(12)] + [list(range(1, 41))]
    await asyncio.gather(
        *(
            registry.put_messages(TENANT, AGENT, [message(n, c) for c in "dc" for n in batch])
            for batch in batches
            for registry in (one, other)
        )
    )
    expected = {c: Progress(conversation_id=c, count=40, sequence=40) for c in "cd"}
    assert await other.progress(TENANT, AGENT, ["c", "d"]) == expected


async def test_a_registry_forgets_what_was_in_another_word_index(databases: Pair) -> None:
    """SV-2: and is not whole, so that everything is indexed again."""
    registry = SqlRegistry(databases[0], revision="2.1")
    assert await registry.adopt("made on Monday")
    await registry.put_messages(TENANT, AGENT, [message(1)])
    await registry.put_memories(Bucket(tenant="other", agent="bea", content=ContentClass.PAST), [MEMORY])
    await registry.set_whole(True)
    assert not await registry.adopt("made on Monday"), "nothing changes at another start"
    assert (len(await registry.buckets()), await registry.whole()) == (2, True)
    assert await registry.adopt("made on Tuesday")
    assert (await registry.buckets(), await registry.whole()) == ([], False)
    assert await registry.missing(TENANT, AGENT, "c", 1, limit=5) == [1]
    assert await registry.authors(TENANT, AGENT, "") == []


async def test_a_start_that_was_broken_off_begins_again(databases: Pair) -> None:
    """SV-2: what was registered before the end of it may be of the old index."""

    class Failing(SqlRegistry):
        async def _forget(self, tenant: str, agent_id: str) -> None:
            raise DependencyDown

    registry = SqlRegistry(databases[0], revision="2.1")
    await registry.adopt("made on Monday")
    await registry.put_messages(TENANT, AGENT, [message(1)])
    with pytest.raises(DependencyDown):
        await Failing(databases[0], revision="2.1").adopt("made on Tuesday")
    assert await registry.adopt("made on Tuesday")
    assert await registry.buckets() == []


async def test_a_replica_of_an_older_revision_registers_nothing_more(databases: Pair) -> None:
    """S-18: its terms are not those that the index is asked for."""
    old, new = (SqlRegistry(d, revision=r) for d, r in zip(databases, ("2.1", "2.2"), strict=True))
    await old.adopt("words")
    await old.put_messages(TENANT, AGENT, [message(1)])
    assert await new.adopt("words")
    with pytest.raises(DependencyDown, match="another version"):
        await old.put_messages(TENANT, AGENT, [message(2)])
    with pytest.raises(DependencyDown, match="another version"):
        await old.put_memories(BUCKET, [MEMORY])
    await new.put_messages(TENANT, AGENT, [message(1)])
    assert await old.missing(TENANT, AGENT, "c", 2, limit=5) == [2], "reading goes on"
