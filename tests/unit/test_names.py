"""Participants' names: who is named, and text without them (S-9, S-12)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.memory.semantic.domain.names import named_participants, strip_names

PAIR = ("Rosalind", "Tobias")
ORDINARY = ("Will Smith", "May")


@pytest.mark.parametrize(
    ("text", "stripped"),
    [
        ("Hey Rosalind! How are you?", "Hey! How are you?"),
        ("Thanks, Tobias. See you", "Thanks. See you"),
        ("Rosalind: the train is late", "the train is late"),
        ("Tobias, come here", "come here"),
        ("What did rosalind's dog eat?", "What did dog eat?"),
        ("Good idea, Rosa!", "Good idea!"),
        ("Hi Tob, any news?", "Hi, any news?"),
        ("one\nTobias: two", "one\ntwo"),
        ("nobody here", "nobody here"),
        ("  spaces   stay  ", "  spaces   stay  "),
    ],
)
def test_names_are_taken_out_and_the_gap_closed(text: str, stripped: str) -> None:
    assert strip_names(text, PAIR) == stripped


@pytest.mark.parametrize(
    "text",
    [
        "tobias@example.org",
        "/home/tobias/notes",
        "the tobias_v2 branch",
        "Tobiasson called",
        "the Rosarium opens",
        "Rosa parks the car",
    ],
)
def test_other_words_are_never_mangled(text: str) -> None:
    assert strip_names(text, PAIR) == text
    assert strip_names(f"{text} Tobias", PAIR) == text, "the control: the bare name goes"


def test_text_of_names_alone_is_kept_for_there_is_nothing_else_to_embed() -> None:
    assert strip_names("Rosalind!", PAIR) == "Rosalind!"


@pytest.mark.parametrize(
    "text", ["Will you come?", "it will rain", "In May 2023", "May I ask?", "on 3 May", "He WILL"]
)
def test_an_ordinary_word_is_no_name(text: str) -> None:
    assert named_participants(text, ORDINARY) == ()
    assert strip_names(text, ORDINARY) == text


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("What did Will do?", ("Will Smith",)),
        ("Will's car", ("Will Smith",)),
        ("Will, stop!", ("Will Smith",)),
        ("I met May there", ("May",)),
        ("smith and May", ("Will Smith", "May")),
    ],
)
def test_capital_letter_and_place_make_a_word_a_name(text: str, named: tuple[str, ...]) -> None:
    assert named_participants(text, ORDINARY) == named


def test_role_words_and_ids_are_no_names() -> None:
    participants = ("user", "assistant", "telegram:123", "Tobias")
    assert named_participants("what did the user tell the assistant, 123 telegram?", participants) == ()
    assert named_participants("what did tobias tell?", participants) == ("Tobias",)


def test_a_shared_first_name_names_both() -> None:
    assert named_participants("What did John say?", ("John Dee", "John Doe")) == ("John Dee", "John Doe")
    assert named_participants("What did John Doe say?", ("John Dee", "John Doe")) == ("John Doe",)


def test_names_of_unspaced_scripts_are_found_inside_text() -> None:
    assert strip_names("田中さんは元気", ("田中",)) == "さんは元気"
    assert named_participants("田中さんは元気", ("田中",)) == ("田中",)


@given(st.text(max_size=80))
def test_without_participants_nothing_changes(text: str) -> None:
    assert strip_names(text, ()) == text
    assert named_participants(text, ()) == ()


@given(st.text(alphabet="RosalindTb ,.:!'\n-@_", max_size=60))
def test_only_what_was_there_remains(text: str) -> None:
    """Stripping deletes; the letters that remain are a subsequence of the text's."""
    remaining = iter(text)
    stripped = [character for character in strip_names(text, PAIR) if character.isalnum()]
    assert all(any(candidate == character for candidate in remaining) for character in stripped)


@given(st.lists(st.sampled_from(["apple", "river", "Rosalind", "Tobias's", "blue"]), min_size=1, max_size=8))
def test_every_other_word_survives(words: list[str]) -> None:
    others = [word for word in words if word in {"apple", "river", "blue"}]
    if others:
        assert strip_names(" ".join(words), PAIR).split() == others
