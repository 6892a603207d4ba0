"""Where a statement ends, whom it is about, and when it is not meant (SPEC J-8)."""

from __future__ import annotations

import pytest

from tests.unit.extracting_parts import values

KEPT = [
    # what narrows a statement belongs to it
    ("I live in Newport, the Welsh one.", ["Kim lives in Newport, the Welsh one"]),
    ("I love opera but only on the radio.", ["Kim loves opera but only on the radio"]),
    ("My sister usually drinks decaf.", ["Kim's sister usually drinks decaf"]),
    ("I enjoy fishing when the sun shines.", ["Kim enjoys fishing when the sun shines"]),
    ("I hate pubs which show football.", ["Kim hates pubs which show football"]),
    ("I eat everything except olives on Fridays.", ["Kim eats everything except olives on Fridays"]),
    ("We don't do presents at Christmas.", ["Kim doesn't do presents at Christmas"]),
    ("I'm mostly vegetarian.", ["Kim is mostly vegetarian"]),
    ("My aunt plays the organ. Every. Single. Night.", ["Kim's aunt plays the organ, every single night"]),
    ("I'm allergic to bees (wild ones).", ["Kim is allergic to bees (wild ones)"]),
    # what does not, goes
    ("I keep bees (long story).", ["Kim keeps bees"]),
    ("I hate flying, always have.", ["Kim hates flying"]),
    ("I like cider, beer not so much.", ["Kim likes cider"]),
    ("my uncle has six hens 🐔", ["Kim's uncle has six hens"]),
    ("I collect maps, the cupboard's full.", ["Kim collects maps"]),
    # a date stays where it was said
    (
        "I need to ring Jo on Monday before she leaves.",
        ["Kim needs to ring Jo on Monday 2024-05-20 before she leaves"],
    ),
]


@pytest.mark.parametrize(("text", "expected"), KEPT)
def test_a_statement_keeps_what_narrows_it_and_nothing_else(text: str, expected: list[str]) -> None:
    """J-8: half a statement says another thing than its author."""
    assert values(text) == expected


APART = [
    (
        "My niece Ida teaches maths in Ghent and thinks this year's class is the best.",
        ["Kim has a niece called Ida", "Ida (Kim's niece) teaches maths", "Ida (Kim's niece) works in Ghent"],
    ),
    (
        "my nephew's learning the oboe, 12 years old, obsessed with owls",
        [
            "Kim's nephew is learning the oboe",
            "Kim's nephew is 12 years old",
            "Kim's nephew is obsessed with owls",
        ],
    ),
    (
        "My uncle is a welder in Hull and has four goats.",
        ["Kim's uncle is a welder", "Kim's uncle works in Hull", "Kim's uncle has four goats"],
    ),
    ("I grew up in Graz, now in Linz.", ["Kim grew up in Graz", "Kim is based in Linz"]),
    # a sentence goes on about somebody
    (
        "My brother's a nurse. Works nights. Lives in Hull.",
        ["Kim's brother is a nurse", "Kim's brother works nights", "Kim's brother lives in Hull"],
    ),
    # relatives of relatives
    ("my wife's brother drives a tram", ["Kim's wife's brother drives a tram"]),
    ("I told Ewa. Ewa's brother drives a tram", ["Ewa's brother drives a tram"]),
    # a name told later
    (
        "my new boss is here. his name is Piet, he's from Ghent",
        ["Kim has a new boss called Piet", "Piet (Kim's new boss) comes from Ghent"],
    ),
    ("I've got a tutor, she's called Wanda", ["Kim has a tutor called Wanda"]),
]


@pytest.mark.parametrize(("text", "expected"), APART)
def test_what_is_said_of_one_person_is_told_apart(text: str, expected: list[str]) -> None:
    """J-8: each statement by itself, of whom it is said."""
    assert sorted(values(text)) == sorted(expected)


MEANT = [
    ("My sister and my uncle are here. He has gout.", ["Kim's uncle has gout"]),
    ("I saw my aunt. She has gout.", ["Kim's aunt has gout"]),
    ("My brother rang. I need to water his plants.", ["Kim needs to water Kim's brother's plants"]),
    (
        "I promised Ade I'd return his drill by Friday",
        ["Kim needs to return Ade's drill by Friday 2024-05-17"],
    ),
]


@pytest.mark.parametrize(("text", "expected"), MEANT)
def test_a_pronoun_means_the_only_one_who_fits(text: str, expected: list[str]) -> None:
    """J-8."""
    assert values(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "My sister and my aunt are here. She has gout.",
        "My friend Ada came with her cousin Bea. She has gout.",
        "I need to water his plants.",
    ],
)
def test_a_pronoun_of_nobody_or_of_several_means_nobody(text: str) -> None:
    """J-8; MEANT shows the same words when one fits."""
    assert not [value for value in values(text) if "gout" in value or "plants" in value]


NOT_MEANT = [
    # jokes and sarcasm
    "kidding, I don't own a castle",
    "Oh sure, I'm a millionaire.",
    "yeah right, I love Mondays at six",
    "I'm an opera singer lol",
    "I love traffic jams. Highlight of my week.",
    # said against a wrong belief
    "No, I never owned a parrot.",
    "I don't speak Welsh, whatever my aunt told you.",
    "I don't own a boat, you've got me mixed up with somebody.",
    # idioms, and what holds for the hour
    "I drive my wife mad.",
    "I live on coffee.",
    "I wear many hats.",
    "I've got a mouthful of toast.",
    "I've got ten minutes.",
    "we go way back",
    # no person
    "Everyone in my family loves skiing.",
    # told elsewhere
    "I just eat there.",
]


@pytest.mark.parametrize("text", NOT_MEANT)
def test_what_is_not_meant_to_the_letter_is_not_read(text: str) -> None:
    """J-8."""
    assert values(text) == []


OTHERWISE = [
    ("give me rye over wheat any day", ["Kim prefers rye over wheat"]),
    ("rye over wheat for me, every time", ["Kim prefers rye over wheat"]),
    ("What I hate is small talk.", ["Kim hates small talk"]),
    ("there's nothing I like more than a cold swim", ["Kim likes a cold swim most"]),
    ("left-handed, fyi", ["Kim is left-handed"]),
    ("I passed my driving test on Monday", ["Kim passed Kim's driving test on Monday 2024-05-13"]),
    (
        "My dentist (Dr. Falk) lives in Hull.",
        ["Kim has a dentist called Dr. Falk", "Dr. Falk (Kim's dentist) lives in Hull"],
    ),
]


@pytest.mark.parametrize(("text", "expected"), OTHERWISE)
def test_other_ways_to_say_it_are_read(text: str, expected: list[str]) -> None:
    """J-8."""
    assert values(text) == expected


def test_a_laugh_makes_a_joke_of_its_own_sentence_only() -> None:
    """J-8: what else the message says is meant."""
    assert values("My aunt Ida keeps bees. Can one eat wax lol") == [
        "Kim has an aunt called Ida",
        "Ida (Kim's aunt) keeps bees",
    ]
