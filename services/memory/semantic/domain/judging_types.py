"""What the judge of supersession takes and gives (SPEC S-7)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from services.memory.semantic.domain.memory import Kind

REPLACES_FROM = 0.75
"""S-7: the probability from which a new statement supersedes the old one."""

CONTRADICTS_FROM = 0.75
"""The probability from which two statements are recorded as a contradiction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A memory as the judge sees it: what it says, from when, until when (exclusive; None: without end)."""

    key: str
    value: str
    valid_from: datetime
    valid_to: datetime | None = None
    kind: Kind = Kind.FACT


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Two independent probabilities, and the name of the rule that gave them: never a statement's words."""

    replaces: float
    contradicts: float
    reason: str


class Path(Enum):
    """The rule that finds a replacement."""

    CORRECTED = "corrected"
    """What was said is taken back."""
    DENIED = "denied"
    """A value is denied, and another given."""
    ENDED = "ended"
    """What the old statement says stopped holding."""
    CHANGED = "changed"
    """What the old statement says changed."""
    FULFILLED = "fulfilled"
    """What the old statement waits for has come."""
    RESUMED = "resumed"
    """What the old statement denies has come, or come back."""
    COUNTED = "another number"
    """The same unit has another number."""
    RENEWED = "another value"
    """A slot that holds one value has another."""
    FRESH = "a new value from now on"
    """As RENEWED, and a word says that it is new."""


class Cue(Enum):
    """What a phrase tells about the statement that holds it."""

    END = "end"
    """Something stopped holding: no longer, gave up, sold, died."""
    CHANGE = "change"
    """A new value took the place of another: switched, was moved to, renamed."""
    NOW = "now"
    """Holds from some moment on: now, since, from July."""
    ADD = "add"
    """Holds beside something else: also, too, another."""
    WISH = "wish"
    """Does not hold yet, and perhaps never will: dreams of, might, plans to."""
    PAST = "past"
    """Held once and holds no more: used to, formerly."""
    LONG_AGO = "long ago"
    """Happened in a time that is over: as a child, back then."""
    CORRECTION = "correction"
    """Takes back what was said: actually, by mistake."""
    PENDING = "pending"
    """A state that waits for its end: waiting for, not yet."""
    DONE = "done"
    """What ends such a state: received, found, named."""
    AGAIN = "again"
    """What had stopped came back."""
    NEGATION = "negation"
    """Denies the statement."""
