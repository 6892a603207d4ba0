"""The canonical rows of memories: the suite of the MemoryStore port (SPEC S-1 to S-6, S-10, SV-5)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from services.kit.errors import Exists, VersionConflict
from services.kit.sql import Script, SqlDatabase, execute, for_sqlite
from services.kit.sqlite import Database, SqliteScripts
from services.memory.semantic.adapters.sql import migrations
from services.memory.semantic.adapters.sql.memories import SqlMemories
from services.memory.semantic.adapters.sql.memories_writing import WriteRules
from services.memory.semantic.app.ports import KnownConversation, MemoryQuery
from services.memory.semantic.domain.memory import (
    Cause,
    FactType,
    Kind,
    Memory,
    MessageRef,
    Scope,
    Verification,
)
from tests.contract.memory_parts import (
    AGENT,
    AGENT_WIDE,
    ANN,
    ANN_TOO,
    BOB,
    DAY,
    MERGED,
    NOT_UNIQUE,
    NOW,
    RACERS,
    TASK_LIFETIME,
    TENANT,
    Canonical,
)


@pytest.fixture
def canonical(semantic_sql_pair: tuple[SqlDatabase, SqlDatabase]) -> Canonical:
    return Canonical(semantic_sql_pair)


# S-6: one value, one chain


async def test_racing_writers_of_one_value_leave_one_memory(canonical: Canonical) -> None:
    """S-6."""
    results = await asyncio.gather(*(canonical.remember("city", "Oslo") for _ in range(RACERS)))
    assert len({r.memory.id for r in results}) == 1
    assert sum(r.created for r in results) == 1
    assert len(await canonical.jobs()) == 1, "what is there already is not indexed again"


async def test_racing_writers_of_different_values_leave_one_chain(canonical: Canonical) -> None:
    """S-6."""
    results = await asyncio.gather(*(canonical.remember("city", f"city {n}") for n in range(RACERS)))
    assert all(r.created for r in results)
    chain = await canonical.chain(results[0].memory.id)
    assert [m.version for m in chain] == list(range(1, RACERS + 1))
    assert {m.id for m in chain} == {r.memory.id for r in results}
    assert [m.superseded_by for m in chain] == [*(m.id for m in chain[1:]), ""]
    assert [m.supersedes for m in chain] == ["", *(m.id for m in chain[:-1])]
    assert await canonical.live() == [chain[-1].value]


async def test_racing_writers_of_merged_contacts_leave_one_live_memory(canonical: Canonical) -> None:
    """S-5, S-6."""
    other_way = Scope(agent_id=AGENT, contact_ids=("ann-too", "ann"))
    writes = [canonical.remember("city", f"c{n}", (MERGED, other_way)[n % 2]) for n in range(RACERS)]
    results = await asyncio.gather(*writes)
    assert all(r.created for r in results)
    assert len(await canonical.live(MERGED)) == 1
    assert len(await canonical.live(MERGED, include_superseded=True, limit=1000)) == RACERS


async def test_two_live_versions_of_a_key_cannot_be_stored(canonical: Canonical) -> None:
    """S-6: the schema itself keeps a chain from forking."""
    first = (await canonical.remember("city", "Oslo")).memory
    await canonical.remember("city", "Bergen")
    for change in ("superseded_by = ''", "version = 2"):
        statement = f"UPDATE memories SET {change} WHERE tenant = ? AND memory_id = ?"
        with pytest.raises(NOT_UNIQUE):
            await canonical.database.write(partial(execute, statement, TENANT, first.id))
    assert await canonical.live() == ["Bergen"]


async def test_a_new_value_ends_the_old_one_where_it_begins(canonical: Canonical) -> None:
    """S-1, S-6."""
    first = (await canonical.remember("city", "Oslo")).memory
    second = (await canonical.remember("city", "Bergen", now=NOW + DAY)).memory
    assert await canonical.one(second.id) == second
    old = await canonical.one(first.id)
    assert (old.valid_from, old.valid_to, second.valid_from) == (NOW, NOW + DAY, NOW + DAY)
    assert (second.version, second.supersedes, second.valid_to) == (2, first.id, None)
    assert (old.live(NOW + DAY), second.live(NOW + DAY)) == (False, True)
    assert second.confidence == pytest.approx(0.9), "S-4: explicit"


async def test_a_stated_beginning_never_makes_the_old_one_end_before_it_began(canonical: Canonical) -> None:
    """S-1."""
    first = (await canonical.remember("city", "Oslo")).memory
    second = (await canonical.remember("city", "Bergen", valid_from=NOW - DAY)).memory
    assert second.valid_from == NOW - DAY
    assert (await canonical.one(first.id)).valid_to == NOW


async def test_a_value_that_comes_back_is_a_new_version(canonical: Canonical) -> None:
    """S-6: only what is live now makes a write the same again."""
    for value in ("tea", "coffee", "tea"):
        last = await canonical.remember("drink", value)
    assert (last.created, last.memory.version) == (True, 3)


async def test_another_fact_type_is_a_new_version(canonical: Canonical) -> None:
    await canonical.remember("drink", "tea")
    second = await canonical.remember("drink", "tea", fact_type=FactType.PREFERENCE)
    assert (second.created, second.memory.version) == (True, 2)


async def test_a_pin_outlives_a_new_value(canonical: Canonical) -> None:
    await canonical.remember("name", "Ann", pinned=True)
    assert (await canonical.remember("name", "Anna")).memory.pinned
    assert not (await canonical.remember("other", "x")).memory.pinned


# S-5: buckets


async def test_the_same_key_lives_in_each_bucket_on_its_own(canonical: Canonical) -> None:
    """S-5."""
    for scope, value in ((AGENT_WIDE, "all"), (ANN, "Ann's"), (BOB, "Bob's")):
        assert (await canonical.remember("drink", value, scope)).memory.version == 1
    assert await canonical.live() == ["all"]
    assert await canonical.live(ANN) == ["all", "Ann's"]
    assert await canonical.live(BOB) == ["all", "Bob's"]


async def test_a_merged_contacts_memory_is_superseded_by_the_new_one(canonical: Canonical) -> None:
    """S-5: new ones go to the first id, and supersede those of any."""
    old = (await canonical.remember("drink", "tea", ANN_TOO)).memory
    new = (await canonical.remember("drink", "coffee", MERGED)).memory
    assert (new.contact_id, new.supersedes) == ("ann", old.id)
    assert (await canonical.one(old.id)).superseded_by == new.id
    assert await canonical.live(MERGED) == ["coffee"]


async def test_a_merged_contacts_equal_value_changes_nothing(canonical: Canonical) -> None:
    """S-6 over merged ids."""
    old = (await canonical.remember("drink", "tea", ANN_TOO)).memory
    again = await canonical.remember("drink", "tea", MERGED)
    assert (again.created, again.memory.id) == (False, old.id)


async def test_two_live_ones_of_a_merged_person_become_one_chain_at_the_next_write(
    canonical: Canonical,
) -> None:
    """S-6: both were written before the merge."""
    olds = [(await canonical.remember("drink", "tea", scope)).memory for scope in (ANN, ANN_TOO)]
    new = await canonical.remember("drink", "tea", MERGED)
    assert new.created
    assert [(await canonical.one(old.id)).superseded_by for old in olds] == [new.memory.id] * 2
    assert await canonical.live(MERGED) == ["tea"]


async def test_nothing_of_another_tenant_agent_or_contact_is_touched(canonical: Canonical) -> None:
    """X-1, S-5."""
    mine = (await canonical.remember("k", "mine", ANN)).memory
    await canonical.remember("k", "theirs", ANN, tenant="other")
    await canonical.remember("k", "its", Scope(agent_id="bea", contact_ids=("ann",)))
    assert (await canonical.one(mine.id)).live(NOW)
    store = canonical.store
    for tenant, agent in (("other", AGENT), (TENANT, "bea")):
        assert await store.get(tenant, agent, [mine.id]) == {}
        assert (await store.history(tenant, agent, mine.id)).memories == ()
        assert await store.forget(tenant, agent, mine.id) == []
        assert await store.set_pinned(tenant, agent, mine.id, True, NOW) is None
        await store.count_access(tenant, agent, [mine.id], NOW)
        await store.mark_indexed(tenant, agent, {mine.id: 9})
    assert await canonical.one(mine.id) == mine
    assert await store.get(TENANT, AGENT, [mine.id]) == {mine.id: mine}


async def test_a_key_is_read_from_the_contact_first_then_agent_wide(canonical: Canonical) -> None:
    async def read(scope: Scope) -> str | None:
        found = await canonical.store.live_of_key(TENANT, scope, "drink", NOW)
        return found.value if found else None

    await canonical.remember("drink", "Ann's", ANN)
    assert (await read(ANN), await read(BOB), await read(AGENT_WIDE)) == ("Ann's", None, None)
    await canonical.remember("drink", "anyone's")
    assert (await read(ANN), await read(BOB), await read(AGENT_WIDE)) == ("Ann's", "anyone's", "anyone's")


# Retries


async def test_a_request_id_gives_the_first_answer_again(canonical: Canonical) -> None:
    """A retry of a write that was superseded meanwhile does not bring it back."""
    first = await canonical.remember("k", "a", request_id="r")
    await canonical.remember("k", "b")
    again = await canonical.remember("k", "a", request_id="r")
    assert (again.memory.id, again.created) == (first.memory.id, True)
    assert await canonical.live() == ["b"]


async def test_racing_retries_with_one_request_id_write_once(canonical: Canonical) -> None:
    writes = (canonical.remember("k", "a", request_id="r") for _ in range(RACERS))
    results = await asyncio.gather(*writes)
    assert {(r.memory.id, r.created) for r in results} == {(results[0].memory.id, True)}


@pytest.mark.parametrize(
    "changed", [{"value": "b"}, {"key": "other"}, {"scope": ANN}, {"fact_type": FactType.TASK}]
)
async def test_a_request_id_of_another_memory_is_refused(
    canonical: Canonical, changed: dict[str, Any]
) -> None:
    first: dict[str, Any] = {"key": "k", "value": "a", "request_id": "r"}
    await canonical.remember(**first)
    with pytest.raises(Exists):
        await canonical.remember(**first | changed)
    assert await canonical.live(ANN) == ["a"]


async def test_a_request_id_belongs_to_its_tenant_and_agent(canonical: Canonical) -> None:
    await canonical.remember("k", "a", request_id="r")
    assert (await canonical.remember("k", "b", tenant="other", request_id="r")).created
    assert (await canonical.remember("k", "b", Scope(agent_id="bea"), request_id="r")).created


async def test_a_retry_does_not_bring_back_what_was_forgotten(canonical: Canonical) -> None:
    first = await canonical.remember("k", "a", request_id="r")
    await canonical.store.forget(TENANT, AGENT, first.memory.id)
    with pytest.raises(Exists):
        await canonical.remember("k", "a", request_id="r")
    assert await canonical.live() == []


async def test_request_ids_are_dropped_after_a_day(canonical: Canonical) -> None:
    await canonical.remember("k", "a", request_id="r")
    await canonical.remember("other", "x", now=NOW + 2 * DAY, request_id="r2")
    assert (await canonical.remember("k", "b", now=NOW + 2 * DAY, request_id="r")).created


# Forgetting


async def test_forgetting_takes_all_versions_of_the_key_and_bucket_and_no_other(canonical: Canonical) -> None:
    """S-1."""
    ref = MessageRef(conversation_id="c", message_id="m")
    ids = [(await canonical.remember("k", value, ANN, provenance=(ref,))).memory.id for value in "abc"]
    await canonical.remember("k", "anyone's", provenance=(ref,))
    await canonical.remember("k2", "another key", ANN)
    before = len(await canonical.jobs())
    assert set(await canonical.store.forget(TENANT, AGENT, ids[1])) == set(ids)
    assert await canonical.live(ANN, include_superseded=True) == ["anyone's", "another key"]
    jobs = [key for _, key in (await canonical.jobs())[before:]]
    indexed = [key for key in jobs if key.startswith("index_memory/")]
    assert {key.split("/")[2] for key in indexed} == set(ids), "each has a job that takes it from the indexes"
    assert len(jobs) == len(indexed) + 1, "and what was derived from them follows, by one job (J-17)"
    sources = await canonical.store.of_messages(TENANT, ANN, [ref], NOW)
    assert len(sources[ref]) == 1
    assert await canonical.store.candidates_by_key(TENANT, ANN, ["k"], 10, NOW) != []
    assert await canonical.store.forget(TENANT, AGENT, ids[1]) == []
    assert (await canonical.remember("k", "a", ANN)).memory.version == 1


async def test_forgetting_follows_a_chain_into_the_bucket_of_a_merged_contact(canonical: Canonical) -> None:
    """S-5: what was superseded there is of the same person; what stands by itself stays."""
    old = (await canonical.remember("city", "Oslo", ANN_TOO)).memory
    new = (await canonical.remember("city", "Bergen", MERGED)).memory
    other = (await canonical.remember("sport", "rowing", ANN_TOO)).memory
    assert set(await canonical.store.forget(TENANT, AGENT, new.id)) == {old.id, new.id}
    assert await canonical.live(MERGED, include_superseded=True) == [other.value]


async def test_racing_writers_and_forgetting_leave_at_most_one_live_memory(canonical: Canonical) -> None:
    """S-6."""
    first = (await canonical.remember("k", "v")).memory
    writes = [canonical.remember("k", f"v{n}") for n in range(16)]
    await asyncio.gather(*writes, canonical.store.forget(TENANT, AGENT, first.id))
    assert len(await canonical.live()) <= 1
    last = (await canonical.remember("k", "last")).memory
    assert await canonical.live() == ["last"]
    chain = await canonical.chain(last.id)
    assert [m.version for m in chain] == sorted({m.version for m in chain})


# Reading


async def test_pages_follow_each_other_in_order_of_writing(canonical: Canonical) -> None:
    for n in range(7):
        await canonical.remember(f"k{n}", f"v{n}")
    seen: list[str] = []
    after = 0
    while page := await canonical.store.page(
        TENANT, MemoryQuery(scope=AGENT_WIDE, after=after, limit=3), NOW
    ):
        assert len(page) <= 3
        seen += [memory.value for _, memory in page]
        after = page[-1][0]
    assert seen == [f"v{n}" for n in range(7)]


async def test_pages_are_filtered(canonical: Canonical) -> None:
    await canonical.remember("pet.cat", "old")
    await canonical.remember("pet.cat", "Mia")
    await canonical.remember("pet_dog", "Rex", fact_type=FactType.EVENT)
    await canonical.remember("todo", "feed", fact_type=FactType.TASK)
    assert await canonical.live(key_prefix="pet.") == ["Mia"]
    assert await canonical.live(key_prefix="pet_") == ["Rex"], "a prefix is no pattern"
    assert await canonical.live(key_prefix="%") == []
    assert await canonical.live(kinds=frozenset({Kind.EVENT, Kind.TASK})) == ["Rex", "feed"]
    assert await canonical.live(include_superseded=True) == ["old", "Mia", "Rex", "feed"]


async def test_versions_are_the_newest_thousand(canonical: Canonical) -> None:
    for begin in range(0, 1003, 59):  # few at a time: a call waits for a connection only so long
        writes = [canonical.remember("k", f"v{n}") for n in range(begin, begin + 59)]
        results = await asyncio.gather(*writes)
    chain = await canonical.chain(results[0].memory.id)
    assert [m.version for m in chain] == list(range(4, 1004))


async def test_keys_are_found_by_their_segments(canonical: Canonical) -> None:
    """S-9: a key segment equals a query word."""

    async def found(scope: Scope, *words: str, limit: int = 10, now: datetime = NOW) -> list[str]:
        hits = await canonical.store.candidates_by_key(TENANT, scope, words, limit, now)
        by_id = await canonical.store.get(TENANT, AGENT, [id_ for id_, _ in hits])
        return [f"{by_id[id_].value} {score:g}" for id_, score in hits]

    await canonical.remember("user.home-city", "Oslo")
    await canonical.remember("user:work_city", "Bergen")
    await canonical.remember("drink", "tea", ANN)
    await canonical.remember("drink", "old")
    await canonical.remember("drink", "water")
    assert await found(AGENT_WIDE, "home", "city") == ["Oslo 2", "Bergen 1"]
    assert await found(AGENT_WIDE, "home", "city", limit=1) == ["Oslo 2"]
    assert await found(AGENT_WIDE, "user.home-city") == ["Oslo 1"]
    assert await found(AGENT_WIDE, "cit") == []
    assert await found(AGENT_WIDE, "drink") == ["water 1"]
    assert set(await found(ANN, "drink")) == {"tea 1", "water 1"}
    assert await found(BOB, "drink") == ["water 1"]
    assert await found(AGENT_WIDE) == []


async def test_a_pick_is_among_what_may_be_recalled(canonical: Canonical) -> None:
    """S-8, S-9: indexes may lag, rows decide; what is chosen comes whole, from the same snapshot."""
    old = (await canonical.remember("city", "Oslo", ANN)).memory
    new = (await canonical.remember("city", "Bergen", ANN, now=NOW + DAY)).memory
    wide = (await canonical.remember("drink", "tea", fact_type=FactType.EVENT)).memory
    theirs = (await canonical.remember("city", "Rome", BOB)).memory
    asked = [old.id, new.id, wide.id, theirs.id, "unknown", new.id]

    async def picked(
        *kinds: Kind, most: int = 9, as_of: datetime | None = None
    ) -> tuple[Mapping[str, float], dict[str, Memory]]:
        seen: dict[str, float] = {}

        def choose(known: Mapping[str, float]) -> list[str]:
            seen.update(known)
            return sorted(known)[:most]

        chosen = await canonical.store.pick(
            TENANT, ANN, asked, NOW + 2 * DAY, frozenset(kinds), choose, as_of=as_of
        )
        return seen, chosen

    known, chosen = await picked()
    assert known == {new.id: new.confidence, wide.id: wide.confidence}
    assert chosen == await canonical.store.get(TENANT, AGENT, [new.id, wide.id])
    known, chosen = await picked(most=1)
    assert len(known) == 2
    assert chosen.keys() == {min(new.id, wide.id)}
    assert (await picked(Kind.EVENT))[1].keys() == {wide.id}
    assert (await picked(as_of=NOW + DAY / 2))[1].keys() == {old.id, wide.id}
    assert await picked(most=0) == ({new.id: new.confidence, wide.id: wide.confidence}, {})


async def test_memories_are_found_by_the_messages_they_came_from(canonical: Canonical) -> None:
    """S-9: the messages channel."""
    one, two, three = (MessageRef(conversation_id="c", message_id=m) for m in ("1", "2", "3"))
    elsewhere = MessageRef(conversation_id="d", message_id="1")
    a = (await canonical.remember("a", "from both", provenance=(one, two, one))).memory
    assert a.provenance == (one, two, one)
    b = (await canonical.remember("b", "Ann's", ANN, provenance=(one,))).memory
    await canonical.remember("old", "superseded", provenance=(two,))
    await canonical.remember("old", "without a source")

    async def found(scope: Scope) -> dict[MessageRef, set[str]]:
        got = await canonical.store.of_messages(TENANT, scope, [one, two, three, elsewhere], NOW)
        return {ref: set(ids) for ref, ids in got.items()}

    assert await found(AGENT_WIDE) == {one: {a.id}, two: {a.id}}
    assert await found(ANN) == {one: {a.id, b.id}, two: {a.id}}
    assert await found(BOB) == {one: {a.id}, two: {a.id}}


# Tasks


async def test_tasks_expire_after_seven_days_and_facts_do_not(canonical: Canonical) -> None:
    """S-3."""
    ref = MessageRef(conversation_id="c", message_id="m")
    task = (await canonical.remember("todo", "renew", fact_type=FactType.TASK, provenance=(ref,))).memory
    await canonical.remember("fact", "stays")
    assert task.expires == NOW + 7 * DAY
    just_before, then = NOW + 7 * DAY - timedelta(microseconds=1), NOW + 7 * DAY
    store = canonical.store
    assert await canonical.live(now=just_before) == ["renew", "stays"]
    assert await canonical.live(now=then) == ["stays"]
    for moment, there in ((just_before, True), (then, False)):
        assert (await store.live_of_key(TENANT, AGENT_WIDE, "todo", moment) is not None) is there
        assert bool(await store.candidates_by_key(TENANT, AGENT_WIDE, ["todo"], 9, moment)) is there
        assert bool(await store.of_messages(TENANT, AGENT_WIDE, [ref], moment)) is there
    assert await canonical.live(now=then, include_superseded=True) == ["renew", "stays"]


async def test_a_task_that_expired_can_be_set_again(canonical: Canonical) -> None:
    """S-3, S-6: "the same again" is said of what is live."""
    first = (await canonical.remember("todo", "renew", fact_type=FactType.TASK)).memory
    again = await canonical.remember("todo", "renew", now=NOW + 8 * DAY, fact_type=FactType.TASK)
    assert (again.created, again.memory.version, again.memory.supersedes) == (True, 2, first.id)
    assert await canonical.live(now=NOW + 8 * DAY) == ["renew"]


@pytest.mark.parametrize("expired_of", [ANN, ANN_TOO])
async def test_an_expired_task_of_a_merged_person_does_not_stand_in_the_way(
    canonical: Canonical, expired_of: Scope
) -> None:
    """S-6: one of two merged buckets holds an expired task, the other a live one."""
    other = ANN_TOO if expired_of == ANN else ANN
    await canonical.remember("todo", "expired", expired_of, fact_type=FactType.TASK)
    later = NOW + 8 * DAY
    await canonical.remember("todo", "live", other, now=later, fact_type=FactType.TASK)
    again = await canonical.remember("todo", "live", MERGED, now=later, fact_type=FactType.TASK)
    assert not again.created
    new = await canonical.remember("todo", "new", MERGED, now=later, fact_type=FactType.TASK)
    assert new.created
    assert await canonical.live(MERGED, now=later) == ["new"]


# S-10 and the index's marks


async def test_standing_memories_are_live_and_no_tasks(canonical: Canonical) -> None:
    """S-10."""
    await canonical.remember("a", "old")
    await canonical.remember("a", "new")
    await canonical.remember("todo", "renew", fact_type=FactType.TASK)
    await canonical.remember("b", "Ann's", ANN, pinned=True)
    await canonical.remember("c", "Bob's", BOB)
    assert {m.value for m in await canonical.store.standing(TENANT, ANN, NOW)} == {"new", "Ann's"}


async def test_old_pinned_memories_stand_among_any_number_of_newer_ones(canonical: Canonical) -> None:
    """S-10: pinned first."""
    await canonical.remember("name", "Ann", pinned=True, now=NOW - 900 * DAY)
    await asyncio.gather(*(canonical.remember(f"k{n}", "v") for n in range(250)))
    assert "Ann" in {m.value for m in await canonical.store.standing(TENANT, AGENT_WIDE, NOW)}


async def test_accesses_are_counted_and_none_is_lost(canonical: Canonical) -> None:
    a, b = [(await canonical.remember(key, "v")).memory for key in "ab"]
    count = canonical.store.count_access
    await asyncio.gather(*(count(TENANT, AGENT, [a.id, "unknown"], NOW + DAY) for _ in range(20)))
    seen = await canonical.one(a.id)
    assert (seen.access_count, seen.accessed) == (20, NOW + DAY)
    assert (await canonical.one(b.id)).access_count == 0


async def test_pinning_is_kept(canonical: Canonical) -> None:
    memory = (await canonical.remember("k", "v")).memory
    pinned = await canonical.store.set_pinned(TENANT, AGENT, memory.id, True, NOW + DAY)
    assert pinned is not None
    assert (pinned.pinned, pinned.updated) == (True, NOW + DAY)
    assert await canonical.one(memory.id) == pinned
    assert await canonical.store.set_pinned(TENANT, AGENT, "unknown", True, NOW) is None


async def test_a_memory_counts_as_indexed_until_it_changes(canonical: Canonical) -> None:
    """S-16."""
    memory = (await canonical.remember("k", "a")).memory
    assert not memory.indexed
    await canonical.store.mark_indexed(TENANT, AGENT, {memory.id: memory.revision})
    assert (await canonical.one(memory.id)).indexed
    await canonical.remember("k", "b")
    assert not (await canonical.one(memory.id)).indexed
    await canonical.store.mark_indexed(TENANT, AGENT, {memory.id: 0})
    assert (await canonical.one(memory.id)).indexed_revision == 1, "a late mark does not undo a newer one"


async def test_each_write_leaves_the_jobs_that_it_asks_for(canonical: Canonical) -> None:
    """SV-5: in the same transaction, each under a key of its own."""
    a = (await canonical.remember("k", "a")).memory
    assert await canonical.jobs() == [(TENANT, f"index_memory/{AGENT}/{a.id}/1")]
    b = (await canonical.remember("k", "b")).memory
    assert {(tenant, key) for tenant, key in (await canonical.jobs())[1:] if key.startswith("index_")} == {
        (TENANT, f"index_memory/{AGENT}/{a.id}/2"),
        (TENANT, f"index_memory/{AGENT}/{b.id}/1"),
    }
    before = len(await canonical.jobs())
    await canonical.store.enqueue_memories(TENANT, AGENT, [b.id, "unknown"], ":again")
    assert (await canonical.jobs())[before:] == [(TENANT, f"index_memory/{AGENT}/{b.id}/1:again")]


async def test_a_write_that_is_refused_leaves_no_job(canonical: Canonical) -> None:
    """SV-5."""
    await canonical.remember("k", "a", request_id="r")
    before = await canonical.jobs()
    with pytest.raises(Exists):
        await canonical.remember("k", "b", request_id="r")
    assert await canonical.jobs() == before


async def test_memories_of_all_tenants_are_listed_in_order(canonical: Canonical) -> None:
    """SV-2, S-8: past ones too, but none that was forgotten; and which of them last."""
    old = (await canonical.remember("k", "old")).memory
    mine = (await canonical.remember("k", "new")).memory
    gone = (await canonical.remember("l", "v")).memory
    theirs = (await canonical.remember("k", "v", tenant="other")).memory
    todo = (await canonical.remember("todo", "v", fact_type=FactType.TASK)).memory
    await canonical.store.forget(TENANT, AGENT, gone.id)
    listed = await canonical.store.kept(0, 10, NOW)
    assert [(m.tenant, m.agent_id, m.memory_id, m.lasts) for m in listed] == [
        (TENANT, AGENT, old.id, False),
        (TENANT, AGENT, mine.id, True),
        ("other", AGENT, theirs.id, True),
        (TENANT, AGENT, todo.id, True),
    ]
    assert await canonical.store.kept(0, 1, NOW) == listed[:1]
    assert await canonical.store.kept(listed[0].number, 10, NOW) == listed[1:]
    later = await canonical.store.kept(0, 10, NOW + 7 * DAY)
    assert [m.lasts for m in later] == [False, True, True, False], "a task expires"


async def test_conversations_are_known_by_the_highest_sequence(canonical: Canonical) -> None:
    """SV-2."""
    store = canonical.store
    await store.note_messages(TENANT, AGENT, {"c": 5, "d": 1})
    await store.note_messages(TENANT, AGENT, {"c": 3})
    await store.note_messages("other", AGENT, {"c": 9})
    known = {(k.tenant, k.conversation_id): k.highest for k in await store.known_conversations(None, 100)}
    assert known == {(TENANT, "c"): 5, (TENANT, "d"): 1, ("other", "c"): 9}
    one, *rest = await store.known_conversations(None, 1)
    assert rest == []
    assert one == KnownConversation(tenant=TENANT, agent_id=AGENT, conversation_id="c", highest=5)
    assert [k.conversation_id for k in await store.known_conversations(one, 100)] == ["d", "c"]
    await store.enqueue_messages(one, [2, 4], ":x")
    assert await canonical.outbox() == [
        (TENANT, f"index_message/{AGENT}/c/{n}:x", {"conversation_id": "c", "sequence": n}) for n in (2, 4)
    ]


async def test_kinds_narrow_keys_and_what_stands(canonical: Canonical) -> None:
    """S-9, S-10: before a list is cut, so that many of one kind don't hide another."""
    for n in range(5):
        await canonical.remember(f"trip.{n}", f"fact {n}")
    event = (await canonical.remember("trip.x", "an event", fact_type=FactType.EVENT)).memory
    only = frozenset({Kind.EVENT})
    store = canonical.store
    assert len(await store.candidates_by_key(TENANT, AGENT_WIDE, ["trip"], 3, NOW)) == 3
    assert await store.candidates_by_key(TENANT, AGENT_WIDE, ["trip"], 3, NOW, only) == [(event.id, 1.0)]
    assert len(await store.standing(TENANT, AGENT_WIDE, NOW)) == 6
    assert await store.standing(TENANT, AGENT_WIDE, NOW, only) == [event]


