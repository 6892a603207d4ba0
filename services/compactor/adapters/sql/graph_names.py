"""By which names conversations came to branches, and what a branch may be called before them (J-13, S-13)."""

from __future__ import annotations

from services.compactor.adapters.sql.graph_rows import ACTIVE, GROUP, WHOSE, Whose
from services.compactor.domain.graph import EventKind, Names
from services.compactor.domain.graph_names import spelled
from services.kit.sql import Script, execute, fetch


def _branch_of(alias: str) -> str:
    """Joins, as b, the branch of a row of links or slugs."""
    return (
        f"JOIN graph_branches b ON b.tenant = {alias}.tenant AND b.agent_id = {alias}.agent_id"
        f" AND b.branch_id = {alias}.branch_id"
    )


def came_by(whose: Whose, conversation_id: str, branch_id: str, slug: str, *, by_hand: bool) -> Script[None]:
    """Notes a name by which a conversation came to a branch, if it is linked to that."""
    yield from execute(
        "INSERT INTO graph_names (tenant, agent_id, conversation_id, branch_id, slug, by_hand)"
        f" SELECT tenant, agent_id, conversation_id, branch_id, ?, {'TRUE' if by_hand else 'FALSE'}"
        f" FROM graph_links WHERE {WHOSE} AND conversation_id = ? AND branch_id = ?"
        " ON CONFLICT (tenant, agent_id, conversation_id, branch_id, slug)"
        " DO UPDATE SET by_hand = graph_names.by_hand OR excluded.by_hand",
        slug,
        *whose,
        conversation_id,
        branch_id,
    )


def forget(whose: Whose, conversation_id: str) -> Script[None]:
    """Takes away the names of a conversation that its summary gave: a newer one tells them all."""
    yield from execute(
        f"DELETE FROM graph_names WHERE {WHOSE} AND conversation_id = ? AND NOT by_hand",
        *whose,
        conversation_id,
    )


def of_conversation(whose: Whose, conversation_id: str) -> Script[set[tuple[str, str]]]:
    """The roots of a conversation, each with the names of its group by which it came, and with ""."""
    found = yield from fetch(
        f"SELECT b.root_id, '' AS slug FROM graph_links l {_branch_of('l')}"
        f" WHERE l.tenant = ? AND l.agent_id = ? AND l.conversation_id = ? AND {ACTIVE}"
        " UNION SELECT b.root_id, n.slug FROM graph_names n JOIN graph_slugs s ON s.tenant = n.tenant"
        f" AND s.agent_id = n.agent_id AND s.slug = n.slug {_branch_of('s')}"
        " WHERE n.tenant = ? AND n.agent_id = ? AND n.conversation_id = ?",
        *(*whose, conversation_id),
        *(*whose, conversation_id),
    )
    roots = {row["root_id"] for row in found if not row["slug"]}
    return {(row["root_id"], row["slug"]) for row in found if row["root_id"] in roots}


def names(whose: Whose, root_id: str, among: str) -> Script[Names | None]:
    """Names of a group by which a conversation that is in it came, or that a caller gave.

    A merged branch keeps its names when the conversations that gave them are gone. Which branch of the group
    a conversation is linked to says nothing: a split may have taken it to another than its name's. With
    `among` only those conversations count that are in the group of this root too.

    The name that a branch goes by is one of its conversations', also of one without names, which a replica of
    an earlier version linked: it is the name that made the branch, and so theirs, or else a caller's.
    """
    common = (
        f" AND l.conversation_id IN (SELECT o.conversation_id FROM graph_links o WHERE o.tenant = ?"
        f" AND o.agent_id = ? AND o.moved_to = '' AND o.branch_id IN {GROUP})"
        if among
        else ""
    )
    # CROSS JOIN has SQLite take the tables in this order: without statistics it reads all links of the agent.
    found = yield from fetch(
        "SELECT s.slug, b.branch_id, b.slug AS own, b.name FROM graph_branches b CROSS JOIN graph_slugs s"
        " WHERE b.tenant = ? AND b.agent_id = ? AND b.root_id = ? AND s.tenant = b.tenant"
        " AND s.agent_id = b.agent_id AND s.branch_id = b.branch_id AND (EXISTS (SELECT 1 FROM graph_names n"
        " CROSS JOIN graph_branches g CROSS JOIN graph_links l WHERE l.tenant = n.tenant"
        " AND l.agent_id = n.agent_id AND l.conversation_id = n.conversation_id AND g.tenant = l.tenant"
        " AND g.agent_id = l.agent_id AND g.branch_id = l.branch_id AND n.tenant = s.tenant"
        " AND n.agent_id = s.agent_id"
        f" AND n.slug = s.slug AND g.root_id = b.root_id AND {ACTIVE}{common})"
        " OR (s.slug = b.slug AND EXISTS (SELECT 1 FROM graph_links l WHERE l.tenant = s.tenant"
        f" AND l.agent_id = s.agent_id AND l.branch_id = s.branch_id AND {ACTIVE}{common}))"
        " OR EXISTS (SELECT 1 FROM graph_events e"
        " WHERE e.tenant = s.tenant AND e.agent_id = s.agent_id AND e.branch_id = s.branch_id"
        " AND e.slug = s.slug AND e.kind IN (?, ?) AND NOT e.automatic)) ORDER BY s.slug",
        *whose,
        root_id,
        *((*whose, *whose, among, *whose, *whose, among) if among else ()),
        EventKind.CREATED.value,
        EventKind.RENAMED.value,
    )
    if not found:
        return None
    # Its own name first, else that by which another of its group goes.
    title = min(found, key=lambda row: (row["branch_id"] != root_id, row["slug"] != row["own"]))
    return Names(
        title=title["name"] if title["slug"] == title["own"] else spelled(title["slug"]),
        slug=title["slug"],
        slugs=tuple(row["slug"] for row in found if row["slug"] != title["slug"]),
    )
