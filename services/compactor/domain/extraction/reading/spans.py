"""Stretches of a text that may state something of somebody (SPEC J-8). Pure.

masked(text) -> str                     what is the author's own, at the same places
spans(tokens(text), text) -> list[Span]
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import islice

from services.compactor.domain.extraction import text as own
from services.compactor.domain.extraction.facts import MOST_SENTENCE, MOST_SENTENCES
from services.compactor.domain.extraction.reading import words

MOST_TOKENS = 30
"""Words of a stretch."""
MOST_SPANS, MOST_OF_TEXT = 200, 2000
"""Stretches of a sentence and of a text; a plain sentence has a dozen."""
MOST_FRONT = 8
"""Words before the subject of a clause: "every Boxing Day since 1990"."""
HIDDEN = "\0"
"""Stands at each place of what is not the author's own."""
_TOKEN = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*(?:\.\d+)?|\S")
_TITLES = frozenset({"mr", "mrs", "ms", "dr", "st", "prof", "no", "vs", "e.g", "approx", "sgt", "capt"})
_OPEN = re.compile(r"(?:```|[\"“„«「『]).*\Z", re.DOTALL)
"""A quotation or code without an end."""
_SOMEBODY_SAID = re.compile(
    r"\W*(?:\[[^\]]*\]\s*)?(?:(?!(?:Update|Context|Background|Note|Question|Also|Info|Intro|News|Problem|Fact"
    r"|Reminder|Edit|Confession|Situation|Summary)\b)[A-Z][a-z]+(?:, \d\d?:\d\d)?"
    r"|[^:]{0,40}\b(?:said|says|wrote|writes|texted|messaged|from|letter|song|lyrics|quote|poem)\b[^:]{0,30})"
    r":\s*(?:I|I'm|my|My|we|We|our|Our)\b"
)
"""What stands after somebody's name and a colon is theirs."""
_BOUNDARY = frozenset(",;:-()—–")
_PICTURES = 0x2600
"""From here on a single character is a picture, which ends a sentence."""
_PLAIN = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "–": "-", "\u00a0": " "})


class Form(IntEnum):
    """How a stretch names whom it is about; the network knows these by number."""

    SPEAKER = 0
    """"I have ..."."""
    OWN = 1
    """"My sister has ...", "my car is ..."."""
    PRONOUN = 2
    NAME = 3
    BARE = 4
    """Nobody: the author, or whom the clause before was about."""
    DEFINITE = 6
    """"The ...", "it ..."."""
    GRAMMAR = 7
    """What the grammar found."""
    FRONTED = 8
    """With what stands before its subject: "on Monday my sister ..."."""
    RELATION = 9
    """Who somebody is to the author: "my sister Ann"."""
    SOMEBODY = 10
    """"My nani hides ...": of somebody, by a word that is not known to mean one."""
    ORIGIN = 13
    """Where somebody is from, told on the way: "a nurse *from Leeds*"."""
    AGED = 14
    """How old somebody is: "my aunt, *74*, ..."."""


MOST_PLACES = 3
"""Ends of an origin that are tried."""
OLDEST = 110
"""Years of the oldest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A word or a mark, and its place in the text."""

    text: str
    start: int
    end: int

    @property
    def low(self) -> str:
        """In small letters."""
        return self.text.lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A stretch from token `first` to before token `last`; `subject` is where its subject is named, and
    `sentence` where its sentence begins."""

    form: Form
    first: int
    last: int
    subject: int
    sentence: int
    asked: bool
    """Whether it stands in a question."""


def masked(text: str) -> str:
    """The text with the same places, HIDDEN wherever it is somebody else's: quoted, pasted, fenced, code."""
    plain = text.translate(_PLAIN)
    plain = "".join(" " if c not in "\n\t" and unicodedata.category(c)[0] == "C" else c for c in plain)
    for foreign in (*own.FOREIGN, _OPEN):
        plain = foreign.sub(lambda match: re.sub(r"[^\n]", HIDDEN, match.group()), plain)
    return plain