async def test_memories_written_by_the_first_schema_are_kept(tmp_path: Path) -> None:
    """The migrations keep the segments of every agent's keys, and what was superseded."""
    first = tmp_path / "first"
    first.mkdir()
    name = "0001_initial.sql"
    (first / name).write_text((migrations("sqlite") / name).read_text("utf-8"), "utf-8")
    path = tmp_path / "semantic.db"
    database = await Database.open(path, first)
    columns = "number, tenant, agent_id, memory_id, contact_id, key, version, value, fact_type, kind, pinned"
    rest = "confidence, source, provenance, created, updated, valid_from, valid_to, superseded_by"
    insert = f"INSERT INTO memories ({columns}, {rest}) VALUES "
    old = "(1, ?, ?, 'm', '', 'user.city', 1, 'v', 1, 1, 0, 0.9, 4, '[]', 0, 5, 0, 5, 'n')"
    new = "(2, ?, ?, 'n', '', 'user.city', 2, 'w', 1, 1, 0, 0.9, 4, '[]', 5, 5, 5, NULL, '')"
    await database.write(lambda c: c.execute(f"{insert}{old}, {new}", (TENANT, AGENT, TENANT, AGENT)))
    await database.write(lambda c: c.execute("INSERT INTO key_segments VALUES ('city', 1), ('city', 2)"))
    await database.close()
    database = await Database.open(path, migrations("sqlite"))
    store = SqlMemories(SqliteScripts(database), WriteRules(task_lifetime=TASK_LIFETIME))
    assert await store.candidates_by_key(TENANT, AGENT_WIDE, ["city"], 9, NOW) == [("n", 1.0)]
    assert await store.candidates_by_key("other", AGENT_WIDE, ["city"], 9, NOW) == []
    (made,) = (await store.history(TENANT, AGENT, "m")).supersessions
    assert (made.old_id, made.new_id, made.cause, made.undone) == ("m", "n", Cause.KEY, None)
    assert (await store.get(TENANT, AGENT, ["n"]))["n"].verification is Verification.NOT_NEEDED
    await database.close()


