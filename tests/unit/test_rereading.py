"""A second look at the best hits, by the terms that they hold (S-9, S-11)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.memory.semantic.domain.analysis import analyse
from services.memory.semantic.domain.fusion import Candidate, Default, Hit, Rereading, fuse
from services.memory.semantic.domain.query import QueryFeatures
from services.memory.semantic.domain.rereading import reread

WEIGHTS = Rereading()
PLAIN = QueryFeatures()
LONG = "barley wheat oats rye millet sorghum maize rice"  # as many terms as no message is brief with


def message(sequence: int, role: str = "user", author: str = "Ann", session: str = "1") -> Candidate:
    return Candidate(author=author, role=role, conversation="c", session=session, sequence=sequence)


def hit(id_: str, score: float, factor: float = 1.0) -> Hit:
    parts = {"vector": score / factor}
    return Hit(id=id_, score=score, channels={}, contributions=parts, confidence_factor=factor)


def held(**texts: str) -> dict[str, tuple[str, ...]]:
    return {id_: tuple(analyse(text)) for id_, text in texts.items()}


def about(text: str, *, asks_help: bool = False) -> QueryFeatures:
    return QueryFeatures(terms=tuple(dict.fromkeys(analyse(text))), asks_help=asks_help)


def ids(hits: Sequence[Hit]) -> list[str]:
    return [each.id for each in hits]


def added(hits: Sequence[Hit], signal: str) -> dict[str, float]:
    return {each.id: each.contributions[signal] for each in hits if signal in each.contributions}


def test_s9_context_is_what_neighbours_hold_and_the_message_lacks() -> None:
    hits = [hit("a", 0.5), hit("b", 0.5)]
    known = {"a": message(1), "b": message(2)}
    terms = held(a=f"Ann ferry {LONG}", b=f"Ann harbour {LONG}")
    looked = reread(hits, known, terms, about("ferry harbour"), WEIGHTS, 10)
    assert added(looked, "context") == pytest.approx({"a": 0.15, "b": 0.15})


def test_s9_a_rare_term_of_a_neighbour_counts_more_than_a_common_one() -> None:
    hits = [hit(id_, 0.5) for id_ in "abcd"]
    known = {"a": message(1), "b": message(2), "c": message(9), "d": message(12)}
    terms = held(a=f"Ann {LONG}", b=f"Ann ferry {LONG}", c=f"Ann harbour {LONG}", d=f"Ann harbour {LONG}")
    looked = reread(hits, known, terms, about("ferry harbour"), WEIGHTS, 10)
    rare, common = math.log(1 + 3.5 / 1.5), math.log(1 + 2.5 / 2.5)
    assert added(looked, "context") == pytest.approx({"a": 0.3 * rare / (rare + common)})


@pytest.mark.parametrize(
    "other",
    [
        message(4),
        message(2, session="2"),
        message(2, role="assistant"),
        replace(message(2), conversation="d"),
        replace(message(2), sequence=None),
    ],
    ids=["too far", "another session", "another role", "another conversation", "nowhere"],
)
def test_s9_what_is_not_a_neighbour_lends_no_context(other: Candidate) -> None:
    terms = held(a=f"Ann {LONG}", b=f"Ann ferry {LONG}")
    hits = [hit("a", 0.5), hit("b", 0.4)]
    beside = reread(hits, {"a": message(1), "b": message(3)}, terms, about("ferry"), WEIGHTS, 10)
    assert "a" in added(beside, "context"), "two places away is near enough"
    apart = reread(hits, {"a": message(1), "b": other}, terms, about("ferry"), WEIGHTS, 10)
    assert added(apart, "context") == {}


def test_s9_a_brief_message_loses_and_its_authors_name_is_no_term_of_its_own() -> None:
    hits = [hit("brief", 0.5), hit("long", 0.45), hit("empty", 0.4)]
    known = {id_: message(n, author="Ann Lee") for n, id_ in enumerate(("brief", "long", "empty"), start=1)}
    terms = held(brief="Ann Lee lovely gardens", long=f"Ann Lee {LONG}", empty="Ann Lee")
    looked = reread(hits, known, terms, PLAIN, WEIGHTS, 10)
    assert ids(looked) == ["long", "brief", "empty"]
    assert added(looked, "brief") == pytest.approx({"brief": -0.2 * 6 / 8, "empty": -0.2})


def test_s9_a_word_of_time_counts_where_a_time_is_asked_for() -> None:
    hits = [hit("a", 0.5), hit("b", 0.4)]
    known = {"a": message(1), "b": message(9)}
    terms = held(a=f"Ann {LONG}", b=f"Ann yesterday {LONG}")
    assert ids(reread(hits, known, terms, QueryFeatures(asks_time=True), WEIGHTS, 10)) == ["b", "a"]
    assert ids(reread(hits, known, terms, PLAIN, WEIGHTS, 10)) == ["a", "b"]


def wishes(assistant: str = "assistant") -> tuple[dict[str, Candidate], dict[str, tuple[str, ...]]]:
    known = {id_: message(4 * n, author="") for n, id_ in enumerate(("ask", "wish", "order"))}
    known["reply"] = message(9, role=assistant, author="")
    terms = held(ask=LONG, wish=f"{LONG} preferred", order=f"please always {LONG}", reply=f"always {LONG}")
    return known, terms


def test_s9_standing_wishes_of_a_user_count_where_help_is_asked_for() -> None:
    known, terms = wishes()
    hits = [hit(id_, 0.5) for id_ in sorted(known)]
    looked = reread(hits, known, terms, QueryFeatures(asks_help=True), WEIGHTS, 10)
    assert added(looked, "standing") == pytest.approx({"wish": 0.3, "order": 0.7})
    assert added(reread(hits, known, terms, PLAIN, WEIGHTS, 10), "standing") == {}


def test_s9_where_no_assistant_takes_part_nobody_is_told_wishes() -> None:
    known, terms = wishes(assistant="user")
    hits = [hit(id_, 0.5) for id_ in sorted(known)]
    assert added(reread(hits, known, terms, QueryFeatures(asks_help=True), WEIGHTS, 10), "standing") == {}


def test_s9_always_in_the_midst_of_a_message_is_a_wish_and_no_order() -> None:
    known = {"a": message(1), "b": message(2, role="assistant")}
    terms = held(a="barley wheat oats always rye millet sorghum maize", b=LONG)
    looked = reread([hit("a", 0.5), hit("b", 0.5)], known, terms, QueryFeatures(asks_help=True), WEIGHTS, 10)
    assert added(looked, "standing") == pytest.approx({"a": 0.3})


def test_s9_only_the_best_hits_are_looked_at() -> None:
    hits = [hit("a", 0.5), hit("b", 0.4), hit("c", 0.3)]
    known = {id_: message(5 * n) for n, id_ in enumerate("abc")}
    looked = reread(hits, known, held(a="Ann", b="Ann", c="Ann"), PLAIN, replace(WEIGHTS, depth=2), 10)
    assert added(looked, "brief").keys() == {"a", "b"}
    assert ids(looked) == ["a", "c", "b"], "what was not looked at may pass what lost"


def test_s9_without_terms_nothing_changes() -> None:
    hits = [hit("b", 0.5), hit("a", 0.4)]
    assert reread(hits, {"a": message(1)}, {}, about("ferry", asks_help=True), WEIGHTS, 10) == hits


def test_s9_equal_scores_are_ordered_by_id() -> None:
    hits = [hit("b", 0.5), hit("a", 0.5)]
    assert ids(reread(hits, {}, {}, PLAIN, WEIGHTS, 10)) == ["a", "b"]


def test_a_negative_limit_is_refused() -> None:
    with pytest.raises(ValueError, match="limit"):
        reread([], {}, {}, PLAIN, WEIGHTS, -1)


NAMES = [f"m{n}" for n in range(12)]
SCORED = st.lists(st.tuples(st.sampled_from(NAMES), st.floats(0, 50, allow_nan=False)), max_size=12)
CANDIDATES = st.dictionaries(
    st.sampled_from(NAMES),
    st.builds(
        Candidate,
        author=st.sampled_from(["Ann", "Bo Lee", None]),
        role=st.sampled_from(["user", "assistant", None]),
        conversation=st.sampled_from(["c", "d"]),
        session=st.sampled_from(["1", None]),
        sequence=st.none() | st.integers(1, 9),
        confidence=st.none() | st.floats(0, 1),
    ),
)
WORDS = st.sampled_from(["ann", "ferri", "harbour", "alway", "prefer", "yesterday", "rye", "oat"])
TERMS = st.dictionaries(st.sampled_from(NAMES), st.lists(WORDS, max_size=12))
QUERIES = st.builds(
    QueryFeatures,
    terms=st.lists(WORDS, max_size=4, unique=True).map(tuple),
    asks_time=st.booleans(),
    asks_help=st.booleans(),
)


@given(
    vector=SCORED,
    keyword=SCORED,
    known=CANDIDATES,
    terms=TERMS,
    query=QUERIES,
    depth=st.integers(0, 12),
    limit=st.integers(0, 12),
)
def test_s11_signals_add_up_to_the_score_and_the_limit_holds(
    vector: list[tuple[str, float]],
    keyword: list[tuple[str, float]],
    known: dict[str, Candidate],
    terms: dict[str, list[str]],
    query: QueryFeatures,
    depth: int,
    limit: int,
) -> None:
    """S-9, S-11: whatever is known, the order is by score and then by id, and the same each time."""
    channels = {"vector": vector, "keyword": keyword}
    hits = fuse(channels, known, query, Default(), 24)
    weights = replace(WEIGHTS, depth=depth)
    looked = reread(hits, known, terms, query, weights, limit)
    assert looked == reread(hits, known, terms, query, weights, limit)
    assert len(looked) == min(limit, len(hits))
    assert looked == sorted(looked, key=lambda each: (-each.score, each.id))
    before = {each.id: each for each in hits}
    for each in looked:
        total = each.confidence_factor * sum(each.contributions.values())
        assert each.score == pytest.approx(total)
        assert each.channels == before[each.id].channels
        assert before[each.id].contributions.items() <= each.contributions.items()
