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
    is_due,
    must_cover,
    must_fold,
    next_range,
    uncovered,
)
from services.memory.episodic.domain.model import Overlay
from tests.unit.window_paths import overlay

RULES = CoverRules(uncovered_messages=25, uncovered_tokens=None, fold_tokens=100)


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
            check_new(new, laid([(first, last)]), [])
        assert [p.field for p in caught.value.fields] == ["from_message_id"]
    check_new(new, laid([(1, 9), (21, 30)]), [])


@pytest.mark.parametrize("folded", [[(10, 15)], [(10, 14), (16, 20)], [(9, 20)], [(10, 15), (16, 21)]])
def test_only_overlays_that_make_up_the_range_are_folded(folded: list[tuple[int, int]]) -> None:
    with pytest.raises(StateConflict):
        check_new(overlay(10, 20, "s"), [], laid(folded))
    check_new(overlay(10, 20, "s"), [], laid([(10, 15), (16, 20)]))


def test_what_was_folded_already_is_not_folded_again() -> None:
    folded = laid([(10, 15), (16, 20)])
    with pytest.raises(StateConflict):
        check_new(overlay(10, 20, "s"), [], [folded[0], replace(folded[1], superseded_by="o")])
