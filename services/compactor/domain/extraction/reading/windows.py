"""The parts of a text in which its passages are scored (SPEC J-8). Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from services.compactor.domain.extraction.reading.passages import Heard
from services.compactor.domain.extraction.reading.spans import HIDDEN, sentences

MOST_CHARACTERS = 700
"""Of a window: within the 256 tokens that the network reads, for all but texts full of rare words."""
LONGEST = 4000
"""Of a sentence that is looked at at all: the network reads its beginning."""
MOST_PASSAGES = 1000
"""Of a window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Whole sentences from a character on, and the places of the passages in them."""

    start: int
    text: str
    passages: tuple[int, ...]


def windows(heard: Heard) -> list[Window]:
    """Those that hold passages; a passage that no window holds whole is not scored."""
    text, made = heard.text.replace(HIDDEN, " "), []
    for start, end in _stretches(heard):
        held = tuple(
            place for place, one in enumerate(heard.passages) if start <= one.start and one.end <= end
        )
        if held:
            made.append(Window(start=start, text=text[start:end], passages=held[:MOST_PASSAGES]))
    return made


def _stretches(heard: Heard) -> Iterator[tuple[int, int]]:
    """As many sentences together as fit."""
    begins = [heard.tokens[first].start for first, _, _ in sentences(heard.tokens, heard.text)]
    start = end = 0
    for stop in [*begins, len(heard.text)]:
        if end > start and stop - start > MOST_CHARACTERS:
            yield start, end
            start = end
        end = stop
        if end - start > LONGEST:
            start = end  # no sentence
    if end > start:
        yield start, end
