"""Fusion of recall channels into one ranking (S-9, S-11, S-12). Pure and deterministic.

    fuse(channels, candidates, query, strategy, limit) -> list[Hit]

``channels``    name -> ranked list of ``(id, raw score)``, best first, higher is better (BM25, cosine ...).
                A channel that failed is left out; the others rank as if it had never been.
``candidates``  id -> ``Candidate``: what is known of it. Ids without an entry have no features.
``query``       ``QueryFeatures`` from ``query.understand``.
``strategy``    ``Reference(...)`` or ``Default(...)``: the parameters, all of them (SPEC S-9, G-12).
``limit``       upper bound of the number of hits.

Both strategies multiply by ``0.5 + confidence`` where a candidate has one (S-9), order by score and then by
id, and explain every hit: rank and raw score per channel, and one contribution per signal, such that

    score = confidence_factor * sum(contributions.values())

*Reference* is reciprocal rank fusion (Cormack, Clarke, Büttcher, SIGIR 2009): each channel contributes
``weight / (k + rank)``, rank from 1, down to its depth.

*Default* is a convex combination of min-max normalised scores (as in Bruch, Gai, Ingber, TOIS 2023), then
what neighbours lend, then what the query asks for; docs/recall.md holds formulae and measurements.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from types import MappingProxyType

from .query import QueryFeatures, Speaker

Ranked = Sequence[tuple[str, float]]
Contributions = dict[str, dict[str, float]]  # id -> signal -> amount

CONFIDENCE_OFFSET = 0.5
"""S-9: confidence scales the fused score by this plus the confidence."""

REFERENCE_K = 60
"""S-9: the constant of reciprocal rank fusion."""

REFERENCE_WEIGHTS: Mapping[str, float] = MappingProxyType(
    {"vector": 1.0, "keyword": 1.0, "key": 1.5, "messages": 1.0, "hyde": 1.0, "remote": 1.0}
)
"""S-9: weights of the reference."""

REFERENCE_DEPTHS: Mapping[str, int] = MappingProxyType({"keyword": 15})
"""S-9: how many hits of a channel count; channels not named count whole."""

DEFAULT_WEIGHTS: Mapping[str, float] = MappingProxyType(
    {"vector": 0.55, "keyword": 0.45, "key": 0.8, "messages": 0.45, "hyde": 0.25, "remote": 0.45}
)
"""S-9: weights of the default; vector and keyword as measured in docs/recall.md."""

USER_ROLE = "user"
ASSISTANT_ROLE = "assistant"


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """What the fusion may know of an id; every field may be missing.

    ``sequence`` orders messages within a conversation. ``session`` groups them; neighbours share both.
    ``confidence`` is a memory's, 0 to 1.
    """

    author: str | None = None
    role: str | None = None
    conversation: str | None = None
    session: str | None = None
    sequence: int | None = None
    time: datetime | None = None
    confidence: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelScore:
    """Where a channel ranked an id (from 1), and the channel's own score."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One result and why it stands where it does (S-11)."""

    id: str
    score: float
    channels: Mapping[str, ChannelScore]
    contributions: Mapping[str, float]
    confidence_factor: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """Reciprocal rank fusion, always selectable (S-9). A channel without a weight counts 1."""

    k: float = REFERENCE_K
    weights: Mapping[str, float] = field(default_factory=lambda: REFERENCE_WEIGHTS)
    depths: Mapping[str, int] = field(default_factory=lambda: REFERENCE_DEPTHS)

    def uses(self, channel: str) -> bool:
        """Whether the channel is asked: a weight of 0 turns it off."""
        return self.weights.get(channel, 1.0) > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rereading:
    """What a second look at the best hits weighs, in the units of ``Default`` (docs/recall.md).

    ``depth``    how many of the best hits are looked at; 0: none
    ``context``  share of the query's terms, weighed by rarity, that a message lacks and that messages at most
                 ``reach`` places before or after it have, by the same role in the same session
    ``brief``    taken from a message without terms of its own, falling to nothing at ``brief_terms`` of them
    ``time``     for messages with a word of time where the query asks for one
    ``wish``     for a user's message that says what is preferred or always wanted, where the query asks help
    ``order``    besides, for one that begins with "always" or "never"
    """

    depth: int = 75
    context: float = 0.3
    reach: int = 2
    brief: float = 0.2
    brief_terms: int = 8
    time: float = 0.2
    wish: float = 0.3
    order: float = 0.4


