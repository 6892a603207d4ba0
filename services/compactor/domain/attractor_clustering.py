"""Which conversations make a basin (SPEC J-12). Pure.

The method is spherical k-means (Dhillon and Modha, Machine Learning 42, 2001) with the number of clusters
left open: a point that is near to none begins a new one, as in DP-means (Kulis and Jordan, ICML 2012) and its
spherical form for clusters that live on, move and die, DDP-vMF-means (Straub et al., CVPR 2015). It starts
from the groups of the update before, so that a group is the same group by descent, and no matching afterwards
is needed. Groups are joined and divided by *average linkage* (Sokal and Michener 1958): the mean cosine over
pairs of members, which for unit vectors is R_a · R_b · cos(c_a, c_b), with R the length of a group's mean
vector and c its direction. A group is divided along its principal direction (PDDP: Boley, Data Mining and
Knowledge Discovery 2, 1998).

There is no randomness: the same points in the same order give the same groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from services.compactor.domain.attractor import Parameters, Vector
from services.compactor.domain.attractor_geometry import Geometry, dot, unit

POWER_STEPS = 12
HALF_STEPS = 4


@dataclass(slots=True)
class Group:
    """Rows that belong together.

    `origin` is the place of the group before that it goes on from, None for a new one. `length` is that of
    the mean of the rows, 0 to 1, and `centroid` its direction.
    """

    rows: list[int]
    origin: int | None = None
    centroid: Vector = ()
    length: float = 0.0

    def recentre(self, geometry: Geometry) -> None:
        """Computes the mean."""
        share = 1.0 / len(self.rows)
        self.centroid, self.length = unit(geometry.combination(self.rows, [share] * len(self.rows)))


def cohesion(group: Group) -> float:
    """The mean cosine over pairs of different members; 1 for a single one."""
    count = len(group.rows)
    return 1.0 if count == 1 else (count * group.length**2 - 1.0) / (count - 1)


def linkage(one: Group, other: Group) -> float:
    """The mean cosine over pairs of a member of the one and a member of the other."""
    return one.length * other.length * dot(one.centroid, other.centroid)


class Clustering:
    """Groups of `count` rows, in their order of time; `favoured` are origins that survive a merger."""

    def __init__(
        self, geometry: Geometry, count: int, parameters: Parameters, favoured: frozenset[int] = frozenset()
    ) -> None:
        self._geometry = geometry
        self._count = count
        self._parameters = parameters
        self._favoured = favoured

    def groups(self, before: Sequence[Sequence[int]]) -> list[Group]:
        """From the rows of the groups before, in their order; those without a row are gone."""
        groups = [Group(rows=sorted(rows), origin=place) for place, rows in enumerate(before) if rows]
        groups = self._settle(groups)
        groups = self._settle([*groups, *self._candidates(groups)])
        for _ in range(self._parameters.rounds):
            merged = self._merge(groups)
            divided = self._divide(groups)
            if not (merged or divided):
                break
            groups = self._settle(groups)
        least = self._parameters.birth_members
        return [group for group in groups if group.origin is not None or len(group.rows) >= least]

    def _settle(self, groups: list[Group]) -> list[Group]:
        """Assigns rows to their nearest groups until none moves."""
        labels: list[int] | None = None
        for _ in range(self._parameters.passes):
            for group in groups:
                group.recentre(self._geometry)
            found = self._assign(groups)
            if found == labels:
                break
            labels = found
            groups = _regroup(groups, labels)
        for group in groups:
            group.recentre(self._geometry)
        return groups

    def _assign(self, groups: list[Group]) -> list[int]:
        """The place of each row's group, -1 for none."""
        rows = range(self._count)
        labels = [-1] * self._count
        if groups:
            nearest = self._geometry.nearest(rows, [group.centroid for group in groups])
            for row, (place, cosine) in zip(rows, nearest, strict=True):
                if groups[place].length * cosine >= self._parameters.join:
                    labels[row] = place
        return labels

    def _candidates(self, groups: Sequence[Group]) -> list[Group]:
        """New groups: the newest row that is in none leads all such rows that are like it, and so on."""
        taken = {row for group in groups for row in group.rows}
        left = [row for row in range(self._count) if row not in taken]
        found = []
        for _ in range(self._parameters.max_candidates):
            if len(left) < self._parameters.birth_members:
                break
            leader = left[-1]
            cosines = self._geometry.cosines(left, self._geometry.row(leader))
            near = {row for row, cosine in zip(left, cosines, strict=True) if cosine >= self._parameters.same}
            if len(near) >= self._parameters.birth_members:
                found.append(Group(rows=sorted(near)))
            left = [row for row in left if row != leader and row not in near]
        return found

    def _merge(self, groups: list[Group]) -> bool:
        """Joins the closest two groups that are one until there are none; whether there were."""
        links = self._links(groups, range(len(groups)))
        gone: set[int] = set()
        while links:
            one, other = max(links, key=lambda pair: (links[pair], -pair[0], -pair[1]))
            kept, lost = sorted((one, other), key=lambda place: self._rank(groups[place]), reverse=True)
            groups[kept].rows = sorted([*groups[kept].rows, *groups[lost].rows])
            groups[kept].recentre(self._geometry)
            gone.add(lost)
            links = {pair: link for pair, link in links.items() if not {kept, lost} & {*pair}}
            left = [place for place in range(len(groups)) if place not in gone]
            links.update(self._links(groups, left, kept))
        groups[:] = [group for place, group in enumerate(groups) if place not in gone]
        return bool(gone)

    def _links(
        self, groups: Sequence[Group], places: Sequence[int], of: int | None = None
    ) -> dict[tuple[int, int], float]:
        """The linkage of each two groups that are one, or of those with the group `of`."""
        pairs = (
            combinations(places, 2)
            if of is None
            else ((min(of, place), max(of, place)) for place in places if place != of)
        )
        found = {}
        for pair in pairs:
            one, other = groups[pair[0]], groups[pair[1]]
            link = linkage(one, other)
            if link >= self._parameters.same and self._gap(one, other) < self._parameters.merge_gap:
                found[pair] = link
        return found

    def _gap(self, one: Group, other: Group) -> float:
        """See Parameters; 0 where a group is too small to say."""
        if min(len(one.rows), len(other.rows)) < self._parameters.split_members:
            return 0.0
        return min(cohesion(one), cohesion(other)) - linkage(one, other)

    def _rank(self, group: Group) -> tuple[bool, bool, int, int]:
        """Who survives: a favoured one, one that was there before, the greater one, the older one."""
        origin = group.origin
        return (
            origin is not None and origin in self._favoured,
            origin is not None,
            len(group.rows),
            -(self._count if origin is None else origin),
        )

    def _divide(self, groups: list[Group]) -> bool:
        """Splits groups whose halves are apart; the greater half goes on as the group."""
        made = []
        for group in groups:
            halves = self._halves(group)
            if halves is None:
                continue
            greater, lesser = sorted(halves, key=lambda half: (-len(half.rows), half.rows[0]))
            group.rows, group.centroid, group.length = greater.rows, greater.centroid, greater.length
            made.append(lesser)
        groups += made
        return bool(made)

    def _halves(self, group: Group) -> tuple[Group, Group] | None:
        """Two halves that are apart, or None."""
        least = self._parameters.split_members
        if len(group.rows) < 2 * least:
            return None
        signs = self._principal_signs(group)
        for _ in range(HALF_STEPS):
            halves = [
                Group(rows=[row for row, sign in zip(group.rows, signs, strict=True) if sign is side])
                for side in (True, False)
            ]
            if min(len(half.rows) for half in halves) < least:
                return None
            for half in halves:
                half.recentre(self._geometry)
            nearest = self._geometry.nearest(group.rows, [half.centroid for half in halves])
            moved = [place == 0 for place, _ in nearest]
            if moved == signs:
                break
            signs = moved
        one, other = halves
        near = linkage(one, other) >= self._parameters.apart
        return None if near and self._gap(one, other) < self._parameters.split_gap else (one, other)

    def _principal_signs(self, group: Group) -> list[bool]:
        """On which side of the mean each row lies, along the direction of greatest variance."""
        rows = group.rows
        cosines = self._geometry.cosines(rows, group.centroid)
        outermost = rows[min(range(len(rows)), key=cosines.__getitem__)]
        direction = self._geometry.row(outermost)
        projected = cosines
        for _ in range(POWER_STEPS):
            projected = self._geometry.cosines(rows, direction)
            mean = sum(projected) / len(projected)
            # The coefficients add up to 0, so the rows' own mean drops out of the sum.
            direction, length = unit(self._geometry.combination(rows, [value - mean for value in projected]))
            if length == 0.0:
                break
        projected = self._geometry.cosines(rows, direction)
        mean = sum(projected) / len(projected)
        return [value >= mean for value in projected]


def _regroup(groups: list[Group], labels: Sequence[int]) -> list[Group]:
    """The groups with the rows that are theirs now; those without any are left out, and `labels` says so."""
    rows: list[list[int]] = [[] for _ in groups]
    for row, place in enumerate(labels):
        if place >= 0:
            rows[place].append(row)
    for group, theirs in zip(groups, rows, strict=True):
        group.rows = theirs
    return [group for group in groups if group.rows]
