"""Facts that a person states in a message, read without any model (SPEC J-8, J-9, J-16). Pure.

    extract(turn) -> list[Fact]             of one message, in its order
    durable(facts) -> list[Fact]            the few that outlast a covered range (J-9)

Grammar rather than likelihood: a sentence counts when its beginning is understood as a plain statement in
the first person or about somebody near to its author; whatever is not understood is left. English thoroughly,
German, French and Spanish in their basic forms, other languages not at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from services.compactor.domain.extracting_chat import is_english, is_foreign
from services.compactor.domain.extracting_english import facts_of
from services.compactor.domain.extracting_french import FRENCH
from services.compactor.domain.extracting_german import GERMAN
from services.compactor.domain.extracting_latin import reader
from services.compactor.domain.extracting_spanish import SPANISH
from services.compactor.domain.extracting_subjects import author_of
from services.compactor.domain.extracting_text import statements, visible
from services.compactor.domain.extracting_types import (
    FLUSHED,
    MOST_FACTS,
    MOST_KEY,
    MOST_NAME,
    MOST_VALUE,
    Category,
    Fact,
    Turn,
)

NAME = "grammar-2"
"""The engine's name; another number when the same text may give other facts."""
_READERS = (
    ("The user", facts_of, is_english),
    *((*reader(language), is_foreign) for language in (GERMAN, FRENCH, SPANISH)),
)
_KEY = re.compile(rf"[a-z0-9._:-]{{1,{MOST_KEY}}}")
_PASSING = frozenset({Category.EVENT, Category.TASK})


def extract(turn: Turn) -> list[Fact]:
    """The facts of a message, at most MOST_FACTS; the last one of a key counts."""
    said = turn.said.date()
    sentences = statements(turn.text)
    author = " ".join(visible(turn.author).split())[:MOST_NAME]
    found: dict[str, Fact] = {}
    for unnamed, read, may_be in _READERS:
        subject = author_of(author, owner=turn.owner, unnamed=unnamed)
        for fact in read([one for one in sentences if may_be(one)], subject, said):
            if _fits(fact):
                found.pop(fact.key, None)
                found[fact.key] = fact
    return list(found.values())[:MOST_FACTS]


def durable(facts: Iterable[Fact], most: int = FLUSHED) -> list[Fact]:
    """The newest of each key, states before events and tasks, at most `most`; `facts` the oldest first."""
    newest = {fact.key: fact for fact in facts}
    kept = sorted(newest.values(), key=lambda fact: fact.category in _PASSING)
    return kept[:most]


def _fits(fact: Fact) -> bool:
    return bool(_KEY.fullmatch(fact.key)) and bool(fact.predicate) and len(fact.value.encode()) <= MOST_VALUE
