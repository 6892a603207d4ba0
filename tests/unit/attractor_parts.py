"""What the tests of attractors share: conversations about themes that are far from each other."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from services.compactor.domain.attractor import Attractor, Concept, Earlier, Point, Vector
from services.compactor.domain.attractor_geometry import PlainGeometry, pack, unit
from services.compactor.domain.attractor_updating import known, updated

START = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
DIMENSION = 32
MODEL = "model-1"
NOISE = 0.25  # of a vector beside its theme: two conversations of a theme have a cosine of about 0.94


def theme(number: int) -> Vector:
    """The direction of a theme; any two are at right angles."""
    return tuple(1.0 if place == number else 0.0 for place in range(DIMENSION))


def between(one: Vector, other: Vector, share: float) -> Vector:
    """From `one` (0) to `other` (1)."""
    return unit(tuple((1 - share) * a + share * b for a, b in zip(one, other, strict=True)))[0]


def vector(direction: Vector, seed: int, noise: float = NOISE) -> bytes:
    """A direction near that one."""
    chance = random.Random(seed)
    away = unit(tuple(chance.gauss(0.0, 1.0) for _ in direction))[0]
    return pack(unit(tuple(a + noise * b for a, b in zip(direction, away, strict=True)))[0])


def point(name: str, direction: Vector, day: float, concepts: Sequence[str] = (), title: str = "") -> Point:
    """A conversation; `name` also seeds its noise."""
    return Point(
        conversation_id=name,
        time=START + day * DAY,
        version=1,
        vector=vector(direction, sum(map(ord, name)) * 7919 + len(name)),
        title=title,
        concepts=tuple(Concept(name=one) for one in concepts),
    )


def points(themes: Sequence[int], first_day: float = 0, prefix: str = "c") -> list[Point]:
    """One conversation a day, about these themes one after the other."""
    return [
        point(f"{prefix}{place:04}", theme(number), first_day + place, [f"topic {number}"])
        for place, number in enumerate(themes)
    ]


def update(
    before: Attractor | Earlier | None, conversations: Sequence[Point], model: str = MODEL
) -> Attractor:
    """The next version."""
    earlier = known(before) if isinstance(before, Attractor) else before or Earlier()
    return updated(earlier, conversations, model, PlainGeometry)


def labels(attractor: Attractor) -> Mapping[str, str]:
    """Basin by conversation."""
    return {visit.conversation_id: visit.basin for visit in attractor.visits}


def ids(attractor: Attractor) -> list[str]:
    """Of its basins, the heaviest first."""
    return [basin.id for basin in attractor.basins]
