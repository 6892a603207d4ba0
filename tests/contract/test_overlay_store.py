"""Overlays and the jobs that make them, on SQLite and PostgreSQL (SPEC E-4, E-7, E-8)."""

from __future__ import annotations

import pytest

from services.kit.errors import Exists, InvalidField, NotFound, StateConflict
from services.kit.sql import SqlDatabase
from services.memory.episodic.app.ports import Stores
from services.memory.episodic.domain.coverage import CoverRules
from tests.contract.history_parts import (
    KEY,
    append,
    draft,
    jobs,
    overlay,
    path,
    prepared,
    say,
    say_many,
    shown,
)


@pytest.fixture
async def stores(episodic_sql: SqlDatabase) -> Stores:
    return await prepared(episodic_sql)


async def test_an_overlay_tells_what_it_covers(stores: Stores) -> None:
    """E-7."""
    await stores.messages.append(append(*(draft(id=f"m{n}", tokens=n) for n in range(1, 7))))
    made = await overlay(stores, "m2", "m4", tokens=3)
    assert (made.from_depth, made.to_depth, made.message_count, made.message_tokens) == (2, 4, 3, 9)
    assert (made.source_ids, made.model, made.create_time) == (("m2", "m3", "m4"), "test", 9)
    assert (await stores.conversations.get(KEY)).covered_count == 3
    assert await path(stores) == [f"m{n}" for n in range(1, 7)]  # E-4
    page = await stores.history.overlays(KEY, "", superseded=False, limit=9, after=None)
    assert (page.items, page.last) == ([made], None)


async def test_an_overlay_with_the_same_id_is_stored_once(stores: Stores) -> None:
    await say_many(stores, 6)
    first = await overlay(stores, "m1", "m3", "o")
    assert await overlay(stores, "m1", "m3", "o") == first
    with pytest.raises(Exists):
        await overlay(stores, "m1", "m4", "o")
    assert await shown(stores) == ["o"]
    second = await overlay(stores, "m4", "m6", "p")
    await overlay(stores, "m1", "m6", "q", folds=["o", "p"])
    assert (await overlay(stores, "m4", "m6", "p")).superseded_by == ("q",)
    assert (await overlay(stores, "m1", "m6", "q", folds=["o", "p"])).id == "q"
    assert second.superseded_by == ()
    assert await shown(stores) == ["q"]


async def test_ranges_that_are_no_part_of_a_path_are_refused(stores: Stores) -> None:
    await say(stores, "a1 a2 a3")
    await say(stores, "b2 b3", after="a1", branch=True)
    for first, last in (("a3", "a1"), ("a2", "b3"), ("b3", "a3")):
        with pytest.raises(InvalidField) as caught:
            await overlay(stores, first, last)
        assert [p.field for p in caught.value.fields] == ["from_message_id"]
    for first, last in (("zz", "a3"), ("a1", "zz")):
        with pytest.raises(NotFound):
            await overlay(stores, first, last)
    with pytest.raises(NotFound):
        await overlay(stores, "a1", "a2", folds=["zz"])
    assert await shown(stores, superseded=True) == []
    assert (await overlay(stores, "a1", "b3")).message_count == 3
    assert (await overlay(stores, "a2", "a2")).message_count == 1


async def test_overlays_overlap_on_no_path_but_may_on_different_ones(stores: Stores) -> None:
    """E-7."""
    await say(stores, "t1 t2 t3 a4 a5 a6 a7 a8")
    await say(stores, "b4 b5 b6", after="t3", branch=True)
    await overlay(stores, "t1", "t2", "trunk")
    await overlay(stores, "t3", "a5", "on a")
    await overlay(stores, "t3", "b5", "on b")
    for first, last in (
        ("t2", "t3"),  # over the trunk's
        ("t3", "t3"),  # under those of both branches
        ("t1", "a8"),
        ("a5", "a7"),
        ("b5", "b6"),
        ("t1", "b6"),
    ):
        with pytest.raises(StateConflict) as caught:
            await overlay(stores, first, last)
        assert [p.field for p in caught.value.fields] == ["from_message_id"]
    await overlay(stores, "a6", "a7", "next on a")
    assert await shown(stores) == ["trunk", "on b"]
    assert await shown(stores, "a8") == ["trunk", "on a", "next on a"]
    assert await shown(stores, "a5") == ["trunk", "on a"]
    assert await shown(stores, "a4") == await shown(stores, "t3") == ["trunk"]
    assert await shown(stores, "t1") == []
    assert (await stores.conversations.get(KEY)).covered_count == 5
    assert (await stores.history.switch(KEY, "a8", 10)).covered_count == 7


