"""The parts of a text in which its passages are scored (SPEC J-8). Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from services.compactor.domain.extraction.facts import MOST_TEXT, Turn
from services.compactor.domain.extraction.reading.passages import Passage
from services.compactor.domain.extraction.reading.spans import HIDDEN, masked

MOST_CHARACTERS = 700
"""Of a window: within the 256 tokens that the network reads, for all but texts full of rare words."""
LONGEST = 4000
"""Of a sentence that is looked at at all: the network reads its beginning."""
MOST_PASSAGES = 1000
"""Of a window."""
_END = re.compile(r"(?<=[.!?…])\s+|\n+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Whole sentences from a character on, and the places of the passages in them."""

    start: int
    text: str
    passages: tuple[int, ...]


def windows(turn: Turn, found: Sequence[Passage]) -> list[Window]:
    """Those that hold passages; a passage that no window holds whole is not scored."""
    text = masked(turn.text[:MOST_TEXT]).replace(HIDDEN, " ")
    made = []
    for start, end in _stretches(text):
        held = tuple(place for place, one in enumerate(found) if start <= one.start and one.end <= end)
        if held:
            made.append(Window(start=start, text=text[start:end], passages=held[:MOST_PASSAGES]))
    return made


def _stretches(text: str) -> Iterator[tuple[int, int]]:
    """As many sentences together as fit."""
    start = end = 0
    for stop in [*(match.end() for match in _END.finditer(text)), len(text)]:
        if end > start and stop - start > MOST_CHARACTERS:
            yield start, end
            start = end
        end = stop
        if end - start > LONGEST:
            start = end  # no sentence
    if end > start:
        yield start, end