@dataclass(frozen=True, slots=True, kw_only=True)
class Default:
    """Score-aware fusion; amounts are in units of a channel's full normalised score (docs/recall.md).

    ``kin``      share of its score that a message lends to the one before and the one after it in the
                 same session, if both have the same role
    ``reply``    share that an assistant's reply lends to the user message just before it
    ``named``    for messages of the one participant that the query names
    ``speaker``  for messages of the role whose statements are meant: the users', unless the query asks what
                 the assistant said
    ``date``     for messages of a day that the query mentions, falling to zero over ``date_days`` after it
    ``reread``   what the terms of the best hits may add or take (``rereading.reread``)
    """

    weights: Mapping[str, float] = field(default_factory=lambda: DEFAULT_WEIGHTS)
    depths: Mapping[str, int] = field(default_factory=dict)
    kin: float = 0.3
    reply: float = 0.15
    named: float = 0.5
    speaker: float = 0.3
    date: float = 0.5
    date_days: int = 14
    reread: Rereading = Rereading()

    def uses(self, channel: str) -> bool:
        """Whether the channel is asked: a weight of 0 turns it off."""
        return self.weights.get(channel, 1.0) > 0


Strategy = Reference | Default


def fuse(
    channels: Mapping[str, Ranked],
    candidates: Mapping[str, Candidate],
    query: QueryFeatures,
    strategy: Strategy,
    limit: int,
) -> list[Hit]:
    """Return at most ``limit`` hits, best first; see the module's text for the arguments.

    Raises ``ValueError`` for a negative ``limit``. An id that a channel lists twice counts where it ranks
    better.
    """
    if limit < 0:
        raise ValueError("limit must not be negative")
    ranks = {name: _ranks(channels[name], strategy.depths.get(name)) for name in sorted(channels)}
    if isinstance(strategy, Reference):
        contributions = _reciprocal_ranks(ranks, strategy)
    else:
        contributions = _convex(ranks, strategy)
        _lend_to_neighbours(contributions, candidates, strategy)
        _favour_what_is_asked(contributions, candidates, query, strategy)
    scores = {id_: _factor(candidates.get(id_)) * sum(parts.values()) for id_, parts in contributions.items()}
    best = sorted(scores, key=lambda id_: (-scores[id_], id_))[:limit]
    return [_hit(id_, scores[id_], contributions[id_], ranks, candidates.get(id_)) for id_ in best]


def date_closeness(query: QueryFeatures, time: datetime, days: int) -> float:
    """Return 1 within a day of a date the query mentions, falling to 0 over ``days`` after it, else 0.

    People tell what happened a little later, hardly ever before.
    """
    closeness = 0.0
    for span in query.dates:
        distance = span.distance(time.date())
        if abs(distance) <= 1:
            return 1.0
        if distance > 0:
            closeness = max(closeness, 1 - distance / days)
    return closeness


def _ranks(ranked: Ranked, depth: int | None) -> dict[str, ChannelScore]:
    ranks: dict[str, ChannelScore] = {}
    for rank, (id_, score) in enumerate(ranked[:depth], start=1):
        ranks.setdefault(id_, ChannelScore(rank=rank, score=score))
    return ranks


def _reciprocal_ranks(ranks: Mapping[str, Mapping[str, ChannelScore]], strategy: Reference) -> Contributions:
    contributions: Contributions = {}
    for name, channel in ranks.items():
        weight = strategy.weights.get(name, 1.0)
        for id_, place in channel.items():
            contributions.setdefault(id_, {})[name] = weight / (strategy.k + place.rank)
    return contributions


