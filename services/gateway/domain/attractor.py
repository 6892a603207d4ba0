"""The attractor in the prompt's layer of facts (SPEC G-1, J-12). Pure.

The heaviest themes are chosen; they are written in the order in which they were born, without figures, so
that the text stays the same from turn to turn until a theme comes, goes or is called otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from services.gateway.domain.layers import facts_layer, one_line
from services.gateway.domain.parts import Fact, Layer
from services.gateway.domain.themes import Theme
from services.kit.fences import fenced
from services.kit.tokens import estimate_tokens

ATTRACTOR_TITLE = "themes of this agent's conversations"
SHOWN_THEMES = 5
ATTRACTOR_SHARE = 0.2  # of the layer's budget
LEAST_WEIGHT = 0.05
"""Themes of a smaller share of the visits are not shown."""


def attractor_text(themes: Sequence[Theme], budget: int) -> str:
    """As many of the heaviest themes as fit into so many tokens; "" for none."""
    told = [theme for theme in themes if theme.weight >= LEAST_WEIGHT and theme.title.strip()]
    told.sort(key=lambda theme: (-theme.weight, _birth(theme)))
    chosen: list[Theme] = []
    for theme in told[:SHOWN_THEMES]:
        if estimate_tokens(_text([*chosen, theme])) <= budget:
            chosen.append(theme)
    return _text(sorted(chosen, key=_birth))


def facts_with_attractor(facts: Sequence[Fact], themes: Sequence[Theme], budget: int) -> Layer:
    """The layer of facts, begun by the attractor where there is one; never over budget."""
    told = attractor_text(themes, int(budget * ATTRACTOR_SHARE))
    if not told:
        return facts_layer(facts, budget)
    # One token more for the line break between the two; estimates of parts add up to no less than the whole.
    layer = facts_layer(facts, budget - estimate_tokens(told) - 1)
    text = f"{told}\n{layer.text}" if layer.text else told
    return replace(layer, text=text, budget=budget)


def _text(themes: Sequence[Theme]) -> str:
    lines = [f"- {one_line(theme.title)}" for theme in themes]
    return fenced(ATTRACTOR_TITLE, "\n".join(lines)) if lines else ""


def _birth(theme: Theme) -> tuple[int, str]:
    """Ids are numbered: "b9" was born before "b10"."""
    return len(theme.id), theme.id
