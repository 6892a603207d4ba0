"""BM25 over candidates, and which candidates a word engine is asked for (SPEC S-18)."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.memory.semantic.domain.ranking import (
    Held,
    Place,
    TermQuery,
    best,
    mean_length,
    plan,
    score,
    size_class,
)

TERMS = ["a", "b", "c", "d", "e"]
texts = st.lists(st.lists(st.sampled_from(TERMS), max_size=12), min_size=1, max_size=30)
queries = st.lists(st.sampled_from(TERMS), min_size=1, unique=True)


def held(number: int, terms: list[str]) -> Held:
    return Held(item_id=f"i{number:03}", counts=Counter(terms), length=len(terms))


def place_of(items: list[Held]) -> Place:
    return Place(
        items=len(items),
        mean_length=sum(item.length for item in items) / len(items),
        frequencies={term: sum(term in item.counts for item in items) for term in TERMS},
    )


def test_a_score_is_the_formula() -> None:
    place = Place(items=10, mean_length=4.0, frequencies={"a": 2, "b": 10})
    item = Held(item_id="x", counts={"a": 3, "b": 1}, length=8)
    norm = 1.2 * (0.25 + 0.75 * 8 / 4)
    expected = math.log(1 + 8.5 / 2.5) * 3 * 2.2 / (3 + norm) + math.log(1 + 0.5 / 10.5) * 2.2 / (1 + norm)
    assert score(item, place, ["a", "b", "unknown"]) == pytest.approx(expected)


@given(texts, queries)
def test_every_item_with_a_term_is_ranked_and_no_other(contents: list[list[str]], query: list[str]) -> None:
    """S-18: any one word is enough, also one that all items hold."""
    items = [held(n, terms) for n, terms in enumerate(contents)]
    ranked = best(items, place_of(items), query, 100)
    assert {id_ for id_, _ in ranked} == {i.item_id for i in items if set(query) & set(i.counts)}
    assert ranked == sorted(ranked, key=lambda pair: (-pair[1], pair[0]))
    assert best(items, place_of(items), query, 3) == ranked[:3]


@given(texts, queries)
def test_a_plan_asks_for_each_term_that_is_there(contents: list[list[str]], query: list[str]) -> None:
    items = [held(n, terms) for n, terms in enumerate(contents)]
    place = place_of(items)
    asked = Place(items=place.items, mean_length=1.0, frequencies={t: place.frequencies[t] for t in query})
    queries = plan(asked, 5, max_terms=24, max_joined=8)
    assert {q.terms for q in queries if len(q.terms) == 1} == {(t,) for t in query if place.frequencies[t]}
    for q in queries:
        assert q.weight == pytest.approx(sum(place.idf(term) for term in q.terms))
        assert q.weight > 0


def test_terms_are_joined_only_where_not_all_items_can_be_candidates() -> None:
    place = Place(items=100, mean_length=1.0, frequencies={"a": 40, "b": 5, "c": 10, "gone": 0})
    singles = [("b",), ("c",), ("a",)]
    assert [q.terms for q in plan(place, 55, max_terms=9, max_joined=9)] == singles
    joined = [("b", "c"), ("b", "a"), ("c", "a"), ("b", "c", "a")]
    assert [q.terms for q in plan(place, 54, max_terms=9, max_joined=9)] == singles + joined
    assert [q.terms for q in plan(place, 5, max_terms=2, max_joined=9)] == [*singles[:2], ("b", "c")]
    assert [q.terms for q in plan(place, 5, max_terms=9, max_joined=2)] == [*singles, ("b", "c")]
    assert plan(Place(items=9, mean_length=1.0, frequencies={"x": 0}), 5, max_terms=9, max_joined=9) == []


def test_rarer_terms_weigh_more() -> None:
    place = Place(items=100, mean_length=1.0, frequencies={"rare": 1, "common": 60, "all": 100})
    weights = {q.terms: q.weight for q in plan(place, 1000, max_terms=9, max_joined=9)}
    assert weights[("rare",)] > weights[("common",)] > weights[("all",)] > 0
    assert TermQuery(terms=("rare",), weight=weights[("rare",)]) in plan(
        place, 1000, max_terms=9, max_joined=9
    )


def test_numbers_that_disagree_give_no_nonsense() -> None:
    """They are asked one after the other while items come and go."""
    place = Place(items=3, mean_length=0.0, frequencies={"a": 5})
    assert place.idf("a") > 0
    assert score(Held(item_id="x", counts={"a": 1}, length=1), place, ["a"]) > 0


@given(st.lists(st.integers(min_value=0, max_value=100_000), min_size=1, max_size=200))
def test_the_mean_from_classes_is_near_the_mean(lengths: list[int]) -> None:
    """A class is half a doubling wide: no length is off by more than a fifth, give or take one term."""
    mean = sum(lengths) / len(lengths)
    estimated = mean_length(Counter(map(size_class, lengths)))
    assert estimated == pytest.approx(mean, rel=0.2, abs=1.0)
    assert len(set(map(size_class, range(0, 100_000, 7)))) < 100


def test_nothing_has_no_mean() -> None:
    assert mean_length({}) == 0.0
