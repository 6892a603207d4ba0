"""Which stretches of a text may state something (SPEC J-8)."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from services.compactor.domain.extraction.reading.spans import (
    HIDDEN,
    MOST_TOKENS,
    Form,
    masked,
    spans,
    tokens,
)
from services.kit.fences import fenced, header

PIECES = (
    "I live ",
    "my sister ",
    "Ann ",
    "he's ",
    "in Oslo",
    "at a bank ",
    "from Leeds ",
    ", 74, ",
    "and ",
    "because ",
    "Dr. ",
    "the ",
    ". ",
    "? ",
    ", ",
    " - ",
    "\n",
    "\r",
    "\0",
    "\x07",
    "\u202e",
    '"',
    "'",
    "`",
    "```\n",
    "> ",
    "⟦data: x⟧",
    "⟦/data⟧",
    "🙂",
    "👩‍👧",
    "東京に住んでいます。",
    "2.5",
    "x" * 50,
)
TEXTS = st.one_of(st.text(max_size=120), st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
ASIDES = {Form.ORIGIN, Form.AGED}


def stretches(text: str) -> list[tuple[Form, str]]:
    """The form and the text of each."""
    own = masked(text)
    found = tokens(own)
    return [(one.form, own[found[one.first].start : found[one.last - 1].end]) for one in spans(found, own)]


FOREIGN = [
    '"I love tea. I hate coffee."',
    "“I love tea.”",
    "„I love tea.“",
    "«I love tea.»",
    "「I love tea」",
    "'I love tea'",
    "‘I love tea’",
    "`I love tea`",
    "```\nI love tea\n\nI hate coffee\n```",
    "~~~\nI love tea",
    "> I love tea",
    "| I love | tea |",
    fenced("note", "I love tea.\nI hate coffee."),
    "⟦data: note⟧\nI love tea",
    header("I love tea"),
    "On Monday Ann wrote:\nI love tea",
]


@pytest.mark.parametrize("foreign", FOREIGN)
def test_what_is_somebody_elses_is_hidden_where_it_stands(foreign: str) -> None:
    """G-3."""
    own = "I live in Oslo.\n"
    hidden = masked(own + foreign)
    assert hidden.startswith(own)
    assert set(hidden[len(own) :]) <= {HIDDEN, "\n"}
    assert len(hidden) == len(own + foreign)
    assert stretches(own + foreign) == stretches(own) != []
    assert stretches("I love tea") != []


def test_what_stands_around_it_is_read() -> None:
    text = f"I live in Oslo. {fenced('note', 'I love tea.')}\nI work at Boots."
    own = masked(text)
    assert own.index("I work at Boots.") == text.index("I work at Boots.")
    assert (Form.SPEAKER, "I work at Boots") in stretches(text)


@given(TEXTS)
@example('"\n"\n"')
@example("\r\n> x\r\n")
def test_masking_moves_nothing(text: str) -> None:
    own = masked(text)
    assert len(own) == len(text)
    assert [at for at, c in enumerate(own) if c == "\n"] == [at for at, c in enumerate(text) if c == "\n"]
    for before, after in zip(text, own, strict=True):
        control = unicodedata.category(before)[0] == "C" and after == " "
        assert (
            control
            or after in (before, HIDDEN)
            or (before, after) in set(zip("’‘ʼ–\u00a0", "'''- ", strict=True))
        )


@given(TEXTS)
@example("\0I live in Oslo\0")
@example("Dr.")
@example("my")
@example("in X")
def test_a_stretch_lies_within_its_sentence_and_the_text(text: str) -> None:
    own = masked(text)
    found = tokens(own)
    for one in spans(found, own):
        assert 0 <= one.sentence <= one.first <= one.subject < one.last <= len(found)
        start, end = found[one.first].start, found[one.last - 1].end
        assert 0 <= start < end <= len(text)
        assert not {HIDDEN, "\n"} & set(own[start:end])
        assert not {"!", "?", "…"} & {token.text for token in found[one.sentence : one.last]}
        assert one.last - one.subject <= MOST_TOKENS or one.form in ASIDES


@given(TEXTS)
def test_words_and_marks_stand_where_they_are_said_to(text: str) -> None:
    found = tokens(text)
    assert all(text[one.start : one.end] == one.text for one in found)
    assert "".join(one.text for one in found) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "form", "stretch"),
    [
        ("I live in Oslo.", Form.SPEAKER, "I live in Oslo"),
        ("honestly i've got a cat", Form.SPEAKER, "i've got a cat"),
        ("We’re moving", Form.SPEAKER, "We're moving"),
        ("ill call Ann", Form.SPEAKER, "ill call Ann"),
        ("I like skiing because my mum skis.", Form.SPEAKER, "I like skiing"),
        ("my sister works at a bank", Form.OWN, "my sister works at a bank"),
        ("Our car is red", Form.OWN, "Our car is red"),
        ("My nani hides sweets", Form.SOMEBODY, "My nani hides sweets"),
        ("he's a vet", Form.PRONOUN, "he's a vet"),
        ("My son swims and his coach is proud", Form.PRONOUN, "his coach is proud"),
        ("Ann lives in Oslo.", Form.NAME, "Ann lives in Oslo"),
        ("Dr. Lund is kind.", Form.NAME, "Dr. Lund is kind"),
        ("I hate coffee but love tea", Form.BARE, "love tea"),
        ("Allergic to nuts!", Form.BARE, "Allergic to nuts"),
        ("The car is red", Form.DEFINITE, "The car is red"),
        ("On Monday my sister flew to Rome.", Form.FRONTED, "On Monday my sister flew to Rome"),
        ("Well, every Sunday we bake bread", Form.FRONTED, "every Sunday we bake bread"),
        ("She is a nurse from Leeds.", Form.ORIGIN, "from Leeds"),
        ("My aunt, 74, swims.", Form.AGED, "74"),
        ("My aunt (74) swims.", Form.AGED, "74"),
    ],
)
def test_a_stretch_is_found_in_its_form(text: str, form: Form, stretch: str) -> None:
    assert (form, stretch) in stretches(text)


@pytest.mark.parametrize(
    ("text", "form", "control"),
    [
        ("ill in bed", Form.SPEAKER, "ill call Ann"),
        ("I went to Oslo", Form.NAME, "Oslo is cold"),
        ("I am from the north", Form.ORIGIN, "I am from Leeds"),
        ("My house, 740, is old", Form.AGED, "My aunt, 74, is old"),
        ("I have 74 cats", Form.AGED, "My aunt, 74, is old"),
        ("I sing", Form.FRONTED, "On Monday I sing"),
    ],
)
def test_a_form_is_not_found_where_it_does_not_stand(text: str, form: Form, control: str) -> None:
    assert form not in {found for found, _ in stretches(text)}
    assert form in {found for found, _ in stretches(control)}


@pytest.mark.parametrize("who", ["I", "we", "I've", "he", "they", "she's"])
@pytest.mark.parametrize(
    "joining", [" and", ", and", " but", ", but", " so", " or", " &", " +", " - and", ";"]
)
def test_no_stretch_runs_on_into_what_somebody_else_does(joining: str, who: str) -> None:
    def both(text: str) -> bool:
        return any("Oslo" in found and "tea" in found for _, found in stretches(text))

    assert not both(f"On Monday I left Oslo{joining} {who} tried the tea.")
    assert both(f"On Monday I left Oslo{joining} tried the tea.")


@pytest.mark.parametrize("end", [". ", "! ", "? ", "…", "\n", " 🙂 "])
def test_no_stretch_runs_on_into_the_next_sentence(end: str) -> None:
    found = [stretch for _, stretch in stretches(f"I live in Oslo{end}Tea is good")]
    assert "I live in Oslo" in found
    assert "Tea is good" in found
    assert not any("Oslo" in one and "Tea" in one for one in found)


@pytest.mark.parametrize("ending", ["the", "and", "because", "my", "is"])
def test_no_stretch_ends_with_a_word_that_something_must_follow(ending: str) -> None:
    found = [stretch for _, stretch in stretches(f"I like tea, {ending}")]
    assert "I like tea" in found
    assert not any(one.endswith(ending) for one in found)


def test_what_stands_in_a_question_is_known_as_asked() -> None:
    own = masked("I live in Oslo. Could I live in Rome?")
    found = tokens(own)
    made = spans(found, own)
    assert {one.asked for one in made} == {False, True}
    assert all(one.asked == (found[one.first].start > own.index(".")) for one in made)
