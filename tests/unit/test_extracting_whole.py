"""Statements stand by themselves and say no less than their sentence (SPEC J-8)."""

from __future__ import annotations

import pytest

from tests.unit.extracting_parts import facts, values

TOLD = [
    # in one breath: one event
    (
        "I fell off the ladder on Monday and broke two ribs.",
        "fell off the ladder on Monday 2024-05-13 and broke two ribs",
    ),
    ("We won the cup on Sunday!! First time in club history, I'm hoarse.", "first time in club history"),
    ("My cataract operation is booked for the 9th of July, left eye.", "left eye"),
    # a task with the day of the clause after it
    (
        "I still haven't renewed my visa, have to do it before 15 June.",
        "needs to renew Kim's visa by 2024-06-15",
    ),
    # a thing on one day
    ("My chemistry resit is on 21 June.", "has the chemistry resit on 2024-06-21"),
    ("My last day is 30 June.", "has the last day on 2024-06-30"),
    ("The rehearsal dinner's on Friday the 24th.", "has the rehearsal dinner on the 24th (2024-05-24)"),
    # whom it is said of
    ("My sons, Abel and Ivo, hate peas.", "Abel and Ivo (Kim's sons) hate peas"),
    ("Petra, my deputy at the crèche, lives in Lille.", "Petra (Kim's deputy) lives in Lille"),
    ("My best friend since school, Odile, is a glassblower.", "Odile (Kim's best friend) is a glassblower"),
    ("The twins started school on Monday.", "Kim's twins started school on Monday 2024-05-13"),
    # too, and not
    ("I'm vegan but my kids aren't.", "Kim's kids aren't vegan"),
    ("I like jazz, Ben likes metal.", "Kim likes jazz"),
    ("I like my eggs runny and my toast burnt.", "likes Kim's eggs runny and Kim's toast burnt"),
    ("I stay in Ghent and go home at weekends.", "stays in Ghent and goes home at weekends"),
    ("I much prefer working alone.", "prefers working alone"),
    ("My niece lives all the way down in Cádiz.", "lives in Cádiz"),
    ("I'm originally from Tartu.", "is originally from Tartu"),
    ("Since I'm coeliac, can you swap the bulgur for something else?", "is coeliac"),
    ("Scared of moths, me.", "is scared of moths"),
    ("From now on could you write my notes in Danish?", "From now on write my notes in Danish"),
]
UNTOLD = [
    # roles of a fiction, games
    "You are Captain Brask of the Heron. I'm your cook and I hate the sea.",
    "My sim has four kids and no kitchen.",
    # taken back, or not done
    "Add milk to the list, no wait, never mind.",
    "I was supposed to fly home on Friday.",
    "I told my boss I'd finish the audit by Friday but it won't happen.",
    "My mate says he's a monk but I don't buy it.",
    # what points elsewhere
    "I can't abide opera, with one exception.",
    "I loathe the stuff.",
    "I keep mine locked.",
    # what was and what is so now
    "The trial is over, went home on Friday.",
    # several things on one day
    "I've got two left feet and a wedding on the 22nd.",
    "I'd sooner eat the carton than another bowl of bran.",
    "I'm a simple girl.",
]


@pytest.mark.parametrize(("text", "expected"), TOLD)
def test_a_statement_says_no_less_than_its_sentence(text: str, expected: str) -> None:
    """J-8: what restricts a statement, and whom it is about, stays with it."""
    assert any(
        value.endswith(expected.replace(" my ", " Kim's ")) or expected in value for value in values(text)
    )


@pytest.mark.parametrize("text", UNTOLD)
def test_what_does_not_stand_by_itself_is_left(text: str) -> None:
    """J-8: fiction, what was taken back, fragments and what points elsewhere are no facts."""
    assert facts(text) == []
