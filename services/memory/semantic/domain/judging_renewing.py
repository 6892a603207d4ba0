"""When a new value takes the place of an old one (SPEC S-7).

As `judging_replacing`; here the slot holds one value at a time, by its verb, its noun or its unit, and the
new statement has another.
"""

from __future__ import annotations

from itertools import pairwise

from services.memory.semantic.domain import judging_grammar as grammar
from services.memory.semantic.domain.judging_cues import Language
from services.memory.semantic.domain.judging_match import (
    Difference,
    Relation,
    anchors,
    covered,
    difference,
    led_otherwise,
    leftovers,
    narrower,
    of_region,
    opposed,
)
from services.memory.semantic.domain.judging_reading import Reading
from services.memory.semantic.domain.judging_slots import Slot
from services.memory.semantic.domain.judging_state import (
    gains,
    holds_the_same,
    of_property,
    retimed,
    slot_words,
)
from services.memory.semantic.domain.judging_types import Cue, Path

VALUE_WORDS = 3
"""A value is at most so many words."""


def by_count(old: Reading, new: Reading, subjects: Relation) -> Path | None:
    """Another number of the same unit, of the same thing, in a statement about a state."""
    signed = new.has(Cue.CHANGE, Cue.END, Cue.NOW, Cue.AGAIN)
    if not _recounted(old, new, signed=signed) or not _lasting(old, signed=signed):
        return None
    if new.subject.details - old.subject.all or ((old.values.dated or new.values.dated) and not signed):
        return None
    if narrower(old, new) or led_otherwise(old, new, grammar.TO_WHERE):
        return None
    left, right = leftovers(old, new)
    if left and right and not (signed and covered(old, new)):
        return None
    same_thing = (
        anchors(old, new)
        or old.subject.words & new.subject.words
        or (subjects.one and signed and old.units & new.units)
    )
    return Path.COUNTED if same_thing else None


def by_new_value(old: Reading, new: Reading, subjects: Relation) -> Path | None:
    """Another value in a slot that holds one: by the verb or the noun, or by a sign that it is new."""
    if holds_the_same(old, new) or new.subject.details - old.subject.all - old.content:
        return None
    personal = not old.subject.words or old.subject.person
    strangers = new.subject.person and not new.subject.words & old.subject.words
    if narrower(old, new) or (strangers and not subjects.one):
        return None
    if personal and new.circumstances and not old.circumstances:
        return None
    fresh = gains(Cue.NOW, old, new) and _fresh(old, new)
    if fresh and subjects.one and opposed(old, new):
        return Path.FRESH
    if Language.OTHER in {old.language, new.language}:
        return _in_other_script(old, new) if subjects.one and fresh else None
    differs = difference(old, new)
    if subjects.one and differs is not None and not differs.in_subject and _takes_one(old, new, differs):
        return Path.RENEWED
    if fresh and (_same_slot(old, new, differs) if subjects.one else _told_of_thing(old, new)):
        return Path.FRESH
    return None


def _fresh(old: Reading, new: Reading) -> bool:
    """Whether more is new than a thing that the old statement does not speak of: "has a new receptionist"."""
    spans = [span for span in new.cues[Cue.NOW] if new.folded[slice(*span)] not in grammar.NEW]
    nouns = {after.stem for before, after in pairwise(new.tokens) if before.word in grammar.NEW}
    return bool(spans) or bool(nouns & (old.content | slot_words(old))) or new.tokens[0].word in grammar.NEW


def _told_of_thing(old: Reading, new: Reading) -> bool:
    """Whether the new statement names the thing that the old one is about, and its value may be another."""
    named = of_property(old) and bool(old.subject.words) and old.subject.words <= new.content
    return covered(old, new) and (named or retimed(old, new))


def _in_other_script(old: Reading, new: Reading) -> Path | None:
    """Scripts without a grammar here: a sign that it is new, and a slot or most of the old statement."""
    told = covered(old, new) and anchors(old, new)
    same = told or old.slots & new.slots or old.values.timed_otherwise(new.values)
    return Path.FRESH if same else None