# S-8: valid time


async def test_a_plan_becomes_live_when_its_time_comes_and_not_before(canonical: Canonical) -> None:
    """S-8: what it supersedes stays live until then."""
    first = (await canonical.remember("city", "Oslo")).memory
    plan = (await canonical.remember("city", "Bergen", valid_from=NOW + DAY)).memory
    assert (plan.version, plan.supersedes) == (2, first.id)
    assert (await canonical.one(first.id)).superseded_by == plan.id
    just_before = NOW + DAY - timedelta(microseconds=1)
    for moment, value in ((NOW, "Oslo"), (just_before, "Oslo"), (NOW + DAY, "Bergen")):
        assert await canonical.live(now=moment) == [value]
        assert await canonical.live(now=NOW + 9 * DAY, as_of=moment) == [value]
        found = await canonical.store.live_of_key(TENANT, AGENT_WIDE, "city", moment)
        assert found is not None
        assert found.value == value
        assert found.live(moment)
    assert await canonical.live(as_of=NOW - DAY) == []
    listed = await canonical.store.kept(0, 10, NOW)
    assert [one.memory_id for one in listed if one.lasts] == [first.id, plan.id], "both are to be found"
    listed = await canonical.store.kept(0, 10, NOW + DAY)
    assert [one.memory_id for one in listed if one.lasts] == [plan.id]


