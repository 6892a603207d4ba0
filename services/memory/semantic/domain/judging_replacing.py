"""When a new statement takes the place of an old one (SPEC S-7).

Each rule takes two readings about the same subject, or one named in the other, and returns a verdict or
nothing.
"""

from __future__ import annotations

import re

from services.memory.semantic.domain import judging_grammar as grammar
from services.memory.semantic.domain.judging_cues import Language
from services.memory.semantic.domain.judging_match import (
    Difference,
    Relation,
    anchors,
    difference,
    leftovers,
    of_region,
    verb_ends,
)
from services.memory.semantic.domain.judging_objects import Target, targets
from services.memory.semantic.domain.judging_reading import Reading
from services.memory.semantic.domain.judging_slots import Slot
from services.memory.semantic.domain.judging_types import Cue, Verdict

ENDED = 0.9
CHANGED = 0.88
CORRECTED = 0.85
NEW_VALUE = 0.8

NEAR = 30
"""Characters between an ending and what ends."""
_PLANNED = re.compile(
    r"\b(?:planned|scheduled|will|takes place|geplant|findet|prevu\w*|aura lieu|previst[oa])\b"
)
VALUE_WORDS = 3
"""A value is at most so many words."""


def by_correction(old: Reading, new: Reading, subjects: Relation) -> Verdict | None:
    """The new statement takes back what was said of the subject."""
    corrects = _gains(Cue.CORRECTION, old, new) and _about(old, new, subjects)
    return _verdict(CORRECTED, "corrected") if corrects else None


def by_ending(old: Reading, new: Reading, subjects: Relation) -> Verdict | None:
    """Something ended, and it is what the old statement says."""
    if not _gains(Cue.END, old, new):
        return None
    ended = any(_ends(old, new, subjects, targets(new, span)) for span in new.cues[Cue.END])
    return _verdict(ENDED, "ended") if ended else None


def _ends(old: Reading, new: Reading, subjects: Relation, target: Target) -> bool:
    """Whether what ends is what the old statement says."""
    if subjects is Relation.MENTIONED:
        return bool(target.stems & old.content) and (target.subject or target.stems <= new.subject.words)
    if target.stems & anchors(old, new) or (subjects.one and verb_ends(old, new)):
        return True
    if subjects is Relation.CARRIED:
        return not new.subject.words and bool(target.stems & old.subject.words)
    if not subjects.one or _holds_the_same(old, new):
        return False
    return bool(old.slots & new.slots) or (target.subject and _fixed_for_a_time(old))


def _fixed_for_a_time(reading: Reading) -> bool:
    """Whether the statement is about a thing that is to happen at some time."""
    when = reading.values.times or reading.values.days or reading.values.weekdays
    planned = _PLANNED.search(reading.folded) or any(token.dated for token in reading.tokens)
    return bool(reading.subject.words and not reading.subject.named and (when or planned))


def by_change(old: Reading, new: Reading, subjects: Relation) -> Verdict | None:
    """The new statement says that something changed, and is about what the old one says."""
    changes = _gains(Cue.CHANGE, old, new) and _about(old, new, subjects)
    return _verdict(CHANGED, "changed") if changes else None


def by_fulfilment(old: Reading, new: Reading, _: Relation) -> Verdict | None:
    """What the old statement waits for has come."""
    if not old.has(Cue.PENDING) or new.has(Cue.PENDING) or not new.has(Cue.DONE, Cue.END):
        return None
    shared = anchors(old, new) or (old.content & new.content and not old.subject.named)
    return _verdict(CHANGED, "fulfilled") if shared else None


def by_resumption(old: Reading, new: Reading, subjects: Relation) -> Verdict | None:
    """What the old statement denies has come back."""
    if not old.has(Cue.NEGATION, Cue.END) or new.has(Cue.NEGATION, Cue.END) or not new.has(Cue.AGAIN):
        return None
    resumed = subjects.one and anchors(old, new)
    return _verdict(CHANGED, "resumed") if resumed else None


