"""When a new statement takes the place of an old one (SPEC S-7).

Each rule takes two readings that are not apart, and how their subjects stand to each other, and returns a
verdict or nothing. All of them ask for two things: a sign that something is otherwise now, and that the new
statement speaks of what the old one says. Only `by_new_value` does without the first: there the slot
itself holds one value.
"""

from __future__ import annotations

import re

from services.memory.semantic.domain.judging_cues import Language
from services.memory.semantic.domain.judging_match import (
    Relation,
    anchors,
    covered,
    narrower,
    opposed,
    verb_ends,
)
from services.memory.semantic.domain.judging_objects import Target, targets
from services.memory.semantic.domain.judging_reading import Reading
from services.memory.semantic.domain.judging_slots import Slot
from services.memory.semantic.domain.judging_state import (
    gains,
    holds_the_same,
    retimed,
    slot_words,
)
from services.memory.semantic.domain.judging_types import Cue, Path

_CLAUSES = re.compile(
    r"[,;:.!](?!\d)|[()–—]| - |\b(?:but|sondern|sino|mais|ma|mas|maar|lecz|tylko|tapi|a|но|а)\b"
)
_LED = re.compile(r"\s+(?:its|his|her|their|my|our|the)\s")
_ONE = re.compile(r"\s*\b(?:a|an|one|ein|eine[nrm]?|une?|una|uno|uma?|een)\s+(?=\w)")
_SUFFERED = re.compile(
    r"(?:was|were|been|got|has been) (?:let go|fired|sacked|laid off|dismissed|expelled|discharged)"
)
_DEFINITIVE = re.compile(
    r"(?:closed|shut|burned|burnt|torn) down|demolished|deleted|scrapped|discontinued|"
    r"decommissioned|dissolved|"
    r"disbanded|fell through|called off|cancell?ed|written off|shelved|"
    r"(?:is|was|been|has been) (?:sold|cancell?ed|deleted|removed)|died|passed away"
)
"""Endings after which nothing that was true of a thing is."""
_NOT = re.compile(
    r"(?:\b(?:not|\w+n't|never|no longer|nicht|kein\w*|pas|no|non|nao|niet|geen|nie)|(?<!\w)не|degil)\b"
)


def by_correction(old: Reading, new: Reading, subjects: Relation) -> Path | None:
    """The new statement takes back what was said of the subject."""
    corrects = gains(Cue.CORRECTION, old, new) and _about(old, new, subjects)
    return Path.CORRECTED if corrects else None


def by_denial(old: Reading, new: Reading, subjects: Relation) -> Path | None:
    """One clause denies a value of the old statement, another gives one of its own: "Max, not Rex"."""
    if not subjects.one or old.has(Cue.NEGATION) or not new.has(Cue.NEGATION):
        return None
    clauses = [clause for clause in _CLAUSES.split(new.folded) if clause.strip()]
    values = {token.word for token in old.tokens if token.stem in old.content - new.subject.all}
    denied = any(_NOT.search(clause) and values & set(re.findall(r"\w+", clause)) for clause in clauses)
    given = any(not _NOT.search(clause) for clause in clauses) or "degil" in new.folded
    return Path.DENIED if denied and given and len(clauses) > 1 else None


def by_ending(old: Reading, new: Reading, subjects: Relation) -> Path | None:
    """Something ended, and it is what the old statement says."""
    if gains(Cue.PAST, old, new) and covered(old, new) and old.values.same(new.values):
        over = verb_ends(old, new) or not old.content - new.content
        return Path.ENDED if over and subjects.one else None
    if not gains(Cue.END, old, new) or (old.has(Cue.NEGATION) and not old.has(Cue.PENDING)):
        return None
    ended = any(_ends(old, new, subjects, span) or _is_no_more(old, new, span) for span in new.cues[Cue.END])
    return Path.ENDED if ended else None


def _ends(old: Reading, new: Reading, subjects: Relation, span: tuple[int, int]) -> bool:
    """Whether what ends is what the old statement says, and not another of its sort or only a part of it."""
    target = targets(new, span)
    told = old.content | {token.stem for token in old.tokens}
    another = target.beyond - told - new.subject.all - slot_words(new)
    left = old.content - new.content - old.subject.all
    if (another and (left or target.behind)) or _instance(old, new, span):
        return False
    if not old.subject.words and new.circumstances - old.circumstances:
        return False
    if not subjects.one:
        return not _only_finished(new, span) and _ends_of_touched(old, new, target)
    shared = anchors(old, new)
    if target.stems & shared or verb_ends(old, new):
        return True
    dismissed = _SUFFERED.match(new.folded, span[0]) is not None
    if dismissed and target.beyond & shared and covered(old, new):
        return True
    if holds_the_same(old, new):
        return False
    if old.language is Language.OTHER:
        return bool(old.slots & new.slots and (anchors(old, new) or Slot.SMOKING in new.slots))
    of_slot = bool(old.slots & new.slots) and (target.subject or not target.stems - slot_words(new))
    return of_slot or (target.subject and not old.subject.person and _timed(old))


