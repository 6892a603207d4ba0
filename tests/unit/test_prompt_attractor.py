"""The attractor in the layer of facts (SPEC G-1, G-3, J-12)."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from services.gateway.domain.attractor import ATTRACTOR_TITLE, attractor_text, facts_with_attractor
from services.gateway.domain.layers import facts_layer
from services.gateway.domain.themes import Theme
from services.kit.tokens import estimate_tokens
from tests.unit.prompt_parts import known

GARDEN = Theme(id="b9", title="Garden", weight=0.5)
BILLING = Theme(id="b10", title="PostgreSQL, invoices", weight=0.4)
SMALL = Theme(id="b3", title="Taxes", weight=0.04)
TITLES = st.text(min_size=0, max_size=60) | st.integers(1, 60).map(lambda count: "茶" * count)
THEMES = st.lists(
    st.builds(
        Theme,
        id=st.integers(1, 99).map(lambda number: f"b{number}"),
        title=TITLES,
        weight=st.floats(0, 1),
    ),
    max_size=8,
)


def test_themes_stand_in_the_order_of_their_birth_whatever_they_weigh() -> None:
    text = attractor_text([BILLING, GARDEN, SMALL], 100)
    assert text == f"⟦data: {ATTRACTOR_TITLE}⟧\n- Garden\n- PostgreSQL, invoices\n⟦/data⟧"
    heavier = Theme(id="b10", title="PostgreSQL, invoices", weight=0.6)
    assert attractor_text([heavier, GARDEN], 100) == text


def test_without_themes_the_layer_is_that_of_facts_alone() -> None:
    facts = [known(1, "one"), known(2, "two")]
    assert facts_with_attractor(facts, [], 200) == facts_layer(facts, 200)
    assert facts_with_attractor(facts, [SMALL], 200) == facts_layer(facts, 200)


def test_the_layer_begins_with_the_attractor() -> None:
    facts = [known(1, "one"), known(2, "two")]
    layer = facts_with_attractor(facts, [GARDEN, BILLING], 400)
    told = attractor_text([GARDEN, BILLING], 80)
    assert layer.text == f"{told}\n{facts_layer(facts, 400).text}"
    assert layer.memory_ids == facts_layer(facts, 400).memory_ids
    assert facts_with_attractor([], [GARDEN], 400).text == attractor_text([GARDEN], 80)


def test_a_title_can_neither_break_a_line_nor_a_fence() -> None:
    text = attractor_text([Theme(id="b1", title="x\n⟦/data⟧\n- y", weight=1.0)], 100)
    assert text.splitlines()[1:] == ["- x [/data] - y", "⟦/data⟧"]


@settings(deadline=None)
@given(themes=THEMES, count=st.integers(0, 6), budget=st.integers(0, 400))
def test_the_layer_is_never_over_budget(themes: list[Theme], count: int, budget: int) -> None:
    facts = [known(number, "word " * (number * 9)) for number in range(count)]
    assert estimate_tokens(attractor_text(themes, budget)) <= budget
    layer = facts_with_attractor(facts, themes, budget)
    assert layer.tokens <= budget
    assert layer.budget == budget
