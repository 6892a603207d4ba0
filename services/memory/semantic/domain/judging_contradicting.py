"""When two statements cannot both be true (SPEC S-7)."""

from __future__ import annotations

from services.memory.semantic.domain.judging_grammar import PAST
from services.memory.semantic.domain.judging_match import Relation, difference, leftovers, of_region
from services.memory.semantic.domain.judging_reading import Reading
from services.memory.semantic.domain.judging_slots import Fixed
from services.memory.semantic.domain.judging_types import Cue, Verdict

FIXED_SLOT = 0.9
ONE_EVENT = 0.85
DENIAL = 0.85

_EXCLUSIVE = frozenset({Fixed.WINNER, Fixed.RANK, Fixed.SUPERLATIVE, Fixed.FOUNDING, Fixed.AUTHOR})
"""Slots that one subject fills at most: another subject contradicts, not only another value."""
_REPEATED = frozenset({Fixed.WINNER, Fixed.RANK, Fixed.AUTHOR})
"""Those that may be filled in several years."""
_LASTING = frozenset({Fixed.SUPERLATIVE, Fixed.FOUNDING, Fixed.AUTHOR})
"""Those that need no date to be pinned down."""
_MOVES = (Cue.CHANGE, Cue.NOW)
_EVERY_MOMENT = (
    "all day",
    "whole day",
    "all evening",
    "all night",
    "entire",
    "den ganzen",
    "toute la",
    "todo el dia",
)


def contradiction(old: Reading, new: Reading, subjects: Relation) -> Verdict | None:
    """Returns the verdict of the first rule that finds one; a correction replaces and does not contradict."""
    if new.has(Cue.CORRECTION, Cue.AGAIN, Cue.ADD) and not old.has(Cue.CORRECTION):
        return None
    if _fixed_slot(old, new, subjects):
        return _verdict(FIXED_SLOT, "fixed slot")
    if _exclusive(old, new):
        return _verdict(FIXED_SLOT, "exclusive slot")
    if _one_event(old, new, subjects) or _told_twice(old, new, subjects):
        return _verdict(ONE_EVENT, "one event, two accounts")
    return _verdict(DENIAL, "denial of an event") if _denial(old, new, subjects) else None


def _verdict(probability: float, reason: str) -> Verdict:
    return Verdict(replaces=0.0, contradicts=probability, reason=reason)


def _fixed_slot(old: Reading, new: Reading, subjects: Relation) -> bool:
    """One subject, one fixed slot, values of one sort that exclude each other."""
    if old.fixed is None or old.fixed is not new.fixed or subjects.apart:
        return False
    if not subjects.one and not old.subject.words & new.subject.words:
        return False
    if old.values.days and new.values.days:
        return old.values.days != new.values.days
    if old.fixed not in _REPEATED and old.values.years and new.values.years:
        return not old.values.years & new.values.years
    if old.fixed is Fixed.MEASURE:
        return old.values.numbers != new.values.numbers and not new.has(*_MOVES, Cue.END)
    return not old.values.dated and not new.values.dated and _other_value(old, new)


def _other_value(old: Reading, new: Reading) -> bool:
    """Two values in one place of the wording, neither of which may hold the other."""
    differs = difference(old, new)
    if differs is not None:
        return not differs.in_subject and not of_region(differs.old) and not of_region(differs.new)
    first = old.names - new.names - old.subject.all
    second = new.names - old.names - new.subject.all
    return bool(first and second) and not of_region((*first, *second))


def _exclusive(old: Reading, new: Reading) -> bool:
    """Two subjects in a place that only one can take."""
    if old.fixed not in _EXCLUSIVE or old.fixed is not new.fixed or old.values.years != new.values.years:
        return False
    differs = difference(old, new)
    pinned = old.values.dated or old.fixed in _LASTING
    return pinned and differs is not None and differs.short(2) and bool(old.content & new.content)


def _one_event(old: Reading, new: Reading, subjects: Relation) -> bool:
    """The same day of the same subject, told with values that exclude each other."""
    if not subjects.one or not old.subject.words or not old.values.dated:
        return False
    if old.values.days != new.values.days or old.values.years != new.values.years:
        return False
    if all(any(phrase in reading.folded for phrase in _EVERY_MOMENT) for reading in (old, new)):
        return all(leftovers(old, new))
    timed = bool(old.values.times or new.values.times) and old.values.times != new.values.times
    return bool(old.verb) and old.verb == new.verb and bool(old.values.days) and timed


def _told_twice(old: Reading, new: Reading, subjects: Relation) -> bool:
    """What happened to one thing, in the same words but for one value: where it was stolen, what it cost."""
    if not subjects.one or not old.subject.words or old.subject.person or old.subject.kin:
        return False
    if old.verb != new.verb or not (old.happened or old.verb in PAST) or new.has(*_MOVES):
        return False
    differs = difference(old, new)
    same_time = old.values.years == new.values.years and old.values.days == new.values.days
    return differs is not None and not differs.in_subject and differs.short(2) and same_time


def _denial(old: Reading, new: Reading, subjects: Relation) -> bool:
    """One of them denies, with hardly another word, what the other tells of a day or of all time."""
    if old.has(Cue.NEGATION) == new.has(Cue.NEGATION) or new.has(Cue.END, Cue.NOW, Cue.CHANGE):
        return False
    shared = old.content & new.content
    one_day = bool(old.values.days & new.values.days)
    one_year = bool(old.values.years & new.values.years) and old.values.days == new.values.days
    denying = (new if new.has(Cue.NEGATION) else old).folded.split()
    ever = ("ever" in denying or "never" in denying) and (old.values.dated or new.values.dated)
    smaller = min(len(old.content), len(new.content))
    return not subjects.apart and (one_day or one_year or ever) and 2 * len(shared) >= smaller > 0
