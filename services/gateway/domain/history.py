"""The layer of the conversation: its first messages, overlays, its newest messages (SPEC E-5, G-1). Pure.

Tokens are those of `count`: a model's own tokenizer, or by default the estimate (E-10).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from types import MappingProxyType
from typing import TypeAlias

from services.gateway.domain.layers import one_line
from services.gateway.domain.parts import History, Item, Layer, LayerKind, Overlay, Said, Speaker, Turn
from services.gateway.domain.tool_texts import TOOL_RESULT
from services.kit.fences import fenced, header, plain
from services.kit.tokens import TokenCounter, estimate_tokens, most_characters

EARLIER_SYSTEM = "earlier system message"

QUOTED: Mapping[Speaker, str] = MappingProxyType({Speaker.TOOL: TOOL_RESULT, Speaker.SYSTEM: EARLIER_SYSTEM})
"""Whose messages are data, and what their fence is called."""
LINE = "\n"
TOLERANCE = 0.05
"""How much more than a whole its parts may take by a tokenizer, for a whole to be tried at all."""

Written: TypeAlias = "tuple[Item, str]"  # an item and its text
State: TypeAlias = "tuple[int, int, int]"  # where tail and overlays begin, and where the head ends


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    """So much of a window, as it is written."""

    items: tuple[Item, ...]
    text: str
    tokens: int


class Window:
    """A window over a path, written once and shown in as much as fits."""

    def __init__(self, history: History, *, count: TokenCounter = estimate_tokens) -> None:
        self._history = history
        self._count = count
        self._head = [(turn, _turn_text(turn)) for turn in history.head]
        self._overlays = [(overlay, _overlay_text(overlay)) for overlay in history.overlays]
        self._tail = [(turn, _turn_text(turn)) for turn in history.tail]
        self._states = _states(history)
        self._sizes = self._least_sizes()
        self._tried: dict[int, _Shown] = {}

    def layer(self, budget: int) -> Layer:
        """As much of the window as fits; what is neither shown nor covered by a shown overlay is counted.

        Of the tail the oldest messages give way first, the results of a tool with its call; then overlays
        from the oldest on, then the head from its end. The newest message stays longest, and alone it is cut.
        """
        shown = self._largest(budget)
        if shown is None:
            shown = _show(_newest_cut(self._history, budget, self._count), self._count)
        return Layer(
            kind=LayerKind.HISTORY,
            text=shown.text,
            tokens=shown.tokens,
            budget=budget,
            items=shown.items,
            omitted=_omitted(shown.items, self._history.depth),
        )

    def _largest(self, budget: int) -> _Shown | None:
        """The first of the states that fits; None if none does."""
        # States that are too large by far are passed over without being written.
        fewest = bisect_left(self._sizes, -self._most(budget), key=lambda size: -size)
        most, step = fewest, 1
        while most < len(self._states) and not self._fits(most, budget):
            fewest, most, step = most + 1, most + step, step * 2
        most = min(most, len(self._states))
        while fewest < most:
            middle = (fewest + most) // 2
            if self._fits(middle, budget):
                most = middle
            else:
                fewest = middle + 1
        return self._state(most) if most < len(self._states) else None

    def _fits(self, number: int, budget: int) -> bool:
        return self._state(number).tokens <= budget

    def _state(self, number: int) -> _Shown:
        """A state as it is shown; few of them are tried, some for several budgets."""
        if number not in self._tried:
            self._tried[number] = _show(self._written(number), self._count)
        return self._tried[number]

    def _most(self, budget: int) -> float:
        """What the size of a state that may fit is at the most."""
        if self._count is estimate_tokens:
            return most_characters(budget, self._count)
        return budget * (1 + TOLERANCE)

    def _size(self, text: str) -> int:
        """Characters; by a tokenizer, which has no bound of them, tokens."""
        return len(text) if self._count is estimate_tokens else self._count(text)

    def _written(self, number: int) -> list[Written]:
        tail, overlays, head = self._states[number]
        return [*self._head[:head], *self._overlays[overlays:], *self._tail[tail:]]

    def _least_sizes(self) -> list[int]:
        """The size of each state, without the notes on what is not shown; ever fewer."""
        between = self._size(LINE)
        heads = [0, *accumulate(self._size(text) for _, text in self._head)]
        overlays = [0, *accumulate(self._size(text) for _, text in reversed(self._overlays))]
        tails = [0, *accumulate(self._size(text) for _, text in reversed(self._tail))]
        return [
            heads[head]
            + overlays[len(self._overlays) - first]
            + tails[len(self._tail) - start]
            + (head + len(self._overlays) - first + len(self._tail) - start - 1) * between
            for start, first, head in self._states
        ]


def history_layer(history: History, budget: int, *, count: TokenCounter = estimate_tokens) -> Layer:
    """As much of a window as fits, see `Window`."""
    return Window(history, count=count).layer(budget)


def said(item: Item) -> Said:
    """An item for a message list: summaries and tools' words are data; people are told apart by name."""
    if isinstance(item, Overlay):
        return Said(role=Speaker.USER, content=_overlay_text(item))
    if quoted := QUOTED.get(item.role):
        return Said(role=Speaker.USER, content=fenced(quoted, item.text))
    if not item.author or item.role is not Speaker.USER:
        return Said(role=item.role, content=_words(item))
    name = plain(f"{one_line(item.author)}:")
    # A fence begins on a line of its own.
    return Said(role=item.role, content=f"{name}{' ' if item.text else LINE}{_words(item)}")


