"""The token estimate (SPEC E-10), the only implementation of it, and the type of what may replace it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TypeAlias

TokenCounter: TypeAlias = Callable[[str], int]
"""Tokens that a model takes for a text; at least 0, and 0 for the empty text."""

CJK = re.compile(
    r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\u1100-\u11ff\uf900-\ufaff\U00020000-\U0003134f]"
)
STRUCTURE = '{}[]:"'
CJK_SHARE = 0.30
STRUCTURE_SHARE = 0.08
CHARACTERS_PER_TOKEN_CJK = 1.5
CHARACTERS_PER_TOKEN_STRUCTURE = 3.0
CHARACTERS_PER_TOKEN = 3.5
CHARACTERS_PER_EXACT_TOKEN = 16
"""What a tokenizer's tokens have at the most, in any text but long runs of one character."""


def estimate_tokens(text: str) -> int:
    """About how many tokens a model takes for `text`, rounded up; 0 for the empty text.

    Over 30 % of characters Han, Hiragana, Katakana or Hangul: 1.5 characters a token; else over 8 % in
    `{}[]:"`: 3.0; else 3.5.
    """
    length = len(text)
    if not length:
        return 0
    if not text.isascii() and _may_be_cjk(text) and len(CJK.findall(text)) > CJK_SHARE * length:
        return math.ceil(length / CHARACTERS_PER_TOKEN_CJK)
    if sum(map(text.count, STRUCTURE)) > STRUCTURE_SHARE * length:
        return math.ceil(length / CHARACTERS_PER_TOKEN_STRUCTURE)
    return math.ceil(length / CHARACTERS_PER_TOKEN)


def _may_be_cjk(text: str) -> bool:
    """Whether enough characters could be: each of them has two bytes of UTF-8 more than one of ASCII."""
    length = len(text)
    return len(text.encode("utf-8", "surrogatepass")) - length > 2 * CJK_SHARE * length


def most_characters(tokens: int, count: TokenCounter) -> int:
    """No text of more characters is worth being tried for so many tokens; by the estimate none would fit."""
    each = CHARACTERS_PER_TOKEN if count is estimate_tokens else CHARACTERS_PER_EXACT_TOKEN
    return int(tokens * each)
