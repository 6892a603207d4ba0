"""Names of branches, their states, and which of them may be the same (SPEC J-13)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.compactor.domain.attractor_geometry import pack
from services.compactor.domain.graph import Branch, Candidate, State, subtree
from services.compactor.domain.graph_names import MAX_NAME_CHARS, MAX_SLUG_BYTES, slug_of, slugified
from services.compactor.domain.graph_synonyms import MERGE_AT, PROPOSE_AT, compared, findings, score
from services.kit.errors import InvalidField

NOW = datetime(2026, 5, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("River Barge", "river-barge"),
        ("  river -- barge!  ", "river-barge"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("ﬁnances", "finances"),
        ("Cafe\u0301", "café"),
        ("İstanbul", "i\u0307stanbul"),
        ("機械学習", "機械学習"),
        ("ｶﾞｰﾃﾞﾝ", "ガーデン"),
        ("تعلم الآلة", "تعلم-الآلة"),
        ("हिन्दी सीखना", "हिन्दी-सीखना"),
        ("می\u200cروم", "میروم"),
        ("C++", "c++"),
        ("C#", "c#"),
        ("C", "c"),
        ("# heading", "heading"),
        ("🚀 launch", "launch"),
        ("🚀", "🚀"),
        ("❤\ufe0f", "❤"),
        ("👩\u200d🚀", "👩🚀"),
        ("$$$", "$$$"),
        ("²", "2"),
        ("x" * MAX_NAME_CHARS, "x" * MAX_NAME_CHARS),
    ],
)
def test_a_name_is_compared_as_its_slug(name: str, slug: str) -> None:
    assert slug_of(name) == slug
    assert slugified(slug) == slug


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "...",
        "—",
        "\u200d",
        "\ufe0f",
        "a\0b",
        "x" * (MAX_NAME_CHARS + 1),
        "x" * 10_240,
        "\ufdfa" * 100,
    ],
)
def test_a_name_that_says_nothing_or_too_much_is_refused(name: str) -> None:
    """SPEC X-1."""
    with pytest.raises(InvalidField) as caught:
        slug_of(name)
    assert caught.value.fields[0].field == "name"


@given(st.text(max_size=40))
def test_a_slug_is_its_own_slug_whatever_the_name(name: str) -> None:
    slug = slugified(name)
    assert slugified(slug) == slug
    assert slugified(name.upper()) in (slug, slugified(name.upper().lower()))
    assert not set(slug) & set(" \0\n\t_.,")
    assert slug == slug.strip("-")


@given(st.text(alphabet="aß中🚀e\u0301-# 1", min_size=1, max_size=20))
def test_only_what_has_letters_digits_or_symbols_is_a_name(name: str) -> None:
    if any(character in name for character in "aß中🚀e1"):
        assert 0 < len(slug_of(name).encode()) <= MAX_SLUG_BYTES


def test_merged_branches_are_a_tree_whose_parts_can_be_told() -> None:
    pointers = {"a": "b", "b": "d", "c": "d", "d": ""}
    assert subtree(pointers, "b") == ["a", "b"]
    assert subtree(pointers, "d") == ["a", "b", "c", "d"]
    assert subtree(pointers, "c") == ["c"]


@pytest.mark.parametrize(
    ("conversations", "days", "state"),
    [
        (0, 0, State.SEEDLING),
        (2, 0, State.SEEDLING),
        (3, 0, State.GROWING),
        (7, 89, State.GROWING),
        (8, 89, State.ESTABLISHED),
        (8, 90, State.DORMANT),
        (1, 91, State.DORMANT),
    ],
)
def test_a_state_follows_from_the_links(conversations: int, days: int, state: State) -> None:
    moment = NOW - timedelta(days=days)
    branch = Branch(
        id="b", slug="b", name="b", conversations=conversations, last_link=moment, created=NOW, updated=NOW
    )
    assert branch.state(NOW) is state


def candidate(slug: str, *vector: float, conversations: int = 1, model: str = "m") -> Candidate:
    return Candidate(
        id=f"id of {slug}",
        slug=slug,
        name=slug,
        conversations=conversations,
        vector=pack(vector),
        model=model if vector else "",
    )


def test_names_that_are_alike_in_spelling_and_meaning_may_be_merged() -> None:
    one, other = candidate("tax-return", 1, 0), candidate("tax-returns", 0.96, 0.28, conversations=3)
    (found,) = findings([one.id], [one, other, candidate("bread", 0, 1)], {})
    assert (found.branch_id, found.into_id) == (one.id, other.id), "the larger stays"
    assert found.score >= MERGE_AT
    assert (found.evidence.cosine, found.evidence.words, found.evidence.shared) == (0.96, 1.0, 0)


def test_words_that_mean_the_same_are_proposed_and_not_merged() -> None:
    one, other = candidate("car", 1, 0), candidate("automobile", 0.86, 0.51)
    (found,) = findings([one.id, other.id], [one, other], {})
    assert PROPOSE_AT <= found.score < MERGE_AT


def test_vectors_of_two_models_are_not_compared() -> None:
    one, other = candidate("car", 1, 0), candidate("automobile", 0.96, 0.28, model="other")
    assert findings([one.id], [one, other], {}) == []
    assert findings([one.id], [one, candidate("automobile", 0.96, 0.28)], {}) != []
    (found,) = findings([one.id], [one, candidate("cars", model="other")], {})
    assert found.evidence.cosine is None


@given(st.text(alphabet="abc-", min_size=1, max_size=9), st.text(alphabet="abc-", min_size=1, max_size=9))
def test_no_pair_is_lost_for_being_looked_at_briefly(slug: str, other: str) -> None:
    """The shortcut is a bound: what is found is what a full comparison finds."""
    evidence = compared(slug, other, None, 0)
    found = findings(["one"], [_plain("one", slug), _plain("other", other)], {})
    assert bool(found) == (score(evidence, 1) >= PROPOSE_AT)


def _plain(branch_id: str, slug: str) -> Candidate:
    return Candidate(id=branch_id, slug=slug, name=slug, conversations=1, vector=b"", model="")


def test_names_that_the_model_cannot_tell_apart_are_compared_by_spelling() -> None:
    """It knows neither of them: all emoji are one to a model without them."""
    one = candidate("🚀", 1, 0)
    assert findings([one.id], [one, candidate("🍞", 1, 0)], {}) == []
    assert len(findings([one.id], [one, candidate("🍞", 0.99, 0.14)], {})) == 1


def test_different_numbers_are_different_things() -> None:
    one = candidate("phase-1", 1, 0)
    assert findings([one.id], [one, candidate("phase-2", 1, 0)], {}) == []
    assert len(findings([one.id], [one, candidate("phases-1", 1, 0)], {})) == 1


def test_common_conversations_add_to_the_score() -> None:
    one, other = candidate("boat", 1, 0, conversations=8), candidate("ship", 0.8, 0.6, conversations=8)
    apart = findings([one.id], [one, other], {})
    together = findings([one.id], [one, other], {(one.id, other.id): 8})
    assert together[0].score > (apart[0].score if apart else PROPOSE_AT)
    assert together[0].evidence.shared == 8
