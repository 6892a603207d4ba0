"""Which appends ask for the extraction of facts (SPEC J-8, SV-5)."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from services.kit.sql import SqlDatabase, fetch
from services.memory.episodic.adapters.sql import sql_stores
from services.memory.episodic.app.ports import Stores
from services.memory.episodic.domain.append import Draft
from services.memory.episodic.domain.model import Role
from tests.contract.history_parts import KEY, RULES, append, draft, jobs, prepared

EXTRACT = "extract_messages"
BYTES = 1_000_000


@pytest.fixture
async def stores(episodic_sql: SqlDatabase) -> Stores:
    """With an agent and a conversation; asks for extraction."""
    await prepared(episodic_sql)
    return await sql_stores(episodic_sql, rules=RULES, max_bytes=BYTES, extract=True)


def by(role: Role, text: str) -> Draft:
    return replace(draft(text), role=role)


async def asked(database: SqlDatabase) -> list[tuple[int, int]]:
    rows = await database.read(
        lambda: fetch("SELECT payload FROM outbox WHERE tenant = ? AND type = ? ORDER BY id", "t", EXTRACT)
    )
    found = [json.loads(row["payload"]) for row in rows]
    assert {one["conversation_id"] for one in found} <= {KEY.id}
    return [(one["from_sequence"], one["to_sequence"]) for one in found]


async def test_an_append_asks_once_for_all_that_people_said_in_it(
    stores: Stores, episodic_sql: SqlDatabase
) -> None:
    """One row for an append, not one for a message: from the first to the last that a person said."""
    turn = [by(Role.ASSISTANT, "a"), by(Role.USER, "b"), by(Role.TOOL, "c"), by(Role.USER, "d")]
    await stores.messages.append(append(*turn, by(Role.ASSISTANT, "e")))
    assert await asked(episodic_sql) == [(2, 4)]
    assert await jobs(episodic_sql, EXTRACT) == ["extract_messages/a/c/2-4"]


async def test_an_append_that_holds_no_persons_message_asks_for_nothing(
    stores: Stores, episodic_sql: SqlDatabase
) -> None:
    await stores.messages.append(append(by(Role.ASSISTANT, "a"), by(Role.TOOL, "b")))
    assert await asked(episodic_sql) == []
    await stores.messages.append(append(by(Role.USER, "c")))
    assert await asked(episodic_sql) == [(3, 3)]


async def test_a_job_names_at_most_50_messages(stores: Stores, episodic_sql: SqlDatabase) -> None:
    await stores.messages.append(append(*(by(Role.USER, f"m{n}") for n in range(120))))
    assert await asked(episodic_sql) == [(1, 50), (51, 100), (101, 120)]


async def test_ingesting_again_asks_for_nothing(stores: Stores, episodic_sql: SqlDatabase) -> None:
    """E-2."""
    transcript = [by(Role.USER, "a"), by(Role.USER, "b")]
    await stores.messages.append(append(*transcript, after=""))
    await stores.messages.append(append(*transcript, after=""))
    await stores.messages.append(append(*transcript, by(Role.USER, "c"), after=""))
    assert await asked(episodic_sql) == [(1, 2), (3, 3)]


async def test_concurrent_appends_are_each_asked_for_once(stores: Stores, episodic_sql: SqlDatabase) -> None:
    """However many share a transaction, and with it a job."""
    await asyncio.gather(*(stores.messages.append(append(by(Role.USER, f"m{n}"))) for n in range(64)))
    covered = [n for first, last in await asked(episodic_sql) for n in range(first, last + 1)]
    assert covered == list(range(1, 65))


async def test_it_can_be_switched_off(episodic_sql: SqlDatabase) -> None:
    await prepared(episodic_sql)
    off = await sql_stores(episodic_sql, rules=RULES, max_bytes=BYTES, extract=False)
    await off.messages.append(append(by(Role.USER, "a")))
    assert await asked(episodic_sql) == []
    assert len(await jobs(episodic_sql, "index_message")) == 1
