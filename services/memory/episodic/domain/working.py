"""Notes and the ongoing task of a conversation, and the limits of working memory (SPEC W-1 to W-4)."""

from __future__ import annotations

from dataclasses import dataclass

from services.kit.errors import LimitExceeded
from services.kit.tokens import estimate_tokens

KIB = 1024
SECOND = 1_000_000  # microseconds


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingLimits:
    """What working memory holds at most; the defaults are the specification's."""

    notes_tokens: int = 2_000
    """Of a conversation's notes (W-1)."""
    task_tokens: int = 2_000
    """Of an ongoing task (W-2): as much as the notes."""
    preview_characters: int = 3_000
    """Of a tool result in a checkpoint (W-3)."""
    checkpoint_calls: int = 40
    """Of a checkpoint; the oldest give way (W-3)."""
    argument_bytes: int = 32 * KIB
    """Of a call's arguments as JSON (X-2)."""
    stale_after: int = 45 * SECOND
    """How long an open turn may go without a save before the next prompt tells of it (W-3)."""
    expires_after: int = 24 * 3_600 * SECOND
    """How long a checkpoint is kept after its last save (W-3)."""
    blocks: int = 32
    """Context blocks of an agent, and of a conversation (W-4)."""
    entries: int = 10_000
    """Entries of a block (W-4)."""
    entry_bytes: int = 64 * KIB
    """Of an entry's content (W-4)."""
    loaded: int = 32
    """Entries that a conversation has loaded at one time (W-4)."""
    excerpt_characters: int = 1_000
    """Of a hit's excerpt (W-4)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notes:
    """The scratchpad of a conversation; version 0 and time 0 for one that nobody wrote on."""

    text: str = ""
    token_count: int = 0
    version: int = 0
    update_time: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What a conversation is about to get done."""

    text: str
    token_count: int
    update_time: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A change of a text: another one in its place, or more at its end, on a line of its own."""

    text: str
    append: bool = False

    def apply(self, old: str) -> str:
        """The text after the change."""
        return f"{old}\n{self.text}" if self.append and old else self.text


def count_within(what: str, text: str, limit: int) -> int:
    """The text's tokens (E-10). Raises LimitExceeded when they are more than `limit`."""
    tokens = estimate_tokens(text)
    check_limit(f"{what} would take {tokens} tokens; at most {limit} are allowed", tokens, limit)
    return tokens


def check_limit(message: str, actual: int, limit: int) -> None:
    """Raises LimitExceeded, with both figures, when `actual` is over `limit`."""
    if actual > limit:
        raise LimitExceeded(message, metadata={"limit": str(limit), "actual": str(actual)})
