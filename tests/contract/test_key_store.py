"""What every store of API keys does (SPEC G-9)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from services.gateway.adapters.memory_keys import MemoryKeyStore
from services.gateway.adapters.sql import migrations
from services.gateway.adapters.sql.keys import SqlKeys
from services.gateway.app.ports import KeyStore
from services.gateway.domain.keys import ApiKey, digest_of
from services.kit.identity import Role
from services.kit.sql import SqlDatabase
from services.kit.sqlite import Database, SqliteScripts

NOW = datetime(2026, 3, 1, 9, 0, 0, 123456, tzinfo=UTC)
HOUR = timedelta(hours=1)
KEY = ApiKey(
    id="0123456789abcdef",
    tenant="one",
    display_name="Zoë's key",
    role=Role.WRITER,
    agents=frozenset({"ada", "bob"}),
    digest=digest_of("secret"),
    created=NOW,
    expires=NOW + HOUR,
    revoked=None,
)


async def opened(path: Path) -> Database:
    return await Database.open(path / "gateway.db", migrations("sqlite"))


def content(path: Path) -> bytes:
    return b"".join(file.read_bytes() for file in path.iterdir())


@pytest.fixture
def store(gateway_sql_pair: tuple[SqlDatabase, SqlDatabase] | None) -> KeyStore:
    return MemoryKeyStore() if gateway_sql_pair is None else SqlKeys(gateway_sql_pair[0])


@pytest.mark.parametrize("role", [Role.READER, Role.WRITER, Role.ADMIN, Role.OPERATOR])
@pytest.mark.parametrize("agents", [None, frozenset({"ada"})])
@pytest.mark.parametrize("expires", [None, NOW + HOUR])
async def test_a_key_is_read_as_it_was_added(
    store: KeyStore, role: Role, agents: frozenset[str] | None, expires: datetime | None
) -> None:
    key = replace(KEY, role=role, agents=agents, expires=expires)
    assert await store.get(key.id) is None
    await store.add(key)
    assert await store.get(key.id) == key


async def test_pages_follow_the_order_of_making_and_hold_one_tenants_keys(store: KeyStore) -> None:
    for number in range(6):
        tenant = "two" if number % 3 == 2 else "one"
        # Neither ids nor times are in order: the order is that of adding.
        made = NOW - number * HOUR
        await store.add(replace(KEY, id=f"{9 - number}", tenant=tenant, created=made))
    first = await store.page("one", 0, 3)
    assert [key.id for _, key in first] == ["9", "8", "6"]
    rest = await store.page("one", first[-1][0], 3)
    assert [key.id for _, key in rest] == ["5"]
    assert await store.page("one", rest[-1][0], 3) == []
    assert [key.id for _, key in await store.page("two", 0, 10)] == ["7", "4"]
    assert await store.page("nobody", 0, 10) == []


async def test_revoking_keeps_the_first_time_and_another_tenant_cannot(store: KeyStore) -> None:
    await store.add(KEY)
    assert await store.revoke("two", KEY.id, NOW) is None
    assert await store.revoke("one", "unknown", NOW) is None
    assert await store.get(KEY.id) == KEY, "nothing was revoked yet"
    revoked = await store.revoke("one", KEY.id, NOW + HOUR)
    assert revoked == replace(KEY, revoked=NOW + HOUR)
    assert await store.revoke("one", KEY.id, NOW + 2 * HOUR) == revoked
    assert await store.get(KEY.id) == revoked
    assert [key for _, key in await store.page("one", 0, 10)] == [revoked], "listed still"


OPERATOR = replace(KEY, role=Role.OPERATOR, agents=None, expires=None)


@pytest.mark.parametrize(
    ("key", "counts"),
    [
        (OPERATOR, True),
        (replace(OPERATOR, expires=NOW + HOUR), True),
        (replace(OPERATOR, expires=NOW), False),
        (replace(OPERATOR, revoked=NOW - HOUR), False),
        (replace(OPERATOR, agents=frozenset({"ada"})), False),
        (replace(OPERATOR, role=Role.ADMIN), False),
    ],
)
async def test_an_operator_is_usable_and_without_limits(store: KeyStore, key: ApiKey, counts: bool) -> None:
    assert not await store.any_operator(NOW)
    await store.add(key)
    assert await store.any_operator(NOW) is counts


async def test_keys_outlive_the_process_and_secrets_are_not_in_the_file(tmp_path: Path) -> None:
    database = await opened(tmp_path)
    await SqlKeys(SqliteScripts(database)).add(KEY)
    await database.close()
    database = await opened(tmp_path)
    assert await SqlKeys(SqliteScripts(database)).get(KEY.id) == KEY
    await database.close()
    written = content(tmp_path)
    assert digest_of("secret") in written
    assert b"secret" not in written
