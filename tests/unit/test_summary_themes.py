"""Concepts, branch proposals, vibes, turning points (SPEC J-7)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.compactor.domain import themes, turning, vibes
from services.compactor.domain.summaries import Utterance
from services.compactor.domain.themes import Corpus, branches, concepts, phrases, tallied
from services.compactor.domain.turning import DECISION, SHIFT, Placed, blocks, strongest, turning_points
from tests.unit.test_extractive import ann, model, utterances

HARBOUR = [
    "The river barge needs a new engine before the spring.",
    "Bob sold the old river barge to a man from Ghent.",
    "A river barge of that size takes forty tons of barley.",
    "The barley harvest was poor near Ghent this year.",
    "We moored the river barge at the grain quay.",
    "The grain quay has two cranes and a weighbridge.",
]
BREAD = [
    "The sourdough starter smells of apples since Monday.",
    "Feed the sourdough starter with rye flour twice a day.",
    "My oven holds two loaves of sourdough bread.",
    "Rye flour makes the crust of the bread darker.",
    "The crust cracked because the oven was too dry.",
    "Steam in the oven keeps the crust soft and the loaves round.",
]


def placed(texts: list[str]) -> list[Placed]:
    return [
        Placed(message_id=f"m{n}", sequence=n, time="", said=ann(text))
        for n, text in enumerate(texts, start=1)
    ]


def names(texts: list[str], corpus: Corpus | None = None) -> list[str]:
    found = concepts(tallied({}, [ann(text) for text in texts]), corpus or Corpus())
    return [one.name for one in found]


def test_concepts_are_the_phrases_that_come_again() -> None:
    assert names(HARBOUR)[:2] == ["river barge", "grain quay"]
    assert "barge" not in names(HARBOUR), "it only stands in a longer one"
    assert "the" not in names(HARBOUR)
    assert names(["Thanks, that sounds great!", "You are welcome, good luck!"]) == []


def test_what_many_summaries_have_weighs_less() -> None:
    """tf-idf: it says little about this one."""
    usual = Corpus(summaries=50, having={"river barge": 50})
    assert names(HARBOUR)[0] == "river barge"
    assert names(HARBOUR, usual)[0] != "river barge"


def test_counts_go_on_from_the_summary_before() -> None:
    whole = tallied({}, [ann(text) for text in HARBOUR])
    halves = tallied(tallied({}, [ann(text) for text in HARBOUR[:3]]), [ann(text) for text in HARBOUR[3:]])
    assert whole == halves


def test_people_count_more_than_a_model_and_their_names_are_no_concept() -> None:
    both = tallied({}, [ann("Ann likes the canal lock."), model("A canal lock lifts boats.")])
    assert both["canal lock"] == themes.PERSON_COUNT + themes.MODEL_COUNT
    assert "ann" not in both


def test_paths_and_code_name_nothing_and_other_scripts_do() -> None:
    assert phrases("See services/billing/schema.sql\n```\nimport ledger\n```") == set()
    assert "計画書" in phrases("計画書を読む。")
    assert "großes segel" in phrases("Das Boot hat ein großes Segel.")


def test_branches_are_proposed_of_what_recurs() -> None:
    found = concepts(tallied({}, [ann(text) for text in HARBOUR]), Corpus())
    proposals = branches(found, Corpus())
    assert [one.name for one in proposals] == ["river barge"]
    known = Corpus(summaries=9, having={"grain quay": 2, "river barge": 1})
    weighed = concepts(tallied({}, [ann(text) for text in HARBOUR]), known)
    again = {one.name: one.relevance for one in branches(weighed, known)}
    assert "grain quay" in again, "another summary has it"
    assert again["river barge"] > proposals[0].relevance, "here and elsewhere"
    assert branches(concepts(tallied({}, [ann(HARBOUR[0])]), Corpus()), Corpus()) == []


@settings(max_examples=50, deadline=None)
@given(st.lists(utterances, max_size=8), st.integers(0, 40))
def test_weights_and_relevance_are_between_0_and_1(messages: list[Utterance], summaries: int) -> None:
    corpus = Corpus(summaries=summaries, having={"plan": summaries})
    found = concepts(tallied({}, messages), corpus)
    assert all(0 < one.weight <= 1 for one in found)
    assert len(found) <= themes.MOST_CONCEPTS
    assert not found or max(one.weight for one in found) == 1
    proposals = branches(found, corpus)
    assert all(0 < one.relevance <= 1 for one in proposals)
    assert len(proposals) <= themes.MOST_BRANCHES


@pytest.mark.parametrize(
    ("texts", "tone"),
    [
        (["I am so happy about it.", "What a wonderful day, I am delighted."], "joyful"),
        (["This is annoying.", "It fails again, I am frustrated."], "frustrated"),
        (["Ich bin besorgt.", "Das macht mir Angst."], "worried"),
        (["Merci beaucoup.", "Je suis très reconnaissant, merci."], "grateful"),
    ],
)
def test_vibes_are_the_tones_of_what_people_write(texts: list[str], tone: str) -> None:
    assert vibes.vibes(vibes.counted({}, [ann(text) for text in texts]))[0] == tone
    assert vibes.vibes(vibes.counted({}, [model(text) for text in texts])) == [], "a model's courtesy is none"
    assert vibes.vibes(vibes.counted({}, [ann("The door is red."), ann("It opens inwards.")])) == []


def test_vibes_are_few_and_questions_show_curiosity() -> None:
    tones = vibes.counted({}, [ann("Why is it red? Who painted it?"), ann("It is the door.")])
    assert vibes.vibes(tones) == ["curious"]
    crowded = {vibes.SENTENCES: 10, **dict.fromkeys(["a", "b", "c", "d"], 5)}
    assert len(vibes.vibes(crowded)) == vibes.MOST_VIBES


def test_a_shift_of_topic_is_found_where_it_is() -> None:
    """By terms, and by vectors; a talk about one thing has none."""
    messages = placed(HARBOUR + BREAD)
    (shift,) = [one for one in turning_points(messages) if one.kind == SHIFT]
    assert shift.sequence in (7, 8, 9), "in the first block about bread"
    vectors = {
        text: (1.0, 0.0) if "barge" in text or "quay" in text else (0.0, 1.0) for text in blocks(messages)
    }
    (seen,) = [one for one in turning_points(messages, vectors) if one.kind == SHIFT]
    assert seen.sequence in (7, 8, 9)
    same = dict.fromkeys(blocks(messages), (1.0, 0.0))
    assert not [one for one in turning_points(messages, same) if one.kind == SHIFT]


def test_decisions_are_turning_points_and_questions_about_them_are_not() -> None:
    said = [
        "We decided to sell the river barge to Bob.",
        "Have we decided to sell the river barge?",
        "Agreed!",
        "The barge is blue.",
    ]
    (decision,) = [one for one in turning_points(placed(said)) if one.kind == DECISION]
    assert (decision.sequence, decision.text) == (1, f"Ann: {said[0]}")


@settings(max_examples=40, deadline=None)
@given(st.lists(utterances, max_size=40))
def test_turning_points_are_in_order_few_and_of_these_messages(messages: list[Utterance]) -> None:
    at = [
        Placed(message_id=f"m{n}", sequence=n, time="", said=said) for n, said in enumerate(messages, start=1)
    ]
    found = strongest(turning_points(at))
    assert len(found) <= turning.MOST_POINTS
    assert [one.sequence for one in found] == sorted({one.sequence for one in found})
    assert all(0 <= one.score <= 1 and one.message_id == f"m{one.sequence}" for one in found)
