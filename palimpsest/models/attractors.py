"""An agent's attractor: the themes that its conversations come back to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from palimpsest.models.names import BasinChangeKind


@dataclass(frozen=True, slots=True, kw_only=True)
class AttractorState:
    """What is known of an attractor beside its versions; `pinned_version` 0: the newest is given."""

    newest_version: int
    pinned_version: int
    frozen_versions: tuple[int, ...]
    stale: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Basin:
    """A theme. `label` is made of its concepts, `name` a person's; `weight` its share, 0 to 1."""

    id: str
    name: str
    label: str
    weight: float
    member_count: int
    last_visit_time: datetime | None

    @property
    def title(self) -> str:
        """What to call it."""
        return self.name or self.label or self.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Basins:
    """The basins of a version, the heaviest first."""

    basins: tuple[Basin, ...]
    version: int
    create_time: datetime | None
    conversation_count: int
    drift: float | None
    state: AttractorState

    def __iter__(self) -> Iterator[Basin]:
        return iter(self.basins)

    def __len__(self) -> int:
        return len(self.basins)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attractor:
    """A version whole; docs/attractor.md describes `body`. `source_ids` are its conversations, by time."""

    version: int
    create_time: datetime | None
    engine: str
    source_ids: tuple[str, ...]
    body: Mapping[str, Any]
    state: AttractorState


@dataclass(frozen=True, slots=True, kw_only=True)
class AttractorVersion:
    """A version without its body."""

    version: int
    create_time: datetime | None
    engine: str
    size_bytes: int
    frozen: bool
    pinned: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BasinChange:
    """What became of a basin; `distance` is how far its centroid moved, 0 unless it did."""

    kind: BasinChangeKind
    basin_id: str
    other_ids: tuple[str, ...]
    distance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AttractorComparison:
    """What became of the basins from one version to another; `fields` are those of the JSON that differ."""

    before_version: int
    after_version: int
    changes: tuple[BasinChange, ...]
    fields: tuple[str, ...]
