"""What a tenant and its agents chose (SPEC G-12, S-15)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from datetime import date, datetime, timedelta
from typing import Final

from services.gateway.domain.budgets import NO_BUDGETS, Budgets, checked
from services.kit.errors import InvalidField
from services.kit.policy import DataFlow, FusionChoice, Provider

TENANT = ""
"""The agent id under which a tenant's own settings are kept."""
MAX_WEIGHT = 100.0
MAX_K = 10_000.0
DEPTHS = range(15, 1001)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One level's choices; None is not set."""

    data_flow: DataFlow | None = None
    provider: Provider | None = None
    verify: bool | None = None
    fusion: FusionChoice | None = None
    recall_depth: int | None = None
    budgets: Budgets = NO_BUDGETS


UNSET = Settings()
FIELDS = frozenset(field.name for field in fields(Settings))
BUDGETS = "budgets"
BUDGET_PATHS = {f"{BUDGETS}.{field.name}": field.name for field in fields(Budgets)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """Settings as they are kept; `revision` counts their changes, 0 before the first."""

    settings: Settings = UNSET
    revision: int = 0
    updated: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Who changed which fields from what to what."""

    agent_id: str
    revision: int
    subject: str
    time: datetime
    paths: tuple[str, ...]
    before: Settings
    after: Settings


REFUSALS_KEPT: Final = timedelta(days=400)
"""For how long refusals are kept before a tenant's newest ones: a year, and a month to compare it with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedTexts:
    """How many texts of a kind were kept in on a day (UTC)."""

    day: date
    kind: str
    count: int


def with_paths(old: Settings, new: Settings, paths: Sequence[str]) -> Settings:
    """`old` with the fields of `new`, or of its budgets, that `paths` name.

    Raises InvalidField for none, for unknown ones, and for values out of their bounds.
    """
    if not paths:
        raise InvalidField("update_mask", "names no field")
    for path in paths:
        if path not in FIELDS and path not in BUDGET_PATHS:
            raise InvalidField("update_mask", f"there is no setting {path!r}")
    made = replace(old, **{path: getattr(new, path) for path in paths if path in FIELDS})
    single = [BUDGET_PATHS[path] for path in paths if path in BUDGET_PATHS]
    made = replace(
        made, budgets=replace(made.budgets, **{name: getattr(new.budgets, name) for name in single})
    )
    _check(made)
    return made


def names_budgets(paths: Sequence[str]) -> bool:
    """Whether one of them is of budgets, which only a tenant has."""
    return any(path == BUDGETS or path in BUDGET_PATHS for path in paths)


def _check(settings: Settings) -> None:
    if settings.recall_depth is not None and settings.recall_depth not in DEPTHS:
        raise InvalidField("settings.recall_depth", "must be from 15 to 1000")
    checked(settings.budgets)
    if settings.fusion is None:
        return
    k = settings.fusion.k
    if k is not None and not (math.isfinite(k) and 0 <= k <= MAX_K):
        raise InvalidField("settings.fusion.reference.k", "must be from 0 to 10000")
    if not all(math.isfinite(w) and 0 <= w <= MAX_WEIGHT for w in settings.fusion.weights.values()):
        raise InvalidField("settings.fusion.reference.weights", "must be from 0 to 100")


def effective(agent: Settings, tenant: Settings) -> Settings:
    """What holds for an agent: its own choice, else the tenant's; of data flows the stricter. Budgets are the
    tenant's."""
    return Settings(
        data_flow=_stricter(agent.data_flow, tenant.data_flow),
        provider=agent.provider or tenant.provider,
        verify=tenant.verify if agent.verify is None else agent.verify,
        fusion=agent.fusion or tenant.fusion,
        recall_depth=agent.recall_depth or tenant.recall_depth,
        budgets=tenant.budgets,
    )


def _stricter(one: DataFlow | None, other: DataFlow | None) -> DataFlow | None:
    if DataFlow.LOCAL_ONLY in (one, other):
        return DataFlow.LOCAL_ONLY
    # An agent cannot allow what its tenant does not: where that says nothing, the deployment's default does.
    return other
