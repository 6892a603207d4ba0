"""Jobs, the server, and API keys."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from palimpsest.models.names import JobState, KeyChangeKind, KeyRole


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A piece of derived work."""

    id: str
    type: str
    agent_id: str
    subject: str
    state: JobState
    attempt: int
    max_attempts: int
    progress: float
    error: str
    create_time: datetime | None
    update_time: datetime | None
    finish_time: datetime | None
    not_before_time: datetime | None
    lease_expire_time: datetime | None
    result_ids: tuple[str, ...]
    revision: int
    engine: str
    """What did it, where there is a choice; see docs/models.md."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobCounts:
    """How many jobs are in each state."""

    queued: int
    running: int
    failed: int
    dead: int
    succeeded: int
    cancelled: int

    @property
    def left(self) -> int:
        """Jobs that are still to be done."""
        return self.queued + self.running + self.failed


@dataclass(frozen=True, slots=True, kw_only=True)
class JobUpdate:
    """Jobs that changed since the last update, and the counts of all that match."""

    jobs: tuple[Job, ...]
    counts: JobCounts


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What the server is, and how its jobs stand."""

    version: str
    profile: str
    model_name: str
    model_revision: str
    model_dimension: int
    jobs: JobCounts


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A key, without its secret."""

    id: str
    display_name: str
    role: KeyRole
    agent_ids: tuple[str, ...]
    create_time: datetime | None
    expire_time: datetime | None
    revoke_time: datetime | None
    rotate_time: datetime | None = None
    """When it got its present secret; None if that is its first."""
    previous_secret_expire_time: datetime | None = None
    """From when the secret before the present one no longer works; None if there was none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedKey:
    """A key and its new secret, which is shown only here."""

    key: ApiKey
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyChange:
    """Who did what to which key, and when.

    `subject` is "key:" and the id of a key, "jwt:" and the subject of a token, or "start".
    """

    key_id: str
    kind: KeyChangeKind
    subject: str
    time: datetime | None
