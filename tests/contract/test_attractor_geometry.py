"""Vectors of an attractor, plain and by numpy: the suite of the Geometry port (SPEC J-12)."""

from __future__ import annotations

import random

import pytest

from services.compactor.adapters.numpy_geometry import NumpyGeometry
from services.compactor.domain.attractor import Earlier
from services.compactor.domain.attractor_geometry import (
    Geometry,
    MakeGeometry,
    PlainGeometry,
    distance,
    pack,
    unit,
    unpack,
)
from services.compactor.domain.attractor_updating import updated
from tests.unit.attractor_parts import labels, points

SQUARE = [pack((1.0, 0.0)), pack((0.0, 1.0)), pack((-1.0, 0.0)), pack(unit((3.0, 4.0))[0])]


@pytest.fixture(params=[PlainGeometry, NumpyGeometry])
def make(request: pytest.FixtureRequest) -> MakeGeometry:
    made: MakeGeometry = request.param
    return made


@pytest.fixture
def geometry(make: MakeGeometry) -> Geometry:
    return make(SQUARE)


@pytest.mark.parametrize("rows", [[3], [3, 0, 2], [0, 1, 2, 3], range(4)])
def test_cosines_are_in_the_order_of_the_rows(geometry: Geometry, rows: list[int]) -> None:
    wanted = [1.0, 0.0, -1.0, 0.6]
    assert geometry.cosines(rows, (1.0, 0.0)) == pytest.approx([wanted[row] for row in rows], abs=1e-6)


def test_the_nearest_is_the_first_of_equals(geometry: Geometry) -> None:
    found = geometry.nearest([3, 1, 2], [(1.0, 0.0), (0.0, 1.0), (0.0, 1.0)])
    assert [place for place, _ in found] == [1, 1, 1]
    assert [cosine for _, cosine in found] == pytest.approx([0.8, 1.0, 0.0], abs=1e-6)


def test_combinations_are_sums(geometry: Geometry) -> None:
    assert geometry.combination([0, 1, 3], [2.0, -1.0, 5.0]) == pytest.approx((5.0, 3.0), abs=1e-5)
    assert geometry.row(3) == pytest.approx((0.6, 0.8), abs=1e-6)


def test_no_rows_are_no_error(make: MakeGeometry) -> None:
    empty = make([])
    assert empty.cosines([], ()) == []
    assert empty.combination([], []) == ()
    assert updated(Earlier(), [], "m", make).basins == ()


def test_both_find_the_same_basins() -> None:
    chance = random.Random(5)
    conversations = points([chance.randrange(6) for _ in range(80)])
    plain, fast = (updated(Earlier(), conversations, "m", make) for make in (PlainGeometry, NumpyGeometry))
    assert labels(plain) == labels(fast)
    assert len(plain.basins) == 6
    for one, other in zip(plain.basins, fast.basins, strict=True):
        assert (one.id, one.label) == (other.id, other.label)
        assert one.centroid == pytest.approx(other.centroid, abs=1e-5)
        assert one.cohesion == pytest.approx(other.cohesion, abs=1e-5)


def test_vectors_are_packed_as_float32() -> None:
    assert unpack(pack((0.5, -2.0))) == (0.5, -2.0)
    assert unpack(b"") == ()
    with pytest.raises(ValueError, match="float32"):
        unpack(b"123")
    assert unit((0.0, 0.0)) == ((0.0, 0.0), 0.0)
    assert distance((1.0, 0.0), (-1.0, 0.0)) == 2.0
