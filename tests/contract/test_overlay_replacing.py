"""An overlay that somebody puts in another's place, on SQLite and PostgreSQL (SPEC E-7, J-17)."""

from __future__ import annotations

import pytest

from services.kit.errors import Exists, StateConflict
from services.kit.sql import SqlDatabase
from services.memory.episodic.app.ports import NewOverlay, Stores
from services.memory.episodic.domain.model import Overlay
from tests.contract.history_parts import KEY, RULES, jobs, overlay, prepared, say, say_many, shown, view

HALF = RULES.fold_tokens // 2


@pytest.fixture
async def stores(episodic_sql: SqlDatabase) -> Stores:
    return await prepared(episodic_sql)


async def put(stores: Stores, first: str, last: str, summary: str, *, replace: bool = True) -> Overlay:
    new = NewOverlay(
        id="m1-m3",
        from_id=first,
        to_id=last,
        summary=summary,
        token_count=HALF,
        model="ann",
        folds=(),
        replace=replace,
    )
    return await stores.history.put_overlay(KEY, new, 11)


async def texts(stores: Stores) -> dict[str, str]:
    page = await stores.history.overlays(KEY, "", superseded=True, limit=1000, after=None)
    return {one.id: one.summary for one in page.items}


async def test_other_content_takes_its_place_only_where_that_is_said(stores: Stores) -> None:
    await say_many(stores, 12)
    await overlay(stores, "m1", "m3")
    with pytest.raises(Exists):
        await put(stores, "m1", "m3", "by Ann", replace=False)
    made = await put(stores, "m1", "m3", "by Ann")
    assert (made.summary, made.model, made.token_count, made.message_count) == ("by Ann", "ann", HALF, 3)
    assert await texts(stores) == {"m1-m3": "by Ann"}
    assert (await stores.conversations.get(KEY)).covered_count == 3
    assert await put(stores, "m1", "m3", "by Ann") == made, "the same again changes nothing"
    with pytest.raises(StateConflict):
        await put(stores, "m1", "m4", "longer")
    assert await texts(stores) == {"m1-m3": "by Ann"}


async def test_one_that_is_not_there_is_made(stores: Stores) -> None:
    await say_many(stores, 12)
    await put(stores, "m1", "m3", "by Ann")
    assert await shown(stores) == ["m1-m3"]


async def test_a_watcher_is_told(stores: Stores) -> None:
    """E-12."""
    await say_many(stores, 12)
    await overlay(stores, "m1", "m3")
    before = await stores.history.changes(KEY, None, limit=0)
    await put(stores, "m1", "m3", "by Ann")
    after = await stores.history.changes(KEY, before.position, limit=9)
    assert [(one.id, one.summary) for one in after.overlays] == [("m1-m3", "by Ann")]


async def test_what_it_was_folded_into_goes_with_what_it_said(
    stores: Stores, episodic_sql: SqlDatabase
) -> None:
    """J-17: at every level; the parts are live again at once, and are folded anew where that is due."""
    await say_many(stores, 20)
    for first in (1, 4, 7, 10):
        await overlay(stores, f"m{first}", f"m{first + 2}", tokens=HALF)
    await overlay(stores, "m1", "m6", "low", folds=["m1-m3", "m4-m6"], tokens=HALF)
    await overlay(stores, "m1", "m9", "high", folds=["low", "m7-m9"], tokens=HALF)
    assert await view(stores) == ["high", "m10-m12"]
    asked = await jobs(episodic_sql, "fold_overlays")
    await put(stores, "m1", "m3", "by Ann")
    assert await view(stores) == ["m1-m3", "m4-m6", "m7-m9", "m10-m12"]
    assert await texts(stores) == {
        "m1-m3": "by Ann",
        "m4-m6": "from m4 to m6",
        "m7-m9": "from m7 to m9",
        "m10-m12": "from m10 to m12",
    }
    assert len(await jobs(episodic_sql, "fold_overlays")) == len(asked) + 1
    assert (await stores.conversations.get(KEY)).covered_count == 12
    await overlay(stores, "m1", "m6", "low", folds=["m1-m3", "m4-m6"])
    assert await view(stores) == ["low", "m7-m9", "m10-m12"]


async def test_a_fold_of_other_parts_stays(stores: Stores) -> None:
    await say_many(stores, 20)
    for first in (1, 4, 7):
        await overlay(stores, f"m{first}", f"m{first + 2}")
    await overlay(stores, "m4", "m9", "rest", folds=["m4-m6", "m7-m9"])
    await put(stores, "m1", "m3", "by Ann")
    assert await view(stores) == ["m1-m3", "rest"]


async def test_a_fold_on_another_branch_goes_too_and_its_parts_keep_their_other_folds(stores: Stores) -> None:
    """E-3, E-7."""
    await say_many(stores, 12)
    for first in (1, 4, 7):
        await overlay(stores, f"m{first}", f"m{first + 2}")
    await overlay(stores, "m4", "m9", "trunk", folds=["m4-m6", "m7-m9"])
    await say(stores, "b1 b2 b3", after="m6", branch=True)
    await overlay(stores, "b1", "b3")
    await overlay(stores, "m1", "b3", "branch", folds=["m1-m3", "m4-m6", "b1-b3"])
    assert await view(stores) == ["branch"]
    await put(stores, "m1", "m3", "by Ann")
    assert await view(stores) == ["m1-m3", "m4-m6", "b1-b3"]
    assert await view(stores, "m12") == ["m1-m3", "trunk"]


async def test_another_path_tells_what_came_from_the_one_before(
    stores: Stores, episodic_sql: SqlDatabase
) -> None:
    """J-17: whether it was chosen or grew; a message more on the same path tells nothing."""
    await say_many(stores, 6)
    assert await jobs(episodic_sql, "refresh_derived") == []
    await say(stores, "b1", after="m3", branch=True)
    assert len(await jobs(episodic_sql, "refresh_derived")) == 1
    await stores.history.switch(KEY, "m6", 7)
    assert len(await jobs(episodic_sql, "refresh_derived")) == 2
    await stores.history.switch(KEY, "m6", 8)
    await say(stores, "m7")
    assert len(await jobs(episodic_sql, "refresh_derived")) == 2