def _ends_of_touched(old: Reading, new: Reading, target: Target) -> bool:
    """Likewise where the subjects only touch."""
    if old.subject.person and target.stems & old.subject.words:
        return covered(old, new)
    strange = new.subject.words - old.subject.words - old.content
    if old.subject.person and new.subject.words & old.subject.words and strange:
        return False
    said = old.content
    if old.subject.words and not new.subject.words:
        is_one = not old.subject.person and old.verb in old.grammar.copulas
        said = old.subject.words | old.names | (old.content - old.subject.all if is_one else frozenset())
    return bool(target.stems & said) and (target.subject or covered(old, new))


def _only_finished(new: Reading, span: tuple[int, int]) -> bool:
    """Whether an event ended, and perhaps no state: "Anke finished the first phase"."""
    return new.folded[slice(*span)].endswith(("finished", "completed"))


def _instance(old: Reading, new: Reading, span: tuple[int, int]) -> bool:
    """Whether one of a sort ends, and the old statement is about the sort: "finished *a* novel"."""
    return _ONE.match(new.folded, span[1]) is not None and _ONE.search(old.folded) is None


def _is_no_more(old: Reading, new: Reading, span: tuple[int, int]) -> bool:
    """Whether the very subject of both is gone: "the cafe closed down"."""
    same = bool(old.subject.all) and old.subject.all == new.subject.all
    return same and _DEFINITIVE.search(new.folded[slice(*span)]) is not None


def _timed(reading: Reading) -> bool:
    """Whether the statement is about a thing that is to happen at some time."""
    values = reading.values
    dated = any(token.dated for token in reading.tokens)
    return bool(reading.subject.words) and bool(values.times or values.days or values.weekdays or dated)


def by_change(old: Reading, new: Reading, subjects: Relation) -> Path | None:
    """The new statement says that something changed, and is about what the old one says."""
    if not gains(Cue.CHANGE, old, new) or all(_of_its_own(old, new, span) for span in new.cues[Cue.CHANGE]):
        return None
    value = any(targets(new, span).subject for span in new.cues[Cue.CHANGE]) and not subjects.one
    named = value and bool(new.subject.words) and new.subject.words <= old.names - old.subject.words
    changes = named or _about(old, new, subjects)
    return Path.CHANGED if changes else None


def _of_its_own(old: Reading, new: Reading, span: tuple[int, int]) -> bool:
    """Whether what changed is something that the old statement does not speak of: "changed its logo"."""
    fresh = new.folded[slice(*span)].endswith((" new", " another"))
    if not fresh and _LED.match(new.folded, span[1]) is None:
        return False
    known = old.content | old.subject.all | slot_words(old)
    return not targets(new, span).stems & known


def by_fulfilment(old: Reading, new: Reading, subjects: Relation) -> Path | None:
    """What the old statement waits for has come."""
    done = new.has(Cue.DONE, Cue.END) or _did(old, new)
    if not old.has(Cue.PENDING) or new.has(Cue.PENDING) or not done:
        return None
    if narrower(old, new):
        return None
    back = subjects.one and Slot.PRESENCE in old.slots & new.slots
    verbs = {token.stem for token in new.tokens if token.word.endswith("ed")}
    thing = old.content & new.content - verbs or not old.content - verbs
    return Path.FULFILLED if back or (thing and covered(old, new)) else None


def _did(old: Reading, new: Reading) -> bool:
    """Whether a verb of the old statement stands in the new one as done: "water", "have been watered"."""
    stems = {token.stem for token in old.tokens if not token.word.endswith("ed")}
    return any(token.word.endswith("ed") and token.stem in stems for token in new.tokens)


def by_resumption(old: Reading, new: Reading, subjects: Relation) -> Path | None:
    """What the old statement denies has come, or come back."""
    if new.has(Cue.NEGATION, Cue.END) or narrower(old, new):
        return None
    thing = bool(old.subject.words) and not old.subject.person and old.subject.words == new.subject.words
    if thing and new.has(Cue.AGAIN) and new.verb in new.grammar.copulas:
        return Path.RESUMED
    if not old.has(Cue.NEGATION, Cue.END):
        return None
    if not new.has(Cue.AGAIN, Cue.NOW, Cue.DONE, Cue.CHANGE):
        return None
    resumed = covered(old, new) or (subjects.one and new.has(Cue.AGAIN) and verb_ends(old, new))
    return Path.RESUMED if resumed else None


def _about(old: Reading, new: Reading, subjects: Relation) -> bool:
    """Whether the new one speaks of what the old one says: content, a slot, a time, a thing that changed."""
    if Language.OTHER in {old.language, new.language}:
        return _about_in_other_script(old, new, subjects)
    if not subjects.one:
        own = anchors(old, new) - (new.subject.all if new.subject.person else frozenset())
        return bool(own) and (covered(old, new) or (old.subject.head in new.content and retimed(old, new)))
    if anchors(old, new) or opposed(old, new):
        return True
    if holds_the_same(old, new):
        return False
    return bool(old.slots & new.slots) or (bool(old.subject.words) and retimed(old, new))


def _about_in_other_script(old: Reading, new: Reading, subjects: Relation) -> bool:
    """Likewise where only words beside the phrase tell what it acts on."""
    spans = [*new.cues.get(Cue.CHANGE, ()), *new.cues.get(Cue.CORRECTION, ())]
    shared = anchors(old, new)
    if any(targets(new, span).stems & shared for span in spans):
        return True
    return subjects.one and bool(old.slots & new.slots or old.values.timed_otherwise(new.values))
