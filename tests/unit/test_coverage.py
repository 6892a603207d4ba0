"""When overlays are due, over what, and which are refused (SPEC E-7, E-8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.kit.errors import StateConflict
from services.memory.episodic.domain.coverage import (
    KEPT_UNCOVERED,
    LEAST_COVERED,
    MOST_COVERED,
    CoverRules,
    Progress,
    check_new,
    foldable,
    goes_on,
    is_due,
    is_shown,
    must_cover,
    must_fold,
    next_range,
    uncovered,
)
from services.memory.episodic.domain.model import Fold, Overlay
from services.memory.episodic.domain.tree import Run, Tree
from tests.unit.window_paths import overlay

RULES = CoverRules(uncovered_messages=25, uncovered_tokens=None, fold_tokens=100)
TRUNK = Tree(2000)  # overlays of tests over depth n end at the sequence number 1000 + n


def progress(depth: int, *, covered: int = 0, requested: int = 0, tokens: int = 0) -> Progress:
    return Progress(depth=depth, tokens=tokens, covered=covered, covered_tokens=0, requested=requested)


@pytest.mark.parametrize(
    ("state", "due"),
    [
        (progress(25), False),
        (progress(26), True),
        (progress(46, covered=21), False),
        (progress(47, covered=21), True),
        (progress(27, requested=26), False),
        (progress(50, requested=26), False),
        (progress(51, requested=26), True),
        (progress(1000, covered=990, requested=1), False),
    ],
)
def test_more_than_25_uncovered_messages_make_a_job_due(state: Progress, due: bool) -> None:
    """E-8; asked for again only when as many more have come, for a job may be lost."""
    assert must_cover(state, RULES) is due


def test_tokens_count_where_a_threshold_is_set_and_there_is_enough_to_cover() -> None:
    rules = replace(RULES, uncovered_tokens=1000)
    assert must_cover(progress(8, tokens=1001), rules)
    assert not must_cover(progress(8, tokens=1000), rules)
    assert not must_cover(progress(7, tokens=1001), rules)
    assert not must_cover(progress(8, tokens=1001), RULES)
    assert not must_cover(replace(progress(8, tokens=1001), covered_tokens=1), rules)
    assert not must_cover(progress(9, tokens=1001, requested=8), rules)


def laid(ranges: Sequence[tuple[int, int]]) -> list[Overlay]:
    return [overlay(first, last, "s") for first, last in ranges]


@st.composite
def coverings(draw: st.DrawFn) -> tuple[int, list[Overlay]]:
    """The depth of a path, and overlays on it in any order."""
    depth = draw(st.integers(0, 200))
    ranges: list[tuple[int, int]] = []
    first = draw(st.integers(1, 80))
    while first <= depth and draw(st.booleans()):
        last = min(depth, first + draw(st.integers(0, 70)))
        ranges.append((first, last))
        first = last + 1 + draw(st.sampled_from([0, 1, 2, 3, 70]))
    return depth, draw(st.permutations(laid(ranges)))


closings = st.lists(st.tuples(st.integers(1, 150), st.integers(0, 90)), max_size=3).map(
    lambda found: [(first, first + more) for first, more in found]
)


def depths_under(overlays: Sequence[Overlay]) -> set[int]:
    return {depth for one in overlays for depth in range(one.from_depth, one.to_depth + 1)}


@settings(deadline=None)
@given(coverings())
def test_what_is_uncovered_is_under_no_overlay(case: tuple[int, list[Overlay]]) -> None:
    depth, overlays = case
    found = [d for first, last in uncovered(overlays, depth) for d in range(first, last + 1)]
    assert found == sorted(set(range(1, depth + 1)) - depths_under(overlays))
    assert all(first <= last for first, last in uncovered(overlays, depth))


@settings(deadline=None, max_examples=300)
@given(coverings(), closings)
def test_the_next_range_is_the_oldest_that_may_be_covered(
    case: tuple[int, list[Overlay]], closed: list[tuple[int, int]]
) -> None:
    """E-7: 3 to 60 neighbours under no overlay, none of the newest 5, not ending where it must not."""
    depth, overlays = case

    def may_end(last: int) -> bool:
        return last <= depth - KEPT_UNCOVERED and not any(a <= last <= b for a, b in closed)

    possible = [
        (first, last)
        for begin, end in uncovered(overlays, depth)
        for first in range(begin, end + 1)
        for last in range(first + LEAST_COVERED - 1, min(end, first + MOST_COVERED - 1) + 1)
        if may_end(last)
    ]
    chosen = next_range(overlays, depth, closed)
    if not possible:
        assert chosen is None
        return
    assert chosen in possible
    oldest = possible[0][0]
    assert chosen[0] == oldest
    if not closed:
        assert chosen == max(one for one in possible if one[0] == oldest)


def test_a_backlog_is_covered_step_by_step_until_the_newest_five_are_left() -> None:
    overlays: list[Overlay] = []
    ranges = []
    while (chosen := next_range(overlays, 130)) is not None:
        ranges.append(chosen)
        overlays += laid([chosen])
    assert ranges == [(1, 60), (61, 120), (121, 125)]


def test_a_window_makes_a_job_due_for_3_neighbours_between_head_and_tail() -> None:
    """E-7; what no job could cover makes none due."""
    assert is_due([], 20, 6)
    assert not is_due([], 20, 5)
    assert not is_due([], 7, 7)  # all but the newest five are too few
    assert is_due([], 8, 8)
    assert not is_due(laid([(1, 10)]), 20, 13)
    assert is_due(laid([(1, 10)]), 20, 14)
    assert is_due(laid([(1, 10), (13, 30)]), 50, 40)  # a gap of two hides nothing
    assert not is_due(laid([(1, 10), (13, 39)]), 50, 40)


def test_overlays_over_their_share_are_folded_if_there_are_several() -> None:
    """E-7."""
    sixty = replace(overlay(1, 3, "s"), token_count=60)
    forty = replace(overlay(4, 6, "s"), token_count=40)
    assert not must_fold([sixty, forty], RULES)
    assert must_fold([sixty, replace(forty, token_count=41)], RULES)
    assert not must_fold([replace(sixty, token_count=1000)], RULES)


def test_an_overlay_that_overlaps_another_of_its_path_is_refused() -> None:
    new = overlay(10, 20, "s")
    for first, last in ((1, 10), (20, 30), (12, 13), (10, 20), (1, 30)):
        with pytest.raises(StateConflict) as caught:
            check_new(new, laid([(first, last)]), [], TRUNK)
        assert [p.field for p in caught.value.fields] == ["from_message_id"]
    check_new(new, laid([(1, 9), (21, 30)]), [], TRUNK)


# Messages 1 to 1030; from 1016 on another branch, 1031 to 1045, of the depths 1016 to 1030.
FORKED = Tree(1045, [Run(first=1031, base=1015, depth=1015)])
ON_BRANCH = replace(overlay(10, 25, "s"), id="branch", to_sequence=1040)


def test_a_folded_overlay_is_shown_where_none_of_its_folds_ends() -> None:
    """E-7."""
    part = replace(
        overlay(10, 12, "s"), folds=(Fold(id="f", to_sequence=1020), Fold(id="branch", to_sequence=1040))
    )
    shown = {leaf for leaf in range(1001, 1046) if is_shown(part, FORKED, leaf)}
    assert shown == {*range(1012, 1020), *range(1031, 1040)}
    plain = replace(part, folds=())
    assert [is_shown(plain, FORKED, leaf) for leaf in (1011, 1012, 1030, 1045)] == [False, True, True, True]


def test_overlays_overlap_only_where_a_path_shows_both() -> None:
    """E-7: the path to the deeper of their last messages tells."""
    for last, meets in ((15, True), (16, False), (20, False)):
        other = overlay(10, last, "s")
        for new, old in ((ON_BRANCH, other), (other, ON_BRANCH)):
            if meets:
                with pytest.raises(StateConflict):
                    check_new(new, [old], [], FORKED)
            else:
                check_new(new, [old], [], FORKED)
    part = overlay(12, 13, "s")
    for end, meets in ((1020, True), (1040, False), (1041, True), (1035, False)):
        old = replace(part, folds=(Fold(id="f", to_sequence=end),))
        if meets:
            with pytest.raises(StateConflict):
                check_new(ON_BRANCH, [old], [], FORKED)
        else:
            check_new(ON_BRANCH, [old], [], FORKED)


def test_what_ends_beneath_another_branch_s_overlay_is_no_end_of_a_fold() -> None:
    overlays = laid([(1, 3), (4, 6), (7, 9), (10, 12)])
    found = foldable(overlays, [(4, 8)])
    assert [one.from_depth for one in found] == [1, 7, 10]
    assert foldable(overlays, []) == overlays
    assert foldable(overlays, [(3, 3), (1, 12)]) == []


def test_an_overlay_goes_on_while_what_was_asked_for_is_not_covered() -> None:
    """E-8."""

    def more(ranges: Sequence[tuple[int, int]], *, depth: int, requested: int) -> bool:
        overlays = laid(ranges)
        return goes_on(overlays[-1], overlays, progress(depth, requested=requested), [])

    assert more([(1, 60)], depth=200, requested=200)
    assert more([(1, 60), (61, 120), (121, 180)], depth=200, requested=200)
    assert not more([(1, 60), (61, 120), (121, 180), (181, 195)], depth=200, requested=200)
    assert more([(1, 10)], depth=40, requested=30)
    assert not more([(1, 25)], depth=40, requested=30)
    assert more([(1, 60)], depth=70, requested=0)
    assert not more([(1, 60)], depth=67, requested=0)
    assert not more([(1, 59)], depth=70, requested=0)


@pytest.mark.parametrize("folded", [[(10, 15)], [(10, 14), (16, 20)], [(9, 20)], [(10, 15), (16, 21)]])
def test_only_overlays_that_make_up_the_range_are_folded(folded: list[tuple[int, int]]) -> None:
    with pytest.raises(StateConflict):
        check_new(overlay(10, 20, "s"), [], laid(folded), TRUNK)
    parts = laid([(10, 15), (16, 20)])
    check_new(overlay(10, 20, "s"), parts, parts, TRUNK)


def test_what_its_path_does_not_show_is_not_folded() -> None:
    """E-7: what was folded there already, or lies on another branch; what was folded elsewhere is."""
    first, second = laid([(10, 15), (16, 25)])
    second = replace(second, to_sequence=1040)
    for end in (1040, 1031, 1015):
        folded = replace(first, folds=(Fold(id="o", to_sequence=end),))
        with pytest.raises(StateConflict):
            check_new(ON_BRANCH, [], [folded, second], FORKED)
    with pytest.raises(StateConflict):
        check_new(ON_BRANCH, [], [first, replace(second, to_sequence=1025)], FORKED)
    elsewhere = replace(first, folds=(Fold(id="o", to_sequence=1030),))
    check_new(ON_BRANCH, [elsewhere, second], [elsewhere, second], FORKED)
