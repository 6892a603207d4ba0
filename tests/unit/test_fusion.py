"""Fusion of recall channels (S-9, S-11, S-12)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.memory.semantic.domain.dates import DateSpan
from services.memory.semantic.domain.fusion import Candidate, Default, Hit, Reference, Strategy, fuse
from services.memory.semantic.domain.query import QueryFeatures, Speaker

PLAIN = QueryFeatures()
NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
STRATEGIES: tuple[Strategy, ...] = (Reference(), Default())


def message(sequence: int, role: str = "user", author: str = "Ann", session: str = "1") -> Candidate:
    return Candidate(
        author=author,
        role=role,
        conversation="c",
        session=session,
        sequence=sequence,
        time=NOON + timedelta(days=sequence),
    )


def ids(hits: Sequence[Hit]) -> list[str]:
    return [hit.id for hit in hits]


def scores(hits: Sequence[Hit]) -> dict[str, float]:
    return {hit.id: hit.score for hit in hits}


# Reference


def test_s9_reference_is_reciprocal_rank_fusion_worked_by_hand() -> None:
    channels = {"vector": [("a", 0.9), ("b", 0.8)], "keyword": [("b", 7.0), ("c", 2.0)]}
    hits = fuse(channels, {}, PLAIN, Reference(), 10)
    assert ids(hits) == ["b", "a", "c"]
    assert scores(hits) == pytest.approx({"b": 1 / 62 + 1 / 61, "a": 1 / 61, "c": 1 / 62})


def test_s9_reference_weighs_channels_and_an_exact_key_counts_more() -> None:
    channels = {"vector": [("a", 0.9)], "key": [("b", 1.0)]}
    assert scores(fuse(channels, {}, PLAIN, Reference(), 10)) == pytest.approx({"a": 1 / 61, "b": 1.5 / 61})
    heavier = Reference(weights={"vector": 4.0})
    assert scores(fuse(channels, {}, PLAIN, heavier, 10)) == pytest.approx({"a": 4 / 61, "b": 1 / 61})


def test_s9_reference_keyword_counts_to_rank_15_and_vector_whole() -> None:
    twenty = [(f"{number:02}", 1.0 - number / 100) for number in range(20)]
    assert len(fuse({"keyword": twenty}, {}, PLAIN, Reference(), 50)) == 15
    assert len(fuse({"vector": twenty}, {}, PLAIN, Reference(), 50)) == 20


def test_s9_confidence_scales_by_half_plus_itself() -> None:
    channels = {"vector": [("sure", 0.9), ("unsure", 0.9), ("unknown", 0.9)]}
    known = {"sure": Candidate(confidence=0.9), "unsure": Candidate(confidence=0.1)}
    for strategy in (Reference(), Default()):
        by_id = {hit.id: hit for hit in fuse(channels, known, PLAIN, strategy, 10)}
        assert by_id["sure"].confidence_factor == pytest.approx(1.4)
        assert by_id["unsure"].confidence_factor == pytest.approx(0.6)
        assert by_id["unknown"].confidence_factor == 1.0


# Both


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_s9_ties_break_by_id(strategy: Strategy) -> None:
    channels = {"vector": [("b", 1.0)], "keyword": [("a", 1.0)]}
    even = Default(weights={"vector": 0.5, "keyword": 0.5}) if isinstance(strategy, Default) else strategy
    assert ids(fuse(channels, {}, PLAIN, even, 10)) == ["a", "b"]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_s9_nothing_found_is_no_hit(strategy: Strategy) -> None:
    assert fuse({}, {}, PLAIN, strategy, 10) == []
    assert fuse({"vector": [], "keyword": []}, {}, PLAIN, strategy, 10) == []
    assert len(fuse({"vector": [], "keyword": [("a", 1.0)]}, {}, PLAIN, strategy, 10)) == 1


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_s9_a_negative_limit_is_refused(strategy: Strategy) -> None:
    with pytest.raises(ValueError, match="limit"):
        fuse({"vector": [("a", 1.0)]}, {}, PLAIN, strategy, -1)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_s11_a_hit_names_rank_and_raw_score_per_channel(strategy: Strategy) -> None:
    channels = {"vector": [("a", 0.9), ("b", 0.8)], "keyword": [("b", 7.0)]}
    hit = next(hit for hit in fuse(channels, {}, PLAIN, strategy, 10) if hit.id == "b")
    assert {name: (place.rank, place.score) for name, place in hit.channels.items()} == {
        "keyword": (1, 7.0),
        "vector": (2, 0.8),
    }


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_an_id_listed_twice_counts_where_it_ranks_better(strategy: Strategy) -> None:
    once = fuse({"vector": [("a", 0.9), ("b", 0.5)]}, {}, PLAIN, strategy, 10)
    twice = fuse({"vector": [("a", 0.9), ("b", 0.5), ("a", 0.1)]}, {}, PLAIN, strategy, 10)
    assert ids(once) == ids(twice)
    assert twice[0].channels["vector"].rank == 1
    assert twice[0].channels["vector"].score == 0.9


# Default, signal by signal; each has its control without the signal


def test_default_weighs_scores_not_ranks() -> None:
    """Second by a hair in one channel and far ahead in the other wins, where ranks alone would tie."""
    channels = {
        "vector": [("b", 0.80), ("a", 0.79), ("z", 0.1)],
        "keyword": [("a", 9.0), ("b", 2.0), ("z", 1.0)],
    }
    hits = fuse(channels, {}, PLAIN, Default(), 10)
    assert ids(hits) == ["a", "b", "z"]
    parts = hits[1].contributions
    assert parts == pytest.approx({"vector": 0.55, "keyword": 0.45 / 8})
    assert (
        fuse(channels, {}, PLAIN, Reference(), 10)[0].score
        == fuse(channels, {}, PLAIN, Reference(), 10)[1].score
    )


def test_default_keeps_the_scale_when_a_channel_is_missing() -> None:
    alone = fuse({"keyword": [("a", 9.0), ("b", 1.0)]}, {}, PLAIN, Default(), 10)
    assert alone[0].score == pytest.approx(1.0)


def test_default_neighbours_of_one_role_lend_each_other() -> None:
    channels = {"vector": [("m1", 1.0), ("m9", 0.50), ("m2", 0.49), ("m3", 0.0)]}
    known = {"m1": message(1), "m2": message(2), "m9": message(9), "m3": message(3, session="2")}
    assert ids(fuse(channels, known, PLAIN, Default(), 10)) == ["m1", "m2", "m9", "m3"]
    assert ids(fuse(channels, known, PLAIN, Default(kin=0.0), 10)) == ["m1", "m9", "m2", "m3"]
    by_id = {hit.id: hit for hit in fuse(channels, known, PLAIN, Default(), 10)}
    assert by_id["m2"].contributions["neighbours"] == pytest.approx(0.3 * 1.0)
    assert "neighbours" not in by_id["m3"].contributions, "another session"
    assert "neighbours" not in by_id["m9"].contributions, "not next to any"


def test_default_a_reply_lends_to_what_it_answers_and_takes_nothing() -> None:
    channels = {"vector": [("answer", 1.0), ("question", 0.4), ("x", 0.0)]}
    known = {"question": message(1), "answer": message(2, role="assistant")}
    by_id = {hit.id: hit for hit in fuse(channels, known, PLAIN, Default(), 10)}
    assert by_id["question"].contributions["neighbours"] == pytest.approx(0.15)
    assert "neighbours" not in by_id["answer"].contributions


@pytest.mark.parametrize(
    ("named", "first"), [(("Bob",), "b"), (("Ann",), "a"), (("Ann", "Bob"), "a"), ((), "a")]
)
def test_default_favours_the_one_participant_named(named: tuple[str, ...], first: str) -> None:
    channels = {"vector": [("a", 0.9), ("b", 0.8), ("z", 0.0)]}
    known = {"a": message(1, author="Ann"), "b": message(5, author="Bob")}
    assert ids(fuse(channels, known, QueryFeatures(named=named), Default(), 10))[0] == first


@pytest.mark.parametrize(
    ("speaker", "first"),
    [(Speaker.ANYONE, "told"), (Speaker.ASKER, "told"), (Speaker.ASSISTANT, "answered")],
)
def test_default_favours_the_role_whose_statements_are_meant(speaker: Speaker, first: str) -> None:
    channels = {"vector": [("answered", 0.9), ("told", 0.8), ("z", 0.0)]}
    known = {"told": message(1), "answered": message(5, role="assistant")}
    assert ids(fuse(channels, known, QueryFeatures(speaker=speaker), Default(), 10))[0] == first
    assert (
        ids(fuse(channels, known, QueryFeatures(speaker=speaker), Default(speaker=0.0), 10))[0] == "answered"
    )


@pytest.mark.parametrize(
    ("days_later", "closeness"), [(0, 1.0), (1, 1.0), (-1, 1.0), (7, 0.5), (14, 0.0), (30, 0.0), (-2, 0.0)]
)
def test_default_favours_the_day_mentioned_and_the_days_after(days_later: int, closeness: float) -> None:
    day = date(2024, 5, 10)
    query = QueryFeatures(dates=(DateSpan(start=day, end=day),))
    known = {"a": Candidate(time=datetime(2024, 5, 10, 9, tzinfo=UTC) + timedelta(days=days_later))}
    (hit,) = fuse({"vector": [("a", 1.0)]}, known, query, Default(), 10)
    assert hit.contributions.get("date", 0.0) == pytest.approx(Default().date * closeness)


def test_candidates_without_features_still_rank() -> None:
    channels = {"vector": [("a", 0.9), ("b", 0.5)]}
    query = QueryFeatures(named=("Ann",), dates=(DateSpan(start=date(2024, 5, 1), end=date(2024, 5, 1)),))
    assert ids(fuse(channels, {"a": Candidate()}, query, Default(), 10)) == ["a", "b"]


# Properties

_IDS = st.sampled_from([f"m{number}" for number in range(8)])
_RANKED = st.dictionaries(_IDS, st.floats(-50, 50), max_size=8).map(
    lambda found: sorted(found.items(), key=lambda item: (-item[1], item[0]))
)
_CHANNELS = st.dictionaries(st.sampled_from(["vector", "keyword", "key", "messages"]), _RANKED, max_size=4)
_CANDIDATES = st.dictionaries(
    _IDS,
    st.builds(
        Candidate,
        author=st.sampled_from(["Ann", "Bob", None]),
        role=st.sampled_from(["user", "assistant", None]),
        conversation=st.just("c"),
        session=st.sampled_from(["1", "2", None]),
        sequence=st.none() | st.integers(0, 8),
        time=st.none() | st.just(NOON),
        confidence=st.none() | st.floats(0, 1),
    ),
    max_size=8,
)
_QUERIES = st.builds(
    QueryFeatures,
    named=st.sampled_from([(), ("Ann",), ("Ann", "Bob")]),
    dates=st.sampled_from([(), (DateSpan(start=NOON.date(), end=NOON.date()),)]),
    speaker=st.sampled_from(Speaker),
)
_LIMITS = st.integers(0, 12)
_STRATEGIES = st.sampled_from(STRATEGIES)

Channels = Mapping[str, Sequence[tuple[str, float]]]


@given(_CHANNELS, _CANDIDATES, _QUERIES, _STRATEGIES, _LIMITS)
def test_s9_limit_bounds_a_prefix_of_one_total_order(
    channels: Channels, known: Mapping[str, Candidate], query: QueryFeatures, strategy: Strategy, limit: int
) -> None:
    everything = fuse(channels, known, query, strategy, 1000)
    assert everything[:limit] == fuse(channels, known, query, strategy, limit)
    assert [(-hit.score, hit.id) for hit in everything] == sorted((-hit.score, hit.id) for hit in everything)
    assert len(set(ids(everything))) == len(everything)


@given(_CHANNELS, _CANDIDATES, _QUERIES, _STRATEGIES)
def test_s9_hits_are_exactly_what_the_channels_found(
    channels: Channels, known: Mapping[str, Candidate], query: QueryFeatures, strategy: Strategy
) -> None:
    found = {id_ for ranked in channels.values() for id_, _ in ranked}
    assert set(ids(fuse(channels, known, query, strategy, 1000))) == found


@given(_CHANNELS, _CANDIDATES, _QUERIES, _STRATEGIES)
def test_s9_the_order_in_which_channels_and_candidates_arrive_is_immaterial(
    channels: Channels, known: Mapping[str, Candidate], query: QueryFeatures, strategy: Strategy
) -> None:
    turned = dict(reversed(list(channels.items())))
    turned_known = dict(reversed(list(known.items())))
    assert fuse(channels, known, query, strategy, 50) == fuse(turned, turned_known, query, strategy, 50)


@given(_CHANNELS, _CANDIDATES, _QUERIES, _STRATEGIES)
def test_s11_contributions_add_up_to_the_score(
    channels: Channels, known: Mapping[str, Candidate], query: QueryFeatures, strategy: Strategy
) -> None:
    for hit in fuse(channels, known, query, strategy, 1000):
        assert hit.score == pytest.approx(hit.confidence_factor * sum(hit.contributions.values()))
        assert hit.score >= 0
        assert set(hit.channels) <= set(hit.contributions)


@given(_RANKED)
def test_one_plain_channel_keeps_its_order(ranked: Sequence[tuple[str, float]]) -> None:
    """With nothing else to go by, both strategies return a channel as it came."""
    hits = fuse({"vector": ranked}, {}, PLAIN, Reference(), 1000)
    assert ids(hits) == [id_ for id_, _ in ranked]
    raw = [hit.channels["vector"].score for hit in fuse({"vector": ranked}, {}, PLAIN, Default(), 1000)]
    assert raw == pytest.approx(sorted(raw, reverse=True))


@given(_CHANNELS, st.floats(0.01, 100), st.floats(-10, 10))
def test_default_is_blind_to_the_unit_of_a_channel(channels: Channels, factor: float, offset: float) -> None:
    """Min-max normalisation: a channel may score in any unit and from any zero."""
    spread = all(len({score for _, score in ranked}) != 1 for ranked in channels.values())
    wide = all(not ranked or ranked[0][1] - ranked[-1][1] > 0.1 for ranked in channels.values())
    if not (spread and wide):
        return
    moved = {
        name: [(id_, score * factor + offset) for id_, score in ranked] for name, ranked in channels.items()
    }
    before = scores(fuse(channels, {}, PLAIN, Default(), 1000))
    after = scores(fuse(moved, {}, PLAIN, Default(), 1000))
    assert after == pytest.approx(before, abs=1e-6)
