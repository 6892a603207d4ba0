"""The graph of themes (SPEC J-13)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from services.compactor.adapters.sql import graph_changes, graph_links, graph_names, graph_proposals
from services.compactor.adapters.sql import graph_rows as rows
from services.compactor.adapters.sql.graph_rows import WHOSE
from services.compactor.app.graph_ports import BranchQuery
from services.compactor.domain.graph import (
    DORMANT_AFTER,
    ESTABLISHED_AT,
    GROWING_AT,
    Branch,
    Candidate,
    Event,
    EventKind,
    Finding,
    Link,
    Names,
    Naming,
    NewLink,
    Proposal,
    ProposalState,
    State,
)
from services.kit.errors import StateConflict
from services.kit.sql import Script, SqlDatabase, Value, execute_many, fetch
from services.kit.times import from_micros, to_micros

LAST = "COALESCE(last_link, created)"
CONDITIONS: Mapping[State, str] = {
    State.DORMANT: f"{LAST} <= ?",
    State.ESTABLISHED: f"({LAST} > ? AND conversations >= {ESTABLISHED_AT})",
    State.GROWING: f"({LAST} > ? AND conversations >= {GROWING_AT} AND conversations < {ESTABLISHED_AT})",
    State.SEEDLING: f"({LAST} > ? AND conversations < {GROWING_AT})",
}
"""As Branch.state has it."""


class SqlGraph:
    """A GraphStore."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def taken(self, tenant: str, agent_id: str, slugs: Collection[str]) -> set[str]:
        """Which are names."""
        found = await self._database.read(
            lambda: fetch(
                f"SELECT slug FROM graph_slugs WHERE {WHOSE} AND slug IN ??", tenant, agent_id, sorted(slugs)
            )
        )
        return {row["slug"] for row in found}

    async def branch(self, tenant: str, agent_id: str, ref: str) -> Branch:
        """The root of a branch."""

        def script() -> Script[Branch]:
            own = yield from rows.known((tenant, agent_id), ref)
            return (yield from rows.branch((tenant, agent_id), own["root_id"]))

        return await self._database.read(script)

    async def page(self, tenant: str, agent_id: str, query: BranchQuery) -> list[Branch]:
        """Roots, by slug."""
        bound = to_micros(query.now - DORMANT_AFTER)
        conditions = [CONDITIONS[state] for state in sorted(query.states)]
        wanted = f" AND ({' OR '.join(conditions)})" if conditions else ""

        def script() -> Script[list[Branch]]:
            found = yield from fetch(
                f"SELECT {rows.COLUMNS} FROM graph_branches WHERE {WHOSE} AND merged_into = '' AND slug > ?"
                f"{wanted} ORDER BY slug LIMIT ?",
                tenant,
                agent_id,
                query.after,
                *(bound for _ in conditions),
                query.limit,
            )
            return (yield from rows.branches((tenant, agent_id), found))

        return await self._database.read(script)

    async def links(self, tenant: str, agent_id: str, ref: str, after: str, limit: int) -> list[Link]:
        """A root's conversations."""
        return await self._database.read(
            lambda: _links((tenant, agent_id), ref, after, limit, "conversation_id")
        )

    async def names(self, tenant: str, agent_id: str, ref: str, among: str = "") -> Names | None:
        """That are borne out."""

        def script() -> Script[Names | None]:
            own = yield from rows.known((tenant, agent_id), ref)
            return (yield from graph_names.names((tenant, agent_id), own["root_id"], among))

        return await self._database.read(script)

    async def relevant(self, tenant: str, agent_id: str, ref: str, limit: int) -> list[Link]:
        """The most relevant."""
        order = "relevance DESC, conversation_id"
        return await self._database.read(lambda: _links((tenant, agent_id), ref, "", limit, order))

    async def events(self, tenant: str, agent_id: str, ref: str, limit: int) -> list[Event]:
        """What was done."""

        def script() -> Script[list[Event]]:
            own = yield from rows.known((tenant, agent_id), ref)
            found = yield from fetch(
                f"SELECT branch_id, kind, other_id, automatic, slug, created FROM graph_events WHERE {WHOSE}"
                f" AND branch_id IN {rows.GROUP} ORDER BY created DESC, event_id DESC LIMIT ?",
                tenant,
                agent_id,
                tenant,
                agent_id,
                own["root_id"],
                limit,
            )
            return [
                Event(
                    branch_id=row["branch_id"],
                    kind=EventKind(row["kind"]),
                    other_id=row["other_id"],
                    automatic=bool(row["automatic"]),
                    slug=row["slug"],
                    time=from_micros(row["created"]),
                )
                for row in found
            ]

        return await self._database.read(script)

    async def file(
        self,
        tenant: str,
        agent_id: str,
        conversation_id: str,
        version: int,
        links: Sequence[NewLink],
        told: Collection[str],
        now: datetime,
    ) -> list[str]:
        """By a summary."""
        whose = (tenant, agent_id)
        return await self._database.write(
            lambda: graph_links.by_summary(whose, conversation_id, version, links, told, now)
        )

    async def link(
        self, tenant: str, agent_id: str, conversation_id: str, link: NewLink, now: datetime
    ) -> Branch:
        """By hand."""
        whose = (tenant, agent_id)
        return await self._changed(whose, lambda: graph_links.by_call(whose, conversation_id, link, now))

    async def forget(self, tenant: str, agent_id: str, conversation_id: str, version: int) -> None:
        """Takes a conversation out."""
        await self._database.write(lambda: graph_links.forget((tenant, agent_id), conversation_id, version))

    async def merge(self, tenant: str, agent_id: str, ref: str, into: str, now: datetime) -> Branch:
        """Merges two."""
        whose = (tenant, agent_id)
        return await self._changed(whose, lambda: graph_changes.merge(whose, ref, into, now))

    async def merge_found(self, tenant: str, agent_id: str, finding: Finding, now: datetime) -> bool:
        """Merges two that nobody keeps apart."""
        whose = (tenant, agent_id)

        def script() -> Script[bool]:
            yield from rows.lock(whose)
            pair = yield from _pair(whose, finding)
            if pair is None:
                return False
            yield from graph_proposals.propose(whose, finding, now)
            yield from graph_changes.join(whose, *pair, now, automatic=True)
            return True

        return await self._database.write(script)

    async def undo_merge(self, tenant: str, agent_id: str, ref: str, now: datetime) -> Branch:
        """Takes a merge back."""
        whose = (tenant, agent_id)
        return await self._changed(whose, lambda: graph_changes.undo_merge(whose, ref, now))

    async def rename(self, tenant: str, agent_id: str, ref: str, naming: Naming, now: datetime) -> Branch:
        """Gives another name."""
        whose = (tenant, agent_id)
        return await self._changed(whose, lambda: graph_changes.rename(whose, ref, naming, now))

    async def split(
        self,
        tenant: str,
        agent_id: str,
        ref: str,
        naming: Naming,
        conversation_ids: Sequence[str],
        now: datetime,
    ) -> tuple[Branch, Branch]:
        """Takes conversations out."""
        whose = (tenant, agent_id)

        def script() -> Script[tuple[Branch, Branch]]:
            made, rest = yield from graph_links.split(whose, ref, naming, conversation_ids, now)
            return (yield from rows.branch(whose, made)), (yield from rows.branch(whose, rest))

        return await self._database.write(script)

    async def candidates(self, tenant: str, agent_id: str, limit: int) -> list[Candidate]:
        """Roots to be compared."""
        found = await self._database.read(
            lambda: fetch(
                "SELECT branch_id, slug, name, conversations, vector, model FROM graph_branches"
                f" WHERE {WHOSE} AND merged_into = '' ORDER BY {LAST} DESC, branch_id DESC LIMIT ?",
                tenant,
                agent_id,
                limit,
            )
        )
        return [
            Candidate(
                id=row["branch_id"],
                slug=row["slug"],
                name=row["name"],
                conversations=row["conversations"],
                vector=bytes(row["vector"]),
                model=row["model"],
            )
            for row in found
        ]

    async def shared(
        self, tenant: str, agent_id: str, root_ids: Sequence[str]
    ) -> Mapping[tuple[str, str], int]:
        """Conversations in common."""
        found = await self._database.read(
            lambda: fetch(
                f"WITH mine AS (SELECT b.root_id, l.conversation_id FROM graph_links l JOIN graph_branches b"
                " ON b.tenant = l.tenant AND b.agent_id = l.agent_id AND b.branch_id = l.branch_id"
                f" WHERE l.tenant = ? AND l.agent_id = ? AND {rows.ACTIVE})"
                " SELECT o.root_id AS one, t.root_id AS other, count(DISTINCT o.conversation_id) AS shared"
                " FROM mine o JOIN mine t ON t.conversation_id = o.conversation_id AND t.root_id <> o.root_id"
                " WHERE o.root_id IN ?? GROUP BY o.root_id, t.root_id",
                tenant,
                agent_id,
                list(root_ids),
            )
        )
        return {(row["one"], row["other"]): row["shared"] for row in found}

    async def set_vectors(self, tenant: str, agent_id: str, candidates: Sequence[Candidate]) -> None:
        """Keeps vectors."""
        values: list[Sequence[Value]] = [
            (one.vector, one.model, tenant, agent_id, one.id, one.name)
            for one in sorted(candidates, key=lambda one: one.id)
        ]
        await self._database.write(
            lambda: execute_many(
                "UPDATE graph_branches SET vector = ?, model = ?"
                f" WHERE {WHOSE} AND branch_id = ? AND name = ?",
                values,
            )
        )

    async def propose(self, tenant: str, agent_id: str, finding: Finding, now: datetime) -> None:
        """Puts down a finding."""
        whose = (tenant, agent_id)

        def script() -> Script[None]:
            yield from rows.lock(whose)
            if (yield from _pair(whose, finding)) is not None:
                yield from graph_proposals.propose(whose, finding, now)

        await self._database.write(script)

    async def proposals(
        self, tenant: str, agent_id: str, state: ProposalState, before: str | None, limit: int
    ) -> list[Proposal]:
        """In a state."""
        return await self._database.read(
            lambda: graph_proposals.page((tenant, agent_id), state, before, limit)
        )

    async def resolve(
        self, tenant: str, agent_id: str, proposal_id: str, now: datetime, *, accept: bool
    ) -> Proposal:
        """Merges the two, or keeps them apart."""
        whose = (tenant, agent_id)
        wanted = ProposalState.MERGED if accept else ProposalState.REJECTED

        def script() -> Script[Proposal]:
            yield from rows.lock(whose)
            proposal = yield from graph_proposals.get(whose, proposal_id)
            if proposal.state not in (ProposalState.OPEN, wanted):
                raise StateConflict(f"the proposal was {proposal.state.value}")
            if proposal.state is ProposalState.OPEN:
                yield from graph_proposals.decided(whose, proposal_id, wanted, now)
                if accept:
                    yield from graph_changes.join(
                        whose, proposal.branch.id, proposal.into.id, now, automatic=False
                    )
            return (yield from graph_proposals.get(whose, proposal_id))

        return await self._database.write(script)

    async def _changed(self, whose: rows.Whose, change: graph_links.Change) -> Branch:
        def script() -> Script[Branch]:
            return (yield from rows.branch(whose, (yield from change())))

        return await self._database.write(script)


