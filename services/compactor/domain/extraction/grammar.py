"""Facts that a person states in a message, read without any model (SPEC J-8, J-9, J-16). Pure.

    extract(turn) -> list[Fact]             of one message, in its order
    durable(facts) -> list[Fact]            the few that outlast a covered range (J-9)

Grammar rather than likelihood: a sentence counts when its beginning is understood as a plain statement in
the first person or about somebody near to its author; whatever is not understood is left. English thoroughly,
German, French and Spanish by frames that they share, Chinese and Japanese by frames of their own, other
languages not at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from services.compactor.domain.extraction import cjk, latin
from services.compactor.domain.extraction.cjk.shared import CHINESE, JAPANESE, tongues
from services.compactor.domain.extraction.english.chat import is_english, is_foreign
from services.compactor.domain.extraction.english.naming import presupposed
from services.compactor.domain.extraction.english.reader import facts_of
from services.compactor.domain.extraction.facts import (
    FLUSHED,
    MOST_FACTS,
    MOST_KEY,
    MOST_NAME,
    MOST_VALUE,
    Category,
    Fact,
    Reader,
    Turn,
)
from services.compactor.domain.extraction.subjects import author_of
from services.compactor.domain.extraction.text import said_and_asked, visible

NAME = "grammar-3"
"""The engine's name; another number when the same text may give other facts."""
USER = "The user"
"""Who says "I" where no name is known, in English."""
_KEY = re.compile(rf"[a-z0-9._:-]{{1,{MOST_KEY}}}")
_PASSING = frozenset({Category.EVENT, Category.TASK})


def extract(turn: Turn) -> list[Fact]:
    """The facts of a message, at most MOST_FACTS; the last one of a key counts."""
    said = turn.said.date()
    sentences, questions = said_and_asked(turn.text)
    author = " ".join(visible(turn.author).split())[:MOST_NAME]
    asked = [one for one in questions if is_english(one)]
    named = presupposed(asked, author_of(author, owner=turn.owner, unnamed=USER))
    found = {fact.key: fact for fact in named if fits(fact)}
    for unnamed, read, own in _readings(sentences):
        subject = author_of(author, owner=turn.owner, unnamed=unnamed)
        for fact in read(own, subject, said):
            if fits(fact):
                found.pop(fact.key, None)
                found[fact.key] = fact
    return list(found.values())[:MOST_FACTS]


def durable(facts: Iterable[Fact], most: int = FLUSHED) -> list[Fact]:
    """The newest of each key, states before events and tasks, at most `most`; `facts` the oldest first."""
    newest = {fact.key: fact for fact in facts}
    kept = sorted(newest.values(), key=lambda fact: fact.category in _PASSING)
    return kept[:most]


def fits(fact: Fact) -> bool:
    """Whether it can be a memory (S-1)."""
    return bool(_KEY.fullmatch(fact.key)) and bool(fact.predicate) and len(fact.value.encode()) <= MOST_VALUE


def _readings(sentences: Sequence[str]) -> Iterator[tuple[str, Reader, list[str]]]:
    """Who reads which sentences, with how it calls an author without a name."""
    spoken = list(zip(sentences, tongues(sentences), strict=True))
    spaced = [one for one, tongue in spoken if not tongue]
    yield USER, facts_of, [one for one in spaced if is_english(one)]
    if foreign := [one for one in spaced if is_foreign(one)]:
        yield from latin.readings(foreign)
    for tongue in (CHINESE, JAPANESE):
        if own := [one for one, its in spoken if its == tongue]:
            yield *cjk.reader(tongue), own
