"""How near sentences are to each other, by vectors (SPEC J-16). Pure.

Centrality is a sentence's mean likeness to the others, the continuous degree of LexRank (G. Erkan and
D. Radev, "LexRank: graph-based lexical centrality as salience in text summarization", 2004) over embeddings
instead of terms. Novelty falls with the likeness to what was chosen already, as in maximal marginal relevance
(J. Carbonell and J. Goldstein, "The use of MMR, diversity-based reranking", 1998).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import mul
from types import MappingProxyType
from typing import Final, TypeAlias

Vector: TypeAlias = Sequence[float]
Vectors: TypeAlias = Mapping[str, Vector]
"""Of unit length and of one model, by the text that each is of."""

NO_VECTORS: Final[Vectors] = MappingProxyType({})
CENTRALITY_PART = 0.3
"""How much of a sentence's weight its centrality decides."""
MOST_CENTRAL = 2.0
"""Centrality counts up to so many times the mean."""
NOVELTY_PART = 0.3
"""How much of a sentence's weight is lost when the same was chosen already."""
LEAST_COMPARED = 3
"""With fewer sentences centrality says nothing."""


def likeness(one: Vector, other: Vector) -> float:
    """The cosine of two vectors of unit length; 0 where they point apart."""
    return max(0.0, float(sum(map(mul, one, other))))


class Nearness:
    """Compares the sentences that have vectors; of any other it says nothing."""

    def __init__(self, vectors: Vectors, sentences: Sequence[str]) -> None:
        compared = [one for one in dict.fromkeys(sentences) if one in vectors]
        self._vectors = {one: vectors[one] for one in compared}
        self._central = _centrality([vectors[one] for one in compared])
        self._places = {one: place for place, one in enumerate(compared)}
        self._nearest: dict[str, float] = dict.fromkeys(compared, 0.0)

    def centrality(self, sentence: str) -> float:
        """A factor of its weight, around 1; 1 for one without a vector."""
        place = self._places.get(sentence)
        if place is None or len(self._central) < LEAST_COMPARED:
            return 1.0
        return 1 - CENTRALITY_PART * (1 - self._central[place])

    def novelty(self, sentence: str) -> float:
        """A factor of its weight: 1, less the nearer it is to what was chosen. It never rises."""
        return 1 - NOVELTY_PART * self._nearest.get(sentence, 0.0)

    def choose(self, sentence: str) -> None:
        """Says that a sentence was chosen."""
        vector = self._vectors.get(sentence)
        if vector is not None:
            for other, theirs in self._vectors.items():
                self._nearest[other] = max(self._nearest[other], likeness(vector, theirs))


def _centrality(vectors: Sequence[Vector]) -> list[float]:
    """The mean likeness of each to the others, in means of all, at most MOST_CENTRAL."""
    sums = [0.0] * len(vectors)
    for place, vector in enumerate(vectors):
        for other in range(place):
            near = likeness(vector, vectors[other])
            sums[place] += near
            sums[other] += near
    mean = sum(sums) / len(sums) if sums else 0.0
    return [min(one / mean, MOST_CENTRAL) if mean else 1.0 for one in sums]
