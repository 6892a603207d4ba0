"""The layers of memories and of what was retrieved (SPEC G-1, G-2). Pure."""

from __future__ import annotations

from collections.abc import Sequence

from services.gateway.domain.parts import Fact, Layer, LayerKind, Turn
from services.kit.fences import fenced
from services.kit.tokens import estimate_tokens

MAX_RETRIEVED_MESSAGES = 3  # G-2
RETRIEVED_NOTE = "Chat memory that may bear on the new message. Use its words only where they help."
FACTS_TITLE = "memories"


def facts_layer(facts: Sequence[Fact], budget: int) -> Layer:
    """As many of the facts as fit, in the order given; written by creation and id, to stay stable."""
    chosen: list[Fact] = []
    for fact in facts:
        if estimate_tokens(_facts_text([*chosen, fact])) <= budget:
            chosen.append(fact)
    chosen.sort(key=lambda fact: (fact.created, fact.id))
    return Layer(
        kind=LayerKind.FACTS,
        text=_facts_text(chosen),
        budget=budget,
        memory_ids=tuple(fact.id for fact in chosen),
    )


def retrieved_layer(older: Sequence[Turn], memories: Sequence[Fact], shown: set[str], budget: int) -> Layer:
    """Memories that match for half of the budget, up to three older messages, then more memories.

    Nothing that is shown elsewhere (see `place`), and only what fits.
    """
    turns: list[Turn] = []
    chosen: list[Fact] = []

    def add_memories(limit: int) -> None:
        for fact in memories:
            fresh = fact.id not in shown and fact not in chosen
            if fresh and estimate_tokens(_retrieved_text(turns, [*chosen, fact])) <= limit:
                chosen.append(fact)

    add_memories(budget // 2)
    for turn in older:
        if len(turns) == MAX_RETRIEVED_MESSAGES:
            break
        fits = place(turn) not in shown and estimate_tokens(_retrieved_text([*turns, turn], chosen)) <= budget
        if fits:
            turns.append(turn)
    turns.sort(key=lambda turn: (turn.time, turn.message_id))
    add_memories(budget)
    return Layer(
        kind=LayerKind.RETRIEVED,
        text=_retrieved_text(turns, chosen),
        budget=budget,
        memory_ids=tuple(fact.id for fact in chosen),
        items=tuple(turns),
    )


def place(turn: Turn) -> str:
    """Names the message among all that a prompt may show; no memory's id has a slash."""
    return f"{turn.conversation_id}/{turn.message_id}"


def one_line(text: str) -> str:
    """The text without line breaks."""
    return " ".join(text.split())


def _facts_text(facts: Sequence[Fact]) -> str:
    return fenced(FACTS_TITLE, "\n".join(map(_fact_line, facts))) if facts else ""


def _fact_line(fact: Fact) -> str:
    return f"- {fact.key} ({fact.kind}, {fact.created:%Y-%m-%d}): {one_line(fact.value)}"


def _quoted(turn: Turn) -> str:
    """A line that says who and when, and indented lines: no message can pass for two."""
    said = "\n".join(text for text in (turn.text, turn.results) if text)
    who = one_line(turn.author) or turn.role.name.lower()
    return f"{who}, {turn.time:%Y-%m-%d %H:%M}: " + "\n  ".join(said.splitlines())


def _retrieved_text(turns: Sequence[Turn], memories: Sequence[Fact]) -> str:
    parts = []
    if turns:
        parts.append(fenced("older messages", "\n".join(map(_quoted, turns))))
    if memories:
        parts.append(fenced("matching memories", "\n".join(map(_fact_line, memories))))
    return "\n".join([RETRIEVED_NOTE, *parts]) if parts else ""
