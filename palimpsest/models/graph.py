"""The themes under which conversations are filed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from palimpsest.models.names import BranchEventKind, BranchState, MergeProposalState


@dataclass(frozen=True, slots=True, kw_only=True)
class ThemeBranch:
    """A theme; `aliases` are the other slugs that lead to it, `merged_ids` what was merged into it."""

    id: str
    slug: str
    name: str
    state: BranchState
    conversation_count: int
    aliases: tuple[str, ...]
    merged_ids: tuple[str, ...]
    link_time: datetime | None
    create_time: datetime | None
    update_time: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchEvent:
    """Something that was done to a branch; `slug` is its name from then on, `other_id` "" for no other."""

    branch_id: str
    kind: BranchEventKind
    other_id: str
    automatic: bool
    slug: str
    time: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchDetails:
    """A branch and what was done to it, newest first."""

    branch: ThemeBranch
    events: tuple[BranchEvent, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchLink:
    """A conversation of a branch; relevance 0 to 1."""

    conversation_id: str
    relevance: float
    by_hand: bool
    link_time: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitBranch:
    """A new branch, and the one that it was taken out of."""

    branch: ThemeBranch
    remaining: ThemeBranch


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeProposal:
    """Two branches that may be the same: `branch` would be merged into `into`.

    Why: the cosine of their names (None without vectors), how alike they are spelled, the share of words in
    common, and how many conversations both have.
    """

    id: str
    branch: ThemeBranch
    into: ThemeBranch
    score: float
    cosine: float | None
    spelling: float
    words: float
    shared_count: int
    state: MergeProposalState
    create_time: datetime | None
    resolve_time: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WikiPage:
    """A version of a branch's page. `text` is the whole as markdown, `body` its parts.

    `source_ids` are versions of summaries, as "conversation@version". `stale`: a source changed since the
    newest version, which will be written again.
    """

    branch: ThemeBranch
    version: int
    text: str
    body: Mapping[str, Any]
    engine: str
    source_ids: tuple[str, ...]
    create_time: datetime | None
    newest_version: int
    stale: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class WikiVersion:
    """A version of a page without its text."""

    version: int
    create_time: datetime | None
    engine: str
    size_bytes: int