async def test_the_same_value_as_what_will_hold_then_changes_nothing(canonical: Canonical) -> None:
    """S-6 of plans."""
    await canonical.remember("city", "Oslo")
    plan = await canonical.remember("city", "Bergen", valid_from=NOW + DAY)
    again = await canonical.remember("city", "Bergen", valid_from=NOW + 2 * DAY)
    assert (again.created, again.memory.id) == (False, plan.memory.id)
    assert not (await canonical.remember("city", "Oslo")).created
    assert await canonical.live(now=NOW + DAY) == ["Bergen"]


async def test_a_new_value_takes_the_place_of_a_plan(canonical: Canonical) -> None:
    """S-6, S-8: one value at any moment."""
    await canonical.remember("city", "Oslo")
    await canonical.remember("city", "Bergen", valid_from=NOW + DAY)
    await canonical.remember("city", "Voss", now=NOW + DAY / 2)
    for days, value in ((0, "Oslo"), (0.5, "Voss"), (1, "Voss"), (9, "Voss")):
        assert await canonical.live(now=NOW + 10 * DAY, as_of=NOW + days * DAY) == [value]
    assert await canonical.live(now=NOW + DAY) == ["Voss"]


async def test_a_statement_about_the_past_holds_from_there_on(canonical: Canonical) -> None:
    """S-8: of two statements about a moment, the later written counts."""
    for n, value in enumerate(("Oslo", "Bergen")):
        await canonical.remember("city", value, now=NOW + n * 10 * DAY)
    await canonical.remember("city", "Voss", now=NOW + 20 * DAY, valid_from=NOW + 5 * DAY)
    for days, value in ((0, "Oslo"), (4, "Oslo"), (5, "Voss"), (15, "Voss")):
        assert await canonical.live(now=NOW + 30 * DAY, as_of=NOW + days * DAY) == [value]


