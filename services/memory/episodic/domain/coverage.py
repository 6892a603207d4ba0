"""When messages get an overlay, and which (SPEC E-7, E-8). Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from services.kit.errors import FieldProblem, StateConflict
from services.memory.episodic.domain.model import DepthRange, Overlay
from services.memory.episodic.domain.tree import Tree
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
    """Whether what is uncovered makes a job due, given that a range may be covered (E-8).

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


def goes_on(
    new: Overlay, overlays: Sequence[Overlay], progress: Progress, closed: Sequence[DepthRange]
) -> bool:
    """Whether an overlay that covered more of the active path makes the next job due (E-8).

    That is, while there is more to cover of what there was when a job was asked for: one overlay holds 60
    messages at most, fewer if they are long. One that is full goes on with all that there is now. `progress`
    is what was `requested` before it, `overlays` are the live ones with it.
    """
    depth = progress.depth if new.message_count >= MOST_COVERED else progress.requested
    return next_range(overlays, depth, closed) is not None


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


def is_shown(overlay: Overlay, tree: Tree, leaf: int) -> bool:
    """Whether the path to a message shows an overlay.

    That is, where it holds the overlay's last message, and the last message of nothing that the overlay was
    folded into. So what was folded on one branch goes on being shown on those that left it before.
    """
    return tree.on_path(overlay.to_sequence, leaf) and not any(
        tree.on_path(fold.to_sequence, leaf) for fold in overlay.folds
    )


def foldable(overlays: Sequence[Overlay], closed: Sequence[DepthRange]) -> list[Overlay]:
    """Those live overlays of a path that an overlay over several of them may end with.

    Where one ends in `closed` (see next_range), so would the new one.
    """
    return [one for one in overlays if not any(begin <= one.to_depth <= end for begin, end in closed)]


def must_fold(overlays: Sequence[Overlay], rules: CoverRules) -> bool:
    """Whether a path's live overlays exceed their share, so that the oldest are folded into one (E-7)."""
    return len(overlays) > 1 and sum(overlay.token_count for overlay in overlays) > rules.fold_tokens


def check_new(new: Overlay, others: Sequence[Overlay], folded: Sequence[Overlay], tree: Tree) -> None:
    """Refuses an overlay that some path would show over the same messages as another, or that folds what
    its own path does not show, or what is not its range.

    `others` may hold any overlays of the conversation, those to be folded too. Raises StateConflict.
    """
    for one in folded:
        if not tree.on_path(one.to_sequence, new.to_sequence):
            raise StateConflict("an overlay to be folded lies on another branch")
        if not is_shown(one, tree, new.to_sequence):
            raise StateConflict("an overlay to be folded is superseded already")
        if one.from_depth < new.from_depth or new.to_depth < one.to_depth:
            raise StateConflict("an overlay to be folded reaches beyond the new one")
    replaced = {one.id for one in folded}
    for other in others:
        if other.id not in replaced and _overlap(new, other, tree):
            problem = FieldProblem(field="from_message_id", description=f"overlaps overlay {other.id}")
            raise StateConflict("overlays of one path must not overlap", fields=[problem])
    if folded and sum(one.message_count for one in folded) != new.message_count:
        raise StateConflict("the overlays to be folded must cover the new one's range without a gap")


def _overlap(one: Overlay, other: Overlay, tree: Tree) -> bool:
    """Whether some path shows both over the same messages: if any does, the shortest that holds both ends."""
    leaf = max(one.to_sequence, other.to_sequence)
    return (
        other.from_depth <= one.to_depth
        and one.from_depth <= other.to_depth
        and is_shown(one, tree, leaf)
        and is_shown(other, tree, leaf)
    )
