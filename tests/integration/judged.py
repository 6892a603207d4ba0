"""A judge's hand in a running service's memories: its store, opened a second time, for tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from services.kit.sqlite import Database, SqliteScripts
from services.memory.semantic.adapters.sql import migrations
from services.memory.semantic.adapters.sql.judgements import SqlJudgements
from services.memory.semantic.app.ports import Verdict
from services.memory.semantic.bootstrap import CANONICAL_FILE


@asynccontextmanager
async def judgements(folder: Path) -> AsyncIterator[SqlJudgements]:
    """Over the file in the service's folder."""
    database = await Database.open(folder / CANONICAL_FILE, migrations("sqlite"))
    try:
        yield SqlJudgements(SqliteScripts(database))
    finally:
        await database.close()


def verdict(old_id: str, new_id: str, probability: float = 0.75) -> Verdict:
    """Of two memories."""
    return Verdict(old_id=old_id, new_id=new_id, probability=probability, judge="test")
