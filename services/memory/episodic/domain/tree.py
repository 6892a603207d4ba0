"""The tree of a conversation's messages (SPEC E-3), as runs of neighbouring sequence numbers. Pure.

A run is a maximal series of messages with dense sequence numbers, each the parent of the next. Runs part
the numbers 1 to `count` without gaps, so that a message's run, depth and path follow from its number alone,
a path is a few ranges of numbers, and a conversation that never forked has one run and nothing to store.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

ROOT = 0  # the number that stands before every first message


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run from the message `first` on; it follows the message `base`, of depth `depth`, or ROOT (0, 0)."""

    first: int
    base: int
    depth: int


FIRST_RUN = Run(first=1, base=ROOT, depth=0)
Range = tuple[int, int]  # first and last sequence number


class Tree:
    """The runs of a conversation with `count` messages; `later` are those after the first, in any order."""

    def __init__(self, count: int, later: Sequence[Run] = ()) -> None:
        self.count = count
        self.later = tuple(sorted(later, key=lambda run: run.first))
        self._runs = [FIRST_RUN, *self.later]
        self._firsts = [run.first for run in self._runs]

    def depth(self, sequence: int) -> int:
        """How many messages lead to this one, itself included; 0 for ROOT."""
        if sequence == ROOT:
            return 0
        run = self._run(sequence)
        return run.depth + sequence - run.first + 1

    def path(self, leaf: int) -> list[Range]:
        """The path from a message back to its root, as ranges of numbers, the newest range first."""
        ranges: list[Range] = []
        while leaf != ROOT:
            run = self._run(leaf)
            ranges.append((run.first, leaf))
            leaf = run.base
        return ranges

    def on_path(self, sequence: int, leaf: int) -> bool:
        """Whether a message lies on the path to another (or is it)."""
        return any(first <= sequence <= last for first, last in self.path(leaf))

    def shared_depth(self, one: int, other: int) -> int:
        """How many messages the paths to two messages have in common."""
        ends = dict(self.path(other))
        for first, last in self.path(one):
            if first in ends:
                return self.depth(min(last, ends[first]))
        return 0

    def stretch(self, from_depth: int, to_depth: int, leaf: int) -> list[Range]:
        """Part of the path to a leaf, both depths included, as ranges, the oldest first."""
        ranges = []
        for first, last in reversed(self.path(leaf)):
            begin, end = self.depth(first), self.depth(last)
            low, high = max(begin, from_depth), min(end, to_depth)
            if low <= high:
                ranges.append((first + low - begin, first + high - begin))
        return ranges

    def children(self, sequence: int) -> list[int]:
        """The messages that follow a message (ROOT: all first messages), in the order they were stored."""
        children = [run.first for run in self._runs if run.base == sequence and run.first <= self.count]
        if sequence != ROOT and sequence < self._last(self._run(sequence)):
            children.insert(0, sequence + 1)
        return sorted(children)

    def newest_leaf(self, sequence: int) -> int:
        """The leaf that was stored last among those below a message (itself, if nothing follows it)."""
        reached = [(sequence, self._last(self._run(sequence)))]
        for run in self._runs:
            if run.first > sequence and any(first <= run.base <= last for first, last in reached):
                reached.append((run.first, self._last(run)))
        return max(last for _, last in reached)

    def _run(self, sequence: int) -> Run:
        return self._runs[bisect_right(self._firsts, sequence) - 1]

    def _last(self, run: Run) -> int:
        at = bisect_right(self._firsts, run.first)
        return self._firsts[at] - 1 if at < len(self._firsts) else self.count
