"""The indexes: runs that build them again, and whose vectors they hold."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from palimpsest.models.names import ReindexState


@dataclass(frozen=True, slots=True, kw_only=True)
class ReindexRun:
    """A run that builds the indexes of a tenant, or of one agent, again; `agent_id` is "" for all."""

    id: str
    agent_id: str
    state: ReindexState
    done_count: int
    total_count: int
    """When it began; more may be done than that."""
    create_time: datetime | None
    finish_time: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorGeneration:
    """The vectors of one model, of all tenants."""

    revision: str
    dimension: int
    vector_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexStatus:
    """Whose vectors answer queries, and those of a next model while they are filled."""

    active: VectorGeneration
    next: VectorGeneration | None
