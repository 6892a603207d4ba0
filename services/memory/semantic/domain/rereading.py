"""A second look at the best hits of the default fusion, by the terms that they hold (S-9, S-11).

    reread(hits, candidates, terms, query, weights, limit) -> list[Hit]

``hits``        what ``fuse`` returned, best first; the first ``weights.depth`` are looked at, the others keep
                their scores.
``candidates``  as for ``fuse``. A hit without an entry is left alone.
``terms``       id -> the analyser's terms of the message, its author's first, in order and with repeats. A
                hit without an entry is left alone: without terms nothing changes.
``query``       ``QueryFeatures``, whose ``terms`` are what is asked about.
``weights``     what each signal counts; see ``Rereading``.

Each signal is one contribution more, so that ``score = confidence_factor * sum(contributions.values())``
still holds; hits are ordered by score and then by id. Rarity is counted among the n messages looked at:

    idf(t)      = ln(1 + (n - df(t) + ½) / (df(t) + ½))
    context(d)  = Σ idf(t) over terms that d lacks and its neighbours hold / Σ idf(t) over all terms asked
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from types import MappingProxyType

from .analysis import analyse
from .fusion import ASSISTANT_ROLE, USER_ROLE, Candidate, Hit, Rereading
from .query import QueryFeatures

ORDERS = "always never"
"""What a standing order begins with."""

WISHES = "always prefer"
"""Words of a standing wish; by their stems, "preferred" and "preference" are among them."""

TIME_WORDS = """
    yesterday today tonight tomorrow week weekend month year ago last next day morning evening night
    recently soon monday tuesday wednesday thursday friday saturday sunday spring summer autumn fall winter
    january february march april may june july august september october november december"""
"""Words by which people say when something was."""

ORDER_PLACES = 2
"""An order stands among so many first terms: "please always ..."."""

AUTHOR_CACHE_SIZE = 512
"""Authors whose terms are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Looked:
    """A hit that is looked at: its own terms, and all that it holds, its author's included."""

    id: str
    own: Sequence[str]
    held: frozenset[str]
    candidate: Candidate


def reread(
    hits: Sequence[Hit],
    candidates: Mapping[str, Candidate],
    terms: Mapping[str, Sequence[str]],
    query: QueryFeatures,
    weights: Rereading,
    limit: int,
) -> list[Hit]:
    """Return at most ``limit`` of the hits in their new order; see the module's text for the arguments.

    Raises ``ValueError`` for a negative ``limit``.
    """
    if limit < 0:
        raise ValueError("limit must not be negative")
    looked = [
        _looked(hit.id, candidates[hit.id], terms[hit.id])
        for hit in hits[: weights.depth]
        if hit.id in candidates and hit.id in terms
    ]
    context = _context(looked, query.terms, weights.reach)
    served = any(one.candidate.role == ASSISTANT_ROLE for one in looked)
    added = {one.id: _signals(one, context[one.id], query, weights, served=served) for one in looked}
    again = [_with(hit, added.get(hit.id, {})) for hit in hits]
    return sorted(again, key=lambda hit: (-hit.score, hit.id))[:limit]


def _signals(
    one: _Looked, context: float, query: QueryFeatures, weights: Rereading, *, served: bool
) -> dict[str, float]:
    """What the look adds; ``served``: an assistant takes part, to whom wishes are told."""
    signals = {
        "context": weights.context * context,
        "brief": -weights.brief * max(0.0, 1 - len(one.own) / weights.brief_terms),
    }
    if query.asks_time and not one.held.isdisjoint(_stems(TIME_WORDS)):
        signals["time_words"] = weights.time
    if query.asks_help and served and one.candidate.role == USER_ROLE:
        opening = one.own[:ORDER_PLACES]
        signals["standing"] = weights.wish * (not one.held.isdisjoint(_stems(WISHES)))
        signals["standing"] += weights.order * (not _stems(ORDERS).isdisjoint(opening))
    return {name: amount for name, amount in signals.items() if amount}


def _context(looked: Sequence[_Looked], asked: Collection[str], reach: int) -> dict[str, float]:
    """Of each message looked at, the share of what is asked that only its neighbours hold; 0 to 1."""
    rarity = {term: _idf(len(looked), sum(term in one.held for one in looked)) for term in asked}
    total = sum(rarity.values())
    places = {_place(one.candidate, 0): one.held for one in looked if one.candidate.sequence is not None}
    shares: dict[str, float] = {}
    steps = [step for step in range(-reach, reach + 1) if step]
    for one in looked:
        around: list[frozenset[str]] = []
        if one.candidate.sequence is not None:
            near = (places.get(_place(one.candidate, step)) for step in steps)
            around = [held for held in near if held]
        lent = sum(
            amount
            for term, amount in rarity.items()
            if term not in one.held and any(term in held for held in around)
        )
        shares[one.id] = lent / total if total else 0.0
    return shares


def _place(candidate: Candidate, step: int) -> tuple[object, ...]:
    """Where a message stands, or one of the same role ``step`` places after it in the same session."""
    sequence = (candidate.sequence or 0) + step
    return candidate.conversation, candidate.session, candidate.role, sequence


def _idf(messages: int, holding: int) -> float:
    return math.log(1 + (messages - holding + 0.5) / (holding + 0.5))


def _looked(id_: str, candidate: Candidate, terms: Sequence[str]) -> _Looked:
    authors = _author_terms(candidate.author or "")
    own = terms[len(authors) :] if tuple(terms[: len(authors)]) == authors else terms
    return _Looked(id=id_, own=own, held=frozenset(terms), candidate=candidate)


@lru_cache(maxsize=AUTHOR_CACHE_SIZE)
def _author_terms(author: str) -> tuple[str, ...]:
    return tuple(analyse(author))


@cache
def _stems(words: str) -> frozenset[str]:
    return frozenset(analyse(words))


def _with(hit: Hit, signals: Mapping[str, float]) -> Hit:
    if not signals:
        return hit
    parts = {**hit.contributions, **signals}
    score = hit.confidence_factor * sum(parts.values())
    return replace(hit, score=score, contributions=MappingProxyType(parts))