def _recounted(old: Reading, new: Reading, *, signed: bool) -> bool:
    """Whether a unit that both count, or an age, has another number; with a sign it may be left out."""
    lone = len(old.values.numbers) == len(new.values.numbers) == 1
    differs = old.values.numbers != new.values.numbers
    if lone and differs and (Slot.AGE in old.slots & new.slots):
        return True
    first, second = ({q.unit for q in reading.values.quantities} for reading in (old, new))
    told = first & {token.word.removesuffix("s") for token in new.tokens}
    if signed and lone and differs and ("" in first | second or told):
        return True
    return any(_of_unit(old, unit) != _of_unit(new, unit) for unit in first & second - {""})


def _of_unit(reading: Reading, unit: str) -> set[float]:
    return {quantity.value for quantity in reading.values.quantities if quantity.unit == unit}


def _lasting(reading: Reading, *, signed: bool) -> bool:
    """Whether the statement is about a state and not about something that happened."""
    words = reading.grammar
    known = (words.copulas, words.having, words.single, words.verbs, grammar.THING_VERBS)
    stated = any(reading.verb in verbs for verbs in known) or (signed and not reading.verb)
    return stated and not reading.happened and reading.verb not in grammar.PAST


def _takes_one(old: Reading, new: Reading, differs: Difference) -> bool:
    """Whether the differing place holds one value, and both values are of one sort."""
    if old.verb != new.verb or not _plain_value(old, differs) or not _same_sort(old, new):
        return False
    words = old.grammar
    if old.verb in words.copulas or (not old.verb and ":" in old.folded):
        return old.verb not in grammar.PAST and (of_property(old) or old.values.timed_otherwise(new.values))
    thing = bool(old.subject.words) and not old.subject.person
    typed = _counts(old) or bool(old.names & set(differs.old))
    return typed and (old.verb in words.single or (thing and old.verb in grammar.THING_VERBS))


def _plain_value(old: Reading, differs: Difference) -> bool:
    """Whether the differing words are values: few, without a preposition, and no place that holds places."""
    words = old.grammar
    words_of_none = words.prepositions | words.pronouns
    linked = any(word in words_of_none for word in (*differs.old, *differs.new))
    told = bool(old.names & set(differs.old)) or any(word[0].isdigit() for word in differs.old)
    return (
        differs.short(VALUE_WORDS if told or old.subject.words else 1)
        and not linked
        and not of_region(differs.old)
        and not of_region(differs.new)
    )


def _same_sort(old: Reading, new: Reading) -> bool:
    """Whether the values are of one sort: both with numbers, or neither; both with names, or neither."""
    numbers = _counts(old) == _counts(new)
    names = bool(old.names - new.names) == bool(new.names - old.names)
    return numbers and names


def _counts(reading: Reading) -> bool:
    """Whether a number, a time or a date is named."""
    values = reading.values
    return bool(values.quantities or values.times or values.weekdays or values.dated)


def _same_slot(old: Reading, new: Reading, differs: Difference | None) -> bool:
    """Whether both fill one slot, told by its words, a thing's verb, or a verb that takes one value."""
    if old.slots & new.slots:
        return True
    thing = bool(old.subject.words) and not old.subject.person and not old.subject.kin
    if differs is not None and not differs.in_subject and _plain_value(old, differs):
        if not _same_sort(old, new):
            return False
        single = old.verb in old.grammar.copulas or old.verb in old.grammar.single
        of_thing = thing and old.verb not in old.grammar.having
        return single or of_thing or (not old.subject.words and bool(anchors(old, new)))
    if thing and differs is not None and old.verb == new.verb and old.verb in old.grammar.copulas:
        placed = {differs.old[0], differs.new[0]} <= grammar.LOCATIVES
        if placed and not differs.in_subject:
            return True
    timed = bool(old.values.times or old.values.weekdays)
    if timed and old.values.timed_otherwise(new.values):
        if old.subject.words and not old.subject.person:
            return True
        return (old.verb_stem == new.verb_stem or bool(anchors(old, new))) and not leftovers(old, new)[0]
    if anchors(old, new) and covered(old, new) and old.key_parts & new.key_parts:
        return not old.subject.person or old.verb == new.verb
    if not old.subject.words & new.subject.words or not thing:
        return False
    said = old.grammar.having | old.grammar.copulas
    return of_property(old) or (old.verb == new.verb and old.verb not in said) or retimed(old, new)
