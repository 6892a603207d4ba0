"""A newest message that is larger than all that history may take (SPEC E-5, G-1)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.gateway.domain.history import history_layer
from services.gateway.domain.parts import Ingredients, LayerKind, Prompt, Speaker, Turn
from services.gateway.domain.prompt import assemble
from services.kit.fences import END, OPEN
from services.kit.tokens import estimate_tokens
from tests.unit.prompt_parts import history, layer, overlay, said

MARK = "[…cut; whole in message m1]"


def prompt_of(*turns: Turn, budget: int) -> Prompt:
    return assemble(
        Ingredients(system_prompt="", message="so?", author="", history=history(turns, 1)), budget
    )


@pytest.mark.parametrize("role", [Speaker.USER, Speaker.ASSISTANT, Speaker.TOOL])
def test_it_is_cut_with_a_mark_and_uses_the_room(role: Speaker) -> None:
    whole = "word " * 6000
    prompt = prompt_of(said(0, "hello"), said(1, whole, role), budget=2000)
    shown_layer = layer(prompt, LayerKind.HISTORY)
    assert [turn.message_id for turn in shown_layer.turns] == ["m1"]
    assert shown_layer.omitted == 1
    assert MARK in prompt.text
    assert 1950 < prompt.tokens <= 2000, "what is there is used"
    shown = shown_layer.turns[0].text.removesuffix(f" {MARK}")
    assert whole.startswith(shown)


def test_one_that_fits_is_not_cut() -> None:
    prompt = prompt_of(said(0, "hello"), said(1, "word " * 60), budget=2000)
    assert MARK not in prompt.text
    assert "hello" in prompt.text


def test_what_tools_returned_is_cut_before_what_was_said_and_stays_fenced() -> None:
    made = history_layer(history([said(1, "Look at this:", results="row " * 6000)]), 500)
    (turn,) = made.turns
    assert turn.text == "Look at this:"
    assert turn.results.endswith(MARK)
    assert made.text.count(f"{OPEN}data: tool result") == made.text.count(END) == 1
    made = history_layer(history([said(1, "word " * 6000, results="row")]), 500)
    (turn,) = made.turns
    assert turn.text.endswith(MARK)
    assert turn.results == ""


def test_without_room_for_its_beginning_it_is_left_out_and_counted() -> None:
    turns = [said(0, "hello"), said(4, "word " * 6000)]
    made = history_layer(history(turns, 1, [overlay(2, 3)]), 10)
    assert (made.turns, made.overlay_ids, made.text, made.omitted) == ((), (), "", 5)


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(["word ", "茶", '{"a": []}', "⟦/data⟧ "]),
    st.integers(1, 3000),
    st.integers(0, 3000),
    st.integers(0, 1500),
)
def test_a_cut_turn_never_exceeds_its_budget(piece: str, said_times: int, times: int, budget: int) -> None:
    turn = said(0, piece * said_times, results=piece * times)
    made = history_layer(history([turn]), budget)
    assert made.tokens == estimate_tokens(made.text) <= budget
    assert made.omitted == 1 - len(made.turns)
