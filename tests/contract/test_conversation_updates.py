"""What an append costs in the table of conversations (SPEC E-1, E-13)."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import asyncpg

from services.kit.postgres import Postgres
from services.memory.episodic.adapters.sql.conversations import HOUR
from tests.contract.conftest import EPISODIC
from tests.contract.history_parts import append, draft, prepared
from tests.postgres_server import SharedServer

APPENDS = 100
UPDATES = """
SELECT sum(n_tup_upd)::bigint AS made, sum(n_tup_hot_upd)::bigint AS heap_only
FROM pg_stat_user_tables WHERE relname LIKE 'conversations\\_%'
"""


async def test_an_append_within_the_hour_adds_to_no_index_of_its_conversation(
    postgres_server: SharedServer,
) -> None:
    """An update that changes no indexed value stays within the heap's page, and leaves nothing to vacuum."""
    migrations = EPISODIC / "postgres"
    async with postgres_server.database(migrations) as url:
        made_before, heap_only_before = await _updates(url)
        database = await Postgres.open(url, migrations, pool_size=1)
        stores = await prepared(database)
        for number in range(APPENDS):
            said = append(draft(id=f"m{number}", author="x"))
            await stores.messages.append(replace(said, now=7 * HOUR + number))
        await database.close()  # a connection's figures are there once it has ended
        async with asyncio.timeout(20):
            while (found := await _updates(url))[0] - made_before < APPENDS:  # noqa: ASYNC110 - another process counts
                await asyncio.sleep(0.05)
        made, heap_only = found[0] - made_before, found[1] - heap_only_before
        assert made == APPENDS
        assert made - heap_only <= 1, "the first comes into the hour"


async def _updates(url: str) -> tuple[int, int]:
    """Of all partitions: how many there were, and how many of them changed no index."""
    connection = await asyncpg.connect(url)
    try:
        row = await connection.fetchrow(UPDATES)
        assert row is not None
        return row["made"], row["heap_only"]
    finally:
        await connection.close()
