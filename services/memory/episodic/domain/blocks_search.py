"""Search of a block's entries by words: terms, BM25 and excerpts (SPEC W-4).

BM25 is Robertson and Spärck Jones's weighting as S. Robertson and H. Zaragoza give it in "The Probabilistic
Relevance Framework: BM25 and Beyond" (2009): an entry's score is the sum over the query's terms of

    idf × frequency × (k1 + 1) / (frequency + k1 × (1 − b + b × length / average length))

with k1 = 1.2, b = 0.75 and idf = ln(1 + (N − n + 0.5) / (n + 0.5)); the 1 keeps the idf of a term that more
than half of the entries hold above zero.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

K1 = 1.2
B = 0.75
MAX_QUERY_TERMS = 64
MAX_TERM = 64  # characters; the rest of a longer word doesn't count
BEFORE_MATCH = 0.25  # share of an excerpt that lies before its first match
MARK = "…"

# Scripts written without spaces, and Hangul, whose particles attach to words; blocks are taken whole.
_UNSPACED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece"  # Thai, Lao
    "\u1000-\u103f\u1050-\u108f\u1780-\u17d3"  # Burmese, Khmer
    "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"  # Hangul
    "\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # Kana
    "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
# Signs that words are written with but `\w` leaves out: accents, points, the vowels of Indic scripts.
_SIGNS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1-\u05c2\u05c4-\u05c5\u05c7\u0610-\u061a\u064b-\u065f"
    "\u0670\u0900-\u0963\u0980-\u09e3\u0a00-\u0a4d\u0a80-\u0ae3\u0b00-\u0b63\u0b80-\u0bcd\u0c00-\u0c63"
    "\u0c80-\u0ce3\u0d00-\u0d63\u0d80-\u0ddf\u0f71-\u0f84"
)
_WORD = re.compile(rf"(?P<run>[{_UNSPACED}]+)|(?:(?![{_UNSPACED}])(?:[^\W_]|[{_SIGNS}]))+")


def entry_terms(key: str, title: str, content: str) -> Counter[str]:
    """What an entry is found by, with how often."""
    return Counter(_terms(f"{key}\n{title}\n{content}", singles=True))


def query_terms(query: str) -> list[str]:
    """The distinct terms of a query, in its order, at most 64; an entry that holds any one is found."""
    return list(dict.fromkeys(_terms(query, singles=False)))[:MAX_QUERY_TERMS]


def _terms(text: str, *, singles: bool) -> Iterator[str]:
    """Case-folded words; of a run without spaces its pairs of characters, and its characters if asked."""
    for match in _WORD.finditer(unicodedata.normalize("NFKC", text).casefold()):
        word = match.group()
        if match.lastgroup != "run":
            yield word[:MAX_TERM]
            continue
        if singles or len(word) == 1:
            yield from word
        yield from map("".join, pairwise(word))


def idf(entries: int, containing: int) -> float:
    """How much a term tells that `containing` of the `entries` hold."""
    return math.log(1 + (entries - containing + 0.5) / (containing + 0.5))


def length_factors(average_length: float) -> tuple[float, float]:
    """The two parts of BM25's denominator beside the frequency: a constant, and one per term of length."""
    return K1 * (1 - B), K1 * B / max(average_length, 1.0)


def excerpt(content: str, terms: Sequence[str], limit: int) -> str:
    """At most `limit` characters of the content around the first of `terms` that it holds.

    Give the terms that tell most first. What is left out is marked.
    """
    if len(content) <= limit:
        return content
    room = limit - 2 * len(MARK)
    start = max(0, min(_place(content, terms) - int(room * BEFORE_MATCH), len(content) - room))
    end = min(len(content), start + room)
    return (MARK if start else "") + content[start:end] + (MARK if end < len(content) else "")


def _place(content: str, terms: Sequence[str]) -> int:
    for term in terms:
        found = re.search(re.escape(term), content, re.IGNORECASE)
        if found:
            return found.start()
    return 0
