"""Reflections, goals and learnings; runs of consolidation."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from palimpsest.models.conversations import MessageRef
from palimpsest.models.names import GoalState, InsightKind, MergeOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Insight:
    """What was worked out of an agent's days; `state` is a goal's, None for others.

    `contact_id` is "" for agent-wide, `memory_id` the memory that tells of it ("" for none). `kept` says that
    a caller changed it, so that reflection leaves it as it is; `stale` that something it came from changed,
    so that it will be worked out again.
    """

    id: str
    kind: InsightKind
    contact_id: str
    topic: str
    text: str
    state: GoalState | None
    day: str
    provenance: tuple[MessageRef, ...]
    source_ids: tuple[str, ...]
    memory_id: str
    kept: bool
    revision: int
    create_time: datetime | None
    update_time: datetime | None
    stale: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """Memories that say no more than one of them, the first, whose key and statement `memory_id` has."""

    memory_id: str
    member_ids: tuple[str, ...]
    contact_id: str
    key: str
    cosine: float
    outcome: MergeOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationRun:
    """What a run did, or of a dry run would do; `finish_time` is None while it is under way."""

    id: str
    agent_id: str
    dry_run: bool
    compared_count: int
    decayed_count: int
    restored_count: int
    merges: tuple[Merge, ...]
    create_time: datetime | None
    finish_time: datetime | None
    undo_time: datetime | None
