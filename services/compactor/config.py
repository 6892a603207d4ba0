"""Settings of the Compactor; every figure of its rules is here."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr
from pydantic_settings import SettingsConfigDict

from services.compactor.domain.graph_synonyms import MERGE_AT
from services.kit.stores import StoreSettings

DATABASE_FILE = "compactor.db"
DAY_SECONDS = 86_400.0


class CompactorSettings(StoreSettings):
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
    """Groups worked on at once; one more where there is a model, for jobs that don't wait for it."""
    tenant_slots: int = Field(default=8, ge=0, le=10_000)
    """Groups of one tenant worked on at once, by all processes together (J-4); 0 for any number."""
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
    redis_url: SecretStr = SecretStr("")
    """A Redis server, e.g. "redis://redis:6379/0": wakes the workers of other processes, which poll without
    one (J-1), and keeps copies of documents (K-1)."""
    redis_prefix: str = Field(default="palimpsest", pattern="^[A-Za-z0-9_.-]{1,60}$")
    """What the names of the keys begin with; suites that share a server take different ones."""
    redis_cluster: bool = False
    """Whether that server is a machine of a cluster."""
    kv_timeout_seconds: float = Field(default=0.25, gt=0, le=10)
    """How long Redis may take to give a copy of a document, or to take one; then it is done without (K-2)."""
    kv_keep_seconds: float = Field(default=600.0, gt=0)
    """Life of a copy of a document, and the longest that an outdated one is read if all else fails (K-2)."""
    kv_mark_seconds: float = Field(default=60.0, gt=0)
    """How long a writer that died keeps readers from a copy: more than a transaction takes (K-2)."""
    kv_bytes: int = Field(default=16 * 1024 * 1024, ge=0)
    """Most bytes of copies in this process, where there is no Redis and no other process (K-1)."""
    data_flow: Literal["local-only", "allow-partner"] = "local-only"
    """Whether messages may be sent to a model that is somebody else's (S-15), for facts and summaries: the
    default of tenants that chose nothing, and "local-only" holds for all, whatever they chose."""
    graph_merge_at: float = Field(default=MERGE_AT, ge=0, le=2)
    """A score, 0 to 1, from which branches that may be the same are merged without being asked for (J-13);
    above 1 none are."""
    schedules: bool = True
    """Whether this process may lead the schedules (J-5, J-10, J-11)."""
    schedule_seconds: float = Field(default=5.0, gt=0)
    """How often the leader looks what is due."""
    leader_seconds: float = Field(default=30.0, gt=0)
    """How long a leader leads unless it looks again."""
