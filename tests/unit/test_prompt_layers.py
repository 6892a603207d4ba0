"""How layers share a budget (SPEC G-1, G-2)."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.gateway.domain.history import Window, history_layer
from services.gateway.domain.parts import Ingredients, LayerKind, Speaker, Working
from services.gateway.domain.prompt import assemble, message_text, shares, standing_layers, system_text
from services.kit.errors import BudgetTooSmall
from services.kit.tokens import estimate_tokens
from tests.unit.prompt_parts import EMPTY, history, known, layer, overlay, said

words = st.one_of(
    st.integers(1, 400).map(lambda n: "word " * n),
    st.integers(1, 200).map(lambda n: "茶" * n),
    st.integers(1, 100).map(lambda n: '{"a": []}' * n),
)


@st.composite
def ingredients(draw: st.DrawFn) -> Ingredients:
    """Older messages are often those that the history shows too."""
    texts = draw(st.lists(words, max_size=12))
    turns = [said(n, text, draw(st.sampled_from(Speaker))) for n, text in enumerate(texts)]
    facts = [known(n, text) for n, text in enumerate(draw(st.lists(words, max_size=5)))]
    return replace(
        EMPTY,
        message=draw(words),
        facts=tuple(facts[:2]),
        working=Working(notes=draw(st.sampled_from(["", "a note", "茶" * 999])), task=draw(words)),
        history=history(turns[draw(st.integers(0, 3)) :], draw(st.integers(0, 14))),
        older=tuple(draw(st.permutations(turns))),
        memories=tuple(facts),
    )


@settings(max_examples=300, deadline=None)
@given(ingredients(), st.integers(100, 4000))
def test_whatever_the_scripts_it_fits_or_says_that_it_cannot(parts: Ingredients, budget: int) -> None:
    """The estimate of a whole is not the sum of its parts' estimates: scripts differ in their rate."""
    try:
        prompt = assemble(parts, budget)
    except BudgetTooSmall:
        system, new = system_text(""), message_text("", parts.message)
        apart = estimate_tokens(system) + estimate_tokens(new) + 5
        assert max(apart, estimate_tokens(f"{system}\n\n{new}")) > budget
        return
    assert prompt.tokens == estimate_tokens(prompt.text) <= budget
    assert layer(prompt, LayerKind.MESSAGE).text.endswith(parts.message)
    assert prompt.openai[-1].content.endswith(parts.message)
    for one in prompt.layers:
        assert one.tokens <= one.budget
    assert len(layer(prompt, LayerKind.RETRIEVED).turns) <= 3
    places = [turn.message_id for one in prompt.layers for turn in one.turns]
    places += [memory_id for one in prompt.layers for memory_id in one.memory_ids]
    assert len(places) == len(set(places))
    roles = [one.role for one in prompt.anthropic]
    assert roles[0] is Speaker.USER
    assert all(a is not b for a, b in pairwise(roles))
    assert assemble(parts, budget) == prompt


