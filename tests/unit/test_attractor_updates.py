"""Updates of an attractor: ids that stay, what is reported, the figures of a version (SPEC J-12)."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.compactor.domain.attractor import (
    NOWHERE,
    Attractor,
    Change,
    ChangeKind,
    Earlier,
    Parameters,
    Point,
)
from services.compactor.domain.attractor_geometry import PlainGeometry, dot, unit
from services.compactor.domain.attractor_updating import known, updated
from tests.unit.attractor_parts import (
    DIMENSION,
    between,
    ids,
    labels,
    point,
    points,
    theme,
    update,
)

THEMES = st.lists(st.integers(0, 5), max_size=40)
FEW = settings(max_examples=40, deadline=None)


def kinds(attractor: Attractor) -> list[ChangeKind]:
    return [change.kind for change in attractor.changes]


def named(attractor: Attractor, basin: str, name: str) -> Attractor:
    basins = tuple(replace(one, name=name) if one.id == basin else one for one in attractor.basins)
    return replace(attractor, basins=basins)


def all_in(basins: dict[str, list[Point]], conversations: list[Point]) -> Earlier:
    """A version before, in which these were the basins."""
    made = update(None, conversations)
    template = made.basins[0]
    return replace(
        known(made),
        basins=[replace(template, id=id_, name="") for id_ in basins],
        labels={one.conversation_id: id_ for id_, members in basins.items() for one in members},
        last_basin=len(basins),
    )


# Properties


@FEW
@given(themes=THEMES, seed=st.randoms(use_true_random=False))
def test_the_order_of_the_input_changes_nothing(themes: list[int], seed: object) -> None:
    conversations = points(themes)
    shuffled = list(conversations)
    seed.shuffle(shuffled)  # type: ignore[attr-defined]
    before = update(None, conversations[: len(themes) // 2])
    assert update(before, shuffled) == update(before, conversations)


@FEW
@given(themes=THEMES)
def test_conversations_of_a_theme_share_a_basin_and_weights_add_up_to_1(themes: list[int]) -> None:
    made = update(None, points(themes))
    found: dict[int, set[str]] = {}
    for number, visit in zip(themes, made.visits, strict=True):
        found.setdefault(number, set()).add(visit.basin)
    for number, basins in found.items():
        assert len(basins) == 1
        assert (basins == {NOWHERE}) == (themes.count(number) == 1)
    several = sum(themes.count(number) > 1 for number in set(themes))
    assert len(made.basins) == several
    assert math.isclose(sum(basin.weight for basin in made.basins), 1.0 if several else 0.0)
    assert 0.0 <= made.scattered <= 1.0
    assert all(math.isclose(dot(basin.centroid, basin.centroid), 1.0) for basin in made.basins)


@FEW
@given(first=THEMES, more=st.lists(st.integers(0, 7), max_size=20))
def test_basins_keep_their_ids_when_conversations_are_added(first: list[int], more: list[int]) -> None:
    old = points(first)
    before = update(None, old)
    after = update(before, old + points(more, first_day=len(first), prefix="d"))
    assert set(ids(before)) <= set(ids(after))
    now = labels(after)
    for conversation, basin in labels(before).items():
        if basin != NOWHERE:
            assert now[conversation] == basin
    new = {int(id_[1:]) for id_ in set(ids(after)) - set(ids(before))}
    assert new == set(range(before.last_basin + 1, after.last_basin + 1))
    assert not {ChangeKind.DIED, ChangeKind.SPLIT, ChangeKind.MERGED} & set(kinds(after))


@FEW
@given(themes=THEMES)
def test_an_update_of_the_same_conversations_is_the_same_attractor(themes: list[int]) -> None:
    conversations = points(themes)
    once = update(None, conversations)
    twice = update(once, conversations)
    assert [replace(basin, moved=None) for basin in twice.basins] == list(once.basins)
    assert (twice.visits, twice.changes, twice.last_basin) == (once.visits, (), once.last_basin)
    assert twice.drift is None if not themes else math.isclose(twice.drift or 0.0, 0.0, abs_tol=1e-9)


@FEW
@given(gone=st.sets(st.integers(0, 29)))
def test_a_basin_lives_until_its_last_conversation_is_gone(gone: set[int]) -> None:
    conversations = points([place % 3 for place in range(30)])
    before = update(None, conversations)
    left = [one for place, one in enumerate(conversations) if place not in gone]
    after = update(before, left)
    alive = {labels(before)[one.conversation_id] for one in left}
    assert set(ids(after)) == alive
    died = {change.basin for change in after.changes if change.kind is ChangeKind.DIED}
    assert died == set(ids(before)) - alive


# Moving, splitting, merging


def test_a_basin_keeps_its_id_while_its_centroid_moves() -> None:
    conversations = points([0, 0, 0, 1, 1, 1])
    before = made = update(None, conversations)
    id_ = labels(made)["c0000"]
    for step in range(1, 31):
        direction = between(theme(0), theme(2), step / 60)
        conversations.append(point(f"m{step}", direction, 10 + step))
        made = update(made, conversations)
        assert labels(made)[f"m{step}"] == id_
    assert set(ids(made)) == set(ids(before))
    first, last = (next(one for one in each.basins if one.id == id_) for each in (before, made))
    assert dot(first.centroid, last.centroid) < 0.95


def test_a_basin_of_two_themes_is_split_and_the_greater_half_keeps_the_id() -> None:
    conversations = points([0] * 8 + [1] * 5)
    before = all_in({"b1": conversations}, conversations)
    after = update(before, conversations)
    assert labels(after)["c0000"] == "b1"
    assert labels(after)["c0008"] == "b2"
    assert Change(kind=ChangeKind.SPLIT, basin="b1", others=("b2",)) in after.changes


def test_a_gap_splits_what_all_share() -> None:
    """Conversations whose vectors have much in common, such as names, still have themes."""
    common = theme(9)
    conversations = [
        point(f"c{place:02}", between(common, theme(place % 2), 0.55), place) for place in range(16)
    ]
    made = update(None, conversations)
    first, second = labels(made)["c00"], labels(made)["c01"]
    assert first != second
    assert [labels(made)[f"c{place:02}"] for place in range(16)] == [first, second] * 8
    centroids = [basin.centroid for basin in made.basins]
    assert dot(*centroids) > Parameters().same


@pytest.mark.parametrize("name_of", ["", "b1", "b2"])
def test_two_basins_of_one_theme_are_merged_and_a_named_one_survives(name_of: str) -> None:
    conversations = points([0] * 9)
    before = all_in({"b1": conversations[:6], "b2": conversations[6:]}, conversations)
    basins = [replace(one, name="Mine") if one.id == name_of else one for one in before.basins]
    after = update(replace(before, basins=basins), conversations)
    kept = name_of or "b1"
    gone = "b1" if kept == "b2" else "b2"
    assert ids(after) == [kept]
    assert after.basins[0].name == ("Mine" if name_of else "")
    assert Change(kind=ChangeKind.MERGED, basin=gone, others=(kept,)) in after.changes


def test_a_new_theme_is_born_with_its_second_conversation() -> None:
    conversations = points([0, 0, 0])
    before = update(None, conversations)
    conversations += points([1], first_day=5, prefix="d")
    lonely = update(before, conversations)
    assert labels(lonely)["d0000"] == NOWHERE
    assert lonely.scattered > 0.0
    conversations += points([1], first_day=6, prefix="e")
    born = update(lonely, conversations)
    assert labels(born)["d0000"] == labels(born)["e0000"] == "b2"
    assert Change(kind=ChangeKind.BORN, basin="b2") in born.changes
    assert born.scattered == pytest.approx(0.0)


# Names, models, bounds


def test_a_name_sticks_to_its_basin() -> None:
    conversations = points([0, 1] * 4)
    before = named(update(None, conversations), "b2", "Garden")
    after = update(before, conversations + points([1, 0, 2, 2], first_day=20, prefix="d"))
    assert {basin.id: basin.name for basin in after.basins} == {"b1": "", "b2": "Garden", "b3": ""}
    assert next(basin.title for basin in after.basins if basin.id == "b2") == "Garden"


def test_ids_and_names_outlive_a_change_of_the_model() -> None:
    """Vectors of two models have nothing in common; memberships have."""
    themes = [0, 1, 2] * 5
    before = named(update(None, points(themes)), "b1", "Mine")
    other = [
        replace(one, vector=new.vector)
        for one, new in zip(points(themes), points([5 - t for t in themes], prefix="x"), strict=True)
    ]
    after = update(before, other, model="model-2")
    assert labels(after) == labels(before)
    assert {basin.name for basin in after.basins if basin.id == "b1"} == {"Mine"}
    assert after.drift is None
    assert all(basin.moved is None for basin in after.basins)


def test_the_heaviest_basins_are_kept_and_a_named_one() -> None:
    rules = Parameters(max_basins=3)
    conversations = points([0, 0, 1, 1, 2, 2, 3, 3])
    made = updated(Earlier(), conversations, "m", PlainGeometry, rules)
    assert len(made.basins) == 3
    assert labels(made)["c0000"] == NOWHERE  # the one visited longest ago
    kept = named(made, labels(made)["c0002"], "Old")
    more = conversations + points([4] * 3 + [5] * 3, first_day=90, prefix="d")
    after = updated(known(kept), more, "m", PlainGeometry, rules)
    assert labels(after)["c0002"] == labels(made)["c0002"]
    assert {labels(after)["d0000"], labels(after)["d0005"]} < set(ids(after))


def test_no_conversation_is_an_attractor_too() -> None:
    made = update(None, [])
    assert (made.basins, made.visits, made.mean, made.drift, made.scattered) == ((), (), (), None, 0.0)


def test_a_single_conversation_is_in_no_basin() -> None:
    made = update(None, points([0]))
    assert made.basins == ()
    assert [visit.basin for visit in made.visits] == [NOWHERE]
    assert made.scattered == 1.0
    after = update(made, points([0, 0]))
    assert ids(after) == ["b1"]


def test_vectors_that_are_all_alike_are_one_basin() -> None:
    same = [replace(one, vector=points([0])[0].vector) for one in points([0] * 12)]
    made = update(None, same)
    assert ids(made) == ["b1"]
    assert made.basins[0].cohesion == pytest.approx(1.0)


# Figures


def test_weights_halve_with_the_half_life() -> None:
    old = [replace(one, time=one.time - timedelta(days=30)) for one in points([0, 0])]
    new = [replace(one, time=old[0].time + timedelta(days=30)) for one in points([1, 1], prefix="d")]
    old = [replace(one, time=old[0].time) for one in old]
    made = update(None, old + new)
    assert [basin.weight for basin in made.basins] == pytest.approx([2 / 3, 1 / 3])
    assert ids(made) == [labels(made)["d0000"], labels(made)["c0000"]]


def test_drift_is_the_way_of_the_mean_direction() -> None:
    conversations = points([0, 0])
    before = update(None, conversations)
    after = update(before, conversations + points([1, 1], first_day=1, prefix="d"))
    assert after.drift == pytest.approx(1.0 - dot(before.mean, after.mean))
    assert (after.drift or 0.0) > 0.1
    assert unit(after.mean)[1] == pytest.approx(1.0)
    assert len(after.mean) == DIMENSION


def test_how_far_each_basin_moved_is_told() -> None:
    conversations = points([0, 0, 1, 1])
    before = update(None, conversations)
    after = update(before, [*conversations, point("d", between(theme(0), theme(2), 0.4), 9)])
    moved = {basin.id: basin.moved for basin in after.basins}
    assert moved[labels(after)["c0002"]] == pytest.approx(0.0)
    far = moved[labels(after)["c0000"]]
    assert far is not None
    assert far > 0.02
    (change,) = (change for change in after.changes if change.kind is ChangeKind.MOVED)
    assert change.basin == labels(after)["c0000"]
    assert change.distance == pytest.approx(far)
