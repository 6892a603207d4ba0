"""Which conversations are filed under which branches (SPEC J-13)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime

from services.compactor.adapters.sql import graph_names
from services.compactor.adapters.sql import graph_rows as rows
from services.compactor.adapters.sql.graph_rows import WHOSE, Whose
from services.compactor.domain.graph import EventKind, Naming, NewLink
from services.kit.errors import NotFound, StateConflict
from services.kit.sql import Row, Script, execute, fetch, first
from services.kit.times import to_micros

Change = Callable[[], Script[str]]
"""A script that changes the graph, and gives the root that it is about."""


def by_summary(
    whose: Whose,
    conversation_id: str,
    version: int,
    links: Sequence[NewLink],
    told: Collection[str],
    now: datetime,
) -> Script[list[str]]:
    """Files a conversation as a version of its summary says; the roots it is filed under, in order.

    Links of an earlier version stay where `told`, the slugs of what the summary speaks of, has a name of
    their branch; the others go, but for those by hand. A version that is no newer than the
    last changes nothing.
    """
    yield from rows.lock(whose)
    if (yield from _newer(whose, conversation_id, version)):
        before = yield from graph_names.of_conversation(whose, conversation_id)
        yield from graph_names.forget(whose, conversation_id)
        linked = []
        for one in sorted(links, key=lambda link: link.naming.slug):
            linked.append((yield from _link(whose, conversation_id, one, now, by_hand=False)))
        kept = set(linked)
        for slug in sorted(told):
            named = yield from rows.owner(whose, slug)
            if named is not None:
                branch_id = yield from _followed(whose, named, conversation_id)
                yield from graph_names.came_by(whose, conversation_id, branch_id, slug, by_hand=False)
                kept.add(branch_id)
        dropped = yield from _drop(whose, conversation_id, kept)
        yield from rows.pages(whose, [*dropped, *(yield from _established(whose, conversation_id))])
        after = yield from graph_names.of_conversation(whose, conversation_id)
        yield from rows.searched(whose, {root_id for root_id, _ in before ^ after})
    return [row["root_id"] for row in (yield from _roots(whose, conversation_id))]


def by_call(whose: Whose, conversation_id: str, link: NewLink, now: datetime) -> Script[str]:
    """Files a conversation under a name, whatever its summary says; the root."""
    yield from rows.lock(whose)
    branch_id = yield from _link(whose, conversation_id, link, now, by_hand=True)
    root_id = str((yield from rows.known(whose, branch_id))["root_id"])
    yield from rows.changed(whose, [root_id])
    return root_id


def forget(whose: Whose, conversation_id: str, version: int) -> Script[None]:
    """Takes out a conversation that is no more (D-2), and the branches that nothing else is left in.

    `version` is that of its erased summary: what was derived from that comes too late.
    """
    yield from rows.lock(whose)
    yield from _newer(whose, conversation_id, version)
    yield from rows.changed(whose, (yield from _drop(whose, conversation_id, set(), wholly=True)))


def split(
    whose: Whose, ref: str, naming: Naming, conversation_ids: Sequence[str], now: datetime
) -> Script[tuple[str, str]]:
    """Takes conversations out into a new branch; (the new one, the one they were in)."""
    yield from rows.lock(whose)
    root_id = (yield from rows.known(whose, ref))["root_id"]
    taken = yield from rows.owner(whose, naming.slug)
    if taken is not None:
        raise StateConflict("the name is, or was, a branch's")
    made = yield from rows.create(whose, naming, now, by_hand=True)
    for conversation_id in sorted(set(conversation_ids)):
        yield from _move(whose, root_id, conversation_id, made)
    slug = (yield from rows.known(whose, root_id))["slug"]
    yield from rows.event(whose, root_id, EventKind.SPLIT, slug, now, other_id=made)
    yield from rows.touch(whose, root_id, now)
    for one in (root_id, made):
        yield from rows.recount(whose, one)
    yield from rows.changed(whose, (made, root_id))
    return made, root_id


def _newer(whose: Whose, conversation_id: str, version: int) -> Script[bool]:
    """Notes a version; whether it is newer than the last."""
    noted = yield from first(
        "INSERT INTO graph_conversations (tenant, agent_id, conversation_id, version) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (tenant, agent_id, conversation_id) DO UPDATE SET version = excluded.version"
        " WHERE graph_conversations.version < excluded.version RETURNING version",
        *whose,
        conversation_id,
        version,
    )
    return noted is not None


def _link(whose: Whose, conversation_id: str, link: NewLink, now: datetime, *, by_hand: bool) -> Script[str]:
    named = yield from rows.owner(whose, link.naming.slug)
    if named is None:
        branch_id = yield from rows.create(whose, link.naming, now, by_hand=by_hand)
        root_id = branch_id
    else:
        branch_id = named["branch_id"] if by_hand else (yield from _followed(whose, named, conversation_id))
        root_id = (yield from rows.known(whose, branch_id))["root_id"]
    if by_hand:
        yield from execute(
            f"UPDATE graph_branches SET by_hand = TRUE WHERE {WHOSE} AND branch_id = ?", *whose, branch_id
        )
    yield from execute(
        "INSERT INTO graph_links (tenant, agent_id, branch_id, conversation_id, relevance, by_hand,"
        " linked, moved_to) VALUES (?, ?, ?, ?, ?, ?, ?, '')"
        " ON CONFLICT (tenant, agent_id, branch_id, conversation_id) DO UPDATE SET linked = excluded.linked,"
        " relevance = CASE WHEN graph_links.by_hand AND NOT excluded.by_hand THEN graph_links.relevance"
        " ELSE excluded.relevance END, by_hand = graph_links.by_hand OR excluded.by_hand, moved_to = ''",
        *whose,
        branch_id,
        conversation_id,
        float(link.relevance),
        by_hand,
        to_micros(now),
    )
    yield from graph_names.came_by(whose, conversation_id, branch_id, link.naming.slug, by_hand=by_hand)
    yield from rows.recount(whose, root_id)
    return branch_id


def _followed(whose: Whose, named: Row, conversation_id: str) -> Script[str]:
    """Where a conversation that comes under a branch's name belongs: there, or where splits took it to."""
    moves = yield from fetch(
        "SELECT l.moved_to, b.root_id FROM graph_links l JOIN graph_branches b ON b.tenant = l.tenant"
        " AND b.agent_id = l.agent_id AND b.branch_id = l.branch_id"
        " WHERE l.tenant = ? AND l.agent_id = ? AND l.conversation_id = ? AND l.moved_to <> ''"
        " ORDER BY l.moved_to DESC",
        *whose,
        conversation_id,
    )
    branch_id, root_id = str(named["branch_id"]), named["root_id"]
    seen: set[str] = set()
    while True:
        onward = [
            row["moved_to"] for row in moves if row["root_id"] == root_id and row["moved_to"] not in seen
        ]
        if not onward:
            return branch_id
        branch_id = onward[0]
        seen.add(branch_id)
        root_id = (yield from rows.known(whose, branch_id))["root_id"]


