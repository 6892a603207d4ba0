"""What a tenant and its agents chose."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal

from palimpsest.models.memories import ReciprocalRank
from palimpsest.models.names import DataFlow, Provider


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One level's choices; None is not set: the tenant's holds, then the deployment's.

    `data_flow` says whether texts may be sent to endpoints that are somebody else's; a tenant's local_only
    holds for all its agents.
    """

    data_flow: DataFlow | None = None
    provider: Provider | None = None
    verify: bool | None = None
    fusion: ReciprocalRank | Literal["adaptive"] | None = None
    recall_depth: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsState:
    """What is set at one level, and what holds there; `revision` counts the changes, 0 before the first."""

    settings: Settings = field(default_factory=Settings)
    effective: Settings = field(default_factory=Settings)
    revision: int = 0
    update_time: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsChange:
    """Who changed which fields from what to what; an empty agent id is the tenant."""

    agent_id: str
    revision: int
    subject: str
    time: datetime | None
    paths: tuple[str, ...]
    before: Settings
    after: Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFlowRefusals:
    """How many texts meant for something ("hyde", "remote_memory", …) were kept in on a day (UTC)."""

    day: date
    kind: str
    count: int
