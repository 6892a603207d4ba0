"""Where a long text is cut: at sentence ends if it can be, with overlap (SPEC M-4)."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

# After a full stop and the like (with closing quotes); the full stops and question marks of CJK, Arabic,
# Urdu, Devanagari, Armenian, Burmese and Ethiopic, which need no space after them; or a line's end.
SENTENCE_END = re.compile(r"[.!?…]+[\"'»”’)\]]*(?=\s)|[。！？｡．؟۔।॥։။።]+[」』”’）]*|\n+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A part of a text: characters [start, end)."""

    start: int
    end: int


def sentence_ends(text: str) -> list[int]:
    """Offsets one past the end of each sentence, the text's own end last."""
    ends = [match.end() for match in SENTENCE_END.finditer(text)]
    if not ends or ends[-1] < len(text):
        ends.append(len(text))
    return ends


def chunk(text: str, tokens: Sequence[tuple[int, int]], *, limit: int, overlap: int = 0) -> Iterator[Span]:
    """Cuts `text` into spans of at most `limit` tokens; together they cover all of it.

    `tokens` are the character spans of the text's tokens, in order. A span ends with the last sentence that
    fits; where not even one does, with the last token. Each span after the first begins up to `overlap`
    tokens before the end of the one before it, and every span but the last is longer than `overlap`, so that
    one sentence end never ends two spans.
    """
    ends = sentence_ends(text)
    first = 0  # index of the span's first token
    while first < len(tokens):
        last = min(first + limit, len(tokens))  # one past its last token
        if last < len(tokens):
            last = _after_last_sentence(tokens, ends, min(first + overlap, last - 1), last)
        start = 0 if first == 0 else tokens[first][0]
        yield Span(start=start, end=len(text) if last == len(tokens) else tokens[last][0])
        if last == len(tokens):
            return
        first = max(last - overlap, first + 1)


def _after_last_sentence(
    tokens: Sequence[tuple[int, int]], ends: Sequence[int], first: int, last: int
) -> int:
    """The index after the last token, in (first, last], whose following token begins a sentence."""
    found = bisect_right(ends, tokens[last][0])
    boundary = ends[found - 1] if found else 0
    if boundary < tokens[first][1]:
        return last
    index = last
    while index > first + 1 and tokens[index - 1][1] > boundary:
        index -= 1
    return index
