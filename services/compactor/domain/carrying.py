"""How a rolling summary goes on: what it knew is moved item by item, then what is new is added (J-6). Pure.

Work that was done moves from Active, Blocked or Next Move to Completed, plans that were begun to Active, what
blocks no more to Active or Completed. An open question leaves once somebody else has answered. Everything
else stays while there is room; where there is none, what says least goes first, and new statements are sure
of a part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from services.compactor.domain import cues, extractive
from services.compactor.domain.function_words import is_light
from services.compactor.domain.nearness import NO_VECTORS, Vectors
from services.compactor.domain.rolling import RollingSummary, markdown
from services.compactor.domain.sentences import FILE, files, is_cjk, sentences, specifics, terms
from services.compactor.domain.summaries import STATES, Section, Statement, Utterance
from services.kit.tokens import estimate_tokens

KEPT_PART = 0.65  # of the tokens: what was known may take so much before something of it goes
FILES_PART = 0.15  # of the tokens
MOST_FILES = 12
SHARED_PART = 0.5  # of the lesser number of content terms, for two sentences to speak of the same
LEAST_SHARED = 2
SAME_BEGINNING = 5  # characters in which "import" and "importer" agree
ANSWER_CONCEPTS = 2  # content terms or specifics; a reply of fewer answers nothing
STANDING = frozenset({Section.OBJECTIVE, Section.ACTIVE, Section.BLOCKED, Section.NEXT})
OPEN = (Section.ACTIVE, Section.BLOCKED, Section.NEXT)
_WORK_WORDS = """
    done finished completed fixed merged deployed shipped implemented released resolved blocked blocker stuck
    waiting working progress currently next step steps todo follow remind tomorrow started unblocked
"""
WORK_WORDS = frozenset(_WORK_WORDS.split())
"""They tell how something stands, not what it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Heard:
    """A sentence of the new messages."""

    author: str
    text: str
    day: str
    state: Section | None
    unblocks: bool
    asks: bool
    terms: frozenset[str]
    specifics: frozenset[str]


def refreshed(
    previous: RollingSummary, messages: Sequence[Utterance], max_tokens: int, vectors: Vectors = NO_VECTORS
) -> RollingSummary:
    """The summary after these messages, the oldest first, in at most `max_tokens` tokens of markdown.

    `vectors` are those of `extractive.shortlist`, or none.
    """
    messages = extractive.clipped(messages)
    carried = carry(previous.statements(), messages)
    paths = _paths(carried, messages, max_tokens)
    known: Sequence[Statement] = [one for one in carried if one.section is not Section.FILES]

    def fits_in(tokens: float, statements: Sequence[Statement]) -> bool:
        return estimate_tokens(markdown(_bounded([*statements, *paths]))) <= tokens

    known = _cut_down(known, lambda statements: fits_in(max_tokens * KEPT_PART, statements))
    fresh = extractive.additions(messages, known, lambda new: fits_in(max_tokens, [*known, *new]), vectors)
    return RollingSummary.of(_bounded([*known, *fresh, *paths]))


def _cut_down(known: Sequence[Statement], fits: Callable[[Sequence[Statement]], bool]) -> Sequence[Statement]:
    """As much of it as fits: details and what is done give way before what is still open."""
    if fits(known):
        return known
    standing = [one for one in known if one.section in STANDING]
    if not fits(standing):
        return extractive.best(known, fits)
    others = [one for one in known if one.section not in STANDING]
    kept = set(extractive.best(others, lambda chosen: fits([*standing, *chosen])))
    return [one for one in known if one.section in STANDING or one in kept]


def carry(statements: Sequence[Statement], messages: Sequence[Utterance]) -> list[Statement]:
    """What was known, as it stands after these messages."""
    heard = [one for message in messages for one in _heard(message)]
    kept: list[Statement] = []
    for statement in statements:
        if statement.section is Section.NEXT and cues.asks(statement.text):
            if not _answered(statement, heard):
                kept.append(statement)
        elif statement.section in OPEN:
            kept.append(_moved(statement, heard))
        else:
            kept.append(statement)
    return list(dict.fromkeys(kept))


