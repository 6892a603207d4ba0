"""Rows of the graph of themes, and what every change of it does with them (SPEC J-13)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from services.compactor.app.graph_ports import WRITE_WIKI
from services.compactor.app.searching import index_job
from services.compactor.domain.documents import Kind as DocumentKind
from services.compactor.domain.graph import ESTABLISHED_AT, Branch, EventKind, Naming, subtree
from services.compactor.domain.graph_names import slugified
from services.compactor.domain.searchable import DocumentType, Source
from services.kit.errors import NotFound
from services.kit.ids import new_id
from services.kit.outbox import NewJob, put_jobs
from services.kit.sql import Row, Script, Value, execute, fetch, first
from services.kit.times import from_micros, to_micros

WHOSE = "tenant = ? AND agent_id = ?"
COLUMNS = "branch_id, slug, name, merged_into, root_id, conversations, last_link, created, updated"
ACTIVE = "l.moved_to = ''"
GROUP = "(SELECT branch_id FROM graph_branches WHERE tenant = ? AND agent_id = ? AND root_id = ?)"
Whose = tuple[str, str]
"""Tenant and agent, the arguments of WHOSE."""


def lock(whose: Whose) -> Script[None]:
    """Takes an agent's graph: others who change it wait, and then see what this one did."""
    yield from execute(
        "INSERT INTO graph_agents (tenant, agent_id, revision) VALUES (?, ?, 1)"
        " ON CONFLICT (tenant, agent_id) DO UPDATE SET revision = graph_agents.revision + 1",
        *whose,
    )


def owner(whose: Whose, ref: str) -> Script[Row | None]:
    """The branch itself, merged or not, of an id or of any name."""
    found = yield from first(
        f"SELECT {COLUMNS} FROM graph_branches WHERE {WHOSE} AND branch_id = ?", *whose, ref
    )
    if found is not None:
        return found
    return (
        yield from first(
            f"SELECT {COLUMNS} FROM graph_branches WHERE {WHOSE} AND branch_id ="
            " (SELECT branch_id FROM graph_slugs WHERE tenant = ? AND agent_id = ? AND slug = ?)",
            *whose,
            *whose,
            slugified(ref),
        )
    )


def known(whose: Whose, ref: str) -> Script[Row]:
    """The same. Raises NotFound."""
    found = yield from owner(whose, ref)
    if found is None:
        raise NotFound("branch", ref)
    return found


def branch(whose: Whose, root_id: str) -> Script[Branch]:
    """A root with what belongs to it. Raises NotFound."""
    return (yield from branches(whose, [(yield from known(whose, root_id))]))[0]


def branches(whose: Whose, rows: Sequence[Row]) -> Script[list[Branch]]:
    """Roots with what belongs to them."""
    ids = [row["branch_id"] for row in rows]
    members = yield from fetch(
        f"SELECT branch_id, root_id FROM graph_branches WHERE {WHOSE} AND root_id IN ?? ORDER BY branch_id",
        *whose,
        ids,
    )
    slugs = yield from fetch(
        "SELECT s.slug, b.root_id FROM graph_slugs s JOIN graph_branches b ON b.tenant = s.tenant"
        " AND b.agent_id = s.agent_id AND b.branch_id = s.branch_id"
        " WHERE b.tenant = ? AND b.agent_id = ? AND b.root_id IN ?? ORDER BY s.slug",
        *whose,
        ids,
    )
    return [_branch(row, members, slugs) for row in rows]


def _branch(row: Row, members: Sequence[Row], slugs: Sequence[Row]) -> Branch:
    own = row["branch_id"]
    return Branch(
        id=own,
        slug=row["slug"],
        name=row["name"],
        conversations=row["conversations"],
        last_link=None if row["last_link"] is None else from_micros(row["last_link"]),
        created=from_micros(row["created"]),
        updated=from_micros(row["updated"]),
        aliases=tuple(one["slug"] for one in slugs if one["root_id"] == own and one["slug"] != row["slug"]),
        merged_ids=tuple(
            one["branch_id"] for one in members if one["root_id"] == own and one["branch_id"] != own
        ),
    )


def create(whose: Whose, naming: Naming, now: datetime, *, by_hand: bool) -> Script[str]:
    """A branch of a slug that is free; its id."""
    made, moment = new_id(), to_micros(now)
    yield from execute(
        "INSERT INTO graph_branches (tenant, agent_id, branch_id, slug, name, merged_into, root_id, by_hand,"
        " conversations, last_link, model, vector, created, updated)"
        " VALUES (?, ?, ?, ?, ?, '', ?, ?, 0, NULL, ?, ?, ?, ?)",
        *whose,
        made,
        naming.slug,
        naming.name,
        made,
        by_hand,
        naming.model,
        naming.vector,
        moment,
        moment,
    )
    yield from claim(whose, naming.slug, made)
    yield from event(whose, made, EventKind.CREATED, naming.slug, now, automatic=not by_hand)
    return made


