"""Directions: what clustering asks of the vectors of points, and a plain implementation. Pure."""

from __future__ import annotations

import math
import struct
from array import array
from collections.abc import Callable, Sequence
from operator import mul
from typing import Protocol

from services.compactor.domain.attractor import Vector

Rows = Sequence[int]
FLOAT_BYTES = 4


class Geometry(Protocol):
    """Unit vectors, by row. All are of one dimension."""

    def cosines(self, rows: Rows, vector: Vector) -> list[float]:
        """Of each row with a unit vector."""

    def nearest(self, rows: Rows, centroids: Sequence[Vector]) -> list[tuple[int, float]]:
        """For each row the place of the nearest unit vector (the first of equals), and its cosine."""

    def combination(self, rows: Rows, coefficients: Sequence[float]) -> Vector:
        """The sum of rows times their coefficients; not of unit length."""

    def row(self, row: int) -> Vector:
        """One vector."""


MakeGeometry = Callable[[Sequence[bytes]], Geometry]
"""From vectors of float32, little endian, of one dimension."""


class PlainGeometry:
    """A Geometry without a library: the reference, fast enough for some hundred points."""

    def __init__(self, vectors: Sequence[bytes]) -> None:
        self._rows = [array("d", unpack(vector)) for vector in vectors]

    def cosines(self, rows: Rows, vector: Vector) -> list[float]:
        """See Geometry."""
        return [sum(map(mul, self._rows[row], vector)) for row in rows]

    def nearest(self, rows: Rows, centroids: Sequence[Vector]) -> list[tuple[int, float]]:
        """See Geometry."""
        found = []
        for row in rows:
            mine = self._rows[row]
            cosines = [sum(map(mul, mine, centroid)) for centroid in centroids]
            best = max(range(len(cosines)), key=cosines.__getitem__)
            found.append((best, cosines[best]))
        return found

    def combination(self, rows: Rows, coefficients: Sequence[float]) -> Vector:
        """See Geometry."""
        total = [0.0] * (len(self._rows[0]) if self._rows else 0)
        for row, coefficient in zip(rows, coefficients, strict=True):
            total = [one + coefficient * other for one, other in zip(total, self._rows[row], strict=True)]
        return tuple(total)

    def row(self, row: int) -> Vector:
        """See Geometry."""
        return tuple(self._rows[row])


def dot(one: Vector, other: Vector) -> float:
    """The inner product; the cosine of unit vectors."""
    return float(sum(map(mul, one, other)))


def unit(vector: Vector) -> tuple[Vector, float]:
    """Its direction and length; a vector of length 0 stays as it is."""
    length = math.sqrt(sum(map(mul, vector, vector)))
    if length == 0.0:
        return vector, 0.0
    return tuple(value / length for value in vector), length


def distance(one: Vector, other: Vector) -> float:
    """The cosine distance of unit vectors, 0 to 2."""
    return min(2.0, max(0.0, 1.0 - dot(one, other)))


def pack(vector: Vector) -> bytes:
    """As float32, little endian."""
    return struct.pack(f"<{len(vector)}f", *vector)


def unpack(packed: bytes) -> Vector:
    """From float32, little endian. Raises ValueError for what is none."""
    if len(packed) % FLOAT_BYTES:
        raise ValueError("no float32 values")
    return struct.unpack(f"<{len(packed) // FLOAT_BYTES}f", packed)
