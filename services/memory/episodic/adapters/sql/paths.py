"""The trees of conversations, and what lies along a path (SPEC E-3)."""

from __future__ import annotations

import json
from collections.abc import Sequence

from services.kit.sql import Row, Script, fetch, first
from services.memory.episodic.adapters.sql.places import SEQUENCE_MASK, place
from services.memory.episodic.domain.coverage import is_shown
from services.memory.episodic.domain.model import Fold, Message, Overlay, Role
from services.memory.episodic.domain.tree import Range, Run, Tree

MESSAGE_COLUMNS = "place, id, parent_id, role, author, session, time, create_time, token_count, content"
SELECT_MESSAGES = f"SELECT {MESSAGE_COLUMNS} FROM messages"
OVERLAY_COLUMNS = (
    "id, from_id, to_id, from_sequence, to_sequence, from_depth, to_depth, message_tokens, summary,"
    " token_count, source_ids, model, create_time, folded, revision"
)
SELECT_OVERLAYS = f"SELECT {OVERLAY_COLUMNS} FROM overlays WHERE tenant = ? AND conversation = ?"


def later_runs(tenant: str, number: int) -> Script[list[Run]]:
    """The runs after the first one, of the conversation with that number."""
    rows = yield from fetch(
        "SELECT first, base, depth FROM runs WHERE tenant = ? AND conversation = ? ORDER BY first",
        tenant,
        number,
    )
    return [Run(first=row["first"], base=row["base"], depth=row["depth"]) for row in rows]


def tree_of(tenant: str, conversation: Row) -> Script[Tree]:
    """The tree of a conversation, given its row."""
    number, count = conversation["number"], conversation["stored_count"]
    return (yield from tree_with(tenant, number, count, conversation["leaf_depth"]))


def tree_with(tenant: str, number: int, count: int, leaf_depth: int) -> Script[Tree]:
    """The tree of a conversation with so many messages; one that never forked needs no look."""
    if leaf_depth == count:
        return Tree(count)
    return Tree(count, (yield from later_runs(tenant, number)))


def live_overlays(
    tenant: str, number: int, conversation_id: str, tree: Tree, leaf: int
) -> Script[list[Overlay]]:
    """The live overlays of a path, by depth.

    Those that were folded into none are one read of an index. Others can be among them only where a fold's
    last message is not on the path: nowhere on the path to the leaf of a conversation that never forked.
    """
    rows = yield from fetch(
        f"{SELECT_OVERLAYS} AND folded = FALSE AND to_sequence <= ? ORDER BY to_sequence",
        *(tenant, number, leaf),
    )
    ranges = tree.path(leaf)
    live = [overlay_of(row, conversation_id) for row in rows if _within(row["to_sequence"], ranges)]
    if leaf == tree.count and not tree.later:
        return live
    _, trunk_end = ranges[-1] if ranges else (0, 0)
    rows = yield from fetch(
        f"{SELECT_OVERLAYS} AND folded = TRUE AND to_sequence <= ? AND id IN"
        " (SELECT overlay FROM folds WHERE tenant = ? AND conversation = ? AND to_sequence > ?)",
        *(tenant, number, leaf, tenant, number, trunk_end),
    )
    on_path = [row for row in rows if _within(row["to_sequence"], ranges)]
    found = yield from overlays_of(tenant, number, conversation_id, on_path)
    live += [overlay for overlay in found if is_shown(overlay, tree, leaf)]
    return sorted(live, key=lambda overlay: overlay.to_depth)


def tokens_in(tenant: str, number: int, ranges: Sequence[Range]) -> Script[int]:
    """The tokens of the messages in ranges of sequence numbers."""
    total = 0
    for begin, last in ranges:
        row = yield from first(
            "SELECT CAST(coalesce(sum(token_count), 0) AS BIGINT) AS tokens FROM messages"
            " WHERE tenant = ? AND place BETWEEN ? AND ?",
            tenant,
            place(number, begin),
            place(number, last),
        )
        total += 0 if row is None else row["tokens"]
    return total


def messages_in(
    tenant: str, number: int, conversation_id: str, tree: Tree, ranges: Sequence[Range]
) -> Script[list[Message]]:
    """The messages in ranges of sequence numbers, in the ranges' order."""
    messages: list[Message] = []
    for begin, last in ranges:
        rows = yield from fetch(
            f"{SELECT_MESSAGES} WHERE tenant = ? AND place BETWEEN ? AND ? ORDER BY place",
            tenant,
            place(number, begin),
            place(number, last),
        )
        messages += [message_of(row, conversation_id, tree) for row in rows]
    return messages


def message_of(row: Row, conversation_id: str, tree: Tree) -> Message:
    """From MESSAGE_COLUMNS."""
    sequence = row["place"] & SEQUENCE_MASK
    return Message(
        id=row["id"],
        conversation_id=conversation_id,
        sequence=sequence,
        depth=tree.depth(sequence),
        parent_id=row["parent_id"],
        role=Role(row["role"]),
        author=row["author"],
        session=row["session"],
        time=row["time"],
        create_time=row["create_time"],
        token_count=row["token_count"],
        content=row["content"],
    )


def overlays_of(tenant: str, number: int, conversation_id: str, rows: Sequence[Row]) -> Script[list[Overlay]]:
    """From OVERLAY_COLUMNS, each with its folds."""
    folded = [row["id"] for row in rows if row["folded"]]
    folds: dict[str, list[Fold]] = {}
    if folded:
        found = yield from fetch(
            "SELECT overlay, folded_into, to_sequence FROM folds"
            " WHERE tenant = ? AND conversation = ? AND overlay IN ?? ORDER BY revision",
            *(tenant, number, folded),
        )
        for one in found:
            fold = Fold(id=one["folded_into"], to_sequence=one["to_sequence"])
            folds.setdefault(one["overlay"], []).append(fold)
    return [overlay_of(row, conversation_id, folds.get(row["id"], ())) for row in rows]


def overlay_of(row: Row, conversation_id: str, folds: Sequence[Fold] = ()) -> Overlay:
    """From OVERLAY_COLUMNS, and what it was folded into."""
    return Overlay(
        id=row["id"],
        conversation_id=conversation_id,
        from_id=row["from_id"],
        to_id=row["to_id"],
        from_sequence=row["from_sequence"],
        to_sequence=row["to_sequence"],
        from_depth=row["from_depth"],
        to_depth=row["to_depth"],
        message_tokens=row["message_tokens"],
        summary=row["summary"],
        token_count=row["token_count"],
        source_ids=tuple(json.loads(row["source_ids"])),
        model=row["model"],
        create_time=row["create_time"],
        folds=tuple(folds),
        revision=row["revision"],
    )


def _within(sequence: int, ranges: Sequence[Range]) -> bool:
    return any(begin <= sequence <= last for begin, last in ranges)
