"""When messages get an overlay, and which (SPEC E-7, E-8). Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from services.kit.errors import FieldProblem, StateConflict
from services.memory.episodic.domain.model import DepthRange, Overlay
from services.memory.episodic.domain.window_parts import HEAD_MESSAGES

LEAST_COVERED = 3  # E-7
MOST_COVERED = 60  # E-7
KEPT_UNCOVERED = 5  # E-8


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverRules:
    """When covering begins by itself, and from how many tokens of live overlays on they are folded.

    `uncovered_tokens` is None when only messages are counted.
    """

    uncovered_messages: int
    uncovered_tokens: int | None
    fold_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """What a conversation counts along its active path.

    `requested` is the depth of the leaf when a job was last asked for, 0 once an overlay or another leaf has
    come since.
    """

    depth: int
    tokens: int
    covered: int
    covered_tokens: int
    requested: int


def must_cover(progress: Progress, rules: CoverRules) -> bool:
    """Whether an append makes a job due (E-8).

    While one is due but has not ended, it is asked for again only after as many more messages.
    """
    many = progress.depth - progress.covered > rules.uncovered_messages
    heavy = (
        rules.uncovered_tokens is not None
        and progress.tokens - progress.covered_tokens > rules.uncovered_tokens
        and progress.depth - progress.covered >= LEAST_COVERED + KEPT_UNCOVERED
    )
    fresh = not progress.requested or progress.depth >= progress.requested + rules.uncovered_messages
    return (many or heavy) and fresh


def uncovered(overlays: Sequence[Overlay], depth: int) -> list[DepthRange]:
    """The stretches of a path of that depth under none of its live overlays, the oldest first."""
    ranges, begin = [], 1
    for overlay in sorted(overlays, key=lambda one: one.from_depth):
        if begin < overlay.from_depth:
            ranges.append((begin, overlay.from_depth - 1))
        begin = overlay.to_depth + 1
    if begin <= depth:
        ranges.append((begin, depth))
    return ranges


def next_range(
    overlays: Sequence[Overlay], depth: int, closed: Sequence[DepthRange] = ()
) -> DepthRange | None:
    """What to cover next: the oldest 3 to 60 uncovered messages, but for the newest 5 of the path.

    An overlay is shown on every path that holds its last message, so it can't end in `closed`: the depths
    that the path shares with an overlay of another branch.
    """
    for begin, end in uncovered(overlays, depth):
        least, most = begin + LEAST_COVERED - 1, begin + MOST_COVERED - 1
        end = min(end, depth - KEPT_UNCOVERED)
        last = _last_open(min(end, most), closed)
        if last < least:
            last = _first_open(most + 1, closed)  # what lies too far before it stays uncovered
        if least <= last <= end:
            return max(begin, last - MOST_COVERED + 1), last
    return None


def is_due(overlays: Sequence[Overlay], depth: int, shown_from: int) -> bool:
    """Whether a window whose tail begins at `shown_from` makes a job due (E-7).

    That is, where 3 or more neighbours between head and tail are under no overlay, and some can be covered.
    """
    between = [(max(first, HEAD_MESSAGES + 1), last) for first, last in uncovered(overlays, shown_from - 1)]
    wide = any(last - first + 1 >= LEAST_COVERED for first, last in between)
    return wide and next_range(overlays, depth) is not None


def _last_open(depth: int, closed: Sequence[DepthRange]) -> int:
    """The last depth up to this one that is not closed."""
    while inside := next((one for one in closed if one[0] <= depth <= one[1]), None):
        depth = inside[0] - 1
    return depth


def _first_open(depth: int, closed: Sequence[DepthRange]) -> int:
    """The first depth from this one on that is not closed."""
    while inside := next((one for one in closed if one[0] <= depth <= one[1]), None):
        depth = inside[1] + 1
    return depth


def must_fold(overlays: Sequence[Overlay], rules: CoverRules) -> bool:
    """Whether a path's live overlays exceed their share, so that the oldest are folded into one (E-7)."""
    return len(overlays) > 1 and sum(overlay.token_count for overlay in overlays) > rules.fold_tokens


def check_new(new: Overlay, others: Sequence[Overlay], folded: Sequence[Overlay]) -> None:
    """Refuses an overlay that overlaps another of a common path, or that folds what it does not cover.

    `others` are the live overlays that share a path with it, those to be folded left out. Raises
    StateConflict.
    """
    for other in others:
        if other.from_depth <= new.to_depth and new.from_depth <= other.to_depth:
            problem = FieldProblem(field="from_message_id", description=f"overlaps overlay {other.id}")
            raise StateConflict("overlays of one path must not overlap", fields=[problem])
    for one in folded:
        if one.superseded_by:
            raise StateConflict("an overlay to be folded is superseded already")
        if one.from_depth < new.from_depth or new.to_depth < one.to_depth:
            raise StateConflict("an overlay to be folded reaches beyond the new one")
    if folded and sum(one.message_count for one in folded) != new.message_count:
        raise StateConflict("the overlays to be folded must cover the new one's range without a gap")
