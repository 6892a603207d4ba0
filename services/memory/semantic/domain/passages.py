"""Where a long document is cut into the parts that are indexed: at sentence ends, with overlap (SPEC S-13).

A part is to fit into an embedding model, whose tokens are not known here. So it is measured in *units*, of
which a text of words has about as many as tokens of a word-piece model, or more: up to three Latin letters,
up to two digits, a third of a Hangul syllable, any other character. So a document is cut in the same way
whatever model serves, and also where its text must not leave for one; a change of models moves no boundary.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

LIMIT: Final = 216
"""Most units of a part; with a title before it, it is within the 256 tokens of a small model."""
OVERLAP: Final = 32
"""Most units that a part repeats of the one before it."""
FIRST_HANGUL, LAST_HANGUL, HANGUL_UNITS = "\uac00", "\ud7a3", 3

_ATOM = re.compile(r"[A-Za-z]{1,3}|[0-9]{1,2}|\S")
# After a full stop and the like (with closing quotes); the full stops and question marks of CJK, Arabic,
# Urdu, Devanagari, Armenian, Burmese and Ethiopic, which need no space after them; or a line's end.
_SENTENCE_END = re.compile(r"[.!?…]+[\"'»”’)\]]*(?=\s)|[。！？｡．؟۔।॥։။።]+[」』”’）]*|\n+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A part of a text: characters [start, end)."""

    start: int
    end: int


def units(text: str) -> int:
    """How many units a text has."""
    return sum(_weight(text, match.start()) for match in _ATOM.finditer(text))


def passages(text: str, *, limit: int = LIMIT, overlap: int = OVERLAP) -> Iterator[Span]:
    """Parts of at most `limit` units, which together cover all of a text; none of one without units.

    A part ends with the last sentence that fits, where none does with the last word, else with the last unit.
    Each after the first begins up to `overlap` units (less than `limit`) before the end of the one before it,
    where it can at the beginning of a sentence. A syllable of more than `limit` units is a part by itself.
    """
    cut = _Cut(text)
    first, count = 0, len(cut.starts)
    while first < count:
        last = max(cut.within(first, limit), first + 1)
        if last < count:
            last = cut.end(cut.within(first, overlap), last)
        yield Span(
            start=0 if first == 0 else cut.starts[first], end=len(text) if last == count else cut.starts[last]
        )
        if last == count:
            return
        # Early enough to overlap, late enough for the next atom to fit.
        earliest = max(cut.reaching(last, overlap), cut.reaching(last + 1, limit), first + 1)
        first = cut.beginning(earliest, last)


class _Cut:
    """A text as atoms, which are never cut: where each starts, and how many units are before it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.starts = [match.start() for match in _ATOM.finditer(text)]
        self._before = list(accumulate((_weight(text, start) for start in self.starts), initial=0))
        ends = (match.end() for match in _SENTENCE_END.finditer(text))
        self._sentences = sorted({bisect_left(self.starts, end) for end in ends})

    def within(self, first: int, room: int) -> int:
        """One past the last atom that fits into so many units from `first` on."""
        return bisect_right(self._before, self._before[first] + room) - 1

    def reaching(self, last: int, room: int) -> int:
        """The first atom from which so many units reach up to `last`, itself excluded."""
        return bisect_left(self._before, self._before[last] - room)

    def end(self, least: int, last: int) -> int:
        """The atom that the next part could begin with, in (least, last]."""
        place = bisect_right(self._sentences, last)
        if place and self._sentences[place - 1] > least:
            return self._sentences[place - 1]
        return next(filter(self._begins_word, range(last, least, -1)), last)

    def beginning(self, earliest: int, last: int) -> int:
        """The first atom of a sentence, else of a word, in [earliest, last); else `earliest`."""
        place = bisect_left(self._sentences, earliest)
        if place < len(self._sentences) and self._sentences[place] < last:
            return self._sentences[place]
        return next(filter(self._begins_word, range(earliest, last)), earliest)

    def _begins_word(self, atom: int) -> bool:
        return self._text[self.starts[atom] - 1].isspace()


def _weight(text: str, start: int) -> int:
    return HANGUL_UNITS if FIRST_HANGUL <= text[start] <= LAST_HANGUL else 1
