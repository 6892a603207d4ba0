"""Settings of the Episodic service; every figure of its rules is here or beside its rule in domain/."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from services.kit.stores import StoreSettings
from services.memory.episodic.domain.checks import Limits
from services.memory.episodic.domain.coverage import CoverRules
from services.memory.episodic.domain.working import SECOND, WorkingLimits

KIB = 1024
MIB = 1024 * KIB
DATABASE_FILE = "episodic.db"
MAX_RESPONSE_BYTES = 16 * MIB  # content of one answer; leaves room for its wrapping in a gRPC message
REQUEST_ID_HOURS = 24  # how long a request id is remembered (E-2)


class EpisodicSettings(StoreSettings):
    """Read from PALIMPSEST_EPISODIC_*."""

    model_config = SettingsConfigDict(env_prefix="PALIMPSEST_EPISODIC_", frozen=True, extra="ignore")

    max_text_bytes: int = Field(default=32 * KIB, ge=1, le=MIB)
    """Most bytes of a text part or a tool result (X-2)."""
    max_argument_bytes: int = Field(default=32 * KIB, ge=2, le=MIB)
    """Most bytes of a tool call's arguments, as JSON (X-2)."""
    max_append_bytes: int = Field(default=16 * MIB, ge=KIB, le=16 * MIB)
    """Most bytes of the messages of one append (X-2)."""
    request_id_hours: float = Field(default=REQUEST_ID_HOURS, gt=0, le=720)
    """How long a request id returns its first answer (E-2)."""
    uncovered_messages: int = Field(default=25, ge=8, le=10_000)
    """With more messages than these under no overlay, all but the newest 5 get covered (E-8)."""
    uncovered_tokens: int | None = Field(default=None, ge=1000)
    """The same by tokens (E-8 suggests 100,000); not counted by default."""
    extract: bool = True
    """Whether facts are read from what people say, after every append (J-8)."""
    fold_tokens: int = Field(default=960, ge=100)
    """With more tokens of overlays than these, the oldest are folded into one (E-7): the overlays' 20 % of
    history's 60 % of a prompt of 8,000 tokens."""
    fork_messages: int = Field(default=100_000, ge=1)
    """The longest path that is copied into a fork (E-3)."""
    tokenizers: dict[str, Path] = Field(default_factory=dict)
    """`tokenizer.json` files by model name, for windows in exact tokens (E-10)."""
    watch_poll_seconds: float = Field(default=1, gt=0, le=60)
    """How often a watcher looks for what another replica wrote (E-12, W-7)."""
    watch_patience_seconds: float = Field(default=30, gt=0, le=600)
    """How long a watcher may leave an event unread before it is dropped (E-12, W-7)."""
    notes_tokens: int = Field(default=2000, ge=1, le=100_000)
    """Most tokens of a conversation's notes (W-1), and of its ongoing task (W-2)."""
    checkpoint_calls: int = Field(default=40, ge=1, le=1000)
    """Tool results that the checkpoint of a turn keeps; the oldest give way (W-3)."""
    preview_characters: int = Field(default=3000, ge=100, le=32 * KIB)
    """Characters of each of them (W-3)."""
    stale_seconds: float = Field(default=45, gt=0, le=86_400)
    """How long a turn may go untouched before the next prompt tells of it (W-3)."""
    checkpoint_hours: float = Field(default=24, gt=0, le=720)
    """How long a checkpoint is kept (W-3)."""
    housekeeping_seconds: float = Field(default=60, gt=0, le=86_400)
    """How often expired rows are deleted."""
    relay: bool = True
    """Whether this process hands its outbox to the Compactor (SV-5)."""

    @property
    def cover_rules(self) -> CoverRules:
        """When messages are covered and overlays folded."""
        return CoverRules(
            uncovered_messages=self.uncovered_messages,
            uncovered_tokens=self.uncovered_tokens,
            fold_tokens=self.fold_tokens,
        )

    @property
    def working_limits(self) -> WorkingLimits:
        """What working memory may hold."""
        return WorkingLimits(
            notes_tokens=self.notes_tokens,
            task_tokens=self.notes_tokens,
            preview_characters=self.preview_characters,
            checkpoint_calls=self.checkpoint_calls,
            stale_after=int(self.stale_seconds * SECOND),
            expires_after=int(self.checkpoint_hours * 3600 * SECOND),
        )

    @property
    def limits(self) -> Limits:
        """What an append may hold."""
        return Limits(
            text_bytes=self.max_text_bytes,
            argument_bytes=self.max_argument_bytes,
            append_bytes=self.max_append_bytes,
        )