@settings(max_examples=100, deadline=None)
@given(ingredients(), st.integers(100, 4000))
def test_what_was_made_ahead_makes_the_same_prompt(parts: Ingredients, budget: int) -> None:
    """G-1: layers and window that were written while recall was busy, and again for the next budget."""
    window = Window(parts.history)
    for each in (budget, budget // 2, budget):
        try:
            prompt = assemble(parts, each)
        except BudgetTooSmall:
            continue
        split = shares(parts.system_prompt, parts.author, parts.message, each)
        ahead = standing_layers(parts, split)
        assert assemble(parts, each, standing=ahead, window=window) == prompt


def test_a_message_that_history_shows_after_all_is_not_retrieved_too() -> None:
    """What retrieval leaves goes to history; the turn that thereby fits must not be shown twice."""
    sizes = [3, 30, 3, 3, 60, 3, 60, 10, 60]
    turns = [said(n, "word " * size) for n, size in enumerate(sizes)]
    older = tuple(turns[n] for n in (7, 3, 5, 4, 6, 2))
    for budget in range(200, 700):
        prompt = assemble(replace(EMPTY, history=history(turns), older=older), budget)
        shown = {turn.message_id for turn in layer(prompt, LayerKind.HISTORY).turns}
        retrieved = {turn.message_id for turn in layer(prompt, LayerKind.RETRIEVED).turns}
        assert shown
        assert not shown & retrieved, budget


def test_what_must_be_whole_is_refused_one_token_below() -> None:
    """Each share is nothing at the least budget, and there is none below it."""
    need = 100
    while True:
        try:
            shares("You are Ada.", "Ann", "word " * 50, need)
            break
        except BudgetTooSmall:
            need += 1
    assert assemble(replace(EMPTY, system_prompt="You are Ada.", message="word " * 50), need + 1)
    with pytest.raises(BudgetTooSmall, match=r"system prompt takes \d+ tokens and the message"):
        shares("You are Ada.", "Ann", "word " * 50, need - 1)


def test_shares_are_of_what_the_whole_parts_leave() -> None:
    split = shares("", "", "hi", 8000)
    assert split.rest == 8000 - estimate_tokens(system_text("")) - estimate_tokens(message_text("", "hi")) - 5
    assert (split.facts, split.retrieved) == (int(split.rest * 0.15), int(split.rest * 0.15))
    assert split.working == int(split.rest * 0.10)


@pytest.mark.parametrize("count", [0, 1, 5])
def test_a_layer_without_content_leaves_its_share_to_history(count: int) -> None:
    window = history([said(n, "word " * 20) for n in range(300)])
    facts = tuple(known(n, "word " * 40) for n in range(count))
    prompt = assemble(replace(EMPTY, history=window, facts=facts), 4000)
    assert 3880 <= prompt.tokens <= 4000, "but for a step and a part of a turn the budget is used"
    assert len(layer(prompt, LayerKind.FACTS).memory_ids) == count


def test_facts_working_memory_and_retrieval_keep_to_their_shares_however_much_there_is() -> None:
    """Positive control: both are there, and history keeps at least its own share."""
    facts = tuple(known(n, "word " * 40) for n in range(60))
    parts = replace(
        EMPTY,
        facts=facts[:30],
        memories=facts[30:],
        older=tuple(said(500 + n, "word " * 40) for n in range(9)),
        working=Working(notes="word " * 900, task="word " * 90),
        history=history([said(n, "word " * 20) for n in range(300)]),
    )
    prompt = assemble(parts, 4000)
    split = shares("", "", "hi", 4000)
    assert 0 < layer(prompt, LayerKind.FACTS).tokens <= split.facts
    assert 0 < layer(prompt, LayerKind.RETRIEVED).tokens <= split.retrieved
    assert 0 < layer(prompt, LayerKind.WORKING).tokens <= split.working
    assert len(layer(prompt, LayerKind.RETRIEVED).turns) == 3
    assert layer(prompt, LayerKind.HISTORY).tokens >= int(0.6 * split.usual)


def gaps(text: str) -> list[int]:
    """How many messages each line says that are not shown."""
    return [int(line.split()[0][1:]) for line in text.splitlines() if line.endswith(" not shown⟧")]


def test_history_gives_way_behind_the_head_and_the_newest_stays_longest() -> None:
    """Seven messages that the window left out lie between head and tail."""
    turns = [said(n, "word " * 20, depth=n + 1 if n < 2 else n + 8) for n in range(6)]
    size = history_layer(history(turns[:1]), 1000).tokens
    seen = []
    for budget in range(6 * size + 80, 0, -1):
        made = history_layer(history(turns, 2), budget)
        assert made.tokens <= budget
        assert made.omitted == 7 + 6 - len(made.turns)
        assert sum(gaps(made.text)) == (made.omitted if made.turns else 0)
        kept = "".join(turn.message_id[1:] for turn in made.turns)
        if kept not in seen:
            seen.append(kept)
    assert seen == ["012345", "01345", "0145", "015", "05", "5", ""]


def test_overlays_stand_between_head_and_tail_and_give_way_after_the_tail() -> None:
    """E-5: of the overlays the oldest goes first; what was under it then counts as left out."""
    turns = [said(n, "word " * 20, depth=n + 1 if n < 2 else n + 21) for n in range(6)]
    window = history(turns, 2, [overlay(3, 12, "word " * 30), overlay(14, 22, "word " * 30)])
    whole = history_layer(window, 10_000)
    assert (whole.overlay_ids, whole.omitted, gaps(whole.text)) == (("o3-12", "o14-22"), 1, [1])
    lines = [line for line in whole.text.splitlines() if line.startswith(("⟦user", "⟦data"))]
    assert [line.split(",")[0] for line in lines] == [
        *["⟦user"] * 2,
        "⟦data: summary of messages 3 to 12⟧",
        "⟦data: summary of messages 14 to 22⟧",
        *["⟦user"] * 4,
    ]
    seen = []
    for budget in range(whole.tokens, 0, -1):
        made = history_layer(window, budget)
        covered = {"o3-12": 10, "o14-22": 9}
        accounted = len(made.turns) + sum(covered[one] for one in made.overlay_ids)
        assert made.omitted == window.depth - accounted
        assert not made.turns or sum(gaps(made.text)) == made.omitted
        kept = f"{len(made.overlay_ids)} {''.join(turn.message_id[1:] for turn in made.turns)}"
        if kept not in seen:
            seen.append(kept)
    assert seen == ["2 012345", "2 01345", "2 0145", "2 015", "1 015", "0 015", "0 05", "0 5", "0 "]


def test_in_message_lists_overlays_stand_where_they_belong_as_the_users() -> None:
    turns = [said(0, "first"), said(9, "newest", Speaker.ASSISTANT)]
    prompt = assemble(replace(EMPTY, history=history(turns, 1, [overlay(2, 9, "they met")])), 2000)
    summary = "⟦data: summary of messages 2 to 9⟧\nthey met\n⟦/data⟧"
    assert [one.content for one in prompt.openai[1:]] == ["first", summary, "newest", "hi"]
    assert prompt.openai[2].role is Speaker.USER
    assert [one.content for one in prompt.anthropic] == [f"first\n\n{summary}", "newest", "hi"]


def test_an_overlay_of_one_message_says_so() -> None:
    made = history_layer(history([said(0, "first"), said(2, "newest")], 1, [overlay(2, 2)]), 1000)
    assert "⟦data: summary of message 2⟧" in made.text
    assert gaps(made.text) == []


def test_a_tools_results_leave_with_their_call() -> None:
    """E-5: an exchange goes as a whole; the newest message alone stays whatever it is."""
    roles = [Speaker.USER, Speaker.ASSISTANT, Speaker.TOOL, Speaker.TOOL, Speaker.USER, Speaker.TOOL]
    window = history([said(n, "word " * 20, role) for n, role in enumerate(roles)])
    seen = []
    for budget in range(history_layer(window, 10_000).tokens, 40, -1):
        kept = "".join(turn.message_id[1:] for turn in history_layer(window, budget).turns)
        if kept not in seen:
            seen.append(kept)
    assert seen == ["012345", "12345", "45", "5"]


def test_a_long_history_is_cut_without_writing_it_out_for_every_turn() -> None:
    """Twenty thousand turns of which a few fit; were each left out one by one, this would take minutes."""
    turns = [said(n, "word " * 40) for n in range(20_000)]
    made = history_layer(history(turns, 2), 1000)
    assert made.turns[0].message_id == "m0"
    assert made.turns[-1].message_id == "m19999"
    assert made.omitted + len(made.turns) == 20_000


def test_the_assistant_first_gets_a_users_line_before_it() -> None:
    prompt = assemble(replace(EMPTY, history=history([said(0, "Welcome!", Speaker.ASSISTANT)])), 2000)
    assert [one.role for one in prompt.anthropic] == [Speaker.USER, Speaker.ASSISTANT, Speaker.USER]
    assert [one.role for one in prompt.openai] == [Speaker.SYSTEM, Speaker.ASSISTANT, Speaker.USER]
