"""What a named day fixes, what changes a life without one, and what is to be done (SPEC J-8)."""

from __future__ import annotations

from datetime import date

import pytest

from services.compactor.domain.extraction.facts import Category
from tests.unit.extracting_parts import facts, values

EVENTS = [
    # a thing as the subject, whatever its verb
    ("The lambing shed collapsed on Monday.", "Kim: the lambing shed collapsed on Monday 2024-05-13"),
    ("The piano is being tuned on 22 May.", "Kim: the piano is being tuned on 2024-05-22"),
    ("The library moves to the old mill on 1 July.", "Kim: the library moves to the old mill on 2024-07-01"),
    ("Flood drill is on 21 May", "Kim has Flood drill on 2024-05-21"),
    (
        "Friday is our last rehearsal in the barn.",
        "Kim has the last rehearsal in the barn on Friday 2024-05-17",
    ),
    ("Somebody dented my van last night.", "Kim: somebody dented Kim's van on 2024-05-14 at night"),
    # a present tense with a bare date is to come
    ("We weigh anchor on 20 May", "Kim weighs anchor on 2024-05-20"),
    ("I've a rowing heat on Sunday at nine.", "Kim has a rowing heat on Sunday 2024-05-19 at nine"),
    # what was done to the author
    ("They appointed me treasurer yesterday.", "Kim was appointed treasurer on 2024-05-14"),
    # without "I"
    ("dropped the kayak in the lock yesterday", "Kim dropped the kayak in the lock on 2024-05-14"),
    # the part of the day
    ("My aunt arrives on Thursday evening.", "Kim's aunt arrives on Thursday 2024-05-16 in the evening"),
    # no day
    ("I've been made redundant.", "Kim has been made redundant"),
    ("My sister has taken over the chip shop.", "Kim's sister has taken over the chip shop"),
    ("My brother resigned from the parish council.", "Kim's brother resigned from the parish council"),
]


@pytest.mark.parametrize(("text", "expected"), EVENTS)
def test_an_event_is_read(text: str, expected: str) -> None:
    (fact,) = facts(text)
    assert (fact.value, fact.category) == (expected, Category.EVENT)


@pytest.mark.parametrize(
    "text",
    [
        "The build failed yesterday.",
        "The vote is not on Friday.",
        "Somebody should dust the shelves on Friday.",
        "I lost my train of thought.",
        "I opened a new tab.",
        "We left the office late.",
        "They made me laugh yesterday.",
        "The weather turned on Tuesday.",
        "The meeting moved from Monday to Thursday.",
    ],
)
def test_what_passes_or_is_not_certain_is_no_event(text: str) -> None:
    assert facts(text) == []


def test_what_is_theirs_is_told_of_them() -> None:
    found = values("My niece Ottilie is a sailor. Her ferry leaves on Sunday.")
    assert found[-1] == "Ottilie (Kim's niece): the ferry leaves on Sunday 2024-05-19"


def test_a_day_told_later_belongs_to_the_event_before() -> None:
    (fact,) = facts("I've sold the caravan. Did it on Monday.")
    assert (fact.predicate, fact.day) == ("sold the caravan on Monday 2024-05-13", date(2024, 5, 13))


TASKS = [
    ("I have to descale the urn.", ["Kim needs to descale the urn"]),
    (
        "I've got to ring the farrier before Friday.",
        ["Kim needs to ring the farrier before Friday 2024-05-17"],
    ),
    (
        "I mustn't forget to cancel the skip by the 30th.",
        ["Kim needs to cancel the skip by the 30th (2024-05-30)"],
    ),
    ("I've until Thursday to object.", ["Kim needs to object by Thursday 2024-05-16"]),
    ("I have an apron to mend by Monday.", ["Kim needs to mend an apron by Monday 2024-05-20"]),
    (
        "I need to order the bunting, book the band and tell Ines about the tent.",
        [
            "Kim needs to order the bunting",
            "Kim needs to book the band",
            "Kim needs to tell Ines about the tent",
        ],
    ),
    (
        "Two jobs for tomorrow: order the hinges and ring Mona.",
        ["Kim needs to order the hinges on 2024-05-16", "Kim needs to ring Mona on 2024-05-16"],
    ),
    ("The banner has to be painted by Friday.", ["Kim: the banner has to be painted by Friday 2024-05-17"]),
    ("Can you remind me to air the tent tomorrow?", ["Kim needs to air the tent on 2024-05-16"]),
    ("Rent is due on the 1st.", ["Kim has to pay the rent by 2024-06-01"]),
    (
        "We're launching the raft on the 25th, and I have to fit the mast by then.",
        [
            "Kim is launching the raft on the 25th (2024-05-25)",
            "Kim needs to fit the mast by 2024-05-25",
        ],
    ),
    ("return the marquee by Tuesday", ["Kim needs to return the marquee by Tuesday 2024-05-21"]),
]


