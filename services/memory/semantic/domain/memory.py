"""Memories: kinds, confidence, validity, relevance (SPEC S-1, S-2, S-4, S-8, S-10).

A memory is valid from a moment on, until another or for good. What is live is decided by time alone: a
statement about the future becomes live when its time comes, and what it supersedes stays live until then.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import IntEnum

from services.kit.errors import InvalidField


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


class Verification(IntEnum):
    """Whether a memory was held against what was known before (S-7); numbers as in the proto."""

    NOT_NEEDED = 1
    PENDING = 2
    VERIFIED = 3


class Cause(IntEnum):
    """Why a memory replaced another."""

    KEY = 1
    """A new value of the same key (S-6)."""
    JUDGED = 2
    """The judge found that it says anew what the other said (S-7)."""
    RESOLVED = 3
    """Somebody chose between two that contradict each other."""
    CONSOLIDATED = 4
    """It says all that the other said, and took its place in a merge (J-10)."""


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

EXTRACTED = frozenset({Source.TURN, Source.PRE_COMPACTION})
"""Sources of what was read from messages: possibly late, out of order, and more than once (J-8, J-9)."""

REQUEST_LIFETIME = timedelta(days=1)
"""How long a retry with the same request_id gets the first answer."""

END_OF_TIME = datetime.max.replace(tzinfo=UTC)
"""The last moment that a store holds."""

KEY_PATTERN = re.compile(r"[a-z0-9._:-]{1,200}")
VALUE_BYTES = 8 * 1024
"""S-1."""

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
    """One version of a memory.

    `revision` grows when what the indexes hold of it must change, `edits` with every change but accesses.
    `ended` is when `valid_to` was recorded. `contradicts` are live memories that cannot hold beside it.
    """

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
    ended: datetime | None = None
    verification: Verification = Verification.NOT_NEEDED
    edits: int = 1
    contradicts: tuple[str, ...] = ()

    @property
    def kind(self) -> Kind:
        """Folded from the fact type."""
        return kind_of(self.fact_type)

    @property
    def indexed(self) -> bool:
        """Whether the index knows its present state."""
        return self.indexed_revision >= self.revision

    def live(self, now: datetime) -> bool:
        """Whether it holds at present: it has begun and neither ended nor expired.

        A beginning or an end that was no plan when it was recorded counts at once, though `now` may be by
        another machine's clock, which is behind the one that recorded it.
        """
        return self.valid_from <= max(now, self.created) and self.lasts(now)

    def lasts(self, now: datetime) -> bool:
        """Whether it is live now or will be: what the indexes keep apart from what is past."""
        ended = self.valid_to is not None and self.valid_to <= max(now, self.ended or now)
        return not ended and (self.expires is None or self.expires > now)

    @property
    def ends(self) -> datetime | None:
        """Until when it holds, by what is known today; None: no end is known."""
        return min((end for end in (self.valid_to, self.expires) if end is not None), default=None)

    def valid_at(self, moment: datetime) -> bool:
        """Whether it held at a moment, by all that is known today (S-8)."""
        return self.valid_from <= moment and (self.ends is None or moment < self.ends)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMemory:
    """A memory to be written; valid from now on if no beginning is given, and without end if none is."""

    scope: Scope
    key: str
    value: str
    fact_type: FactType
    pinned: bool
    source: Source
    provenance: tuple[MessageRef, ...]
    valid_from: datetime | None
    request_id: str
    valid_to: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """Two live memories that cannot both hold, as a judge found with a probability (S-7)."""

    id: str
    memories: tuple[Memory, Memory]
    probability: float
    judge: str
    created: datetime


def check_new(new: NewMemory, now: datetime) -> None:
    """Refuses what no store may hold (X-1). Raises InvalidField."""
    if not KEY_PATTERN.fullmatch(new.key):
        raise InvalidField("key", "must be 1 to 200 bytes of [a-z0-9._:-]")
    if not new.value:
        raise InvalidField("value", "is empty")
    if "\0" in new.value:
        raise InvalidField("value", "must not hold a NUL character")
    try:
        size = len(new.value.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise InvalidField("value", "holds a lone surrogate") from error
    if size > VALUE_BYTES:
        raise InvalidField("value", f"over {VALUE_BYTES} bytes")
    if new.valid_to is not None and new.valid_to <= (new.valid_from or now):
        raise InvalidField("valid_to_time", "must be after the beginning")


def verification_of(fact_type: FactType, *, verify: bool) -> Verification:
    """What a new memory begins with (S-7): tasks are not verified, nor reflections, which repeat others."""
    needed = verify and kind_of(fact_type) is not Kind.TASK and fact_type is not FactType.REFLECTION
    return Verification.PENDING if needed else Verification.NOT_NEEDED


def expiry(begins: datetime, lifetime: timedelta) -> datetime:
    """When a task that begins then expires (S-3); at the end of all times at the latest."""
    return begins + min(lifetime, END_OF_TIME - begins)


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