def _states(history: History) -> list[State]:
    """The window and what it shrinks to, step by step, down to its newest message."""
    newest = max(len(history.tail) - 1, 0)
    starts = [n for n in range(newest) if history.tail[n].role is not Speaker.TOOL or n == 0]
    overlays, head = len(history.overlays), len(history.head)
    states = [(start, 0, head) for start in (*starts, newest)]
    states += [(newest, first, head) for first in range(1, overlays + 1)]
    least = 0 if history.tail else min(head, 1)
    states += [(newest, overlays, end) for end in range(head - 1, least - 1, -1)]
    return states


def _newest_cut(history: History, budget: int, count: TokenCounter) -> list[Written]:
    """The newest turn without as much of its end as it takes to fit; nothing if its beginning doesn't."""
    newest = (history.tail or history.head)[-1:]
    if not newest:
        return []
    (turn,) = newest
    fewest, most = 0, min(len(turn.text) + len(turn.results), most_characters(budget, count))
    while fewest < most:
        length = (fewest + most + 1) // 2
        if count(_text([_written_cut(turn, length)])) <= budget:
            fewest = length
        else:
            most = length - 1
    return [_written_cut(turn, fewest)] if fewest else []


def _written_cut(turn: Turn, length: int) -> Written:
    cut = _cut(turn, length)
    return cut, _turn_text(cut)


def _cut(turn: Turn, length: int) -> Turn:
    """The first characters of what it says and of what tools returned, with a mark where it was cut."""
    mark = f" […cut; whole in message {turn.message_id}]"
    if length <= len(turn.text):
        return replace(turn, text=turn.text[:length] + mark, results="")
    return replace(turn, results=turn.results[: length - len(turn.text)] + mark)


def _gaps(items: Sequence[Item]) -> list[int]:
    """For each item how many messages of the path lie between it and what stands before it."""
    reached, gaps = 0, []
    for item in items:
        first, last = _range(item)
        gaps.append(max(0, first - reached - 1))
        reached = max(reached, last)
    return gaps


def _range(item: Item) -> tuple[int, int]:
    return (item.from_depth, item.to_depth) if isinstance(item, Overlay) else (item.depth, item.depth)


def _omitted(items: Sequence[Item], depth: int) -> int:
    reached = max((_range(item)[1] for item in items), default=0)
    return sum(_gaps(items)) + max(0, depth - reached)


def _show(written: Sequence[Written], count: TokenCounter) -> _Shown:
    text = _text(written)
    return _Shown(items=tuple(item for item, _ in written), text=text, tokens=count(text))


def _text(written: Sequence[Written]) -> str:
    lines: list[str] = []
    gaps = _gaps([item for item, _ in written])
    for gap, (_, text) in zip(gaps, written, strict=True):
        if gap:
            lines.append(header(f"{gap} {'message' if gap == 1 else 'messages'} not shown"))
        lines.append(text)
    return "\n".join(lines)


def _overlay_text(overlay: Overlay) -> str:
    first, last = overlay.from_depth, overlay.to_depth
    name = f"summary of messages {first} to {last}" if last > first else f"summary of message {first}"
    return fenced(name, overlay.summary)


def _turn_text(turn: Turn) -> str:
    role = EARLIER_SYSTEM if turn.role is Speaker.SYSTEM else turn.role.name.lower()
    who = f"{role} {turn.author}".strip()
    quoted = QUOTED.get(turn.role)
    body = _words(turn) if quoted is None else fenced(quoted, turn.text)
    return f"{header(f'{who}, {turn.time:%Y-%m-%d %H:%M}')}\n{body}"


def _words(turn: Turn) -> str:
    """What was said as it is, what tools returned as data."""
    results = fenced(TOOL_RESULT, turn.results) if turn.results else ""
    return "\n".join(text for text in (plain(turn.text), results) if text)
