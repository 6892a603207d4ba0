"""What leaves an old statement in place, whatever the new one says (SPEC S-7).

    kept(old, new, subjects) -> str | None      its name

Two subjects, another time, a wish, an addition, a refinement, a paraphrase, another purpose.
"""

from __future__ import annotations

import re

from services.memory.semantic.domain import judging_grammar as grammar
from services.memory.semantic.domain.judging_labels import others_of_a_sort
from services.memory.semantic.domain.judging_match import (
    Relation,
    adds_nothing,
    difference,
    led_otherwise,
    opposed,
    refines,
    same_wording,
)
from services.memory.semantic.domain.judging_reading import Reading
from services.memory.semantic.domain.judging_state import gains
from services.memory.semantic.domain.judging_types import Cue

PLACE_WORDS = 2
"""A place is at least a preposition and a noun."""
SUBJECT_WORDS = 3
"""Words of a statement that may lead its subject."""

_MOVES = (Cue.END, Cue.CHANGE, Cue.NOW, Cue.PAST, Cue.CORRECTION, Cue.AGAIN)
_GENITIVE = re.compile(r"(\w+)['’]s\b|\b(?:mein|dein|sein|ihr|unser)e[rs] (\w+)")
_LIFELONG = re.compile(
    r"\b(?:(?:has|have) always|always been|all (?:his|her|my|their|our) li(?:fe|ves)|lifelong|"
    r"zeitlebens|(?:sein|ihr|mein) leben lang|"
    r"toute sa vie|toda (?:la|su) vida|tutta la vita|toda a vida|cale zycie|hayatı boyunca|всю жизнь|"
    r"всегда)\b|一辈子|一生|ずっと|평생"
)
_CLAUSE_ENDS = re.compile(r"[,;:.!?](?!\d)|\b(?:and|but|because|so)\b")
_QUOTED = re.compile(r"[\"“„«][^\"”“»]{12,}[\"”“»]")


def kept(old: Reading, new: Reading, subjects: Relation) -> str | None:
    """Names what leaves the old statement in place, if something does."""
    if subjects.apart:
        return "different subjects"
    return _of_earlier(old, new) or _of_something_else(old, new) or _says_the_same(old, new)


def _of_earlier(old: Reading, new: Reading) -> str | None:
    """One of them tells of a time that is over."""
    earlier = new.statement.valid_from < old.statement.valid_from or _dated_before(old, new)
    if earlier or gains(Cue.LONG_AGO, old, new):
        return "tells of an earlier time"
    over = old.verb in grammar.PAST and (old.values.dated or any(token.dated for token in old.tokens))
    past = old.has(Cue.PAST, Cue.LONG_AGO) or old.happened or over
    return "the old one tells of the past" if past and not new.has(Cue.CORRECTION) else None


def _of_something_else(old: Reading, new: Reading) -> str | None:
    """The new one tells of what is not so, or holds beside the old one."""
    asks = any(reading.folded.endswith(("?", "？")) for reading in (old, new))
    if gains(Cue.WISH, old, new) or asks or _QUOTED.search(new.folded):
        return "a wish"
    if _of_kin(new) - {token.word for token in old.tokens}:
        return "somebody else's"
    if _another(new) and not _another(old):
        return "another one"
    if new.has(Cue.END) and not new.has(Cue.NOW, Cue.CHANGE) and others_of_a_sort(old, new):
        return "another of its sort"
    if gains(Cue.ADD, old, new):
        return "an addition"
    if _LIFELONG.search(new.folded):
        return "of all time"
    if _other_times(old, new):
        return "at other times"
    if _other_purpose(old, new) and not new.has(Cue.CORRECTION):
        return "for another purpose"
    return "still there" if _stays(old, new) else None


def _says_the_same(old: Reading, new: Reading) -> str | None:
    """The new one says the old one again, or with more words."""
    if _continues(old, new):
        return "a refinement"
    pending = (old.has(Cue.PENDING) and not new.has(Cue.PENDING)) or opposed(old, new)
    moves = new.has(*_MOVES) or old.has(Cue.NEGATION) != new.has(Cue.NEGATION) or pending
    ended = new.has(Cue.END) or pending
    moved_before = not ended and old.has(Cue.CHANGE, Cue.END) and bool(new.names) and old.names == new.names
    if moved_before or (not moves and same_wording(old, new)):
        return "a paraphrase"
    if not ended and not new.has(Cue.PAST) and adds_nothing(old, new):
        return "a paraphrase"
    return "a refinement" if not moves and refines(old, new) else None


def _other_times(old: Reading, new: Reading) -> bool:
    """Whether the new statement holds at other times of the week or year than the old one, or only then.

    "Open on weekdays", "closed on Sundays"; "no longer takes the train on Fridays".
    """
    if new.has(Cue.CHANGE, Cue.NOW, Cue.CORRECTION, Cue.AGAIN):
        return False
    if old.circumstances and new.circumstances and not old.circumstances & new.circumstances:
        return difference(old, new) is None or new.has(Cue.END) or opposed(old, new) or old.has(Cue.PENDING)
    ended = [_CLAUSE_ENDS.split(new.folded[start:], maxsplit=1)[0] for start, _ in new.cues.get(Cue.END, ())]
    return not old.circumstances and any(
        len(time.split()) > 1 and time in clause for time in new.circumstances for clause in ended
    )


def _other_purpose(old: Reading, new: Reading) -> bool:
    """Whether each says what it is for, and it is not the same: "the rent for the flat", "for the garage"."""
    return led_otherwise(old, new, grammar.FOR)


def _stays(old: Reading, new: Reading) -> bool:
    """Whether what changed did so where somebody was before: "moved up *on the waiting list*"."""
    told = [index for index, stem in enumerate(old.frame) if old.verb and stem == old.verb_stem]
    place = old.frame[told[0] + 1 :] if told else ()
    if len(place) < PLACE_WORDS or new.has(Cue.END) or place[0] not in old.grammar.prepositions:
        return False
    ends = range(len(new.frame) - len(place) + 1)
    somebody = old.subject.person or not old.subject.words
    return somebody and any(new.frame[at : at + len(place)] == place for at in ends)


def _continues(old: Reading, new: Reading) -> bool:
    """Whether the new statement says the old one word for word, and goes on, without an ending."""
    more = len(new.frame) > len(old.frame) and new.frame[: len(old.frame)] == old.frame
    turned = new.has(Cue.END, Cue.AGAIN, Cue.DONE, Cue.PAST) or old.has(Cue.NEGATION) != new.has(Cue.NEGATION)
    return more and not turned


def _of_kin(reading: Reading) -> set[str]:
    """Relatives whose something the statement is about: "my aunt's piano", "das Klavier meiner Tante"."""
    found = {word for groups in _GENITIVE.findall(reading.folded) for word in groups}
    return {word for word in found if grammar.is_kin(word)}


def _another(reading: Reading) -> bool:
    """Whether the subject is told from another of its sort: "the other course"."""
    return any(token.word in grammar.OTHERS for token in reading.tokens[:SUBJECT_WORDS])


def _dated_before(old: Reading, new: Reading) -> bool:
    """Whether the new statement names a year before the old one held, and the old one names none."""
    years = new.values.years
    return bool(years) and max(years) < old.statement.valid_from.year and not old.values.years
