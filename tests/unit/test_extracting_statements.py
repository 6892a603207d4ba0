"""What the engine reads from plain English statements (SPEC J-8)."""

from __future__ import annotations

import pytest

from services.compactor.domain.extraction.facts import Category
from tests.unit.extracting_parts import facts, values

STATED = [
    # names
    ("My name is Oleg Rask.", ["Kim is called Oleg Rask"]),
    ("Hi, I'm Sanna, a developer.", ["Kim is called Sanna", "Kim is a developer"]),
    ("My therapist's name is Dr Okafor.", ["Kim has a therapist called Dr Okafor"]),
    ("Jo is my cousin.", ["Kim has a cousin called Jo"]),
    # where
    ("I'm a paramedic and I live in Dunedin.", ["Kim is a paramedic", "Kim lives in Dunedin"]),
    ("I've been living in Porto since 2019.", ["Kim has been living in Porto since 2019"]),
    ("I moved from Oslo to Turku in 2020.", ["Kim lives in Turku"]),
    ("No, I live in Bergen, not Oslo.", ["Kim lives in Bergen, not Oslo"]),
    ("I was born in Tartu and grew up in Riga.", ["Kim was born in Tartu", "Kim grew up in Riga"]),
    ("I'm from Ghana.", ["Kim comes from Ghana"]),
    ("I don't live in Oslo anymore.", ["Kim no longer lives in Oslo"]),
    # work and studies
    ("I work for the city council as an archivist.", ["Kim works for the city council as an archivist"]),
    ("I run a small bakery.", ["Kim runs a small bakery"]),
    ("I study law at Leiden.", ["Kim studies law at Leiden"]),
    ("I have been a teacher for 20 years.", ["Kim has been a teacher for 20 years"]),
    ("I speak Catalan and a little Greek.", ["Kim speaks Catalan and a little Greek"]),
    # relatives
    (
        "My sister-in-law Rosa is a notary and lives in Cordoba.",
        [
            "Rosa (Kim's sister-in-law) is a notary",
            "Kim has a sister-in-law called Rosa",
            "Rosa (Kim's sister-in-law) lives in Cordoba",
        ],
    ),
    ("My sister lives in Lyon.", ["Kim's sister lives in Lyon"]),
    ("My parents live in Malmö.", ["Kim's parents live in Malmö"]),
    (
        "My wife works at a bank and she loves hiking.",
        ["Kim's wife works at a bank", "Kim's wife loves hiking"],
    ),
    ("Tom told me his sister lives in Kyiv.", ["Tom's sister lives in Kyiv"]),
    ("I have three older sisters.", ["Kim has three older sisters"]),
    ("I'm vegan, and so is my husband.", ["Kim is vegan", "Kim's husband is vegan"]),
    # preferences
    ("I hate coriander but love dill.", ["Kim hates coriander", "Kim loves dill"]),
    ("I can't stand loud restaurants.", ["Kim can't stand loud restaurants"]),
    ("I don't eat pork.", ["Kim doesn't eat pork"]),
    ("I'm a huge fan of crime podcasts.", ["Kim is a huge fan of crime podcasts"]),
    ("My favourite composer is Sibelius.", ["Kim's favourite composer is Sibelius"]),
    ("I prefer tea over coffee.", ["Kim prefers tea over coffee"]),
    # other lasting facts
    ("I'm allergic to bees, but not to wasps.", ["Kim is allergic to bees, but not to wasps"]),
    ("My son has a peanut allergy.", ["Kim's son has a peanut allergy"]),
    ("I have two dogs, Bobo and Kiki.", ["Kim has two dogs, Bobo and Kiki"]),
    ("My blood type is O negative.", ["Kim's blood type is O negative"]),
    ("I go running every morning.", ["Kim goes running every morning"]),
    ("I play bass in a punk band.", ["Kim plays bass in a punk band"]),
    # decisions
    ("We decided to sell the boat.", ["Kim decided to sell the boat"]),
    ("I will take the job in Bergen, that's decided.", ["Kim will take the job in Bergen"]),
    # instructions
    ("Please always use metric units.", ["Kim asks: always use metric units"]),
    ("Never call me sir.", ["Kim asks: Never call Kim sir"]),
    ("You can call me Sam.", ["Kim wants to be called Sam"]),
    ("Please don't use emojis in your answers.", ["Kim asks: do not use emojis in its answers"]),
]


@pytest.mark.parametrize(("text", "expected"), STATED)
def test_a_plain_statement_is_read(text: str, expected: list[str]) -> None:
    """J-8: each value names whom it is about and stands by itself."""
    assert values(text) == expected


