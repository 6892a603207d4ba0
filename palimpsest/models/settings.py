"""What a tenant and its agents chose."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal

from palimpsest.models.memories import ReciprocalRank
from palimpsest.models.names import DataFlow, Provider


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets:
    """What a tenant may use; None is not set: the deployment's holds. 0 allows nothing.

    Calls a minute, and how many of them at once; tokens a minute that models are given and write; what they
    may cost a day (UTC), in millionths of the deployment's currency; open calls that answer with a stream.
    """

    requests_per_minute: int | None = None
    request_burst: int | None = None
    tokens_per_minute: int | None = None
    spend_per_day_micros: int | None = None
    concurrent_streams: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One level's choices; None is not set: the tenant's holds, then the deployment's.

    `data_flow` says whether texts may be sent to endpoints that are somebody else's; a tenant's local_only
    holds for all its agents. Only a tenant has `budgets`.
    """

    data_flow: DataFlow | None = None
    provider: Provider | None = None
    verify: bool | None = None
    fusion: ReciprocalRank | Literal["adaptive"] | None = None
    recall_depth: int | None = None
    budgets: Budgets | None = None


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A budget that holds, named as a field of Budgets, and what is left of it now.

    `wait` is the seconds until something is left, 0 if something is, None where that can't be told; `own`
    says whether the tenant's settings say so, not the deployment's default.
    """

    name: str
    most: int
    left: int
    wait: float | None
    own: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpend:
    """What calls of one model by Chat and Answer took on one day (UTC)."""

    day: date
    tier: str
    model: str
    calls: int
    estimated_calls: int
    input_tokens: int
    output_tokens: int
    spend_micros: int
