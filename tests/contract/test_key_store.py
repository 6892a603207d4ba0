"""What every store of API keys does (SPEC G-9)."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from services.gateway.adapters.memory_keys import MemoryKeyStore
from services.gateway.adapters.sql import migrations
from services.gateway.adapters.sql.keys import SqlKeys
from services.gateway.app.ports import KeyStore
from services.gateway.domain.keys import ApiKey, ChangeKind, KeyChange, Rotation, digest_of
from services.kit.errors import StateConflict
from services.kit.identity import Role
from services.kit.sql import SqlDatabase, execute
from services.kit.sqlite import Database, SqliteScripts
from services.kit.times import to_micros

NOW = datetime(2026, 3, 1, 9, 0, 0, 123456, tzinfo=UTC)
HOUR = timedelta(hours=1)
MAKER, BY = "key:maker", "jwt:somebody"
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
    await store.add(key, MAKER)
    assert await store.get(key.id) == key


async def test_pages_follow_the_order_of_making_and_hold_one_tenants_keys(store: KeyStore) -> None:
    for number in range(6):
        tenant = "two" if number % 3 == 2 else "one"
        # Neither ids nor times are in order: the order is that of adding.
        made = NOW - number * HOUR
        await store.add(replace(KEY, id=f"{9 - number}", tenant=tenant, created=made), MAKER)
    first = await store.page("one", 0, 3)
    assert [key.id for _, key in first] == ["9", "8", "6"]
    rest = await store.page("one", first[-1][0], 3)
    assert [key.id for _, key in rest] == ["5"]
    assert await store.page("one", rest[-1][0], 3) == []
    assert [key.id for _, key in await store.page("two", 0, 10)] == ["7", "4"]
    assert await store.page("nobody", 0, 10) == []


async def test_revoking_keeps_the_first_time_and_another_tenant_cannot(store: KeyStore) -> None:
    await store.add(KEY, MAKER)
    assert await store.revoke("two", KEY.id, NOW, BY) is None
    assert await store.revoke("one", "unknown", NOW, BY) is None
    assert await store.get(KEY.id) == KEY, "nothing was revoked yet"
    revoked = await store.revoke("one", KEY.id, NOW + HOUR, BY)
    assert revoked == replace(KEY, revoked=NOW + HOUR)
    assert await store.revoke("one", KEY.id, NOW + 2 * HOUR, BY) == revoked
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
    await store.add(key, MAKER)
    assert await store.any_operator(NOW) is counts


def rotation(secret: str, time: datetime, *, overlap: timedelta = HOUR, expires: Any = None) -> Rotation:
    return Rotation(digest=digest_of(secret), time=time, overlap=overlap, expires=expires, subject=BY)


async def test_a_rotated_key_has_the_new_secret_and_for_a_while_the_one_before(store: KeyStore) -> None:
    await store.add(KEY, MAKER)
    assert await store.rotate("two", KEY.id, rotation("stolen", NOW)) is None
    assert await store.rotate("one", "unknown", rotation("stolen", NOW)) is None
    assert await store.get(KEY.id) == KEY, "nothing was rotated yet"
    half = NOW + HOUR / 2
    made = await store.rotate("one", KEY.id, rotation("next", half))
    assert made == replace(
        KEY,
        digest=digest_of("next"),
        rotated=half,
        previous_digest=digest_of("secret"),
        previous_expires=half + HOUR,
    )
    assert await store.get(KEY.id) == made
    again = await store.rotate(
        "one", KEY.id, rotation("third", half, overlap=timedelta(0), expires=NOW + 9 * HOUR)
    )
    assert again is not None
    assert (again.digest, again.previous_digest, again.expires) == (
        digest_of("third"),
        None,
        NOW + 9 * HOUR,
    )
    assert await store.get(KEY.id) == again


async def test_a_key_that_no_longer_works_is_not_rotated(store: KeyStore) -> None:
    gone = replace(KEY, id="gone", expires=None)
    for key in (KEY, gone):
        await store.add(key, MAKER)
    await store.revoke("one", gone.id, NOW, BY)
    for key_id in (KEY.id, gone.id):
        before = await store.get(key_id)
        with pytest.raises(StateConflict):
            await store.rotate("one", key_id, rotation("next", NOW + HOUR))
        assert await store.get(key_id) == before
    assert [change.kind for _, change in await store.changes("one", KEY.id, None, 9)] == [ChangeKind.CREATED]


async def test_the_last_key_that_governs_is_not_revoked(store: KeyStore) -> None:
    """Limited, expired, revoked and other tenants' ones don't count, nor do admins."""
    await store.add(OPERATOR, MAKER)
    for number, key in enumerate(
        (
            replace(OPERATOR, tenant="two"),
            replace(OPERATOR, expires=NOW),
            replace(OPERATOR, agents=frozenset({"ada"})),
            replace(OPERATOR, role=Role.ADMIN),
        )
    ):
        await store.add(replace(key, id=f"other {number}"), MAKER)
    with pytest.raises(StateConflict):
        await store.revoke("one", OPERATOR.id, NOW, BY)
    assert await store.get(OPERATOR.id) == OPERATOR
    second = replace(OPERATOR, id="second")
    await store.add(second, MAKER)
    assert await store.revoke("one", OPERATOR.id, NOW, BY) == replace(OPERATOR, revoked=NOW)
    with pytest.raises(StateConflict):
        await store.revoke("one", second.id, NOW, BY)
    for number in (1, 2, 3):
        assert await store.revoke("one", f"other {number}", NOW, BY), "these may go"


async def test_of_two_operators_revoked_by_two_replicas_at_once_one_stays(
    gateway_sql_pair: tuple[SqlDatabase, SqlDatabase] | None,
) -> None:
    if gateway_sql_pair is None:
        pytest.skip("in memory there is one process")
    replicas = [SqlKeys(database) for database in gateway_sql_pair]
    for attempt in range(10):
        pair = [replace(OPERATOR, id=f"{attempt}-{n}", tenant=f"t{attempt}") for n in range(2)]
        for key in pair:
            await replicas[0].add(key, MAKER)
        outcomes = await asyncio.gather(
            *(each.revoke(key.tenant, key.id, NOW, BY) for each, key in zip(replicas, pair, strict=True)),
            return_exceptions=True,
        )
        assert sorted(type(outcome).__name__ for outcome in outcomes) == ["ApiKey", "StateConflict"]


async def test_changes_are_listed_newest_first_by_key_and_by_tenant(store: KeyStore) -> None:
    other = replace(KEY, id="other")
    await store.add(KEY, MAKER)
    await store.add(other, MAKER)
    await store.add(replace(KEY, id="foreign", tenant="two"), MAKER)
    await store.rotate("one", KEY.id, rotation("next", NOW + HOUR / 2))
    await store.revoke("one", KEY.id, NOW + HOUR, BY)
    await store.revoke("one", KEY.id, NOW + HOUR, BY)  # no change, and no entry
    expected = [
        KeyChange(key_id=KEY.id, kind=ChangeKind.REVOKED, subject=BY, time=NOW + HOUR),
        KeyChange(key_id=KEY.id, kind=ChangeKind.ROTATED, subject=BY, time=NOW + HOUR / 2),
        KeyChange(key_id=other.id, kind=ChangeKind.CREATED, subject=MAKER, time=NOW),
        KeyChange(key_id=KEY.id, kind=ChangeKind.CREATED, subject=MAKER, time=NOW),
    ]
    everything = await store.changes("one", None, None, 10)
    assert [change for _, change in everything] == expected
    first = await store.changes("one", None, None, 2)
    assert first + await store.changes("one", None, first[-1][0], 10) == everything
    assert [change for _, change in await store.changes("one", KEY.id, None, 10)] == [
        change for change in expected if change.key_id == KEY.id
    ]
    assert await store.changes("two", KEY.id, None, 10) == []
    assert await store.changes("nobody", None, None, 10) == []


async def test_keys_outlive_the_process_and_secrets_are_not_in_the_file(tmp_path: Path) -> None:
    database = await opened(tmp_path)
    await SqlKeys(SqliteScripts(database)).add(KEY, MAKER)
    await database.close()
    database = await opened(tmp_path)
    assert await SqlKeys(SqliteScripts(database)).get(KEY.id) == KEY
    await database.close()
    written = content(tmp_path)
    assert digest_of("secret") in written
    assert b"secret" not in written


async def test_keys_of_an_older_version_go_on_working(tmp_path: Path) -> None:
    """Made before keys could be rotated, of which nothing is on record."""
    before = tmp_path / "migrations"
    before.mkdir()
    for name in ("0001_initial.sql", "0002_settings.sql"):
        (before / name).write_bytes((migrations("sqlite") / name).read_bytes())
    database = await Database.open(tmp_path / "gateway.db", before)
    await SqliteScripts(database).write(
        lambda: execute(
            "INSERT INTO api_keys (key_id, tenant, display_name, role, agents, digest, created, expires,"
            " revoked) VALUES (?, ?, ?, ?, ?, ?, ?, NULL, NULL)",
            KEY.id,
            KEY.tenant,
            KEY.display_name,
            int(KEY.role),
            json.dumps(["ada", "bob"]),
            KEY.digest,
            to_micros(KEY.created),
        )
    )
    await database.close()
    database = await opened(tmp_path)
    store = SqlKeys(SqliteScripts(database))
    assert await store.get(KEY.id) == replace(KEY, expires=None)
    assert await store.changes(KEY.tenant, KEY.id, None, 10) == []
    rotated = await store.rotate(KEY.tenant, KEY.id, rotation("next", NOW + HOUR))
    assert rotated is not None
    assert rotated.previous_digest == KEY.digest
    await database.close()