def claim(whose: Whose, slug: str, branch_id: str) -> Script[None]:
    """A free slug becomes a branch's, for good."""
    yield from execute(
        "INSERT INTO graph_slugs (tenant, agent_id, slug, branch_id) VALUES (?, ?, ?, ?)",
        *whose,
        slug,
        branch_id,
    )


def event(
    whose: Whose,
    branch_id: str,
    kind: EventKind,
    slug: str,
    now: datetime,
    *,
    other_id: str = "",
    automatic: bool = False,
) -> Script[None]:
    """Writes down what was done."""
    yield from execute(
        "INSERT INTO graph_events (tenant, agent_id, event_id, branch_id, kind, other_id, automatic, slug,"
        " created) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        *whose,
        new_id(),
        branch_id,
        kind.value,
        other_id,
        automatic,
        slug,
        to_micros(now),
    )


def recount(whose: Whose, root_id: str) -> Script[None]:
    """Counts the conversations of a root's group again."""
    counted = yield from first(
        "SELECT count(DISTINCT l.conversation_id) AS conversations, max(l.linked) AS last_link"
        f" FROM graph_links l WHERE l.tenant = ? AND l.agent_id = ? AND {ACTIVE} AND l.branch_id IN {GROUP}",
        *whose,
        *whose,
        root_id,
    )
    assert counted is not None, "a count has a row"
    yield from execute(
        f"UPDATE graph_branches SET conversations = ?, last_link = ? WHERE {WHOSE} AND branch_id = ?",
        counted["conversations"],
        counted["last_link"],
        *whose,
        root_id,
    )


def pages(whose: Whose, root_ids: Iterable[str]) -> Script[None]:
    """Asks for the pages of branches to be written again, with the change that this is a part of."""
    tenant, agent_id = whose
    jobs = [
        NewJob(
            type=WRITE_WIKI,
            agent_id=agent_id,
            subject=root_id,
            key=f"{WRITE_WIKI}/{agent_id}/{root_id}/{new_id()}",
            payload={"branch_id": root_id},
        )
        for root_id in sorted(set(root_ids))
    ]
    yield from put_jobs(tenant, jobs)


def changed(whose: Whose, root_ids: Iterable[str]) -> Script[None]:
    """Has pages written, and branches indexed, again: their names, or their conversations, are others."""
    roots = list(root_ids)
    yield from pages(whose, roots)
    yield from searched(whose, roots)


def established(whose: Whose, root_ids: Iterable[str]) -> Script[list[str]]:
    """Those of some roots that have a page, or are to get one."""
    ids = sorted(set(root_ids))
    found = yield from fetch(
        f"SELECT branch_id FROM graph_branches WHERE {WHOSE} AND conversations >= ? AND branch_id IN ??"
        " UNION SELECT subject FROM documents WHERE tenant = ? AND agent_id = ? AND kind = ? AND present"
        " AND subject IN ?? ORDER BY branch_id",
        *(*whose, ESTABLISHED_AT, ids),
        *(*whose, DocumentKind.WIKI.value, ids),
    )
    return [row["branch_id"] for row in found]


def searched(whose: Whose, root_ids: Iterable[str]) -> Script[None]:
    """Has the names of branches, and whose they are, indexed again, with their pages too (S-13)."""
    tenant, agent_id = whose
    roots = sorted(set(root_ids))
    sources = [
        *(Source(type=DocumentType.BRANCH, subject=root_id) for root_id in roots),
        *(
            Source(type=DocumentType.PAGE, subject=root_id)
            for root_id in (yield from established(whose, roots))
        ),
    ]
    yield from put_jobs(tenant, [index_job(agent_id, source, new_id()) for source in sources])


def touch(whose: Whose, branch_id: str, now: datetime) -> Script[None]:
    """Says that a branch changed."""
    yield from execute(
        f"UPDATE graph_branches SET updated = ? WHERE {WHOSE} AND branch_id = ?",
        to_micros(now),
        *whose,
        branch_id,
    )


def set_roots(whose: Whose, root_id: str, merged_into: str, top: str) -> Script[None]:
    """Points `top`, of the group of `root_id`, at another branch or at none, and gives its part its root.

    The other is a root of another group: so no pointers ever go round.
    """
    rows = yield from fetch(
        f"SELECT branch_id, merged_into FROM graph_branches WHERE {WHOSE} AND root_id = ?", *whose, root_id
    )
    part = subtree({row["branch_id"]: row["merged_into"] for row in rows}, top)
    yield from execute(
        f"UPDATE graph_branches SET merged_into = ? WHERE {WHOSE} AND branch_id = ?", merged_into, *whose, top
    )
    values: list[Value] = [merged_into or top, *whose, part]
    yield from execute(f"UPDATE graph_branches SET root_id = ? WHERE {WHOSE} AND branch_id IN ??", *values)