def by_count(old: Reading, new: Reading, subjects: Relation) -> Verdict | None:
    """Another number of the same unit, of the same thing, in a statement about a state."""
    if not (subjects.one or subjects is Relation.CARRIED) or not _recounted(old, new) or not _lasting(old):
        return None
    signed = new.has(Cue.CHANGE, Cue.END)
    if new.subject.details - old.subject.all or (
        (old.values.dated or new.values.dated) and not (signed or new.has(Cue.NOW))
    ):
        return None
    left, right = leftovers(old, new)
    if left and right and not signed:
        return None
    same_thing = anchors(old, new) or old.subject.words & new.subject.words
    return _verdict(NEW_VALUE, "another number") if same_thing else None


def by_new_value(old: Reading, new: Reading, subjects: Relation) -> Verdict | None:
    """Another value in a slot that holds one: by the verb or the noun, or by a sign that it is new."""
    if not subjects.one or _holds_the_same(old, new) or new.subject.details - old.subject.all:
        return None
    if Language.OTHER in {old.language, new.language}:
        return _in_other_script(old, new)
    differs = difference(old, new)
    if differs is not None and not differs.in_subject and _takes_one(old, new, differs):
        return _verdict(NEW_VALUE, "another value")
    if _gains(Cue.NOW, old, new) and _same_slot(old, new, differs):
        return _verdict(NEW_VALUE, "a new value from now on")
    return None


def _in_other_script(old: Reading, new: Reading) -> Verdict | None:
    """Scripts without a grammar here: a sign that it is new, and a slot or most of the old statement."""
    shared = anchors(old, new) and 2 * len(old.content & new.content) >= len(old.content)
    told = shared or old.slots & new.slots or old.values.timed_otherwise(new.values)
    fresh = told and _gains(Cue.NOW, old, new)
    return _verdict(NEW_VALUE, "a new value from now on") if fresh else None


def _gains(cue: Cue, old: Reading, new: Reading) -> bool:
    return new.has(cue) and not old.has(cue)


def _about(old: Reading, new: Reading, subjects: Relation) -> bool:
    """Whether the new one speaks of what the old one says: content, a slot, a time, a thing that changed."""
    if subjects.apart or subjects is Relation.MENTIONED:
        return False
    if Language.OTHER in {old.language, new.language}:
        return _about_in_other_script(old, new, subjects)
    if subjects is Relation.CARRIED:
        if new.subject.words:
            return new.subject.named and bool(anchors(old, new) - old.subject.all)
        spans = [*new.cues.get(Cue.CHANGE, ()), *new.cues.get(Cue.END, ()), *new.cues.get(Cue.CORRECTION, ())]
        return bool(anchors(old, new) - old.subject.all) or any(
            _near(new, span, old.subject.words) for span in spans
        )
    if anchors(old, new):
        return True
    if not subjects.one or _holds_the_same(old, new):
        return False
    if old.slots & new.slots:
        return True
    return subjects is Relation.SAME and not old.subject.kin and _retimed(old, new)


def _about_in_other_script(old: Reading, new: Reading, subjects: Relation) -> bool:
    """Likewise where only words beside the phrase tell what it acts on."""
    spans = [*new.cues.get(Cue.CHANGE, ()), *new.cues.get(Cue.CORRECTION, ())]
    shared = anchors(old, new)
    if any(targets(new, span).stems & shared for span in spans):
        return True
    return subjects.one and bool(old.slots & new.slots or old.values.timed_otherwise(new.values))


def _retimed(old: Reading, new: Reading) -> bool:
    """Whether a thing's value of some sort is another now: its time, its place, what it is called."""
    if old.values.timed_otherwise(new.values) or _relocated(old, new):
        return True
    copula = old.verb in old.grammar.copulas
    if copula and not old.subject.named and old.values.numbers and new.values.numbers:
        return True
    named = bool(old.names - new.names - old.subject.all) and bool(new.names - old.names - new.subject.all)
    property_of = any(word.startswith(tuple(old.subject.words)) for word in grammar.PROPERTIES) and _property(
        old
    )
    renamed = any(new.folded[start:end].endswith("renamed") for start, end in new.cues.get(Cue.CHANGE, ()))
    return not old.subject.named and not renamed and (named or property_of)


def _relocated(old: Reading, new: Reading) -> bool:
    """Whether the old statement says where a thing is, and the new one that it moved."""
    words = old.grammar
    placed = any(
        first.word in words.copulas and second.word in grammar.LOCATIVES
        for first, second in zip(old.tokens, old.tokens[1:], strict=False)
    )
    moved = any(
        new.folded[start:end].startswith(grammar.MOVES) for start, end in new.cues.get(Cue.CHANGE, ())
    )
    return placed and moved and not old.subject.named


