"""Texts that are no plain statements cost little, and ask no more of the Embedder than it takes (J-8)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from services.compactor.domain.extraction.facts import MOST_TEXT, Turn
from services.compactor.domain.extraction.reading.passages import heard
from services.compactor.domain.extraction.reading.spans import MOST_OF_TEXT, masked, spans, tokens
from services.compactor.domain.extraction.reading.windows import (
    LONGEST,
    MOST_CHARACTERS,
    MOST_PASSAGES,
    windows,
)

HOSTILE = (
    "my sister ",
    "a, ",
    "my a, ",
    "my aunt Ann, ",
    "In Oslo ",
    "I love a of b ",
    "I live in Oslo. ",
    "my sister Ann. she swims. ",
    "我住在柏林。",
    "Sie wohnt in Köln. ",
)


def whole(piece: str) -> Turn:
    text = (piece * (MOST_TEXT // len(piece)))[:MOST_TEXT]
    return Turn(author="Kim", text=text, said=datetime(2024, 5, 8, tzinfo=UTC))


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_long_text_has_a_bounded_number_of_stretches(piece: str) -> None:
    text = masked(whole(piece).text)
    assert len(spans(tokens(text), text)) <= MOST_OF_TEXT


@pytest.mark.parametrize("piece", HOSTILE)
def test_windows_of_a_long_text_are_within_what_is_scored_in_one_call(piece: str) -> None:
    for window in windows(heard(whole(piece))):
        assert 0 < len(window.passages) <= MOST_PASSAGES
        assert len(window.text) <= MOST_CHARACTERS + LONGEST
