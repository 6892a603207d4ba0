"""Memories: kinds, confidence, relevance (SPEC S-1, S-2, S-4, S-10)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import IntEnum


class Kind(IntEnum):
    """What a memory is about; numbers as in the proto."""

    FACT = 1
    EVENT = 2
    INSTRUCTION = 3
    TASK = 4


class FactType(IntEnum):
    """Finer than a kind; numbers as in the proto."""

    FACT = 1
    PREFERENCE = 2
    IDENTITY = 3
    RELATIONSHIP = 4
    DECISION = 5
    REFLECTION = 6
    EVENT = 7
    WORKFLOW_OUTCOME = 8
    WORKFLOW_FAILURE = 9
    INSTRUCTION = 10
    SKILL = 11
    TASK = 12


class Source(IntEnum):
    """Who wrote a memory; numbers as in the proto."""

    TURN = 1
    PRE_COMPACTION = 2
    REFLECTION = 3
    EXPLICIT = 4
    CONSOLIDATION = 5
    IMPORT = 6


_KINDS = {
    FactType.EVENT: Kind.EVENT,
    FactType.WORKFLOW_OUTCOME: Kind.EVENT,
    FactType.WORKFLOW_FAILURE: Kind.EVENT,
    FactType.INSTRUCTION: Kind.INSTRUCTION,
    FactType.SKILL: Kind.INSTRUCTION,
    FactType.TASK: Kind.TASK,
}

CONFIDENCE = {
    Source.TURN: 0.5,
    Source.PRE_COMPACTION: 0.6,
    Source.REFLECTION: 0.85,
    Source.EXPLICIT: 0.9,
}
"""S-4; consolidation and import bring their own."""

REQUEST_LIFETIME = timedelta(days=1)
"""How long a retry with the same request_id gets the first answer."""

RECENCY_WEIGHT = 0.7
USE_WEIGHT = 0.3
RECENCY_DAYS = 30.0
USE_SATURATION = 101.0


def kind_of(fact_type: FactType) -> Kind:
    """S-2."""
    return _KINDS.get(fact_type, Kind.FACT)


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRef:
    """Names one message."""

    conversation_id: str
    message_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Whose memories: the agent's own, and one person's under these ids (new ones go to the first)."""

    agent_id: str
    contact_ids: tuple[str, ...] = ()

    @property
    def write_bucket(self) -> str:
        """Contact id that a new memory belongs to; "" is agent-wide."""
        return self.contact_ids[0] if self.contact_ids else ""

    @property
    def read_buckets(self) -> tuple[str, ...]:
        """Contact ids that may be read, agent-wide included."""
        return (*self.contact_ids, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One version of a memory. `revision` grows with every change of the row."""

    id: str
    agent_id: str
    key: str
    value: str
    fact_type: FactType
    contact_id: str
    pinned: bool
    confidence: float
    source: Source
    provenance: tuple[MessageRef, ...]
    created: datetime
    updated: datetime
    accessed: datetime | None
    access_count: int
    valid_from: datetime
    valid_to: datetime | None
    superseded_by: str
    supersedes: str
    version: int
    expires: datetime | None
    revision: int
    indexed_revision: int

    @property
    def kind(self) -> Kind:
        """Folded from the fact type."""
        return kind_of(self.fact_type)

    @property
    def indexed(self) -> bool:
        """Whether the index knows its present state."""
        return self.indexed_revision >= self.revision

    def live(self, now: datetime) -> bool:
        """Neither superseded nor expired."""
        return not self.superseded_by and (self.expires is None or self.expires > now)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMemory:
    """A memory to be written."""

    scope: Scope
    key: str
    value: str
    fact_type: FactType
    pinned: bool
    source: Source
    provenance: tuple[MessageRef, ...]
    valid_from: datetime | None
    request_id: str


def relevance(memory: Memory, now: datetime) -> float:
    """S-10: 0.7 exp(-days since last access / 30) + 0.3 min(1, ln(1 + accesses) / ln 101).

    A memory never accessed counts from when it was written.
    """
    age = (now - (memory.accessed or memory.created)) / timedelta(days=1)
    recency = math.exp(-max(0.0, age) / RECENCY_DAYS)
    use = min(1.0, math.log1p(memory.access_count) / math.log(USE_SATURATION))
    return RECENCY_WEIGHT * recency + USE_WEIGHT * use


def by_relevance(memories: Sequence[Memory], now: datetime) -> list[Memory]:
    """Pinned first, then the most relevant; ties by id."""
    return sorted(memories, key=lambda m: (not m.pinned, -relevance(m, now), m.id))


def key_segments(key: str) -> list[str]:
    """The parts of a key between separators, and the whole: "user.city" gives user, city, user.city."""
    parts = [part for part in key.replace("-", ".").replace("_", ".").replace(":", ".").split(".") if part]
    return [*dict.fromkeys([*parts, key])]
