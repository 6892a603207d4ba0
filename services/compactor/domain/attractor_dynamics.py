"""How the trajectory moves between basins (SPEC J-12). Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

from services.compactor.domain.attractor import NOWHERE, Visit


@dataclass(frozen=True, slots=True, kw_only=True)
class Stay:
    """Visits to one basin with none to another in between; it ends with the first visit elsewhere.

    `end` of the last stay of a trajectory is its last visit.
    """

    basin: str
    visits: int
    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Dwell:
    """Mean length of the stays in a basin, in visits and in time."""

    stays: int
    visits: float
    time: timedelta


def recencies(times: Sequence[datetime], half_life: timedelta) -> list[float]:
    """2^(−age / half-life), age being counted from the newest, whose recency is 1."""
    if not times:
        return []
    newest = max(times)
    return [2.0 ** (-((newest - time) / half_life)) for time in times]


def stays(visits: Sequence[Visit]) -> list[Stay]:
    """The stays of a trajectory in order, those in no basin among them."""
    found: list[Stay] = []
    for place, visit in enumerate(visits):
        following = visits[place + 1].time if place + 1 < len(visits) else visit.time
        if found and found[-1].basin == visit.basin:
            last = found.pop()
            found.append(Stay(basin=last.basin, visits=last.visits + 1, start=last.start, end=following))
        else:
            found.append(Stay(basin=visit.basin, visits=1, start=visit.time, end=following))
    return found


def dwells(found: Iterable[Stay]) -> Mapping[str, Dwell]:
    """By basin."""
    by_basin: dict[str, list[Stay]] = {}
    for stay in found:
        if stay.basin != NOWHERE:
            by_basin.setdefault(stay.basin, []).append(stay)
    return {
        basin: Dwell(
            stays=len(theirs),
            visits=sum(stay.visits for stay in theirs) / len(theirs),
            time=sum((stay.end - stay.start for stay in theirs), timedelta()) / len(theirs),
        )
        for basin, theirs in by_basin.items()
    }


def transitions(visits: Sequence[Visit]) -> Mapping[tuple[str, str], int]:
    """How often a visit to the one was followed by a visit to the other, the same and none included."""
    return Counter((one.basin, other.basin) for one, other in pairwise(visits))


def entropy(shares: Iterable[float]) -> float:
    """Shannon entropy in bits of shares that add up to 1; 0 for one theme or none."""
    return -sum(share * math.log2(share) for share in shares if share > 0.0) or 0.0


def effective(shares: Iterable[float]) -> float:
    """2^entropy: the number of equal shares with the same entropy (Hill, Ecology 54, 1973); 0 for none."""
    given = [share for share in shares if share > 0.0]
    return 2.0 ** entropy(given) if given else 0.0
