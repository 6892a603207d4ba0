"""Which of a message's passages are facts (SPEC J-8)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.compactor.domain.extraction.facts import MOST_FACTS, Category, Fact
from services.compactor.domain.extraction.reading.passages import CATEGORIES, Passage, Score, chosen, unread
from services.compactor.domain.extraction.reading.spans import Form
from services.compactor.domain.extraction.reading.statements import KINDS
from services.compactor.domain.extraction.subjects import slug

LEAST = 0.5
LASTING, EVENT, TASK, INSTRUCTION = range(4)


def passage(
    start: int, end: int, predicate: str, form: Form = Form.SPEAKER, subject: str = "Kim", key: str = ""
) -> Passage:
    return Passage(
        start=start,
        end=end,
        form=form,
        asked=False,
        support=0,
        facts=tuple(
            Fact(
                key=f"user.{kind.value}.{key or slug(predicate)}",
                subject=subject,
                predicate=predicate,
                category=kind,
            )
            for kind in KINDS
        ),
    )


def relation(start: int, end: int, name: str) -> Passage:
    fact = Fact(
        key=f"user.sister.{name.lower()}.name",
        subject="Kim",
        predicate=f"has a sister called {name}",
        category=Category.RELATIONSHIP,
    )
    return Passage(start=start, end=end, form=Form.RELATION, asked=False, support=0, facts=(fact,))


def score(likely: float, kind: int = LASTING, *categories: Category) -> Score:
    """So likely of a kind; of categories, the likeliest first."""
    return Score(
        kinds=tuple(likely if place == kind else 0.0 for place in range(4)),
        categories=tuple(
            1.0 / (1 + categories.index(one)) if one in categories else 0.0 for one in CATEGORIES
        ),
    )


def kept(*scored: tuple[Passage, float]) -> list[str]:
    return [one.predicate for one in chosen([one for one, _ in scored], [score(n) for _, n in scored], LEAST)]


def test_what_is_less_likely_than_the_bound_is_no_fact() -> None:
    tea, oslo = passage(0, 10, "loves tea"), passage(20, 30, "lives in Oslo")
    assert kept((tea, LEAST), (oslo, LEAST - 0.01)) == ["loves tea"]
    assert chosen([tea], [unread(tea)], LEAST) == []


@pytest.mark.parametrize(("short", "long"), [(0.9, 0.8), (0.8, 0.9)])
def test_of_two_stretches_of_the_same_words_the_likelier_counts(short: float, long: float) -> None:
    found = kept(
        (passage(0, 10, "lives in Oslo"), short), (passage(0, 30, "lives in Oslo near the sea"), long)
    )
    assert found == ["lives in Oslo" if short > long else "lives in Oslo near the sea"]


def test_of_two_that_are_as_likely_the_first_counts() -> None:
    assert kept((passage(0, 10, "loves tea"), 0.9), (passage(0, 20, "loves tea a lot"), 0.9)) == ["loves tea"]


def test_what_is_said_twice_of_somebody_is_one_fact() -> None:
    once, again = passage(0, 10, "loves tea"), passage(50, 70, "loved his tea")
    assert kept((once, 0.8), (again, 0.9)) == ["loved his tea"]
    assert kept((once, 0.8), (replace(again, facts=passage(0, 1, "runs a bar").facts), 0.9)) == [
        "loves tea",
        "runs a bar",
    ]


def test_the_same_of_two_people_is_two_facts() -> None:
    mine, hers = (
        passage(0, 10, "loves tea"),
        passage(50, 70, "loves tea", subject="Ann (Kim's sister)", key="a"),
    )
    assert kept((mine, 0.9), (hers, 0.9)) == ["loves tea", "loves tea"]
    by_name = passage(80, 90, "loves tea", subject="Ann", key="b")
    assert len(kept((mine, 0.9), (hers, 0.9), (by_name, 0.9))) == 2


def test_facts_stand_in_the_order_of_the_text() -> None:
    first, second = passage(0, 10, "loves tea"), passage(20, 30, "lives in Oslo")
    assert kept((first, 0.6), (second, 0.9)) == ["loves tea", "lives in Oslo"]


WHOLE = passage(0, 40, "lives in Oslo and works at Boots")
PARTS = passage(0, 15, "lives in Oslo"), passage(20, 40, "works at Boots")


def test_a_stretch_that_tells_two_things_gives_way_to_the_two_within_it() -> None:
    assert kept((WHOLE, 0.99), (PARTS[0], 0.8), (PARTS[1], 0.8)) == ["lives in Oslo", "works at Boots"]


@pytest.mark.parametrize(
    "others",
    [
        [(PARTS[0], 0.8)],
        [(PARTS[0], 0.8), (PARTS[1], LEAST - 0.1)],
        [(PARTS[0], 0.8), (passage(0, 12, "lives"), 0.8)],
        [(PARTS[0], 0.8), (passage(20, 39, "has nothing to do with it"), 0.8)],
        [(PARTS[0], 0.8), (replace(PARTS[1], form=Form.ORIGIN), 0.8)],
    ],
    ids=["one", "one likely", "one twice", "one of it", "one and a place"],
)
def test_it_stands_where_only_one_of_them_is_within_it(others: list[tuple[Passage, float]]) -> None:
    assert WHOLE.facts[0].predicate in kept((WHOLE, 0.99), *others)


@pytest.mark.parametrize(
    ("form", "told"),
    [
        (Form.ORIGIN, "is from Leeds"),
        (Form.AGED, "is 74"),
    ],
)
def test_what_is_told_on_the_way_stands_beside_a_statement(form: Form, told: str) -> None:
    statement = passage(0, 50, "74, teaches maths and physics at a college in Leeds")
    aside = passage(30, 50, told, form)
    assert kept((statement, 0.9), (aside, 0.8)) == [statement.facts[0].predicate, told]
    assert kept((statement, 0.9), (replace(aside, form=Form.BARE), 0.8)) == [statement.facts[0].predicate]


def test_a_place_that_says_what_a_statement_says_is_no_second_fact() -> None:
    statement, place = passage(0, 15, "lives in Leeds"), passage(7, 15, "lives in Leeds", Form.ORIGIN)
    assert kept((statement, 0.9), (place, 0.8)) == ["lives in Leeds"]


def test_who_somebody_is_stands_beside_a_statement() -> None:
    """And what tells of nothing but that does not."""
    ann, statement = relation(0, 13, "Ann"), passage(0, 30, "sings jazz", Form.OWN, "Ann (Kim's sister)")
    assert kept((ann, 0.6), (statement, 0.9)) == ["has a sister called Ann", "sings jazz"]
    same = passage(0, 13, "has a sister Ann")
    assert kept((ann, 0.9), (same, 0.8)) == ["has a sister called Ann"]


def test_who_somebody_is_is_as_likely_as_all_kinds_together() -> None:
    shared = Score(kinds=(0.2, 0.2, 0.2, 0.0), categories=unread(WHOLE).categories)
    assert [one.category for one in chosen([relation(0, 9, "Ann")], [shared], LEAST)] == [
        Category.RELATIONSHIP
    ]
    assert chosen([passage(0, 9, "sings jazz")], [shared], LEAST) == []


@pytest.mark.parametrize("kind", range(4))
def test_a_passage_is_of_its_likeliest_kind(kind: int) -> None:
    [fact] = chosen([passage(0, 9, "sings jazz")], [score(0.9, kind, Category.FACT)], LEAST)
    assert fact == passage(0, 9, "sings jazz").facts[kind]


@pytest.mark.parametrize(
    ("categories", "category"),
    [
        ((Category.IDENTITY,), Category.IDENTITY),
        ((Category.PREFERENCE, Category.IDENTITY), Category.PREFERENCE),
        ((Category.EVENT, Category.LOCATION), Category.LOCATION),
        ((Category.TASK, Category.RELATIONSHIP, Category.INSTRUCTION, Category.DECISION), Category.DECISION),
    ],
)
def test_a_lasting_fact_is_of_its_likeliest_lasting_category(
    categories: tuple[Category, ...], category: Category
) -> None:
    """Its key says so too."""
    [fact] = chosen([passage(0, 9, "sings jazz")], [score(0.9, LASTING, *categories)], LEAST)
    assert (fact.category, fact.key) == (category, f"user.{category.value}.sings-jazz")


def test_what_the_grammar_found_keeps_its_category() -> None:
    found = passage(0, 9, "sings jazz", Form.GRAMMAR)
    assert chosen([found], [score(0.9, LASTING, Category.IDENTITY)], LEAST) == [found.facts[LASTING]]


def test_of_too_many_the_likeliest_are_kept() -> None:
    words = [f"w{number}x{number}" for number in range(MOST_FACTS + 5)]
    scored = [(passage(20 * n, 20 * n + 9, word), 0.6 + 0.01 * n) for n, word in enumerate(words)]
    assert kept(*scored) == words[5:]


def test_each_key_is_told_once() -> None:
    first, second = passage(0, 9, "sings jazz", key="same"), passage(20, 29, "runs a bar", key="same")
    assert len(kept((first, 0.9), (second, 0.9))) == 1
    assert len(kept((first, 0.9), (replace(second, facts=passage(0, 1, "runs a bar").facts), 0.9))) == 2


@pytest.mark.parametrize(
    "damage", [{"key": "user.Ünfit"}, {"key": "k" * 201}, {"predicate": ""}, {"predicate": "x" * 8192}]
)
def test_what_cannot_be_a_memory_is_no_fact(damage: dict[str, str]) -> None:
    """S-1."""
    sound = passage(0, 9, "sings jazz", Form.GRAMMAR)
    unfit = replace(sound, facts=tuple(replace(fact, **damage) for fact in sound.facts))  # type: ignore[arg-type]
    assert chosen([sound], [score(0.9)], LEAST) != []
    assert chosen([unfit], [score(0.9)], LEAST) == []


def test_a_score_is_needed_for_each_passage() -> None:
    with pytest.raises(ValueError, match="zip"):
        chosen([passage(0, 9, "sings jazz")], [], LEAST)
