"""The deterministic judge of supersession (SPEC S-7, J-16).

    judge(old, new) -> Verdict

Pure, without a model. It would rather say nothing: a memory wrongly superseded leaves recall, one wrongly
kept only stands beside a newer one. The order:

1. *Guard* (`judging_guard`). Tasks are never judged; statements whose intervals of validity do not meet, or
   about different subjects, have nothing to do with each other; a wish, an addition, a refinement or a
   paraphrase leaves the old statement in place.
2. *Contradiction*: a fixed slot (birth, winner) with another value, one dated event told in two ways.
3. *Replacement*: an ending or a change of what the old statement says, a new value of a slot that holds one.
   The probability is how often the rules were right on labelled pairs whose statements are tied to each
   other as firmly (`judging_evidence`).
"""

from __future__ import annotations

from collections.abc import Callable

from services.memory.semantic.domain import judging_renewing as renewing
from services.memory.semantic.domain import judging_replacing as replacing
from services.memory.semantic.domain.judging_contradicting import contradiction
from services.memory.semantic.domain.judging_evidence import probability, tie_of
from services.memory.semantic.domain.judging_guard import kept
from services.memory.semantic.domain.judging_match import Relation, anchors, relation
from services.memory.semantic.domain.judging_reading import Reading, read_pair
from services.memory.semantic.domain.judging_types import Path, Statement, Verdict
from services.memory.semantic.domain.memory import Kind

Rule = Callable[[Reading, Reading, Relation], Path | None]

_REPLACEMENTS: tuple[Rule, ...] = (
    replacing.by_correction,
    replacing.by_denial,
    replacing.by_ending,
    replacing.by_change,
    replacing.by_fulfilment,
    replacing.by_resumption,
    renewing.by_count,
    renewing.by_new_value,
)


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
    reason = kept(before, after, subjects)
    if reason is not None:
        return _nothing(reason)
    paths = (rule(before, after, subjects) for rule in _REPLACEMENTS)
    path = next((path for path in paths if path is not None), None)
    return _nothing("no sign of either") if path is None else _replaced(before, after, subjects, path)


def _replaced(old: Reading, new: Reading, subjects: Relation, path: Path) -> Verdict:
    tie = tie_of(old, new, subjects, path)
    return Verdict(replaces=probability(tie), contradicts=0.0, reason=f"{path.value}, {tie.value}")


def askable(old: Statement, new: Statement) -> bool:
    """Tells whether anybody may be asked about the two: the guard of S-7, before a model is.

    Neither is a task, both hold at one moment, they are about one subject or one that the other names, and
    they share a word beyond it, a slot, a verb, a segment of the key or a kind of time.
    """
    if Kind.TASK in {old.kind, new.kind} or not _meet(old, new):
        return False
    before, after = read_pair(old, new)
    if before.folded == after.folded or relation(before, after).apart:
        return False
    timed = before.values.timed_otherwise(after.values)
    slot = before.slots & after.slots or (before.fixed and before.fixed is after.fixed)
    verb = before.verb_stem and before.verb_stem == after.verb_stem
    same_verb = verb and before.verb not in before.grammar.copulas
    key = before.key_parts & after.key_parts
    return bool(slot or same_verb or key or timed or anchors(before, after))


def _meet(old: Statement, new: Statement) -> bool:
    """Whether the intervals of validity have a moment in common."""
    old_ends_first = old.valid_to is not None and old.valid_to <= new.valid_from
    new_ends_first = new.valid_to is not None and new.valid_to <= old.valid_from
    return not (old_ends_first or new_ends_first)


def _nothing(reason: str) -> Verdict:
    return Verdict(replaces=0.0, contradicts=0.0, reason=reason)
