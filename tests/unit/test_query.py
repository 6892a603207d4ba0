"""What a query says about its hits: names, dates, whose statements (S-9, S-12)."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.memory.semantic.domain.dates import DateSpan, dates_mentioned
from services.memory.semantic.domain.query import Speaker, asked_speaker, understand

TODAY = date(2024, 5, 15)  # a Wednesday


def span(start: str, end: str | None = None, *, yearly: bool = False) -> DateSpan:
    return DateSpan(start=date.fromisoformat(start), end=date.fromisoformat(end or start), yearly=yearly)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("on 2024-03-15?", [span("2024-03-15")]),
        ("during 2024-02", [span("2024-02-01", "2024-02-29")]),
        ("March 15th, 2024", [span("2024-03-15")]),
        ("the 15th of March 2024", [span("2024-03-15")]),
        ("25/12/2023", [span("2023-12-25")]),
        ("3/4/2023", [span("2023-03-04"), span("2023-04-03")]),
        ("in July 2023", [span("2023-07-01", "2023-07-31")]),
        ("in July", [span("2000-07-01", "2000-07-31", yearly=True)]),
        ("on 29 February", [span("2000-02-29", yearly=True)]),
        ("back in 2022", [span("2022-01-01", "2022-12-31")]),
        ("what happened yesterday", [span("2024-05-14")]),
        ("two days ago", [span("2024-05-13")]),
        ("three weeks ago", [span("2024-04-21", "2024-04-27")]),
        ("last week", [span("2024-05-06", "2024-05-12")]),
        ("this week", [span("2024-05-13", "2024-05-19")]),
        ("last weekend", [span("2024-05-11", "2024-05-12")]),
        ("last month", [span("2024-04-01", "2024-04-30")]),
        ("last year", [span("2023-01-01", "2023-12-31")]),
        ("on Monday", [span("2024-05-13")]),
        ("on Wednesday", [span("2024-05-08")]),
        ("in May", [span("2000-05-01", "2000-05-31", yearly=True)]),
    ],
)
def test_dates_are_understood(text: str, expected: list[DateSpan]) -> None:
    assert list(dates_mentioned(text, TODAY)) == expected


@pytest.mark.parametrize(
    "text",
    ["may I ask", "they march on", "room 101", "February 30, 2023", "1234567", "9999 years ago", "at 10:30"],
)
def test_what_only_looks_like_a_date_is_none(text: str) -> None:
    assert dates_mentioned(text, TODAY) == ()


def test_a_yearly_span_is_measured_in_the_nearest_year() -> None:
    december = span("2000-12-20", "2000-12-31", yearly=True)
    assert december.distance(date(2023, 12, 25)) == 0
    assert december.distance(date(2024, 1, 3)) == 3
    assert december.distance(date(2023, 12, 18)) == -2


def test_29_february_falls_on_the_28th_in_other_years() -> None:
    assert span("2000-02-29", yearly=True).distance(date(2023, 2, 28)) == 0


@given(st.text(max_size=100), st.dates())
def test_no_text_and_no_reference_raises(text: str, reference: date) -> None:
    for found in dates_mentioned(text, reference):
        assert found.start <= found.end


@given(st.dates(), st.dates())
def test_the_distance_to_a_day_counts_days(first: date, second: date) -> None:
    assert DateSpan(start=first, end=first).distance(second) == (second - first).days


@given(st.dates(), st.dates())
def test_a_yearly_distance_is_never_more_than_half_a_year_and_a_day(first: date, second: date) -> None:
    recurring = DateSpan(start=first.replace(year=2000), end=first.replace(year=2000), yearly=True)
    if 1 < second.year < 9999:
        assert abs(recurring.distance(second)) <= 184


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        ("What is my budget?", Speaker.ASKER),
        ("Have I obtained a key?", Speaker.ASKER),
        ("How did you recommend structuring my work?", Speaker.ASSISTANT),
        ("What was your suggestion for us?", Speaker.ASSISTANT),
        ("Which books that you mentioned did I like?", Speaker.ASSISTANT),
        ("Can you give me an overview of my project?", Speaker.ASKER),
        ("Which libraries are used?", Speaker.ANYONE),
    ],
)
def test_whose_statements_are_meant(text: str, speaker: Speaker) -> None:
    assert asked_speaker(text) is speaker


def test_a_known_asker_who_names_nobody_counts_as_named() -> None:
    people = ("Rosalind", "Tobias")
    assert understand("Where do I live?", people, TODAY, asker="Tobias").named == ("Tobias",)
    assert understand("Where do I meet Rosalind?", people, TODAY, asker="Tobias").named == ("Rosalind",)
    assert understand("Where is the station?", people, TODAY, asker="Tobias").named == ()
    assert understand("Where do I live?", people, TODAY).named == ()
    assert understand("Where do I live?", people, TODAY, asker="Stranger").named == ()


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("When did Ann move?", True),
        ("How long has Ann lived in Leeds?", True),
        ("How many weeks did the repair take?", True),
        ("What year was the barn built?", True),
        ("Do you know when Ann moved? When did she?", True),
        ("What does Ann do when it rains?", False),
        ("How many cats has Ann?", False),
        ("Wann ist Ann umgezogen?", False),
    ],
)
def test_s9_whether_a_time_is_asked_for(text: str, asks: bool) -> None:
    assert understand(text, ["Ann"], TODAY).asks_time is asks


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("How should I prune the apple tree?", True),
        ("Can you help me plan the beds?", True),
        ("I'm planning to build a pond. Which liner would you take?", True),
        ("Write a note for the neighbours", True),
        ("How did I prune the apple tree?", False),
        ("Can you summarize how we planned the beds?", False),
        ("Can you list the order in which the beds came up?", False),
        ("How many ponds can I see?", False),
        ("Which liner is in the pond?", False),
    ],
)
def test_s9_whether_help_is_asked_for(text: str, asks: bool) -> None:
    assert understand(text, [], TODAY).asks_help is asks


def test_s9_the_terms_are_of_the_subject_without_names() -> None:
    query = understand("Can you tell me about Ann's boiler in Leeds?", ["Ann", "Bo"], TODAY)
    assert query.terms == ("boiler", "leed")
