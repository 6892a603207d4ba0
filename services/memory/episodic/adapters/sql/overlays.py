"""Overlays: stored, folded, listed, and what is due to be covered (SPEC E-7, E-8, E-12)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from services.kit.errors import Exists, FieldProblem, InvalidField, NotFound, StateConflict
from services.kit.outbox import put_jobs
from services.kit.sql import Row, Script, execute, execute_many, fetch
from services.memory.episodic.adapters.sql import jobs
from services.memory.episodic.adapters.sql.conversations import conversation_row, leaf_of
from services.memory.episodic.adapters.sql.covering import closed_depths, progress_of, range_due
from services.memory.episodic.adapters.sql.paths import (
    OVERLAY_COLUMNS,
    SELECT_MESSAGES,
    SELECT_OVERLAYS,
    live_overlays,
    message_of,
    messages_in,
    overlay_of,
    overlays_of,
    tokens_in,
    tree_of,
)
from services.memory.episodic.adapters.sql.places import SEQUENCE_MASK, place
from services.memory.episodic.app.ports import Changes, NewOverlay, Page, Position, Progress, Uncovered
from services.memory.episodic.domain.checks import utf8_length
from services.memory.episodic.domain.coverage import (
    LEAST_COVERED,
    CoverRules,
    check_new,
    foldable,
    goes_on,
    must_cover,
    must_fold,
    next_range,
)
from services.memory.episodic.domain.model import ConversationKey, Leaf, Message, Overlay
from services.memory.episodic.domain.tree import Tree

MAX_SOURCES = 1000  # ids that an overlay names; those between the first and the last are known by its range


def put(key: ConversationKey, new: NewOverlay, now: int, rules: CoverRules) -> Script[Overlay]:
    """Stores an overlay and folds others into it; asks for the next one where that is due.

    Raises NotFound, InvalidField, Exists, StateConflict.
    """
    row = yield from conversation_row(key, lock=True)
    tree = yield from tree_of(key.tenant, row)
    known = yield from _by_ids(key, row, [new.id])
    overlay = yield from _placed(key, row, tree, new, now)
    if known and not new.replace:
        return _same(known[0], overlay)
    if known:
        return (yield from _replaced(key, row, tree, known[0], overlay, rules))
    folded = yield from _by_ids(key, row, list(new.folds))
    if len(folded) < len(set(new.folds)):
        raise NotFound("overlay", next(i for i in new.folds if i not in {one.id for one in folded}))
    check_new(overlay, (yield from _may_collide(key, row, tree, overlay)), folded, tree)
    yield from execute(
        f"INSERT INTO overlays (tenant, conversation, {OVERLAY_COLUMNS})"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        *(key.tenant, row["number"], overlay.id, overlay.from_id, overlay.to_id),
        *(overlay.from_sequence, overlay.to_sequence, overlay.from_depth, overlay.to_depth),
        *(overlay.message_tokens, overlay.summary, overlay.token_count, json.dumps(overlay.source_ids)),
        *(overlay.model, overlay.create_time, False, overlay.revision),
    )
    if folded:
        yield from _fold(key.tenant, row["number"], folded, overlay)
    yield from _count_coverage(key, row, tree, rules, overlay)
    return overlay


def _fold(tenant: str, number: int, folded: Sequence[Overlay], into: Overlay) -> Script[None]:
    yield from execute_many(
        "INSERT INTO folds (tenant, conversation, overlay, folded_into, to_sequence, revision)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        [(tenant, number, one.id, into.id, into.to_sequence, into.revision) for one in folded],
    )
    yield from execute(
        "UPDATE overlays SET folded = TRUE, revision = ? WHERE tenant = ? AND conversation = ? AND id IN ??",
        *(into.revision, tenant, number, [one.id for one in folded]),
    )


def _placed(key: ConversationKey, row: Row, tree: Tree, new: NewOverlay, now: int) -> Script[Overlay]:
    """The overlay with its place on the path to its last message."""
    rows = yield from fetch(
        "SELECT id, place FROM messages WHERE tenant = ? AND conversation = ? AND id IN ??",
        *(key.tenant, row["number"], [new.from_id, new.to_id]),
    )
    sequences = {found["id"]: found["place"] & SEQUENCE_MASK for found in rows}
    for message_id in (new.from_id, new.to_id):
        if message_id not in sequences:
            raise NotFound("message", message_id)
    begin, end = sequences[new.from_id], sequences[new.to_id]
    if not tree.on_path(begin, end):
        raise InvalidField("from_message_id", "does not lie on the path to to_message_id")
    from_depth, to_depth = tree.depth(begin), tree.depth(end)
    ranges = tree.stretch(from_depth, to_depth, end)
    sources = list(new.folds) or (yield from _ids_in(key.tenant, row["number"], ranges))
    return Overlay(
        id=new.id,
        conversation_id=key.id,
        from_id=new.from_id,
        to_id=new.to_id,
        from_sequence=begin,
        to_sequence=end,
        from_depth=from_depth,
        to_depth=to_depth,
        message_tokens=(yield from tokens_in(key.tenant, row["number"], ranges)),
        summary=new.summary,
        token_count=new.token_count,
        source_ids=tuple(sources[:MAX_SOURCES]),
        model=new.model,
        create_time=now,
        revision=row["revision"] + 1,
    )


def _same(known: Overlay, again: Overlay) -> Overlay:
    """The stored overlay; Exists when its id came with other content."""
    if (known.from_id, known.to_id, known.summary, known.source_ids) != (
        *(again.from_id, again.to_id, again.summary, again.source_ids),
    ):
        problem = FieldProblem(field="overlay_id", description="taken by another overlay")
        raise Exists("an overlay with this id has other content", fields=[problem])
    return known


def _replaced(
    key: ConversationKey, row: Row, tree: Tree, known: Overlay, new: Overlay, rules: CoverRules
) -> Script[Overlay]:
    """Puts other content in an overlay's place (J-17). What it was folded into says what it said, and goes.

    Raises StateConflict for another range.
    """
    if (known.from_id, known.to_id) != (new.from_id, new.to_id):
        raise StateConflict("what is to be replaced covers another range")
    if (known.summary, known.model) == (new.summary, new.model):
        return known
    yield from execute(
        "UPDATE overlays SET summary = ?, token_count = ?, model = ?, create_time = ?, revision = ?"
        " WHERE tenant = ? AND conversation = ? AND id = ?",
        *(new.summary, new.token_count, new.model, new.create_time, new.revision),
        *(key.tenant, row["number"], new.id),
    )
    yield from _unfold(key.tenant, row["number"], [known.id], new.revision)
    yield from _count_coverage(key, row, tree, rules, new)
    [stored] = yield from _by_ids(key, row, [new.id])
    return stored


def _unfold(tenant: str, number: int, ids: Sequence[str], revision: int) -> Script[None]:
    """Deletes whatever these were folded into, and what that was folded into; the parts are live again."""
    gone: set[str] = set()
    found = set(ids)
    while found:
        rows = yield from fetch(
            "SELECT DISTINCT folded_into FROM folds WHERE tenant = ? AND conversation = ? AND overlay IN ??",
            *(tenant, number, sorted(found)),
        )
        found = {one["folded_into"] for one in rows} - gone
        gone |= found
    if not gone:
        return
    parts = yield from fetch(
        "SELECT DISTINCT overlay FROM folds WHERE tenant = ? AND conversation = ? AND folded_into IN ??",
        *(tenant, number, sorted(gone)),
    )
    for text in (
        "DELETE FROM folds WHERE tenant = ? AND conversation = ? AND folded_into IN ??",
        "DELETE FROM overlays WHERE tenant = ? AND conversation = ? AND id IN ??",
    ):
        yield from execute(text, tenant, number, sorted(gone))
    still = yield from fetch(
        "SELECT DISTINCT overlay FROM folds WHERE tenant = ? AND conversation = ? AND overlay IN ??",
        *(tenant, number, sorted(one["overlay"] for one in parts)),
    )
    free = {one["overlay"] for one in parts} - {one["overlay"] for one in still} - gone
    yield from execute(
        "UPDATE overlays SET folded = FALSE, revision = ? WHERE tenant = ? AND conversation = ? AND id IN ??",
        *(revision, tenant, number, sorted(free)),
    )


def _may_collide(key: ConversationKey, row: Row, tree: Tree, new: Overlay) -> Script[list[Overlay]]:
    """The overlays that some path may show together with the new one.

    Those that its own path shows, and those that end beyond it and begin before its end, unless they were
    folded: then they lie within another such.
    """
    tenant, number, end = key.tenant, row["number"], new.to_sequence
    shown = yield from live_overlays(tenant, number, key.id, tree, end)
    beyond = yield from fetch(
        f"{SELECT_OVERLAYS} AND folded = FALSE AND to_sequence > ? AND from_sequence <= ?",
        *(tenant, number, end, end),
    )
    return shown + [overlay_of(one, key.id) for one in beyond]


def _count_coverage(
    key: ConversationKey, row: Row, tree: Tree, rules: CoverRules, new: Overlay
) -> Script[None]:
    """Counts what the active path has covered now, and asks for what is due next.

    What was asked for is due until the path is covered further: a fold, or another branch, is no progress.
    """
    tenant, number, leaf = key.tenant, row["number"], leaf_of(row)
    live = yield from live_overlays(tenant, number, key.id, tree, leaf.sequence)
    closed = yield from closed_depths(tenant, number, tree, leaf.sequence)
    progress = progress_of(leaf, live, row["cover_requested"])
    more = False
    if progress.covered != row["covered_count"]:
        more = goes_on(new, live, progress, closed)
        progress = replace(progress, requested=0)
    more = more or (must_cover(progress, rules) and next_range(live, leaf.depth, closed) is not None)
    requested = leaf.depth if more else progress.requested
    due = [jobs.cover_messages(key, new.revision, leaf)] if more else []
    if must_fold(foldable(live, closed), rules):
        due.append(jobs.fold_overlays(key, new.revision, leaf))
    yield from execute(
        "UPDATE conversations SET covered_count = ?, covered_tokens = ?, cover_requested = ?, revision = ?"
        " WHERE tenant = ? AND number = ?",
        *(progress.covered, progress.covered_tokens, requested, new.revision, tenant, number),
    )
    yield from put_jobs(tenant, due)


def listed(
    key: ConversationKey,
    row: Row,
    tree: Tree,
    leaf: Leaf,
    superseded: bool,
    limit: int,
    after: int | None,
) -> Script[Page[Overlay, int]]:
    """The overlays of a path, by the place of their last message and by age."""
    if superseded:
        every = yield from over(key, row, tree, 1, leaf.sequence)
    else:
        every = yield from live_overlays(key.tenant, row["number"], key.id, tree, leaf.sequence)
    found = sorted(
        (one for one in every if one.revision > (after or 0)),
        key=lambda one: (one.revision, one.to_sequence, one.id),
    )
    page = found[:limit]
    while len(page) < len(found) and found[len(page)].revision == page[-1].revision:
        page.append(found[len(page)])  # those that changed together stay together
    return Page(items=page, last=page[-1].revision if len(page) < len(found) else None)


def next_uncovered(key: ConversationKey, max_bytes: int) -> Script[Uncovered]:
    """What is to be covered next on the active path, as much as fits an answer."""
    row = yield from conversation_row(key)
    tree = yield from tree_of(key.tenant, row)
    leaf = leaf_of(row)
    live, chosen = yield from range_due(key.tenant, row["number"], key.id, tree, leaf)
    if chosen is None:
        return Uncovered(messages=(), previous_summary="")
    ranges = tree.stretch(*chosen, leaf.sequence)
    found = yield from messages_in(key.tenant, row["number"], key.id, tree, ranges)
    messages = _within_bytes(found, max_bytes, least=LEAST_COVERED)
    before = [overlay.summary for overlay in live if overlay.to_depth < chosen[0]]
    return Uncovered(messages=messages, previous_summary=before[-1] if before else "")


def over_share(key: ConversationKey, rules: CoverRules) -> Script[Sequence[Overlay]]:
    """Those live overlays of the active path that can be folded, when they are due to be."""
    row = yield from conversation_row(key)
    tree = yield from tree_of(key.tenant, row)
    leaf = row["leaf_sequence"]
    live = yield from live_overlays(key.tenant, row["number"], key.id, tree, leaf)
    found = foldable(live, (yield from closed_depths(key.tenant, row["number"], tree, leaf)))
    return found if must_fold(found, rules) else ()


def over(key: ConversationKey, row: Row, tree: Tree, from_depth: int, leaf: int) -> Script[list[Overlay]]:
    """The overlays whose last message is on the path to a message, from a depth on, by depth."""
    rows = yield from fetch(
        f"{SELECT_OVERLAYS} AND to_depth >= ? AND to_sequence <= ? ORDER BY from_depth, revision, id",
        *(key.tenant, row["number"], from_depth, leaf),
    )
    on_path = [one for one in rows if tree.on_path(one["to_sequence"], leaf)]
    return (yield from overlays_of(key.tenant, row["number"], key.id, on_path))


def changed(key: ConversationKey, after: Position | None, limit: int, max_bytes: int) -> Script[Changes]:
    """Messages and overlays that changed after a position, and how far derived work has come."""
    row = yield from conversation_row(key)
    tree = yield from tree_of(key.tenant, row)
    number = row["number"]
    after = after or Position(sequence=row["stored_count"], revision=row["revision"])
    rows: Sequence[Row] = ()
    if after.sequence < row["stored_count"]:
        rows = yield from fetch(
            f"{SELECT_MESSAGES} WHERE tenant = ? AND place > ? AND place <= ? ORDER BY place LIMIT ?",
            *(key.tenant, place(number, after.sequence), place(number, row["stored_count"]), limit),
        )
    messages = _within_bytes([message_of(found, key.id, tree) for found in rows], max_bytes)
    found = yield from fetch(
        f"{SELECT_OVERLAYS} AND revision > ? ORDER BY revision, to_sequence, id",
        *(key.tenant, number, after.revision),
    )
    sequence = messages[-1].sequence if messages else after.sequence
    return Changes(
        messages=messages,
        overlays=(yield from overlays_of(key.tenant, number, key.id, found)),
        progress=Progress(
            leaf=leaf_of(row), stored_count=row["stored_count"], covered_count=row["covered_count"]
        ),
        position=Position(sequence=sequence, revision=row["revision"]),
        more=sequence < row["stored_count"],
    )


def _within_bytes(messages: Sequence[Message], max_bytes: int, *, least: int = 1) -> Sequence[Message]:
    size = 0
    for count, message in enumerate(messages):
        size += utf8_length(message.content)
        if count >= least and size > max_bytes:
            return messages[:count]
    return messages


def _by_ids(key: ConversationKey, row: Row, ids: list[str]) -> Script[list[Overlay]]:
    if not ids:
        return []
    rows = yield from fetch(
        f"{SELECT_OVERLAYS} AND id IN ?? ORDER BY from_depth",
        *(key.tenant, row["number"], ids),
    )
    return (yield from overlays_of(key.tenant, row["number"], key.id, rows))


def _ids_in(tenant: str, number: int, ranges: Sequence[tuple[int, int]]) -> Script[list[str]]:
    ids: list[str] = []
    for begin, last in ranges:
        rows = yield from fetch(
            "SELECT id FROM messages WHERE tenant = ? AND place BETWEEN ? AND ? ORDER BY place LIMIT ?",
            *(tenant, place(number, begin), place(number, last), MAX_SOURCES),
        )
        ids += [row["id"] for row in rows]
    return ids
