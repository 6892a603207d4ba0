"""Who is who in a message that is read by score (SPEC J-8)."""

from __future__ import annotations

import pytest

from services.compactor.domain.extraction.facts import Subject
from services.compactor.domain.extraction.reading.people import people_of, plain, spoken_of_before

KIM = Subject(name="Kim", key="user")


def known(text: str) -> list[tuple[str, str]]:
    """What each is to the author, and their names."""
    return [(one.noun, one.name) for one in people_of(text, KIM).relations]


@pytest.mark.parametrize(
    ("text", "noun", "name"),
    [
        ("My sister Ann sings.", "sister", "Ann"),
        ("My sister, Ann, sings.", "sister", "Ann"),
        ("My wife: Ida", "wife", "Ida"),
        ("My sister-in-law Rosa is a notary.", "sister-in-law", "Rosa"),
        ("my best friend Ida paints", "best friend", "Ida"),
        ("my plumber called Ray came", "plumber", "Ray"),
        ("My cat is named Tom.", "cat", "Tom"),
        ("We love our vet Dr Lund.", "vet", "Dr Lund"),
        ("I stay at my friend Ana's flat.", "friend", "Ana"),
        ("Do you know my uncle Łukasz?", "uncle", "Łukasz"),
        ("our nonna Pia bakes", "grandmother", "Pia"),
        ("Ben is my brother.", "brother", "Ben"),
        ("Ben's my uncle.", "uncle", "Ben"),
        ("Ben, my uncle, sails.", "uncle", "Ben"),
        ("Ben (my boss) sails.", "boss", "Ben"),
        ("My brother is a vet, his name's Fionn.", "brother", "Fionn"),
        ("My brother is a vet. His name is Fionn.", "brother", "Fionn"),
        ("my dog is old, he's called Rex", "dog", "Rex"),
        ("my sister kinga is here", "sister", "kinga"),
        ("i miss my sister kinga.", "sister", "kinga"),
    ],
)
def test_a_name_belongs_to_a_relation(text: str, noun: str, name: str) -> None:
    assert known(text) == [(noun, name)]


@pytest.mark.parametrize(
    "text",
    [
        "I sing.",
        "my brother is loud",
        "my sister works a lot",
        "my sister always sings",
        "my sister Monday",
        "my sister of course",
        "my sister is Kim",
        "My wife and Ann sing.",
        "His name is Fionn.",
        "Oslo is my home.",
    ],
)
def test_nobody_is_named(text: str) -> None:
    assert known(text) == []


def test_whoever_is_named_twice_is_one() -> None:
    assert known("My sister Ann sings. My sister Ann dances, Ann is my sister.") == [("sister", "Ann")]


def test_a_relation_is_told_where_its_words_stand() -> None:
    text = "Well, my sister Ann sings, and Ben is my uncle."
    told = {one.name: text[one.start : one.end] for one in people_of(text, KIM).relations}
    assert told == {"Ann": "my sister Ann", "Ben": "Ben is my uncle"}


def test_a_relative_is_called_by_name_once_it_is_known() -> None:
    people = people_of("My older sister Ann sings.", KIM)
    assert people.relative("sister").name.startswith("Ann (")
    assert people.relative("older sister").name == "Ann (Kim's older sister)"
    assert people.relative("brother") == Subject(name="Kim's brother", key="user.brother")


def test_who_is_called_by_name_is_a_relative_or_known_to_the_author() -> None:
    people = people_of("My sister Ann sings.", KIM)
    assert people.named("Ann") == people.named("Ann's") == people.relative("sister")
    assert people.named("Ann") == Subject(name="Ann (Kim's sister)", key="user.sister.ann")
    assert people.named("Bob") == Subject(name="Bob", key="user.knows.bob")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("My sister sings. She", "Kim's sister"),
        ("My sister Ann sings. She", "Ann (Kim's sister)"),
        ("My sister Ann sings. My brother plays. He", "Kim's brother"),
        ("My sister Ann sings. My uncle Ben plays. Ann laughs. She", "Ann (Kim's sister)"),
        ("Ann lives in Oslo. She", "Ann"),
        ("Ann is a vet and Bob has a cat. He", "Bob"),
        ("I live in Oslo. She", None),
    ],
)
def test_a_pronoun_means_whoever_was_spoken_of_last(text: str, name: str | None) -> None:
    who = spoken_of_before(text, text.rindex(" ") + 1, people_of(text, KIM))
    assert (who.name if who else None) == name


def test_whoever_is_spoken_of_later_is_not_meant() -> None:
    text = "She sings. My sister Ann dances."
    assert spoken_of_before(text, 0, people_of(text, KIM)) is None
    assert spoken_of_before(text, len(text), people_of(text, KIM)) is not None


@pytest.mark.parametrize(
    ("noun", "usual"),
    [("sister", "sister"), ("bro", "brother"), ("nan", "grandmother"), ("mum", "mother"), ("vet", "vet")],
)
def test_a_relation_has_one_name(noun: str, usual: str) -> None:
    assert plain(noun) == usual
