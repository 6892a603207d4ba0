"""The token estimate (SPEC E-10)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
