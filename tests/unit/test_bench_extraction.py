"""How extracted facts are held against labels (J-8): what is right, what is only supported, what is wrong."""

from __future__ import annotations

from collections import Counter
from datetime import date
from typing import Any

import pytest

from bench.scenarios import extraction
from services.compactor.domain.extraction.facts import Category, Fact


def label(subject: str, value: str, type_: str = "fact", day: str | None = None) -> dict[str, Any]:
    return {"subject": subject, "type": type_, "value": value, "date": day}


def fact(subject: str, predicate: str, category: Category = Category.FACT, day: date | None = None) -> Fact:
    return Fact(key="k", subject=subject, predicate=predicate, category=category, day=day)


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (fact("Ann", "plays the cello"), label("Ann", "plays the cello")),
        (fact("Ann", "has two bicycles"), label("Ann", "two bicycle in the shed")),
        (fact("Ann's grandmother", "is 91", Category.IDENTITY), label("Ann's nonna", "is 91", "identity")),
        (fact("Ann's mother", "swims"), label("Ann's mam", "swims")),
        (fact("Ann's mother's sister", "swims"), label("Ann's mum's sister", "swims")),
        (
            fact("Ann", "is visiting on 2024-05-05", Category.EVENT, date(2024, 5, 5)),
            label("Ann", "is visiting on Sunday", "event", "2024-05-05"),
        ),
        (fact("恵の夫", "高校で数学を教えている"), label("恵の夫", "高校で数学を教えています")),
        (
            fact("Bob", "is Ann's boss", Category.RELATIONSHIP),
            label("Ann", "has a boss called Bob", "relationship"),
        ),
        (
            fact("Ann", "moved on 2024-05-01", Category.EVENT, date(2024, 5, 1)),
            label("Ann", "moved", "event", "2024-05-01"),
        ),
    ],
)
def test_a_fact_that_says_the_same_is_right(found: Fact, wanted: dict[str, Any]) -> None:
    assert extraction.agrees(found, wanted) > 0


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (fact("Ben", "plays the cello"), label("Ann", "plays the cello")),
        (fact("Ann", "sold the cello"), label("Ann", "plays the piano every evening")),
        (fact("Ann", "plays the cello", Category.TASK), label("Ann", "plays the cello")),
        (
            fact("Ann", "moved", Category.EVENT, date(2024, 5, 2)),
            label("Ann", "moved", "event", "2024-05-01"),
        ),
        (fact("Ann", "rests on Mondays"), label("Ann", "rests on Sundays")),
        (fact("恵の夫", "高校で数学を教えている"), label("恵の夫", "大阪で働いています")),
    ],
)
def test_another_fact_is_wrong(found: Fact, wanted: dict[str, Any]) -> None:
    assert extraction.agrees(found, wanted) == 0


def test_a_fact_that_says_less_is_supported_and_not_right() -> None:
    wanted = label("Ann", "plays the trombone on the balcony every evening")
    less = fact("Ann", "plays the trombone")
    assert extraction.agrees(less, wanted) == 0
    assert extraction.supports(wanted, less)
    assert extraction.supports(wanted, fact("Ann", "plays the trombone", Category.EVENT))
    assert not extraction.supports(wanted, fact("Ben", "plays the trombone"))
    assert not extraction.supports(wanted, fact("Ann", "plays the trombone in an orchestra abroad"))
    assert not extraction.supports(wanted, fact("Ann", "plays the trombone", day=date(2024, 5, 1)))


def test_rates_count_what_is_supported_beside_what_is_right() -> None:
    turn = {
        "role": "user",
        "author": "Ann",
        "time": "2024-05-01T10:00:00Z",
        "text": "I live in Leeds.",
        "facts": [label("Ann", "lives in Leeds", "location")],
    }
    found = [fact("Ann", "lives in Leeds", Category.LOCATION)]
    right, wrong, missed = extraction.judged(turn, found)
    assert [same for _, same in right] == [True]
    assert (wrong, missed) == ([], [])
    counts = Counter(right=6, wrong=4, missed=6, supported=2, same_type=3)
    assert extraction.rates(counts) == {
        "precision": 0.6,
        "recall": 0.5,
        "same_type": 0.5,
        "supported": 0.8,
        "found": 10,
        "labelled": 12,
    }