@pytest.mark.parametrize(("text", "expected"), TASKS)
def test_a_task_is_read(text: str, expected: list[str]) -> None:
    assert values(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "I have to laugh.",
        "I have to say the tent is huge.",
        "What do I need to check?",
        "return it by Tuesday",
        "I never have to iron the shirts.",
    ],
)
def test_what_is_no_task_is_not_read(text: str) -> None:
    assert [fact for fact in facts(text) if fact.category is Category.TASK] == []


LIKES = [
    ("I hate it when doors slam.", "Kim hates when doors slam"),
    ("I love the fog on the moor.", "Kim loves the fog on the moor"),
    ("still hate the stairs", "Kim hates the stairs"),
    ("Give me a tent over a hotel any day of the week.", "Kim prefers a tent over a hotel"),
    ("There's nothing I enjoy more than a tidy shed.", "Kim enjoys a tidy shed most"),
    ("My sister refuses to own a microwave.", "Kim's sister refuses to own a microwave"),
    ("What I can't stand is wet wool.", "Kim can't stand wet wool"),
    ("I find cruises exhausting.", "Kim finds cruises exhausting"),
    ("I'm not one for parades.", "Kim isn't one for parades"),
    ("Never been keen on figs, whatever the papers say.", "Kim has never been keen on figs"),
    ("I prefer slate, not tile.", "Kim prefers slate, not tile"),
    ("I love opera, but only in the open air.", "Kim loves opera, but only in the open air"),
    ("Karaoke is my idea of hell.", "Kim dislikes Karaoke"),
]


@pytest.mark.parametrize(("text", "expected"), LIKES)
def test_a_like_is_read_with_what_restricts_it(text: str, expected: str) -> None:
    (fact,) = facts(text)
    assert (fact.value, fact.category) == (expected, Category.PREFERENCE)


@pytest.mark.parametrize(
    "text",
    [
        "I love the tone of the second draft.",
        "I like the first one better.",
        "Love being woken by drills.",
        "I hate to be a nuisance.",
        "I can't do the call.",
    ],
)
def test_what_is_at_hand_or_meant_otherwise_is_no_like(text: str) -> None:
    assert facts(text) == []


WISHES = [
    (
        "When you write to my landlord, use the formal form.",
        "When the assistant writes to Kim's landlord, use the formal form",
    ),
    ("Don't correct my grammar unless I ask.", "Do not correct Kim's grammar unless Kim asks"),
    ("If I write in Welsh, answer in Welsh.", "If Kim writes in Welsh, answer in Welsh"),
    ("Switch me over to kelvin for good.", "use kelvin"),
    ("Stop using semicolons in anything you write for me, ever.", "Stop using semicolons in anything"),
]


@pytest.mark.parametrize(("text", "expected"), WISHES)
def test_a_standing_wish_is_read(text: str, expected: str) -> None:
    (fact,) = facts(text)
    assert (fact.value, fact.category) == (f"Kim asks: {expected}", Category.INSTRUCTION)


@pytest.mark.parametrize(
    "text",
    [
        "If I had a yacht I'd call it Salt.",
        "Just the list, every time.",
        "He never once raised his voice.",
        "never drunk gin in my life",
        "If you ever meet my uncle, don't lend him money.",
    ],
)
def test_a_condition_or_a_habit_is_no_wish(text: str) -> None:
    assert [fact for fact in facts(text) if fact.category is Category.INSTRUCTION] == []


CHOICES = [
    ("I've chosen: the oak door, not the pine one.", "Kim decided on the oak door, not the pine one"),
    ("We're taking the ferry instead.", "Kim is taking the ferry instead"),
    ("I ditched the radio for a wind-up one.", "Kim ditched the radio for a wind-up one"),
]


@pytest.mark.parametrize(("text", "expected"), CHOICES)
def test_a_choice_is_read(text: str, expected: str) -> None:
    (fact,) = facts(text)
    assert (fact.value, fact.category) == (expected, Category.DECISION)