async def test_switching_asks_for_what_the_other_path_lacks(
    stores: Stores, episodic_sql: SqlDatabase
) -> None:
    """E-8."""
    await say(stores, "t1")
    await stores.messages.append(append(*(draft(id=f"a{n}") for n in range(26)), after="t1"))
    await say(stores, "b2 b3", after="t1", branch=True)
    asked = await jobs(episodic_sql, "cover_messages")
    await stores.history.switch(KEY, "t1", 10)  # to the leaf that is active already
    assert await jobs(episodic_sql, "cover_messages") == asked
    await stores.history.switch(KEY, "a9", 10)
    assert len(await jobs(episodic_sql, "cover_messages")) == len(asked) + 1
    assert (await stores.history.view(KEY, "", lambda _: True, most=10)).cover_requested
    due = (await stores.history.uncovered(KEY)).messages
    await overlay(stores, due[0].id, due[-1].id)
    await stores.history.switch(KEY, "b3", 10)
    await stores.history.switch(KEY, "a9", 10)
    assert len(await jobs(episodic_sql, "cover_messages")) == len(asked) + 1


async def test_the_26th_uncovered_message_asks_for_one_job_until_it_is_done(
    stores: Stores, episodic_sql: SqlDatabase
) -> None:
    """E-8."""
    await say_many(stores, 25)
    assert await jobs(episodic_sql, "cover_messages") == []
    await say_many(stores, 1, start=26)
    assert len(await jobs(episodic_sql, "cover_messages")) == 1
    for n in range(27, 51):
        await say_many(stores, 1, start=n)
    assert len(await jobs(episodic_sql, "cover_messages")) == 1
    await say_many(stores, 1, start=51)  # as many again: it may have been lost
    assert len(await jobs(episodic_sql, "cover_messages")) == 2
    due = await stores.history.uncovered(KEY)
    assert [m.id for m in due.messages] == [f"m{n}" for n in range(1, 47)]
    await overlay(stores, "m1", "m46")
    await say_many(stores, 20, start=52)
    assert len(await jobs(episodic_sql, "cover_messages")) == 2
    await say_many(stores, 1, start=72)
    found = await jobs(episodic_sql, "cover_messages")
    assert (len(found), len(set(found))) == (3, 3)
    following = await stores.history.uncovered(KEY)
    assert [m.id for m in following.messages] == [f"m{n}" for n in range(47, 68)]
    assert (due.previous_summary, following.previous_summary) == ("", "from m1 to m46")


async def test_a_long_backlog_is_covered_60_messages_at_a_time(
    stores: Stores, episodic_sql: SqlDatabase
) -> None:
    """E-7, E-8: each overlay asks for the next until all but the newest 5 are covered."""
    await say_many(stores, 200)
    ranges = []
    while (due := await stores.history.uncovered(KEY)).messages:
        ranges.append((due.messages[0].id, due.messages[-1].id))
        await overlay(stores, *ranges[-1])
        assert len(await jobs(episodic_sql, "cover_messages")) == min(len(ranges) + 1, 4)
    assert ranges == [("m1", "m60"), ("m61", "m120"), ("m121", "m180"), ("m181", "m195")]
    assert (await stores.conversations.get(KEY)).covered_count == 195


async def test_a_full_overlay_goes_on_while_others_end_with_what_was_asked_for(
    stores: Stores, episodic_sql: SqlDatabase
) -> None:
    """E-8: messages that come while a job is done wait for more, unless it could not keep up."""
    await say_many(stores, 26)
    await say_many(stores, 10, start=27)
    await overlay(stores, "m1", "m21")  # m22 to m31 came late
    assert len(await jobs(episodic_sql, "cover_messages")) == 1
    await say_many(stores, 55, start=37)
    assert len(await jobs(episodic_sql, "cover_messages")) == 2
    await overlay(stores, "m22", "m81")
    assert len(await jobs(episodic_sql, "cover_messages")) == 3
    await overlay(stores, "m82", "m86")
    assert len(await jobs(episodic_sql, "cover_messages")) == 3


async def test_an_overlay_elsewhere_or_a_fold_does_not_ask_again(
    stores: Stores, episodic_sql: SqlDatabase
) -> None:
    """E-8: that is no progress on the active path."""
    await say(stores, "t1 x2 x3 x4")
    await stores.messages.append(append(*(draft(id=f"m{n}") for n in range(40)), after="t1", branch=True))
    await overlay(stores, "m0", "m2")
    await overlay(stores, "m3", "m5")
    asked = await jobs(episodic_sql, "cover_messages")
    await overlay(stores, "x2", "x4")
    await overlay(stores, "m0", "m5", "fold", folds=["m0-m2", "m3-m5"])
    assert await jobs(episodic_sql, "cover_messages") == asked
    await overlay(stores, "m6", "m8")
    assert len(await jobs(episodic_sql, "cover_messages")) == len(asked) + 1


