"""Messages in runs that are shown together or not at all: tool results with their calls (SPEC E-5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from services.kit.tokens import TokenCounter
from services.memory.episodic.domain.compaction import at_its_place
from services.memory.episodic.domain.cutting import (
    Shown,
    calls_of,
    detach,
    has_tool_traffic,
    results_of,
    with_parts,
)
from services.memory.episodic.domain.model import Message

MAX_EXCHANGE = 64  # messages between a tool's result and its call; further apart they count as unrelated

Traffic = tuple[frozenset[str], frozenset[str]]  # ids of a message's calls, and of those that it answers
NO_TRAFFIC: Traffic = (frozenset(), frozenset())
Want = tuple[int, str]  # a result's place in what was read, and the id of the call that it answers


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One message, or a tool exchange, oldest first, at its full length apart from micro-compaction.

    `settled` is False when it might be another run with more rows of the path, if there are any.
    """

    shown: tuple[Shown, ...]
    settled: bool

    @property
    def start(self) -> int:
        """Depth of its first message."""
        return self.shown[0].message.depth

    @property
    def token_count(self) -> int:
        """Tokens as shown."""
        return sum(one.token_count for one in self.shown)

    @property
    def characters(self) -> int:
        """Characters of the canonical text as shown."""
        return sum(len(one.message.content) for one in self.shown)


def runs(rows: Sequence[Message], count: TokenCounter) -> Iterator[Run]:
    """The rows of a path, newest first, as runs, newest run first.

    A result whose call is not found within MAX_EXCHANGE messages is taken as if it had none: shown as text.
    """
    traffic = [_traffic(message) for message in rows]
    start = 0
    while start < len(rows):
        length, settled = _run_length(traffic, start)
        messages = rows[start : start + length][::-1]
        shown = (at_its_place(message, rows[0].depth, count) for message in messages)
        yield Run(shown=_without_orphans(shown, count), settled=settled)
        start += length


def _traffic(message: Message) -> Traffic:
    if not has_tool_traffic(message.content):
        return NO_TRAFFIC
    parts = message.parts()
    return frozenset(calls_of(parts)), frozenset(results_of(parts))


def _run_length(traffic: Sequence[Traffic], start: int) -> tuple[int, bool]:
    """How many rows from `start` make a run, and whether more rows could not change that."""
    if traffic[start] is NO_TRAFFIC:  # most messages
        return 1, True
    orphans: set[Want] = set()
    length, wanted = _reach(traffic, start, orphans)
    settled = not wanted or start + MAX_EXCHANGE <= len(traffic)
    while wanted:
        orphans |= wanted
        length, wanted = _reach(traffic, start, orphans)
    return length, settled


def _reach(traffic: Sequence[Traffic], start: int, orphans: set[Want]) -> tuple[int, set[Want]]:
    """The rows from `start` back to the last call that is wanted, and the calls that were not found."""
    wanted: set[Want] = set()
    end = min(len(traffic), start + MAX_EXCHANGE)
    for place in range(start, end):
        called, answered = traffic[place]
        wanted |= {(place, call_id) for call_id in answered} - orphans
        wanted = {want for want in wanted if want[1] not in called}
        if not wanted:
            return place + 1 - start, wanted
    return end - start, wanted


def _without_orphans(messages: Iterator[Shown], count: TokenCounter) -> tuple[Shown, ...]:
    """Results whose call is not among the messages, as text; `messages` come oldest first."""
    called: set[str] = set()
    kept: list[Shown] = []
    for one in messages:
        if has_tool_traffic(one.message.content):
            parts = one.message.parts()
            called |= calls_of(parts)
            kept.append(with_parts(one, detach(parts, called), count))
        else:
            kept.append(one)
    return tuple(kept)
