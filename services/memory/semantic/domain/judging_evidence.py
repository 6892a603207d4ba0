"""How firmly two statements are tied to each other, and how often a rule is right then (SPEC S-7).

    tie_of(old, new, subjects, path) -> Tie
    probability(tie) -> float

The probability of a replacement is the share of labelled pairs with its tie that the rules judged rightly,
drawn towards the share of all by ten pairs' weight (the mean of a beta distribution). Below `ACTED_ON` it
stays under the working point: what is found is not acted on. docs/memory-model.md has the table.
"""

from __future__ import annotations

import re
from enum import Enum

from services.memory.semantic.domain import judging_grammar as grammar
from services.memory.semantic.domain.judging_cues import Language
from services.memory.semantic.domain.judging_match import Relation, coverage
from services.memory.semantic.domain.judging_reading import Reading
from services.memory.semantic.domain.judging_slots import slots_of
from services.memory.semantic.domain.judging_tokens import Token
from services.memory.semantic.domain.judging_types import Cue, Path
from services.memory.semantic.domain.judging_words import words

COVERED = 0.75
"""Share of what the old statement says that the new one speaks of, where their subjects differ."""
ACTED_ON = 0.97
"""The reliability from which what is found is acted on."""
HELD_BACK = 0.7
"""At the most, of any other: below the working point of S-7, but not nothing."""

_CLAUSE = re.compile(
    r"[,;:!?–—](?!\d)|\.(?:\s|$)| - |"
    r"\b(?:and|but|so|because|und|aber|et|mais|y|pero|e|ma|mas|en|maar|i|a|и|а|но)\b"
)
_ASIDE = words(
    """after since due for until during before when nach seit wegen fur apres depuis pour despues desde por
    dopo per da depois voor na sinds po od dla после"""
)
"""Words that lead to a reason or a time, and not to what ended."""


class Tie(Enum):
    """How the new statement is tied to the old one."""

    FIRM = "of one subject"
    """One subject, or nearly all that the old statement says is spoken of."""
    VALUED = "by a value"
    """The subjects only touch, but both give a number or a time, another one, with a sign of change."""
    CROWDED = "beside something else"
    """The clause that tells of an ending has a word that the old one lacks: "no longer wears *heels*"."""
    LOOSE = "loosely"
    """The subjects only touch, and half of the old statement is not spoken of."""
    NARROWER = "of a narrower subject"
    """The new subject is the old one, or a word of it, with words of its own: "the bike *lock*"."""


RELIABILITY = {
    Tie.FIRM: 0.98,
    Tie.VALUED: 0.97,
    Tie.CROWDED: 0.75,
    Tie.LOOSE: 0.83,
    Tie.NARROWER: 0.6,
}
"""As measured on the development pairs (docs/memory-model.md); single rules do not differ enough."""


def tie_of(old: Reading, new: Reading, subjects: Relation, path: Path) -> Tie:
    """Returns the weakest tie that holds."""
    own = new.subject.all - old.subject.all - old.content
    shared = new.subject.all & (old.subject.all | old.content)
    if own and shared and new.language is not Language.OTHER:
        return Tie.NARROWER
    if path is Path.ENDED and new.language is not Language.OTHER and _crowded(old, new):
        return Tie.CROWDED
    given = new.content - old.content - new.subject.all
    if subjects.one or (coverage(old, new) >= COVERED and (given or path is not Path.CHANGED)):
        return Tie.FIRM
    first, second = old.values, new.values
    counted = bool(first.numbers and second.numbers) and first.numbers != second.numbers
    valued = counted or first.timed_otherwise(second)
    return Tie.VALUED if valued and path is not Path.COUNTED else Tie.LOOSE


def _crowded(old: Reading, new: Reading) -> bool:
    """Whether each clause that ends something speaks of something else too."""
    spans = [span for cue in (Cue.END, Cue.PAST) for span in new.cues.get(cue, ())]
    return bool(spans) and all(_unexplained(old, new, span) for span in spans)


def _unexplained(old: Reading, new: Reading, span: tuple[int, int]) -> bool:
    """Whether the clause around a phrase has a word of content that neither statement explains."""
    starts = [match.end() for match in _CLAUSE.finditer(new.folded) if match.end() <= span[0]]
    ends = [match.start() for match in _CLAUSE.finditer(new.folded) if match.start() >= span[1]]
    begin, end = (starts or [0])[-1], (ends or [len(new.folded)])[0]
    slots = {token.stem for token in new.tokens if slots_of(token.word, "") & old.slots}
    told = {token.stem for token in old.tokens} | new.subject.all | slots | new.units
    aside = False
    for token in new.tokens:
        gerund = token.word.endswith("ing") and token.start == span[1] + 1
        if gerund or not begin <= token.start < end:
            continue  # "stopped *using* emojis"
        if token.word in new.grammar.prepositions or token.word in _ASIDE:
            aside = token.word in _ASIDE
        elif not aside and _says(token, new) and token.stem not in told:
            return True
    return False


def _says(token: Token, reading: Reading) -> bool:
    counted = token.word[0].isdigit() or token.dated or token.word in grammar.ABSTRACT
    return token.stem in reading.content and not counted


def probability(tie: Tie) -> float:
    """Returns the reliability of a tie, or less than the working point if it is too low."""
    found = RELIABILITY[tie]
    return found if found >= ACTED_ON else min(found, HELD_BACK)