async def test_tokens_ask_for_a_job_only_where_that_is_set(episodic_sql: SqlDatabase) -> None:
    """E-8."""
    rules = CoverRules(uncovered_messages=25, uncovered_tokens=1000, fold_tokens=100)
    stores = await prepared(episodic_sql, rules)
    await stores.messages.append(append(*(draft(id=f"m{n}", tokens=200) for n in range(1, 8))))
    assert await jobs(episodic_sql, "cover_messages") == []  # heavy, but there is too little to cover
    await stores.messages.append(append(draft(id="m8", tokens=1)))
    assert len(await jobs(episodic_sql, "cover_messages")) == 1
    await overlay(stores, "m1", "m3")
    await stores.messages.append(append(*(draft(id=f"m{n}", tokens=33) for n in range(9, 14))))
    assert len(await jobs(episodic_sql, "cover_messages")) == 1
    await stores.messages.append(append(draft(id="m14", tokens=200)))
    assert len(await jobs(episodic_sql, "cover_messages")) == 2


async def test_a_window_asks_for_one_job_where_something_can_be_covered(
    stores: Stores, episodic_sql: SqlDatabase
) -> None:
    """E-7."""
    await say_many(stores, 7)
    await stores.history.request_cover(KEY)
    assert await jobs(episodic_sql, "cover_messages") == []
    await say_many(stores, 1, start=8)
    view = await stores.history.view(KEY, "", lambda _: True, most=10)
    assert not view.cover_requested
    for _ in range(3):
        await stores.history.request_cover(KEY)
    assert len(await jobs(episodic_sql, "cover_messages")) == 1
    assert (await stores.history.view(KEY, "", lambda _: True, most=10)).cover_requested
    await overlay(stores, "m1", "m3")
    assert not (await stores.history.view(KEY, "", lambda _: True, most=10)).cover_requested


async def test_what_is_to_be_covered_next_can_be_covered_beside_another_branch(stores: Stores) -> None:
    """E-7: an overlay that ends on the trunk is shown on both branches, so it can't lie under another."""
    await say_many(stores, 120, prefix="t")
    await overlay(stores, "t1", "t30")
    await overlay(stores, "t31", "t60")
    await overlay(stores, "t61", "t115")
    await overlay(stores, "t1", "t115", "whole", folds=["t1-t30", "t31-t60", "t61-t115"])
    await say(stores, "b1", after="t100", branch=True)
    assert await shown(stores) == ["t1-t30", "t31-t60"]
    assert (await stores.conversations.get(KEY)).covered_count == 60
    assert (await stores.history.uncovered(KEY)).messages == ()
    for n in range(2, 40):
        await say_many(stores, 1, prefix="b", start=n)
        due = (await stores.history.uncovered(KEY)).messages
        if due:
            assert 3 <= len(due) <= 60
            await overlay(stores, due[0].id, due[-1].id)
    assert (await stores.conversations.get(KEY)).covered_count > 60
    assert "whole" not in await shown(stores)
    assert await shown(stores, "t120") == ["whole"]


async def test_what_is_to_be_covered_fits_an_answer(stores: Stores) -> None:
    """X-2."""
    await stores.messages.append(append(*(draft("x" * 3000, f"m{n}") for n in range(1, 31))))
    due = (await stores.history.uncovered(KEY)).messages
    assert [m.id for m in due] == [f"m{n}" for n in range(1, 7)]
    await overlay(stores, "m1", "m6")
    assert (await stores.history.uncovered(KEY)).messages[0].id == "m7"


async def test_long_messages_are_covered_to_the_newest_five_too(
    stores: Stores, episodic_sql: SqlDatabase
) -> None:
    """E-8: an overlay that was cut short asks for the rest."""
    await stores.messages.append(append(*(draft("x" * 3000, f"m{n}") for n in range(1, 30))))
    made = 0
    while due := (await stores.history.uncovered(KEY)).messages:
        made += 1
        assert len(await jobs(episodic_sql, "cover_messages")) == made
        await overlay(stores, due[0].id, due[-1].id)
    assert len(await jobs(episodic_sql, "cover_messages")) == made == 4
    assert (await stores.conversations.get(KEY)).covered_count == 24
