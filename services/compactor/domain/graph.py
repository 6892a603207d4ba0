"""The graph of themes (SPEC J-13): branches, their links, what is done to them. Pure.

Branches that were merged keep their rows, names and links, and point at the one they were merged into; the
one that points nowhere, the *root*, stands for all of them, its *group*. So a merge is taken back by taking
the pointer away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

GROWING_AT: Final = 3
ESTABLISHED_AT: Final = 8
DORMANT_AFTER: Final = timedelta(days=90)
MOST_EVENTS: Final = 100
"""That are told of a branch, the newest."""


class State(StrEnum):
    """How a branch grows (J-13)."""

    SEEDLING = "seedling"
    GROWING = "growing"
    ESTABLISHED = "established"
    DORMANT = "dormant"


class EventKind(StrEnum):
    """What was done to a branch."""

    CREATED = "created"
    MERGED = "merged"
    UNMERGED = "unmerged"
    RENAMED = "renamed"
    SPLIT = "split"


class ProposalState(StrEnum):
    """How a proposal stands."""

    OPEN = "open"
    MERGED = "merged"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """A root. `aliases` are the other slugs that lead to it, `merged_ids` the rest of its group.

    `last_link` is None where nothing is linked.
    """

    id: str
    slug: str
    name: str
    conversations: int
    last_link: datetime | None
    created: datetime
    updated: datetime
    aliases: tuple[str, ...] = ()
    merged_ids: tuple[str, ...] = ()

    def state(self, now: datetime) -> State:
        """How it stands at a moment: it follows from its links alone, so nothing has to be kept up."""
        if (self.last_link or self.created) <= now - DORMANT_AFTER:
            return State.DORMANT
        if self.conversations >= ESTABLISHED_AT:
            return State.ESTABLISHED
        return State.GROWING if self.conversations >= GROWING_AT else State.SEEDLING


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """What a root may be called before those whose conversations are filed under it: names by which one of
    these came, or that a caller gave. `title` is its own, if that is one of them, `slug` that one's; `slugs`
    are the others'."""

    title: str
    slug: str
    slugs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """A name with its slug, and the vector of the name (float32, little endian) by a model; b"" for none."""

    slug: str
    name: str
    vector: bytes = b""
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewLink:
    """A conversation is to be filed under a name; relevance 0 to 1."""

    naming: Naming
    relevance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A conversation of a branch; `by_hand` when a caller linked it."""

    conversation_id: str
    relevance: float
    by_hand: bool
    linked: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that was done; `slug` is the branch's from then on, `other_id` the other branch or ""."""

    branch_id: str
    kind: EventKind
    other_id: str
    automatic: bool
    slug: str
    time: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Why two branches may be the same; `cosine` is None without vectors of one model."""

    cosine: float | None
    spelling: float
    words: float
    shared: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Two roots that may be the same, the first to be merged into the other."""

    branch_id: str
    into_id: str
    score: float
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A finding that waits for somebody, or was decided; the branches are the roots of now."""

    id: str
    branch: Branch
    into: Branch
    score: float
    evidence: Evidence
    state: ProposalState
    created: datetime
    resolved: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """What of a root is compared with others."""

    id: str
    slug: str
    name: str
    conversations: int
    vector: bytes
    model: str


def subtree(merged_into: Mapping[str, str], top: str) -> list[str]:
    """The members of a group whose pointers lead to `top`, itself among them, in order.

    `merged_into` has the pointers of a group; it has no cycles.
    """
    return sorted(branch_id for branch_id in merged_into if top in _chain(merged_into, branch_id))


def _chain(merged_into: Mapping[str, str], branch_id: str) -> Sequence[str]:
    chain = [branch_id]
    while following := merged_into.get(chain[-1], ""):
        chain.append(following)
    return chain
