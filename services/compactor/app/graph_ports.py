"""What the graph of themes needs from the outside (SPEC J-13)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from services.compactor.domain.graph import (
    Branch,
    Candidate,
    Event,
    Finding,
    Link,
    Names,
    Naming,
    NewLink,
    Proposal,
    ProposalState,
    State,
)

WRITE_WIKI: Final = "write_wiki"
"""Jobs that write the page of a branch, {"branch_id"}."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchQuery:
    """A page of branches after a slug; in some states at a moment, or in any."""

    now: datetime
    states: frozenset[State] = frozenset()
    after: str = ""
    limit: int = 100


class GraphStore(Protocol):
    """Branches, links and proposals. Every method is one transaction; all raise DependencyDown.

    `ref` is an id or any name that a branch ever had; methods that take one raise NotFound. Changes of one
    agent's graph happen one after the other. Each change puts down, with it, jobs that write the pages of the
    branches that it changed.
    """

    async def taken(self, tenant: str, agent_id: str, slugs: Collection[str]) -> set[str]:
        """Which of these are names of branches."""

    async def branch(self, tenant: str, agent_id: str, ref: str) -> Branch:
        """The root that a branch belongs to."""

    async def page(self, tenant: str, agent_id: str, query: BranchQuery) -> list[Branch]:
        """Roots, by slug."""

    async def links(self, tenant: str, agent_id: str, ref: str, after: str, limit: int) -> list[Link]:
        """A root's conversations, by id."""

    async def names(self, tenant: str, agent_id: str, ref: str, among: str = "") -> Names | None:
        """What a root may be called before the people of its conversations, or with `among` of those that it
        has in common with another root; None where no name is left."""

    async def relevant(self, tenant: str, agent_id: str, ref: str, limit: int) -> list[Link]:
        """A root's conversations, the most relevant first."""

    async def events(self, tenant: str, agent_id: str, ref: str, limit: int) -> list[Event]:
        """What was done to a root and those in its group, newest first."""

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
        """Files a conversation as its summary of a version says; the roots it is filed under.

        `told` are slugs of all that the summary speaks of: what it was filed under before stays if named
        there. Again, or a version that is not newer, changes nothing.
        """

    async def link(
        self, tenant: str, agent_id: str, conversation_id: str, link: NewLink, now: datetime
    ) -> Branch:
        """Files a conversation by hand."""

    async def forget(self, tenant: str, agent_id: str, conversation_id: str, version: int) -> None:
        """Takes a conversation out, and what nothing else was said of."""

    async def merge(self, tenant: str, agent_id: str, ref: str, into: str, now: datetime) -> Branch:
        """Merges two. Raises InvalidField."""

    async def merge_found(self, tenant: str, agent_id: str, finding: Finding, now: datetime) -> bool:
        """Merges two without being asked for, unless somebody said that they stay apart; whether it did."""

    async def undo_merge(self, tenant: str, agent_id: str, ref: str, now: datetime) -> Branch:
        """Takes a merge back. Raises StateConflict."""

    async def rename(self, tenant: str, agent_id: str, ref: str, naming: Naming, now: datetime) -> Branch:
        """Gives another name. Raises StateConflict."""

    async def split(
        self,
        tenant: str,
        agent_id: str,
        ref: str,
        naming: Naming,
        conversation_ids: Sequence[str],
        now: datetime,
    ) -> tuple[Branch, Branch]:
        """Takes conversations out; the new branch, and the other. Raises StateConflict."""

    async def candidates(self, tenant: str, agent_id: str, limit: int) -> list[Candidate]:
        """Roots to be compared, those linked last first."""

    async def shared(
        self, tenant: str, agent_id: str, root_ids: Sequence[str]
    ) -> Mapping[tuple[str, str], int]:
        """How many conversations each of these has in common with each other root, by their ids."""

    async def set_vectors(self, tenant: str, agent_id: str, candidates: Sequence[Candidate]) -> None:
        """Keeps their vectors, of branches whose name is still the same."""

    async def propose(self, tenant: str, agent_id: str, finding: Finding, now: datetime) -> None:
        """Puts down a finding, unless somebody said that they stay apart."""

    async def proposals(
        self, tenant: str, agent_id: str, state: ProposalState, before: str | None, limit: int
    ) -> list[Proposal]:
        """In a state, newest first."""

    async def resolve(
        self, tenant: str, agent_id: str, proposal_id: str, now: datetime, *, accept: bool
    ) -> Proposal:
        """Merges the two, or keeps them apart. Raises NotFound, StateConflict."""


class NameVectors(Protocol):
    """Vectors of names. Raises DependencyDown, Overloaded."""

    async def named(self, names: Mapping[str, str]) -> list[Naming]:
        """From slug to name: each with its vector, or none where the tenant's data flow lets no text out."""


class KnownConversations(Protocol):
    """Whether there is a conversation."""

    async def check(self, agent_id: str, conversation_id: str) -> None:
        """Raises NotFound, DependencyDown."""