def tokens(text: str) -> list[Token]:
    """Words and marks."""
    return [Token(text=m.group(), start=m.start(), end=m.end()) for m in _TOKEN.finditer(text)]


def spans(found: Sequence[Token], text: str) -> list[Span]:
    """The stretches of a masked text, of its sentences that are no longer than a plain statement is."""
    made: list[Span] = []
    for first, last, asked in islice(sentences(found, text), MOST_SENTENCES):
        said = text[found[first].start : found[last - 1].end]
        if (
            len(said) <= MOST_SENTENCE
            and not own.is_foreign_sentence(said)
            and not _SOMEBODY_SAID.match(said)
        ):
            made += islice(_of(found, first, last, asked), MOST_SPANS)
    return made[:MOST_OF_TEXT]


def sentences(found: Sequence[Token], text: str) -> Iterator[tuple[int, int, bool]]:
    """Where each begins and ends, and whether it asks."""
    begin = 0
    for place, token in enumerate(found):
        broken = place > begin and "\n" in text[found[place - 1].end : token.start]
        mark = token.text in ".!?…" or _is_picture(token.text)
        if not mark and not broken:
            continue
        if token.text == "." and place > begin and found[place - 1].low in _TITLES and place + 1 < len(found):
            continue
        if place > begin:
            yield begin, place, token.text == "?"
        begin = place + 1 if mark else place
    if begin < len(found):
        yield begin, len(found), False


def _is_picture(text: str) -> bool:
    return len(text) == 1 and ord(text) > _PICTURES and not text.isalnum()


def _of(found: Sequence[Token], first: int, last: int, asked: bool) -> Iterator[Span]:
    """The stretches of a sentence."""
    low = [token.low for token in found[first:last]]
    yield from _asides(found[first:last], low, first, asked)
    starts, subjects = _starts(found[first:last], low)
    for place, forms in starts.items():
        ends = list(_ends(low, place, subjects))
        for form in forms:
            for end in ends:
                if not _fits(low, form, place, end):
                    continue
                made = Span(
                    form=form,
                    first=first + place,
                    last=first + end,
                    subject=first + place,
                    sentence=first,
                    asked=asked,
                )
                yield made
                yield from _variants(made, low, first, subjects)


def _asides(found: Sequence[Token], low: Sequence[str], first: int, asked: bool) -> Iterator[Span]:
    """Origins and ages that a clause tells on the way."""
    for place in range(1, len(low) - 1):
        if low[place] == "from" and found[place + 1].text[0].isupper():
            for end in list(_ends(low, place + 1, frozenset()))[:MOST_PLACES]:
                if low[end - 1] not in words.JOINING and low[end - 1] not in words.NO_END:
                    yield _aside(Form.ORIGIN, first, place, end, asked)
        number = low[place].isdecimal() and 0 < int(low[place]) <= OLDEST
        if number and low[place - 1] in (",", "(") and low[place + 1] in (",", ")", "and", "but", "who"):
            yield _aside(Form.AGED, first, place, place + 1, asked)


def _aside(form: Form, first: int, place: int, end: int, asked: bool) -> Span:
    return Span(
        form=form, first=first + place, last=first + end, subject=first + place, sentence=first, asked=asked
    )


def _variants(span: Span, low: Sequence[str], first: int, subjects: frozenset[int]) -> Iterator[Span]:
    """The same with another reading of its subject, and with what stands before it."""
    if span.form is Form.OWN:
        yield _like(span, Form.SOMEBODY, span.first)
    if span.form in (Form.SPEAKER, Form.OWN, Form.NAME, Form.PRONOUN):
        place = span.first - first
        front = _front(low, place)
        if front < place and not any(at in subjects for at in range(front, place)):
            yield _like(span, Form.FRONTED, first + front)


def _like(span: Span, form: Form, begin: int) -> Span:
    return Span(
        form=form,
        first=begin,
        last=span.last,
        subject=span.subject,
        sentence=span.sentence,
        asked=span.asked,
    )


