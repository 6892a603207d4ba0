"""One ranking of what recall finds in several scopes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from palimpsest.models import MemoryHit

WEIGHTS: Mapping[str, float] = {"vector": 0.55, "keyword": 0.45}
"""Those of recall's own fusion (S-9)."""


def scores(found: Sequence[Sequence[MemoryHit]]) -> dict[str, float]:
    """Scores by memories' keys; a list for each scope.

    The score of a hit counts within its list, where the best and the least of each channel set the scale. So
    hits of several lists get another one of their own: min-max over all of them, weighted as recall does.
    """
    lists = [hits for hits in found if hits]
    if len(lists) == 1:
        return {hit.memory.key: hit.explanation.score for hit in lists[0]}
    hits = [hit for one in lists for hit in one]
    total = {hit.memory.key: 0.0 for hit in hits}
    for channel, weight in WEIGHTS.items():
        raw = {
            hit.memory.key: rank.score
            for hit in hits
            for rank in hit.explanation.channels
            if rank.channel == channel
        }
        least, most = min(raw.values(), default=0.0), max(raw.values(), default=0.0)
        for key, score in raw.items():
            total[key] += weight * ((score - least) / (most - least) if most > least else 1.0)
    return total
