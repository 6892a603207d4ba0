"""An update of an attractor: the version before, and the conversations there are now (SPEC J-12). Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from services.compactor.domain.attractor import (
    NOWHERE,
    Attractor,
    Basin,
    Earlier,
    Parameters,
    Point,
    Vector,
    Visit,
    basin_id,
)
from services.compactor.domain.attractor_changes import changes
from services.compactor.domain.attractor_clustering import Clustering, Group, cohesion
from services.compactor.domain.attractor_dynamics import recencies
from services.compactor.domain.attractor_geometry import Geometry, MakeGeometry, distance, unit
from services.compactor.domain.attractor_labels import label_of, terms_of

NEAREST_TITLES = 3


def updated(
    before: Earlier,
    points: Sequence[Point],
    model: str,
    make_geometry: MakeGeometry,
    parameters: Parameters | None = None,
    omitted: int = 0,
) -> Attractor:
    """The attractor of these conversations, each given once, in any order, all by the same model.

    Groups go on from those of `before` by the conversations that are still there; a basin that goes on keeps
    its id and name. Ids of new basins go on from `before.last_basin`, by the time of their first visits.
    """
    rules = parameters or Parameters()
    ordered = sorted(points, key=lambda point: (point.time, point.conversation_id))
    geometry = make_geometry([point.vector for point in ordered])
    recency = recencies([point.time for point in ordered], rules.half_life)
    places = {basin.id: place for place, basin in enumerate(before.basins)}
    rows: list[list[int]] = [[] for _ in before.basins]
    for row, point in enumerate(ordered):
        place = places.get(before.labels.get(point.conversation_id, NOWHERE))
        if place is not None:
            rows[place].append(row)
    named = frozenset(place for place, basin in enumerate(before.basins) if basin.name)
    found = Clustering(geometry, len(ordered), rules, named).groups(rows)
    groups = sorted(found, key=lambda group: group.rows[0])  # so that sums do not depend on the way here
    weights = [sum(recency[row] for row in group.rows) for group in groups]
    kept = _kept(groups, weights, named, rules)
    ids, last_basin = _ids([groups[place] for place in kept], before)
    inside = sum(weights[place] for place in kept)
    basins = [
        _basin(groups[place], id_, weights[place] / inside if inside > 0.0 else 0.0, before)
        for place, id_ in zip(kept, ids, strict=True)
    ]
    basins = _labelled(basins, [groups[place] for place in kept], ordered, geometry)
    of_row = {row: id_ for place, id_ in zip(kept, ids, strict=True) for row in groups[place].rows}
    visits = tuple(
        Visit(conversation_id=point.conversation_id, time=point.time, basin=of_row.get(row, NOWHERE))
        for row, point in enumerate(ordered)
    )
    mean = unit(geometry.combination(range(len(ordered)), recency))[0] if ordered else ()
    made = Attractor(
        model=model,
        last_basin=last_basin,
        basins=tuple(sorted(basins, key=lambda basin: (-basin.weight, _number(basin.id)))),
        visits=visits,
        mean=mean,
        drift=_distance(before.model == model, before.mean, mean),
        scattered=max(0.0, 1.0 - inside / sum(recency)) if recency else 0.0,
        omitted=omitted,
    )
    made = _with_movement(made, before)
    return replace(made, changes=changes(before, known(made)))


def known(attractor: Attractor) -> Earlier:
    """What the next update takes over."""
    return Earlier(
        model=attractor.model,
        last_basin=attractor.last_basin,
        basins=attractor.basins,
        labels={visit.conversation_id: visit.basin for visit in attractor.visits},
        mean=attractor.mean,
    )


def _kept(
    groups: Sequence[Group], weights: Sequence[float], named: frozenset[int], rules: Parameters
) -> list[int]:
    """The places of the groups that become basins: named ones, then the heaviest, then the older."""

    def rank(place: int) -> tuple[bool, float, bool, int]:
        origin = groups[place].origin
        weight = weights[place] if origin is None else weights[place] * rules.tenure
        return origin not in named, -weight, origin is None, groups[place].rows[0]

    return sorted(sorted(range(len(groups)), key=rank)[: rules.max_basins])


def _ids(groups: Sequence[Group], before: Earlier) -> tuple[list[str], int]:
    """An id for each, and the number of the newest one ever given."""
    fresh = sorted(
        (place for place, group in enumerate(groups) if group.origin is None),
        key=lambda place: groups[place].rows[0],
    )
    numbers = {place: before.last_basin + count for count, place in enumerate(fresh, start=1)}
    ids = [
        basin_id(numbers[place]) if group.origin is None else before.basins[group.origin].id
        for place, group in enumerate(groups)
    ]
    return ids, before.last_basin + len(fresh)


def _basin(group: Group, id_: str, weight: float, before: Earlier) -> Basin:
    name = "" if group.origin is None else before.basins[group.origin].name
    return Basin(
        id=id_,
        label="",
        name=name,
        weight=weight,
        centroid=group.centroid,
        cohesion=min(1.0, max(-1.0, cohesion(group))),
    )


def _labelled(
    basins: Sequence[Basin], groups: Sequence[Group], points: Sequence[Point], geometry: Geometry
) -> list[Basin]:
    concepts = [[concept for row in group.rows for concept in points[row].concepts] for group in groups]
    found = []
    for basin, group, terms in zip(basins, groups, terms_of(concepts), strict=True):
        titles = [] if terms else _central_titles(group, points, geometry)
        found.append(replace(basin, terms=terms, label=label_of(terms, titles)))
    return found


def _central_titles(group: Group, points: Sequence[Point], geometry: Geometry) -> list[str]:
    """Titles of the members nearest to the centroid."""
    cosines = geometry.cosines(group.rows, group.centroid)
    nearest = sorted(zip(cosines, group.rows, strict=True), key=lambda item: (-item[0], item[1]))
    return [points[row].title for _, row in nearest[:NEAREST_TITLES]]


def _with_movement(made: Attractor, before: Earlier) -> Attractor:
    old: Mapping[str, Basin] = {basin.id: basin for basin in before.basins}
    same = before.model == made.model
    moved = [
        replace(basin, moved=_distance(same, old[basin.id].centroid, basin.centroid))
        if basin.id in old
        else basin
        for basin in made.basins
    ]
    return replace(made, basins=tuple(moved))


def _distance(comparable: bool, one: Vector, other: Vector) -> float | None:
    return distance(one, other) if comparable and one and len(one) == len(other) else None


def _number(id_: str) -> int:
    return int(id_[1:])
