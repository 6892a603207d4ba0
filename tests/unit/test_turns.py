"""What is kept of a turn (SPEC G-4, W-3, X-2)."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from services.gateway.domain.turns import (
    CUT,
    NOT_RUN,
    RESULT_CHARACTERS,
    TEXT_PART_BYTES,
    TEXT_PARTS,
    Call,
    Result,
    Round,
    TurnIds,
    own_id,
    readable,
    text_parts,
)

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


@settings(max_examples=100)
@given(st.text(max_size=128), st.text(max_size=128))
def test_a_request_id_of_any_characters_names_its_turn_alone(one: str, other: str) -> None:
    ids = TurnIds.of(one)
    names = [ids.turn, ids.user, ids.answer, ids.calls(1), ids.results(1), ids.calls(2)]
    assert all(re.fullmatch(r"[A-Za-z0-9._:-]{1,128}", name) for name in names)
    assert len(set(names)) == len(names)
    assert (TurnIds.of(other) == ids) == (one == other)


@settings(max_examples=50)
@given(TEXTS, st.integers(0, 3000))
def test_a_text_is_parted_without_loss(text: str, times: int) -> None:
    whole = text * times
    parts = text_parts(whole)
    assert "".join(parts) == whole
    assert all(0 < len(part.encode()) <= TEXT_PART_BYTES for part in parts)


def test_a_text_without_end_is_cut_and_says_so() -> None:
    parts = text_parts("ü" * TEXT_PART_BYTES * TEXT_PARTS)
    assert len(parts) == TEXT_PARTS
    assert parts[-1].endswith(CUT)
    assert all(len(part.encode()) <= TEXT_PART_BYTES for part in parts)


def test_results_are_short_and_can_be_stored() -> None:
    result = Result.of("x\0" * RESULT_CHARACTERS)
    assert len(result.content) == len(Result.of("y" * RESULT_CHARACTERS).content) == RESULT_CHARACTERS
    assert "\0" not in result.content
    assert Result.of("y" * (RESULT_CHARACTERS + 1)).content.endswith(CUT)
    assert result.preview.endswith(CUT)


def test_calls_of_a_turn_have_ids_of_their_own() -> None:
    taken: set[str] = set()
    for number in range(1, 4):
        for _ in range(2):
            made = own_id("call-1", number, taken)
            assert made not in taken
            taken.add(made)


def test_a_round_that_ends_early_says_what_was_not_run() -> None:
    calls = tuple(Call(call_id=name, name="look_up", arguments={}) for name in "ab")
    ended = Round(number=1, calls=calls).with_result(calls[0], Result.of("seen")).ended()
    assert ended.results["a"].content == "seen"
    assert (ended.results["b"].content, ended.results["b"].is_error) == (NOT_RUN, True)


def test_arguments_that_are_too_long_are_none() -> None:
    assert readable({"word": "x" * 40_000}) is None
    assert readable({"word": "x"}) == {"word": "x"}
    assert readable(None) is None
