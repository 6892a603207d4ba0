"""Where long texts are cut (SPEC M-4)."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.embedder.domain.chunking import chunk, sentence_ends

WORD = re.compile(r"\w+|[^\w\s]")


def tokens(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in WORD.finditer(text)]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Hello there. How are you? Fine!", ["Hello there.", " How are you?", " Fine!"]),
        ("我很好。你呢？", ["我很好。", "你呢？"]),
        ("Version 1.2 is out. Yes.", ["Version 1.2 is out.", " Yes."]),
        ("यह है। ठीक।", ["यह है।", " ठीक।"]),
        ("هل أنت هنا؟نعم.", ["هل أنت هنا؟", "نعم."]),
        ("one\ntwo\n\nthree", ["one\n", "two\n\n", "three"]),
        ("no end", ["no end"]),
    ],
)
def test_sentences_end_where_a_reader_says(text: str, sentences: list[str]) -> None:
    starts = [0, *sentence_ends(text)]
    assert [text[a:b] for a, b in pairwise(starts)] == sentences


@given(st.text(alphabet="ab .!?\n。", max_size=200), st.integers(1, 12), st.integers(0, 6))
def test_chunks_cover_everything_within_the_limit(text: str, limit: int, overlap: int) -> None:
    spans = tokens(text)
    chunks = list(chunk(text, spans, limit=limit, overlap=min(overlap, limit - 1)))
    if not spans:
        assert chunks == []
        return
    assert chunks[0].start == 0
    assert chunks[-1].end == len(text)
    for before, after in pairwise(chunks):
        assert before.start < after.start <= before.end
    for span in chunks:
        assert sum(span.start <= a and b <= span.end for a, b in spans) <= limit


def test_an_overlap_repeats_the_end_of_the_chunk_before() -> None:
    text = "a b c d e f"
    chunks = list(chunk(text, tokens(text), limit=3, overlap=1))
    assert [text[c.start : c.end].strip() for c in chunks] == ["a b c", "c d e", "e f"]


def test_a_sentence_end_within_the_overlap_ends_one_chunk_only() -> None:
    text = "a " * 5 + ". " + "b " * 24
    chunks = list(chunk(text, tokens(text), limit=12, overlap=5))
    assert [text[c.start : c.end].split() for c in chunks] == [
        ["a"] * 5 + ["."],
        ["a"] * 4 + ["."] + ["b"] * 7,
        ["b"] * 12,
        ["b"] * 12,
        ["b"] * 8,
    ]
