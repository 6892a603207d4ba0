"""Days are counted from the day of the message (SPEC J-8)."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.compactor.domain.extraction.dates import find
from services.compactor.domain.extraction.facts import Tense
from tests.unit.extracting_parts import SAID, facts

TODAY = SAID.date()


@pytest.mark.parametrize(
    ("text", "tense", "day"),
    [
        ("yesterday", Tense.PAST, date(2024, 5, 14)),
        ("the day after tomorrow", Tense.COMING, date(2024, 5, 17)),
        ("three days ago", Tense.PAST, date(2024, 5, 12)),
        ("two weeks ago", Tense.PAST, date(2024, 5, 1)),
        ("in ten days", Tense.COMING, date(2024, 5, 25)),
        ("on Friday", Tense.COMING, date(2024, 5, 17)),
        ("on Friday", Tense.PAST, date(2024, 5, 10)),
        ("on Wednesday", Tense.COMING, date(2024, 5, 22)),
        ("last Friday", Tense.COMING, date(2024, 5, 10)),
        ("next Friday", Tense.PAST, date(2024, 5, 17)),
        ("on 3 June", Tense.COMING, date(2024, 6, 3)),
        ("on 3 May", Tense.COMING, date(2025, 5, 3)),
        ("on 3 June", Tense.PAST, date(2023, 6, 3)),
        ("29 February", Tense.COMING, date(2028, 2, 29)),
        ("June 3rd, 2027", Tense.COMING, date(2027, 6, 3)),
        ("2026-01-31", Tense.PAST, date(2026, 1, 31)),
        ("vorgestern", Tense.PAST, date(2024, 5, 13)),
        ("vor drei Tagen", Tense.PAST, date(2024, 5, 12)),
        ("am 3. Juni", Tense.COMING, date(2024, 6, 3)),
        ("demain", Tense.COMING, date(2024, 5, 16)),
        ("samedi prochain", Tense.COMING, date(2024, 5, 18)),
        ("il y a deux semaines", Tense.PAST, date(2024, 5, 1)),
        ("el lunes", Tense.COMING, date(2024, 5, 20)),
        ("pasado mañana", Tense.COMING, date(2024, 5, 17)),
        ("el 3 de junio", Tense.COMING, date(2024, 6, 3)),
        ("by the end of Friday", Tense.COMING, date(2024, 5, 17)),
        ("before the 20th of this month", Tense.COMING, date(2024, 5, 20)),
        ("on the 2nd of next month", Tense.COMING, date(2024, 6, 2)),
        ("by Tuesday week", Tense.COMING, date(2024, 5, 28)),
        ("in a fortnight", Tense.COMING, date(2024, 5, 29)),
        ("in three weeks' time", Tense.COMING, date(2024, 6, 5)),
        ("since Monday", Tense.COMING, date(2024, 5, 13)),
    ],
)
def test_a_day_is_resolved(text: str, tense: Tense, day: date) -> None:
    mention = find(f"so {text} it is", TODAY, tense)
    assert mention is not None
    assert mention.day == day


@pytest.mark.parametrize(
    "text",
    [
        "last month",
        "in 2015",
        "three years ago",
        "in May",
        "31 February",
        "every Friday",
        "every first Friday",
        "at the end of May",
        "after Easter",
        "the Friday choir",
        "Sunday roasts",
    ],
)
def test_what_fixes_no_day_gives_none(text: str) -> None:
    mention = find(f"so {text} it is", TODAY, Tense.PAST)
    assert mention is not None
    assert mention.day is None


@pytest.mark.parametrize("text", ["I may go", "we march on", "in a way", "the one"])
def test_other_words_are_no_dates(text: str) -> None:
    assert find(text, TODAY, Tense.COMING) is None


@pytest.mark.parametrize(
    ("text", "value", "day"),
    [
        ("I got promoted yesterday!", "Kim got promoted on 2024-05-14", date(2024, 5, 14)),
        ("My dad turned 80 last Saturday.", "Kim's dad turned 80 on Saturday 2024-05-11", date(2024, 5, 11)),
        ("Two weeks ago I broke my leg.", "Kim broke Kim's leg on 2024-05-01", date(2024, 5, 1)),
        ("I'm flying to Oslo on Tuesday.", "Kim is flying to Oslo on Tuesday 2024-05-21", date(2024, 5, 21)),
        ("The concert is next Saturday.", "Kim has the concert on Saturday 2024-05-18", date(2024, 5, 18)),
        (
            "I must renew my visa by 15 June.",
            "Kim needs to renew Kim's visa by 2024-06-15",
            date(2024, 6, 15),
        ),
        (
            "Remind me to water the figs on Friday.",
            "Kim needs to water the figs on Friday 2024-05-17",
            date(2024, 5, 17),
        ),
        ("I retired in 2015.", "Kim retired in 2015", None),
        ("I booked the barn for the 9th.", "Kim booked the barn for the 9th (2024-06-09)", date(2024, 6, 9)),
        ("I'm on leave from Monday.", "Kim is on leave from Monday 2024-05-20", date(2024, 5, 20)),
        (
            "My aunt's recital is on 3 July.",
            "Kim has Kim's aunt's recital on 2024-07-03",
            date(2024, 7, 3),
        ),
        ("I quit my job last week.", "Kim quit Kim's job last week (said on 2024-05-15)", None),
    ],
)
def test_a_value_says_its_day_without_the_message(text: str, value: str, day: date | None) -> None:
    """A memory is read on another day than it was said."""
    (fact,) = facts(text)
    assert (fact.value, fact.day) == (value, day)


@pytest.mark.parametrize(
    "text",
    ["The meeting was on Monday.", "I'm not flying to Oslo on Tuesday.", "I've been ill since Monday."],
)
def test_what_is_over_or_denied_is_no_coming_event(text: str) -> None:
    assert facts(text) == []


@given(
    st.dates(), st.text(alphabet="yesterdayinago 0123456789./-MayJune,", max_size=40), st.sampled_from(Tense)
)
def test_no_text_on_no_day_breaks_it(said: date, text: str, tense: Tense) -> None:
    """The first and the last day of the calendar included."""
    mention = find(text, said, tense)
    assert mention is None or 0 <= mention.start < mention.end <= len(text)
