"""Which registry and which word engine a service has (SPEC O-1, O-5).

Without a Meilisearch server both are in one SQLite file. With one, the words are there, and the registry is
where the memories are: in PostgreSQL, which several replicas share, else in the file.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

import structlog

from services.kit.errors import StartupError
from services.kit.sql import SqlDatabase
from services.kit.sqlite import CorruptDatabase, Database, SqliteScripts
from services.memory.semantic.adapters.sql import migrations
from services.memory.semantic.adapters.sql.items import REVISION_FACT, SET_FACT, WORDS_FACT, SqlRegistry
from services.memory.semantic.adapters.sqlite_index import SqliteItemIndex
from services.memory.semantic.app.item_ports import ItemIndex, Words
from services.memory.semantic.app.items import SplitItems
from services.memory.semantic.config import SemanticSettings
from services.memory.semantic.domain.analysis import ANALYSER_REVISION

INDEX_FILE = "semantic-index.db"
INDEX_REVISION = f"4.{ANALYSER_REVISION}"  # of its tables, and of the terms in them


async def open_items(settings: SemanticSettings, memories: SqlDatabase, stack: AsyncExitStack) -> ItemIndex:
    """The index that the settings name, closed with the stack. Raises StartupError: see `MeiliWords.open`."""
    path = settings.data_dir / INDEX_FILE
    if not settings.meilisearch_url:
        file = await open_index_file(path, holds_words=True)
        stack.push_async_callback(file.close)
        return SqliteItemIndex(SqliteScripts(file))
    words, identity = await _on_server(settings, stack)
    database = memories
    if not settings.database_url.get_secret_value():
        file = await open_index_file(path, holds_words=False)
        stack.push_async_callback(file.close)
        database = SqliteScripts(file)
    registry = SqlRegistry(database, revision=INDEX_REVISION)
    if await registry.adopt(identity):
        structlog.get_logger("semantic").info("index_begun_anew")
    return SplitItems(registry=registry, words=words)


async def open_index_file(path: Path, *, holds_words: bool) -> Database:
    """The file; a new one in place of one that is corrupt, of another revision, or without its words."""
    folder = migrations("index")
    try:
        database = await Database.open(path, folder, synchronous="NORMAL")
    except CorruptDatabase:
        structlog.get_logger("semantic").warning("index_corrupt", file=path.name)
        _remove(path)
        database = await Database.open(path, folder, synchronous="NORMAL")
    facts = await database.read(
        lambda c: {row["name"]: row["value"] for row in c.execute("SELECT name, value FROM index_facts")}
    )
    elsewhere = holds_words and WORDS_FACT in facts  # a server had the words of what is registered here
    if elsewhere or (facts and facts.get(REVISION_FACT) != INDEX_REVISION):
        await database.close()
        _remove(path)
        return await open_index_file(path, holds_words=holds_words)
    await database.write(lambda c: c.execute(SET_FACT, (REVISION_FACT, INDEX_REVISION)))
    return database


async def _on_server(settings: SemanticSettings, stack: AsyncExitStack) -> tuple[Words, str]:
    try:  # the embedded profile is installed without the client
        from services.memory.semantic.adapters.words_meili import MeiliOptions, MeiliWords, connect
        from services.memory.semantic.adapters.words_meili_calls import MeiliLimits

        client = connect(settings.meilisearch_url, api_key=settings.meilisearch_api_key.get_secret_value())
    except ModuleNotFoundError as error:
        raise StartupError('a Meilisearch server needs the client: install "palimpsest[server]"') from error
    words = await MeiliWords.open(
        client,
        options=MeiliOptions(prefix=settings.meilisearch_prefix, revision=INDEX_REVISION),
        limits=MeiliLimits(
            read_seconds=settings.meilisearch_read_seconds, task_seconds=settings.meilisearch_task_seconds
        ),
        patience=settings.meilisearch_wait_seconds,
    )
    stack.push_async_callback(words.close)
    return words, words.identity


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
