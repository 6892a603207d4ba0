"""Appends and branches, forks, changes and usage, on SQLite and PostgreSQL (SPEC E-1 to E-3, E-11, E-12)."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence

import pytest

from services.kit.errors import Exists, LimitExceeded, NotFound, ParentConflict
from services.kit.sql import SqlDatabase
from services.memory.episodic.app.ports import Position, Stores, Usage, UsageKey
from services.memory.episodic.domain.model import (
    Conversation,
    ConversationKey,
    Message,
    MessageFilter,
)
from tests.contract.history_parts import (
    KEY,
    append,
    branches,
    draft,
    jobs,
    overlay,
    path,
    prepared,
    say,
    say_many,
)


@pytest.fixture
async def stores(episodic_sql: SqlDatabase) -> Stores:
    return await prepared(episodic_sql)


async def test_a_branch_begins_only_when_asked_for(stores: Stores) -> None:
    """E-3."""
    await say(stores, "a1 a2 a3")
    before = await stores.conversations.get(KEY)
    with pytest.raises(ParentConflict):
        await say(stores, "b1", after="a1")
    assert await stores.conversations.get(KEY) == before
    await say(stores, "b1 b2", after="a1", branch=True)
    assert (await stores.conversations.get(KEY)).leaf_id == "b2"
    assert await path(stores) == ["a1", "b1", "b2"]
    assert await path(stores, "a3") == ["a1", "a2", "a3"]
    assert await path(stores, "a2") == ["a1", "a2"]
    assert await branches(stores, "a1") == [("a2", "a3", 3, False), ("b1", "b2", 3, True)]
    assert await branches(stores, "b2") == []
    assert await branches(stores) == [("a1", "b2", 3, True)]


async def test_a_parent_of_another_conversation_is_refused(stores: Stores) -> None:
    other = ConversationKey(tenant="t", agent_id="a", id="d")
    await stores.messages.append(append(draft(id="foreign"), key=other))
    await say(stores, "a1")
    for branch in (False, True):
        with pytest.raises(ParentConflict):
            await say(stores, "a2", after="foreign", branch=branch)
    assert await path(stores) == ["a1"]


async def test_two_branches_that_grow_in_turn_keep_their_paths(stores: Stores) -> None:
    """E-3, E-13: dense numbers in the order of storing, neighbours and listings by path or by number."""
    await say(stores, "a1 a2")
    for n in range(3, 8):
        await say(stores, f"a{n}", after=f"a{n - 1}", branch=True)
        await say(stores, f"b{n}", after="a2" if n == 3 else f"b{n - 1}", branch=True)
    listing = await stores.messages.list(KEY, MessageFilter(), newest_first=False, limit=99, after=None)
    assert [m.sequence for m in listing.items] == list(range(1, 13))
    assert [m.id for m in listing.items] == [
        *("a1", "a2"),
        *(f"{branch}{n}" for n in range(3, 8) for branch in "ab"),
    ]
    assert [m.depth for m in listing.items] == [1, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7]
    on_a = [f"a{n}" for n in range(1, 8)]
    on_b = ["a1", "a2", *(f"b{n}" for n in range(3, 8))]
    assert (await path(stores, "a7"), await path(stores), await path(stores, "b7")) == (on_a, on_b, on_b)
    for leaf, expected in (("a7", on_a), ("b7", on_b), ("", on_b)):
        view = await stores.history.view(KEY, leaf, lambda _: False, most=198)
        assert [m.id for m in view.newest_first] == expected[::-1]
        assert [m.id for m in view.head] == ["a1", "a2"]
        backwards: list[str] = []
        after: int | None = None
        while True:
            page = await stores.history.path(KEY, leaf, newest_first=True, limit=3, after=after)
            backwards += [m.id for m in page.items]
            if page.last is None:
                break
            after = page.last
        assert backwards == expected[::-1]
    found = await stores.messages.find("t", "a", [("c", "a4"), ("c", "b4"), ("c", "a2")], 2)
    around = [[m.id for m in (*one.before, one.message, *one.after)] for one in found if one]
    assert around == [
        ["a2", "a3", "a4", "a5", "a6"],
        ["a2", "b3", "b4", "b5", "b6"],
        ["a1", "a2", "b3", "b4"],  # on the active path
    ]
    assert [one.active for one in found if one] == [False, True, True]


async def test_several_roots(stores: Stores) -> None:
    await say(stores, "a1 a2")
    await say(stores, "b1 b2 b3", after="", branch=True)
    assert await branches(stores) == [("a1", "a2", 2, False), ("b1", "b3", 3, True)]
    assert (await path(stores), await path(stores, "a2")) == (["b1", "b2", "b3"], ["a1", "a2"])
    assert (await stores.conversations.get(KEY)).leaf.depth == 3


async def test_appends_follow_the_leaf_that_was_switched_to(stores: Stores) -> None:
    await say(stores, "a1 a2 a3")
    await say(stores, "b2 b3", after="a1", branch=True)
    switched = await stores.history.switch(KEY, "a2", 20)
    assert (switched.leaf_id, switched.leaf.depth, switched.leaf.path_tokens) == ("a3", 3, 3)
    assert switched.update_time == 20
    await say(stores, "a4")
    assert await path(stores) == ["a1", "a2", "a3", "a4"]
    with pytest.raises(ParentConflict):
        await say(stores, "b4", after="b3")
    assert (await stores.history.switch(KEY, "a1", 21)).leaf_id == "a4"
    assert (await stores.history.switch(KEY, "b3", 22)).leaf_id == "b3"
    same = await stores.history.switch(KEY, "b2", 23)
    assert (same.leaf_id, same.update_time) == ("b3", 22)
    for unknown in ("zz", "foreign"):
        with pytest.raises(NotFound):
            await stores.history.switch(KEY, unknown, 24)
    with pytest.raises(NotFound):
        await stores.history.branches(KEY, "zz", limit=9, after=None)
    with pytest.raises(NotFound):
        await stores.history.path(KEY, "zz", newest_first=False, limit=5, after=None)


async def test_ingesting_again_from_the_root_on_a_branched_conversation_moves_nothing(
    stores: Stores, episodic_sql: SqlDatabase
) -> None:
    """E-2."""
    transcript = [draft("one"), draft("two"), draft("three")]
    first = await stores.messages.append(append(*transcript, after=""))
    other = await stores.messages.append(
        append(draft("2"), draft("3"), after=first[0].message_id, branch=True)
    )
    before = await stores.conversations.get(KEY)
    told = await jobs(episodic_sql, "index_message")
    again = await stores.messages.append(append(*transcript, after=""))
    chunk = await stores.messages.append(append(draft("three"), after=first[1].message_id))
    assert [(o.message_id, o.created) for o in again] == [(o.message_id, False) for o in first]
    assert chunk[0].message_id == first[2].message_id
    assert await stores.conversations.get(KEY) == before
    assert before.leaf_id == other[1].message_id
    assert await jobs(episodic_sql, "index_message") == told
    assert len(told) == 5
    longer = append(*transcript, draft("four"), after="")
    with pytest.raises(ParentConflict):
        await stores.messages.append(longer)
    await stores.history.switch(KEY, first[2].message_id, 9)
    assert [o.created for o in await stores.messages.append(longer)] == [False, False, False, True]


async def test_64_writers_through_two_replicas_get_dense_numbers_each_once(
    episodic_sql_pair: tuple[SqlDatabase, SqlDatabase],
) -> None:
    """E-1, E-3."""
    replicas = [await prepared(database) for database in episodic_sql_pair]
    answers = await asyncio.gather(
        *(replicas[n % 2].messages.append(append(draft(f"x{n}"), draft(f"y{n}"))) for n in range(64))
    )
    assert sorted(o.sequence for answer in answers for o in answer) == list(range(1, 129))
    assert all(first.sequence + 1 == second.sequence for first, second in answers)
    ids = {o.sequence: o.message_id for answer in answers for o in answer}
    assert await path(replicas[0]) == await path(replicas[1]) == [ids[n] for n in range(1, 129)]
    keys = await jobs(episodic_sql_pair[0], "index_message")
    assert sorted(keys) == sorted(f"index_message/a/c/{n}" for n in range(1, 129))


@pytest.mark.parametrize("how", ["own id", "parent", "request id", "branch"])
async def test_64_identical_appends_through_two_replicas_leave_one_row(
    episodic_sql_pair: tuple[SqlDatabase, SqlDatabase], how: str
) -> None:
    """E-2."""
    replicas = [await prepared(database) for database in episodic_sql_pair]
    await say(replicas[0], "a1 a2")
    wanted = {
        "own id": append(draft("x", "m")),
        "parent": append(draft("x"), after="a2"),
        "request id": append(draft("x"), request_id="r"),
        "branch": append(draft("x"), after="a1", branch=True),
    }[how]
    answers = await asyncio.gather(*(replicas[n % 2].messages.append(wanted) for n in range(64)))
    assert len({answer[0].message_id for answer in answers}) == 1
    assert {answer[0].sequence for answer in answers} == {3}
    created = sum(answer[0].created for answer in answers)
    assert created == (64 if how == "request id" else 1)
    assert (await replicas[1].conversations.get(KEY)).stored_count == 3


async def test_64_appends_with_own_request_ids_are_all_stored_unless_they_name_their_parent(
    episodic_sql_pair: tuple[SqlDatabase, SqlDatabase],
) -> None:
    """E-2: a person who says the same twice is recorded twice."""
    replicas = [await prepared(database) for database in episodic_sql_pair]
    answers = await asyncio.gather(
        *(replicas[n % 2].messages.append(append(draft("yes"), request_id=f"r{n}")) for n in range(64))
    )
    assert sorted(answer[0].sequence for answer in answers) == list(range(1, 65))
    leaf = (await replicas[0].conversations.get(KEY)).leaf_id
    named = await asyncio.gather(
        *(
            replicas[n % 2].messages.append(append(draft("yes"), after=leaf, request_id=f"s{n}"))
            for n in range(64)
        )
    )
    assert {answer[0].sequence for answer in named} == {65}
    assert (await replicas[0].conversations.get(KEY)).stored_count == 65


async def test_64_branches_begun_at_once_share_a_path_up_to_their_parent(
    episodic_sql_pair: tuple[SqlDatabase, SqlDatabase],
) -> None:
    replicas = [await prepared(database) for database in episodic_sql_pair]
    await say(replicas[0], "a1 a2 a3")
    await asyncio.gather(
        *(say(replicas[n % 2], f"b{n} c{n}", after="a2", branch=True) for n in range(32)),
        *(say(replicas[n % 2], f"d{n}", after="a3", branch=True) for n in range(32)),
    )
    found = await replicas[1].conversations.get(KEY)
    assert found.stored_count == 3 + 96
    assert [m.sequence for m in (await replicas[0].messages.at(KEY, range(1, 100)))[1]] == list(range(1, 100))
    for n in range(32):
        assert await path(replicas[0], f"c{n}") == ["a1", "a2", f"b{n}", f"c{n}"]
        assert await path(replicas[1], f"d{n}") == ["a1", "a2", "a3", f"d{n}"]
    assert len(await branches(replicas[0], "a2")) == 33
    assert sum(active for *_, active in await branches(replicas[0], "a2")) == 1


async def test_one_bad_append_among_many_fails_alone(stores: Stores) -> None:
    await say(stores, "a1")
    answers = await asyncio.gather(
        *(stores.messages.append(append(draft(f"x{n}"))) for n in range(10)),
        say(stores, "bad", after="zz"),
        stores.messages.append(append(draft("other", "a1"))),
        stores.messages.append(append(draft("x"), key=ConversationKey(tenant="t", agent_id="a", id="zz"))),
        stores.messages.append(append(draft("x"), key=ConversationKey(tenant="t", agent_id="zz", id="c"))),
        *(stores.messages.append(append(draft(f"y{n}"))) for n in range(10)),
        return_exceptions=True,
    )
    kinds = Counter(type(answer) for answer in answers)
    assert kinds == {tuple: 20, ParentConflict: 1, Exists: 1, NotFound: 2}
    assert (await stores.conversations.get(KEY)).stored_count == 21


async def test_a_view_reads_at_most_what_it_may(stores: Stores) -> None:
    """E-5."""
    await say_many(stores, 40)
    view = await stores.history.view(KEY, "", lambda _: False, most=15)
    assert [m.depth for m in view.newest_first] == list(range(40, 25, -1))
    assert [m.depth for m in view.head] == [1, 2]
    pages: list[int] = []

    def enough(rows: Sequence[Message]) -> bool:
        pages.append(len(rows))
        return len(rows) >= 20

    view = await stores.history.view(KEY, "m30", enough, most=100)
    assert (pages, len(view.newest_first), view.newest_first[0].id) == ([10, 20], 20, "m30")
    empty = await stores.history.view(
        ConversationKey(tenant="t", agent_id="a", id="d"), "", lambda _: False, most=5
    )
    assert (empty.leaf.depth, list(empty.head), list(empty.newest_first)) == (0, [], [])


def fork_of(id: str, title: str = "") -> Conversation:
    return Conversation(id=id, agent_id="a", contact_id="", title=title, create_time=30, update_time=30)


async def test_a_fork_holds_copies_of_the_path(stores: Stores, episodic_sql: SqlDatabase) -> None:
    """E-3: with ids of its own where they were derived, so that the transcript is known there too (E-2)."""
    own = draft("own", "own", author="Ann", tokens=4)
    transcript = [draft("one", author="Bob"), own, draft("two", author="Cid")]
    first = await stores.messages.append(append(*transcript, draft("left out", author="Dan"), after=""))
    branch = append(draft("2", author="Cid"), draft("3", author="Ann"), after="own", branch=True)
    await stores.messages.append(branch)
    forked = await stores.history.fork(KEY, first[2].message_id, fork_of("f", "Copy"), most=3)
    assert (forked.contact_id, forked.title, forked.forked_from) == ("p", "Copy", ("c", first[2].message_id))
    assert (forked.stored_count, forked.leaf.depth, forked.leaf.path_tokens) == (3, 3, 6)
    assert (forked.authors, forked.create_time) == (("Bob", "Ann", "Cid"), 30)
    key = ConversationKey(tenant="t", agent_id="a", id="f")
    copies = (await stores.history.path(key, "", newest_first=False, limit=9, after=None)).items
    originals = await stores.history.path(KEY, first[2].message_id, newest_first=False, limit=9, after=None)
    for copy, original in zip(copies, originals.items, strict=True):
        assert (copy.content, copy.time, copy.author) == (original.content, original.time, original.author)
        assert (copy.conversation_id, copy.sequence) == ("f", original.depth)
    assert [m.parent_id for m in copies] == ["", copies[0].id, "own"]
    assert [m.id == o.id for m, o in zip(copies, originals.items, strict=True)] == [False, True, False]
    again = await stores.messages.append(append(*transcript, after="", key=key))
    assert [(o.message_id, o.created) for o in again] == [(m.id, False) for m in copies]
    more = await stores.messages.append(append(draft("more"), key=key))
    assert more[0].sequence == 4
    told = [k for k in await jobs(episodic_sql, "index_message") if k.startswith("index_message/a/f/")]
    assert sorted(told) == [f"index_message/a/f/{n}" for n in range(1, 5)]
    assert (await stores.conversations.get(KEY)).stored_count == 6
    twice = await stores.history.fork(key, "own", fork_of("g"), most=3)
    assert (twice.forked_from, twice.stored_count) == (("f", "own"), 2)


async def test_the_authors_of_a_fork_are_in_the_order_of_its_path(stores: Stores) -> None:
    await stores.messages.append(append(draft("1", "a1", author="Ann"), draft("2", "a2", author="Bob")))
    await stores.messages.append(
        append(
            *(draft("3", "b2", author="Cid"), draft("4", "b3", author="Bob"), draft("5", "b4")),
            after="a1",
            branch=True,
        )
    )
    assert (await stores.conversations.get(KEY)).authors == ("Ann", "Bob", "Cid")
    assert (await stores.history.fork(KEY, "b4", fork_of("f"), most=9)).authors == ("Ann", "Cid", "Bob")


async def test_a_fork_with_the_same_id_is_made_once(
    episodic_sql_pair: tuple[SqlDatabase, SqlDatabase],
) -> None:
    replicas = [await prepared(database) for database in episodic_sql_pair]
    stores = replicas[0]
    await say(stores, "a1 a2 a3")
    forks = await asyncio.gather(
        *(replicas[n % 2].history.fork(KEY, "a2", fork_of("f"), most=9) for n in range(8))
    )
    assert all(fork == forks[0] for fork in forks)
    key = ConversationKey(tenant="t", agent_id="a", id="f")
    assert len(await jobs(episodic_sql_pair[0], "index_message")) == 3 + 2
    await stores.messages.append(append(draft(id="own"), key=key))
    again = await stores.history.fork(KEY, "a2", fork_of("f"), most=9)
    assert (again.stored_count, again.leaf_id) == (3, "own")
    for message_id, new in (("a3", fork_of("f")), ("a2", fork_of("f", "other title")), ("a2", fork_of("d"))):
        with pytest.raises(Exists):
            await stores.history.fork(KEY, message_id, new, most=9)
    with pytest.raises(Exists):
        await stores.history.fork(KEY, "a2", fork_of("c"), most=9)


async def test_a_fork_that_is_too_long_or_of_nothing_is_refused(stores: Stores) -> None:
    await say(stores, "a1 a2 a3")
    with pytest.raises(LimitExceeded) as caught:
        await stores.history.fork(KEY, "a3", fork_of("f"), most=2)
    assert caught.value.metadata == {"limit": "2", "actual": "3"}
    with pytest.raises(NotFound):
        await stores.history.fork(KEY, "zz", fork_of("f"), most=2)
    with pytest.raises(NotFound):
        await stores.conversations.get(ConversationKey(tenant="t", agent_id="a", id="f"))
    assert (await stores.history.fork(KEY, "a2", fork_of("f"), most=2)).stored_count == 2


async def test_changes_after_a_position(stores: Stores) -> None:
    """E-12."""
    start = (await stores.history.changes(KEY, None, limit=0)).position
    assert start == Position(sequence=0, revision=0)
    await say(stores, "a1 a2 a3 a4")
    await overlay(stores, "a1", "a2")
    some = await stores.history.changes(KEY, start, limit=3)
    assert ([m.id for m in some.messages], some.more) == (["a1", "a2", "a3"], True)
    rest = await stores.history.changes(KEY, some.position, limit=3)
    assert ([m.id for m in rest.messages], rest.more, list(rest.overlays)) == (["a4"], False, [])
    assert [one.id for one in some.overlays] == ["a1-a2"]
    await stores.history.switch(KEY, "a4", 5)  # which it is already
    assert (await stores.history.changes(KEY, rest.position, limit=3)).position == rest.position
    await say(stores, "b2", after="a1", branch=True)
    moved = await stores.history.changes(KEY, rest.position, limit=3)
    assert (moved.progress.leaf.id, moved.progress.stored_count, moved.progress.covered_count) == ("b2", 5, 0)
    assert moved.position.revision > rest.position.revision


async def test_a_position_beyond_any_number_has_nothing_after_it(stores: Stores) -> None:
    for name in ("c", "d"):
        key = ConversationKey(tenant="t", agent_id="a", id=name)
        await stores.messages.append(append(draft("x"), key=key))
        for sequence in (1, 2, 2**32, 2**33, 2**63 - 1):
            far = await stores.history.changes(key, Position(sequence=sequence, revision=0), limit=3)
            assert (list(far.messages), far.more) == ([], False)
        near = await stores.history.changes(key, Position(sequence=0, revision=0), limit=3)
        assert len(near.messages) == 1


async def test_usage_is_added_up_by_day_conversation_tier_and_model(stores: Stores) -> None:
    """E-11."""

    def key(day: int, conversation_id: str = "c", tier: str = "fast") -> UsageKey:
        return UsageKey(agent_id="a", conversation_id=conversation_id, day=day, tier=tier, model="m")

    one = Usage(calls=1, estimated_calls=0, input_tokens=10, output_tokens=2)
    guess = Usage(calls=1, estimated_calls=1, input_tokens=5, output_tokens=1)
    await asyncio.gather(*(stores.usage.add("t", key(3), one) for _ in range(20)))
    for where, usage in ((key(3), guess), (key(4), one), (key(3, ""), one), (key(3, "c", "deep"), guess)):
        await stores.usage.add("t", where, usage)
    total = Usage(calls=21, estimated_calls=1, input_tokens=205, output_tokens=41)
    rows = [(key(4), one), (key(3, ""), one), (key(3, "c", "deep"), guess), (key(3), total)]
    assert list(await stores.usage.total("t", "a", "", 0, 9)) == rows
    assert list(await stores.usage.total("t", "a", "c", 3, 3)) == rows[2:]
    assert list(await stores.usage.total("t", "b", "", 0, 9)) == []
    assert list(await stores.usage.total("t", "a", "", 5, 9)) == []
    with pytest.raises(NotFound):
        await stores.usage.add(
            "t", UsageKey(agent_id="zz", conversation_id="", day=1, tier="f", model="m"), one
        )
    with pytest.raises(NotFound):
        await stores.usage.total("t", "zz", "", 0, 9)
