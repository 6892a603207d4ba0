"""What rules of replacement ask of two statements (SPEC S-7).

gains(cue, old, new) -> bool           the new one has a sign that the old one lacks
retimed(old, new) -> bool              a value of some sort is another: a time, a number, a place, a name
holds_the_same(old, new) -> bool       the names, or the numbers, are those of the old one
of_property(reading) -> bool           the subject is a noun of which there is one
slot_words(reading) -> frozenset[str]  words that name a slot
"""

from __future__ import annotations

import re

from services.memory.semantic.domain import judging_grammar as grammar
from services.memory.semantic.domain.judging_reading import Reading
from services.memory.semantic.domain.judging_slots import slots_of
from services.memory.semantic.domain.judging_types import Cue

_FIRST_CHOICE = re.compile(r"\bof choice\b|\bnumber one\b|\bgo-to\b|\bmost (?=is\b|are\b)")
PROPERTY_LETTERS = 5
"""Letters from which a stem is held to be that of a property."""


def gains(cue: Cue, old: Reading, new: Reading) -> bool:
    """Whether the new statement has a sign that the old one lacks."""
    return new.has(cue) and not old.has(cue)


def retimed(old: Reading, new: Reading) -> bool:
    """Whether a thing's value of some sort is another now: its time, its number, its place, its name."""
    if old.values.timed_otherwise(new.values) or _relocated(old, new):
        return True
    if old.subject.person or old.subject.kin:
        return False
    one_unit = bool(old.units & new.units) or not _moves(new)
    if one_unit and old.values.numbers and new.values.numbers and old.values.numbers != new.values.numbers:
        return True
    named = bool(old.names - new.names - old.subject.all) and bool(new.names - old.names - new.subject.all)
    called = any(token.word in grammar.CALLED for token in old.tokens) and new.has(Cue.CHANGE)
    return named or called or of_property(old)


def _relocated(old: Reading, new: Reading) -> bool:
    """Whether the old statement says where a thing is, and the new one that it moved."""
    words = old.grammar
    placed = any(
        (first.word in words.copulas or first.word in grammar.PLACED) and second.word in grammar.LOCATIVES
        for first, second in zip(old.tokens, old.tokens[1:], strict=False)
    )
    return placed and _moves(new) and not old.subject.person


def _moves(reading: Reading) -> bool:
    """Whether the statement says that something went to another place."""
    return any(
        word.startswith(grammar.MOVES)
        for start, end in reading.cues.get(Cue.CHANGE, ())
        for word in reading.folded[start:end].split()
    )


def holds_the_same(old: Reading, new: Reading) -> bool:
    """Whether all names, or all numbers, of the new statement are in the old one already."""
    if old.values.quantities and new.values.quantities and old.values.same(new.values):
        return not new.names - old.names
    told = bool(new.names - new.subject.all) and new.names <= old.names
    return told and old.values.same(new.values) and not new.has(Cue.END)


def of_property(reading: Reading) -> bool:
    """Whether the subject is a noun of which there is one: a deadline, a manager, a favourite anything."""
    leads = any(token.word in grammar.SUPERLATIVE for token in reading.tokens[:3])
    if leads or _FIRST_CHOICE.search(reading.folded):
        return True
    head = reading.subject.head
    return any(
        word == head or (len(head) >= PROPERTY_LETTERS and word.startswith(head))
        for word in grammar.PROPERTIES
    )


def slot_words(reading: Reading) -> frozenset[str]:
    """Stems of the words that name a slot: a job, smoking."""
    return frozenset(token.stem for token in reading.tokens if slots_of(token.word, ""))
