"""Overlays that are folded into one, on each branch for itself, on SQLite and PostgreSQL (SPEC E-7)."""

from __future__ import annotations

import pytest

from services.kit.errors import StateConflict
from services.kit.sql import SqlDatabase
from services.memory.episodic.app.ports import Stores
from tests.contract.history_parts import (
    KEY,
    jobs,
    overlay,
    prepared,
    say,
    say_many,
    shown,
    view,
)


@pytest.fixture
async def stores(episodic_sql: SqlDatabase) -> Stores:
    return await prepared(episodic_sql)


async def test_folded_overlays_stay_and_are_marked(stores: Stores) -> None:
    """E-7."""
    await say_many(stores, 12)
    for first, last in ((1, 3), (4, 6), (7, 9)):
        await overlay(stores, f"m{first}", f"m{last}")
    folded = await overlay(stores, "m1", "m6", "all", folds=["m1-m3", "m4-m6"])
    assert folded.source_ids == ("m1-m3", "m4-m6")
    assert await shown(stores) == ["m7-m9", "all"]
    page = await stores.history.overlays(KEY, "", superseded=True, limit=9, after=None)
    assert {one.id: one.superseded_by for one in page.items} == {
        "all": (),
        "m1-m3": ("all",),
        "m4-m6": ("all",),
        "m7-m9": (),
    }
    assert (await stores.conversations.get(KEY)).covered_count == 9
    with pytest.raises(StateConflict):
        await overlay(stores, "m1", "m9", folds=["m1-m3", "m4-m6", "m7-m9"])
    await overlay(stores, "m1", "m9", "more", folds=["all", "m7-m9"])
    assert await shown(stores) == ["more"]
    over = await stores.history.over(KEY, "", 5)
    assert sorted(one.id for one in over) == ["all", "m4-m6", "m7-m9", "more"]


async def test_a_fold_hides_its_parts_only_where_its_last_message_is(
    stores: Stores, episodic_sql: SqlDatabase
) -> None:
    """E-7: a branch that left a folded range before its end shows the parts; each branch folds for itself."""
    await say_many(stores, 130, prefix="t")
    for first in range(1, 121, 20):
        await overlay(stores, f"t{first}", f"t{first + 19}")
    parts = [f"t{first}-t{first + 19}" for first in range(1, 121, 20)]
    await overlay(stores, "t1", "t80", "early", folds=parts[:4])
    await overlay(stores, "t1", "t120", "whole", folds=["early", *parts[4:]])
    assert await view(stores) == await view(stores, "t120") == ["whole"]
    assert await view(stores, "t119") == ["early", "t81-t100"]
    assert await view(stores, "t79") == parts[:3]
    assert await view(stores, "t19") == []

    asked = await jobs(episodic_sql, "cover_messages")
    await say(stores, "b1", after="t40", branch=True)
    assert await view(stores) == await shown(stores) == parts[:2]
    assert (await stores.conversations.get(KEY)).covered_count == 40
    await say_many(stores, 24, prefix="b", start=2)
    assert await jobs(episodic_sql, "cover_messages") == asked  # 25 uncovered: none is due, none is futile
    await say_many(stores, 16, prefix="b", start=26)
    assert len(await jobs(episodic_sql, "cover_messages")) == len(asked) + 1
    due = (await stores.history.uncovered(KEY)).messages
    assert [m.id for m in due] == [f"b{n}" for n in range(1, 37)]
    await overlay(stores, "b1", "b20")
    await overlay(stores, "b21", "b36")

    before = await stores.history.changes(KEY, None, limit=0)
    trunk = {leaf: await view(stores, leaf) for leaf in ("t40", "t80", "t119", "t130")}
    await overlay(stores, "t1", "b20", "on b", folds=[*parts[:2], "b1-b20"])
    assert await view(stores) == ["on b", "b21-b36"]
    assert await view(stores, "b19") == parts[:2]
    assert {leaf: await view(stores, leaf) for leaf in trunk} == trunk
    changed = await stores.history.changes(KEY, before.position, limit=9)
    assert {one.id: one.superseded_by for one in changed.overlays} == {
        "on b": (),
        parts[0]: ("early", "on b"),
        parts[1]: ("early", "on b"),
        "b1-b20": ("on b",),
    }
    assert (await stores.conversations.get(KEY)).covered_count == 76
    assert (await stores.history.switch(KEY, "t130", 10)).covered_count == 120
    assert await view(stores) == ["whole"]
    over = await stores.history.over(KEY, "b41", 1)
    assert sorted(one.id for one in over) == ["b1-b20", "b21-b36", "on b", "t1-t20", "t21-t40"]


