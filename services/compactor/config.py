"""Settings of the Compactor; every figure of its rules is here."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from services.kit.settings import ServiceSettings

DATABASE_FILE = "compactor.db"
DAY_SECONDS = 86_400.0


class CompactorSettings(ServiceSettings):
    """Read from PALIMPSEST_COMPACTOR_*."""

    model_config = SettingsConfigDict(env_prefix="PALIMPSEST_COMPACTOR_", frozen=True, extra="ignore")

    work: bool = True
    """Whether this process does jobs, besides keeping the ledger."""
    max_attempts: int = Field(default=5, ge=1, le=100)
    """Attempts before a job is dead (J-2)."""
    backoff_base_seconds: float = Field(default=1.0, gt=0)
    """Longest pause after the first failure; doubles with each (J-2)."""
    backoff_cap_seconds: float = Field(default=60.0, gt=0)
    """Longest pause of all (J-2)."""
    dependency_patience: int = Field(default=5_000, ge=1)
    """A job refused more often (about 40 hours of pauses) pays for refusals with its attempts (J-2)."""
    lease_seconds: float = Field(default=60.0, gt=0)
    """How long a claim holds unless renewed (J-2)."""
    heartbeat_seconds: float = Field(default=20.0, gt=0)
    """How often a claim is renewed (J-2)."""
    call_seconds: float = Field(default=120.0, gt=0)
    """A call of a handler that takes longer has failed."""
    batch_size: int = Field(default=64, ge=1, le=64)
    """Most jobs in one call of a handler (J-3)."""
    slots: int = Field(default=2, ge=1, le=64)
    """Groups worked on at once."""
    poll_seconds: float = Field(default=0.5, gt=0)
    """How long a lost wake-up delays a job (J-1)."""
    keep_finished_seconds: float = Field(default=7 * DAY_SECONDS, gt=0)
    """Succeeded and cancelled jobs are deleted after this (J-15)."""
    keep_dead_seconds: float = Field(default=30 * DAY_SECONDS, gt=0)
    """Dead jobs are deleted after this (J-15)."""
    housekeeping_seconds: float = Field(default=60.0, gt=0)
    """How often old jobs are looked for (J-15)."""
    delete_step: int = Field(default=500, ge=1, le=10_000)
    """Most jobs deleted in one transaction."""

    @property
    def database(self) -> Path:
        """The ledger's file."""
        return self.data_dir / DATABASE_FILE
