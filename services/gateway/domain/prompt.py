"""The prompt of the next turn (SPEC G-1 to G-3): how layers share a budget, and how they are written. Pure.

Of the budget the system prompt and the new message are taken whole. Of the rest facts get up to 15 %, working
memory 10 %, history 60 % and what was retrieved 15 %; what a layer leaves flows on to history.

What stands before the new message in message lists is the same for every message of like length that may be
written next: a provider's prefix cache then has it already. So history is given retrieval's share where
nothing was found, and not what is left of it otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil

from services.gateway.domain.attractor import facts_with_attractor
from services.gateway.domain.history import Window, said
from services.gateway.domain.layers import Retrieval, facts_layer, place
from services.gateway.domain.parts import ORDER, Ingredients, Layer, LayerKind, Prompt, Said, Speaker
from services.gateway.domain.working import working_layer
from services.kit.errors import BudgetTooSmall
from services.kit.fences import RULE, header, plain
from services.kit.tokens import TokenCounter, estimate_tokens

FACTS_SHARE = 0.15
WORKING_SHARE = 0.10
RETRIEVED_SHARE = 0.15
USUAL_MESSAGE = 1 / 8
"""Of what the system prompt leaves: a message up to there leaves the choice of facts as it is."""
MESSAGE_STEPS = 64
"""History makes room for the message in steps of this part of what the system prompt leaves."""
DEFAULT_BUDGET = 8000
SEPARATOR = "\n\n"
SEPARATOR_TOKENS = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """Tokens for each layer; `rest` is what is left beside the system prompt and the new message.

    `standing` is what facts are chosen for: at most `facts`, and the same for all messages that are not
    unusually long. `usual` is `rest` rounded down, so that it is the same for messages of like length.
    """

    rest: int
    usual: int
    facts: int
    working: int
    retrieved: int
    standing: int

    def history(self, facts: int, working: int, *, retrieves: bool) -> int:
        """Its own share and what facts and working memory leave of theirs; all of retrieval's, or nothing."""
        kept = int(self.usual * RETRIEVED_SHARE) if retrieves else 0
        return max(0, self.usual - kept - facts - working)


def system_text(system_prompt: str) -> str:
    """The frozen system prompt to the letter (W-5), and the rule of fences."""
    return f"{system_prompt}{SEPARATOR}{RULE}" if system_prompt.strip() else RULE


def message_text(author: str, message: str) -> str:
    """The new message as the text form shows it."""
    return f"{header(f'user {author}'.strip())}\n{plain(message)}"


def shares(
    system_prompt: str, author: str, message: str, budget: int, *, count: TokenCounter = estimate_tokens
) -> Shares:
    """Raises BudgetTooSmall when what must be whole doesn't fit."""
    system, new = count(system_text(system_prompt)), count(message_text(author, message))
    room = budget - system - (len(ORDER) - 1) * SEPARATOR_TOKENS
    rest = room - new
    if rest < 0:
        raise BudgetTooSmall(
            f"the system prompt takes {system} tokens and the message {new}; the budget is {budget}"
        )
    step = max(1, room // MESSAGE_STEPS)
    return Shares(
        rest=rest,
        usual=max(0, room - ceil(new / step) * step),
        facts=int(rest * FACTS_SHARE),
        working=int(rest * WORKING_SHARE),
        retrieved=int(rest * RETRIEVED_SHARE),
        standing=int(min(rest, room * (1 - USUAL_MESSAGE)) * FACTS_SHARE),
    )


def standing_layers(
    parts: Ingredients, split: Shares, *, count: TokenCounter = estimate_tokens
) -> tuple[Layer, Layer]:
    """Facts and working memory, which depend on no other layer."""
    facts = facts_with_attractor(
        parts.facts, parts.themes, split.standing, version=parts.attractor_version, count=count
    )
    working = working_layer(parts.working, int(split.usual * WORKING_SHARE), count=count)
    return replace(facts, budget=split.facts), replace(working, budget=split.working)


def assemble(
    parts: Ingredients,
    budget: int,
    *,
    count: TokenCounter = estimate_tokens,
    standing: tuple[Layer, Layer] | None = None,
    window: Window | None = None,
) -> Prompt:
    """The prompt, never over budget by the count of its whole text. Raises BudgetTooSmall.

    `standing` are the layers that `standing_layers` made, and `window` is the history's, if they were made
    already.
    """
    split = shares(parts.system_prompt, parts.author, parts.message, budget, count=count)
    facts, working = standing or standing_layers(parts, split, count=count)
    window = window or Window(parts.history, count=count)
    retrieval = Retrieval(parts.older, parts.memories, parts.documents, count=count)
    retrieves = bool(parts.older or parts.memories or parts.documents)
    room = split.history(facts.tokens, working.tokens, retrieves=retrieves)
    retrieved_room = split.retrieved
    while True:
        history = window.layer(room)
        shown = {place(turn) for turn in history.turns} | set(facts.memory_ids)
        retrieved = retrieval.layer(shown, retrieved_room)
        chosen = (facts, working, replace(history, budget=room), retrieved)
        prompt = _write(parts, chosen, budget, count)
        over = prompt.tokens - budget
        if over <= 0:
            return prompt
        # Counts don't add up exactly: give way in the order of what is missed least. What has no room left
        # and stands there still is text that a tokenizer takes for nothing.
        if history.text and room:
            room = max(0, history.tokens - over)
        elif retrieved.text and retrieved_room:
            retrieved_room = 0
        elif facts.text:
            facts = facts_layer((), split.facts, count=count)
        elif working.tokens:
            working = working_layer(parts.working, max(0, working.tokens - over), count=count)
        else:
            raise BudgetTooSmall(
                f"the system prompt and the message take {prompt.tokens} tokens; the budget is {budget}"
            )


def _write(parts: Ingredients, chosen: Sequence[Layer], budget: int, count: TokenCounter) -> Prompt:
    system, message = system_text(parts.system_prompt), message_text(parts.author, parts.message)
    layers = {
        LayerKind.SYSTEM: Layer(kind=LayerKind.SYSTEM, text=system, tokens=count(system), budget=budget),
        **{layer.kind: layer for layer in chosen},
        LayerKind.MESSAGE: Layer(kind=LayerKind.MESSAGE, text=message, tokens=count(message), budget=budget),
    }
    texts = {kind: layer.text for kind, layer in layers.items()}
    standing = _joined(texts[LayerKind.SYSTEM], texts[LayerKind.FACTS])
    turns = tuple(map(said, layers[LayerKind.HISTORY].items))
    # What changes from turn to turn comes last, so that all before it is the prefix of the next prompt.
    last = _joined(texts[LayerKind.WORKING], texts[LayerKind.RETRIEVED], plain(parts.message))
    new = Said(role=Speaker.USER, content=last)
    text = _joined(*(texts[kind] for kind in ORDER))
    return Prompt(
        layers=tuple(layers[kind] for kind in ORDER),
        budget=budget,
        tokens=count(text),
        text=text,
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
