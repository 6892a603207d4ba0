"""What tells a basin from the others (SPEC J-12). Pure.

Class-based TF-IDF, as in BERTopic (Grootendorst, arXiv:2203.05794, 2022): the weight of a term t in a basin c
is tf(t, c) · log(1 + A / f(t)), with tf(t, c) the share of t in the concepts of c, f(t) how often it is in
all basins, and A the mean number of concepts in a basin. A concept counts as much as it is relevant (J-7).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from services.compactor.domain.attractor import Concept, Term

LABEL_TERMS = 3
KEPT_TERMS = 8
MAX_LABEL_LENGTH = 80
BETWEEN = ", "


def terms_of(basins: Sequence[Sequence[Concept]]) -> list[tuple[Term, ...]]:
    """The strongest terms of each basin, given the concepts of all its members, one by one."""
    counts = [_counts(concepts) for concepts in basins]
    spelling = _spelling([concept for concepts in basins for concept in concepts])
    overall: dict[str, float] = defaultdict(float)
    for one in counts:
        for term, count in one.items():
            overall[term] += count
    average = sum(overall.values()) / max(1, len(basins))
    return [_strongest(one, overall, average, spelling) for one in counts]


def label_of(terms: Sequence[Term], titles: Sequence[str]) -> str:
    """The first terms; without any, the first title that says something, cut to MAX_LABEL_LENGTH."""
    if terms:
        return cut(BETWEEN.join(term.text for term in terms[:LABEL_TERMS]))
    return cut(next((title for title in titles if title.strip()), ""))


def cut(text: str) -> str:
    """One line of at most MAX_LABEL_LENGTH characters."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_LABEL_LENGTH else line[: MAX_LABEL_LENGTH - 1] + "…"


def _fold(name: str) -> str:
    return " ".join(name.casefold().split())


def _counts(concepts: Sequence[Concept]) -> Mapping[str, float]:
    found: dict[str, float] = defaultdict(float)
    for concept in concepts:
        if term := _fold(concept.name):
            found[term] += concept.relevance
    return found


def _spelling(concepts: Sequence[Concept]) -> Mapping[str, str]:
    """How each term is most often written; of equals the first in order."""
    written: Counter[str] = Counter(" ".join(concept.name.split()) for concept in concepts)
    best: dict[str, str] = {}
    for text, _ in sorted(written.items(), key=lambda item: (-item[1], item[0])):
        best.setdefault(_fold(text), text)
    return best


def _strongest(
    counts: Mapping[str, float], overall: Mapping[str, float], average: float, spelling: Mapping[str, str]
) -> tuple[Term, ...]:
    total = sum(counts.values())
    if total <= 0.0:
        return ()
    scored = [
        (count / total * math.log(1.0 + average / overall[term]), term)
        for term, count in counts.items()
        if count > 0.0
    ]
    scored.sort(key=lambda item: (-item[0], item[1]))
    return tuple(Term(text=spelling[term], score=score) for score, term in scored[:KEPT_TERMS])
