"""What became of the basins from one version to another (SPEC J-12). Pure.

By the conversations that both know, as in MONIC (Spiliopoulou et al., KDD 2006): a basin that is gone was
merged into the one that at least half of its conversations are in now, else it died; a new one was split from
the basin that at least half of its conversations were in before, else it was born.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from services.compactor.domain.attractor import NOWHERE, Basin, Change, ChangeKind, Earlier
from services.compactor.domain.attractor_geometry import distance

MAJORITY = 0.5
MOVED = 0.02
"""Cosine distance from which on a centroid is said to have moved."""


def changes(before: Earlier, after: Earlier) -> tuple[Change, ...]:
    """In the order: gone, new, moved, renamed; each by the order of the basins."""
    comparable = before.model == after.model
    old, new = {one.id: one for one in before.basins}, {one.id: one for one in after.basins}
    pairs = [(old[id_], one) for id_, one in new.items() if id_ in old]
    return (
        *(_gone(id_, before, after) for id_ in old if id_ not in new),
        *_made([id_ for id_ in new if id_ not in old], before, after),
        *(change for was, is_ in pairs if comparable and (change := _moved(was, is_)) is not None),
        *(Change(kind=ChangeKind.RENAMED, basin=is_.id) for was, is_ in pairs if was.name != is_.name),
    )


def _gone(id_: str, before: Earlier, after: Earlier) -> Change:
    into = _majority(id_, before.labels, after.labels)
    if into is None:
        return Change(kind=ChangeKind.DIED, basin=id_)
    return Change(kind=ChangeKind.MERGED, basin=id_, others=(into,))


def _made(ids: Sequence[str], before: Earlier, after: Earlier) -> list[Change]:
    """One split for all that came out of a basin."""
    halves: dict[str, list[str]] = {}
    born = []
    for id_ in ids:
        parent = _majority(id_, after.labels, before.labels)
        if parent is None:
            born.append(Change(kind=ChangeKind.BORN, basin=id_))
        else:
            halves.setdefault(parent, []).append(id_)
    split = [
        Change(kind=ChangeKind.SPLIT, basin=parent, others=tuple(theirs)) for parent, theirs in halves.items()
    ]
    return [*split, *born]


def _majority(id_: str, here: Mapping[str, str], there: Mapping[str, str]) -> str | None:
    """The basin there of at least half of the conversations that are in `id_` here, new ones not counted."""
    known = [there[one] for one, basin in here.items() if basin == id_ and one in there]
    found = Counter(basin for basin in known if basin != NOWHERE)
    if not found:
        return None
    basin, count = min(found.items(), key=lambda item: (-item[1], item[0]))
    return basin if count >= MAJORITY * len(known) else None


def _moved(was: Basin, is_: Basin) -> Change | None:
    if len(was.centroid) != len(is_.centroid):
        return None
    far = distance(was.centroid, is_.centroid)
    return Change(kind=ChangeKind.MOVED, basin=is_.id, distance=far) if far >= MOVED else None
