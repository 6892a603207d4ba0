"""A conversation's rolling summary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

SummarySection = Literal[
    "objective", "important_details", "completed", "active", "blocked", "next_move", "relevant_files"
]
"""Where a line of a summary stands, in the order in which they are read."""
TurningPointKind = Literal["shift", "decision"]
"""What a turning point is: another topic begins, or something is decided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryLine:
    """A statement, or the path of a file; `day` (ISO 8601, UTC) is when it was said, "" if unknown."""

    text: str
    day: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryConcept:
    """What the conversation speaks of; weight 0 to 1; `count` is how often it was named."""

    name: str
    weight: float
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TurningPoint:
    """A message at which the conversation took another course; score 0 to 1."""

    message_id: str
    sequence: int
    time: datetime | None
    kind: TurningPointKind | str
    text: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedBranch:
    """A theme that the conversation may be filed under; relevance 0 to 1."""

    name: str
    relevance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A version of a summary.

    `text` is markdown. `sections` has every section, in order. It holds `message_count` messages of a path,
    up to `up_to_sequence`. `source_ids` are messages, and the version that it went on from. `corrected` says
    whether a person's correction is in it, `stale` whether something that the newest version came from was
    changed since. `body` is the whole document, as docs/derived-memory.md describes it.
    """

    conversation_id: str
    version: int
    create_time: datetime | None
    engine: str
    source_ids: tuple[str, ...]
    title: str
    text: str
    sections: Mapping[SummarySection, tuple[SummaryLine, ...]]
    vibes: tuple[str, ...]
    concepts: tuple[SummaryConcept, ...]
    turning_points: tuple[TurningPoint, ...]
    branches: tuple[ProposedBranch, ...]
    up_to_message_id: str
    up_to_sequence: int
    message_count: int
    corrected: bool
    body: Mapping[str, Any]
    newest_version: int
    stale: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryVersion:
    """A version without its body."""

    version: int
    create_time: datetime | None
    engine: str
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuiltDocuments:
    """Documents whose copies were looked at, and values that were written to the cache."""

    document_count: int
    value_count: int
