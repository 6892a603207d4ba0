"""The parts of a text in which passages are scored (SPEC J-8)."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.compactor.domain.extraction.facts import MOST_TEXT, Turn
from services.compactor.domain.extraction.reading.passages import Passage, heard
from services.compactor.domain.extraction.reading.spans import Form
from services.compactor.domain.extraction.reading.windows import MOST_CHARACTERS, Window, windows
from services.kit.fences import fenced
from tests.unit.extracting_parts import SAID


def turn(text: str) -> Turn:
    return Turn(author="Kim", text=text, said=SAID)


def passage(start: int, end: int) -> Passage:
    return Passage(start=start, end=end, form=Form.SPEAKER, asked=False, support=0, facts=())


def parts(text: str, found: list[Passage]) -> list[Window]:
    """The windows of a text for passages that are given."""
    return windows(replace(heard(turn(text)), passages=found))


def sentences(lengths: list[int], between: str) -> tuple[str, list[Passage]]:
    """A text of sentences of lengths, each of them a passage."""
    text, found = "", []
    for length in lengths:
        found.append(passage(len(text), len(text) + length))
        text += "x" * (length - 1) + "." + between
    return text, found


@given(
    st.lists(st.integers(2, 900), min_size=1, max_size=30), st.sampled_from([" ", "  ", "\n", "\n\n", " \n"])
)
def test_every_sentence_is_in_one_window_of_a_bounded_length(lengths: list[int], between: str) -> None:
    text, found = sentences(lengths, between)
    made = parts(text, found)
    assert [place for one in made for place in one.passages] == list(range(len(lengths)))
    for one in made:
        assert text[one.start : one.start + len(one.text)] == one.text
        assert len(one.text) <= MOST_CHARACTERS or len(one.passages) == 1
        for place in one.passages:
            assert one.start <= found[place].start < found[place].end <= one.start + len(one.text)


@given(st.lists(st.integers(2, 300), min_size=1, max_size=30))
def test_windows_are_as_long_as_they_may_be(lengths: list[int]) -> None:
    text, found = sentences(lengths, " ")
    for one, following in pairwise(parts(text, found)):
        first = lengths[following.passages[0]] + 1
        assert len(one.text) + first > MOST_CHARACTERS


def test_the_passages_of_a_long_message_are_all_in_a_window() -> None:
    text = "".join(f"I met Ann{n} in Oslo on Monday. My sister sings, he's {n}! " for n in range(60))
    found = heard(turn(text)).passages
    made = parts(text, found)
    assert len(made) > 3
    assert sorted(place for one in made for place in one.passages) == list(range(len(found)))


@pytest.mark.parametrize("text", ["", "No. " * 500, "\0"])
def test_without_passages_there_are_no_windows(text: str) -> None:
    assert parts(text, []) == []


def test_a_part_without_passages_is_left_out() -> None:
    text, found = sentences([600] * 5, " ")
    made = parts(text, [found[3]])
    assert made == [Window(start=found[3].start, text=text[found[3].start : found[4].start], passages=(0,))]


def test_a_passage_that_no_window_holds_whole_is_not_scored() -> None:
    text, found = sentences([600, 600], " ")
    across = passage(found[0].start, found[1].end)
    assert [one.passages for one in parts(text, [across, *found])] == [(1,), (2,)]


def test_what_is_somebody_elses_is_blank_in_a_window() -> None:
    """G-3: and moves nothing."""
    text = f'Ann said "I love tea". {fenced("note", "I hate you.")} I live in Oslo.'
    begin = text.index("I live")
    [made] = parts(text, [passage(begin, len(text) - 1)])
    assert made.text[begin - made.start :] == "I live in Oslo."
    assert not {"tea", "hate"} & set(made.text.replace(".", " ").split())
    assert "\0" not in made.text


def test_what_comes_after_the_bound_of_a_message_is_left() -> None:
    text = "So. " * (MOST_TEXT // 4) + "I live in Oslo."
    beyond, within = passage(MOST_TEXT, MOST_TEXT + 14), passage(MOST_TEXT - 4, MOST_TEXT - 1)
    assert [one.passages for one in parts(text, [beyond, within])] == [(1,)]
