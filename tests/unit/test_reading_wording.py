"""What a stretch would state is worded as somebody would tell it (J-8)."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from services.compactor.domain.extraction.facts import Turn
from services.compactor.domain.extraction.reading.passages import heard
from services.compactor.domain.extraction.reading.spans import Form


def stated(text: str, *forms: Form) -> set[str]:
    turn = Turn(author="Kim", text=text, said=datetime(2024, 5, 8, tzinfo=UTC))
    return {one.facts[0].value for one in heard(turn).passages if not forms or one.form in forms}


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("My car is red", "Kim's car is red"),
        ("Allergic to nuts!", "Kim is allergic to nuts"),
        ("My sister (Ann) sings.", "Ann (Kim's sister) sings"),
        ("My sister (Ann) sings.", "Kim has a sister called Ann"),
        ("My brother's name is Fionn. He sings.", "Fionn (Kim's brother) sings"),
        ("my sis kinga is getting married", "kinga (Kim's sister) is getting married"),
        ("my mums obsessed with tea", "Kim's mother is obsessed with tea"),
        ("Since 2019 I live in Oslo.", "Kim lives in Oslo since 2019"),
        ("I swim, and Ann (74) swims, too", "Ann is 74"),
        ("I live  in\tOslo", "Kim lives in Oslo"),
        ("I love \u202etea", "Kim loves tea"),
    ],
)
def test_a_stretch_is_worded_in_the_third_person(text: str, statement: str) -> None:
    assert statement in stated(text)


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("my brother's friend Tom sings", "Kim has a brother called Tom"),
        ("My mum Eve and my dad Bob met", "Eve (Kim's mother) and Kim's dad Bob met"),
        ("I swim, and Ann (74) swims, too", "Kim is 74"),
    ],
)
def test_nobody_is_told_what_is_another_ones(text: str, statement: str) -> None:
    assert statement not in stated(text)


@pytest.mark.parametrize(
    ("text", "scored"),
    [
        ("I live in Oslo.", True),
        ("vegan, 34", True),
        ("我住在柏林。", False),
        ("Ich wohne in Köln und arbeite dort.", False),
        ("Vivo en Lima con mi madre.", False),
        ("J'habite à Lyon avec ma sœur.", False),
    ],
)
def test_only_what_is_in_english_is_scored(text: str, scored: bool) -> None:
    found = heard(Turn(author="Kim", text=text, said=datetime(2024, 5, 8, tzinfo=UTC)))
    assert bool(found.passages) is scored
    assert bool(found.plain) is not scored


def test_a_day_with_a_name_of_its_own_is_not_the_next_weekday() -> None:
    turn = Turn(author="Kim", text="gave up coffee on Ash Wednesday", said=datetime(2024, 5, 8, tzinfo=UTC))
    days = {fact.day for one in heard(turn).passages for fact in one.facts}
    assert days == {None}
    plain = Turn(author="Kim", text="gave up coffee on Wednesday", said=datetime(2024, 5, 8, tzinfo=UTC))
    assert date(2024, 5, 1) in {fact.day for one in heard(plain).passages for fact in one.facts}


def test_what_the_grammar_also_found_has_its_slot() -> None:
    turn = Turn(author="Kim", text="I live in Oslo.", said=datetime(2024, 5, 8, tzinfo=UTC))
    assert {one.facts[0].key for one in heard(turn).passages if one.form is Form.SPEAKER} == {"user.home"}


def test_who_somebody_is_keeps_the_key_of_a_relation() -> None:
    text = "I live in Graz with my husband Tom."
    turn = Turn(author="Kim", text=text, said=datetime(2024, 5, 8, tzinfo=UTC))
    keys = {one.facts[0].key for one in heard(turn).passages if one.form is Form.RELATION}
    assert keys == {"user.husband.name"}


def test_what_who_adds_is_of_whom_was_named_last() -> None:
    text = "I live in Graz with my husband Tom, who teaches chemistry."
    found = stated(text, Form.GRAMMAR)
    assert "Tom (Kim's husband) teaches chemistry" in found
    assert "Kim teaches chemistry" not in found


@pytest.mark.parametrize(
    "text",
    [
        'My brother loves "Dune", is a nurse and has two kids.',
        "My brother works for Acme Inc. and is allergic to nuts.",
        "My brother\nis allergic to nuts",
        'Bob wrote: "I am a nurse. I am allergic to nuts.',
        "said: \u201cI live in Paris.\n\nI am a nurse.",
        "Here it is: ```I am a nurse. I am allergic to nuts",
        "Ann: I am a nurse and allergic to nuts",
        "My landlord texted: I am a nurse.",
    ],
)
def test_what_is_somebody_elses_is_not_stated_of_the_author(text: str) -> None:
    forms = [form for form in Form if form is not Form.GRAMMAR]
    assert not any("Kim is a nurse" in one or "Kim is allergic" in one for one in stated(text, *forms))


@pytest.mark.parametrize(
    "text",
    [
        "My sister visited Oslo and lives in Leeds.",
        "My brother and his wife Ann live in Leeds.",
        "My sister moved to Leeds. The new cafe round the corner is great, its name is Luna.",
    ],
)
def test_nobody_is_given_a_relative_that_was_not_named(text: str) -> None:
    assert stated(text, Form.RELATION) == set()


def test_two_long_statements_have_keys_of_their_own() -> None:
    text = "I see my GP every Monday before work at the clinic in {}."
    keys = [
        {
            one.facts[0].key
            for one in heard(
                Turn(author="Kim", text=text.format(place), said=datetime(2024, 5, 8, tzinfo=UTC))
            ).passages
        }
        for place in ("Leeds", "York")
    ]
    assert all(any("york" in key or "leeds" in key or "-" in key for key in some) for some in keys)
    assert keys[0] != keys[1]
