"""Names that hold digits tell things from each other; they are no values that changed (S-7)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from services.memory.semantic.domain.judging import askable, judge
from services.memory.semantic.domain.judging_types import (
    CONTRADICTS_FROM,
    REPLACES_FROM,
    Statement,
    Verdict,
)
from services.memory.semantic.domain.judging_values import values_of

EARLIER, LATER = datetime(2021, 1, 1, tzinfo=UTC), datetime(2022, 1, 1, tzinfo=UTC)


def said(value: str, begins: datetime) -> Statement:
    return Statement(key="a.key", value=value, valid_from=begins)


def judged(old: str, new: str) -> Verdict:
    return judge(said(old, EARLIER), said(new, LATER))


def replaces(verdict: Verdict) -> bool:
    return verdict.replaces >= REPLACES_FROM


def contradicts(verdict: Verdict) -> bool:
    return verdict.contradicts >= CONTRADICTS_FROM


@pytest.mark.parametrize(
    "said_of",
    [
        "The user decided that project {} begins in spring",
        "The user decided project {} begins in spring",
        "The user wants project {} to begin in spring now",
        "Project {} has 5 members",
        "Project {} now begins in autumn",
        "Project {} was cancelled",
        "The meeting about project {} is at 10:00",
        "The user decided that the budget of project {} is 500 euros",
        "Das Projekt {} beginnt im Frühling",
        "El proyecto {} tiene 5 personas",
        "Il progetto {} inizia in primavera",
        "The user no longer works on project {}",
    ],
)
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("zebra001", "zebra002"),
        ("v2-beta", "v3-beta"),
        ("7", "8"),
        ("12b", "14b"),
        ("SK1420", "SK1421"),
        ("978-3-16-148410-0", "978-3-16-148411-7"),
        ("1.2", "1.3"),
    ],
)
def test_what_is_named_with_other_digits_is_something_else(said_of: str, one: str, other: str) -> None:
    """S-7: the same words, and other ones, about a thing with another name."""
    for begins in (said_of, "Project {} begins in spring", "Project {} has a budget of 700 euros"):
        verdict = judged(begins.format(one), said_of.format(other))
        assert not replaces(verdict)
        assert not contradicts(verdict)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The budget is 500", "The budget is 700"),
        ("The budget of project zebra001 is 500 euros", "The budget of project zebra001 is 700 euros"),
        ("Project zebra001 has 5 members", "Project zebra001 has 7 members"),
        ("Project 7 has a budget of 500 euros", "Project 7 has a budget of 700 euros"),
        (
            "The user decided that the budget of project 7 is 500 euros",
            "The user decided that the budget of project 7 is 700 euros",
        ),
        ("Project zebra001 begins in spring", "Project zebra001 was cancelled"),
        ("The user rents flat 3", "The user no longer rents flat 3"),
    ],
)
def test_another_value_of_what_is_named_with_digits_replaces(old: str, new: str) -> None:
    """S-7: the control."""
    assert replaces(judged(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The meeting is in room 12", "The meeting moved to room 14"),
        ("The meeting is in room 12b", "The meeting is now in room 14b"),
        ("The user's office is room 12", "The user's office is now room 14"),
        ("The user's flight is SK1420", "The user's flight is now SK1421"),
        ("The server runs PostgreSQL 15", "The server was upgraded to PostgreSQL 16"),
        ("The password is zebra001", "The password is now zebra002"),
        ("The user lives in flat 3", "The user moved to flat 4"),
    ],
)
def test_a_name_of_digits_that_is_the_value_replaces_another(old: str, new: str) -> None:
    """S-7: of one thing, where it is, what it is, what it runs."""
    assert replaces(judged(old, new))


def test_no_model_is_asked_about_two_things_that_are_named_with_digits() -> None:
    """S-7: the guard comes first; the control is one thing."""
    first, second = (said(f"Project zebra00{n} has {n} members", EARLIER) for n in (1, 2))
    assert not askable(first, second)
    assert askable(first, said("Project zebra001 has 7 members", LATER))


@pytest.mark.parametrize("text", ["zebra001", "v2-beta", "db-01", "room 12b", "sk1420"])
def test_digits_of_a_name_count_nothing(text: str) -> None:
    assert values_of(text).quantities == ()


@pytest.mark.parametrize(
    ("text", "value"),
    [("it weighs 5kg", 5), ("€500", 500), ("1,000 people", 1000), ("预算是500元", 500), ("up 3.5%", 3.5)],
)
def test_other_figures_count(text: str, value: float) -> None:
    """The control."""
    assert [quantity.value for quantity in values_of(text).quantities] == [value]