async def test_what_ends_beneath_a_fold_of_another_branch_is_not_folded(
    stores: Stores, episodic_sql: SqlDatabase
) -> None:
    """E-7: the trunk would show both; so nothing asks for it."""
    await say_many(stores, 30, prefix="t")
    for first, last in ((1, 5), (6, 10), (11, 20)):
        await overlay(stores, f"t{first}", f"t{last}", tokens=60)
    await overlay(stores, "t1", "t20", "fold", folds=["t1-t5", "t6-t10", "t11-t20"])
    asked = await jobs(episodic_sql, "fold_overlays")
    await say(stores, "b1 b2 b3 b4 b5 b6 b7 b8", after="t12", branch=True)
    await overlay(stores, "t11", "b2", tokens=60)
    assert await view(stores) == ["t1-t5", "t6-t10", "t11-b2"]
    with pytest.raises(StateConflict):
        await overlay(stores, "t1", "t10", folds=["t1-t5", "t6-t10"])
    assert await stores.history.foldable(KEY) == ()
    assert await jobs(episodic_sql, "fold_overlays") == asked
    await overlay(stores, "b3", "b5", tokens=60)
    assert [one.id for one in await stores.history.foldable(KEY)] == ["t11-b2", "b3-b5"]
    assert len(await jobs(episodic_sql, "fold_overlays")) == len(asked) + 1
    await overlay(stores, "t1", "b2", "all", folds=["t1-t5", "t6-t10", "t11-b2"])
    assert (await view(stores), await view(stores, "t30")) == (["all", "b3-b5"], ["fold"])


async def test_what_is_folded_already_on_a_path_is_not_folded_again_there(stores: Stores) -> None:
    """E-7: up to a depth that shows it, the longer path would show two overlays over it."""
    await say_many(stores, 12)
    for ends in (("m1", "m3"), ("m4", "m6"), ("m7", "m9")):
        await overlay(stores, *ends)
    await overlay(stores, "m1", "m9", "whole", folds=["m1-m3", "m4-m6", "m7-m9"])
    for first, last, folds in (
        ("m1", "m6", ["m1-m3", "m4-m6"]),
        ("m1", "m9", ["m1-m3", "m4-m6", "m7-m9"]),
        ("m1", "m3", ["m1-m3"]),
        ("m1", "m12", ["whole", "m1-m3"]),  # as many messages as the range has
    ):
        with pytest.raises(StateConflict):
            await overlay(stores, first, last, "again", folds=folds)
    assert (await view(stores), await view(stores, "m8")) == (["whole"], ["m1-m3", "m4-m6"])


async def test_only_what_makes_up_the_range_is_folded(stores: Stores) -> None:
    await say(stores, "t1 t2 a3 a4 a5 a6")
    await say(stores, "b3 b4 b5 b6", after="t2", branch=True)
    await overlay(stores, "a3", "a4", "on a")
    await overlay(stores, "b3", "b4", "on b")
    await overlay(stores, "a5", "a6", "late on a")
    for first, last, folds in (
        ("b3", "b5", ["on b"]),  # more than what is folded
        ("b4", "b5", ["on b"]),  # less
        ("a3", "a4", ["on b"]),  # of another branch
        ("b3", "b4", ["on a"]),
        ("b5", "b6", ["late on a"]),
        ("t1", "b6", ["on b", "on a"]),
    ):
        with pytest.raises(StateConflict):
            await overlay(stores, first, last, "new", folds=folds)
    assert (await shown(stores), await shown(stores, "a6")) == (["on b"], ["on a", "late on a"])
    await overlay(stores, "b5", "b6", "rest of b")
    await overlay(stores, "b3", "b6", "new", folds=["on b", "rest of b"])
    assert (await shown(stores), await shown(stores, "a6")) == (["new"], ["on a", "late on a"])


async def test_overlays_are_listed_in_pages_that_keep_a_fold_together(stores: Stores) -> None:
    await say_many(stores, 20)
    for n in range(1, 11, 2):
        await overlay(stores, f"m{n}", f"m{n + 1}")
    await overlay(stores, "m1", "m4", "fold", folds=["m1-m2", "m3-m4"])
    seen: list[list[str]] = []
    after: int | None = None
    while True:
        page = await stores.history.overlays(KEY, "", superseded=True, limit=2, after=after)
        seen.append([one.id for one in page.items])
        if page.last is None:
            break
        after = page.last
        if len(seen) == 1:
            await overlay(stores, "m11", "m12")
    assert seen == [["m5-m6", "m7-m8"], ["m9-m10", "m1-m2", "fold", "m3-m4"], ["m11-m12"]]


async def test_overlays_over_their_share_ask_to_be_folded(stores: Stores, episodic_sql: SqlDatabase) -> None:
    """E-7."""
    await say_many(stores, 9)
    await overlay(stores, "m1", "m3", tokens=101)
    assert await jobs(episodic_sql, "fold_overlays") == []
    assert await stores.history.foldable(KEY) == ()
    await overlay(stores, "m4", "m6", tokens=1)
    assert len(await jobs(episodic_sql, "fold_overlays")) == 1
    assert [one.id for one in await stores.history.foldable(KEY)] == ["m1-m3", "m4-m6"]
    await overlay(stores, "m1", "m6", "fold", folds=["m1-m3", "m4-m6"], tokens=50)
    assert len(await jobs(episodic_sql, "fold_overlays")) == 1
    assert await stores.history.foldable(KEY) == ()