def _moved(statement: Statement, heard: Sequence[_Heard]) -> Statement:
    """Where it stands after what was heard of it; of several things the last one holds."""
    subject = _subject(statement.text)
    for one in heard:
        if one.asks or one.state is None or one.text in statement.text or not _same(subject, one):
            continue
        if one.state is Section.COMPLETED:
            lost = sorted(subject.specifics - one.specifics - {one.author})
            text = f"{one.author}: {one.text}" + (f" [{', '.join(lost)}]" if lost else "")
            statement = Statement(section=Section.COMPLETED, text=text, day=one.day)
        elif one.state in STATES and not (statement.section is Section.BLOCKED and not one.unblocks):
            statement = replace(statement, section=one.state)
    return statement


def _answered(question: Statement, heard: Sequence[_Heard]) -> bool:
    """Whether somebody else has said something since. It was the last thing said, so they speak to it."""
    return any(
        not one.asks
        and not question.text.startswith(f"{one.author}: ")
        and len(one.terms) + len(one.specifics) >= ANSWER_CONCEPTS
        for one in heard
    )


def _heard(message: Utterance) -> list[_Heard]:
    return [
        replace(
            _subject(sentence),
            author=message.author,
            day=message.day,
            state=cues.state(sentence),
            unblocks=cues.unblocks(sentence),
            asks=cues.asks(sentence),
        )
        for sentence, is_code in sentences(message.text)
        if not is_code
    ]


def _subject(text: str) -> _Heard:
    """What a sentence speaks of."""
    found = frozenset(
        term for term in terms(text) if term not in WORK_WORDS and not is_light(term) and not term.isdigit()
    )
    return _Heard(
        author="",
        text=text,
        day="",
        state=None,
        unblocks=False,
        asks=False,
        terms=found,
        specifics=frozenset(one for one in specifics(text) if _names(one)),
    )


def _names(specific: str) -> bool:
    """Whether it tells things apart: a path or an identifier, not a bare number or a name."""
    return bool(FILE.fullmatch(specific)) or (
        any(map(str.isdigit, specific)) and any(map(str.isalpha, specific))
    )


def _same(subject: _Heard, other: _Heard) -> bool:
    """Whether both speak of the same thing: a path or identifier, or half of what the shorter one names."""
    if subject.specifics & other.specifics:
        return True
    few, many = sorted((subject.terms, other.terms), key=len)
    shared = sum(any(_alike(one, more) for more in many) for one in few)
    return shared >= max(min(LEAST_SHARED, len(few)), len(few) * SHARED_PART) and shared > 0


def _alike(one: str, other: str) -> bool:
    if one == other:
        return True
    if is_cjk(one):
        return False
    length = max(SAME_BEGINNING, min(len(one), len(other)) - 1)
    return len(one) >= SAME_BEGINNING and one[:length] == other[:length]


def _paths(carried: Sequence[Statement], messages: Sequence[Utterance], max_tokens: int) -> list[Statement]:
    """The files by how often and how late they were named, as many as have room; to the letter."""
    named = [[one.text] for one in carried if one.section is Section.FILES]
    named += [files(f"{one.text}\n{one.output}") for one in messages]
    chosen: list[Statement] = []
    for path in extractive.ranked(named)[:MOST_FILES]:
        longer = [*chosen, Statement(section=Section.FILES, text=path)]
        if estimate_tokens(markdown(longer)) <= max_tokens * FILES_PART:
            chosen = longer
    return chosen


def _bounded(statements: Sequence[Statement]) -> list[Statement]:
    """The oldest of a heading that is full become details: only the newest objective is the objective."""
    counts: dict[Section, int] = {}
    kept: list[Statement] = []
    for one in reversed(statements):
        most = extractive.MOST_IN.get(one.section)
        counts[one.section] = counts.get(one.section, 0) + 1
        full = most is not None and counts[one.section] > most
        kept.append(replace(one, section=Section.DETAILS) if full else one)
    return kept[::-1]