def _convex(ranks: Mapping[str, Mapping[str, ChannelScore]], strategy: Default) -> Contributions:
    """Weigh each channel's scores, stretched to 0..1 over its list; all equal counts as all best.

    The weights of the vector and the keyword channel are shared out anew when one of them is missing, so
    that the favours keep their proportion.
    """
    weights = {name: strategy.weights.get(name, 1.0) for name in ranks}
    total = sum(strategy.weights.get(name, 1.0) for name in ("keyword", "vector"))
    present = sum(weights.get(name, 0.0) for name in ("keyword", "vector"))
    scale = total / present if present > 0 else 1.0
    contributions: Contributions = {}
    for name, channel in ranks.items():
        scores = [place.score for place in channel.values()]
        low, high = min(scores, default=0.0), max(scores, default=0.0)
        for id_, place in channel.items():
            normal = (place.score - low) / (high - low) if high > low else 1.0
            contributions.setdefault(id_, {})[name] = scale * weights[name] * normal
    return contributions


def _lend_to_neighbours(
    contributions: Contributions, candidates: Mapping[str, Candidate], strategy: Default
) -> None:
    base = {id_: sum(parts.values()) for id_, parts in contributions.items()}
    for before, after in _neighbours(contributions, candidates):
        first, second = candidates[before], candidates[after]
        if first.role == second.role:
            _add(contributions[before], "neighbours", strategy.kin * base[after])
            _add(contributions[after], "neighbours", strategy.kin * base[before])
        elif first.role == USER_ROLE and second.role == ASSISTANT_ROLE:
            _add(contributions[before], "neighbours", strategy.reply * base[after])


def _neighbours(ids: Mapping[str, object], candidates: Mapping[str, Candidate]) -> Iterator[tuple[str, str]]:
    """Yield pairs of ids whose messages follow each other in one session of one conversation."""
    placed = []
    for id_ in ids:
        candidate = candidates.get(id_)
        if candidate is not None and candidate.sequence is not None:
            placed.append((candidate.conversation or "", candidate.session or "", candidate.sequence, id_))
    for first, second in pairwise(sorted(placed)):
        if first[:2] == second[:2] and second[2] == first[2] + 1:
            yield first[3], second[3]


def _favour_what_is_asked(
    contributions: Contributions, candidates: Mapping[str, Candidate], query: QueryFeatures, strategy: Default
) -> None:
    role = ASSISTANT_ROLE if query.speaker is Speaker.ASSISTANT else USER_ROLE
    named = query.named[0] if len(query.named) == 1 else None
    for id_, parts in contributions.items():
        candidate = candidates.get(id_)
        if candidate is None:
            continue
        if named is not None and candidate.author == named:
            _add(parts, "named", strategy.named)
        if candidate.role == role:
            _add(parts, "speaker", strategy.speaker)
        if query.dates and candidate.time is not None:
            _add(parts, "date", strategy.date * date_closeness(query, candidate.time, strategy.date_days))


def _add(parts: dict[str, float], signal: str, amount: float) -> None:
    if amount:
        parts[signal] = parts.get(signal, 0.0) + amount


def _factor(candidate: Candidate | None) -> float:
    if candidate is None or candidate.confidence is None:
        return 1.0
    return CONFIDENCE_OFFSET + candidate.confidence


def _hit(
    id_: str,
    score: float,
    parts: dict[str, float],
    ranks: Mapping[str, Mapping[str, ChannelScore]],
    candidate: Candidate | None,
) -> Hit:
    return Hit(
        id=id_,
        score=score,
        channels=MappingProxyType({name: channel[id_] for name, channel in ranks.items() if id_ in channel}),
        contributions=MappingProxyType(parts),
        confidence_factor=_factor(candidate),
    )
