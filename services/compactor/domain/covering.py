"""How long summaries over messages are, and which of them are folded into one (SPEC E-7). Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

MOST_FOLDED = 1000  # as many as one PutOverlay may name
LEAST_FOLDED = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Lengths:
    """How long summaries may be.

    A summary over messages gets `part` of their tokens, within `least` and `most`. What is folded gets
    `folded` of the overlays' share, at most `longest` (in any script that fits the 32 KiB of an overlay), and
    the newest overlays that together fit `kept` of it stay as they are: afterwards all of them are within
    their share (E-7). A rolling summary (J-6) gets `part` of its conversation's tokens, within
    `rolling_least` and `rolling_most`.
    """

    part: float = 0.12
    least: int = 40
    most: int = 200
    folded: float = 1 / 3
    longest: int = 2000
    kept: float = 1 / 2
    rolling_least: int = 240
    rolling_most: int = 1000

    def of_messages(self, tokens: int) -> int:
        """Most tokens of a summary over messages of that many."""
        return min(max(math.ceil(tokens * self.part), self.least), self.most)

    def of_rolling(self, tokens: int) -> int:
        """Most tokens of the rolling summary of a conversation of that many."""
        return min(max(math.ceil(tokens * self.part), self.rolling_least), self.rolling_most)

    def of_fold(self, share: int) -> int:
        """Most tokens of a fold when the overlays' share is that large."""
        return min(max(int(share * self.folded), self.least), self.longest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Covered:
    """An overlay by its place on a path (from 1, both ends included) and its tokens."""

    id: str
    from_depth: int
    to_depth: int
    tokens: int


def to_fold(overlays: Sequence[Covered], share: int, lengths: Lengths) -> Sequence[Covered]:
    """The overlays to be folded into one, by depth; none when no two of them are neighbours.

    All but the newest that together fit what may be kept, yet at least the two oldest. What is folded covers
    a range without a gap: of those, the oldest neighbours are taken.
    """
    ordered = sorted(overlays, key=lambda one: one.from_depth)
    kept = tokens = 0
    for overlay in reversed(ordered):
        tokens += overlay.tokens
        if tokens > share * lengths.kept:
            break
        kept += 1
    old = ordered[: max(len(ordered) - kept, LEAST_FOLDED)]
    return next((run for run in _runs(old) if len(run) >= LEAST_FOLDED), [])[:MOST_FOLDED]


def _runs(ordered: Sequence[Covered]) -> list[list[Covered]]:
    """Neighbours together."""
    runs: list[list[Covered]] = []
    for overlay in ordered:
        if runs and runs[-1][-1].to_depth + 1 == overlay.from_depth:
            runs[-1].append(overlay)
        else:
            runs.append([overlay])
    return runs
