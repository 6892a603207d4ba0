"""English as people type it in a chat: what is read, and what is not (SPEC J-8)."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.compactor.domain.extraction.facts import Category, Turn
from services.compactor.domain.extraction.grammar import extract
from services.kit.fences import fenced
from tests.unit.extracting_parts import facts, values

EXAMPLE = Path(__file__).parents[2] / "examples" / "conversation.jsonl"

TYPED = [
    # without apostrophes, capitals and full words
    ("im a locksmith n i live in Hull", ["Kim is a locksmith", "Kim lives in Hull"]),
    ("ive got asthma", ["Kim has asthma"]),
    ("my bro is a welder", ["Kim's brother is a welder"]),
    ("gotta call the bank tmrw", ["Kim needs to call the bank on 2024-05-16"]),
    ("thanks! btw i hate coriander", ["Kim hates coriander"]),
    ("we're fine. im vegan tho", ["Kim is vegan"]),
    # without a subject
    ("moved to Ghent in march", ["Kim lives in Ghent"]),
    ("grew up on a barge", ["Kim grew up on a barge"]),
    ("sold the van today", ["Kim sold the van on 2024-05-15"]),
    ("prefer trains over planes", ["Kim prefers trains over planes"]),
    # a statement before a question
    ("I have type 1 diabetes, can I eat dates?", ["Kim has type 1 diabetes"]),
    # habits
    ("I cycle to work", ["Kim cycles to work"]),
    ("my wife works nights at the depot", ["Kim's wife works nights at the depot"]),
    ("my dad plays chess every sunday", ["Kim's dad plays chess every sunday"]),
    ("I don't drive", ["Kim doesn't drive"]),
    ("i haven't smoked since 2010", ["Kim has not smoked since 2010"]),
    # people by name, and by other words
    ("Otis has arthritis", ["Otis has arthritis"]),
    ("Raj works at a bank, i met him there", ["Raj works at a bank"]),
    ("mushrooms make me sick", ["Kim: mushrooms make Kim sick"]),
    ("my hubby is retired", ["Kim's husband is retired"]),
    ("Kim here, retired welder, 71", ["Kim is called Kim", "Kim is a retired welder", "Kim is 71"]),
    ("i share it with my cousin Bea", ["Kim has a cousin called Bea"]),
    # days
    ("the boiler broke yesterday", ["Kim: the boiler broke on 2024-05-14"]),
    ("booked the dentist for friday", ["Kim booked the dentist for Friday 2024-05-17"]),
    ("my lease ends on the 31st", ["Kim: the lease ends on the 31st (2024-05-31)"]),
    ("I quit smoking on new year's day", ["Kim quit smoking on 2024-01-01"]),
    ("the review's been moved, it's on the 21st now", ["Kim has the review on the 21st (2024-05-21)"]),
    (
        "I haven't done my tax return and it's due on 30 May",
        ["Kim needs to do Kim's tax return by 2024-05-30"],
    ),
    # choices and wishes
    ("ok decided then: slate for the roof, because it lasts", ["Kim decided on slate for the roof"]),
    ("blue it is then", ["Kim decided on blue"]),
    ("no emojis please", ["Kim asks: don't use emojis"]),
    ("could you call me Jo?", ["Kim wants to be called Jo"]),
    ("never book me anything before ten", ["Kim asks: never book Kim anything before ten"]),
    ("Put the price first. That's a general rule.", ["Kim asks: Put the price first"]),
    ("new address: 4 Elm Road, Hull", ["Kim's new address is 4 Elm Road, Hull"]),
]


@pytest.mark.parametrize(("text", "expected"), TYPED)
def test_a_typed_statement_is_read(text: str, expected: list[str]) -> None:
    """J-8."""
    assert values(text) == expected


NOT_TYPED = [
    "im so tired",
    "im at the airport",
    "can u make it shorter",
    "i get an error every time i run it",
    "we cache the response for an hour",
    "had pizza tonight",
    "slept badly last night",
    "i need to book it by friday",
    "always the same story",
    "coffee first, always",
    "it is what it is",
    "Einstein was born in Ulm",
    "Paris is in France",
    "Tom has no idea",
    "my screen is black",
    "i could eat a horse",
    "Sarah works at a bank and earns 2000 a month. What is her tax?",
    "mushrooms make me sick of you",
    "two truths and a lie: I live in Oslo, I own a bar, I hate olives",
    "see you on friday",
    "i like option 2",
]


@pytest.mark.parametrize("text", NOT_TYPED)
def test_small_talk_is_not_read(text: str) -> None:
    """J-8; TYPED shows that the same constructions are read when they state something."""
    assert values(text) == []


STATEMENTS = [
    "I live in Oslo",
    "im a locksmith",
    "my bro is a welder",
    "I cycle to work",
    "Otis has arthritis",
    "we adopted a dog yesterday",
    "I'm allergic to bees",
    "I prefer tea over coffee",
    "my exam is on friday",
    "my shoe size is 43",
]
FRAMES = [
    "{}?",
    'The card says "{}."',
    "> {}.",
    "```\n{}\n```",
    fenced("memories", "{}."),
    "If {}, all is well.",
    "Maybe {}.",
    "Suppose {}.",
    "It's not true that {}.",
    "I never said that {}.",
    "My horoscope claims that {}.",
    "Translate: {}.",
    "Write a story in which {}.",
    "{} – just kidding!",
    "In my dream {}.",
    "| {} |",
]


@settings(max_examples=160, deadline=None)
@given(statement=st.sampled_from(STATEMENTS), frame=st.sampled_from(FRAMES))
def test_what_is_asked_supposed_denied_or_passed_on_is_not_read(statement: str, frame: str) -> None:
    """J-8, G-3: the same words are read where they stand by themselves."""
    assert values(f"{statement}.") != []
    assert values(frame.replace("{}", statement)) == []


def test_the_example_conversation_tells_what_a_person_would_note() -> None:
    """J-8: addresses, days, choices, tastes and the task, each from the message that states it."""
    found: dict[str, str] = {}
    for line in EXAMPLE.read_text("utf-8").splitlines():
        message = json.loads(line)
        if message["role"] == "user" and isinstance(message["content"], str):
            said = datetime.fromisoformat(message["time"].replace("Z", "+00:00"))
            turn = Turn(author=message["author"], text=message["content"], said=said)
            found |= {fact.value: message["id"] for fact in extract(turn)}
    assert found == {
        "Marta takes a flat white with oat milk": "m004",
        "Marta got the flat": "m007",
        "Marta signs on Friday 2026-03-06": "m007",
        "Marta gets the keys on the 20th (2026-03-20)": "m007",
        "Marta's new address is Linnégatan 48, lgh 1203, 413 08 Göteborg": "m007",
        "Marta decided on SQLite for Länkarkivet": "m031",
        "Marta has to see to the final report for the culture grant by 2026-04-30": "m069",
        "Marta is off milk of any kind, oat": "m086",
        "Marta only drinks black filter coffee, one cup, before noon since two weeks": "m086",
        "Marta has a friend called Chen Yue": "m059",
        "Tomás has a shoebox with receipts": "m072",
        "Tomás takes a cortado": "m089",
        "Marta loves the window on the train": "m102",
    }


def test_a_due_day_said_later_is_the_tasks() -> None:
    (task,) = facts("Task for later: the tax form. The office wants it by 20 May.")
    assert (task.category, task.day) == (Category.TASK, datetime(2024, 5, 20).date())