def _pair(whose: rows.Whose, finding: Finding) -> Script[tuple[str, str] | None]:
    """The roots of a finding; None where they are one, gone, or kept apart."""
    one = yield from rows.owner(whose, finding.branch_id)
    other = yield from rows.owner(whose, finding.into_id)
    if one is None or other is None or one["root_id"] == other["root_id"]:
        return None
    if (yield from graph_proposals.barred(whose, one["root_id"], other["root_id"])):
        return None
    return one["root_id"], other["root_id"]


def _links(whose: rows.Whose, ref: str, after: str, limit: int, order: str) -> Script[list[Link]]:
    """Each conversation of a group once, with the most that it is about it."""
    own = yield from rows.known(whose, ref)
    found = yield from fetch(
        "SELECT l.conversation_id, max(l.relevance) AS relevance, max(l.linked) AS linked,"
        " max(CASE WHEN l.by_hand THEN 1 ELSE 0 END) AS by_hand FROM graph_links l"
        f" WHERE l.tenant = ? AND l.agent_id = ? AND {rows.ACTIVE} AND l.conversation_id > ?"
        f" AND l.branch_id IN {rows.GROUP} GROUP BY l.conversation_id ORDER BY {order} LIMIT ?",
        *whose,
        after,
        *whose,
        own["root_id"],
        limit,
    )
    return [
        Link(
            conversation_id=row["conversation_id"],
            relevance=row["relevance"],
            by_hand=bool(row["by_hand"]),
            linked=from_micros(row["linked"]),
        )
        for row in found
    ]