def _near(reading: Reading, span: tuple[int, int], stems: frozenset[str]) -> bool:
    start, end = max(0, span[0] - NEAR), span[1] + NEAR
    return any(token.stem in stems and start <= token.start < end for token in reading.tokens)


def _holds_the_same(old: Reading, new: Reading) -> bool:
    """Whether all names, or all numbers, of the new statement are in the old one already."""
    if old.values.quantities and new.values.quantities and old.values.same(new.values):
        return not new.names - old.names
    told = bool(new.names - new.subject.all) and new.names <= old.names
    return told and old.values.same(new.values) and not new.has(Cue.END)


def _recounted(old: Reading, new: Reading) -> bool:
    """Whether a unit that both count, or an age, has another number."""
    if Slot.AGE in old.slots & new.slots and len(old.values.numbers) == len(new.values.numbers) == 1:
        return old.values.numbers != new.values.numbers
    units = {q.unit for q in old.values.quantities} & {q.unit for q in new.values.quantities} - {""}
    return any(_of_unit(old, unit) != _of_unit(new, unit) for unit in units)


def _of_unit(reading: Reading, unit: str) -> set[float]:
    return {quantity.value for quantity in reading.values.quantities if quantity.unit == unit}


def _lasting(reading: Reading) -> bool:
    """Whether the statement is about a state and not about something that happened."""
    words = reading.grammar
    verbs = (words.copulas, words.having, words.single, grammar.THING_VERBS)
    return not reading.verb or any(reading.verb in known for known in verbs)


def _takes_one(old: Reading, new: Reading, differs: Difference) -> bool:
    """Whether the differing place holds one value, and both values are of one sort."""
    if old.verb != new.verb or not _plain_value(old, differs) or not _same_sort(old, new):
        return False
    words = old.grammar
    if old.verb in words.copulas:
        return old.verb not in grammar.PAST and (_property(old) or old.values.timed_otherwise(new.values))
    thing = bool(old.subject.words) and not old.subject.named and not old.subject.kin
    return old.verb in words.single or (thing and old.verb in grammar.THING_VERBS)


def _plain_value(old: Reading, differs: Difference) -> bool:
    """Whether the differing words are values: few, without a preposition, and no place that holds places."""
    words = old.grammar
    linked = any(word in words.prepositions for word in (*differs.old, *differs.new))
    return (
        differs.short(VALUE_WORDS)
        and not linked
        and not of_region(differs.old)
        and not of_region(differs.new)
    )


def _property(reading: Reading) -> bool:
    """Whether the subject is a noun of which there is one: a deadline, a manager."""
    head = reading.subject.head
    return any(
        word == head or (len(head) >= PROPERTY_LETTERS and word.startswith(head))
        for word in grammar.PROPERTIES
    )


PROPERTY_LETTERS = 5
"""Letters from which a stem is held to be that of a property."""


def _same_sort(old: Reading, new: Reading) -> bool:
    """Whether the values are of one sort: both with numbers, or neither; both with names, or neither."""
    numbers = bool(old.values.quantities or old.values.times) == bool(
        new.values.quantities or new.values.times
    )
    names = bool(old.names - new.names) == bool(new.names - old.names)
    return numbers and names


def _same_slot(old: Reading, new: Reading, differs: Difference | None) -> bool:
    """Whether both fill one slot, told by its words, a thing's verb, or a verb that takes one value."""
    if old.slots & new.slots:
        return True
    if differs is not None and not differs.in_subject and _plain_value(old, differs):
        single = old.verb in old.grammar.copulas or old.verb in old.grammar.single
        return single or (not old.subject.words and bool(anchors(old, new)))
    if old.verb and old.verb == new.verb and old.values.times and new.values.times:
        return old.values.times != new.values.times
    thing = old.subject.words & new.subject.words and not old.subject.named and not old.subject.kin
    if not thing:
        return False
    return (
        _property(old) or (old.verb == new.verb and old.verb not in old.grammar.having) or _retimed(old, new)
    )


def _verdict(probability: float, reason: str) -> Verdict:
    return Verdict(replaces=probability, contradicts=0.0, reason=reason)