def _starts(found: Sequence[Token], low: Sequence[str]) -> tuple[dict[int, list[Form]], frozenset[int]]:
    """Where a stretch may begin, in which forms, and where a subject is named."""
    starts: dict[int, list[Form]] = {}
    subjects = set()
    for place, word in enumerate(low):
        if not word[0].isalnum() or (word in words.LEADING and word not in ("that", "like", "right")):
            continue
        form = _named(low, place)
        if form is not None:
            starts[place] = [form]
            subjects.add(place)
            continue
        forms = [Form.NAME] if _is_name(found, low, place) else []
        if _begins(low, place):
            if word in words.DEFINITE:
                forms.append(Form.DEFINITE)
            elif not (forms and place):
                forms.append(Form.BARE)
        if forms:
            starts[place] = forms
    return starts, frozenset(subjects)


def _named(low: Sequence[str], place: int) -> Form | None:
    """The form of a word that is a subject by itself."""
    word, following = low[place], low[place + 1] if place + 1 < len(low) else ""
    if word in words.SPEAKER_OR_NOT:
        verb = following in words.VERBS or following in (
            "be",
            "also",
            "never",
            "rather",
            "probably",
            "always",
        )
        return Form.SPEAKER if verb else None
    if word in words.SPEAKER:
        return Form.SPEAKER
    if word in words.OWN:
        return Form.OWN
    return Form.PRONOUN if word in words.PRONOUN else None


def _is_name(found: Sequence[Token], low: Sequence[str], place: int) -> bool:
    """Whether a word may be the name of a clause's subject."""
    word = low[place]
    if not found[place].text[0].isupper() or word in words.NO_NAMES or word in words.VERBS:
        return False
    if word in words.PAST or word in words.ADVERBS or word in words.AUXILIARY:
        return False
    before = low[place - 1] if place else ""
    if before == "(":
        return False
    following = low[place + 1] if place + 1 < len(low) else ""
    free = before not in words.BEFORE_OBJECTS or (
        before == "and" and following in ("is", "has", "was", "lives", "works")
    )
    inner = place > 1 and found[place - 1].text[:1].isupper()
    return (place == 0 or free) and not inner


def _begins(low: Sequence[str], place: int) -> bool:
    """Whether a clause may begin there without a subject."""
    if place == 0 or low[place - 1] in _BOUNDARY:
        return True
    before = low[place - 1]
    if before in words.LEADING or before in ("now", "just", "still", "whose"):
        return True
    return place > 1 and before in words.ADVERBS and low[place - 2] in words.LEADING


def _ends(low: Sequence[str], place: int, subjects: frozenset[int]) -> Iterator[int]:
    """Where a stretch from there may end: not beyond another statement that "and" adds."""
    for end in range(place + 1, min(len(low), place + MOST_TOKENS) + 1):
        if end < len(low) and not (low[end] in _BOUNDARY or low[end] in words.JOINING or end in subjects):
            continue
        yield end
        after = end
        while after < len(low) and (
            low[after] in _BOUNDARY or low[after] in ("and", "but", "so", "or", "then", "plus", "n", "&", "+")
        ):
            after += 1
        if end < after < len(low) and (
            low[after] in words.SPEAKER
            or (low[after] in words.PRONOUN and low[after] not in words.POSSESSIVE)
        ):
            return


def _fits(low: Sequence[str], form: Form, place: int, end: int) -> bool:
    if end - place < 2 and form is not Form.BARE:
        return False
    return (
        end - place <= MOST_TOKENS and low[end - 1] not in words.JOINING and low[end - 1] not in words.NO_END
    )


def _front(low: Sequence[str], place: int) -> int:
    """Where the clause of the subject at a place begins."""
    begin = place
    while begin and place - begin < MOST_FRONT:
        before = low[begin - 1]
        if before in ("and", "but", "so", "because", "cause", "cuz") or (
            before in _BOUNDARY and before != ","
        ):
            break
        begin -= 1
    while begin < place and (low[begin] in words.LEADING - words.TEMPORAL or low[begin] in _BOUNDARY):
        begin += 1
    return begin