NOT_STATED = [
    # denials
    "I'm not from Oslo.",
    "My sister isn't a doctor.",
    "I never said that I work at a bank.",
    "It's not true that I have a brother.",
    "I don't think I like opera.",
    "I haven't moved to Turin yet.",
    "I haven't decided yet.",
    # questions
    "Do you know that I live in Oslo?",
    "Is my sister a doctor?",
    "You know I'm vegetarian, right?",
    # hypotheticals and loose intentions
    "I might move to Oslo.",
    "I'd love to live in Rome.",
    "If I lived in Rome, I would be happy.",
    "I wish I lived by the sea.",
    "Maybe I'll get a cat.",
    "I almost moved to Rome.",
    "I'm thinking about moving to Ghent.",
    "Suppose I live in Rome.",
    "Let's pretend I'm a pirate.",
    # jokes
    "I'm an astronaut, just kidding!",
    "I won the lottery yesterday, haha.",
    "I'm allergic to Mondays.",
    # what others say or think
    "Everyone says I live in the past.",
    "My sister thinks I'm allergic to cats.",
    "My horoscope claims that I live in Genoa.",
    "She told me I was adopted.",
    "The main character says: I live in Rome.",
    # fiction and work on texts
    "Write a story in which I live in Rome.",
    "Translate this: I live in Berlin.",
    "In my dream I lived in a castle.",
    "Here's my draft: Dear Sir, I am a nurse from Cork.",
    # passing states, small talk, single requests
    "I'm tired.",
    "I'm a bit lost here.",
    "I like that idea.",
    "I love you.",
    "I love the new design you made.",
    "I have a question about taxes.",
    "I have to go now.",
    "Please make that shorter.",
    "Always a pleasure!",
    "Never mind.",
    "My car is broken.",
    "I'm in Rome this week.",
    # work with the assistant
    "I need to write a function that sorts a list.",
    "I have to parse a CSV file in Python.",
    "I opened the file yesterday.",
    "I have a variable named Foo.",
    "I run this script every day and it fails.",
    # secrets are nobody's memory
    "My password is hunter2.",
    "My PIN is 4711.",
    # pronouns of nobody who was named
    "He lives in Rome.",
]


@pytest.mark.parametrize("text", NOT_STATED)
def test_what_is_not_stated_is_not_read(text: str) -> None:
    """J-8; that the same words are read when they are stated, STATED shows."""
    assert values(text) == []


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("I live in Oslo.", Category.LOCATION),
        ("I am a nurse.", Category.IDENTITY),
        ("I love jazz.", Category.PREFERENCE),
        ("My brother is called Ugo.", Category.RELATIONSHIP),
        ("I bought a boat yesterday.", Category.EVENT),
        ("We chose the blue tiles.", Category.DECISION),
        ("Always answer in Danish.", Category.INSTRUCTION),
        ("I need to buy stamps.", Category.TASK),
        ("My shoe size is 39.", Category.FACT),
    ],
)
def test_each_kind_of_fact_has_its_category(text: str, category: Category) -> None:
    (fact,) = facts(text)
    assert fact.category is category


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I live in Oslo.", "I've moved to Turku."),
        ("I'm a nurse.", "I work as a pilot."),
        ("I like coriander.", "I hate coriander."),
        ("My favourite colour is red.", "My favourite colour is blue."),
        ("My sister lives in Lyon.", "My sister lives in Nice."),
        ("I'm vegan.", "I'm a vegetarian."),
        ("Always answer in Danish.", "From now on, answer in Greek."),
        ("I live in Oslo.", "I don't live in Oslo anymore."),
    ],
)
def test_a_newer_value_of_a_slot_has_the_same_key(before: str, after: str) -> None:
    """S-6: so that it supersedes."""
    assert [fact.key for fact in facts(before)] == [fact.key for fact in facts(after)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I like jazz.", "I like opera."),
        ("I live in Oslo.", "My sister lives in Oslo."),
        ("My sister Ann lives in Oslo.", "My sister Bea lives in Rome."),
        ("I need to buy stamps.", "I need to buy bread."),
        ("I speak Dutch.", "I speak Greek."),
    ],
)
def test_other_things_and_people_have_other_keys(one: str, other: str) -> None:
    assert not {fact.key for fact in facts(one)} & {fact.key for fact in facts(other)}


def test_keys_tell_apart_the_people_of_a_chat() -> None:
    """Whose memories they are is "user"; others go by their name, an unknown author is the user."""
    assert [fact.key for fact in facts("I live in Oslo.")] == ["user.home"]
    assert [fact.key for fact in facts("I live in Oslo.", "Zoë", owner=False)] == ["person.zoe.home"]
    assert [fact.key for fact in facts("I live in Oslo.", "", owner=False)] == ["user.home"]
    assert values("I live in Oslo.", "") == ["The user lives in Oslo"]


def test_the_last_word_on_a_key_counts() -> None:
    assert values("I live in Oslo. Sorry, I live in Bergen.") == ["Kim lives in Bergen"]


def test_a_name_that_comes_later_names_what_came_before() -> None:
    found = values("Our daughter was born on 28 February, she's called Mila.")
    assert found == ["Mila (Kim's daughter) was born on 2024-02-28", "Kim has a daughter called Mila"]
