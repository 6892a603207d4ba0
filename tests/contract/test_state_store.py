"""State documents over every database, and their use cases on it (SPEC W-7)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from typing import TypeAlias

import pytest

from services.kit.errors import InvalidField, NotFound, VersionConflict
from services.kit.sql import SqlDatabase, fetch
from services.memory.episodic.adapters.sql.agents import SqlAgents
from services.memory.episodic.adapters.sql.conversations import SqlConversations
from services.memory.episodic.adapters.sql.state import SqlStates
from services.memory.episodic.app.state import States, WatchSettings
from services.memory.episodic.domain.model import Agent, Conversation
from services.memory.episodic.domain.state import KEPT_VERSIONS, StateKey, StateVersion

RACERS = 64
Events: TypeAlias = "list[tuple[int, str | None, bool]]"  # version, document, skipped


def key(
    *, tenant: str = "acme", agent_id: str = "a", conversation_id: str = "", name: str = "default"
) -> StateKey:
    return StateKey(tenant=tenant, agent_id=agent_id, conversation_id=conversation_id, name=name)


async def populate(database: SqlDatabase) -> None:
    """Two tenants with agents a and b, each with conversations c and d."""
    agents, conversations = SqlAgents(database), SqlConversations(database)
    for tenant in ("acme", "other"):
        for agent_id in ("a", "b"):
            await agents.create(tenant, Agent(id=agent_id, display_name="", system_prompt="", create_time=1))
            for conversation_id in ("c", "d"):
                await conversations.create(
                    tenant,
                    Conversation(
                        id=conversation_id,
                        agent_id=agent_id,
                        contact_id="",
                        title="",
                        create_time=1,
                        update_time=1,
                    ),
                )


@pytest.fixture
async def store(episodic_sql: SqlDatabase) -> SqlStates:
    await populate(episodic_sql)
    return SqlStates(episodic_sql)


def use_cases(store: SqlStates, poll_seconds: float = 30) -> States:
    return States(store, lambda: datetime(2026, 3, 1, tzinfo=UTC), WatchSettings(poll_seconds=poll_seconds))


async def test_versions_count_changes_and_go_on_after_a_deletion(store: SqlStates) -> None:
    assert await store.newest(key()) is None
    assert await store.set(key(), '{"n":1}', 10, None) == StateVersion(version=1, json='{"n":1}', time=10)
    assert await store.set(key(), '{ "n" :2}', 20, 1) == StateVersion(version=2, json='{ "n" :2}', time=20)
    assert await store.newest(key()) == StateVersion(version=2, json='{ "n" :2}', time=20)
    assert (await store.delete(key(), 30, 2)).version == 3
    assert await store.newest(key()) == StateVersion(version=3, json=None, time=30)
    assert (await store.set(key(), "{}", 40, 0)).version == 4
    assert (await store.delete(key(), 50, None)).version == 5
    assert await store.initialise(key(), '{"again":1}', 60) == (
        StateVersion(version=6, json='{"again":1}', time=60),
        True,
    )


@pytest.mark.parametrize("expected", [1, 3, 2**62])
async def test_compare_and_set_refuses_another_version(store: SqlStates, expected: int) -> None:
    with pytest.raises(VersionConflict) as caught:
        await store.set(key(), "{}", 1, expected)
    assert caught.value.metadata == {"current_version": "0"}
    await store.set(key(), "{}", 1, None)
    await store.set(key(), "{}", 1, None)
    for change in (store.set(key(), "{}", 1, expected), store.delete(key(), 1, expected)):
        with pytest.raises(VersionConflict) as caught:
            await change
        assert caught.value.metadata == {"current_version": "2"}
    with pytest.raises(VersionConflict):
        await store.set(key(), "{}", 1, 0)
    assert (await store.set(key(), "{}", 1, 2)).version == 3
    await store.delete(key(), 1, 3)
    with pytest.raises(VersionConflict) as caught:
        await store.set(key(), "{}", 1, 4)
    assert caught.value.metadata == {"current_version": "0"}
    with pytest.raises(NotFound):
        await store.delete(key(), 1, 4)


async def test_documents_of_other_names_conversations_agents_and_tenants_are_others(store: SqlStates) -> None:
    keys = [
        key(),
        key(name="other"),
        key(conversation_id="c"),
        key(conversation_id="d"),
        key(agent_id="b"),
        key(agent_id="b", conversation_id="c"),
        key(tenant="other"),
        key(tenant="other", conversation_id="c"),
    ]
    for index, one in enumerate(keys):
        assert await store.newest(one) is None
        assert (await store.set(one, f'{{"n":{index}}}', 1, 0)).version == 1
    for index, one in enumerate(keys):
        assert await store.newest(one) == StateVersion(version=1, json=f'{{"n":{index}}}', time=1)
    await store.delete(keys[0], 2, None)
    assert [(found.json is None) for one in keys if (found := await store.newest(one))] == [True] + [
        False
    ] * 7


async def test_unknown_agents_and_conversations_are_not_found(store: SqlStates) -> None:
    for unknown in (key(agent_id="x"), key(conversation_id="x"), key(tenant="x", conversation_id="c")):
        for call in (
            store.newest(unknown),
            store.initialise(unknown, "{}", 1),
            store.set(unknown, "{}", 1, None),
            store.delete(unknown, 1, None),
            store.after(unknown, 0, 4),
        ):
            with pytest.raises(NotFound):
                await call


async def test_the_newest_versions_are_kept_and_no_more(store: SqlStates, episodic_sql: SqlDatabase) -> None:
    for number in range(1, KEPT_VERSIONS + 11):
        await store.set(key(), f'{{"n":{number}}}', number, None)
    await store.set(key(name="few"), "{}", 1, None)
    rows = await episodic_sql.read(
        lambda: fetch("SELECT version FROM state_versions WHERE tenant = ? AND name = ?", "acme", "default")
    )
    assert sorted(row["version"] for row in rows) == list(range(11, KEPT_VERSIONS + 11))
    assert [v.version for v in await store.after(key(), 10, 3)] == [11, 12, 13]
    assert not any(v.skipped for v in await store.after(key(), 10, 3))
    newest = StateVersion(version=74, json='{"n":74}', time=74, skipped=True)
    assert await store.after(key(), 9, 3) == (newest,)
    assert await store.after(key(), 74, 3) == ()
    with pytest.raises(InvalidField):
        await store.after(key(), 75, 3)


async def test_of_64_writers_with_the_same_expected_version_one_wins(
    episodic_sql_pair: tuple[SqlDatabase, SqlDatabase],
) -> None:
    """Compare-and-set, over two replicas where there are two."""
    await populate(episodic_sql_pair[0])
    stores = [SqlStates(database) for database in episodic_sql_pair]
    for version in range(3):
        results = await asyncio.gather(
            *(stores[n % 2].set(key(), f'{{"writer":{n}}}', 1, version) for n in range(RACERS)),
            return_exceptions=True,
        )
        won = [result for result in results if isinstance(result, StateVersion)]
        assert [result.version for result in won] == [version + 1]
        lost = [result for result in results if isinstance(result, VersionConflict)]
        assert len(lost) == RACERS - 1
        assert await stores[1].newest(key()) == won[0]


async def test_64_different_initial_values_give_all_racers_the_same(
    episodic_sql_pair: tuple[SqlDatabase, SqlDatabase],
) -> None:
    await populate(episodic_sql_pair[0])
    states = [use_cases(SqlStates(database)) for database in episodic_sql_pair]
    results = await asyncio.gather(
        *(states[n % 2].get(key(conversation_id="c"), f'{{"racer":{n}}}') for n in range(RACERS))
    )
    assert len({(found.version, found.json) for found, _ in results}) == 1
    assert results[0][0].version == 1
    assert sum(created for _, created in results) == 1


async def test_writers_without_an_expected_version_all_count(
    episodic_sql_pair: tuple[SqlDatabase, SqlDatabase],
) -> None:
    await populate(episodic_sql_pair[0])
    stores = [SqlStates(database) for database in episodic_sql_pair]
    results = await asyncio.gather(*(stores[n % 2].set(key(), "{}", 1, None) for n in range(RACERS)))
    assert sorted(result.version for result in results) == list(range(1, RACERS + 1))


async def take(changes: AsyncGenerator[tuple[StateVersion, int], None], count: int) -> Events:
    got: Events = []
    async with asyncio.timeout(30):
        while len(got) < count:
            change, version = await anext(changes)
            assert version == change.version
            got.append((change.version, change.json, change.skipped))
    return got


async def watched(states: States, after: int, count: int, of: StateKey) -> Events:
    async with aclosing(states.watch(of, after)) as changes:
        return await take(changes, count)


async def test_a_watcher_sees_every_change_once_and_in_order(store: SqlStates) -> None:
    states = use_cases(store)
    for number in range(1, 4):
        await states.set(key(), f'{{"n":{number}}}', None)
    async with aclosing(states.watch(key(), 0)) as current:
        assert (await anext(current))[1] == 3
        rest = asyncio.create_task(take(current, 11))
        from_one = asyncio.create_task(watched(states, 1, 13, key()))
        await states.set(key(name="another"), "{}", None)
        for number in range(4, 14):
            await states.set(key(), f'{{"n":{number}}}', None)
        await states.delete(key(), None)
        everything: Events = [(n, f'{{"n":{n}}}', False) for n in range(1, 14)] + [(14, None, False)]
        assert await rest == everything[3:]
        assert await from_one == everything[1:]


async def test_a_watcher_that_begins_after_a_deletion_learns_of_it_and_goes_on(store: SqlStates) -> None:
    states = use_cases(store)
    await states.set(key(), "{}", None)
    await states.delete(key(), None)
    async with aclosing(states.watch(key(), 0)) as current:
        assert await take(current, 1) == [(2, None, False)]
        await states.set(key(), "{}", None)
        assert await take(current, 1) == [(3, "{}", False)]


class Noticing(SqlStates):
    """Tells when a watcher has looked for changes."""

    def __init__(self, database: SqlDatabase) -> None:
        super().__init__(database)
        self.looked = asyncio.Event()

    async def after(self, key: StateKey, version: int, limit: int) -> Sequence[StateVersion]:
        changes = await super().after(key, version, limit)
        self.looked.set()
        return changes


async def test_a_watcher_that_begins_before_the_first_document_sees_it(episodic_sql: SqlDatabase) -> None:
    await populate(episodic_sql)
    store = Noticing(episodic_sql)
    states = use_cases(store)
    early = asyncio.create_task(watched(states, 0, 3, key()))
    await store.looked.wait()
    for number in range(1, 4):
        await states.set(key(), f'{{"n":{number}}}', None)
    assert await early == [(n, f'{{"n":{n}}}', False) for n in range(1, 4)]


async def test_a_watcher_sees_what_another_replica_writes(
    episodic_sql_pair: tuple[SqlDatabase, SqlDatabase],
) -> None:
    await populate(episodic_sql_pair[0])
    here, there = (use_cases(SqlStates(d), poll_seconds=0.05) for d in episodic_sql_pair)
    await there.set(key(), '{"n":1}', None)
    watching = asyncio.create_task(watched(here, 1, 3, key()))
    for number in range(2, 5):
        await there.set(key(), f'{{"n":{number}}}', None)
    assert await watching == [(n, f'{{"n":{n}}}', False) for n in range(2, 5)]


async def test_a_watcher_that_asks_for_what_is_gone_gets_the_newest(store: SqlStates) -> None:
    states = use_cases(store)
    for number in range(1, KEPT_VERSIONS + 4):
        await states.set(key(), f'{{"n":{number}}}', None)
    assert await watched(states, 2, 1, key()) == [(67, '{"n":67}', True)]
    assert (await watched(states, 3, 64, key()))[0] == (4, '{"n":4}', False)
    with pytest.raises(InvalidField, match="after_version"):
        await watched(states, 68, 1, key())
