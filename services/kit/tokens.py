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
STRUCTURE = re.compile(r"[{}\[\]:\"]")
CJK_SHARE = 0.30
STRUCTURE_SHARE = 0.08
CHARACTERS_PER_TOKEN_CJK = 1.5
CHARACTERS_PER_TOKEN_STRUCTURE = 3.0
CHARACTERS_PER_TOKEN = 3.5


def estimate_tokens(text: str) -> int:
    """About how many tokens a model takes for `text`, rounded up; 0 for the empty text.

    Over 30 % of characters Han, Hiragana, Katakana or Hangul: 1.5 characters a token; else over 8 % in
    `{}[]:"`: 3.0; else 3.5.
    """
    length = len(text)
    if not length:
        return 0
    if not text.isascii() and len(CJK.findall(text)) > CJK_SHARE * length:
        return math.ceil(length / CHARACTERS_PER_TOKEN_CJK)
    if len(STRUCTURE.findall(text)) > STRUCTURE_SHARE * length:
        return math.ceil(length / CHARACTERS_PER_TOKEN_STRUCTURE)
    return math.ceil(length / CHARACTERS_PER_TOKEN)
