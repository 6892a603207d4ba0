"""BM25 over what a word engine gives: candidates with their terms, and numbers of the searched place (S-18).

    score(d) = Σ idf(t) · n(t, d) · (K1 + 1) / (n(t, d) + K1 · (1 - B + B · |d| / mean))
    idf(t)   = ln(1 + (N - df(t) + ½) / (df(t) + ½))

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the idf of
Lucene, which is positive for every term, so that one that most items hold still counts a little.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

K1, B = 1.2, 0.75  # as FTS5 has them
STEPS_PER_DOUBLING = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Of the items that pass a search's filters: how many, their mean number of terms, and how many hold
    each term."""

    items: int
    mean_length: float
    frequencies: Mapping[str, int]

    def idf(self, term: str) -> float:
        """What one occurrence is worth; 0 for a term that no item holds."""
        holding = self.frequencies.get(term, 0)
        if not holding:
            return 0.0
        items = max(self.items, holding)  # numbers asked one after the other may disagree
        return math.log(1 + (items - holding + 0.5) / (holding + 0.5))


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """An item and how often it holds each of its terms."""

    item_id: str
    counts: Mapping[str, int]
    length: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TermQuery:
    """One query of a plan: all of the terms, and what holding them is worth."""

    terms: tuple[str, ...]
    weight: float


def score(item: Held, place: Place, terms: Iterable[str]) -> float:
    """The BM25 score of an item for distinct terms."""
    norm = K1 * (1 - B + B * item.length / place.mean_length) if place.mean_length else K1
    total = 0.0
    for term in terms:
        count = item.counts.get(term, 0)
        if count:
            total += place.idf(term) * count * (K1 + 1) / (count + norm)
    return total


def best(items: Iterable[Held], place: Place, terms: Sequence[str], limit: int) -> list[tuple[str, float]]:
    """Items that hold any of the terms, best first, ties by id."""
    scored = ((item.item_id, score(item, place, terms)) for item in items)
    return sorted((pair for pair in scored if pair[1] > 0), key=lambda pair: (-pair[1], pair[0]))[:limit]


def plan(place: Place, candidates: int, *, max_terms: int, max_joined: int) -> list[TermQuery]:
    """The queries whose best `candidates` hits, merged by weight, are to hold the items that score best.

    Each of the `max_terms` rarest terms is a query of its own, so every item with one is among the candidates
    in the order of its rarest term: one matching rare word is enough. Where they cannot all be candidates,
    that order would pass over items that hold several terms; so the `max_joined` rarest ones are then also
    joined by twos, and each with all rarer ones. Weights are sums of idf: BM25 but for the number of
    occurrences and the length.
    """
    known = [term for term, holding in place.frequencies.items() if holding]
    rarest = sorted(known, key=lambda term: (place.frequencies[term], term))[:max_terms]
    groups: list[tuple[str, ...]] = [(term,) for term in rarest]
    if sum(place.frequencies[term] for term in rarest) > candidates:
        joined = rarest[:max_joined]
        groups += [*combinations(joined, 2), *(tuple(joined[:n]) for n in range(3, len(joined) + 1))]
    return [TermQuery(terms=terms, weight=sum(map(place.idf, terms))) for terms in groups]


def size_class(length: int) -> int:
    """A number of terms on a logarithmic scale: few classes, of which an engine can count the items."""
    return round(STEPS_PER_DOUBLING * math.log2(1 + length))


def mean_length(classes: Mapping[int, int]) -> float:
    """The mean number of terms of items counted by `size_class`; 0 without items."""
    items = sum(classes.values())
    total = sum(count * (2 ** (class_ / STEPS_PER_DOUBLING) - 1) for class_, count in classes.items())
    return total / items if items else 0.0
