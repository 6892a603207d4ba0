"""Pairs of branches that may be the same, and what became of them (SPEC J-13)."""

from __future__ import annotations

import json
from datetime import datetime

from services.compactor.adapters.sql import graph_rows as rows
from services.compactor.adapters.sql.graph_rows import WHOSE, Whose
from services.compactor.domain.graph import Branch, Evidence, Finding, Proposal, ProposalState
from services.kit.errors import NotFound
from services.kit.ids import new_id
from services.kit.sql import Row, Script, execute, fetch, first
from services.kit.times import from_micros, to_micros

COLUMNS = "proposal_id, lesser_id, greater_id, branch_id, score, evidence, state, created, resolved"
ROOTED = (
    "SELECT p.proposal_id, p.state, a.root_id AS one, b.root_id AS other FROM graph_proposals p"
    " JOIN graph_branches a ON a.tenant = p.tenant AND a.agent_id = p.agent_id AND a.branch_id = p.lesser_id"
    " JOIN graph_branches b ON b.tenant = p.tenant AND b.agent_id = p.agent_id AND b.branch_id = p.greater_id"
    " WHERE p.tenant = ? AND p.agent_id = ?"
)


def barred(whose: Whose, one: str, other: str) -> Script[bool]:
    """Whether somebody said that branches of the two groups stay apart."""
    found = yield from first(
        f"{ROOTED} AND p.state = ?"
        " AND ((a.root_id = ? AND b.root_id = ?) OR (a.root_id = ? AND b.root_id = ?))"
        " LIMIT 1",
        *whose,
        ProposalState.REJECTED.value,
        one,
        other,
        other,
        one,
    )
    return found is not None


def propose(whose: Whose, finding: Finding, now: datetime) -> Script[None]:
    """Puts down a finding, or its newer figures; what was decided stays decided."""
    yield from _put(whose, finding, ProposalState.OPEN, now)


def keep_apart(whose: Whose, one: str, other: str, now: datetime) -> Script[None]:
    """Says that two are not the same, whatever was said before."""
    nothing = Evidence(cosine=None, spelling=0.0, words=0.0, shared=0)
    finding = Finding(branch_id=one, into_id=other, score=0.0, evidence=nothing)
    yield from _put(whose, finding, ProposalState.REJECTED, now)
    yield from execute(
        "UPDATE graph_proposals SET state = ?, resolved = ?"
        f" WHERE {WHOSE} AND lesser_id = ? AND greater_id = ?",
        ProposalState.REJECTED.value,
        to_micros(now),
        *whose,
        min(one, other),
        max(one, other),
    )


def settle(whose: Whose, root_id: str, now: datetime) -> Script[None]:
    """Says of pairs that are one now, in the group of a root, that they were merged."""
    found = yield from fetch(
        f"{ROOTED} AND p.state <> ? AND a.root_id = ? AND b.root_id = a.root_id",
        *whose,
        ProposalState.MERGED.value,
        root_id,
    )
    yield from execute(
        f"UPDATE graph_proposals SET state = ?, resolved = ? WHERE {WHOSE} AND proposal_id IN ??",
        ProposalState.MERGED.value,
        to_micros(now),
        *whose,
        [row["proposal_id"] for row in found],
    )


def decided(whose: Whose, proposal_id: str, state: ProposalState, now: datetime) -> Script[None]:
    """Closes one."""
    yield from execute(
        f"UPDATE graph_proposals SET state = ?, resolved = ? WHERE {WHOSE} AND proposal_id = ?",
        state.value,
        to_micros(now),
        *whose,
        proposal_id,
    )


def get(whose: Whose, proposal_id: str) -> Script[Proposal]:
    """One. Raises NotFound."""
    row = yield from first(
        f"SELECT {COLUMNS} FROM graph_proposals WHERE {WHOSE} AND proposal_id = ?", *whose, proposal_id
    )
    if row is None:
        raise NotFound("merge proposal", proposal_id)
    return (yield from _proposal(whose, row))


def page(whose: Whose, state: ProposalState, before: str | None, limit: int) -> Script[list[Proposal]]:
    """In a state, newest first."""
    found = yield from fetch(
        f"SELECT {COLUMNS} FROM graph_proposals WHERE {WHOSE} AND state = ?"
        f"{'' if before is None else ' AND proposal_id < ?'} ORDER BY proposal_id DESC LIMIT ?",
        *whose,
        state.value,
        *(() if before is None else (before,)),
        limit,
    )
    proposals = []
    for row in found:
        proposals.append((yield from _proposal(whose, row)))
    return proposals


def _put(whose: Whose, finding: Finding, state: ProposalState, now: datetime) -> Script[None]:
    evidence = finding.evidence
    yield from execute(
        f"INSERT INTO graph_proposals (tenant, agent_id, {COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (tenant, agent_id, lesser_id, greater_id) DO UPDATE SET branch_id = excluded.branch_id,"
        " score = excluded.score, evidence = excluded.evidence WHERE graph_proposals.state = 'open'",
        *whose,
        new_id(),
        min(finding.branch_id, finding.into_id),
        max(finding.branch_id, finding.into_id),
        finding.branch_id,
        finding.score,
        json.dumps([evidence.cosine, evidence.spelling, evidence.words, evidence.shared]),
        state.value,
        to_micros(now),
        None if state is ProposalState.OPEN else to_micros(now),
    )


def _proposal(whose: Whose, row: Row) -> Script[Proposal]:
    first_id = row["branch_id"]
    second_id = row["greater_id"] if first_id == row["lesser_id"] else row["lesser_id"]
    cosine, spelling, words, shared = json.loads(row["evidence"])
    return Proposal(
        id=row["proposal_id"],
        branch=(yield from _root(whose, first_id)),
        into=(yield from _root(whose, second_id)),
        score=row["score"],
        evidence=Evidence(cosine=cosine, spelling=spelling, words=words, shared=shared),
        state=ProposalState(row["state"]),
        created=from_micros(row["created"]),
        resolved=None if row["resolved"] is None else from_micros(row["resolved"]),
    )


def _root(whose: Whose, branch_id: str) -> Script[Branch]:
    own = yield from rows.known(whose, branch_id)
    return (yield from rows.branch(whose, own["root_id"]))
