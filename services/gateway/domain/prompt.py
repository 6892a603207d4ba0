"""The prompt of the next turn (SPEC G-1 to G-3): how layers share a budget, and how they are written. Pure.

Of the budget the system prompt and the new message are taken whole. Of the rest facts get up to 15 %, working
memory 10 %, history 60 % and what was retrieved 15 %; what a layer leaves flows on to history.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from services.gateway.domain.attractor import facts_with_attractor
from services.gateway.domain.history import Window, said
from services.gateway.domain.layers import facts_layer, place, retrieved_layer
from services.gateway.domain.parts import ORDER, Ingredients, Layer, LayerKind, Prompt, Said, Speaker
from services.gateway.domain.working import working_layer
from services.kit.errors import BudgetTooSmall
from services.kit.fences import RULE, header, plain
from services.kit.tokens import estimate_tokens

FACTS_SHARE = 0.15
WORKING_SHARE = 0.10
RETRIEVED_SHARE = 0.15
DEFAULT_BUDGET = 8000
SEPARATOR = "\n\n"
SEPARATOR_TOKENS = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """Tokens for each layer; `rest` is what is left beside the system prompt and the new message."""

    rest: int
    facts: int
    working: int
    retrieved: int

    def history(self, *used: int) -> int:
        """Its own share and all that the others leave."""
        return max(0, self.rest - sum(used))


def system_text(system_prompt: str) -> str:
    """The frozen system prompt to the letter (W-5), and the rule of fences."""
    return f"{system_prompt}{SEPARATOR}{RULE}" if system_prompt.strip() else RULE


def message_text(author: str, message: str) -> str:
    """The new message as the text form shows it."""
    return f"{header(f'user {author}'.strip())}\n{plain(message)}"


def shares(system_prompt: str, author: str, message: str, budget: int) -> Shares:
    """Raises BudgetTooSmall when what must be whole doesn't fit."""
    system, new = estimate_tokens(system_text(system_prompt)), estimate_tokens(message_text(author, message))
    rest = budget - system - new - (len(ORDER) - 1) * SEPARATOR_TOKENS
    if rest < 0:
        raise BudgetTooSmall(
            f"the system prompt takes {system} tokens and the message {new}; the budget is {budget}"
        )
    return Shares(
        rest=rest,
        facts=int(rest * FACTS_SHARE),
        working=int(rest * WORKING_SHARE),
        retrieved=int(rest * RETRIEVED_SHARE),
    )


def assemble(parts: Ingredients, budget: int) -> Prompt:
    """The prompt, never over budget by the estimate of its whole text. Raises BudgetTooSmall."""
    split = shares(parts.system_prompt, parts.author, parts.message, budget)
    facts = facts_with_attractor(parts.facts, parts.themes, split.facts)
    working = working_layer(parts.working, split.working)
    window = Window(parts.history)
    room, retrieved_room = split.history(facts.tokens, working.tokens), split.retrieved
    while True:
        history = window.layer(room)
        shown = {place(turn) for turn in history.turns} | set(facts.memory_ids)
        retrieved = retrieved_layer(parts.older, parts.memories, shown, retrieved_room)
        room = min(room, split.history(facts.tokens, working.tokens, retrieved.tokens))
        if history.tokens > room:
            continue  # a shorter history may let more be retrieved, so both are chosen again
        prompt = _write(parts, (facts, working, replace(history, budget=room), retrieved), budget)
        over = prompt.tokens - budget
        if over <= 0:
            return prompt
        # Estimates don't add up exactly: give way in the order of what is missed least.
        if history.text:
            room = max(0, history.tokens - over)
        elif retrieved.text:
            retrieved_room = 0
        elif facts.text:
            facts = facts_layer((), split.facts)
        elif working.text:
            working = working_layer(parts.working, max(0, working.tokens - over))
        else:
            raise BudgetTooSmall(
                f"the system prompt and the message take {prompt.tokens} tokens; the budget is {budget}"
            )


def _write(parts: Ingredients, chosen: Sequence[Layer], budget: int) -> Prompt:
    layers = {
        LayerKind.SYSTEM: Layer(kind=LayerKind.SYSTEM, text=system_text(parts.system_prompt), budget=budget),
        **{layer.kind: layer for layer in chosen},
        LayerKind.MESSAGE: Layer(
            kind=LayerKind.MESSAGE, text=message_text(parts.author, parts.message), budget=budget
        ),
    }
    text = {kind: layer.text for kind, layer in layers.items()}
    standing = _joined(text[LayerKind.SYSTEM], text[LayerKind.FACTS])
    turns = tuple(map(said, layers[LayerKind.HISTORY].items))
    # What changes from turn to turn comes last, so that all before it is the prefix of the next prompt.
    last = _joined(text[LayerKind.WORKING], text[LayerKind.RETRIEVED], plain(parts.message))
    new = Said(role=Speaker.USER, content=last)
    return Prompt(
        layers=tuple(layers[kind] for kind in ORDER),
        budget=budget,
        text=_joined(*(text[kind] for kind in ORDER)),
        openai=(Said(role=Speaker.SYSTEM, content=standing), *turns, new),
        anthropic_system=standing,
        anthropic=_alternating([*turns, new]),
    )


def _alternating(turns: Sequence[Said]) -> tuple[Said, ...]:
    """Neighbours of one role joined, and the first one the user's."""
    joined: list[Said] = []
    for one in turns:
        if joined and joined[-1].role is one.role:
            joined[-1] = Said(role=one.role, content=_joined(joined[-1].content, one.content))
        else:
            joined.append(one)
    if joined and joined[0].role is not Speaker.USER:
        joined.insert(0, Said(role=Speaker.USER, content=header("the conversation goes on")))
    return tuple(joined)


def _joined(*texts: str) -> str:
    return SEPARATOR.join(text for text in texts if text)
