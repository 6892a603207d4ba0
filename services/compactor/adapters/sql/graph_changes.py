"""Merging branches, taking that back, and giving them other names (SPEC J-13)."""

from __future__ import annotations

from datetime import datetime

from services.compactor.adapters.sql import graph_proposals
from services.compactor.adapters.sql import graph_rows as rows
from services.compactor.adapters.sql.graph_rows import WHOSE, Whose
from services.compactor.domain.graph import EventKind, Naming
from services.kit.errors import InvalidField, StateConflict
from services.kit.sql import Script, execute
from services.kit.times import to_micros


def merge(whose: Whose, ref: str, into: str, now: datetime) -> Script[str]:
    """Merges the branch that goes by a name into another; the root of both.

    Two that are one already stay as they are: of a merge and its opposite at once, the first is done.
    """
    yield from rows.lock(whose)
    source = yield from rows.known(whose, ref)
    target = yield from rows.known(whose, into)
    if source["branch_id"] == target["branch_id"]:
        raise InvalidField("into", "is the branch itself")
    return (yield from join(whose, source["root_id"], target["root_id"], now, automatic=False))


def join(whose: Whose, root_id: str, into_id: str, now: datetime, *, automatic: bool) -> Script[str]:
    """Merges a root into another, under the lock; the one that stays."""
    if root_id == into_id:
        return into_id
    slug = (yield from rows.known(whose, into_id))["slug"]
    yield from rows.set_roots(whose, root_id, into_id, root_id)
    yield from rows.event(whose, root_id, EventKind.MERGED, slug, now, other_id=into_id, automatic=automatic)
    for one in (root_id, into_id):
        yield from rows.touch(whose, one, now)
    yield from rows.recount(whose, into_id)
    yield from graph_proposals.settle(whose, into_id, now)
    yield from rows.changed(whose, (root_id, into_id))
    return into_id


def undo_merge(whose: Whose, ref: str, now: datetime) -> Script[str]:
    """Lets a merged branch stand by itself, with what was merged into it before."""
    yield from rows.lock(whose)
    merged = yield from rows.known(whose, ref)
    if not merged["merged_into"]:
        raise StateConflict("the branch was not merged into another")
    branch_id, parent, root_id = merged["branch_id"], merged["merged_into"], merged["root_id"]
    yield from rows.set_roots(whose, root_id, "", branch_id)
    yield from rows.event(whose, branch_id, EventKind.UNMERGED, merged["slug"], now, other_id=parent)
    for one in (branch_id, root_id):
        yield from rows.touch(whose, one, now)
        yield from rows.recount(whose, one)
    yield from graph_proposals.keep_apart(whose, branch_id, parent, now)
    yield from rows.changed(whose, (branch_id, root_id))
    return str(branch_id)


def rename(whose: Whose, ref: str, naming: Naming, now: datetime) -> Script[str]:
    """Gives a root another name, one of its own or one that nobody had."""
    yield from rows.lock(whose)
    root_id = str((yield from rows.known(whose, ref))["root_id"])
    taken = yield from rows.owner(whose, naming.slug)
    if taken is None:
        yield from rows.claim(whose, naming.slug, root_id)
    elif taken["branch_id"] != root_id:
        raise StateConflict("the name is, or was, another branch's: the two can be merged")
    yield from execute(
        "UPDATE graph_branches SET slug = ?, name = ?, vector = ?, model = ?, by_hand = TRUE, updated = ?"
        f" WHERE {WHOSE} AND branch_id = ?",
        naming.slug,
        naming.name,
        naming.vector,
        naming.model,
        to_micros(now),
        *whose,
        root_id,
    )
    yield from rows.event(whose, root_id, EventKind.RENAMED, naming.slug, now)
    yield from rows.changed(whose, (root_id,))
    return root_id
