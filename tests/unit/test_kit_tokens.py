"""The token estimate (SPEC E-10)."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from services.kit.errors import StartupError
from services.kit.tokenizers_counter import load_counter
from services.kit.tokens import estimate_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("a" * 7, 2),
        ("a" * 8, 3),
        ("我" * 3, 2),
        ("我" * 4, 3),
        ("ab" + "我", 2),  # a third is Han: over 30 %, so 1.5 characters a token
        ("abcdefg" + "我我我", 3),  # just 30 %: not over it, so 3.5
        ('{"a":1}', 3),  # 5 of 7 characters are structure: 3.0 a token
        ("[" + "a" * 11, 4),  # 1 of 12 is over 8 %
        ("[" + "a" * 12, 4),  # 1 of 13 is not: 13 / 3.5
        ("ひらカタ한글", 4),
    ],
)
def test_known_texts(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@given(st.text())
def test_it_never_falls_below_the_most_generous_rate_nor_exceeds_the_tightest(text: str) -> None:
    tokens = estimate_tokens(text)
    assert len(text) / 3.5 <= tokens <= len(text) / 1.5 + 1


def test_a_tokenizer_file_counts_the_whole_text_without_special_tokens(tmp_path: Path) -> None:
    """Whatever truncation, padding and special tokens the file asks for."""
    vocabulary = {"[UNK]": 0, "[CLS]": 1, "one": 2, "two": 3}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A", special_tokens=[("[CLS]", 1)])
    tokenizer.enable_truncation(4)
    tokenizer.enable_padding(length=4)
    assert len(tokenizer.encode("one").ids) == 4  # what the counter must not do
    tokenizer.save(str(tmp_path / "tokenizer.json"))

    count = load_counter(tmp_path / "tokenizer.json")
    assert [count(text) for text in ("", "one", "one two three", "one " * 100)] == [0, 1, 3, 100]


@pytest.mark.parametrize("content", [None, "no json", "{}"])
def test_a_file_that_is_no_tokenizer_is_one_line_for_the_person_who_starts_it(
    tmp_path: Path, content: str | None
) -> None:
    path = tmp_path / "tokenizer.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(StartupError) as raised:
        load_counter(path)
    assert str(path) in str(raised.value)
    assert "\n" not in str(raised.value)