async def test_a_stated_end_is_kept(canonical: Canonical) -> None:
    """S-1."""
    stay = (await canonical.remember("stay", "Oslo", valid_to=NOW + DAY)).memory
    assert (stay.valid_to, stay.superseded_by) == (NOW + DAY, "")
    assert await canonical.live() == ["Oslo"]
    assert await canonical.live(now=NOW + DAY) == []
    assert not (await canonical.remember("stay", "Oslo")).created
    assert (await canonical.remember("stay", "Oslo", valid_to=NOW + 2 * DAY)).created
    later = await canonical.remember("stay", "Oslo", now=NOW + 3 * DAY)
    assert (later.created, later.memory.version) == (True, 3)


async def test_writers_whose_clocks_are_apart_leave_one_chain(canonical: Canonical) -> None:
    """S-6: a machine whose clock is behind neither loses its write nor reads what was replaced."""
    ahead, behind = NOW + timedelta(seconds=2), NOW
    await canonical.remember("city", "Oslo", now=NOW - DAY)
    await canonical.remember("city", "Bergen", now=ahead)
    assert await canonical.live(now=behind) == ["Bergen"]
    last = (await canonical.remember("city", "Voss", now=behind)).memory
    assert await canonical.live(now=behind) == ["Voss"]
    assert await canonical.live(now=ahead) == ["Voss"]
    chain = await canonical.chain(last.id)
    assert [m.superseded_by for m in chain] == [*(m.id for m in chain[1:]), ""]


