"""What is covered along a path, and what is due to be covered there (SPEC E-7, E-8)."""

from __future__ import annotations

from collections.abc import Sequence

from services.kit.sql import Script, fetch
from services.memory.episodic.adapters.sql.paths import live_overlays, tree_with
from services.memory.episodic.domain.coverage import CoverRules, Progress, must_cover, next_range
from services.memory.episodic.domain.model import DepthRange, Leaf, Overlay
from services.memory.episodic.domain.tree import Tree


def progress_of(leaf: Leaf, live: Sequence[Overlay], requested: int) -> Progress:
    """What is counted along the path to a leaf, given its live overlays."""
    return Progress(
        depth=leaf.depth,
        tokens=leaf.path_tokens,
        covered=sum(overlay.message_count for overlay in live),
        covered_tokens=sum(overlay.message_tokens for overlay in live),
        requested=requested,
    )


def closed_depths(tenant: str, number: int, tree: Tree, leaf: int) -> Script[list[DepthRange]]:
    """Where no overlay of a path may end: the depths that it shares with an overlay of another branch.

    What was folded lies within its fold, on the same branch, which closes as much or more.
    """
    if not tree.later:
        return []
    rows = yield from fetch(
        "SELECT from_depth, to_depth, to_sequence FROM overlays"
        " WHERE tenant = ? AND conversation = ? AND folded = FALSE",
        tenant,
        number,
    )
    closed = set()
    for row in rows:
        shared = tree.shared_depth(row["to_sequence"], leaf)
        if row["from_depth"] <= shared < row["to_depth"]:
            closed.add((row["from_depth"], shared))
    return sorted(closed)


def range_due(
    tenant: str, number: int, conversation_id: str, tree: Tree, leaf: Leaf
) -> Script[tuple[list[Overlay], DepthRange | None]]:
    """The live overlays of a path, and the depths that are to be covered next."""
    live = yield from live_overlays(tenant, number, conversation_id, tree, leaf.sequence)
    closed = yield from closed_depths(tenant, number, tree, leaf.sequence)
    return live, next_range(live, leaf.depth, closed)


def cover_due(
    tenant: str, number: int, count: int, leaf: Leaf, progress: Progress, rules: CoverRules
) -> Script[bool]:
    """Whether a job that covers messages is to be asked for (E-8): enough are uncovered, and some can be.

    `count` is how many messages the conversation holds on all its paths. Mostly it costs no look.
    """
    if not must_cover(progress, rules):
        return False
    tree = yield from tree_with(tenant, number, count, leaf.depth)
    _, chosen = yield from range_due(tenant, number, "", tree, leaf)
    return chosen is not None
