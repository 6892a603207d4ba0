"""The deterministic judge of supersession (SPEC S-7, J-16).

    judge(old, new) -> Verdict

Pure, without a model. It would rather say nothing: a memory wrongly superseded leaves recall, one wrongly
kept only stands beside a newer one. The order:

1. *Guard.* Tasks are never judged; statements whose intervals of validity do not meet, or about different
   subjects, have nothing to do with each other; a wish, an addition, a refinement or a paraphrase leaves the
   old statement in place.
2. *Contradiction*: a fixed slot (birth, winner) with another value, one dated event told in two ways.
3. *Replacement*: an ending or a change of what the old statement says, a new value of a slot that holds one.

A probability is that of a rule as a whole, set by judgement and held to the labelled pairs:
docs/memory-model.md.
"""

from __future__ import annotations

from collections.abc import Callable

from services.memory.semantic.domain import judging_replacing as replacing
from services.memory.semantic.domain.judging_contradicting import contradiction
from services.memory.semantic.domain.judging_cues import Language
from services.memory.semantic.domain.judging_match import Relation, refines, relation, same_wording
from services.memory.semantic.domain.judging_reading import Reading, read_pair
from services.memory.semantic.domain.judging_types import Cue, Statement, Verdict
from services.memory.semantic.domain.memory import Kind

Rule = Callable[[Reading, Reading, Relation], Verdict | None]

_REPLACEMENTS: tuple[Rule, ...] = (
    replacing.by_correction,
    replacing.by_ending,
    replacing.by_change,
    replacing.by_fulfilment,
    replacing.by_resumption,
    replacing.by_count,
    replacing.by_new_value,
)
_MOVES = (Cue.END, Cue.CHANGE, Cue.NOW, Cue.PAST, Cue.CORRECTION)


def judge(old: Statement, new: Statement) -> Verdict:
    """Says how likely the new statement takes the old one's place, and how likely both cannot hold."""
    if Kind.TASK in {old.kind, new.kind}:
        return _nothing("task")
    if not _meet(old, new):
        return _nothing("disjoint intervals")
    before, after = read_pair(old, new)
    if before.folded == after.folded:
        return _nothing("same words")
    subjects = relation(before, after)
    found = contradiction(before, after, subjects)
    if found is not None:
        return found
    kept = _kept(before, after, subjects)
    if kept is not None:
        return _nothing(kept)
    for rule in _REPLACEMENTS:
        verdict = rule(before, after, subjects)
        if verdict is not None:
            return verdict
    return _nothing("no sign of either")


def _meet(old: Statement, new: Statement) -> bool:
    """Whether the intervals of validity have a moment in common."""
    old_ends_first = old.valid_to is not None and old.valid_to <= new.valid_from
    new_ends_first = new.valid_to is not None and new.valid_to <= old.valid_from
    return not (old_ends_first or new_ends_first)


def _kept(old: Reading, new: Reading, subjects: Relation) -> str | None:
    """Names what leaves the old statement in place, if something does."""
    if subjects.apart:
        return "different subjects"
    if new.statement.valid_from < old.statement.valid_from or _dated_before(old, new):
        return "tells of an earlier time"
    if _gains(Cue.LONG_AGO, old, new):
        return "tells of an earlier time"
    if (old.has(Cue.PAST, Cue.LONG_AGO) or _happened(old)) and not new.has(Cue.CORRECTION):
        return "the old one tells of the past"
    if _gains(Cue.WISH, old, new):
        return "a wish"
    if _gains(Cue.ADD, old, new):
        return "an addition"
    moves = new.has(*_MOVES) or old.has(Cue.NEGATION) != new.has(Cue.NEGATION)
    moved_before = old.has(Cue.CHANGE, Cue.END) and bool(new.names) and old.names == new.names
    if moved_before or (not moves and not old.has(Cue.PENDING) and same_wording(old, new)):
        return "a paraphrase"
    return "a refinement" if not moves and refines(old, new) else None


def _gains(cue: Cue, old: Reading, new: Reading) -> bool:
    return new.has(cue) and not old.has(cue)


def _happened(reading: Reading) -> bool:
    """Whether somebody did something: an English verb of a person, or of the user, in the past."""
    personal = not reading.subject.words or reading.subject.named
    return (
        reading.language is Language.ENGLISH
        and personal
        and reading.verb.endswith("ed")
        and len(reading.verb) > 4
    )


def _dated_before(old: Reading, new: Reading) -> bool:
    """Whether the new statement names a year before the old one held, and the old one names none."""
    years = new.values.years
    return bool(years) and max(years) < old.statement.valid_from.year and not old.values.years


def _nothing(reason: str) -> Verdict:
    return Verdict(replaces=0.0, contradicts=0.0, reason=reason)