async def test_what_is_forgotten_is_gone_for_every_moment(canonical: Canonical) -> None:
    """S-8."""
    first = (await canonical.remember("city", "Oslo")).memory
    await canonical.remember("city", "Bergen", now=NOW + DAY)
    assert await canonical.live(as_of=NOW) == ["Oslo"]
    await canonical.store.forget(TENANT, AGENT, first.id)
    assert await canonical.live(as_of=NOW) == []


async def test_an_update_of_what_changed_meanwhile_is_refused(canonical: Canonical) -> None:
    """X-1: VERSION_CONFLICT."""
    memory = (await canonical.remember("k", "v")).memory
    pin = canonical.store.set_pinned
    pinned = await pin(TENANT, AGENT, memory.id, True, NOW, edits=memory.edits)
    assert pinned is not None
    assert (pinned.pinned, pinned.edits) == (True, memory.edits + 1)
    with pytest.raises(VersionConflict):
        await pin(TENANT, AGENT, memory.id, False, NOW, edits=memory.edits)
    assert await canonical.one(memory.id) == pinned
    assert await pin(TENANT, AGENT, "unknown", False, NOW, edits=1) is None
    assert await pin(TENANT, AGENT, memory.id, False, NOW) is not None


async def test_the_sources_of_a_conversation_are_read_by_their_messages(tmp_path: Path) -> None:
    """S-9: not all sources that an agent has, for the sake of an order that an index keeps them in."""
    database = await Database.open(tmp_path / "semantic.db", migrations("sqlite"))
    statements: list[str] = []

    class Watched(SqliteScripts):
        async def read(self, script: Any) -> Any:
            def watched() -> Script[Any]:
                made = script()
                statement = next(made)
                while True:
                    statements.append(for_sqlite(statement.text))
                    rows = yield statement
                    try:
                        statement = made.send(rows)
                    except StopIteration as end:
                        return end.value

            return await super().read(watched)

    store = SqlMemories(Watched(database), WriteRules(task_lifetime=TASK_LIFETIME))
    await store.of_messages(TENANT, ANN, [MessageRef(conversation_id="c", message_id="1")], NOW)
    (statement,) = statements
    plan = await database.read(
        lambda c: [
            row["detail"]
            for row in c.execute("EXPLAIN QUERY PLAN " + statement, ["[]"] * statement.count("?"))
        ]
    )
    await database.close()
    assert any("conversation_id=? AND message_id=?" in step for step in plan), plan
