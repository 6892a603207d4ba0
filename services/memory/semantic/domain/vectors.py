"""What is stored in a vector index, and how a search names what it may see (SPEC S-3).

A vector is `bytes`: its float32 values, little endian, as the embedder sends them. Nothing between the
embedder and the engine takes it apart.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from math import isfinite
from uuid import UUID, uuid5

from services.memory.semantic.domain.memory import Memory

POINT_NAMESPACE = UUID("a4a3c6c5-6d0f-5f0e-9a51-3d4f7f0c2b17")
"""Namespace of point ids; changing it orphans every stored point."""

FLOAT_BYTES = 4


class ContentClass(StrEnum):
    """What an indexed item is."""

    MEMORY = "memory"
    """A memory that is live, or will be: what recall searches."""
    MESSAGE = "message"
    PAST = "past"
    """A memory that lasts no more but is kept, superseded or ended: searched as of a moment (S-8)."""
    DOCUMENT = "document"
    """A part of a derived document (S-13)."""


MEMORY_CLASSES = (ContentClass.MEMORY, ContentClass.PAST)
"""Where a memory may be; at any time it belongs to one of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """Whose items, of which class: every search is of one bucket. ValueError without tenant or agent."""

    tenant: str
    agent: str
    content: ContentClass

    def __post_init__(self) -> None:
        if not self.tenant or not self.agent:
            raise ValueError("a bucket needs a tenant and an agent")

    @property
    def key(self) -> str:
        """One string that no other bucket has: parts are preceded by their lengths."""
        return f"{len(self.tenant)}:{self.tenant}{len(self.agent)}:{self.agent}{self.content.value}"

    def of(self, content: ContentClass) -> Bucket:
        """The same agent's items of a class."""
        return replace(self, content=content)


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorPoint:
    """An item with its vector, and the fields that searches filter by."""

    bucket: Bucket
    item_id: str
    vector: bytes
    contact_id: str = ""
    """Empty: the item is agent-wide."""
    conversation_id: str = ""
    kind: str = ""
    role: str = ""
    author: str = ""
    time: float = 0.0
    """Seconds since the epoch: of a message when it was said, of a memory from when on it holds."""
    ends: float | None = None
    """Until when a memory holds, itself excluded; None: no end is known."""
    sequence: int = 0
    session: str = ""

    @property
    def id(self) -> UUID:
        """The id of the point in the engine."""
        return point_id(self.bucket, self.item_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What a search is narrowed to within its bucket; the default narrows nothing. Fields are ANDed."""

    contact_ids: frozenset[str] | None = None
    """Items of any of these contacts; None: of any contact, and agent-wide ones."""
    agent_wide: bool = True
    """With `contact_ids`: whether agent-wide items count too."""
    conversation_id: str | None = None
    kinds: frozenset[str] = frozenset()
    """Any of these; empty: any. Likewise roles and authors."""
    roles: frozenset[str] = frozenset()
    authors: frozenset[str] = frozenset()
    since: float | None = None
    """Not before this, seconds since the epoch."""
    until: float | None = None
    """Before this, seconds since the epoch."""
    valid_at: float | None = None
    """What held then: its time is not after this, and its end, if one is known, is."""

    @property
    def contacts(self) -> frozenset[str] | None:
        """The contact ids that pass, "" standing for agent-wide; None: all. Empty: nothing passes."""
        if self.contact_ids is None:
            return None
        return self.contact_ids | {""} if self.agent_wide else self.contact_ids - {""}


NO_FILTERS = Filters()


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorHit:
    """An item found, and the cosine of its vector with the query's."""

    item_id: str
    cosine: float


@dataclass(frozen=True, slots=True, kw_only=True)
class IdPage:
    """Some item ids of a bucket; `next` continues after them, "" at the end."""

    item_ids: tuple[str, ...]
    next: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorModel:
    """The model that made the vectors of an index (SPEC S-17)."""

    revision: str
    dimension: int


def point_id(bucket: Bucket, item_id: str) -> UUID:
    """UUIDv5 of (tenant, agent, content class, item id)."""
    return uuid5(POINT_NAMESPACE, f"{bucket.key}/{item_id}")


def passes(filters: Filters, point: VectorPoint) -> bool:
    """Whether the point is among what `filters` leave of its bucket."""
    contacts = filters.contacts
    return (
        (contacts is None or point.contact_id in contacts)
        and filters.conversation_id in (None, point.conversation_id)
        and (not filters.kinds or point.kind in filters.kinds)
        and (not filters.roles or point.role in filters.roles)
        and (not filters.authors or point.author in filters.authors)
        and (filters.since is None or point.time >= filters.since)
        and (filters.until is None or point.time < filters.until)
        and (filters.valid_at is None or _held(point, filters.valid_at))
    )


def _held(point: VectorPoint, moment: float) -> bool:
    return point.time <= moment and (point.ends is None or moment < point.ends)


def classes_at(moment: datetime | None) -> tuple[ContentClass, ...]:
    """Where memories that held at a moment are looked for; None: those that are live."""
    return (ContentClass.MEMORY,) if moment is None else MEMORY_CLASSES


def class_of(memory: Memory, now: datetime) -> ContentClass:
    """Where a memory that exists belongs."""
    return ContentClass.MEMORY if memory.lasts(now) else ContentClass.PAST


def ranked(hits: Sequence[VectorHit]) -> list[VectorHit]:
    """Best first, equals by item id."""
    return sorted(hits, key=lambda hit: (-hit.cosine, hit.item_id))


def pack(values: Sequence[float]) -> bytes:
    """The values as a vector."""
    return struct.pack(f"<{len(values)}f", *values)


def unpack(vector: bytes) -> tuple[float, ...]:
    """The values of a vector."""
    return struct.unpack(f"<{len(vector) // FLOAT_BYTES}f", vector)


def check_vector(vector: bytes, dimension: int) -> None:
    """Raises ValueError unless the vector has `dimension` finite values."""
    if len(vector) != dimension * FLOAT_BYTES:
        raise ValueError(f"a vector of {len(vector)} bytes does not have {dimension} float32 values")
    if not isfinite(sum(unpack(vector))):
        raise ValueError("a vector has a value that is not finite")
