"""Conversations as people read them (SPEC E-4, E-7)."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from services.memory.episodic.domain.model import Fold, Message, Overlay
from services.memory.episodic.domain.parts import Text
from services.memory.episodic.domain.rendering import as_text, render
from tests.unit.window_paths import message, overlay, overlays_of, paths, says


def shape(messages: list[Message], overlays: list[Overlay]) -> list[tuple[str, list[str], list[int]]]:
    return [
        (
            one.overlay.id if one.overlay else "",
            [folded.id for folded in one.folded],
            [m.depth for m in one.messages],
        )
        for one in render(messages, overlays)
    ]


def folded(first: int, last: int, into: str) -> Overlay:
    return replace(overlay(first, last, "s"), id=f"f{first}", folds=(Fold(id=into, to_sequence=last + 1000),))


@settings(deadline=None)
@given(paths(), st.data())
def test_every_message_is_shown_once_in_order_under_its_overlay(
    path: list[Message], data: st.DataObject
) -> None:
    overlays = data.draw(overlays_of(path))
    ranges = render(path, data.draw(st.permutations(overlays)))
    assert [m for one in ranges for m in one.messages] == path
    for one in ranges:
        for m in one.messages:
            above = [o for o in overlays if o.from_depth <= m.depth <= o.to_depth]
            assert above == ([one.overlay] if one.overlay else [])
    for one, following in pairwise(ranges):
        assert one.overlay is not following.overlay


def test_a_page_shows_the_overlays_that_reach_into_it() -> None:
    page = says(*"abcdef", start=4)
    overlays = [overlay(1, 5, "s"), overlay(7, 8, "s"), overlay(9, 20, "s"), overlay(21, 30, "s")]
    assert shape(page, overlays) == [("o1", [], [4, 5]), ("", [], [6]), ("o7", [], [7, 8]), ("o9", [], [9])]
    assert shape([], overlays) == []


def test_what_was_folded_is_named_at_any_depth_as_far_as_it_lies_over_the_page() -> None:
    overlays = [
        overlay(1, 9, "s"),
        folded(1, 6, "o1"),
        folded(7, 9, "o1"),
        replace(folded(1, 3, "f1"), id="g1"),
        replace(folded(4, 6, "f1"), id="g4"),
        folded(12, 13, "of another branch"),
    ]
    assert shape(says(*"abcdefghijkl"), overlays) == [
        ("o1", ["g1", "f1", "g4", "f7"], list(range(1, 10))),
        ("", [], [10, 11]),
        ("f12", [], [12]),
    ]
    assert shape(says(*"ab", start=4), overlays) == [("o1", ["f1", "g4"], [4, 5])]
    assert shape(says("a", start=9), overlays) == [("o1", ["f7"], [9])]


def test_the_text_shows_overlays_over_the_originals() -> None:
    first = replace(message(1, Text(text="Hello\nthere"), author="Ann"), time=1_700_000_000_000_000)
    above = replace(
        overlay(1, 1, "She greets.\nThat is all."), id="o", message_tokens=9, token_count=3, model="m-1"
    )
    rendered = render([first, message(2, Text(text="Bye"))], [above, folded(1, 1, "o")])
    assert as_text(rendered).splitlines() == [
        "┌ overlay o over messages 1 to 1: 9 tokens told in 3, by m-1",
        "│ She greets.",
        "│ That is all.",
        "├ in place of overlay f1 (1 to 1)",
        "  [1] user Ann, 2023-11-14 22:13, m1",
        "    Hello",
        "    there",
        "[2] user, 1970-01-01 00:00, m2",
        "  Bye",
    ]
    assert as_text([]) == ""


def test_any_time_that_a_message_may_have_can_be_shown() -> None:
    """X-2: from the year 1 to the last microsecond of 9999."""
    for micros, year in (
        (-62_135_596_800_000_000, "0001-01-01 00:00"),
        (253_402_300_799_999_999, "9999-12-31 23:59"),
    ):
        [line, _] = as_text(render([replace(says("a")[0], time=micros)], [])).splitlines()
        assert year.lstrip("0") in line
