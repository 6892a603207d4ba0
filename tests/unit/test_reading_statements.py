"""What the stretches of a message state, and of whom (SPEC J-8, S-1)."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.compactor.domain.extraction.facts import MOST_FACTS, Category, Fact, Turn
from services.compactor.domain.extraction.reading.passages import CATEGORIES, Passage, Score, chosen, heard
from services.compactor.domain.extraction.reading.spans import Form
from services.compactor.domain.extraction.reading.statements import KINDS, kind_of, recast
from tests.unit.extracting_parts import SAID
from tests.unit.extracting_parts import facts as grammars
from tests.unit.test_reading_spans import PIECES

KEY = re.compile(r"[a-z0-9._:-]{1,200}")
LASTING, EVENT, TASK, INSTRUCTION = range(4)
NAMING = {Form.SPEAKER, Form.OWN, Form.FRONTED}


def read(text: str, author: str = "Kim") -> list[Passage]:
    """What is found by stretches, without what the grammar adds."""
    turn = Turn(author=author, text=text, said=SAID)
    return [one for one in heard(turn).passages if one.form is not Form.GRAMMAR]


def told(text: str, kind: int = LASTING, author: str = "Kim") -> set[str]:
    """As statements of a kind."""
    return {one.facts[kind].value for one in read(text, author) if one.form is not Form.RELATION}


def days(text: str) -> set[date | None]:
    """Those of its events that have a subject of their own."""
    return {one.facts[EVENT].day for one in read(text) if one.form in NAMING} - {None}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        # the author
        ("I live in Oslo.", "Kim lives in Oslo"),
        ("I'm a vet", "Kim is a vet"),
        ("im allergic to nuts", "Kim is allergic to nuts"),
        ("We've got two cats", "Kim has two cats"),
        ("I can't stand my boss", "Kim can not stand Kim's boss"),
        ("I read the paper", "Kim read the paper"),
        ("I hate coffee but love tea", "Kim loves tea"),
        ("I hate coffee, allergic to nuts", "Kim is allergic to nuts"),
        ("Moved to Oslo in 2019.", "Kim moved to Oslo in 2019"),
        ("Every Sunday I bake bread", "Kim bakes bread every Sunday"),
        # those near to them
        ("My sister works at a bank", "Kim's sister works at a bank"),
        ("My sister Ann works at a bank", "Ann (Kim's sister) works at a bank"),
        ("my sister kinga is here and sings jazz", "kinga (Kim's sister) sings jazz"),
        ("my sons obsessed with tea", "Kim's son is obsessed with tea"),
        ("my wife's sister lives in Oslo", "Kim's wife's sister lives in Oslo"),
        ("My sister Ann sings. She lives in Oslo.", "Ann (Kim's sister) lives in Oslo"),
        ("Ben is my brother. He runs a bar.", "Ben (Kim's brother) runs a bar"),
        ("My sister Ann sings but hates jazz", "Ann (Kim's sister) hates jazz"),
        ("My sister sings. My brother hates jazz", "Kim's brother hates jazz"),
        ("Ann lives in Oslo", "Ann lives in Oslo"),
        ("Ann lives in Oslo and loves tea", "Ann loves tea"),
        ("my falconer hides sweets", "Kim's falconer hides sweets"),
        ("my falconer Ann hides sweets", "Ann (Kim's falconer) hides sweets"),
        # told on the way
        ("My aunt is a nurse from Leeds", "Kim's aunt is from Leeds"),
        ("My aunt, 74, swims", "Kim's aunt is 74"),
    ],
)
def test_a_stretch_says_what_of_whom(text: str, value: str) -> None:
    assert value in told(text)


def test_an_author_without_a_name_is_the_user() -> None:
    assert "The user lives in Oslo" in told("I live in Oslo", author="")


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("I have to call Ann", TASK, "Kim needs to call Ann"),
        ("I need to call Ann", TASK, "Kim needs to call Ann"),
        ("I must buy milk", TASK, "Kim needs to buy milk"),
        ("I met Ann yesterday", EVENT, "Kim met Ann on 2024-05-14"),
        ("I want short answers", INSTRUCTION, "Kim wants short answers"),
    ],
)
def test_each_kind_says_it_in_its_way(text: str, kind: int, value: str) -> None:
    assert value in told(text, kind)


def test_a_stretch_may_be_of_each_kind() -> None:
    found = [one for one in read("My sister Ann sings.") if one.form is not Form.RELATION]
    assert found
    assert all(tuple(fact.category for fact in one.facts) == KINDS for one in found)
    assert all(f".{fact.category.value}." in fact.key for one in found for fact in one.facts)


def test_who_somebody_is_is_one_fact() -> None:
    [relation] = [one for one in read("My sister Ann sings.") if one.form is Form.RELATION]
    [fact] = relation.facts
    assert (fact.value, fact.category) == ("Kim has a sister called Ann", Category.RELATIONSHIP)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("I bought a boat on Monday", date(2024, 5, 13)),
        ("I visited Ann on Friday", date(2024, 5, 10)),
        ("On Friday my sister flew to Rome", date(2024, 5, 10)),
        ("I met Ann yesterday", date(2024, 5, 14)),
        ("I'm seeing Ann on Friday", date(2024, 5, 17)),
        ("My sister is visiting on Monday", date(2024, 5, 20)),
        ("I booked a table for Friday", date(2024, 5, 17)),
        ("I've got a dentist appointment on Friday", date(2024, 5, 17)),
        ("I have to call Ann on Friday", date(2024, 5, 17)),
        ("I'm flying to Rome tomorrow", date(2024, 5, 16)),
    ],
)
def test_an_event_has_the_day_that_is_meant(text: str, day: date) -> None:
    assert days(text) == {day}
    assert f".{day}." in "".join(one.facts[EVENT].key for one in read(text))


@pytest.mark.parametrize(
    ("named", "weekday"),
    [("Ash Wednesday", "Wednesday"), ("Good Friday", "Friday"), ("Black Friday", "Friday")],
)
def test_a_day_with_a_name_of_its_own_is_not_the_next_of_its_weekday(named: str, weekday: str) -> None:
    assert days(f"I gave up coffee on {named}") == set()
    assert len(days(f"I gave up coffee on {weekday}")) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Imagine I live in Oslo and love tea",
        "Please translate: I live in Oslo and love tea",
        '"I live in Oslo and love tea"',
        "",
        "\0",
    ],
)
def test_nothing_is_stated_in_what_is_not_said_in_earnest(text: str) -> None:
    assert read(text) == []
    assert read("I live in Oslo and love tea") != []


def test_what_the_grammar_found_is_a_passage_like_others_and_supports_them() -> None:
    text = "I live in Oslo. My zyx is qwv."
    found = heard(Turn(author="Kim", text=text, said=SAID)).passages
    location = CATEGORIES.index(Category.LOCATION)
    [grammar] = [one for one in found if one.form is Form.GRAMMAR]
    assert [grammar.facts[LASTING]] == grammars(text)
    assert (grammar.support, text[grammar.start : grammar.end]) == (1 + location, "live in Oslo")
    support = {text[one.start : one.end]: one.support for one in found if one.form is not Form.GRAMMAR}
    assert support["I live in Oslo"] == 11 + location
    assert support["My zyx is qwv"] == 0


@pytest.mark.parametrize("category", Category)
def test_a_fact_of_the_grammar_stays_itself_in_its_own_kind(category: Category) -> None:
    fact = Fact(key="user.taste.tea", subject="Kim", predicate="loves tea", category=category)
    variants = recast(fact)
    assert variants[kind_of(category)] == fact
    assert [one.category for place, one in enumerate(variants) if place != kind_of(category)] == [
        kind for kind in KINDS if kind is not KINDS[kind_of(category)]
    ]
    assert len({one.key for one in variants}) == len(KINDS)


def test_passages_stand_in_the_order_of_the_text() -> None:
    found = heard(
        Turn(author="Kim", text="My sister Ann sings. I live in Oslo, in Norway.", said=SAID)
    ).passages
    assert [one.start for one in found] == sorted(one.start for one in found)


@settings(max_examples=200)
@given(
    text=st.one_of(st.text(max_size=120), st.lists(st.sampled_from(PIECES), max_size=25).map("".join)),
    author=st.one_of(st.sampled_from(["", "Kim", "李明", "O'Neil", "(.*"]), st.text(max_size=30)),
    said=st.datetimes(timezones=st.just(UTC)),
    owner=st.booleans(),
)
def test_what_any_text_may_state_can_be_stored(text: str, author: str, said: datetime, owner: bool) -> None:
    """S-1."""
    found = heard(Turn(author=author, text=text, said=said, owner=owner)).passages
    for one in found:
        assert 0 <= one.start < one.end <= len(text)
        assert all(KEY.fullmatch(fact.key) for fact in one.facts)
        assert 0 <= one.support < 20
    likely = [Score(kinds=(0.9, 0.0, 0.0, 0.0), categories=(1 / 9,) * 9)] * len(found)
    kept = chosen(found, likely, 0.5)
    assert bool(kept) == bool([one for one in found if one.facts[0].predicate])
    assert len(kept) == len({fact.key for fact in kept}) <= MOST_FACTS
    assert not any("\0" in fact.value for fact in kept)
