"""The slice of a conversation that fits a budget of tokens (SPEC E-5, without overlays).

The head (the first two messages) may take 10 %, the newest messages get the rest: their own 70 %, the 20 %
that overlays will use, and what the head leaves. The tail is unbroken and verbatim; only its newest message,
or the tool exchange that this message ends, is cut when it alone is over the budget.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from services.memory.episodic.domain.cutting import (
    Shown,
    calls_of,
    detach,
    fit,
    fit_together,
    has_tool_traffic,
    results_of,
    whole,
)
from services.memory.episodic.domain.model import Message

HEAD_PERCENT = 10  # E-5
HEAD_MESSAGES = 2  # E-5
PAGE_ROWS = 10  # E-5
MAX_ROWS = 200  # E-5, head included
MAX_EXCHANGE = 64  # messages between a tool's result and its call; further apart they count as unrelated
MAX_TAIL_CHARACTERS = 4 * 1024 * 1024  # so that an answer fits a gRPC message


Want = tuple[int, str]  # a result's place in what was read, and the id of the call that it answers


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What is shown: the head (those that are not in the tail) and the newest messages, oldest first."""

    head: tuple[Shown, ...] = ()
    tail: tuple[Shown, ...] = ()
    omitted_count: int = 0
    latest_time: int | None = None

    @property
    def token_count(self) -> int:
        """Tokens of head and tail as shown."""
        return sum(shown.token_count for shown in (*self.head, *self.tail))


def build_window(first: Sequence[Message], newest_first: Iterable[Message], budget: int) -> Window:
    """Chooses what to show within `budget` tokens (at least 1).

    `first` holds the conversation's first two messages; `newest_first` yields all of its messages backwards
    and is read no further than needed.
    """
    head = _fit_head(first[:HEAD_MESSAGES], budget * HEAD_PERCENT // 100)
    tail = _take_tail(_exchanges(newest_first), head, budget)
    if not tail:
        return Window()
    start = tail[0].message.sequence
    left = [shown for shown in head if shown.message.sequence < start]
    if len(left) < len(head):  # a call may have lost its result to the tail
        spent = sum(shown.token_count for shown in left)
        left = _fit_head([message for message in first if message.sequence < start], spent)
    newest = tail[-1].message
    return Window(
        head=tuple(left),
        tail=tuple(tail),
        omitted_count=newest.sequence - len(left) - len(tail),
        latest_time=newest.time,
    )


def _take_tail(exchanges: Iterator[Sequence[Message]], head: Sequence[Shown], budget: int) -> list[Shown]:
    """The newest exchanges that fit, oldest first. What the tail reaches no longer counts as head."""
    tail: list[Shown] = []
    tokens = characters = 0
    for exchange in exchanges:
        oldest = exchange[0].sequence
        allowed = budget - sum(s.token_count for s in head if s.message.sequence < oldest)
        tokens += sum(message.token_count for message in exchange)
        characters += sum(len(message.content) for message in exchange)
        if tail and characters > MAX_TAIL_CHARACTERS:
            break
        if tokens <= allowed:
            tail[:0] = [whole(message) for message in exchange]
            continue
        if not tail:
            tail = _cut_newest(exchange, allowed, head, budget)
        break
    return tail


def _exchanges(newest_first: Iterable[Message]) -> Iterator[Sequence[Message]]:
    """Messages in runs, newest run first: tool results with their calls, else one. A run is oldest first.

    A result whose call is not found within MAX_EXCHANGE messages is taken as if it had none.
    """
    source = iter(newest_first)
    waiting: deque[Message] = deque()  # read, not yet given out, newest first
    while True:
        orphans: set[Want] = set()
        length, wanted = _grow(waiting, source, orphans)
        while wanted:
            orphans |= wanted
            length, wanted = _grow(waiting, source, orphans)
        if not length:
            return
        yield [waiting.popleft() for _ in range(length)][::-1]


def _grow(waiting: deque[Message], source: Iterator[Message], orphans: set[Want]) -> tuple[int, set[Want]]:
    """How many of `waiting` (filled from `source`) make the newest run, and the calls that it still lacks."""
    wanted: set[Want] = set()
    length = 0
    while length == 0 or (wanted and length < MAX_EXCHANGE):
        if length == len(waiting):
            message = next(source, None)
            if message is None:
                break
            waiting.append(message)
        message = waiting[length]
        parts = message.parts() if has_tool_traffic(message.content) else ()
        wanted |= {(length, call_id) for call_id in results_of(parts)} - orphans
        called = calls_of(parts)
        wanted = {want for want in wanted if want[1] not in called}
        length += 1
    return length, wanted


def _cut_newest(exchange: Sequence[Message], allowed: int, head: Sequence[Shown], budget: int) -> list[Shown]:
    """The newest exchange, each message cut to an equal share; if it won't go, the newest message alone."""
    if len(exchange) > 1:
        shown = fit_together(exchange, [allowed // len(exchange)] * len(exchange), allowed)
        if len(shown) == len(exchange):
            return shown
    newest = exchange[-1]
    allowed = budget - sum(s.token_count for s in head if s.message.sequence < newest.sequence)
    alone = _fit_alone(newest, allowed)
    return [alone] if alone is not None else []


def _fit_alone(newest: Message, budget: int) -> Shown | None:
    """A call that awaits its result is shown as it is; a result whose call is not shown, as text."""
    parts = newest.parts()
    shown = fit(newest, detach(parts, calls_of(parts)), budget)
    if shown is None:
        return None
    kept = shown.message.parts()
    if results_of(kept) <= calls_of(kept):
        return shown
    return fit(newest, detach(parts, calls_of(parts) - results_of(parts)), budget)


def _fit_head(first: Sequence[Message], budget: int) -> list[Shown]:
    """The first messages within their share, verbatim where they fit, else cut; at least half is for each."""
    if len(first) < HEAD_MESSAGES:
        return fit_together(first, [budget] * len(first), budget)
    share = max(budget // 2, budget - first[1].token_count)
    return fit_together(first, [share, budget], budget)
