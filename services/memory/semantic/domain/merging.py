"""Which of two statements says all that the other says, so that the other may go (SPEC J-10).

    covers(kept, other) -> bool

Pure, and rather too strict: a memory that is left beside a similar one costs little, what a merge loses is
out of recall. So nothing goes that differs in a value, a name, a slot, in whether it is denied, or in the
time that it is about.
"""

from __future__ import annotations

import re

from services.memory.semantic.domain.judging_match import Relation, adds_nothing, opposed, relation
from services.memory.semantic.domain.judging_reading import Reading, read_pair
from services.memory.semantic.domain.judging_types import Cue, Statement
from services.memory.semantic.domain.memory import Kind

_CAPITALISED = re.compile(r"\b[A-ZÀ-ÖØ-Þ]\w+")
_TIMED = (Cue.PAST, Cue.LONG_AGO, Cue.END, Cue.CHANGE, Cue.AGAIN, Cue.CORRECTION, Cue.WISH, Cue.PENDING)
"""What tells that a statement is about another time, or not about what is."""


def covers(kept: Statement, other: Statement) -> bool:
    """Whether `kept` says all of `other`: the same, or the same and more."""
    if kept.kind is not other.kind or kept.kind is Kind.TASK:
        return False
    one, two = read_pair(kept, other)
    if one.folded == two.folded:
        return True
    if relation(one, two) is not Relation.SAME or opposed(one, two):
        return False
    return not _differ(one, two) and adds_nothing(one, two)


def _differ(kept: Reading, other: Reading) -> bool:
    """Whether they are about different things, or say different things of them."""
    slots = bool(kept.slots and other.slots) and not kept.slots & other.slots
    dated = kept.values.dated or other.values.dated
    done = dated and kept.verb_stem != other.verb_stem  # a state is told by many verbs, what was done by one
    timed = any(kept.has(cue) != other.has(cue) for cue in _TIMED) or kept.happened != other.happened
    named = _is_name_and_thing(kept, other) or _is_name_and_thing(other, kept)
    return slots or done or timed or named or _order(kept, other) != _order(other, kept)


def _is_name_and_thing(one: Reading, other: Reading) -> bool:
    """Whether a name of one is no name in the other: Biscuit the dog, and biscuits that it likes."""
    things = {token.stem for token in other.tokens if not token.name} - other.names
    return not one.names.isdisjoint(things)


def _order(reading: Reading, other: Reading) -> list[str]:
    """The words with a capital that both have, in one's order: who beat whom."""
    return [word for word in _CAPITALISED.findall(reading.statement.value) if word in other.statement.value]
