"""The prompt of the next turn (SPEC G-1, G-2): layers, their shares, and how they are written. Pure.

Of the budget the system prompt and the new message are taken whole. Of the rest facts get up to 15 %, working
memory 10 %, history 60 % and what was retrieved 15 %; what a layer leaves flows on to history. There is no
working memory yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import IntEnum

from services.kit.errors import BudgetTooSmall
from services.kit.fences import RULE, fenced, header, plain
from services.kit.tokens import estimate_tokens

FACTS_SHARE = 0.15
RETRIEVED_SHARE = 0.15
MAX_RETRIEVED_MESSAGES = 3  # G-2
DEFAULT_BUDGET = 8000
SEPARATOR = "\n\n"
RETRIEVED_NOTE = "Chat memory that may bear on the new message. Use its words only where they help."
FACTS_TITLE = "memories"
SEPARATOR_TOKENS = 1
EARLIER_SYSTEM = "earlier system message"


class LayerKind(IntEnum):
    """A part of the prompt; numbers as in the proto."""

    SYSTEM = 1
    FACTS = 2
    HISTORY = 3
    RETRIEVED = 4
    MESSAGE = 5


class Speaker(IntEnum):
    """Who speaks; numbers as in the proto."""

    SYSTEM = 1
    USER = 2
    ASSISTANT = 3
    TOOL = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A memory as the prompt shows it."""

    id: str
    kind: str
    key: str
    value: str
    created: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A message as the prompt shows it: what it says, and what tools returned in it.

    `omitted_before` messages lie between it and the one shown before it. Of a tool's message all is `text`.
    """

    conversation_id: str
    message_id: str
    role: Speaker
    author: str
    time: datetime
    text: str
    results: str = ""
    omitted_before: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """A layer as it stands in the prompt."""

    kind: LayerKind
    text: str
    budget: int
    memory_ids: tuple[str, ...] = ()
    turns: tuple[Turn, ...] = ()
    omitted: int = 0

    @property
    def tokens(self) -> int:
        """Estimated tokens of the text."""
        return estimate_tokens(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A message as model APIs take it."""

    role: Speaker
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """Layers in order, and the prompt in the forms that applications need."""

    layers: tuple[Layer, ...]
    budget: int
    text: str
    openai: tuple[Said, ...]
    anthropic_system: str
    anthropic: tuple[Said, ...]

    @property
    def tokens(self) -> int:
        """Estimated tokens of the text."""
        return estimate_tokens(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """Tokens for each layer; `rest` is what is left beside the system prompt and the new message."""

    rest: int
    facts: int
    retrieved: int

    def history(self, facts_used: int, retrieved_used: int) -> int:
        """Its own share and all that the others leave."""
        return max(0, self.rest - facts_used - retrieved_used)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingredients:
    """What the prompt is made of, most relevant first where order matters.

    `history` is a window: its first `head` turns begin the conversation, `omitted` lie behind them.
    """

    system_prompt: str
    message: str
    author: str
    facts: tuple[Fact, ...]
    history: tuple[Turn, ...]
    head: int
    omitted: int
    older: tuple[Turn, ...]
    memories: tuple[Fact, ...]


def system_text(system_prompt: str) -> str:
    """The agent's instructions and the rule of fences."""
    return f"{plain(system_prompt)}{SEPARATOR}{RULE}" if system_prompt.strip() else RULE


def message_text(author: str, message: str) -> str:
    """The new message as the text form shows it."""
    return f"{header(f'user {author}'.strip())}\n{plain(message)}"


def shares(system_prompt: str, author: str, message: str, budget: int) -> Shares:
    """Raises BudgetTooSmall when what must be whole doesn't fit."""
    system, new = estimate_tokens(system_text(system_prompt)), estimate_tokens(message_text(author, message))
    rest = budget - system - new - 4 * SEPARATOR_TOKENS
    if rest < 0:
        raise BudgetTooSmall(
            f"the system prompt takes {system} tokens and the message {new}; the budget is {budget}"
        )
    return Shares(rest=rest, facts=int(rest * FACTS_SHARE), retrieved=int(rest * RETRIEVED_SHARE))


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

    Nothing that is shown elsewhere, and only what fits.
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
        fits = estimate_tokens(_retrieved_text([*turns, turn], chosen)) <= budget
        if _place(turn) not in shown and fits and len(turns) < MAX_RETRIEVED_MESSAGES:
            turns.append(turn)
    turns.sort(key=lambda turn: (turn.time, turn.message_id))
    add_memories(budget)
    return Layer(
        kind=LayerKind.RETRIEVED,
        text=_retrieved_text(turns, chosen),
        budget=budget,
        memory_ids=tuple(fact.id for fact in chosen),
        turns=tuple(turns),
    )


def history_layer(turns: Sequence[Turn], head: int, omitted: int, budget: int) -> Layer:
    """The first `head` turns and the newest ones, as far as they fit; what is left out is counted.

    Turns give way from behind the head on; the newest stays longest, and alone it is cut to fit (E-5).
    """
    fewest, most = 0, len(turns)  # leaving out `most` fits, always
    while fewest < most:
        count = (fewest + most) // 2
        if estimate_tokens(_history_text(_without(turns, head, count))) <= budget:
            most = count
        else:
            fewest = count + 1
    kept = _without(turns, head, most)
    if turns and not kept:
        kept = _newest_cut(_without(turns, head, len(turns) - 1)[0], budget)
    return Layer(
        kind=LayerKind.HISTORY,
        text=_history_text(kept),
        budget=budget,
        turns=tuple(kept),
        omitted=omitted + len(turns) - len(kept),
    )


def _newest_cut(turn: Turn, budget: int) -> list[Turn]:
    """The turn without as much of its end as it takes to fit; nothing if not even its beginning does."""
    fewest, most = 0, len(turn.text) + len(turn.results)
    while fewest < most:
        length = (fewest + most + 1) // 2
        if estimate_tokens(_history_text([_cut(turn, length)])) <= budget:
            fewest = length
        else:
            most = length - 1
    return [_cut(turn, fewest)] if fewest else []


def _cut(turn: Turn, length: int) -> Turn:
    """The first characters of what it says and of what tools returned, with a mark where it was cut."""
    mark = f" […cut; whole in message {turn.message_id}]"
    if length <= len(turn.text):
        return replace(turn, text=turn.text[:length] + mark, results="")
    return replace(turn, results=turn.results[: length - len(turn.text)] + mark)


def _without(turns: Sequence[Turn], head: int, count: int) -> list[Turn]:
    """The turns but for `count` of them behind the head, or from its end on; the gap is noted."""
    if count >= len(turns):
        return []
    start = min(head, len(turns) - 1 - count)
    kept = [*turns[:start], *turns[start + count :]]
    if count:
        gap = count + sum(turn.omitted_before for turn in turns[start : start + count + 1])
        kept[start] = replace(kept[start], omitted_before=gap)
    return kept


def assemble(parts: Ingredients, budget: int) -> Prompt:
    """The prompt, never over budget by the estimate of its whole text. Raises BudgetTooSmall."""
    split = shares(parts.system_prompt, parts.author, parts.message, budget)
    facts = facts_layer(parts.facts, split.facts)
    room, retrieved_room = split.history(facts.tokens, 0), split.retrieved
    while True:
        history = history_layer(parts.history, parts.head, parts.omitted, room)
        shown = {_place(turn) for turn in history.turns} | set(facts.memory_ids)
        retrieved = retrieved_layer(parts.older, parts.memories, shown, retrieved_room)
        room = min(room, split.history(facts.tokens, retrieved.tokens))
        if history.tokens > room:
            continue  # a shorter history may let more be retrieved, so both are chosen again
        prompt = _write(parts, facts, replace(history, budget=room), retrieved, budget)
        over = prompt.tokens - budget
        if over <= 0:
            return prompt
        # Estimates don't add up exactly: give way in the order of what is missed least.
        if history.turns:
            room = max(0, history.tokens - over)
        elif retrieved.text:
            retrieved_room = 0
        elif facts.text:
            facts = replace(facts, text="", memory_ids=())
        else:
            raise BudgetTooSmall(
                f"the system prompt and the message take {prompt.tokens} tokens; the budget is {budget}"
            )


def _write(parts: Ingredients, facts: Layer, history: Layer, retrieved: Layer, budget: int) -> Prompt:
    system = Layer(kind=LayerKind.SYSTEM, text=system_text(parts.system_prompt), budget=budget)
    new = Layer(kind=LayerKind.MESSAGE, text=message_text(parts.author, parts.message), budget=budget)
    layers = (system, facts, history, retrieved, new)
    standing = _joined(system.text, facts.text)
    last = Said(role=Speaker.USER, content=_joined(retrieved.text, plain(parts.message)))
    turns = tuple(_said(turn) for turn in history.turns)
    return Prompt(
        layers=layers,
        budget=budget,
        text=_joined(*(layer.text for layer in layers)),
        openai=(Said(role=Speaker.SYSTEM, content=standing), *turns, last),
        anthropic_system=standing,
        anthropic=_alternating([*turns, last]),
    )


def _said(turn: Turn) -> Said:
    """A turn for a message list: tools' words are data; several people are told apart by name."""
    if turn.role is Speaker.TOOL:
        return Said(role=Speaker.USER, content=fenced("tool result", turn.text))
    if turn.role is Speaker.SYSTEM:
        return Said(role=Speaker.USER, content=fenced(EARLIER_SYSTEM, turn.text))
    named = turn.author and turn.role is Speaker.USER
    return Said(role=turn.role, content=(plain(f"{turn.author}: ") if named else "") + _words(turn))


def _alternating(said: Sequence[Said]) -> tuple[Said, ...]:
    """Neighbours of one role joined, and the first one the user's."""
    turns: list[Said] = []
    for one in said:
        if turns and turns[-1].role is one.role:
            turns[-1] = Said(role=one.role, content=_joined(turns[-1].content, one.content))
        else:
            turns.append(one)
    if turns and turns[0].role is not Speaker.USER:
        turns.insert(0, Said(role=Speaker.USER, content=header("the conversation goes on")))
    return tuple(turns)


def _facts_text(facts: Sequence[Fact]) -> str:
    return fenced(FACTS_TITLE, "\n".join(map(_fact_line, facts))) if facts else ""


def _fact_line(fact: Fact) -> str:
    return f"- {fact.key} ({fact.kind}, {fact.created:%Y-%m-%d}): {_one_line(fact.value)}"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _history_text(turns: Sequence[Turn]) -> str:
    lines: list[str] = []
    for turn in turns:
        if turn.omitted_before:
            lines.append(header(f"{turn.omitted_before} messages not shown"))
        lines.append(_turn_text(turn))
    return "\n".join(lines)


def _turn_text(turn: Turn) -> str:
    role = EARLIER_SYSTEM if turn.role is Speaker.SYSTEM else turn.role.name.lower()
    who = f"{role} {turn.author}".strip()
    body = fenced("tool result", turn.text) if turn.role is Speaker.TOOL else _words(turn)
    return f"{header(f'{who}, {turn.time:%Y-%m-%d %H:%M}')}\n{body}"


def _words(turn: Turn) -> str:
    """What was said as it is, what tools returned as data."""
    results = fenced("tool result", turn.results) if turn.results else ""
    return "\n".join(text for text in (plain(turn.text), results) if text)


def _quoted(turn: Turn) -> str:
    """A line that says who and when, and indented lines: no message can pass for two."""
    said = "\n".join(text for text in (turn.text, turn.results) if text)
    who = _one_line(turn.author) or turn.role.name.lower()
    return f"{who}, {turn.time:%Y-%m-%d %H:%M}: " + "\n  ".join(said.splitlines())


def _retrieved_text(turns: Sequence[Turn], memories: Sequence[Fact]) -> str:
    parts = []
    if turns:
        parts.append(fenced("older messages", "\n".join(map(_quoted, turns))))
    if memories:
        parts.append(fenced("matching memories", "\n".join(map(_fact_line, memories))))
    return "\n".join([RETRIEVED_NOTE, *parts]) if parts else ""


def _joined(*texts: str) -> str:
    return SEPARATOR.join(text for text in texts if text)


def _place(turn: Turn) -> str:
    return f"{turn.conversation_id}/{turn.message_id}"
