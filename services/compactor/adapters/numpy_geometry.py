"""A Geometry over numpy, for agents with thousands of conversations (SPEC J-12)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from services.compactor.domain.attractor import Vector
from services.compactor.domain.attractor_geometry import Rows


class NumpyGeometry:
    """See Geometry. Cosines are those of float32."""

    def __init__(self, vectors: Sequence[bytes]) -> None:
        dimension = len(vectors[0]) // 4 if vectors else 0
        self._rows: NDArray[np.float32] = np.frombuffer(b"".join(vectors), dtype="<f4").reshape(
            len(vectors), dimension
        )

    def cosines(self, rows: Rows, vector: Vector) -> list[float]:
        """See Geometry."""
        if len(rows) > len(self._rows) // 2:
            # Choosing most of them first would copy them, which takes longer than to multiply all.
            cosines = (self._rows @ _array(vector))[np.asarray(rows, dtype=np.intp)]
        else:
            cosines = self._chosen(rows) @ _array(vector)
        return [float(value) for value in cosines.tolist()]

    def nearest(self, rows: Rows, centroids: Sequence[Vector]) -> list[tuple[int, float]]:
        """See Geometry."""
        cosines = self._chosen(rows) @ np.asarray(centroids, dtype=np.float32).T
        places = cosines.argmax(axis=1)
        best = np.take_along_axis(cosines, places[:, None], axis=1)[:, 0]
        return [(int(place), float(value)) for place, value in zip(places, best.tolist(), strict=True)]

    def combination(self, rows: Rows, coefficients: Sequence[float]) -> Vector:
        """See Geometry. Summed in float64, so that small coefficients count."""
        weights = np.asarray(coefficients, dtype=np.float64)
        total = weights @ self._chosen(rows).astype(np.float64)
        return tuple(float(value) for value in total.tolist())

    def row(self, row: int) -> Vector:
        """See Geometry."""
        return tuple(float(value) for value in self._rows[row].tolist())

    def _chosen(self, rows: Rows) -> NDArray[np.float32]:
        if isinstance(rows, range) and rows == range(len(self._rows)):
            return self._rows
        return self._rows[np.asarray(rows, dtype=np.intp)]


def _array(vector: Vector) -> NDArray[np.float32]:
    return np.asarray(vector, dtype=np.float32)
