"""How layers share a budget (SPEC G-1, G-2)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.gateway.domain.prompt import (
    Fact,
    Ingredients,
    Layer,
    LayerKind,
    Prompt,
    Speaker,
    Turn,
    assemble,
    history_layer,
    message_text,
    shares,
    system_text,
)
from services.kit.errors import BudgetTooSmall
from services.kit.tokens import estimate_tokens

START = datetime(2026, 3, 1, 9, tzinfo=UTC)
EMPTY = Ingredients(
    system_prompt="", message="hi", author="", facts=(), history=(), head=0, omitted=0, older=(), memories=()
)
words = st.one_of(
    st.integers(1, 400).map(lambda n: "word " * n),
    st.integers(1, 200).map(lambda n: "茶" * n),
    st.integers(1, 100).map(lambda n: '{"a": []}' * n),
)


def said(number: int, text: str, role: Speaker = Speaker.USER, **fields: int) -> Turn:
    return Turn(
        conversation_id="c",
        message_id=f"m{number}",
        role=role,
        author="",
        time=START + timedelta(minutes=number),
        text=text,
        **fields,  # type: ignore[arg-type]
    )


def known(number: int, value: str) -> Fact:
    return Fact(id=f"f{number}", kind="fact", key=f"k{number}", value=value, created=START)


def layer(prompt: Prompt, kind: LayerKind) -> Layer:
    (found,) = [one for one in prompt.layers if one.kind is kind]
    return found


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
        history=tuple(turns[draw(st.integers(0, 3)) :]),
        head=draw(st.integers(0, 14)),
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
        apart = estimate_tokens(system) + estimate_tokens(new) + 4
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


def test_a_message_that_history_shows_after_all_is_not_retrieved_too() -> None:
    """What retrieval leaves goes to history; the turn that thereby fits must not be shown twice."""
    sizes = [3, 30, 3, 3, 60, 3, 60, 10, 60]
    turns = [said(n, "word " * size) for n, size in enumerate(sizes)]
    older = tuple(turns[n] for n in (7, 3, 5, 4, 6, 2))
    for budget in range(200, 700):
        prompt = assemble(replace(EMPTY, history=tuple(turns), older=older), budget)
        history = {turn.message_id for turn in layer(prompt, LayerKind.HISTORY).turns}
        retrieved = {turn.message_id for turn in layer(prompt, LayerKind.RETRIEVED).turns}
        assert history
        assert not history & retrieved, budget


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
    assert split.rest == 8000 - estimate_tokens(system_text("")) - estimate_tokens(message_text("", "hi")) - 4
    assert (split.facts, split.retrieved) == (int(split.rest * 0.15), int(split.rest * 0.15))


@pytest.mark.parametrize("count", [0, 1, 5])
def test_a_layer_without_content_leaves_its_share_to_history(count: int) -> None:
    history = tuple(said(n, "word " * 20) for n in range(300))
    facts = tuple(known(n, "word " * 40) for n in range(count))
    prompt = assemble(replace(EMPTY, history=history, facts=facts), 4000)
    assert 3940 <= prompt.tokens <= 4000, "but for a part of a turn the budget is used"
    assert len(layer(prompt, LayerKind.FACTS).memory_ids) == count


def test_facts_and_retrieval_keep_to_their_shares_however_much_there_is() -> None:
    """Positive control: both are there, and history keeps at least its own share."""
    facts = tuple(known(n, "word " * 40) for n in range(60))
    parts = replace(
        EMPTY,
        facts=facts[:30],
        memories=facts[30:],
        older=tuple(said(500 + n, "word " * 40) for n in range(9)),
        history=tuple(said(n, "word " * 20) for n in range(300)),
    )
    prompt = assemble(parts, 4000)
    split = shares("", "", "hi", 4000)
    assert 0 < layer(prompt, LayerKind.FACTS).tokens <= split.facts
    assert 0 < layer(prompt, LayerKind.RETRIEVED).tokens <= split.retrieved
    assert len(layer(prompt, LayerKind.RETRIEVED).turns) == 3
    assert layer(prompt, LayerKind.HISTORY).tokens >= int(0.6 * split.rest)


def test_history_gives_way_behind_the_head_and_the_newest_stays_longest() -> None:
    turns = [said(n, "word " * 20) for n in range(6)]
    size = history_layer(turns[:1], 0, 0, 1000).tokens
    seen = []
    for budget in range(6 * size + 80, 0, -1):
        made = history_layer(turns, 2, 7, budget)
        assert made.tokens <= budget
        assert made.omitted == 7 + 6 - len(made.turns)
        assert sum(turn.omitted_before for turn in made.turns) == (6 - len(made.turns) if made.turns else 0)
        kept = "".join(turn.message_id[1:] for turn in made.turns)
        if kept not in seen:
            seen.append(kept)
    assert seen == ["012345", "01345", "0145", "015", "05", "5", ""]


def test_a_gap_that_was_there_grows() -> None:
    turns = [said(0, "first"), said(1, "word " * 50, omitted_before=10), said(2, "newest")]
    made = history_layer(turns, 1, 10, 40)
    assert [turn.message_id for turn in made.turns] == ["m0", "m2"]
    assert made.turns[1].omitted_before == made.omitted == 11
    assert "⟦11 messages not shown⟧" in made.text


def test_a_long_history_is_cut_without_writing_it_out_for_every_turn() -> None:
    """Twenty thousand turns of which a few fit; were each left out one by one, this would take minutes."""
    turns = tuple(said(n, "word " * 40) for n in range(20_000))
    made = history_layer(turns, 2, 0, 1000)
    assert made.turns[0].message_id == "m0"
    assert made.turns[-1].message_id == "m19999"
    assert made.omitted + len(made.turns) == 20_000


def test_the_assistant_first_gets_a_users_line_before_it() -> None:
    prompt = assemble(replace(EMPTY, history=(said(0, "Welcome!", Speaker.ASSISTANT),)), 2000)
    assert [one.role for one in prompt.anthropic] == [Speaker.USER, Speaker.ASSISTANT, Speaker.USER]
    assert [one.role for one in prompt.openai] == [Speaker.SYSTEM, Speaker.ASSISTANT, Speaker.USER]
