"""The example in docs/prompt.md is what the code makes of it (SPEC G-1)."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from services.gateway.domain.parts import LayerKind, Overlay, Passage, Working
from services.gateway.domain.prompt import assemble, message_text, shares, system_text
from services.kit.fences import RULE
from services.kit.tokens import estimate_tokens
from tests.unit.prompt_parts import EMPTY, history, known, layer, said

DOCS = Path(__file__).parents[2] / "docs" / "prompt.md"
BUDGET = 1000
TURNS = [said(n, f"turn {n:2}: " + "word " * 17, depth=n + 1) for n in range(40)]
COVERED = Overlay(id="o", from_depth=3, to_depth=20, summary="They spoke of herons and of the mill.")
SYSTEM = "You are Ada, a warden."
PARTS = replace(
    EMPTY,
    system_prompt=SYSTEM,
    message="Where did the heron nest?",
    facts=(known(1, "the user is Ann"), known(2, "Ann likes herons")),
    working=Working(notes="Ask about the mill.", notes_version=1),
    history=replace(history(TURNS, 2, [COVERED]), tail=tuple(TURNS[20:])),
    older=(said(900, "The heron nested behind the mill.", depth=900),),
    memories=(known(3, "herons nest in April"),),
    documents=(Passage(kind="page", document_id="b1", version=2, title="Herons", text="Nests are counted."),),
)


def test_the_example_is_what_the_code_makes_of_it() -> None:
    prompt = assemble(PARTS, BUDGET)
    split = shares(SYSTEM, "", PARTS.message, BUDGET)
    example = DOCS.read_text("utf-8").split("## An example")[1]
    told = {
        name: (tokens, most)
        for name, tokens, most in re.findall(r"^\| (\w+) \| ?(\d*) \| (\d+|whole) \|", example, re.MULTILINE)
    }
    made = {
        one.kind.name.lower(): (str(one.tokens), "whole" if one.kind in (1, 5) else str(one.budget))
        for one in prompt.layers
    }
    assert told == made | {"rest": ("", str(split.rest))}
    shown = layer(prompt, LayerKind.HISTORY)
    numbers = (
        f"{estimate_tokens(RULE)} of them are the rule",
        f"{BUDGET:,} − {estimate_tokens(system_text(SYSTEM))}"
        f" − {estimate_tokens(message_text('', PARTS.message))} − 5 for separators",
        f"15 % of {split.rest}",
        f"10 % of {split.rest}",
        f"the newest {len(shown.turns) - 2}; {shown.omitted} not shown",
        f"estimated at {prompt.tokens} tokens",
    )
    for number in numbers:
        assert number in example
    assert {estimate_tokens(f"⟦user, {turn.time:%Y-%m-%d %H:%M}⟧\n{turn.text}") for turn in TURNS} == {34}
    assert shown.tokens + 34 > shown.budget, "one more message would not fit"
