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
from services.kit.tokens import TokenCounter, estimate_tokens

ATTRACTOR_TITLE = "themes of this agent's conversations"
SHOWN_THEMES = 5
ATTRACTOR_SHARE = 0.2  # of the layer's budget
LEAST_WEIGHT = 0.05
"""Themes of a smaller share of the visits are not shown."""


def attractor_text(themes: Sequence[Theme], budget: int, *, count: TokenCounter = estimate_tokens) -> str:
    """As many of the heaviest themes as fit into so many tokens; "" for none."""
    told = [theme for theme in themes if theme.weight >= LEAST_WEIGHT and theme.title.strip()]
    told.sort(key=lambda theme: (-theme.weight, _birth(theme)))
    chosen: list[Theme] = []
    for theme in told[:SHOWN_THEMES]:
        if count(_text([*chosen, theme])) <= budget:
            chosen.append(theme)
    text = _text(sorted(chosen, key=_birth))
    return text if count(text) <= budget else ""


def facts_with_attractor(
    facts: Sequence[Fact],
    themes: Sequence[Theme],
    budget: int,
    *,
    version: int = 0,
    count: TokenCounter = estimate_tokens,
) -> Layer:
    """The layer of facts, begun by this version of the attractor where there is one; never over budget."""
    told = attractor_text(themes, int(budget * ATTRACTOR_SHARE), count=count)
    if not told:
        return facts_layer(facts, budget, count=count)
    # One token more for the line break between the two; estimates of parts add up to no less than the whole
    # but where scripts are mixed, and a tokenizer's need not: then less room is tried.
    room = budget - count(told) - 1
    while True:
        layer = facts_layer(facts if room > 0 else (), room, count=count)
        text = f"{told}\n{layer.text}" if layer.text else told
        tokens = count(text)
        if tokens <= budget:
            return replace(layer, text=text, tokens=tokens, budget=budget, attractor_version=version)
        room = min(room, layer.tokens) - (tokens - budget)


def _text(themes: Sequence[Theme]) -> str:
    lines = [f"- {one_line(theme.title)}" for theme in themes]
    return fenced(ATTRACTOR_TITLE, "\n".join(lines)) if lines else ""


def _birth(theme: Theme) -> tuple[int, str]:
    """Ids are numbered: "b9" was born before "b10"."""
    return len(theme.id), theme.id
