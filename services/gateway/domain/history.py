"""The layer of the conversation: its first messages, overlays, its newest messages (SPEC E-5, G-1). Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import TypeAlias

from services.gateway.domain.parts import History, Item, Layer, LayerKind, Overlay, Said, Speaker, Turn
from services.kit.fences import fenced, header, plain
from services.kit.tokens import CHARACTERS_PER_TOKEN, estimate_tokens

EARLIER_SYSTEM = "earlier system message"
TOOL_RESULT = "tool result"

Written: TypeAlias = "tuple[Item, str]"  # an item and its text
State: TypeAlias = "tuple[int, int, int]"  # where tail and overlays begin, and where the head ends


class Window:
    """A window over a path, written once and shown in as much as fits."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._head = [(turn, _turn_text(turn)) for turn in history.head]
        self._overlays = [(overlay, _overlay_text(overlay)) for overlay in history.overlays]
        self._tail = [(turn, _turn_text(turn)) for turn in history.tail]
        self._states = _states(history)
        self._sizes = self._least_sizes()

    def layer(self, budget: int) -> Layer:
        """As much of the window as fits; what is neither shown nor covered by a shown overlay is counted.

        Of the tail the oldest messages give way first, the results of a tool with its call; then overlays
        from the oldest on, then the head from its end. The newest message stays longest, and alone it is cut.
        """
        written = self._largest(budget)
        if written is None:
            written = _newest_cut(self._history, budget)
        items = tuple(item for item, _ in written)
        return Layer(
            kind=LayerKind.HISTORY,
            text=_text(written),
            budget=budget,
            items=items,
            omitted=_omitted(items, self._history.depth),
        )

    def _largest(self, budget: int) -> list[Written] | None:
        """The first of the states that fits; None if none does."""
        room = budget * CHARACTERS_PER_TOKEN
        # No text of more characters fits: those states are passed over without being written.
        fewest = bisect_left(self._sizes, -room, key=lambda size: -size)
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
        return self._written(most) if most < len(self._states) else None

    def _fits(self, number: int, budget: int) -> bool:
        return estimate_tokens(_text(self._written(number))) <= budget

    def _written(self, number: int) -> list[Written]:
        tail, overlays, head = self._states[number]
        return [*self._head[:head], *self._overlays[overlays:], *self._tail[tail:]]

    def _least_sizes(self) -> list[int]:
        """Characters of each state, without the lines between its items; ever fewer."""
        heads = [0, *accumulate(len(text) for _, text in self._head)]
        overlays = [0, *accumulate(len(text) for _, text in reversed(self._overlays))]
        tails = [0, *accumulate(len(text) for _, text in reversed(self._tail))]
        return [
            heads[head] + overlays[len(self._overlays) - first] + tails[len(self._tail) - start]
            for start, first, head in self._states
        ]


def history_layer(history: History, budget: int) -> Layer:
    """As much of a window as fits, see `Window`."""
    return Window(history).layer(budget)


def said(item: Item) -> Said:
    """An item for a message list: summaries and tools' words are data; people are told apart by name."""
    if isinstance(item, Overlay):
        return Said(role=Speaker.USER, content=_overlay_text(item))
    if item.role is Speaker.TOOL:
        return Said(role=Speaker.USER, content=fenced(TOOL_RESULT, item.text))
    if item.role is Speaker.SYSTEM:
        return Said(role=Speaker.USER, content=fenced(EARLIER_SYSTEM, item.text))
    named = item.author and item.role is Speaker.USER
    return Said(role=item.role, content=(plain(f"{item.author}: ") if named else "") + _words(item))


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


def _newest_cut(history: History, budget: int) -> list[Written]:
    """The newest turn without as much of its end as it takes to fit; nothing if its beginning doesn't."""
    newest = (history.tail or history.head)[-1:]
    if not newest:
        return []
    (turn,) = newest
    fewest, most = 0, len(turn.text) + len(turn.results)
    while fewest < most:
        length = (fewest + most + 1) // 2
        if estimate_tokens(_text([_written_cut(turn, length)])) <= budget:
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
    body = fenced(TOOL_RESULT, turn.text) if turn.role is Speaker.TOOL else _words(turn)
    return f"{header(f'{who}, {turn.time:%Y-%m-%d %H:%M}')}\n{body}"


def _words(turn: Turn) -> str:
    """What was said as it is, what tools returned as data."""
    results = fenced(TOOL_RESULT, turn.results) if turn.results else ""
    return "\n".join(text for text in (plain(turn.text), results) if text)
