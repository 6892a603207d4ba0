"""Long documents are cut at sentence ends, with overlap, and nothing of them is lost (SPEC S-13)."""

from __future__ import annotations

from importlib.resources import files
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from services.memory.semantic.domain.documents import TITLE_UNITS
from services.memory.semantic.domain.passages import LIMIT, OVERLAP, Span, passages, units

MODEL_TOKENS = 256
PIECES = st.sampled_from(
    [
        "word ",
        "a",
        "Zürich ",
        "12345",
        ". ",
        "! ",
        "。",
        "地図",
        "？",
        "\n",
        "  ",
        "x" * 30,
        "한국어",
        "é",
        "मैं",
        "…”",
        "\t",
    ]
)
TEXTS = st.lists(PIECES, max_size=200).map("".join)
BOUNDS = st.integers(3, 40).flatmap(lambda limit: st.tuples(st.just(limit), st.integers(0, limit - 1)))


@settings(max_examples=200)
@given(text=TEXTS, bounds=BOUNDS)
def test_parts_cover_a_text_in_order_within_the_limit(text: str, bounds: tuple[int, int]) -> None:
    limit, overlap = bounds
    spans = list(passages(text, limit=limit, overlap=overlap))
    if not text.strip():
        assert spans == []
        return
    assert (spans[0].start, spans[-1].end) == (0, len(text))
    for span in spans:
        assert 0 < units(text[span.start : span.end]) <= limit
    for before, after in pairwise(spans):
        assert before.start < after.start <= before.end < after.end, "nothing is left out, and it goes on"
        assert units(text[after.start : before.end]) <= overlap


@settings(max_examples=100)
@given(text=TEXTS)
def test_a_short_text_is_one_part(text: str) -> None:
    expected = [Span(start=0, end=len(text))] if text.strip() else []
    assert list(passages(text, limit=10_000, overlap=10)) == expected


def test_parts_end_and_begin_with_sentences_in_scripts_with_and_without_spaces() -> None:
    for sentence in (
        "The ferry to Turku was late again. ",
        "図書館で古い地図を調べました。",
        "क्या वह कल आएगा। ",
    ):
        text = sentence * 60
        spans = list(passages(text))
        assert len(spans) > 2
        for span in spans:
            part = text[span.start : span.end]
            assert part.startswith(sentence[:4])
            assert part.rstrip().endswith(sentence.rstrip()[-2:])
        assert all(b.start < a.end for a, b in pairwise(spans)), "they overlap"


def test_without_a_sentence_end_words_stay_whole() -> None:
    text = "harbour " * 400
    spans = list(passages(text))
    assert len(spans) > 2
    assert {text[span.start : span.end].replace("harbour", "").strip() for span in spans} == {""}


def test_a_long_sentence_is_not_cut_short_at_its_overlap() -> None:
    """The end of a short sentence in the overlap ends no part again."""
    text = "Yes. " + "no word ends here and on it goes " * 40 + ". Then all is said. " * 3
    sizes = [units(text[one.start : one.end]) for one in passages(text)]
    assert all(size > OVERLAP for size in sizes[:-1])
    assert max(sizes) <= LIMIT


@pytest.mark.parametrize(
    "sentence",
    [
        "We decided to move the greenhouse irrigation to drip hoses before the summer. ",
        "Wir haben beschlossen, die Bücher der Bibliothek im Herbst neu zu ordnen. ",
        "Zażółć gęślą jaźń, powiedział nauczyciel. ",
        "Tôi đã quyết định đi Hà Nội vào tháng sau. ",
        "Завтра утром мы поедем на вокзал за билетами. ",
        "来月は京都の図書館で古い地図を調べることにしました。",
        "동생은 학교에서 축구를 한다. ",
        "قررنا أن نزور الطبيب في دمشق صباح الأحد. ",
        "क्या वह कल सुबह दिल्ली आएगा। ",
        "แมวตัวนี้ชอบนอนบนหลังคา ",
        "for i in range(10): total[i] += model.score(i, j=None)\n",
        "Version 3.11.2 was released on 2026-03-01 at 14:05. ",
    ],
)
def test_the_bundled_model_reads_a_part_to_its_end(sentence: str) -> None:
    """M-4: no token of it is over the model's limit, also with a title before it."""
    tokenizer = Tokenizer.from_file(str(files("services.embedder") / "model" / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    text = sentence * 60
    for span in passages(text):
        tokens = len(tokenizer.encode(text[span.start : span.end]).ids)
        assert tokens + TITLE_UNITS <= MODEL_TOKENS
