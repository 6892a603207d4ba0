"""Who somebody is, what they have and do, and what is told of people and things by the way (SPEC J-8)."""

from __future__ import annotations

import pytest

from services.compactor.domain.extraction.facts import Category
from tests.unit.extracting_parts import facts, values

TOLD = [
    # a noun that means somebody, whichever it is
    ("My line manager Petra lives in Graz.", ["Kim has a line manager called Petra", "lives in Graz"]),
    ("My old fencing teacher was called Mr Sorel.", ["Kim had an old fencing teacher called Mr Sorel"]),
    (
        "Our new apprentice, Tilo, is from Bergamo.",
        ["Kim has a new apprentice called Tilo", "comes from Bergamo"],
    ),
    ("Ines, my lodger, is a welder.", ["Kim has a lodger called Ines", "is a welder"]),
    ("My boss is a guy called Ruben.", ["Kim has a boss called Ruben"]),
    ("I share a garden with a neighbour called Odo.", ["Kim has a neighbour called Odo"]),
    ("We're calling the puppy Moss.", ["Kim has a puppy called Moss"]),
    ("My wife's cousin Bea came by.", ["Kim's wife has a cousin called Bea"]),
    ("Our twins, Ada and Ben, adore snow.", ["Kim has twins called Ada and Ben"]),
    # in a question too
    ("What do I cook for my boyfriend Luca?", ["Kim has a boyfriend called Luca"]),
    ("Is aspirin all right for my wife's brother Jan?", ["Kim's wife has a brother called Jan"]),
    # before a question, whoever it is about
    ("My aunt's son swims for the county, what should he eat?", ["Kim's aunt's son swims for the county"]),
    ("Our depot is in Zwolle, which tram do I take?", ["Kim's depot is in Zwolle"]),
    # before a doubt of another clause
    ("My aunt is a vet, and she asks whether geese bite.", ["Kim's aunt is a vet"]),
    # a verb that no rule names
    ("My flatmate Nils snores like a walrus.", ["snores like a walrus"]),
    ("I look after my father on weekdays.", ["Kim looks after Kim's father on weekdays"]),
    ("My uncle does the books for a theatre.", ["Kim's uncle does the books for a theatre"]),
    ("My sister refuses to own a television.", ["Kim's sister refuses to own a television"]),
    # states
    ("I'm deaf in my left ear.", ["Kim is deaf in Kim's left ear"]),
    ("My niece has sickle cell.", ["Kim's niece has sickle cell"]),
    ("My mother can't swim.", ["Kim's mother can't swim"]),
    ("I haven't got a driving licence.", ["Kim hasn't got a driving licence"]),
    ("I'm the one who does the cooking.", ["Kim is the one who does the cooking"]),
    ("I'm on the parish council.", ["Kim is on the parish council"]),
    ("I'm forty-two.", ["Kim is forty-two"]),
    ("My nephew has just turned nine.", ["Kim's nephew is nine"]),
    ("My parents are dairy farmers.", ["Kim's parents are dairy farmers"]),
    ("As a girl I lived on a houseboat in Ghent.", ["Kim lived on a houseboat in Ghent as a girl"]),
    # things of the author's
    ("Our shop opens at 7 on market days.", ["Kim's shop opens at 7 on market days"]),
    ("My clients are lawyers.", ["Kim's clients are lawyers"]),
    ("Our depot is in Zwolle.", ["Kim's depot is in Zwolle"]),
    ("My quiz team is called Norfolk and Chance.", ["Kim's quiz team is called Norfolk and Chance"]),
    ("My car, a 2011 Volvo, failed its test.", ["Kim's car is a 2011 Volvo"]),
    ("We can't take the stairs because of my aunt's arthritis.", ["Kim's aunt has arthritis"]),
    # what one is called
    ("Everybody calls me Mo.", ["Kim goes by Mo with everybody"]),
    ("Hi, I'm Kimmy, short for Kimberly, mum of two.", ["Kim is called Kimmy, short for Kimberly"]),
]


@pytest.mark.parametrize(("text", "expected"), TOLD)
def test_what_is_told_of_somebody_is_read(text: str, expected: list[str]) -> None:
    """J-8: nouns, verbs and names are open; each statement stands by itself."""
    found = values(text)
    assert [one for one in expected if not any(value.endswith(one) for value in found)] == []


NOT_TOLD = [
    # moods, places for a while, the matter at hand
    "I'm over the moon.",
    "My sister is on the phone.",
    "I'm a mess today.",
    "My brother is here.",
    "We cache the answer for an hour.",
    "I owe you a beer.",
    "My neighbour thinks I should sell.",
    "My cousin wants a second opinion.",
    "I keep getting the same error.",
    "My uncle needs a stage name.",
    # a condition, a question
    "I live in Oslo, if I get the job.",
    "If my aunt is a vet, she knows geese.",
    "Is our depot in Zwolle, or what do I write?",
    # somebody who is not one's own
    "It was about a chef called Odile.",
    "There's a man called Ruben at the door.",
    # a number of people is no age
    "We're six for dinner.",
    # not a place to grow up in, not an origin
    "I grew up on cartoons.",
    "I'm from the Marketing team.",
    # things that pass, and things of a moment
    "My train is at 9.",
    "My back is killing me.",
    "My laptop is broken.",
    "Our server uses port 8080.",
    # nobody's name
    "My computer Windows update failed.",
    "I'm a happy woman.",
]


@pytest.mark.parametrize("text", NOT_TOLD)
def test_what_passes_or_is_nobodys_is_left(text: str) -> None:
    """J-8; the frames that are refused here are read with other words in TOLD."""
    assert values(text) == []


def test_he_or_she_is_the_only_name_of_a_message() -> None:
    """J-8: but not who is named only by "called", nor one of two."""
    assert values("Had lunch with Yun yesterday, my treat. She's a court translator.")[-1:] == [
        "Yun is a court translator"
    ]
    assert "Yun" not in str(values("Had lunch with Yun and Bea, my treat. She's a court translator."))
    assert values("In my book she's called Yun and she's a court translator.") == []


def test_a_relative_named_in_a_question_is_a_relation_of_the_author() -> None:
    (fact,) = facts("Any ideas for my godson Emil?")
    assert (fact.key, fact.category) == ("user.godson.emil.name", Category.RELATIONSHIP)


@pytest.mark.parametrize(
    "text",
    [
        "Pretend that my sister Ann is a queen. What does she wear?",
        'She asked: "what about my sister Ann?"',
        "Write a story in which my sister Ann meets a dragon?",
    ],
)
def test_a_question_of_a_game_or_of_somebody_else_names_nobody(text: str) -> None:
    assert values(text) == []
    assert values("What about my sister Ann?") == ["Kim has a sister called Ann"]


def test_what_is_told_of_a_thing_and_of_its_place_is_a_fact_and_a_location() -> None:
    (opening,) = facts("Our shop opens at 7.")
    (place,) = facts("Our depot is in Zwolle.")
    assert (opening.category, place.category) == (Category.FACT, Category.LOCATION)
