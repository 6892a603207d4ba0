"""An agent's attractor (SPEC J-12): the themes its conversations come back to. Values and figures; pure.

A conversation is one point: the direction of its summary's embedding, at the time of its last message. A
*basin* is a theme: conversations that are like each other. The *trajectory* is the conversations by time,
each with its basin. See attractor_clustering for the method.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

Vector = tuple[float, ...]

NOWHERE: Final = ""
"""The basin of a conversation that is in none."""
MAX_CONVERSATIONS: Final = 10_000
"""J-12: the newest ones make the attractor; as many as a document may name as sources (K-3)."""
MAX_IDS_BYTES: Final = 393_216
"""Of all their ids together, as JSON, so that a document holds its members."""
MAX_NAME_LENGTH: Final = 80
"""Characters of a name that a person gives to a basin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """Figures of the method (J-12), all cosines for all-MiniLM-L6-v2; see docs/attractor.md.

    Cosines are *mean pairwise* ones: of a conversation with the members of a basin, of the members of one
    basin with those of another. The *gap* between two basins is by how much the less cohesive one's members
    are more like each other than like the other basin's; it does not see what all conversations of an agent
    share, such as people's names. What was split must not be merged again: `apart` is less than `same`, and
    `split_gap` greater than `merge_gap`.
    """

    join: float = 0.25
    """From this mean cosine to its members on, a conversation may be in a basin."""
    same: float = 0.30
    """From this mean cosine between their members on, two basins are one, unless there is a gap."""
    merge_gap: float = 0.12
    """From this gap on, they are not."""
    apart: float = 0.20
    """Below this mean cosine between its halves, a basin is two."""
    split_gap: float = 0.20
    """From this gap between its halves on, too."""
    birth_members: int = 2
    """A basin begins with so many conversations."""
    split_members: int = 3
    """A half has at least so many; gaps are of basins that have."""
    max_basins: int = 32
    """The heaviest are kept, named ones first."""
    tenure: float = 1.5
    """So many times its weight counts for a basin that was there before, when not all can be kept."""
    max_candidates: int = 128
    """Conversations in no basin that are tried as the beginning of one in an update, the newest first."""
    passes: int = 12
    """Rounds of assignment before what is left moving is taken as it is."""
    rounds: int = 3
    """Times that merging and splitting follow a settled assignment."""
    half_life: timedelta = timedelta(days=30)
    """After this time a visit weighs half."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Concept:
    """A concept of a summary (J-7); relevance 0 to 1."""

    name: str
    relevance: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A conversation: its summary's concepts and title, and the time of its last message.

    `vector` is float32, little endian, of length 1 (L2). `version` is that of the summary.
    """

    conversation_id: str
    time: datetime
    version: int
    vector: bytes
    title: str = ""
    concepts: tuple[Concept, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A conversation in the trajectory; `basin` is a basin's id or NOWHERE."""

    conversation_id: str
    time: datetime
    basin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """What tells a basin from the others, and how much (c-TF-IDF)."""

    text: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Basin:
    """A theme. `id` is never given to another one; `name` is a person's, `label` what its terms make.

    `weight` is its share of the recency of all visits to basins; `cohesion` the mean cosine between two of
    its members (1 for a single one); `moved` the cosine distance of its centroid from that of the update
    before, None when it is new or the model is another one.
    """

    id: str
    label: str
    weight: float
    centroid: Vector
    cohesion: float
    name: str = ""
    terms: tuple[Term, ...] = ()
    moved: float | None = None

    @property
    def title(self) -> str:
        """What people call it."""
        return self.name or self.label or self.id


class ChangeKind(StrEnum):
    """What became of a basin."""

    BORN = "born"
    DIED = "died"
    SPLIT = "split"
    """`others` came out of it."""
    MERGED = "merged"
    """It went into the one in `others`."""
    MOVED = "moved"
    RENAMED = "renamed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A basin's change. `distance` is that of its centroids where it moved."""

    kind: ChangeKind
    basin: str
    others: tuple[str, ...] = ()
    distance: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attractor:
    """Basins, the heaviest first, and the trajectory, the oldest first.

    `mean` is the direction of all conversations by recency, `drift` its cosine distance from that of the
    update before (None: there is none to compare with). `last_basin` is the number of the newest id ever
    given. `scattered` is the share of the recency of all visits that is in no basin. `omitted` counts older
    conversations that were left out.
    """

    model: str
    last_basin: int = 0
    basins: tuple[Basin, ...] = ()
    visits: tuple[Visit, ...] = ()
    mean: Vector = ()
    drift: float | None = None
    scattered: float = 0.0
    omitted: int = 0
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """What an update takes over from the version before; `labels` is basin id by conversation id."""

    model: str = ""
    last_basin: int = 0
    basins: Sequence[Basin] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    mean: Vector = ()


def basin_id(number: int) -> str:
    """The id of the n-th basin of an agent, from 1."""
    return f"b{number}"