def _move(whose: Whose, root_id: str, conversation_id: str, made: str) -> Script[None]:
    of = f"{WHOSE} AND conversation_id = ? AND moved_to = '' AND branch_id IN {rows.GROUP}"
    found = yield from fetch(
        f"SELECT relevance, by_hand, linked FROM graph_links WHERE {of}",
        *whose,
        conversation_id,
        *whose,
        root_id,
    )
    if not found:
        raise NotFound("conversation of the branch", conversation_id)
    yield from execute(
        f"UPDATE graph_links SET moved_to = ? WHERE {of}", made, *whose, conversation_id, *whose, root_id
    )
    yield from execute(
        "INSERT INTO graph_links (tenant, agent_id, branch_id, conversation_id, relevance, by_hand, linked,"
        " moved_to) VALUES (?, ?, ?, ?, ?, ?, ?, '')",
        *whose,
        made,
        conversation_id,
        max(row["relevance"] for row in found),
        any(row["by_hand"] for row in found),
        max(row["linked"] for row in found),
    )


def _drop(
    whose: Whose, conversation_id: str, kept: Collection[str], *, wholly: bool = False
) -> Script[list[str]]:
    """Deletes a conversation's links but for some branches', and the groups that nothing is left in.

    The roots that it was taken out of.
    """
    spared = "" if wholly else " AND NOT l.by_hand AND l.moved_to = ''"
    found = yield from fetch(
        "SELECT l.branch_id, b.root_id FROM graph_links l JOIN graph_branches b ON b.tenant = l.tenant"
        " AND b.agent_id = l.agent_id AND b.branch_id = l.branch_id"
        f" WHERE l.tenant = ? AND l.agent_id = ? AND l.conversation_id = ?{spared}",
        *whose,
        conversation_id,
    )
    gone = [row for row in found if row["branch_id"] not in kept]
    yield from execute(
        f"DELETE FROM graph_links WHERE {WHOSE} AND conversation_id = ? AND branch_id IN ??",
        *whose,
        conversation_id,
        sorted(row["branch_id"] for row in gone),
    )
    roots = sorted({row["root_id"] for row in gone})
    for root_id in roots:
        yield from rows.recount(whose, root_id)
        yield from _prune(whose, root_id)
    return roots


def _prune(whose: Whose, root_id: str) -> Script[None]:
    """Deletes a group that has no conversations, unless somebody gave one of it a name."""
    left = yield from first(
        f"SELECT branch_id FROM graph_links WHERE {WHOSE} AND branch_id IN {rows.GROUP} LIMIT 1",
        *whose,
        *whose,
        root_id,
    )
    members = yield from fetch(
        f"SELECT branch_id, by_hand FROM graph_branches WHERE {WHOSE} AND root_id = ?", *whose, root_id
    )
    if left is not None or any(row["by_hand"] for row in members):
        return
    ids = [row["branch_id"] for row in members]
    for table, column in (
        ("graph_slugs", "branch_id"),
        ("graph_events", "branch_id"),
        ("graph_proposals", "lesser_id"),
        ("graph_proposals", "greater_id"),
        ("graph_branches", "branch_id"),
    ):
        yield from execute(f"DELETE FROM {table} WHERE {WHOSE} AND {column} IN ??", *whose, ids)


def _established(whose: Whose, conversation_id: str) -> Script[list[str]]:
    """Of a conversation's roots those that have a page, or are to get one."""
    found = yield from _roots(whose, conversation_id)
    return (yield from rows.established(whose, [row["root_id"] for row in found]))


def _roots(whose: Whose, conversation_id: str) -> Script[Sequence[Row]]:
    return (
        yield from fetch(
            "SELECT DISTINCT b.root_id FROM graph_links l JOIN graph_branches b"
            " ON b.tenant = l.tenant AND b.agent_id = l.agent_id AND b.branch_id = l.branch_id"
            f" WHERE l.tenant = ? AND l.agent_id = ? AND l.conversation_id = ? AND {rows.ACTIVE}"
            " ORDER BY b.root_id",
            *whose,
            conversation_id,
        )
    )
