"""Names that hold digits: what a statement is about, and no value that changed (SPEC S-7).

    labels_of(reading) -> tuple[Label, ...]
    other_things(old, new) -> bool      both are about a thing with a name of digits, and not the same one
    others_of_a_sort(old, new) -> bool  the old one names one of a sort, and the new one others of it only

A name of digits is a word with letters and digits ("zebra001", "SK1420", "v2-beta"), or figures right after
the noun that they name one of ("project 7", "room 12b", "version 1.2"), not before one that they count.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from services.memory.semantic.domain.judging_cues import Language
from services.memory.semantic.domain.judging_reading import Reading
from services.memory.semantic.domain.judging_tokens import stem_of
from services.memory.semantic.domain.judging_values import MONTHS, WEEKDAYS, is_currency, is_number

_CHUNK = re.compile(r"[^\W_]+(?:[-./][^\W_]+)*")
_DIGIT = re.compile(r"\d")
_LETTERS = re.compile(r"[^\W\d_]+")
_MEASURED = re.compile(r"\d+(?:[.,/-]\d+)*[^\W\d_]+")
"""Figures with a unit or an ending: "5kg", "2nd"."""
_SUBNUMBER = re.compile(r"\d+[a-f]")
"""One of several with one number: "12b"."""
_DATE = re.compile(r"(?:19|20)\d\d[-/.]\d\d?[-/.]\d\d?")
_NAMED_BY = re.compile(r" (?:#|(?:no|nr)\.? ?)?")
"""What stands between a noun and its figures."""
_THAT = frozenset(["that", "dass", "que", "che", "dat", "что"])
"""Words that begin a clause about something else than the main one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A name of digits, of which sort the thing is by it, and whether a clause is about it."""

    name: str
    sort: str
    topic: bool


def labels_of(reading: Reading) -> tuple[Label, ...]:
    """Returns the names of digits in a statement in a script with spaces between words."""
    if reading.language is Language.OTHER:
        return ()
    chunks = list(_CHUNK.finditer(reading.folded))
    found = []
    for index, chunk in enumerate(chunks):
        sort = _sort(chunks, index, reading) if _DIGIT.search(chunk.group()) else ""
        if sort:
            found.append(Label(name=chunk.group(), sort=sort, topic=_topic(chunks, index, reading)))
    return tuple(found)


def other_things(old: Reading, new: Reading) -> bool:
    """Whether both are about a thing with a name of digits, neither of which the other speaks of."""
    first, second = labels_of(old), labels_of(new)
    strange = _topics(first) - _names(second)
    return bool(strange and _topics(second) - _names(first))


def others_of_a_sort(old: Reading, new: Reading) -> bool:
    """Whether the old one names a thing that the new one does not, which names others of its sort.

    So what the new one says is not all that the old one said, even where they have another thing in common.
    """
    first, second = labels_of(old), labels_of(new)
    sorts, names = {label.sort for label in second}, _names(second)
    return any(label.sort in sorts and label.name not in names for label in first)


def _names(labels: tuple[Label, ...]) -> frozenset[str]:
    return frozenset(label.name for label in labels)


def _topics(labels: tuple[Label, ...]) -> frozenset[str]:
    return frozenset(label.name for label in labels if label.topic)


def _sort(chunks: list[re.Match[str]], index: int, reading: Reading) -> str:
    """Of which sort the thing is that a word with digits names; "" where it counts or dates."""
    word = chunks[index].group()
    if _DATE.fullmatch(word):
        return ""
    noun = _noun_before(chunks, index, reading)
    if _MEASURED.fullmatch(word):
        return noun if _SUBNUMBER.fullmatch(word) else ""
    if (letters := _LETTERS.match(word)) is not None:
        return letters.group()
    if _LETTERS.search(word):
        return noun or word
    return "" if _counts(chunks, index, reading) else noun


def _noun_before(chunks: list[re.Match[str]], index: int, reading: Reading) -> str:
    """The noun right before a word, as words are compared; "" for none."""
    if index == 0:
        return ""
    before, words = chunks[index - 1], reading.grammar
    word = before.group()
    between = reading.folded[before.end() : chunks[index].start()]
    holds = words.says_nothing(word) or words.finite(word) or is_number(word) or word == reading.verb
    dated = word in MONTHS or word in WEEKDAYS or is_currency(word)
    if holds or dated or _DIGIT.search(word) or not _NAMED_BY.fullmatch(between):
        return ""
    return stem_of(word, reading.language)


def _counts(chunks: list[re.Match[str]], index: int, reading: Reading) -> bool:
    """Whether a noun or a unit follows: "employs 5 people"."""
    end = chunks[index].end()
    if reading.folded[end : end + 1] in {"%", "€", "$", "£", "°", ":"}:
        return True
    if index + 1 == len(chunks) or reading.folded[end : chunks[index + 1].start()].strip():
        return False
    following, words = chunks[index + 1].group(), reading.grammar
    verbal = words.finite(following) or following == reading.verb or following.endswith(("s", "ed", "t"))
    return is_currency(following) or not (
        words.says_nothing(following) or verbal or _is_cue(reading, end + 1)
    )


def _is_cue(reading: Reading, at: int) -> bool:
    return any(start == at for spans in reading.cues.values() for start, _ in spans)


def _topic(chunks: list[re.Match[str]], index: int, reading: Reading) -> bool:
    """Whether it is in the subject of a clause: the main one, one after "that", or "wants *it* to begin"."""
    stems = {
        token.stem for token in reading.tokens if chunks[index].start() <= token.start < chunks[index].end()
    }
    if reading.verb and stems <= reading.subject.all:
        return True
    words, following = reading.grammar, [chunk.group() for chunk in chunks[index + 1 : index + 3]]
    infinitive = len(following) > 1 and following[0] == "to" and following[1] not in words.determiners
    if following and (words.finite(following[0]) or (infinitive and not words.says_nothing(following[1]))):
        return True
    for chunk in reversed(chunks[:index]):
        word = chunk.group()
        if word in _THAT:
            return True
        if words.finite(word) or word in words.prepositions:
            return False
    return False
